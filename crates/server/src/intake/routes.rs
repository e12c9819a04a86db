//! `/in/{source}` over HTTP: bounded reading, and what each outcome answers.
//!
//! A delivery is 200 once it is durable, however its body looks. Nothing here redirects, and nothing but the source's own
//! proof guards the way in.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::rejection::PathRejection;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::get;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::json;

use super::arrive::{Intake, Raw, Refusal};
use crate::problem::{problem, problem_with};

/// The ways in.
pub fn router(intake: Arc<Intake>) -> Router {
    Router::new().route("/in/{source}", get(greet).post(take).fallback(other_method)).with_state(intake)
}

/// Says that the source is here. A generic one has no handshake; a person's browser may ask.
async fn greet(State(intake): State<Arc<Intake>>, name: Result<Path<String>, PathRejection>) -> Response {
    match name {
        Ok(Path(name)) if intake.source(&name).is_some() => Json(json!({"source": name, "deliver_with": "POST"})).into_response(),
        Ok(_) | Err(_) => unknown_source(),
    }
}

async fn take(State(intake): State<Arc<Intake>>, name: Result<Path<String>, PathRejection>, request: Request) -> Response {
    let Ok(Path(name)) = name else { return unknown_source() };
    // Before the body is read: a stranger's guesses cost us a look into a small map.
    let Some(source) = intake.source(&name) else { return unknown_source() };
    let (parts, body) = request.into_parts();
    let body = match read_whole(body, declared_len(&parts.headers), source.body_max).await {
        Ok(body) => body,
        Err(cut) => return cut.answer(source.body_max),
    };
    let remote = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip().to_string());
    let raw = Raw { headers: received(&parts.headers), body, remote };
    match intake.deliver(&name, raw).await {
        Ok(answer) => Json(answer.json()).into_response(),
        Err(refusal) => refused(&refusal),
    }
}

async fn other_method() -> Response {
    let response = problem(
        StatusCode::METHOD_NOT_ALLOWED,
        "method-not-allowed",
        "Method not allowed",
        "Deliveries are sent with POST; GET asks whether the source is here.",
    );
    problem_with(response, header::ALLOW, HeaderValue::from_static("GET, HEAD, POST"))
}

fn unknown_source() -> Response {
    problem(StatusCode::NOT_FOUND, "unknown-source", "Unknown source", "There is no source of that name.")
}

fn refused(refusal: &Refusal) -> Response {
    match refusal {
        Refusal::UnknownSource => unknown_source(),
        Refusal::NotAuthentic { why, challenge } => {
            let detail = format!("The delivery is not authentic: {why}.");
            let response = problem(StatusCode::UNAUTHORIZED, "not-authentic", "Not authentic", &detail);
            match challenge {
                Some(challenge) => problem_with(response, header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge)),
                None => response,
            }
        }
        Refusal::Unavailable { retry_after_s } => {
            let detail = "The delivery could not be made durable. Send it again later: should it have been entered after all, the copy is recognised.";
            let response = problem(StatusCode::SERVICE_UNAVAILABLE, "not-durable", "Not durable", detail);
            problem_with(response, header::RETRY_AFTER, HeaderValue::from(*retry_after_s))
        }
    }
}

/// Why a body was not read to its end.
#[derive(Debug)]
enum Cut {
    /// It is longer than the source takes.
    TooLarge,
    /// The connection broke off.
    BrokenOff,
}

impl Cut {
    fn answer(&self, body_max: usize) -> Response {
        match self {
            Self::TooLarge => {
                tracing::warn!(body_max, "a delivery is too large");
                let detail = format!("This source takes bodies of at most {body_max} bytes.");
                problem(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Too large", &detail)
            }
            Self::BrokenOff => {
                problem(StatusCode::BAD_REQUEST, "broken-off", "Broken off", "The body ended before all of it had come. Send it again.")
            }
        }
    }
}

fn declared_len(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads a body frame by frame, at most `max` bytes of it: what its sender declared is believed only where it is too much.
async fn read_whole(mut body: Body, declared: Option<usize>, max: usize) -> Result<Bytes, Cut> {
    if declared.is_some_and(|len| len > max) {
        return Err(Cut::TooLarge);
    }
    let mut whole = BytesMut::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(data) = frame.map_err(|_| Cut::BrokenOff)?.into_data() else { continue };
        if data.len() > max - whole.len() {
            return Err(Cut::TooLarge);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

/// The headers in the order they came (several of one name stand together), names in lower case. Bytes that are no UTF-8
/// are replaced.
fn received(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

#[cfg(test)]
mod tests;
