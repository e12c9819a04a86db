"""64 connections, each posts 1 MiB and closes right after its last byte, again and again. The peak of the server's memory, and
what a normal sender of another source sees. Kinds: JSON list of zeros, urlencoded, multipart, and the list with a reset
instead of a close; each against a server of its own.

SECS (20) per kind, CONNS (64), KINDS (json,urlencoded,multipart,json-reset)"""
from lib import *

SECS, CONNS = env("SECS", 20), env("CONNS", 64)
MIB = 1 << 20


def json_list(n):
    start = f"[{n}".encode()
    return (start + b",0" * ((MIB - len(start) - 1) // 2) + b"]"), "application/json"


def urlencoded(n):
    start = f"n={n}".encode()
    return start + b"&a=0" * ((MIB - len(start)) // 4), "application/x-www-form-urlencoded"


def multipart(n):
    part = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n0\r\n'
    start = f'--b\r\nContent-Disposition: form-data; name="n"\r\n\r\n{n}\r\n'.encode()
    return start + part * ((MIB - len(start) - 6) // len(part)) + b"--b--\r\n", "multipart/form-data; boundary=b"


MAKERS = {"json": json_list, "urlencoded": urlencoded, "multipart": multipart, "json-reset": json_list}


def storm(kind):
    bodies = [MAKERS[kind](n) for n in range(8)]
    assert all(MIB - 64 < len(b) <= MIB for b, _ in bodies), [len(b) for b, _ in bodies]
    with Oncebook("hangup", sources("flood", "calm") + DESK_AND_MAIL) as server:
        before = server.status("VmRSS")

        def work(index, tally):
            body, media = bodies[(index + tally.get("sent", 0)) % len(bodies)]
            with socket.create_connection(("127.0.0.1", server.port), 60) as s:
                if kind.endswith("reset"):
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                s.sendall(head("POST", "/in/flood", len(body), [f"Content-Type: {media}"]) + body)
            tally["sent"] = tally.get("sent", 0) + 1

        with Load(CONNS, work) as load, Normal(server, "calm") as calm:
            time.sleep(SECS)
        during, cpu = server.peak(), server.cpu()
        began = time.monotonic()
        calm.once(10**6)
        entered = len(server.api("deliveries?source=flood&limit=1000")["items"])
        say(f"hangup {kind}", conns=CONNS, secs=SECS, rss_before_MiB=before, peak_rss_MiB=during, peak_later_MiB=server.peak(),
            **calm.figures("normal"), after_s=time.monotonic() - began, cpu_s=cpu, entered_at_least=entered, **load.figures())


for kind in env("KINDS", "json,urlencoded,multipart,json-reset").split(","):
    storm(kind)
