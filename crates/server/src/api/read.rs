//! The routes that read.

use axum::Json;
use axum::extract::{RawQuery, State};
use http::StatusCode;
use serde_json::Value;

use super::params::{Asked, Name};
use super::problem::{Problem, problem};
use super::{Api, ApiState};
use crate::views::{
    ArrivalView, DeliveryView, DeskBook, DossierView, EFFECT_STATES, EffectView, EnquiryView, EntryView, PageView, REVIEW_STATES,
    ReviewView, STANDINGS, TargetView, VERDICTS,
};

type Answer<T> = Result<Json<T>, Problem>;
type List<T> = Answer<PageView<T>>;

pub(super) async fn enquiries(State(api): Api, RawQuery(query): RawQuery) -> List<EnquiryView> {
    let query = Asked::read(query.as_deref(), &["source", "state"])?.page(&STANDINGS)?;
    api.reader.enquiries(&query).await.map(Json).map_err(Problem::of_list)
}

pub(super) async fn deliveries(State(api): Api, RawQuery(query): RawQuery) -> List<DeliveryView> {
    let query = Asked::read(query.as_deref(), &["source", "state", "enquiry"])?.page(&VERDICTS)?;
    api.reader.deliveries(&query).await.map(Json).map_err(Problem::of_list)
}

pub(super) async fn effects(State(api): Api, RawQuery(query): RawQuery) -> List<EffectView> {
    let query = Asked::read(query.as_deref(), &["state", "enquiry"])?.page(&EFFECT_STATES)?;
    api.reader.effects(&query).await.map(Json).map_err(Problem::of_list)
}

pub(super) async fn reviews(State(api): Api, RawQuery(query): RawQuery) -> List<ReviewView> {
    let query = Asked::read(query.as_deref(), &["state", "enquiry"])?.page(&REVIEW_STATES)?;
    api.reader.reviews(&query, api.clock.now()).await.map(Json).map_err(Problem::of_list)
}

pub(super) async fn journal(State(api): Api, RawQuery(query): RawQuery) -> List<EntryView> {
    let query = Asked::read(query.as_deref(), &["enquiry"])?.page(&[])?;
    api.reader.journal(&query).await.map(Json).map_err(Problem::of_list)
}

pub(super) async fn targets(State(api): Api) -> List<TargetView> {
    let items = api.reader.targets(&api.targets).await?;
    Ok(Json(PageView { items, next_cursor: None }))
}

pub(super) async fn enquiry(State(api): Api, Name(name): Name) -> Answer<DossierView> {
    dossier(&api, &name).await.map(Json)
}

pub(super) async fn delivery(State(api): Api, Name(id): Name) -> Answer<ArrivalView> {
    api.reader.delivery(&id).await?.map(Json).ok_or_else(|| Problem::not_found("delivery"))
}

pub(super) async fn deals(State(api): Api, RawQuery(query): RawQuery) -> List<Value> {
    let mut asked = Asked::read(query.as_deref(), &["key"])?;
    let (key, cursor, limit) = (asked.take("key"), asked.number_cursor()?, asked.limit()?);
    desk(&api)?.deals(key.as_deref(), cursor, limit).await.map(Json).map_err(|why| desk_unavailable(&why))
}

pub(super) async fn contacts(State(api): Api, RawQuery(query): RawQuery) -> List<Value> {
    let mut asked = Asked::read(query.as_deref(), &[])?;
    let (cursor, limit) = (asked.number_cursor()?, asked.limit()?);
    desk(&api)?.contacts(cursor, limit).await.map(Json).map_err(|why| desk_unavailable(&why))
}

/// The one enquiry behind a name. An external id need not be unique: then the ids that it leads to are named.
pub(super) async fn dossier(api: &ApiState, name: &str) -> Result<DossierView, Problem> {
    let mut found = api.reader.called(&api.sources, name, api.clock.now()).await?;
    match (found.pop(), found.as_slice()) {
        (None, _) => Err(Problem::not_found("enquiry")),
        (Some(only), []) => Ok(only),
        (Some(last), others) => {
            let ids = others.iter().chain([&last]).map(|dossier| dossier.enquiry.id.as_str()).collect::<Vec<_>>().join(", ");
            Err(problem(StatusCode::CONFLICT, "ambiguous-name", "The name leads to several enquiries", format!("it leads to {ids}")))
        }
    }
}

fn desk(api: &ApiState) -> Result<&dyn DeskBook, Problem> {
    let none = || problem(StatusCode::NOT_FOUND, "no-desk", "No desk", "no target of this server is the embedded desk");
    api.desk.as_deref().ok_or_else(none)
}

fn desk_unavailable(why: &str) -> Problem {
    tracing::warn!(why, "the desk could not be read");
    Problem::unavailable("desk-unavailable", "The desk cannot be read now", 5)
}
