"""An outage of every target with ENQUIRIES waiting, then recovery: the peak of memory in both, and every record once. The CRM is a
closed port. Modes: real (the desk's file is locked by another process, a file stands where the outbox was), paused (desk and
outbox are paused by a person), http (desk and outbox are well).

ENQUIRIES (13000), OUTAGE (20: seconds behind the last post), WAIT (900: the longest for the recovery), MODES (real,paused)"""
from lib import *

ENQUIRIES, OUTAGE, WAIT = env("ENQUIRIES", 13000), env("OUTAGE", 20), env("WAIT", 900)


def storm(mode):
    crm = Crm()
    config = sources("web") + CRM.format(port=crm.port, timeout="5s", settle="2s") + DESK_AND_MAIL
    with Oncebook("backlog", config) as server:
        before, lock = server.status("VmRSS"), None
        outbox = os.path.join(server.data, "mail.outbox")
        if mode == "real":
            desk = next(os.path.join(server.data, n) for n in os.listdir(server.data) if n.startswith("desk") and n.endswith(".db"))
            lock = sqlite3.connect(desk, isolation_level=None, timeout=30)
            lock.execute("begin immediate")
            os.rename(outbox, outbox + ".away")
            open(outbox, "w").close()
        elif mode == "paused":
            for target in ("desk", "mail"):
                server.act(f"targets/{target}/pause", reason="storm", by="storm")
        began = time.monotonic()
        answers = post_all(server, "web", range(ENQUIRIES), threads=16)
        posting = time.monotonic() - began
        with Normal(server, "web", tag="during") as calm:
            time.sleep(OUTAGE)
        waiting, cpu = server.unsettled(), server.cpu()
        in_outage, now = server.peak(), server.status("VmRSS")
        crm.start()
        if mode == "real":
            lock.execute("rollback")
            lock.close()
            os.remove(outbox)
            os.rename(outbox + ".away", outbox)
        elif mode == "paused":
            for target in ("desk", "mail"):
                server.act(f"targets/{target}/resume", by="storm")
        with Normal(server, "web", tag="after", every=1) as later:
            left, seconds = server.settle(WAIT)
        peak, states = server.peak(), server.states()
        keys = {e["key"] for e in server.every("enquiries")}
        numbers = {f"web:submission:e-{n}" for n in range(ENQUIRIES)}
        by_key, calls = crm.all()
        letters = outbox_keys(server)
        reviews = {}
        for item in server.every("review?state=open"):
            what = str(item.get("kind"))
            reviews[what] = reviews.get(what, 0) + 1
        stopped = server.stop()
        deals = desk_keys(server)
        crm.stop()
        say(f"backlog {mode}", enquiries=ENQUIRIES, lost=len(numbers - keys), answers="/".join(f"{k}:{v}" for k, v in sorted(answers.items(), key=str)), posting_s=posting, rss_before_MiB=before,
            peak_in_outage_MiB=in_outage, rss_end_of_outage_MiB=now, cpu_outage_s=cpu, waiting_at_least=waiting, recovery_s=seconds, left=left, peak_MiB=peak,
            states=states, reviews=reviews, crm=judge(by_key, keys), crm_calls=calls, desk=judge(deals, keys),
            letters=len(letters), letters_doubled=sum(v > 1 for v in letters.values()), stop_s=stopped, verify=server.verify(),
            **calm.figures("outage"), **later.figures("later"))


for mode in env("MODES", "real,paused").split(","):
    storm(mode)
