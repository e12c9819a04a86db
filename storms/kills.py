"""60 times kill -9 at random moments over 2,000 enquiries, with a CRM that never dedupes and gives no answer to every fifth write.
Every sender sends again until it is told 200. At the end: records per key, losses.

ENQUIRIES (2000), KILLS (60), SEED (time), SPAN (1.5: the longest that a server lives, from its start), WAIT (600), PACE (0.6)"""
from lib import *

ENQUIRIES, KILLS, SPAN, WAIT, PACE = env("ENQUIRIES", 2000), env("KILLS", 60), env("SPAN", 1.5), env("WAIT", 600), env("PACE", 0.6)
SEED = env("SEED", int(time.time()))
chance = random.Random(SEED)
crm = Crm(drop_every=5).start()
config = sources("web") + CRM.format(port=crm.port, timeout="2s", settle="2s") + DESK_AND_MAIL
began = time.monotonic()
with Oncebook("kills", config, engine='pause_max = "1s"\nbackoff_max = "5s"') as server:
    answers = {}
    sender = threading.Thread(target=lambda: answers.update(post_all(server, "web", range(ENQUIRIES), threads=16, pace=PACE)))
    sender.start()
    unready, at_kill, lived = 0, [], []
    for n in range(KILLS):
        time.sleep(chance.uniform(0.05, SPAN))
        server.kill9()
        server.spawn()
        # Every other time it may be killed before it is ready.
        if chance.random() < 0.7:
            server.ready()
        else:
            unready += 1
    server.ready()
    killed = time.monotonic() - began
    sender.join()
    posted = time.monotonic() - began
    left, seconds = server.settle(WAIT)
    states, peak = server.states(), server.peak()
    keys = [e["key"] for e in server.every("enquiries")]
    wanted = {f"web:submission:e-{n}" for n in range(ENQUIRIES)}
    by_key, calls = crm.all()
    reviews = {}
    for item in server.every("review?state=open"):
        what = str(item.get("kind"))
        reviews[what] = reviews.get(what, 0) + 1
    letters = outbox_keys(server)
    stopped = server.stop()
    deals = desk_keys(server)
    say("kills", seed=SEED, enquiries=ENQUIRIES, kills=KILLS, killed_while_starting=unready, answers="/".join(f"{k}:{v}" for k, v in sorted(answers.items(), key=str)),
        kills_s=killed, posted_s=posted, settled_after_s=seconds, left=left, states=states, reviews=reviews, lost=len(wanted - set(keys)),
        entered_twice=len(keys) - len(set(keys)), crm=judge(by_key, wanted), crm_calls=calls, desk=judge(deals, wanted), letters=len(letters),
        letters_doubled=sum(v > 1 for v in letters.values()), peak_last_MiB=peak, stop_s=stopped, verify=server.verify())
crm.stop()
