//! What a request asks for: its query, its path's name, its JSON body. A parameter or a field that nobody knows is
//! refused: a misspelled filter that went unnoticed would answer with everybody's records.

use std::collections::BTreeMap;

use axum::RequestPartsExt as _;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::{Problem, problem};
use crate::views::{Query, state_called};

/// How long a page is unless asked otherwise.
const LIMIT: usize = 50;
const LIMIT_MAX: usize = 1000;

/// The query's parameters.
pub(super) struct Asked(BTreeMap<String, String>);

impl Asked {
    /// Reads a query in which only these names (and `cursor`, `limit`) may stand, each once. Empty values ask nothing.
    pub(super) fn read(query: Option<&str>, filters: &[&str]) -> Result<Self, Problem> {
        let mut asked = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if !["cursor", "limit"].contains(&&*name) && !filters.contains(&&*name) {
                let names = ["cursor", "limit"].iter().chain(filters).copied().collect::<Vec<_>>().join(", ");
                return Err(Problem::bad_parameter(format!("this list has no parameter of that name; it has {names}")));
            }
            if asked.insert(name.into_owned(), value.into_owned()).is_some() {
                return Err(Problem::bad_parameter("a parameter stands twice in the query"));
            }
        }
        asked.retain(|_, value| !value.is_empty());
        Ok(Self(asked))
    }

    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// How many records a page has.
    pub(super) fn limit(&mut self) -> Result<usize, Problem> {
        let Some(text) = self.take("limit") else { return Ok(LIMIT) };
        let limit = text.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit));
        limit.ok_or_else(|| Problem::bad_parameter(format!("limit is a number from 1 to {LIMIT_MAX}")))
    }

    /// A cursor that is a number: the desk's.
    pub(super) fn number_cursor(&mut self) -> Result<Option<i64>, Problem> {
        self.take("cursor").map(|cursor| cursor.parse().map_err(|_| Problem::bad_cursor())).transpose()
    }

    /// The page of a list whose records are in these states.
    pub(super) fn page(mut self, states: &[&'static str]) -> Result<Query, Problem> {
        let (cursor, limit) = (self.take("cursor"), self.limit()?);
        let (source, enquiry) = (self.take("source"), self.take("enquiry"));
        let none = || Problem::bad_parameter(format!("state is one of {}", states.join(", ")));
        let state = self.take("state").map(|name| state_called(&name, states).map(str::to_owned).ok_or_else(none)).transpose()?;
        if enquiry.as_ref().is_some_and(|id| domain::ids::EnquiryId::parse(id).is_none()) {
            return Err(Problem::bad_parameter("enquiry takes an enquiry's id; /enquiries/{name} finds it by any other name"));
        }
        Ok(Query { cursor, limit, source, state, enquiry })
    }
}

/// The name in the path, decoded.
pub(super) struct Name(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let path = parts.extract::<Path<String>>().await;
        path.map(|Path(name)| Self(name)).map_err(|_| Problem::bad_parameter("the name in the path is no text"))
    }
}

/// A JSON body; without one, what `{}` says.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let is_json = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(is_json);
        let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
            problem(rejection.status(), "body-unreadable", "The body could not be read", "it is too long, or broke off")
        })?;
        let text = if bytes.is_empty() { b"{}".as_slice() } else { &bytes };
        // A page of another site can send a form or plain text to us without asking the browser first, JSON it cannot.
        if !is_json && !bytes.is_empty() {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(problem(status, "not-json", "Not declared as JSON", "send the body with Content-Type: application/json"));
        }
        serde_json::from_slice(text).map(Self).map_err(|error| Problem::bad_body(error.to_string()))
    }
}

fn is_json(content_type: &str) -> bool {
    content_type.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}
