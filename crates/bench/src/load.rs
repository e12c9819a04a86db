//! Senders: so many connections, each posting one delivery after the other and waiting for its answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use tokio::net::TcpStream;
use tokio_util::task::TaskTracker;

use crate::Watch;
use crate::spread::{Spread, Times};

/// What is posted, and for how long.
#[derive(Clone)]
pub struct Load {
    /// Where.
    pub address: SocketAddr,
    /// To which path.
    pub path: String,
    /// Over how many connections at once.
    pub connections: usize,
    /// At most for so long.
    pub time: Duration,
    /// At most so many.
    pub count_max: u64,
    /// The body of the n-th delivery.
    pub body: Arc<dyn Fn(u64) -> Bytes + Send + Sync>,
    /// Numbers the deliveries, also over several loads.
    pub numbers: Arc<AtomicU64>,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Loaded {
    /// Answers of 2xx a second.
    pub per_s: f64,
    /// Answers of 2xx.
    pub taken: u64,
    /// Other answers.
    pub turned_away: u64,
    /// How long a 2xx took.
    pub answered: Spread,
    /// How long all of it took, in seconds.
    pub seconds: f64,
}

/// Posts until the time or the count is up. `Err`: a connection broke, and why.
pub async fn post(load: &Load) -> Result<Loaded, String> {
    let (tasks, left) = (TaskTracker::new(), Arc::new(AtomicU64::new(load.count_max)));
    let all = Watch::start();
    let senders: Vec<_> = (0..load.connections).map(|_| tasks.spawn(sender(load.clone(), Arc::clone(&left), all))).collect();
    let (mut times, mut taken, mut turned_away) = (Times::default(), 0, 0);
    for sender in senders {
        let (own, mine, others) = sender.await.map_err(|e| e.to_string())??;
        times.join(own);
        taken += mine;
        turned_away += others;
    }
    let seconds = all.seconds();
    #[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "a rate of a few million at most")]
    let per_s = taken as f64 / seconds;
    Ok(Loaded { per_s, taken, turned_away, answered: times.spread(), seconds })
}

async fn sender(load: Load, left: Arc<AtomicU64>, all: Watch) -> Result<(Times, u64, u64), String> {
    let mut connection = connect(load.address).await?;
    let (mut times, mut taken, mut turned_away) = (Times::default(), 0, 0);
    while all.passed() < load.time && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok() {
        let n = load.numbers.fetch_add(1, Ordering::SeqCst);
        let request = Request::post(&load.path)
            .header("host", "127.0.0.1")
            .header("content-type", "application/json")
            .body(Full::new((load.body)(n)))
            .map_err(|e| e.to_string())?;
        let one = Watch::start();
        connection.ready().await.map_err(|e| e.to_string())?;
        let response = connection.send_request(request).await.map_err(|e| e.to_string())?;
        let well = response.status().is_success();
        response.into_body().collect().await.map_err(|e| e.to_string())?;
        if well {
            times.note(one.passed());
            taken += 1;
        } else {
            turned_away += 1;
        }
    }
    Ok((times, taken, turned_away))
}

async fn connect(address: SocketAddr) -> Result<SendRequest<Full<Bytes>>, String> {
    let stream = TcpStream::connect(address).await.map_err(|e| e.to_string())?;
    stream.set_nodelay(true).map_err(|e| e.to_string())?;
    let (send, connection) = handshake(TokioIo::new(stream)).await.map_err(|e| e.to_string())?;
    // Ends with its sender, whose errors say what there is to say.
    TaskTracker::new().spawn(async move { drop(connection.await) });
    Ok(send)
}

/// A delivery of about 1 KiB, unlike every other: `n` is its event's id.
pub fn enquiry(run: &str, n: u64) -> Bytes {
    const LETTER: &str = "Good morning, we are moving into a new office and would like a quote for forty chairs, \
        eight tables and two meeting rooms, delivered and assembled on the second floor before the end of next month. \
        Please tell us what you can offer, which of the colours on your page are in stock, whether the old furniture can \
        be taken away on the same day, and how long the price stands. We would rather talk on the phone than write; \
        the mornings are best. Our landlord asks for an insurance certificate of whoever carries things through the \
        hall, and the lift takes two persons only. We have a budget of 12,000 EUR for all of it, and could sign as soon \
        as the quote is here. With kind regards from all of us, and thank you for your patience with a long letter.";
    Bytes::from(format!(
        r#"{{"submission_id":"{run}-{n}","name":"Avery Sample {n}","email":"avery.{n}@example.com","phone":"+49 30 {n:08}","company":"Sample {n} GmbH","message":"Enquiry {n}. {LETTER}","submitted_at":"2026-03-02T09:15:04Z"}}"#
    ))
}
