"""Connections that each declare 1 MiB and drip a byte every 500 ms; one that is closed comes again at once. Whether a normal sender
of another source, and of the same, is answered. Modes: wrong (bearer source, wrong token), missing (bearer source, no token),
open (source without auth), chunked (the same, no length declared), right (bearer source, the right token).

SECS (20), CONNS (64,400), MODES"""
from lib import *

SECS = env("SECS", 20)
LOCKED = '{ scheme = "bearer", secret = "env:STORM_SECRET" }'


def drippers(server, conns, path, more, chunked, stop, tallies):
    """All of them in one process: a list of sockets, a byte each in turn."""
    tally = {}
    request = head("POST", path, None if chunked else 1 << 20, ["Content-Type: application/json", *more, *(["Transfer-Encoding: chunked"] if chunked else [])])
    request += b"1\r\n[\r\n" if chunked else b"["
    crumb = b"1\r\n \r\n" if chunked else b" "

    def count(what):
        tally[what] = tally.get(what, 0) + 1

    def begin():
        try:
            s = socket.create_connection(("127.0.0.1", server.port), 5)
            s.sendall(request)
            s.setblocking(False)
            count("begun")
            return s
        except OSError as e:
            count(type(e).__name__)
            return None

    sockets = [begin() for _ in range(conns)]
    while not stop.is_set():
        round_began = time.monotonic()
        for i, s in enumerate(sockets):
            if s is None:
                sockets[i] = begin()
                continue
            try:
                answer = s.recv(4096)
                count(answer[9:12].decode() if answer else "closed")
                s.close()
                sockets[i] = begin()
                continue
            except BlockingIOError:
                pass
            except OSError as e:
                count(type(e).__name__)
                s.close()
                sockets[i] = begin()
                continue
            try:
                s.send(crumb)
            except OSError:
                pass
        stop.wait(max(0, 0.5 - (time.monotonic() - round_began)))
    tallies.put(tally)
    tallies.close()
    tallies.join_thread()
    os._exit(0)


def storm(mode, conns):
    config = sources("open", "calm") + sources("locked", auth=LOCKED) + DESK_AND_MAIL
    environ = {"STORM_SECRET": "s3cret-storm"}
    with Oncebook("drip", config, environ=environ) as server:
        before = server.status("VmRSS")
        right = {"authorization": "Bearer s3cret-storm"}
        source = "open" if mode in ("open", "chunked") else "locked"
        more = {"wrong": ["Authorization: Bearer wrong"], "right": ["Authorization: Bearer s3cret-storm"]}.get(mode, [])
        stop, tallies = FORK.Event(), FORK.Queue()
        process = FORK.Process(target=drippers, args=(server, conns, f"/in/{source}", more, mode == "chunked", stop, tallies), daemon=True)
        process.start()
        time.sleep(3)
        with Normal(server, "calm") as calm, Normal(server, source, headers=right if source == "locked" else None) as same:
            time.sleep(SECS)
        stop.set()
        tally = tallies.get(timeout=120)
        process.join()
        say(f"drip {mode}", conns=conns, secs=SECS, rss_before_MiB=before, peak_rss_MiB=server.peak(), **calm.figures("other"), **same.figures("same"),
            drippers="/".join(f"{k}:{v}" for k, v in sorted(tally.items())))


for mode in env("MODES", "wrong,missing,open,chunked,right").split(","):
    for conns in env("CONNS", "64,400").split(","):
        storm(mode, int(conns))
