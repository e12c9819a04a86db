//! The API's errors: which is which problem, and the one place where they become answers and are logged.

use axum::extract::NestedPath;
use axum::extract::rejection::NestedPathRejection;
use axum::response::{IntoResponse, Response};
use http::header::{ALLOW, HeaderName, RETRY_AFTER};
use http::{HeaderValue, StatusCode, Uri};

use crate::engine::Refused;
use crate::views::{NotAName, RedeliverRefused};

/// How long a caller is asked to wait for a book that cannot be used now.
const RETRY_AFTER_S: u32 = 5;

/// An error on its way to a caller. `code` is for programs and never changes; `title` names the kind, `detail` the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    title: &'static str,
    detail: String,
    /// Boxed, so that a result with a problem in it stays small.
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

/// A problem. `detail` holds no secret.
pub fn problem(status: StatusCode, code: &'static str, title: &'static str, detail: impl Into<String>) -> Problem {
    Problem { status, code, title, detail: detail.into(), header: None }
}

impl Problem {
    /// The same, with one more header.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some(Box::new((name, value)));
        self
    }

    pub(super) fn bad_parameter(detail: impl Into<String>) -> Self {
        problem(StatusCode::BAD_REQUEST, "bad-parameter", "A parameter cannot be used", detail)
    }

    pub(super) fn bad_cursor() -> Self {
        problem(StatusCode::BAD_REQUEST, "bad-cursor", "The cursor cannot be used", "a cursor is a next_cursor of the same list")
    }

    pub(super) fn bad_body(detail: impl Into<String>) -> Self {
        problem(StatusCode::BAD_REQUEST, "bad-body", "The body cannot be used", detail)
    }

    pub(super) fn not_found(what: &str) -> Self {
        problem(StatusCode::NOT_FOUND, "not-found", "Not found", format!("there is no {what} of that name"))
    }

    pub(super) fn does_not_fit(detail: impl Into<String>) -> Self {
        problem(StatusCode::CONFLICT, "does-not-fit", "It does not fit how things stand", detail)
    }

    pub(super) fn unavailable(code: &'static str, title: &'static str, wait_s: u32) -> Self {
        let detail = format!("try again in {wait_s} s");
        problem(StatusCode::SERVICE_UNAVAILABLE, code, title, detail).with(RETRY_AFTER, HeaderValue::from(wait_s))
    }

    /// What a list answers with: the book refuses only a cursor.
    pub(super) fn of_list(error: store::Error) -> Self {
        if matches!(error, store::Error::Refused(_)) { Self::bad_cursor() } else { error.into() }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = crate::problem::problem(self.status, self.code, self.title, &self.detail);
        if let Some((name, value)) = self.header.map(|header| *header) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Self {
        tracing::warn!(%error, "the book could not serve a request");
        match error {
            store::Error::Conflict(_) => {
                problem(StatusCode::CONFLICT, "lost-a-race", "Somebody else was first", "read it again, and decide again")
            }
            store::Error::Unavailable(_) => Self::unavailable("book-unavailable", "The book cannot be used now", RETRY_AFTER_S),
            // The words name tables and rows, for the log and whoever runs the server.
            store::Error::Corrupt(_) => {
                problem(StatusCode::INTERNAL_SERVER_ERROR, "book-damaged", "The book is damaged", "the server's log names the place")
            }
            store::Error::Refused(why) => Self::does_not_fit(why),
        }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Unknown(what) => Self::not_found(what),
            Refused::DoesNotFit(why) => Self::does_not_fit(why),
            Refused::Store(error) => error.into(),
        }
    }
}

impl From<RedeliverRefused> for Problem {
    fn from(refused: RedeliverRefused) -> Self {
        match refused {
            RedeliverRefused::Unknown => Self::not_found("delivery"),
            RedeliverRefused::DoesNotFit(why) => Self::does_not_fit(why),
            RedeliverRefused::Unavailable { retry_after_s } => {
                Self::unavailable("book-unavailable", "The book cannot be used now", retry_after_s)
            }
        }
    }
}

impl From<NotAName> for Problem {
    fn from(error: NotAName) -> Self {
        Self::bad_body(error.to_string())
    }
}

/// The answer where no route is; the composition root's fallback too.
///
/// Inside a nest the URI has lost what the nest stands at: the caller is told the path that was asked for.
pub async fn no_route(nest: Result<NestedPath, NestedPathRejection>, uri: Uri) -> Problem {
    let nest = nest.as_ref().map_or("", NestedPath::as_str);
    problem(StatusCode::NOT_FOUND, "no-route", "No such route", format!("nothing is at {nest}{}", uri.path()))
}

/// The answer to another method; the router adds which are allowed in `Allow`.
pub async fn other_method() -> Problem {
    let detail = format!("the header `{ALLOW}` names the methods that this route takes");
    problem(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed", detail)
}
