//! `/in/{source}` over HTTP: reading that is bounded in bytes and in time, and what each outcome answers.
//!
//! A delivery is 200 once it is durable, however its body looks. Nothing here redirects, and nothing but the source's own
//! proof guards the way in.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::rejection::PathRejection;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::get;
use bytes::{Bytes, BytesMut};
use domain::time::Clock;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::json;

use super::arrive::{Intake, Raw, Refusal};
use super::room::Taking;
use crate::problem::{problem, problem_with};

/// The longest that the next part of a body is awaited, and the longest that all of it may take. A sender that stands still
/// holds memory, and a shutdown waits for it.
const IDLE_MAX_MS: i64 = 10_000;
const TOTAL_MAX_MS: i64 = 60_000;

/// How often it is looked whether a sender that stands still is in others' way; and what it must have sent by then, in bytes
/// a ms once a while has passed: less than any line that enquiries come over.
const LOOK_MS: i64 = 1_000;
const GRACE_MS: i64 = 2_000;
const RATE_MIN_PER_MS: i64 = 16;

/// Room for a body whose length is not declared; for one that turns out longer, as much as the source takes.
const UNDECLARED: usize = 64 << 10;

/// When a sender should come again for whom there was no room: moments, not an outage.
const BUSY_RETRY_AFTER_S: u32 = 2;

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
    let (parts, mut body) = request.into_parts();
    // What its sender declares is believed only where it is far too much.
    if declared_len(&parts.headers).is_some_and(|len| len > source.body_max.saturating_add(DRAINED_MAX)) {
        return Cut::TooLarge.answer(source.body_max);
    }
    let declared = declared_len(&parts.headers);
    let is_too_large = declared.is_some_and(|len| len > source.body_max);
    let headers = received(&parts.headers);
    // Whom a look at the head shows to be a stranger takes nothing from those who are not.
    let room = if source.auth.fits_head(&headers) { &intake.room } else { &intake.strangers };
    let mut room = Taking::new(room, &source.id, &intake.clock);
    // Of what is too large nothing is kept, so it needs none.
    let wanted = if is_too_large { 1 } else { declared.unwrap_or(UNDECLARED) };
    let read = if room.has(wanted).await {
        let max = if is_too_large { 0 } else { source.body_max };
        read_whole(|context| poll_data(&mut body, context), (&mut room, wanted), max, &*intake.clock).await
    } else {
        Err(Cut::Busy)
    };
    let body = match read {
        // Whatever else happened to it, this is what its sender can mend.
        _ if is_too_large => return Cut::TooLarge.answer(source.body_max),
        Ok(body) => body,
        Err(cut) => return cut.answer(source.body_max),
    };
    let remote = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip().to_string());
    match intake.deliver_in(room, &name, Raw { headers, body, remote }).await {
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
        Refusal::Busy => busy(),
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

/// How much of a body that is too large is read and dropped before the answer.
const DRAINED_MAX: usize = 8 << 20;

/// Why a body was not read to its end.
#[derive(Debug)]
enum Cut {
    /// It is longer than the source takes.
    TooLarge,
    /// The connection broke off.
    BrokenOff,
    /// It stood still, or came too slowly.
    TooSlow,
    /// There is no room for it.
    Busy,
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
            // Of what is still to come nothing is awaited.
            Self::Busy => problem_with(busy(), header::CONNECTION, HeaderValue::from_static("close")),
            Self::TooSlow => {
                let detail = format!(
                    "The body did not come in time: at most {} s may pass between two parts of it, and {} s in all. Send it again.",
                    IDLE_MAX_MS / 1000,
                    TOTAL_MAX_MS / 1000
                );
                // Of what is still to come nothing is awaited.
                let response = problem(StatusCode::REQUEST_TIMEOUT, "too-slow", "Too slow", &detail);
                problem_with(response, header::CONNECTION, HeaderValue::from_static("close"))
            }
        }
    }
}

fn busy() -> Response {
    let detail = "More is being taken in than there is room for. Send it again soon: nothing of it was kept.";
    let response = problem(StatusCode::SERVICE_UNAVAILABLE, "busy", "Busy", detail);
    problem_with(response, header::RETRY_AFTER, HeaderValue::from(BUSY_RETRY_AFTER_S))
}

fn declared_len(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The next part of a body's data; trailers are a part without any.
fn poll_data(body: &mut Body, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Cut>>> {
    let frame = Pin::new(body).poll_frame(context);
    frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.into_data().unwrap_or_default()).map_err(|_| Cut::BrokenOff)))
}

/// Reads a body part by part, at most `max` bytes of it and no longer than it may take, for which there is room. Who sends
/// next to nothing while others wait for the room is given up early.
async fn read_whole(
    mut poll_data: impl FnMut(&mut Context<'_>) -> Poll<Option<Result<Bytes, Cut>>>,
    (room, taken): (&mut Taking, usize),
    max: usize,
    clock: &dyn Clock,
) -> Result<Bytes, Cut> {
    let (mut whole, mut over) = (BytesMut::new(), 0);
    let began = clock.now();
    let (mut now, mut last, end) = (began, began, began.plus(TOTAL_MAX_MS));
    while now < end {
        let data = tokio::select! {
            biased;
            data = poll_fn(&mut poll_data) => data,
            () = clock.sleep_until(end.min(now.plus(LOOK_MS)).min(last.plus(IDLE_MAX_MS))) => {
                now = clock.now();
                if now >= last.plus(IDLE_MAX_MS) || is_slow(whole.len(), now.since(began)) && room.is_awaited() {
                    return Err(Cut::TooSlow);
                }
                continue;
            }
        };
        let Some(data) = data.transpose()? else {
            return if over == 0 { Ok(whole.freeze()) } else { Err(Cut::TooLarge) };
        };
        // A sender in the middle of a body that is too large reads no answer, only a broken connection: a while longer it is
        // listened to, and nothing of it kept.
        if over > 0 || data.len() > max - whole.len() {
            over += data.len();
            whole = BytesMut::new();
        } else if whole.len() + data.len() <= taken || room.has(max).await {
            whole.extend_from_slice(&data);
        } else {
            return Err(Cut::Busy);
        }
        if over > DRAINED_MAX {
            return Err(Cut::TooLarge);
        }
        now = clock.now();
        last = now;
        // Also one that always sends a little holds its room for next to nothing.
        if over == 0 && is_slow(whole.len(), now.since(began)) && room.is_awaited() {
            return Err(Cut::TooSlow);
        }
    }
    Err(Cut::TooSlow)
}

/// Whether so many bytes in so many ms are next to nothing.
fn is_slow(bytes: usize, ms: i64) -> bool {
    let owed = ms.saturating_sub(GRACE_MS).saturating_mul(RATE_MIN_PER_MS);
    usize::try_from(owed).is_ok_and(|owed| bytes < owed)
}

/// The headers in the order they came (several of one name stand together), names in lower case. A value that is no UTF-8
/// is read as Latin-1, where each byte is a character of its own: two ids that differ stay two.
fn received(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| {
        let bytes = value.as_bytes();
        std::str::from_utf8(bytes).map_or_else(|_| bytes.iter().copied().map(char::from).collect(), str::to_owned)
    };
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

#[cfg(test)]
mod tests;
