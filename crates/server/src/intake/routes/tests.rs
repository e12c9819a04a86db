//! The way in over HTTP, as far as it goes with a book that is shut.

use std::future::IntoFuture as _;
use std::sync::Mutex;

use domain::time::{Later, UtcMs};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tower::ServiceExt as _;

use super::super::room::Room;
use super::super::signature::{Auth, Secret};
use super::super::source::SourceSetup;
use super::super::tests::{NOW, intake_at, setup};
use super::*;

async fn ask(source: SourceSetup, request: http::Request<Body>) -> (http::response::Parts, Value) {
    let (intake, _) = intake_at(source, None, NOW);
    let response = router(Arc::new(intake)).oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, 65_536).await.unwrap();
    (parts, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

fn request(method: &str, path: &str, body: Body) -> http::Request<Body> {
    http::Request::builder().method(method).uri(path).header("content-type", "application/json").body(body).unwrap()
}

fn is_problem(parts: &http::response::Parts, body: &Value, code: &str) {
    assert_eq!(parts.headers[header::CONTENT_TYPE], "application/problem+json");
    assert_eq!(body["code"], code);
    assert_eq!(body["status"], parts.status.as_u16());
}

#[tokio::test]
async fn get_says_that_the_source_is_here() {
    let (parts, body) = ask(setup(), request("GET", "/in/website", Body::empty())).await;
    assert_eq!(parts.status, StatusCode::OK);
    assert_eq!(body, json!({"source": "website", "deliver_with": "POST"}));
}

#[tokio::test]
async fn an_unknown_source_is_not_found_whatever_is_sent() {
    for (method, path) in [("GET", "/in/other"), ("POST", "/in/other"), ("POST", "/in/%FF"), ("POST", "/in/we%20bsite")] {
        let (parts, body) = ask(setup(), request(method, path, Body::from(vec![b'x'; 5000]))).await;
        assert_eq!(parts.status, StatusCode::NOT_FOUND, "{path}");
        is_problem(&parts, &body, "unknown-source");
    }
}

#[tokio::test]
async fn other_methods_are_told_which_there_are() {
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
        let (parts, body) = ask(setup(), request(method, "/in/website", Body::empty())).await;
        assert_eq!(parts.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(parts.headers.get_all(header::ALLOW).iter().count(), 1);
        is_problem(&parts, &body, "method-not-allowed");
    }
}

#[tokio::test]
async fn a_body_too_large_is_refused_whatever_length_was_declared() {
    for (len, declared) in [(1025, None), (1025, Some("10")), (1025, Some("1025")), (10, Some("18446744073709551615"))] {
        let mut sent = request("POST", "/in/website", Body::from(vec![b' '; len]));
        if let Some(declared) = declared {
            sent.headers_mut().insert(header::CONTENT_LENGTH, declared.parse().unwrap());
        }
        let (parts, body) = ask(setup(), sent).await;
        assert_eq!(parts.status, StatusCode::PAYLOAD_TOO_LARGE, "{len} {declared:?}");
        is_problem(&parts, &body, "too-large");
    }
    // One that just fits goes on to the book, which is shut here.
    let (parts, _) = ask(setup(), request("POST", "/in/website", Body::from(vec![b' '; 1024]))).await;
    assert_eq!(parts.status, StatusCode::SERVICE_UNAVAILABLE);
}

/// A clock that nobody waits for: who sleeps until an instant wakes at once, and then it is that instant.
struct Leaping(Mutex<UtcMs>);

impl Leaping {
    fn ahead(&self, ms: i64) {
        let mut now = self.0.lock().unwrap();
        *now = now.plus(ms);
    }
}

impl Clock for Leaping {
    fn now(&self) -> UtcMs {
        *self.0.lock().unwrap()
    }
    fn sleep_until(&self, at: UtcMs) -> Later<'_> {
        Box::pin(poll_fn(move |_| {
            let mut now = self.0.lock().unwrap();
            *now = at.max(*now);
            Poll::Ready(())
        }))
    }
}

/// How long a body is read of which a byte comes every so many ms, as many as are given, and which then stands still.
async fn dripped(every_ms: i64, mut left: usize) -> (i64, Result<Bytes, Cut>) {
    let clock = Arc::new(Leaping(Mutex::new(NOW)));
    let waits: Arc<dyn Clock> = Arc::<Leaping>::clone(&clock);
    let drip = |_: &mut Context<'_>| {
        if left == 0 {
            return Poll::Pending;
        }
        left -= 1;
        clock.ahead(every_ms);
        Poll::Ready(Some(Ok(Bytes::from_static(b" "))))
    };
    let room = Room::of(1 << 20);
    let read = read_whole(drip, (&mut Taking::new(&room, "web", &waits), 1024), 1024, &*clock).await;
    (clock.now().since(NOW), read)
}

