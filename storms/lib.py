import contextlib, http.client, io, json, multiprocessing, os, random, re, resource, selectors, shutil, signal
import socket, sqlite3, statistics, struct, subprocess, sys, tempfile, threading, time, urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BIN = os.environ.get("BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../target/release/oncebook"))
KEEP = os.environ.get("KEEP")  # keep the data directory
FORK = multiprocessing.get_context("fork")
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)


def env(name, default):
    """A figure from the environment, of the kind of its default."""
    return type(default)(os.environ.get(name, default))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def say(name, **figures):
    """The line of figures."""
    text = " ".join(f"{k}={round(v, 3) if isinstance(v, float) else v}" for k, v in figures.items())
    print(f"[{name}] {text}", flush=True)


SOURCE = """
[[source]]
name = "{name}"
auth = {auth}
identity = {{ submission = "/submission_id" }}
look_alike = {{ window = "10m", then = "proceed" }}
map = {{ "contact.email" = "/email", "contact.name" = "/name", message = "/message" }}
"""
DESK_AND_MAIL = """
[[target]]
name = "desk"
kind = "desk"

[[target]]
name = "mail"
kind = "outbox"
from = "desk@example.com"

[[action]]
name = "book"
target = "desk"

[[action]]
name = "letter"
target = "mail"
"""
CRM = """
[[target]]
name = "crm"
kind = "http"
timeout = "{timeout}"
settle = "{settle}"
write = {{ method = "POST", url = "http://127.0.0.1:{port}/deals", body = '{{"external_key": {{{{ key|tojson }}}}, "title": {{{{ enquiry.summary|tojson }}}}}}', id = "/id" }}
find = {{ method = "GET", url = "http://127.0.0.1:{port}/deals?external_key={{{{ key|urlencode }}}}", records = "/results", id = "/id", key = "/external_key", consistency = "strong" }}
read = {{ method = "GET", url = "http://127.0.0.1:{port}/deals/{{{{ id }}}}", key = "/external_key" }}

[[action]]
name = "deal"
target = "crm"
"""


def sources(*names, auth='{ scheme = "none" }'):
    return "".join(SOURCE.format(name=n, auth=auth) for n in names)


