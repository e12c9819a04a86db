//! Bodies of requests to API and console: awaited whole, so long and no longer, before anything is done with them. A caller
//! that declares a body and does not send it would otherwise hold its connection for good.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;

use super::problem::problem;

/// Twice the longest that any route takes, in bytes: which of them is too long is theirs to say.
const BODY_MAX: usize = 2 * super::BODY_MAX;

/// The longest that all of a body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) async fn await_body(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, BODY_MAX)).await {
        Ok(Ok(body)) => next.run(Request::from_parts(parts, Body::from(body))).await,
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
