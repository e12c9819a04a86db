//! The do-not-contact list: addresses that no message goes to. It is read as digests, for addresses are not kept.

use axum::extract::{RawQuery, State};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Api;
use super::params::{Asked, Body};
use super::problem::Problem;
use crate::engine::Listed;
use crate::views::{PageView, Viewer};

type Answer<T> = Result<Json<T>, Problem>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entered {
    address: String,
    reason: Option<String>,
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Removed {
    address: String,
    by: Option<String>,
}

pub(super) async fn list(State(api): Api, RawQuery(query): RawQuery) -> Answer<PageView<Value>> {
    let mut asked = Asked::read(query.as_deref(), &[])?;
    let (cursor, limit) = (asked.take("cursor"), asked.limit()?);
    let mut found = api.engine.listed(cursor.as_deref(), limit + 1).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next_cursor = found.last().filter(|_| more).map(|last| last.digest.clone());
    Ok(Json(PageView { items: found.iter().map(shown).collect(), next_cursor }))
}

pub(super) async fn add(State(api): Api, Extension(viewer): Extension<Viewer>, Body(body): Body<Entered>) -> Answer<Value> {
    let who = viewer.acting_as(body.by.as_deref())?;
    let why = body.reason.filter(|reason| !reason.trim().is_empty()).unwrap_or_else(|| "no reason given".to_owned());
    let listed = api.engine.list_address(&body.address, Some(&why), &who).await?;
    Ok(Json(listed.as_ref().map_or(Value::Null, shown)))
}

pub(super) async fn remove(State(api): Api, Extension(viewer): Extension<Viewer>, Body(body): Body<Removed>) -> Answer<Value> {
    let who = viewer.acting_as(body.by.as_deref())?;
    api.engine.list_address(&body.address, None, &who).await?;
    Ok(Json(json!({"listed": false})))
}

fn shown(listed: &Listed) -> Value {
    json!({"listed": true, "digest": listed.digest, "at": listed.at.rfc3339(), "by": listed.by, "why": listed.why})
}
