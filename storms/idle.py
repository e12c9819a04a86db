"""1,100 connections that say nothing (silent), or half a head (partial), or a header line every second (slowhead); a normal client beside them. Whoever is closed comes
again at once where AGAIN is 1.

SECS (20), CONNS (1100), KINDS (silent,partial,slowhead), AGAIN (0,1)"""
from lib import *

SECS, CONNS = env("SECS", 20), env("CONNS", 1100)


def idlers(server, kind, again, stop, told, tallies):
    tally, sockets = {}, []

    def begin():
        try:
            s = socket.create_connection(("127.0.0.1", server.port), 5)
            if kind != "silent":
                s.sendall(b"POST /in/calm HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            s.setblocking(False)
            tally["begun"] = tally.get("begun", 0) + 1
            return s
        except OSError as e:
            tally[type(e).__name__] = tally.get(type(e).__name__, 0) + 1
            return None

    sockets = [begin() for _ in range(CONNS)]
    told.set()
    while not stop.is_set():
        for i, s in enumerate(sockets):
            if s is None:
                if again:
                    sockets[i] = begin()
                continue
            try:
                if kind == "slowhead":
                    s.send(b"X-A: b\r\n")
                answer = s.recv(4096)
                what = answer[9:12].decode() if answer else "closed"
            except BlockingIOError:
                continue
            except OSError as e:
                what = type(e).__name__
            tally[what] = tally.get(what, 0) + 1
            s.close()
            sockets[i] = begin() if again else None
        stop.wait(1 if kind == "slowhead" else 0.1)
    tallies.put(tally)
    tallies.close()
    tallies.join_thread()
    os._exit(0)


def storm(kind, again):
    with Oncebook("idle", sources("calm") + DESK_AND_MAIL) as server:
        stop, told, tallies = FORK.Event(), FORK.Event(), FORK.Queue()
        process = FORK.Process(target=idlers, args=(server, kind, again, stop, told, tallies), daemon=True)
        process.start()
        told.wait(120)
        with Normal(server, "calm", every=0.1) as calm:
            time.sleep(SECS)
        sockets = server.sockets()
        stop.set()
        tally = tallies.get(timeout=120)
        process.join()
        say(f"idle {kind}", conns=CONNS, again=again, secs=SECS, peak_rss_MiB=server.peak(), **calm.figures("normal"), sockets_at_end=sockets,
            idlers="/".join(f"{k}:{v}" for k, v in sorted(tally.items())))


for kind in env("KINDS", "silent,partial,slowhead").split(","):
    for again in env("AGAIN", "0,1").split(","):
        storm(kind, int(again))
