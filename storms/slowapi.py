"""Connections that POST to /api/v1/... and declare a body that never comes; whoever is closed comes again at once. Whether a normal
sender and a normal reader of the API are served, and how long such a connection lives.

Kinds: open (no token is needed on this machine), token (one is needed, and the flood has none).

SECS (30), CONNS (200,1100), KINDS (open,token)"""
from lib import *

SECS = env("SECS", 30)
PATHS = ["/api/v1/targets/desk/pause", "/api/v1/enquiries/enq_x/replay", "/api/v1/review/rev_x", "/console/targets/desk/pause", "/api/v1/nope"]


def flood(server, conns, stop, told, tallies):
    tally, sockets, lives = {}, [], []

    def begin(index):
        try:
            s = socket.create_connection(("127.0.0.1", server.port), 5)
            s.sendall(head("POST", PATHS[index % len(PATHS)], 60000, ["Content-Type: application/json"]))
            s.setblocking(False)
            tally["begun"] = tally.get("begun", 0) + 1
            return s, time.monotonic(), index
        except OSError as e:
            tally[type(e).__name__] = tally.get(type(e).__name__, 0) + 1
            return None, 0, index

    sockets = [begin(i) for i in range(conns)]
    told.set()
    while not stop.is_set():
        for i, (s, began, index) in enumerate(sockets):
            if s is None:
                sockets[i] = begin(index)
                continue
            try:
                answer = s.recv(4096)
                what = answer[9:12].decode() if answer else "closed"
            except BlockingIOError:
                continue
            except OSError as e:
                what = type(e).__name__
            tally[what] = tally.get(what, 0) + 1
            lives.append(time.monotonic() - began)
            s.close()
            sockets[i] = begin(index)
        stop.wait(0.1)
    alive = [time.monotonic() - began for s, began, _ in sockets if s]
    tallies.put((tally, percentile(lives, 0.5), max(lives + alive, default=0)))
    tallies.close()
    tallies.join_thread()
    os._exit(0)


def storm(kind, conns):
    tokens = '[[token]]\nname = "ops"\nsecret = "env:STORM_TOKEN"\n' if kind == "token" else ""
    with Oncebook("slowapi", tokens + sources("calm") + DESK_AND_MAIL, environ={"STORM_TOKEN": "t0ken-of-the-storm-0123456789"}) as server:
        server.auth = {"authorization": "Bearer t0ken-of-the-storm-0123456789"} if tokens else {}
        before = server.status("VmRSS")
        stop, told, tallies = FORK.Event(), FORK.Event(), FORK.Queue()
        process = FORK.Process(target=flood, args=(server, conns, stop, told, tallies), daemon=True)
        process.start()
        told.wait(120)
        with Normal(server, "calm", every=0.2) as calm, Normal(server, "calm", every=0.2, path="/api/v1/targets", headers=server.auth) as reader:
            time.sleep(SECS)
        sockets = server.sockets()
        stop.set()
        tally, middle, longest = tallies.get(timeout=120)
        process.join()
        time.sleep(1)
        state = [t["state"] for t in server.api("targets")["items"]]
        say(f"slowapi {kind}", conns=conns, secs=SECS, rss_before_MiB=before, peak_rss_MiB=server.peak(), **calm.figures("normal"), **reader.figures("reader"),
            sockets_at_end=sockets, life_p50_s=middle, life_longest_s=longest, targets=state, flood="/".join(f"{k}:{v}" for k, v in sorted(tally.items())))


for kind in env("KINDS", "open,token").split(","):
    for conns in env("CONNS", "200,1100").split(","):
        storm(kind, int(conns))
