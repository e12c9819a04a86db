//! The one HTTP client: no redirects, no retries, no proxy, and no byte of a write after its deadline.
//!
//! What an answer means is not here: it is a status, a wait and a body, or the reason why there is none.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use domain::time::{Clock, UtcMs};
use jiff::fmt::rfc2822;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Request, Response, redirect, retry};
use tower::{Layer, Service};

/// More than this is not read: no single record or page is that large.
const ANSWER_MAX: usize = 8 * 1024 * 1024;

/// No target is obeyed longer: a date far ahead, by a slip or a clock that is wrong there, would put its work to sleep.
const RETRY_AFTER_MAX_MS: i64 = 24 * 60 * 60 * 1000;

tokio::task_local! {
    /// The write under way. hyper connects within the task that sends, because connections of writes are never pooled.
    static SENDING: Arc<Sending>;
}

struct Sending {
    clock: Arc<dyn Clock>,
    deadline: UtcMs,
    connected: AtomicBool,
}

/// An answer, with its body as far as it came.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) retry_after_ms: Option<i64>,
    /// The whole body, or why it is not whole.
    pub(super) body: Result<Vec<u8>, String>,
}

/// Why there is no answer.
pub(super) enum NoAnswer {
    /// No byte was sent.
    NotSent(String),
    /// Something may have arrived.
    Lost(String),
}

pub(super) struct Client {
    /// For writes: a connection of its own for each. hyper sends a request again by itself when a *pooled* connection
    /// turns out to be closed; a new one it never does.
    writes: reqwest::Client,
    reads: reqwest::Client,
}

impl Client {
    pub(super) fn build(timeout_ms: i64) -> Result<Self, String> {
        let timeout = span(timeout_ms);
        let reads = reading(timeout)?;
        let writes = base(timeout).pool_max_idle_per_host(0).connector_layer(DeadlineLayer).build().map_err(unbuilt)?;
        Ok(Self { writes, reads })
    }

    /// Sends a write, if its connection stands before the deadline.
    pub(super) async fn write(&self, request: Request, deadline: UtcMs, clock: &Arc<dyn Clock>) -> Result<Answer, NoAnswer> {
        let sending = Arc::new(Sending { clock: Arc::clone(clock), deadline, connected: AtomicBool::new(false) });
        let answered = SENDING.scope(Arc::clone(&sending), self.writes.execute(request)).await;
        match answered {
            Ok(response) => Ok(whole(response, clock.now()).await),
            Err(e) if sending.connected.load(Ordering::SeqCst) => Err(NoAnswer::Lost(words(&e.without_url()))),
            Err(e) => Err(NoAnswer::NotSent(words(&e.without_url()))),
        }
    }

    /// Sends a request that changes nothing.
    pub(super) async fn read(&self, request: Request, clock: &Arc<dyn Clock>) -> Result<Answer, String> {
        match self.reads.execute(request).await {
            Ok(response) => Ok(whole(response, clock.now()).await),
            Err(e) => Err(words(&e.without_url())),
        }
    }
}

/// A client for requests that change nothing: it may use a connection again.
pub(super) fn reading(timeout: Duration) -> Result<reqwest::Client, String> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        return Err("no TLS provider is installed in this process".to_owned());
    }
    base(timeout).build().map_err(unbuilt)
}

fn unbuilt(error: reqwest::Error) -> String {
    format!("the HTTP client cannot be built: {}", words(&error.without_url()))
}

/// At least 1 ms: a client with no time at all would wait for ever.
pub(super) fn span(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms.max(1)).unwrap_or(1))
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that builds it")]
fn base(timeout: Duration) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
        .connect_timeout(timeout)
        .timeout(timeout)
        .user_agent(concat!("oncebook/", env!("CARGO_PKG_VERSION")))
}

/// Looks at the deadline once more between the connection and the first byte: connecting alone may take that long.
#[derive(Clone)]
struct DeadlineLayer;

#[derive(Clone)]
struct DeadlineService<S>(S);

impl<S> Layer<S> for DeadlineLayer {
    type Service = DeadlineService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        DeadlineService(inner)
    }
}

type BoxError = Box<dyn Error + Send + Sync>;

impl<S, R> Service<R> for DeadlineService<S>
where
    S: Service<R, Error = BoxError>,
    S::Future: Send + 'static,
    S::Response: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, destination: R) -> Self::Future {
        let connecting = self.0.call(destination);
        Box::pin(async move {
            let connection = connecting.await?;
            let may_send = SENDING.try_with(|sending| {
                let in_time = sending.clock.now() < sending.deadline;
                sending.connected.store(in_time, Ordering::SeqCst);
                in_time
            });
            match may_send {
                Ok(true) => Ok(connection),
                Ok(false) => Err("the deadline had passed when the connection stood".into()),
                Err(_) => Err("a connection outside of its own write".into()),
            }
        })
    }
}

async fn whole(mut response: Response, now: UtcMs) -> Answer {
    let (status, retry_after_ms) = (response.status().as_u16(), retry_after(response.headers(), now));
    let mut bytes = Vec::new();
    let body = loop {
        match response.chunk().await {
            Ok(None) => break Ok(bytes),
            Ok(Some(chunk)) if bytes.len() + chunk.len() > ANSWER_MAX => break Err("the answer is too large".to_owned()),
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Err(e) => break Err(words(&e.without_url())),
        }
    };
    Answer { status, retry_after_ms, body }
}

/// RFC 9110: seconds, or a date, which is measured against our clock.
pub(super) fn retry_after(headers: &HeaderMap, now: UtcMs) -> Option<i64> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let asked_ms = if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        // A number that fits nowhere is one that is too long.
        text.parse::<i64>().map_or(i64::MAX, |seconds| seconds.saturating_mul(1000))
    } else {
        let date = rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
        UtcMs(date.as_millisecond()).since(now)
    };
    Some(asked_ms.clamp(0, RETRY_AFTER_MAX_MS))
}

/// The error and its causes. Taken without its URL: a query may hold what nobody should read.
pub(super) fn words(error: &reqwest::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push_str(": ");
        words.push_str(&error.to_string());
        cause = error.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_in_both_its_forms() {
        let now = UtcMs(784_111_777_000); // Sun, 06 Nov 1994 08:49:37 GMT
        let read = |text: &str| retry_after(&HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]), now);
        assert_eq!(read("7"), Some(7_000));
        assert_eq!(read("Sun, 06 Nov 1994 08:50:07 GMT"), Some(30_000));
        assert_eq!(read("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
        for soon in ["soon", "", "-7", "1.5"] {
            assert_eq!(read(soon), None, "{soon}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    #[test]
    fn no_target_puts_its_work_to_sleep_for_longer_than_a_day() {
        let now = UtcMs(784_111_777_000);
        let read = |text: &str| retry_after(&HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]), now);
        assert_eq!(read("86399"), Some(86_399_000));
        for text in ["86401", "4294967295", "99999999999999999999999", "Sat, 06 Nov 2094 08:49:37 GMT"] {
            assert_eq!(read(text), Some(86_400_000), "{text}");
        }
    }
}
