"""500 senders at once that end their side of the connection behind the body: each must read a 200, and each must be entered once.
Modes: plain; late (the end comes 50 ms behind the body); close (with Connection: close); gone (they close whole, reading nothing: each must be entered
all the same).

SENDERS (500), MODES"""
from lib import *

SENDERS = env("SENDERS", 500)


def storm(mode):
    with Oncebook("halfclose", sources("web") + DESK_AND_MAIL) as server:
        results, gate = {}, threading.Barrier(SENDERS)
        threading.stack_size(256 << 10)

        def send(number):
            body, more = enquiry(number), ["Content-Type: application/json"] + (["Connection: close"] if mode == "close" else [])
            gate.wait()
            began = time.monotonic()
            try:
                with socket.create_connection(("127.0.0.1", server.port), 60) as s, s.makefile("rb") as stream:
                    s.sendall(head("POST", "/in/web", len(body), more) + body)
                    if mode == "late":
                        time.sleep(0.05)
                    if mode != "gone":
                        s.shutdown(socket.SHUT_WR)
                        results[number] = status_of(stream), time.monotonic() - began
                        assert stream.read() == b"", "more than one answer"
            except Exception as e:  # noqa: BLE001
                results[number] = f"{type(e).__name__}:{e}", time.monotonic() - began

        threads = [threading.Thread(target=send, args=(n,)) for n in range(SENDERS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if mode == "gone":
            time.sleep(5)
        left, _ = server.settle(120)
        keys = [e["key"] for e in server.every("enquiries")]
        wanted = {f"web:submission:e-{n}" for n in range(SENDERS)}
        deliveries = sum(1 for _ in server.every("deliveries"))
        statuses = {}
        for status, _ in results.values():
            statuses[status] = statuses.get(status, 0) + 1
        say(f"halfclose {mode}", senders=SENDERS, answers="/".join(f"{k}:{v}" for k, v in sorted(statuses.items(), key=str)) or "none-read",
            slowest_s=max((t for _, t in results.values()), default=0), entered=len(keys), once=sum(keys.count(k) == 1 for k in wanted),
            lost=sum(k not in keys for k in wanted), deliveries=deliveries, unsettled=left, letters=len(outbox_keys(server)))


for mode in env("MODES", "plain,late,close,gone").split(","):
    storm(mode)
