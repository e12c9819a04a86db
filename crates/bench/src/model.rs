//! A model server that answers at once, and knows when the first byte of each request reached it. Its answers have the shape
//! that `OpenAI` documents for chat completions.

use std::net::SocketAddr;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use crate::Watch;

/// The model server.
pub struct Model {
    /// Where it listens.
    pub address: SocketAddr,
    /// A watch started with the first byte of each request.
    pub asked: mpsc::UnboundedReceiver<Watch>,
}

impl Model {
    /// Opens on a free loopback port.
    pub async fn open() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (tell, asked) = mpsc::unbounded_channel();
        let tasks = TaskTracker::new();
        tasks.clone().spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A connection that breaks is the caller's to notice.
                let tell = tell.clone();
                tasks.spawn(async move { drop(serve(stream, tell).await) });
            }
        });
        Ok(Self { address, asked })
    }
}

async fn serve(mut stream: TcpStream, tell: mpsc::UnboundedSender<Watch>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut bytes, mut part) = (Vec::new(), vec![0_u8; 64 << 10]);
    loop {
        let n = stream.read(&mut part).await?;
        if n == 0 {
            return Ok(());
        }
        if bytes.is_empty() {
            // Who asked may have gone away.
            tell.send(Watch::start()).unwrap_or_default();
        }
        bytes.extend_from_slice(&part[..n]);
        if is_whole(&bytes) {
            bytes.clear();
            stream.write_all(answer().as_bytes()).await?;
        }
    }
}

/// Whether the head and as much of a body as it declares are there.
fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let declared = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    body.len() >= declared.unwrap_or(0_usize)
}

fn answer() -> String {
    let verdict = json!({
        "request_type": "sales", "priority": "normal", "summary": "A quote for chairs and tables", "qualified": true,
        "confidence": 0.9, "budget": null, "contact_facts": [], "reply_draft": null,
    });
    let body = json!({
        "id": "chatcmpl-bench", "object": "chat.completion", "created": 1_772_442_904, "model": "bench",
        "choices": [{"index": 0, "finish_reason": "stop",
                     "message": {"role": "assistant", "content": verdict.to_string(), "refusal": null}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    });
    let body = body.to_string();
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}