class Oncebook:
    """`oncebook serve` in a directory of its own."""

    def __init__(self, name, config, server="", environ=None, engine=""):
        self.name = name
        self.dir = tempfile.mkdtemp(prefix=f"storm-{name}-", dir="/tmp")
        self.port = free_port()
        self.environ = {k: v for k, v in os.environ.items() if not k.startswith("ONCEBOOK_")}
        self.environ.update({"ONCEBOOK_LOG": os.environ.get("LOG", "warn"), **(environ or {})})
        self.data = os.path.join(self.dir, "oncebook-data")
        self.head, self.rest = f'[server]\nlisten = "127.0.0.1:{self.port}"\n{server}\n', config
        self.configure(engine)
        self.process, self.auth = None, {}

    def configure(self, engine=""):
        with open(os.path.join(self.dir, "oncebook.toml"), "w") as f:
            f.write(self.head + (f"[engine]\n{engine}\n" if engine else "") + self.rest)

    def spawn(self):
        log = open(os.path.join(self.dir, "server.log"), "ab")
        self.process = subprocess.Popen([BIN, "serve"], cwd=self.dir, env=self.environ, stdout=log, stderr=log)
        log.close()

    def ready(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended ({self.process.returncode}):\n{self.log()[-3000:]}")
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.ask("GET", "/readyz", timeout=5)[0] == 200:
                    return self
            time.sleep(0.02)
        raise SystemExit("the server was not ready in time:\n" + self.log()[-3000:])

    def start(self, seconds=60):
        self.spawn()
        return self.ready(seconds)

    def log(self):
        with open(os.path.join(self.dir, "server.log"), errors="replace") as f:
            return f.read()

    def ask(self, method, path, body=None, headers=None, timeout=30):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def api(self, path, timeout=60):
        status, body = self.ask("GET", "/api/v1/" + path, headers=self.auth, timeout=timeout)
        if status != 200:
            raise RuntimeError(f"{path}: {status} {body[:300]!r}")
        return json.loads(body)

    def act(self, path, **body):
        status, answer = self.ask("POST", "/api/v1/" + path, json.dumps(body), {"content-type": "application/json", **self.auth})
        if status != 200:
            raise RuntimeError(f"{path}: {status} {answer[:300]!r}")
        return json.loads(answer)

    def every(self, path):
        """All items of a list."""
        cursor, sep = None, "&" if "?" in path else "?"
        while True:
            page = self.api(f"{path}{sep}limit=1000" + (f"&cursor={urllib.parse.quote(cursor)}" if cursor else ""))
            yield from page["items"]
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def status(self, key):
        """A line of /proc/PID/status, in MiB."""
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) / 1024 for line in f if line.startswith(key + ":"))

    def peak(self):
        return self.status("VmHWM")

    def sockets(self):
        """Sockets that the process holds, the listener among them."""
        count, base = 0, f"/proc/{self.process.pid}/fd"
        for fd in os.listdir(base):
            with contextlib.suppress(OSError):
                count += os.readlink(f"{base}/{fd}").startswith("socket:")
        return count

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill9(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self, seconds=120):
        """A clean stop; how long it took."""
        began = time.monotonic()
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill9()
                return float("inf")
        return time.monotonic() - began

    def unsettled(self):
        return sum(len(self.api(f"enquiries?state={s}&limit=1000")["items"]) for s in ("accepted", "working"))

    def settle(self, seconds):
        """Waits until nothing is accepted or working; what is left, and how long it took."""
        began = time.monotonic()
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                left = self.unsettled()
                if left == 0 or time.monotonic() - began > seconds:
                    return left, time.monotonic() - began
            time.sleep(0.5)

    def states(self):
        counts = {}
        for e in self.every("enquiries"):
            counts[e["state"]] = counts.get(e["state"], 0) + 1
        return ",".join(f"{k}:{v}" for k, v in sorted(counts.items()))

    def verify(self):
        """`evidence verify`, of a stopped server's book."""
        done = subprocess.run([BIN, "evidence", "verify"], cwd=self.dir, env=self.environ, capture_output=True, text=True)
        return "good" if done.returncode == 0 else f"EXIT-{done.returncode}:{(done.stdout + done.stderr)[-400:]!r}"

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop(60)
        trouble = [l for l in self.log().splitlines() if re.search(r"panicked|ERROR", l)]
        if trouble:
            print(f"  ! the server's log, {len(trouble)} lines, first: {trouble[0][:300]}", flush=True)
        if KEEP:
            print("  kept:", self.dir)
        else:
            shutil.rmtree(self.dir, ignore_errors=True)


def enquiry(number, tag="e"):
    """A small, qualified enquiry of its own."""
    body = {
        "submission_id": f"{tag}-{number}",
        "email": f"{tag}{number}@example.com",
        "name": f"Avery {tag} {number}",
        "message": f"We need a quote for {40 + number} chairs by Friday, budget 5000 EUR, for our office number {number}.",
    }
    return json.dumps(body).encode()


def head(method, path, length=None, more=()):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join([*lines, *more]) + "\r\n\r\n").encode()


