//! A server that answers from a script.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What the fake does with a request.
#[derive(Clone)]
pub(super) enum Reply {
    /// Status, further header lines, body.
    Says(u16, String, String),
    /// Reads it all and closes.
    Drops,
    /// Reads it all and says nothing.
    Waits,
    /// Answers, and keeps the connection open for more, which it does not read.
    Keeps(u16, String),
    /// Announces a longer body than it sends.
    Cuts(u16, String),
}

impl Reply {
    pub(super) fn says(status: u16, body: &str) -> Self {
        Self::Says(status, String::new(), body.to_owned())
    }
}

/// One request, as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) line: String,
    pub(super) head: String,
    pub(super) body: String,
}

/// The fake; its last reply is repeated.
pub(super) struct Fake {
    pub(super) base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Fake {
    pub(super) fn new(script: impl FnOnce(&str) -> Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let script = script(&base);
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || listener.incoming().for_each(|stream| serve(stream.unwrap(), &seen, &script)));
        Self { base, asked }
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Asked>>, script: &[Reply]) {
    let Some(request) = read(&stream) else { return };
    let n = {
        let mut seen = seen.lock().unwrap();
        seen.push(request);
        seen.len() - 1
    };
    answer(&mut stream, &script[n.min(script.len() - 1)]);
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut asked = Asked::default();
    reader.read_line(&mut asked.line).ok()?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        asked.head.push_str(&line.to_lowercase());
    }
    let length = asked.head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    asked.body = String::from_utf8(body).unwrap();
    Some(asked)
}

fn answer(stream: &mut TcpStream, reply: &Reply) {
    let head = |status: u16, length: usize, more: &str| format!("HTTP/1.1 {status} x\r\nContent-Length: {length}\r\n{more}\r\n");
    match reply {
        Reply::Says(status, more, body) => {
            stream.write_all(head(*status, body.len(), &format!("Connection: close\r\n{more}")).as_bytes()).unwrap();
            stream.write_all(body.as_bytes()).unwrap();
        }
        Reply::Cuts(status, body) => {
            stream.write_all(head(*status, body.len() + 9, "").as_bytes()).unwrap();
            stream.write_all(body.as_bytes()).unwrap();
            stream.shutdown(Shutdown::Both).unwrap();
        }
        Reply::Keeps(status, body) => {
            stream.write_all(format!("{}{body}", head(*status, body.len(), "")).as_bytes()).unwrap();
            drop(stream.read(&mut [0]));
        }
        Reply::Drops => stream.shutdown(Shutdown::Both).unwrap(),
        // Until the other end has had enough.
        Reply::Waits => drop(stream.read(&mut [0])),
    }
}