#[tokio::test]
async fn a_body_that_stands_still_or_never_ends_is_given_up() {
    for (every_ms, left, waited_ms) in [(0, 0, 10_000), (9_000, 2, 28_000), (9_000, 100, 63_000), (1_000, 55, 60_000)] {
        let (waited, read) = dripped(every_ms, left).await;
        assert!(matches!(read, Err(Cut::TooSlow)), "{every_ms} {left}: {read:?}");
        assert_eq!(waited, waited_ms, "{every_ms} {left}");
    }
}

/// Alone, one that drips may take its time; while another one waits for the room that it holds, it loses it.
#[tokio::test]
async fn one_that_drips_loses_its_room_to_one_that_waits() {
    for somebody_waits in [false, true] {
        let (room, clock) = (Room::of(1024), Arc::new(Leaping(Mutex::new(NOW))));
        let waits: Arc<dyn Clock> = Arc::<Leaping>::clone(&clock);
        let mut held = Taking::new(&room, "web", &waits);
        assert!(held.has(1024).await);
        // Polled once, it stands in its line; its patience is not at issue here.
        let patient: Arc<dyn Clock> = Arc::new(Patient);
        let mut other = Taking::new(&room, "other", &patient);
        let mut waiting = Box::pin(other.has(1));
        if somebody_waits {
            assert!(waiting.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_pending());
        }
        let mut left = 99;
        let drip = |_: &mut Context<'_>| {
            left -= 1;
            assert!(left > 0);
            clock.ahead(1_000);
            Poll::Ready(Some(Ok(Bytes::from_static(b" "))))
        };
        let read = read_whole(drip, (&mut held, 1024), 1024, &*clock).await;
        assert!(matches!(read, Err(Cut::TooSlow)), "{read:?}");
        assert_eq!(clock.now().since(NOW), if somebody_waits { 3_000 } else { 60_000 });
        drop(waiting);
    }
}

struct Patient;

impl Clock for Patient {
    fn now(&self) -> UtcMs {
        NOW
    }

    fn sleep_until(&self, _: UtcMs) -> Later<'_> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_stuck_sender_is_answered_and_its_connection_closed() {
    let (intake, _) = intake_at(setup(), None, NOW);
    let intake = Intake { clock: Arc::new(Leaping(Mutex::new(NOW))), ..intake };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = axum::serve(listener, router(Arc::new(intake))).into_future();
    let asking = async {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(b"POST /in/website HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{").await.unwrap();
        let mut answer = String::new();
        // To the end: the other side closes, though this one has not sent all that it announced.
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let answer = tokio::select! {
        answer = asking => answer,
        _ = serving => panic!("the server ended"),
    };
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("connection: close\r\n"), "{answer}");
    assert!(answer.contains("application/problem+json") && answer.contains(r#""code":"too-slow""#), "{answer}");
}

#[tokio::test]
async fn i1_what_is_not_durable_is_never_a_success() {
    let (parts, body) = ask(setup(), request("POST", "/in/website", Body::from(r#"{"id":"lead_77"}"#))).await;
    assert_eq!(parts.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(parts.headers[header::RETRY_AFTER], "5");
    is_problem(&parts, &body, "not-durable");
}

#[tokio::test]
async fn an_unauthentic_delivery_is_told_the_scheme_and_no_value() {
    let secrets = || vec![Secret::new("hush")];
    let bearer = Auth::Bearer { header: "authorization".to_owned(), prefix: "Bearer ".to_owned(), secrets: secrets() };
    let basic = Auth::Basic { user: "lead".to_owned(), passwords: secrets() };
    let signed = Auth::StandardWebhooks { secrets: secrets() };
    for (auth, scheme) in [(bearer, Some("Bearer ")), (basic, Some("Basic ")), (signed, None)] {
        let mut sent = request("POST", "/in/website", Body::from("{}"));
        sent.headers_mut().insert(header::AUTHORIZATION, "Bearer guess-77".parse().unwrap());
        let (parts, body) = ask(SourceSetup { auth, ..setup() }, sent).await;
        assert_eq!(parts.status, StatusCode::UNAUTHORIZED);
        is_problem(&parts, &body, "not-authentic");
        let challenge = parts.headers.get(header::WWW_AUTHENTICATE).map(|value| value.to_str().unwrap());
        assert_eq!(challenge.is_some(), scheme.is_some());
        assert!(challenge.unwrap_or_default().starts_with(scheme.unwrap_or_default()));
        assert!(!body.to_string().contains("guess-77") && !body.to_string().contains("hush"));
    }
}

#[test]
fn headers_keep_their_order_and_lose_no_repetition() {
    let mut headers = HeaderMap::new();
    for (name, value) in [("X-B", "1"), ("x-a", "2"), ("x-b", "3")] {
        headers.append(http::HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_static(value));
    }
    for raw in [b"caf\xE9".as_slice(), b"caf\xEA", "cafж".as_bytes()] {
        headers.append("x-raw", HeaderValue::from_bytes(raw).unwrap());
    }
    let told: Vec<String> = received(&headers).iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(told, ["x-b=1", "x-b=3", "x-a=2", "x-raw=café", "x-raw=cafê", "x-raw=cafж"]);
}