class Normal:
    """A normal sender: one small enquiry after another over connections of its own, and how each was answered."""

    def __init__(self, server, source, every=0.25, timeout=60, headers=None, tag=None, path=None):
        self.server, self.path, self.every, self.timeout = server, path or f"/in/{source}", every, timeout
        self.headers = {"content-type": "application/json", **(headers or {})}
        self.tag, self.is_get = tag or f"n-{source}", path is not None
        self.took, self.statuses, self.served_at, self.began = [], {}, [], time.monotonic()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def once(self, number):
        began = time.monotonic()
        try:
            method, body = ("GET", None) if self.is_get else ("POST", enquiry(number, self.tag))
            status, _ = self.server.ask(method, self.path, body, self.headers, self.timeout)
        except Exception as e:  # noqa: BLE001
            status = type(e).__name__
        now = time.monotonic()
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status == 200:
            self.took.append(now - began)
            self.served_at.append(now)
        return status

    def run(self):
        number = 0
        while not self.stopped.is_set():
            self.once(number)
            number += 1
            self.stopped.wait(self.every)

    def __enter__(self):
        self.began = time.monotonic()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended = time.monotonic()
        self.stopped.set()
        self.thread.join(self.timeout + 5)

    def figures(self, prefix):
        marks = [self.began, *[t for t in self.served_at if t < self.ended], self.ended]
        gap = max(b - a for a, b in zip(marks, marks[1:]))
        first = self.served_at[0] - self.began if self.served_at else float("inf")
        return {
            f"{prefix}_answers": "/".join(f"{k}:{v}" for k, v in sorted(self.statuses.items(), key=str)) or "none",
            f"{prefix}_p50_s": percentile(self.took, 0.5),
            f"{prefix}_slowest_s": max(self.took, default=float("inf")),
            f"{prefix}_first_s": first,
            f"{prefix}_longest_gap_s": gap,
        }


