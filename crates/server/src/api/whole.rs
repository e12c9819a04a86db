//! Bodies of requests to API and console: awaited whole, so long and no longer, before anything is done with them. A caller
//! that declares a body and does not send it would otherwise hold its connection for good.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use tokio::sync::Semaphore;

use super::problem::{Problem, problem};

/// Twice the longest that any route takes, in bytes: which of them is too long is theirs to say.
const BODY_MAX: usize = 2 * super::BODY_MAX;

/// The longest that all of a body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Requests whose bodies are awaited at once: who does not send what was declared takes no more connections than that.
const AWAITED_MAX: usize = 64;

/// When one too many is asked to come again.
const RETRY_AFTER_S: u32 = 2;

/// Places for requests whose bodies are still to come.
pub(super) fn places() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(AWAITED_MAX))
}

pub(super) async fn await_body(State(places): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let Ok(place) = places.try_acquire() else {
        return Problem::unavailable("busy", "Too many requests are on their way", RETRY_AFTER_S).into_response();
    };
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, BODY_MAX)).await {
        Ok(Ok(body)) => {
            drop(place);
            next.run(Request::from_parts(parts, Body::from(body))).await
        }
        Ok(Err(_)) => {
            let status = StatusCode::PAYLOAD_TOO_LARGE;
            problem(status, "body-unreadable", "The body could not be read", "it is too long, or broke off").into_response()
        }
        Err(_) => {
            let detail = format!("the body did not come within {} s", BODY_TIMEOUT.as_secs());
            problem(StatusCode::REQUEST_TIMEOUT, "too-slow", "Too slow", detail).into_response()
        }
    }
}
