"""gzip bodies that hold 1 MiB of zeros and are about 1.2 kB packed, from 16 and from 200 connections that read their answers.

SECS (10), CONNS (16,200), KINDS (json: text of a list; digits: the digit 0; nul: NULs)"""
from lib import *
import gzip

SECS = env("SECS", 10)
MIB = 1 << 20


def packed(kind, n):
    if kind == "json":
        start = f"[{n}".encode()
        plain, media = start + b",0" * ((MIB - len(start) - 1) // 2) + b"]", "application/json"
    else:
        start = str(n).encode()
        plain, media = start + {"digits": b"0", "nul": b"\0"}[kind] * (MIB - len(start)), "text/plain"
    return gzip.compress(plain, 9), media


def storm(kind, conns):
    bodies = [packed(kind, n) for n in range(16)]
    with Oncebook("packed", sources("flood", "calm") + DESK_AND_MAIL) as server:
        before = server.status("VmRSS")

        def work(index, tally):
            with socket.create_connection(("127.0.0.1", server.port), 60) as s, s.makefile("rb") as stream:
                s.settimeout(60)
                for n in range(1000):
                    body, media = bodies[(index + n) % len(bodies)]
                    s.sendall(head("POST", "/in/flood", len(body), [f"Content-Type: {media}", "Content-Encoding: gzip"]) + body)
                    status = status_of(stream)
                    tally[status] = tally.get(status, 0) + 1
                    if status != 200:
                        return

        with Load(conns, work) as load, Normal(server, "calm") as calm:
            time.sleep(SECS)
        say(f"packed {kind}", conns=conns, secs=SECS, packed_bytes=len(bodies[0][0]), rss_before_MiB=before, peak_rss_MiB=server.peak(),
            **calm.figures("normal"), cpu_s=server.cpu(), **load.figures())


for kind in env("KINDS", "json,digits,nul").split(","):
    for conns in env("CONNS", "16,200").split(","):
        storm(kind, int(conns))
