//! The door itself: accepts connections, so many at once ([`seats`]), each with a bound on how long it may take to say what
//! it wants, on how much it may say before that, and on how long it may leave its answer unread; and lets them end when told
//! to stop.

mod seats;

use std::io::Write as _;
use std::net::{Shutdown, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use domain::time::Clock;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::util::ServiceExt as _;

use self::seats::{Seat, Seats};

/// Bytes of a request's head: more headers than any sender has.
const HEAD_MAX: usize = 32 << 10;

/// After an error that is not one connection's (no more files may be open), the next is not tried at once.
const PAUSE_MS: u64 = 50;

/// How many of those that are turned away are listened to at once, how long, and so many bytes at a time.
const LEAVING_MAX: usize = 64;
const LEAVING_MS: u64 = 500;
const HEARD_MAX: usize = 4 << 10;

/// What one too many is told, before a byte of it is read.
const BUSY: &str = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\nconnection: close\r\ncontent-type: application/problem+json\r\n\
    content-length: 123\r\n\r\n{\"type\":\"about:blank\",\"title\":\"Busy\",\"status\":503,\"code\":\"busy\",\"detail\":\"Too many connections are open. Come again soon.\"}";

/// How many and how slow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Connections at once.
    pub(super) connections_max: usize,
    /// The longest that a connection may take to say the head of its next request.
    pub(super) head_timeout: Duration,
    /// The longest that an answer may wait for its reader to take any of it.
    pub(super) answer_timeout: Duration,
}

/// Serves until told to stop; then each connection ends with the answer it is at.
pub(super) async fn serve(listener: TcpListener, router: Router, bounds: Bounds, clock: Arc<dyn Clock>, stop: CancellationToken) {
    let (connections, leaving) = (TaskTracker::new(), TaskTracker::new());
    let seats = Seats::new(bounds.connections_max, clock);
    let mut is_full = false;
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, remote)) => {
                let seat = seats.take();
                // Said once, however many come now.
                if seat.is_none() && !is_full {
                    tracing::warn!(open = connections.len(), "too many connections are open: who comes now is turned away");
                }
                is_full = seat.is_none();
                match seat {
                    Some(seat) => drop(connections.spawn(connection(stream, remote, router.clone(), bounds, (seat, stop.clone())))),
                    None => turn_away(stream, &leaving),
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                pause(PAUSE_MS).await;
            }
        }
    }
    for tasks in [connections, leaving] {
        tasks.close();
        tasks.wait().await;
    }
}

async fn connection(stream: TcpStream, remote: SocketAddr, router: Router, bounds: Bounds, (seat, stop): (Seat, CancellationToken)) {
    // Without it an answer of two pieces waits for the other side's word on the first.
    drop(stream.set_nodelay(true));
    let (leave, seat) = (seat.leave.clone(), Arc::new(seat));
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(remote));
        let (router, seat) = (router.clone(), Arc::clone(&seat));
        async move {
            seat.works();
            let answer = router.oneshot(request).await;
            seat.idles();
            answer
        }
    });
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(bounds.answer_timeout));
    let mut http = http1::Builder::new();
    // Many senders close behind their last byte, and would never know that what they sent was dropped.
    http.half_close(true).timer(TokioTimer::new()).header_read_timeout(bounds.head_timeout).max_buf_size(HEAD_MAX);
    let mut connection = pin!(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
    let ended = tokio::select! {
        biased;
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
        // It says nothing, and its answers are out: there is nothing to lose.
        () = leave.cancelled() => Ok(()),
        ended = connection.as_mut() => ended,
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

/// Says so, and listens for a moment: one that is cut off in the middle of its request may never see what it was told.
/// Where too many are told so at once, nobody is listened to; who does not hear it loses nothing.
fn turn_away(stream: TcpStream, leaving: &TaskTracker) {
    let Ok(mut stream) = stream.into_std() else { return };
    // An empty socket takes the whole of it without waiting.
    drop(stream.write_all(BUSY.as_bytes()));
    drop(stream.shutdown(Shutdown::Write));
    if leaving.len() >= LEAVING_MAX {
        return;
    }
    let Ok(mut stream) = TcpStream::from_std(stream) else { return };
    leaving.spawn(async move {
        let mut heard = vec![0; HEARD_MAX];
        let to_the_end = async { while stream.read(&mut heard).await.is_ok_and(|n| n > 0) {} };
        tokio::select! {
            () = to_the_end => {}
            () = pause(LEAVING_MS) => {}
        }
    });
}

#[expect(clippy::disallowed_methods, reason = "a span of a moment, which no simulated clock needs to see")]
async fn pause(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

#[cfg(test)]
mod tests {
    use super::BUSY;

    #[test]
    fn one_too_many_is_told_a_whole_problem() {
        let (head, body) = BUSY.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
        let problem: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!((&problem["code"], &problem["status"]), (&"busy".into(), &503.into()));
    }
}
