//! A model server for tests, on loopback, over HTTP: it answers what it is told to and keeps what it was asked.
//!
//! The answers have the shape that `OpenAI` documents for chat completions (`CreateChatCompletionResponse`: `id`, `object`,
//! `created`, `model`, `choices` with `index`, `finish_reason` and a `message` of `role`, `content`, `refusal`; `usage`).

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What becomes of one question.
#[derive(Clone, Debug)]
pub enum Say {
    /// This content, whole.
    Content(String),
    /// This content, with that `finish_reason`.
    Finish(&'static str, String),
    /// The model declines, in these words.
    Refusal(&'static str),
    /// A status, further header lines, and a body.
    Status(u16, &'static str, String),
    /// Status 200 and this body, which need not be JSON.
    Body(Vec<u8>),
    /// These bytes instead of HTTP.
    Bytes(&'static [u8]),
    /// Half of an answer, and the connection ends.
    Half,
    /// No answer, and the connection stays.
    Hang,
    /// That, once the test lets it go.
    Held(Arc<Notify>, Box<Say>),
}

/// One question as it came.
#[derive(Clone, Debug)]
pub struct Question {
    /// Method and path.
    pub line: String,
    /// The head, in small letters.
    pub head: String,
    /// The body.
    pub body: Value,
}

impl Question {
    /// The content of the message in that role; panics unless there is exactly one.
    pub fn content(&self, role: &str) -> String {
        let messages = self.body["messages"].as_array().unwrap();
        let of: Vec<&Value> = messages.iter().filter(|message| message["role"] == role).collect();
        assert_eq!(of.len(), 1, "{messages:?}");
        of[0]["content"].as_str().unwrap().to_owned()
    }
}

#[derive(Debug)]
struct State {
    script: Vec<Say>,
    then: Say,
    asked: Vec<Question>,
}

#[derive(Clone)]
pub struct Model {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Model {
    /// Opens on a free loopback port. The first questions are answered so, in this order; those after them like `then`.
    pub async fn open(mut script: Vec<Say>, then: Say) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        script.reverse();
        let state = Arc::new(Mutex::new(State { script, then, asked: vec![] }));
        let model = Self { address: listener.local_addr().unwrap(), state };
        let serving = model.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let model = serving.clone();
                tokio::spawn(async move { drop(model.serve(stream).await) });
            }
        });
        model
    }

    /// Every question so far.
    pub fn asked(&self) -> Vec<Question> {
        self.state.lock().unwrap().asked.clone()
    }

    /// Waits for the question of that number.
    pub async fn was_asked(&self, count: usize) {
        while self.asked().len() < count {
            tokio::task::yield_now().await;
        }
    }

    /// What is answered from now on.
    pub fn then(&self, say: Say) {
        self.state.lock().unwrap().then = say;
    }

    /// `[qualifier]` for this server; `more` are further keys.
    pub fn config(&self, more: &str) -> String {
        config(self.address, more)
    }

    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let Some(question) = question(&mut stream).await? else { return Ok(()) };
        let mut say = {
            let mut state = self.state.lock().unwrap();
            state.asked.push(question);
            state.script.pop().unwrap_or_else(|| state.then.clone())
        };
        if let Say::Held(gate, then) = say {
            gate.notified().await;
            say = *then;
        }
        let (status, more, body) = match say {
            Say::Content(content) => (200, "", completion("stop", &json!({"role": "assistant", "content": content, "refusal": null}))),
            Say::Finish(finish, content) => {
                (200, "", completion(finish, &json!({"role": "assistant", "content": content, "refusal": null})))
            }
            Say::Refusal(words) => (200, "", completion("stop", &json!({"role": "assistant", "content": null, "refusal": words}))),
            Say::Status(status, more, body) => (status, more, body.into_bytes()),
            Say::Body(body) => (200, "", body),
            Say::Bytes(bytes) => return stream.write_all(bytes).await,
            Say::Half => return stream.write_all(b"HTTP/1.1 200 X\r\ncontent-length: 5000\r\n\r\n{\"choices\": [{").await,
            Say::Hang => std::future::pending().await,
            Say::Held(..) => unreachable!("it was let go"),
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nx-request-id: req_{}\r\n{more}content-length: {}\r\nconnection: close\r\n\r\n",
            self.asked().len(),
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&body).await
    }
}

/// `[qualifier]` for a server at that address.
pub fn config(address: SocketAddr, more: &str) -> String {
    format!("[qualifier]\nkind = \"openai\"\nbase_url = \"http://{address}/v1\"\nmodel = \"test-model\"\n{more}\n")
}

fn completion(finish: &str, message: &Value) -> Vec<u8> {
    let choice = json!({"index": 0, "finish_reason": finish, "message": message, "logprobs": null});
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let all =
        json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "test-model", "choices": [choice], "usage": usage});
    all.to_string().into_bytes()
}

async fn question(stream: &mut TcpStream) -> std::io::Result<Option<Question>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
            let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            let body = &bytes[at + 4..];
            if body.len() >= length.unwrap_or(0_usize) {
                let line = head.lines().next().unwrap_or_default().to_owned();
                return Ok(Some(Question { line, head: head.to_lowercase(), body: serde_json::from_slice(body).unwrap() }));
            }
        }
        let mut part = [0_u8; 8192];
        match stream.read(&mut part).await? {
            0 => return Ok(None),
            n => bytes.extend_from_slice(&part[..n]),
        }
    }
}
