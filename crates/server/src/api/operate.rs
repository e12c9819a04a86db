//! The routes by which an operator acts. What is decided, the engine decides; the answer is what the book then says.

use axum::extract::State;
use axum::{Extension, Json};
use domain::ids::EnquiryId;
use serde::Deserialize;
use serde_json::Value;

use super::params::{Body, Name};
use super::problem::Problem;
use super::read::dossier;
use super::{Api, ApiState};
use crate::engine::Decision;
use crate::views::{EnquiryView, ReviewView, TargetView, Viewer};

type Answer<T> = Result<Json<T>, Problem>;

/// What is said where a person gives no reason.
const NO_REASON: &str = "no reason given";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct By {
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Again {
    #[serde(default)]
    separate: bool,
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Decided {
    decision: String,
    reason: Option<String>,
    external_id: Option<String>,
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pause {
    reason: Option<String>,
    by: Option<String>,
}

pub(super) async fn replay_enquiry(
    State(api): Api,
    Extension(viewer): Extension<Viewer>,
    Name(name): Name,
    Body(body): Body<By>,
) -> Answer<EnquiryView> {
    let who = viewer.acting_as(body.by.as_deref())?;
    let found = dossier(&api, &name).await?;
    let id = EnquiryId::parse(&found.enquiry.id).ok_or_else(|| Problem::not_found("enquiry"))?;
    api.engine.replay(&id, &who).await?;
    Ok(Json(dossier(&api, id.as_str()).await?.enquiry))
}

pub(super) async fn replay_delivery(
    State(api): Api,
    Extension(viewer): Extension<Viewer>,
    Name(id): Name,
    Body(body): Body<Again>,
) -> Answer<Value> {
    let who = viewer.acting_as(body.by.as_deref())?;
    Ok(Json(api.redeliver.redeliver(&id, &who, body.separate).await?))
}

pub(super) async fn decide(
    State(api): Api,
    Extension(viewer): Extension<Viewer>,
    Name(id): Name,
    Body(body): Body<Decided>,
) -> Answer<ReviewView> {
    let who = viewer.acting_as(body.by.as_deref())?;
    let decision = Decision::read(&body.decision, body.reason.as_deref(), body.external_id.as_deref());
    let decision = decision.map_err(|error| Problem::bad_body(error.to_string()))?;
    api.engine.decide(&id, &decision, &who).await?;
    let reviews = dossier(&api, &id).await?.reviews;
    reviews.into_iter().find(|review| review.id == id).map(Json).ok_or_else(|| Problem::not_found("review item"))
}

pub(super) async fn pause(
    State(api): Api,
    Extension(viewer): Extension<Viewer>,
    Name(name): Name,
    Body(body): Body<Pause>,
) -> Answer<TargetView> {
    let who = viewer.acting_as(body.by.as_deref())?;
    let why = body.reason.filter(|reason| !reason.trim().is_empty()).unwrap_or_else(|| NO_REASON.to_owned());
    api.engine.set_paused(&name, Some(why), &who).await?;
    target(&api, &name).await
}

pub(super) async fn resume(
    State(api): Api,
    Extension(viewer): Extension<Viewer>,
    Name(name): Name,
    Body(body): Body<By>,
) -> Answer<TargetView> {
    let who = viewer.acting_as(body.by.as_deref())?;
    api.engine.set_paused(&name, None, &who).await?;
    target(&api, &name).await
}

async fn target(api: &ApiState, name: &str) -> Answer<TargetView> {
    let targets = api.reader.targets(&api.targets).await?;
    targets.into_iter().find(|target| target.name == name).map(Json).ok_or_else(|| Problem::not_found("target"))
}