class Load:
    """Threads in a process of their own (so that they do not slow the normal sender), until told to end. `work(index, tally)` is
    called again and again; tally is a dictionary of counts."""

    def __init__(self, connections, work, processes=2):
        self.stop, self.tallies = FORK.Event(), FORK.Queue()
        each = [connections // processes + (i < connections % processes) for i in range(processes)]
        self.processes = [FORK.Process(target=self.run, args=(i * 10_000, n, work), daemon=True) for i, n in enumerate(each) if n]

    def run(self, base, connections, work):
        threading.stack_size(256 << 10)
        tallies = [{} for _ in range(connections)]

        def loop(index):
            while not self.stop.is_set():
                try:
                    work(base + index, tallies[index])
                except Exception as e:  # noqa: BLE001
                    name = type(e).__name__
                    tallies[index][name] = tallies[index].get(name, 0) + 1
                    time.sleep(0.05)

        threads = [threading.Thread(target=loop, args=(i,), daemon=True) for i in range(connections)]
        for t in threads:
            t.start()
        self.stop.wait()
        for t in threads:
            t.join(1)
        whole = {}
        for tally in tallies:
            for k, v in list(tally.items()):
                whole[k] = whole.get(k, 0) + v
        self.tallies.put(whole)
        self.tallies.close()
        self.tallies.join_thread()
        os._exit(0)

    def __enter__(self):
        for p in self.processes:
            p.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.tally = {}
        for _ in self.processes:
            for k, v in self.tallies.get(timeout=600).items():
                self.tally[k] = self.tally.get(k, 0) + v
        for p in self.processes:
            p.join()

    def figures(self):
        return {"load": "/".join(f"{k}:{v}" for k, v in sorted(self.tally.items(), key=str)) or "none"}


def status_of(stream):
    """Reads one answer of a socket's file; its status. 0: the other side closed."""
    line = stream.readline()
    if not line:
        return 0
    length = 0
    while True:
        field = stream.readline()
        if field in (b"\r\n", b""):
            break
        if field.lower().startswith(b"content-length:"):
            length = int(field.split(b":")[1])
    stream.read(length)
    return int(line.split()[1])


def post_all(server, source, numbers, tag="e", threads=8, headers=None, give_up=None, pace=None):
    """Posts the enquiries, each until it is answered 200, over kept connections; how many answers there were by status."""
    numbers, lock, counts = iter(list(numbers)), threading.Lock(), {}

    def count(what):
        with lock:
            counts[what] = counts.get(what, 0) + 1

    def work():
        connection = None
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            while not (give_up and give_up.is_set()):
                try:
                    if connection is None:
                        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
                    connection.request("POST", f"/in/{source}", enquiry(number, tag), {"content-type": "application/json", **(headers or {})})
                    answer = connection.getresponse()
                    body = answer.read()
                    if answer.status == 200:
                        count(json.loads(body)["verdict"])
                        break
                    count(answer.status)
                    time.sleep(0.2)
                except (OSError, http.client.HTTPException) as e:
                    count(type(e).__name__)
                    if connection:
                        connection.close()
                    connection = None
                    time.sleep(0.05)
            if pace:
                time.sleep(pace)

    workers = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    return counts


class Crm:
    """A small CRM that never dedupes: every POST is one more record. It runs in a process of its own, and counts by key.
    `drop_every`: of so many answers to a POST one is not given, after the write."""

    def __init__(self, port=None, drop_every=0):
        self.port, self.drop_every = port or free_port(), drop_every
        self.process = None

    def start(self):
        self.process = FORK.Process(target=self.run, daemon=True)
        self.process.start()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            time.sleep(0.02)
        raise SystemExit("the CRM did not start")

    def run(self):
        records, by_key, lock, calls = [], {}, threading.Lock(), {"POST": 0, "find": 0, "read": 0, "dropped": 0}
        drop_every = self.drop_every

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def tell(self, value, status=200):
                body = json.dumps(value).encode()
                self.send_response_only(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                key = json.loads(self.rfile.read(int(self.headers["content-length"])))["external_key"]
                with lock:
                    calls["POST"] += 1
                    drops = drop_every and calls["POST"] % drop_every == 0
                    calls["dropped"] += bool(drops)
                    number = len(records)
                    records.append(key)
                    by_key.setdefault(key, []).append(number)
                if drops:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                else:
                    self.tell({"id": f"r{number}"}, 201)

            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                if url.path == "/all":
                    with lock:
                        return self.tell({"by_key": {k: len(v) for k, v in by_key.items()}, "calls": calls})
                if url.path == "/deals":
                    key = urllib.parse.parse_qs(url.query)["external_key"][0]
                    with lock:
                        calls["find"] += 1
                        found = [{"id": f"r{n}", "external_key": key} for n in by_key.get(key, [])]
                    return self.tell({"results": found})
                number = int(url.path.rsplit("/r", 1)[1])
                with lock:
                    calls["read"] += 1
                    key = records[number]
                return self.tell({"id": f"r{number}", "external_key": key})

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads, request_queue_size, allow_reuse_address = True, 512, True

            def handle_error(self, *_):
                pass

        threading.stack_size(256 << 10)
        Server(("127.0.0.1", self.port), Handler).serve_forever()

    def all(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/all")
        value = json.loads(connection.getresponse().read())
        connection.close()
        return value["by_key"], value["calls"]

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.join()


def judge(by_key, wanted):
    """How many keys have no record, one, or more; and records under keys that nobody sent."""
    return {
        "missing": sum(k not in by_key for k in wanted),
        "once": sum(by_key.get(k) == 1 for k in wanted),
        "doubled": sum(by_key.get(k, 0) > 1 for k in wanted),
        "strange": sum(k not in wanted for k in by_key),
    }


def outbox_keys(server, target="mail"):
    """How many letters there are by the address they go to."""
    counts, base = {}, os.path.join(server.data, f"{target}.outbox")
    for folder in ("new", "cur"):
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(os.path.join(base, folder)):
                with open(os.path.join(base, folder, name), "rb") as f:
                    found = re.search(rb"(?im)^to:\s*<?([^\s>]+)", f.read(8192))
                key = found.group(1).decode() if found else "?"
                counts[key] = counts.get(key, 0) + 1
    return counts


def desk_keys(server, target="desk"):
    """How many deals the desk has by key; of a stopped server."""
    base = next(os.path.join(server.data, n) for n in os.listdir(server.data) if n.startswith(target) and n.endswith(".db"))
    with contextlib.closing(sqlite3.connect(base)) as db:
        tables = [r[0] for r in db.execute("select name from sqlite_master where type='table'")]
        table = next(t for t in tables if "deal" in t)
        columns = [r[1] for r in db.execute(f"pragma table_info({table})")]
        column = next(c for c in columns if "key" in c)
        return dict(db.execute(f"select {column}, count(*) from {table} group by 1"))
