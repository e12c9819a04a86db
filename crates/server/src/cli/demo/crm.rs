//! The small HTTP CRM of the demo: as naive as real ones. It never dedupes, so every POST that reaches it makes a record,
//! and it can be told to fail the way real ones do.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

/// What becomes of the next write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mood {
    /// It is answered.
    #[default]
    Well,
    /// It is carried out, and the connection is closed without an answer.
    DropsAnswer,
    /// It is carried out, and never answered.
    Hangs,
}

/// The CRM and its records.
#[derive(Clone)]
pub(super) struct Crm {
    state: Arc<Mutex<State>>,
    /// Told with each record that was made.
    written: Arc<Notify>,
    address: SocketAddr,
    door: Arc<Mutex<Option<tokio_util::sync::CancellationToken>>>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct State {
    records: Vec<Value>,
    mood: Mood,
}

impl Crm {
    /// Opens on a free loopback port.
    pub(super) async fn open() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let crm = Self {
            state: Arc::default(),
            written: Arc::default(),
            address: listener.local_addr()?,
            door: Arc::default(),
            tasks: TaskTracker::new(),
        };
        crm.listen(listener);
        Ok(crm)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many records carry a key that ends so.
    pub(super) fn count(&self, key_end: &str) -> usize {
        let of = |record: &&Value| record["external_key"].as_str().is_some_and(|key| key.ends_with(key_end));
        self.state().records.iter().filter(of).count()
    }

    /// Waits until a record stands whose key ends so.
    pub(super) async fn wait_for(&self, key_end: &str) {
        while self.count(key_end) == 0 {
            self.written.notified().await;
        }
    }

    pub(super) fn set_mood(&self, mood: Mood) {
        self.state().mood = mood;
    }

    /// An outage: nothing listens at the address any more.
    pub(super) fn go_down(&self) {
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(door) = door {
            door.cancel();
        }
    }

    /// The outage is over.
    pub(super) async fn come_up(&self) -> std::io::Result<()> {
        self.listen(TcpListener::bind(self.address).await?);
        Ok(())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self, listener: TcpListener) {
        let token = tokio_util::sync::CancellationToken::new();
        *self.door.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.clone());
        let crm = self.clone();
        self.tasks.spawn(async move {
            loop {
                let stream = tokio::select! {
                    () = token.cancelled() => return,
                    accepted = listener.accept() => accepted,
                };
                if let Ok((stream, _)) = stream {
                    let crm = crm.clone();
                    let tasks = crm.tasks.clone();
                    // A connection that breaks is the caller's to notice.
                    tasks.spawn(async move { drop(crm.serve(stream).await) });
                }
            }
        });
    }

    /// One request a connection, as small as HTTP/1.1 may be.
    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let Some((method, path, body)) = read_request(&mut stream).await? else { return Ok(()) };
        let answer = match method.as_str() {
            "POST" => match self.create(&body) {
                (_, Mood::DropsAnswer) => return Ok(()),
                (_, Mood::Hangs) => return std::future::pending().await,
                (record, Mood::Well) => Some(record),
            },
            _ => self.find(&path),
        };
        let (status, body) = answer.map_or(("404 Not Found", json!({"message": "no such record"})), |body| ("200 OK", body));
        let body = body.to_string();
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).await
    }

    fn create(&self, body: &str) -> (Value, Mood) {
        let mut state = self.state();
        let mut record: Value = serde_json::from_str(body).unwrap_or_default();
        record["id"] = json!(format!("crm-{}", state.records.len() + 1));
        state.records.push(record.clone());
        let mood = std::mem::take(&mut state.mood);
        drop(state);
        self.written.notify_one();
        (record, mood)
    }

    /// `/deals/ID`, or `/deals?external_key=KEY`.
    fn find(&self, path: &str) -> Option<Value> {
        let url = url::Url::parse("http://crm").ok()?.join(path).ok()?;
        let key = url.query_pairs().find(|(name, _)| name == "external_key").map(|(_, key)| key.into_owned());
        let state = self.state();
        if let Some(key) = key {
            let found: Vec<&Value> = state.records.iter().filter(|r| r["external_key"] == *key).collect();
            return Some(json!({ "results": found }));
        }
        let id = url.path().rsplit('/').next()?;
        state.records.iter().find(|r| r["id"] == *id).cloned()
    }
}

async fn read_request(stream: &mut TcpStream) -> std::io::Result<Option<(String, String, String)>> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0_usize) {
                let mut words = head.split_whitespace();
                let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                return Ok(Some((method.to_owned(), path.to_owned(), body.to_owned())));
            }
        }
        let mut part = [0_u8; 4096];
        match stream.read(&mut part).await? {
            0 => return Ok(None),
            n => bytes.extend_from_slice(&part[..n]),
        }
    }
}
