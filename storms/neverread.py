"""1,100 connections that send complete requests and never read an answer. How long until a normal client is served, and how many
connections are open over 90 s. Kinds: console (pipelined GET /console, as many as the socket takes), post (POSTS pipelined
POST /in each, of one key a connection), trickle (as console, but every 5 s one byte of the answer is read).

SECS (90), CONNS (1100), KINDS (console,post,trickle), POSTS (40), AGAIN (0): 1 lets whoever is closed come again at once"""
from lib import *

SECS, CONNS, POSTS, AGAIN = env("SECS", 90), env("CONNS", 1100), env("POSTS", 40), env("AGAIN", 0)


def flood(server, kind, stop, told, tallies):
    tally, selector, keep = {}, selectors.DefaultSelector(), []
    console = head("GET", "/console") * 200

    def begin(index):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.settimeout(5)
        try:
            s.connect(("127.0.0.1", server.port))
        except OSError as e:
            tally[type(e).__name__] = tally.get(type(e).__name__, 0) + 1
            return
        s.setblocking(False)
        tally["begun"] = tally.get("begun", 0) + 1
        body = enquiry(index, "flood")
        data = console if kind != "post" else (head("POST", "/in/flood", len(body), ["Content-Type: application/json"]) + body) * POSTS
        selector.register(s, selectors.EVENT_WRITE, [index, data, data])

    for i in range(CONNS):
        begin(i)
    told.set()
    trickle = time.monotonic()
    while not stop.is_set():
        for key, _ in selector.select(0.2):
            try:
                key.data[1] = key.data[1][key.fileobj.send(key.data[1]):]
                if not key.data[1] and kind == "post" and not AGAIN:
                    selector.unregister(key.fileobj)
                    keep.append(key.fileobj)
                elif not key.data[1]:
                    key.data[1] = key.data[2]
            except BlockingIOError:
                pass
            except OSError as e:
                tally[type(e).__name__] = tally.get(type(e).__name__, 0) + 1
                selector.unregister(key.fileobj)
                key.fileobj.close()
                if AGAIN:
                    begin(key.data[0])
        if kind == "trickle" and time.monotonic() - trickle > 5:
            trickle = time.monotonic()
            for key in list(selector.get_map().values()):
                with contextlib.suppress(OSError):
                    key.fileobj.recv(1)
    tallies.put(tally)
    tallies.close()
    tallies.join_thread()
    os._exit(0)


def storm(kind):
    with Oncebook("neverread", sources("flood", "calm") + DESK_AND_MAIL) as server:
        before = server.status("VmRSS")
        stop, told, tallies = FORK.Event(), FORK.Event(), FORK.Queue()
        process = FORK.Process(target=flood, args=(server, kind, stop, told, tallies), daemon=True)
        process.start()
        told.wait(120)
        began, counts = time.monotonic(), []
        with Normal(server, "calm", every=0.5) as calm:
            while time.monotonic() - began < SECS:
                counts.append(f"{int(time.monotonic() - began)}s:{server.sockets()}")
                time.sleep(min(10, SECS / 9))
        counts.append(f"{int(time.monotonic() - began)}s:{server.sockets()}")
        stop.set()
        tally = tallies.get(timeout=120)
        process.join()
        say(f"neverread {kind}", conns=CONNS, secs=SECS, again=AGAIN, rss_before_MiB=before, peak_rss_MiB=server.peak(), **calm.figures("normal"),
            sockets=",".join(counts), cpu_s=server.cpu(), flood="/".join(f"{k}:{v}" for k, v in sorted(tally.items())))


for kind in env("KINDS", "console,post,trickle").split(","):
    storm(kind)
