//! The real binary as a process: started, spoken to, held at a drill stop, killed, started again.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::{Dir, placed};

/// Questions asked before a test gives up waiting. Each is a request, so this is minutes.
const PATIENCE: usize = 100_000;

/// A server process on a directory.
pub struct Process {
    pub dir: Arc<Dir>,
    pub address: SocketAddr,
    child: Child,
    http: reqwest::Client,
}

/// A drill stop: the server connects to it when it comes there.
pub struct Held {
    listener: TcpListener,
    name: String,
}

impl Held {
    pub fn at(name: &str) -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").unwrap(), name: name.to_owned() }
    }

    fn variable(&self) -> String {
        format!("{}@{}", self.name, self.listener.local_addr().unwrap())
    }

    /// Waits until the server is there. It stays there until it is killed.
    pub async fn reached(&self) {
        let listener = self.listener.try_clone().unwrap();
        let held = tokio::task::spawn_blocking(move || listener.accept().unwrap().0).await.unwrap();
        std::mem::forget(held);
    }
}

pub fn binary() -> PathBuf {
    env!("CARGO_BIN_EXE_oncebook").into()
}

impl Process {
    /// Starts the server on a new directory, perhaps with a drill stop.
    pub async fn start(config: &str, held: Option<&Held>) -> Self {
        let dir = Arc::new(Dir::new());
        std::fs::write(dir.0.join("oncebook.toml"), placed(&dir.0, config)).unwrap();
        Self::on(dir, held).await
    }

    /// Starts the server on a new directory; it can write no file beyond so many blocks, as on a disk that is full.
    pub async fn start_limited(config: &str, blocks: u32) -> Self {
        let dir = Arc::new(Dir::new());
        std::fs::write(dir.0.join("oncebook.toml"), placed(&dir.0, config)).unwrap();
        let mut command = Command::new("sh");
        // Ignored, the signal that such a write would raise becomes an error, as from a full disk.
        command.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"")).arg("sh").arg(binary());
        Self::run(command, dir, None).await
    }

    /// Starts the server on a new directory, with a variable in its environment.
    pub async fn start_with(config: &str, (name, value): (&str, &str)) -> Self {
        let dir = Arc::new(Dir::new());
        std::fs::write(dir.0.join("oncebook.toml"), placed(&dir.0, config)).unwrap();
        let mut command = Command::new(binary());
        command.env(name, value);
        Self::run(command, dir, None).await
    }

    /// Starts the server on a directory that has been served before.
    pub async fn again(dir: Arc<Dir>) -> Self {
        Self::on(dir, None).await
    }

    async fn on(dir: Arc<Dir>, held: Option<&Held>) -> Self {
        Self::run(Command::new(binary()), dir, held).await
    }

    async fn run(mut command: Command, dir: Arc<Dir>, held: Option<&Held>) -> Self {
        super::install_tls();
        command.arg("--config").arg(dir.0.join("oncebook.toml")).arg("serve").current_dir(&dir.0);
        command.env("ONCEBOOK_LOG", "warn").stdout(Stdio::piped()).stdin(Stdio::null()).kill_on_drop(true);
        if let Some(held) = held {
            command.env("ONCEBOOK_STOP_AT", held.variable());
        }
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next_line().await.unwrap().expect("the server says where it listens");
        let address = first.rsplit("http://").next().unwrap().trim().parse().unwrap();
        Self { dir, address, child, http: reqwest::Client::builder().no_proxy().build().unwrap() }
    }

    /// Starts the server with every log line it can write, into a file.
    pub async fn start_logged(config: &str) -> Self {
        let dir = Arc::new(Dir::new());
        std::fs::write(dir.0.join("oncebook.toml"), placed(&dir.0, config)).unwrap();
        let mut command = Command::new("sh");
        command.arg("-c").arg("ONCEBOOK_LOG=trace; export ONCEBOOK_LOG; exec \"$@\" 2>log").arg("sh").arg(binary());
        Self::run(command, dir, None).await
    }

    /// Starts the server with a standard output that nobody reads, and never did.
    pub async fn start_unheard(config: &str) -> Self {
        super::install_tls();
        let dir = Arc::new(Dir::new());
        std::fs::write(dir.0.join("oncebook.toml"), placed(&dir.0, config)).unwrap();
        let (nobody, out) = std::io::pipe().unwrap();
        drop(nobody);
        let mut command = Command::new(binary());
        command.arg("--config").arg(dir.0.join("oncebook.toml")).arg("serve").stdout(out).stdin(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let written = async {
            loop {
                let text = std::fs::read_to_string(dir.0.join("serve.address")).unwrap_or_default();
                if let Ok(address) = text.trim().parse::<SocketAddr>() {
                    return address;
                }
                tokio::task::yield_now().await;
            }
        };
        let address = tokio::select! {
            address = written => address,
            ended = child.wait() => panic!("the server ended: {ended:?}"),
        };
        Self { dir, address, child, http: reqwest::Client::builder().no_proxy().build().unwrap() }
    }

    /// Whether the process is gone.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Ends it; what it has logged, and its directory.
    pub async fn end(mut self) -> (String, Arc<Dir>) {
        self.child.kill().await.unwrap();
        (std::fs::read_to_string(self.dir.0.join("log")).unwrap(), self.dir)
    }

    /// `kill -9`, and the same book in a new process.
    pub async fn kill_and_restart(mut self) -> Self {
        self.child.kill().await.unwrap();
        Self::on(Arc::clone(&self.dir), None).await
    }

    /// Ends it as a service manager does; its exit code.
    pub async fn terminate(mut self) -> Option<i32> {
        let pid = self.child.id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().await.unwrap().code()
    }

    pub async fn send(&self, method: &str, path: &str, body: Option<&str>) -> reqwest::Response {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = self.http.request(method, format!("http://{}{path}", self.address));
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_owned());
        }
        request.send().await.unwrap()
    }

    pub async fn post(&self, source: &str, body: &str) -> Value {
        let answer = self.send("POST", &format!("/in/{source}"), Some(body)).await;
        assert_eq!(answer.status(), 200);
        answer.json().await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Value {
        self.send("GET", path, None).await.json().await.unwrap()
    }

    /// Asks until the enquiry is settled.
    pub async fn settled(&self, key: &str) -> Value {
        self.until(key, "settled").await
    }

    /// Asks until the enquiry is in that state.
    pub async fn until(&self, key: &str, state: &str) -> Value {
        let path = format!("/api/v1/enquiries/{key}");
        for _ in 0..PATIENCE {
            let dossier = self.get(&path).await;
            if dossier["enquiry"]["state"] == state {
                return dossier;
            }
        }
        panic!("{key} does not become {state}: {}", self.get(&path).await);
    }

    /// How many deals the desk has under a key.
    pub async fn deals(&self, key: &str) -> usize {
        self.get(&format!("/api/v1/desk/deals?key={key}")).await["items"].as_array().unwrap().len()
    }
}
