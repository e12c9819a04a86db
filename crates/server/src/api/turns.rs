//! Turns: how much is read for people at once, and how much of it is held until they have taken it.
//!
//! A list of a thousand records is some megabytes while it is read and written, and as long as its reader is slow. So a few
//! requests are worked on at once, the rest wait in the order they came; and long answers share one room, which each gives back
//! with its last byte. Who has waited too long is told to come again. Deliberately absent: the door's own bounds, on bodies
//! that come in (`intake`) and on connections (`app`).

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use domain::time::Clock;
use http::Method;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

use super::problem::Problem;

/// The room for long answers, in bytes: some dozen pages of the longest.
const ROOM: u32 = 32 << 20;

/// A shorter answer needs no room, in bytes: even one a connection is little.
const SHORT: usize = 64 << 10;

/// The longest that a request waits for its turn, and then for room.
const WAIT_MAX_MS: i64 = 10_000;

/// When one that waited too long is asked to come again.
const RETRY_AFTER_S: u32 = 2;

/// Turns at reading.
#[derive(Clone)]
pub struct Turns {
    clock: Arc<dyn Clock>,
    places: Arc<Semaphore>,
    room: Arc<Semaphore>,
    whole_room: u32,
    under_way: TaskTracker,
}

/// An answer, and the room that it takes until its last byte is on its way.
struct Held {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Turns {
    /// `at_once`: how many requests are worked on at once. Each has at most one reader of the book at a time.
    pub fn new(clock: Arc<dyn Clock>, at_once: usize) -> Self {
        Self::with_room(clock, at_once, ROOM)
    }

    /// `room`: bytes.
    pub(super) fn with_room(clock: Arc<dyn Clock>, at_once: usize, room: u32) -> Self {
        let places = Arc::new(Semaphore::new(at_once));
        let whole = usize::try_from(room).unwrap_or(Semaphore::MAX_PERMITS);
        Self { clock, places, room: Arc::new(Semaphore::new(whole)), whole_room: room, under_way: TaskTracker::new() }
    }

    /// So many of them, once there are; `None` if there are none in time.
    async fn wait(&self, of: &Arc<Semaphore>, many: u32) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            biased;
            given = Arc::clone(of).acquire_many_owned(many) => given.ok(),
            () = self.clock.sleep_until(self.clock.now().plus(WAIT_MAX_MS)) => None,
        }
    }

    /// The same answer, holding its room.
    async fn in_its_room(&self, answer: Response) -> Response {
        let (head, body) = answer.into_parts();
        let Ok(bytes) = to_bytes(body, usize::MAX).await else { return busy() };
        if bytes.len() <= SHORT {
            return Response::from_parts(head, Body::from(bytes));
        }
        // One that is longer than all of it goes alone.
        let wanted = u32::try_from(bytes.len()).unwrap_or(u32::MAX).min(self.whole_room);
        match self.wait(&self.room, wanted).await {
            Some(room) => Response::from_parts(head, Body::from(Bytes::from_owner(Held { bytes, _room: room }))),
            None => busy(),
        }
    }
}

/// The router, each of whose requests waits for its turn.
pub fn in_turn(router: Router, turns: Turns) -> Router {
    router.layer(middleware::from_fn_with_state(turns, turn))
}

async fn turn(State(turns): State<Turns>, request: Request, next: Next) -> Response {
    // Who goes away while it waits leaves the line.
    let Some(place) = turns.wait(&turns.places, 1).await else { return busy() };
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let of = turns.clone();
    // From here on the place goes along to the end: a caller that is gone does not end a reading that has begun, and would
    // otherwise make place for one more beside it.
    let answered = turns.under_way.spawn(async move {
        let answer = next.run(request).await;
        // What was ordered is done: that is said whatever room there is.
        let answer = if reads { of.in_its_room(answer).await } else { answer };
        drop(place);
        answer
    });
    match answered.await.map_err(tokio::task::JoinError::try_into_panic) {
        Ok(answer) => answer,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // The process ends.
        Err(Err(_)) => busy(),
    }
}

fn busy() -> Response {
    tracing::warn!("too much is read at once: one request was told to come again");
    Problem::unavailable("busy", "Too much is read at once", RETRY_AFTER_S).into_response()
}
