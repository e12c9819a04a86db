//! `/console/deliveries/{id}`: one delivery with its body, and the button by which a person has it read again.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};

use super::deliveries::became;
use super::form::{Form, is_own};
use super::page::{failure, link_delivery, page, path_of_delivery, raw, said, state, when};
use super::{Console, Failed, Name};
use crate::views::{ArrivalView, DeliveryView, Viewer, mended};

/// `GET /console/deliveries/{id}`.
pub(super) async fn show(State(console): Console, Name(id): Name) -> Result<Response, Failed> {
    let Some(arrival) = console.reader.delivery(&id).await? else {
        return Ok(failure(StatusCode::NOT_FOUND, "Not found", "There is no delivery of that id."));
    };
    let aside = console.reader.set_aside().await?;
    let frame = console.frame().await?;
    let content = html! {
        h1 { "Delivery" }
        @if let Some(first) = arrival.items.first() { (how_it_came(first)) }
        @for item in &arrival.items { (what_became(item, arrival.items.len() > 1)) }
        @if let Some(later) = aside.came_again.get(&arrival.id) { p { "The same came again: " (link_delivery(later)) } }
        (forms(&arrival))
        h2 { "Body" }
        (raw(arrival.body.as_ref()))
    };
    Ok(page(StatusCode::OK, "Delivery", Some(&frame), &content))
}

fn how_it_came(delivery: &DeliveryView) -> Markup {
    let told = [
        ("From", &delivery.remote),
        ("Request", &delivery.request_id),
        ("Attempt", &delivery.attempt),
        ("Content type", &delivery.content_type),
    ];
    html! {
        dl {
            dt { "Delivery" } dd { code { (delivery.id) } }
            dt { "Arrived" } dd { (when(delivery.arrived_at)) }
            dt { "Source" } dd { (said(&delivery.source)) }
            @for (name, value) in told { @if let Some(value) = value { dt { (name) } dd { (said(value)) } } }
            @if let Some(mended) = mended(&delivery.repairs) { dt { "Mended" } dd { (said(&mended)) } }
            dt { "Length" } dd { (delivery.body_len) " bytes" }
            dt { "SHA-256 of the body" } dd { code { (delivery.body_sha256) } }
            dt { "SHA-256 of the headers" } dd { code { (delivery.header_digest) } }
        }
    }
}

fn what_became(item: &DeliveryView, is_batch: bool) -> Markup {
    html! {
        p {
            @if is_batch { "Item " (item.item) ": " }
            (state(item.verdict)) " " (became(item))
            @if let Some(suppression) = &item.suppression {
                " Suppressed as a duplicate"
                @if let Some(first) = &suppression.first_delivery { " of " (link_delivery(first)) }
                @if let Some(at) = suppression.first_at { ", which came at " (when(at)) }
                "."
            }
        }
    }
}

/// What a person can have done with it: what was not understood or not let in is read again under the rule as it is now;
/// a suppression that rests on content alone is undone.
fn forms(arrival: &ArrivalView) -> Markup {
    let can_be_read = arrival.items.iter().any(|item| matches!(item.verdict, "quarantined" | "refused"));
    let can_be_separate = arrival.items.iter().any(|item| item.weak_key && item.duplicate_suppressed);
    let form = |separate: bool, label: &str| {
        html! {
            form method="post" action=(format!("{}/replay", path_of_delivery(&arrival.id))) {
                @if separate { input type="hidden" name="separate" value="yes"; }
                label { "Your name" input name="by" maxlength="64" dir="auto"; }
                button { (label) }
            }
        }
    };
    html! {
        @if can_be_read {
            @if arrival.items.iter().any(|item| item.verdict == "refused") {
                p.notice { "It was not authentic: reading it lets it in. Look at what it says first." }
            }
            (form(false, "Read it again"))
        }
        @if can_be_separate { (form(true, "An enquiry of its own")) }
    }
}

/// `POST /console/deliveries/{id}/replay`: reads it again, and leads to the delivery that comes of it.
pub(super) async fn replay(
    State(console): Console,
    Extension(viewer): Extension<Viewer>,
    Name(id): Name,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Failed> {
    if !is_own(&headers) {
        return Ok(failure(StatusCode::FORBIDDEN, "Not taken", "The form was not sent from a page of this console."));
    }
    let form = Form::read(&body);
    let who = viewer.acting_as(form.get("by")).map_err(|error| Failed::Asked(error.to_string()))?;
    let answer = console.redeliver.redeliver(&id, &who, form.get("separate").is_some()).await?;
    let to = path_of_delivery(answer["delivery"].as_str().unwrap_or(&id));
    Ok(Redirect::to(&to).into_response())
}
