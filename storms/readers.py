"""300 readers at once of GET /api/v1/enquiries?limit=1000 and /journal?limit=1000, on a book of 5,000 enquiries. The server's peak
memory. Kinds: enquiries, journal, both, slow (both, and who asked reads nothing for 10 s, then everything).

ENQUIRIES (5000), READERS (300), ROUNDS (2), KINDS"""
from lib import *

ENQUIRIES, READERS, ROUNDS = env("ENQUIRIES", 5000), env("READERS", 300), env("ROUNDS", 2)
PATHS = {"enquiries": ["enquiries?limit=1000"], "journal": ["journal?limit=1000"]}


def read_all(server, paths, slow, base, count, results):
    took, statuses, size, lock = [], {}, [0], threading.Lock()
    gate = threading.Barrier(count)

    def read(index):
        gate.wait()
        for n in range(ROUNDS):
            began = time.monotonic()
            try:
                with socket.create_connection(("127.0.0.1", server.port), 300) as s:
                    s.settimeout(300)
                    s.sendall(head("GET", "/api/v1/" + paths[(index + n) % len(paths)], None, ["Connection: close"]))
                    if slow:
                        time.sleep(10)
                    got, first = 0, b""
                    while data := s.recv(1 << 18):
                        first = first or data
                        got += len(data)
                what = first[9:12].decode()
                length = re.search(rb"(?i)content-length: (\d+)", first)
                if length and got < int(length.group(1)):
                    what = "cut-off"
            except Exception as e:  # noqa: BLE001
                what, got = type(e).__name__, 0
            with lock:
                statuses[what] = statuses.get(what, 0) + 1
                took.append(time.monotonic() - began)
                size[0] = max(size[0], got)

    threading.stack_size(256 << 10)
    threads = [threading.Thread(target=read, args=(base + i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    results.put((took, statuses, size[0]))
    results.close()
    results.join_thread()
    os._exit(0)


def storm(kind, server):
    server.stop()
    server.start()
    before = server.status("VmRSS")
    paths = [f"{p}?limit=1000" for p in (["enquiries", "journal"] if kind in ("both", "slow") else [kind])]
    results = FORK.Queue()
    each = [READERS // 2, READERS - READERS // 2]
    processes = [FORK.Process(target=read_all, args=(server, paths, kind == "slow", i, n, results), daemon=True) for i, n in enumerate(each)]
    with Normal(server, "calm", tag=f"n-{kind}") as calm:
        for p in processes:
            p.start()
        gathered = [results.get(timeout=900) for _ in processes]
    for p in processes:
        p.join()
    took, statuses = [t for g in gathered for t in g[0]], {}
    for g in gathered:
        for k, v in g[1].items():
            statuses[k] = statuses.get(k, 0) + v
    time.sleep(5)
    say(f"readers {kind}", readers=READERS, rounds=ROUNDS, answer_KiB=max(g[2] for g in gathered) // 1024, rss_before_MiB=before,
        peak_rss_MiB=server.peak(), rss_5s_after_MiB=server.status("VmRSS"), answers="/".join(f"{k}:{v}" for k, v in sorted(statuses.items())),
        p50_s=percentile(took, 0.5), slowest_s=max(took), **calm.figures("normal"))


with Oncebook("readers", sources("web", "calm") + DESK_AND_MAIL) as server:
    post_all(server, "web", range(ENQUIRIES), threads=16)
    left, seconds = server.settle(600)
    print(f"  filled: {ENQUIRIES}, unsettled {left}, settled after {seconds:.1f} s more, peak {server.peak():.0f} MiB", flush=True)
    for kind in env("KINDS", "enquiries,journal,both,slow").split(","):
        storm(kind, server)
