//! The JSON API: `/api/v1`, and the probes.
//!
//! Handlers read through `views` and act through the engine's handle; what they hold is only the translation of HTTP.
//! Deliberately absent: any decision, the intake's door (`/in/{source}`), the console.

pub mod access;
mod operate;
mod params;
pub mod problem;
mod read;
mod turns;
mod whole;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use domain::time::Clock;
use serde_json::{Value, json};

pub use access::{Access, Bearer, guard};
pub use problem::{Problem, no_route, other_method, problem};
pub use turns::{Turns, in_turn};

use crate::engine::Engine;
use crate::views::{DeskBook, Reader, Redeliver, TargetSetup};

/// The longest body that an operator's act has.
const BODY_MAX: usize = 64 << 10;

/// What the API is made of.
#[derive(Clone)]
pub struct ApiState {
    /// Reads the book.
    pub reader: Reader,
    /// Carries out what a person decides.
    pub engine: Arc<Engine>,
    /// The embedded CRM, where one is configured.
    pub desk: Option<Arc<dyn DeskBook>>,
    /// Reads kept deliveries again.
    pub redeliver: Arc<dyn Redeliver>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The configured targets.
    pub targets: Vec<TargetSetup>,
    /// The ids of the configured sources: a provider's bare id is looked for under each.
    pub sources: Vec<String>,
    /// Who may come in.
    pub access: Access,
    /// How many at once.
    pub turns: Turns,
}

/// How a handler gets at it.
type Api = State<Arc<ApiState>>;

/// The routes `/api/v1/…`, behind access and in turn, and `/healthz` and `/readyz`, open. Sets no fallback outside `/api/v1`, so that
/// it can be merged with others; [`no_route`] is meant for the whole.
pub fn router(state: ApiState) -> Router {
    let (access, turns, reader) = (state.access.clone(), state.turns.clone(), state.reader.clone());
    let v1 = Router::new()
        .route("/enquiries", get(read::enquiries))
        .route("/enquiries/{name}", get(read::enquiry))
        .route("/enquiries/{name}/replay", post(operate::replay_enquiry))
        .route("/deliveries", get(read::deliveries))
        .route("/deliveries/{id}", get(read::delivery))
        .route("/deliveries/{id}/replay", post(operate::replay_delivery))
        .route("/effects", get(read::effects))
        .route("/journal", get(read::journal))
        .route("/review", get(read::reviews))
        .route("/review/{id}", post(operate::decide))
        .route("/targets", get(read::targets))
        .route("/targets/{name}/pause", post(operate::pause))
        .route("/targets/{name}/resume", post(operate::resume))
        .route("/desk/deals", get(read::deals))
        .route("/desk/contacts", get(read::contacts))
        .fallback(no_route)
        .method_not_allowed_fallback(other_method)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .with_state(Arc::new(state));
    Router::new().nest("/api/v1", guard(in_turn(v1, turns), access)).merge(probes(reader))
}

/// The probes: whether the process lives, and whether the book can take a write.
fn probes(reader: Reader) -> Router {
    Router::new()
        .route("/healthz", get(async || Json(json!({"status": "alive"}))))
        .route("/readyz", get(ready))
        .method_not_allowed_fallback(other_method)
        .with_state(reader)
}

async fn ready(State(reader): State<Reader>) -> Result<Json<Value>, Problem> {
    if let Err(error) = reader.ready().await {
        tracing::warn!(%error, "the book is not ready");
        return Err(Problem::unavailable("book-unavailable", "The book cannot be used now", 5));
    }
    Ok(Json(json!({"status": "ready"})))
}
