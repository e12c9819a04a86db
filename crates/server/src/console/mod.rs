//! The console: plain pages for people, `/console`.
//!
//! Every page is built from `views`; what a person decides is carried out by the engine. No scripts, no assets, one inline
//! stylesheet, so that a page can be printed, saved and read anywhere. Access is the composition root's: it wraps this
//! router with `api::guard`, and without the viewer that leaves behind nothing is shown.

mod compare;
mod deliveries;
mod delivery;
mod form;
mod list;
mod page;
mod review;
mod show;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::RequestPartsExt as _;
use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use domain::time::Clock;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{HeaderValue, StatusCode};

use self::page::{Frame, failure};
use crate::engine::{Engine, Refused};
use crate::views::{Reader, Redeliver, RedeliverRefused, TargetSetup, Viewer};

/// The longest form.
const FORM_MAX: usize = 16 << 10;

/// What every page is sent with. The referrer policy lets a form of ours carry its Origin: with `no-referrer` it is `null`.
const HEADERS: [(HeaderName, &str); 4] = [
    (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "same-origin"),
    (CACHE_CONTROL, "no-store"),
];

/// What the console is made of.
#[derive(Clone)]
pub struct ConsoleState {
    /// Reads the book.
    pub reader: Reader,
    /// Carries out what a person decides.
    pub engine: Arc<Engine>,
    /// Reads kept deliveries again.
    pub redeliver: Arc<dyn Redeliver>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The configured targets.
    pub targets: Vec<TargetSetup>,
    /// The configured sources' ids, to choose from.
    pub sources: Vec<String>,
}

type Console = State<Arc<ConsoleState>>;

/// The routes `/console…`, and `/`, which leads there. The composition root puts `api::guard` around them.
pub fn router(state: ConsoleState) -> Router {
    let pages = Router::new()
        .route("/", get(list::list))
        .route("/enquiries/{name}", get(show::show))
        .route("/deliveries", get(deliveries::list))
        .route("/deliveries/{id}", get(delivery::show))
        .route("/deliveries/{id}/replay", post(delivery::replay))
        .route("/review", get(review::queue))
        .route("/review/{id}", post(review::decide))
        .fallback(async || failure(StatusCode::NOT_FOUND, "Not found", "There is no such page."))
        .method_not_allowed_fallback(async || failure(StatusCode::METHOD_NOT_ALLOWED, "Not allowed", "This page does not take that."))
        .with_state(Arc::new(state));
    let home = async || Redirect::permanent("/console");
    Router::new()
        .nest("/console", pages)
        .route("/", get(home))
        .route("/console/", get(home))
        .layer(DefaultBodyLimit::max(FORM_MAX))
        .layer(middleware::from_fn(keep))
}

/// Shows nothing to a request that access has not let in, and sends every page with its headers.
async fn keep(request: Request, next: Next) -> Response {
    let mut response = match request.extensions().get::<Viewer>() {
        Some(_) => next.run(request).await,
        None => failure(StatusCode::FORBIDDEN, "Not let in", "Nobody has checked who this request is from."),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

impl ConsoleState {
    async fn frame(&self) -> Result<Frame, store::Error> {
        let open = self.reader.open_items(0, self.clock.now()).await?;
        self.frame_with(open.count).await
    }

    async fn frame_with(&self, open_items: usize) -> Result<Frame, store::Error> {
        let targets = self.reader.targets(&self.targets).await?;
        let paused = targets.into_iter().filter(|target| target.state == "paused");
        let paused = paused.map(|target| (target.name, target.why.unwrap_or_default())).collect();
        Ok(Frame { open_items, paused })
    }
}

/// The name in the path, decoded.
struct Name(String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Failed;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failed> {
        let path = parts.extract::<Path<String>>().await;
        path.map(|Path(name)| Self(name)).map_err(|_| Failed::Asked("The name in the address is no text.".to_owned()))
    }
}

/// Why a page could not be made.
enum Failed {
    /// What was asked for cannot be read.
    Asked(String),
    /// The engine did not carry it out.
    Refused(Refused),
}

impl Failed {
    /// Of a list the book refuses nothing but its cursor.
    fn of_list(error: store::Error) -> Self {
        match error {
            store::Error::Refused(_) => Self::Asked("That place in the list cannot be found: begin again at the newest.".to_owned()),
            other => other.into(),
        }
    }
}

impl From<store::Error> for Failed {
    fn from(error: store::Error) -> Self {
        Self::Refused(error.into())
    }
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<RedeliverRefused> for Failed {
    fn from(refused: RedeliverRefused) -> Self {
        Self::Refused(match refused {
            RedeliverRefused::Unknown => Refused::Unknown("delivery"),
            RedeliverRefused::DoesNotFit(why) => Refused::DoesNotFit(why),
            unavailable @ RedeliverRefused::Unavailable { .. } => store::Error::Unavailable(unavailable.to_string()).into(),
        })
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        match self {
            Self::Asked(why) => failure(StatusCode::BAD_REQUEST, "Not understood", &why),
            Self::Refused(Refused::Unknown(what)) => failure(StatusCode::NOT_FOUND, "Not found", &format!("There is no such {what}.")),
            Self::Refused(Refused::DoesNotFit(why) | Refused::Store(store::Error::Refused(why))) => {
                failure(StatusCode::CONFLICT, "Not done", &why)
            }
            Self::Refused(Refused::Store(store::Error::Conflict(_))) => {
                failure(StatusCode::CONFLICT, "Not done", "Somebody else was first: go back, look again, decide again.")
            }
            Self::Refused(Refused::Store(error)) => {
                tracing::warn!(%error, "the book could not serve a page");
                failure(StatusCode::SERVICE_UNAVAILABLE, "Not now", "The book cannot be used now: try again in a moment.")
            }
        }
    }
}
