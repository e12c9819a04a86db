//! An instant HTTP target: keeps records in memory, finds them by key, gives them back. It is as fast as such a thing can be,
//! and as naive as many CRMs: each POST makes a record.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

/// The target, and what it holds.
#[derive(Clone)]
pub struct Crm {
    /// Where it listens.
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
    read: Arc<Notify>,
}

#[derive(Default)]
struct State {
    records: Vec<Bytes>,
    by_key: HashMap<String, Vec<usize>>,
    read_back: u64,
    awaited: u64,
}

impl Crm {
    /// Opens on a free loopback port.
    pub async fn open() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let crm = Self { address: listener.local_addr()?, state: Arc::default(), read: Arc::default() };
        let (own, tasks) = (crm.clone(), TaskTracker::new());
        tasks.clone().spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let crm = own.clone();
                drop(stream.set_nodelay(true));
                tasks.spawn(async move {
                    let service = service_fn(move |request| crm.clone().answer(request));
                    // A connection that breaks is the caller's to notice.
                    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
                });
            }
        });
        Ok(crm)
    }

    /// How many records it holds, and how many different keys.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.records.len(), state.by_key.len())
    }

    /// Waits until so many more records were read back than when this was called first.
    pub async fn wait_until_read(&self, count: u64) {
        let told = self.read.notified();
        self.state().awaited = count;
        if self.state().read_back < count {
            told.await;
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        let (parts, body) = request.into_parts();
        if parts.method == Method::POST {
            let Ok(body) = body.collect().await else { return Ok(says(StatusCode::BAD_REQUEST, Bytes::new())) };
            return Ok(self.create(&body.to_bytes()));
        }
        let answer = match parts.uri.path().strip_prefix("/deals/") {
            Some(id) => self.read(id),
            None => self.find(parts.uri.query().unwrap_or_default()),
        };
        Ok(answer)
    }

    fn create(&self, body: &[u8]) -> Response<Full<Bytes>> {
        let Ok(mut record) = serde_json::from_slice::<Value>(body) else { return says(StatusCode::BAD_REQUEST, Bytes::new()) };
        let key = record["external_key"].as_str().unwrap_or_default().to_owned();
        let mut state = self.state();
        record["id"] = json!(state.records.len().to_string());
        let bytes = Bytes::from(record.to_string());
        let n = state.records.len();
        state.records.push(bytes.clone());
        state.by_key.entry(key).or_default().push(n);
        says(StatusCode::CREATED, bytes)
    }

    fn read(&self, id: &str) -> Response<Full<Bytes>> {
        let mut state = self.state();
        let Some(record) = id.parse().ok().and_then(|n: usize| state.records.get(n).cloned()) else {
            return says(StatusCode::NOT_FOUND, Bytes::new());
        };
        state.read_back += 1;
        if state.read_back == state.awaited {
            self.read.notify_waiters();
        }
        says(StatusCode::OK, record)
    }

    /// Keys of the bench have nothing that a query would escape.
    fn find(&self, query: &str) -> Response<Full<Bytes>> {
        let key = query.strip_prefix("external_key=").unwrap_or_default().replace("%3A", ":");
        let state = self.state();
        let found = state.by_key.get(&key).into_iter().flatten().map(|n| String::from_utf8_lossy(&state.records[*n]).into_owned());
        says(StatusCode::OK, Bytes::from(format!(r#"{{"results":[{}]}}"#, found.collect::<Vec<_>>().join(","))))
    }
}

fn says(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}
