"""The data directory is copied, things go on, it is deleted, the copy restored, and the same bodies are delivered again. Records per
key in the CRM must stay 1. When the copy is made: before (nothing of it had arrived), accepted (entered, nothing worked on),
paused (effects planned, the target paused), down (the target's port is closed), done (all done), midway (kill -9 in the middle
of the work, copied with the -wal), lost (as midway, and every third answer of the CRM is not given, so that some is unknown).

ENQUIRIES (60), WHEN, REDELIVER (1: before it settles; 0: not at all), WAIT (240)"""
from lib import *

ENQUIRIES, REDELIVER, WAIT = env("ENQUIRIES", 60), env("REDELIVER", 1), env("WAIT", 240)
AFTER_RESTORE = os.environ.get("AFTER_RESTORE", "")  # a command of oncebook between restoring and starting, if there is one


def storm(when):
    crm = Crm(drop_every=3 if when == "lost" else 0)
    config = sources("web") + CRM.format(port=crm.port, timeout="2s", settle="1s") + DESK_AND_MAIL
    engine = 'pause_max = "1s"\nbackoff_max = "2s"\n'
    server = Oncebook("restore", config, engine=engine + ("workers = 0" if when == "accepted" else ""))
    copy = server.dir + ".copy"
    with server:
        if when != "down":
            crm.start()
        # Something older stands in the book in every case.
        if when not in ("down", "accepted"):
            post_all(server, "web", range(5), tag="old")
            server.settle(60)
        if when == "paused":
            server.act("targets/crm/pause", reason="storm", by="storm")
        if when != "before":
            post_all(server, "web", range(ENQUIRIES), threads=4)
        if when in ("paused", "down"):
            time.sleep(3)
        if when == "done":
            server.settle(WAIT)
        if when in ("midway", "lost"):
            server.kill9()
        else:
            server.stop()
        at_copy = sum(crm.all()[0].values()) if when != "down" else 0
        shutil.copytree(server.data, copy)
        # It goes on.
        server.configure(engine)
        if when == "down":
            crm.start()
        server.start()
        if when == "before":
            post_all(server, "web", range(ENQUIRIES), threads=4)
        if when == "paused":
            server.act("targets/crm/resume", by="storm")
        left_before, _ = server.settle(WAIT)
        by_key, _ = crm.all()
        wanted = {f"web:submission:e-{n}" for n in range(ENQUIRIES)}
        first = judge(by_key, {*wanted, *(k for k in by_key if ":old-" in k)})
        server.stop()
        # The disk is lost; the copy is restored.
        shutil.rmtree(server.data)
        shutil.copytree(copy, server.data)
        command = ""
        if AFTER_RESTORE:
            done = subprocess.run([BIN, *AFTER_RESTORE.split()], cwd=server.dir, env=server.environ, capture_output=True, text=True)
            command = f"{done.returncode}:{(done.stdout + done.stderr).strip()[-200:]!r}"
        server.start()
        answers = post_all(server, "web", range(ENQUIRIES), threads=4) if REDELIVER else {}
        time.sleep(2)
        if when == "paused":
            server.act("targets/crm/resume", by="storm")
        left, seconds = server.settle(WAIT)
        by_key, calls = crm.all()
        old = {k for k in by_key if ":old-" in k}
        now = judge(by_key, wanted | old)
        reviews = {}
        for item in server.every("review?state=open"):
            what = str(item.get("kind"))
            reviews[what] = reviews.get(what, 0) + 1
        states = server.states()
        server.stop()
        say(f"restore {when}", enquiries=ENQUIRIES, records_at_copy=at_copy, first_run=first, left_before=left_before,
            redelivered="/".join(f"{k}:{v}" for k, v in sorted(answers.items(), key=str)) or "no", settled_after_s=seconds, left=left, after_restore=now,
            most_for_one_key=max(by_key.values(), default=0), crm_calls=calls, states=states, reviews=reviews, verify=server.verify(),
            **({"command": command} if command else {}))
    shutil.rmtree(copy, ignore_errors=True)
    crm.stop()


for when in env("WHEN", "before,accepted,paused,down,done,midway,lost").split(","):
    storm(when)
