//! `/console/review`: a person's queue, oldest first, and the form by which a person decides.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};

use super::form::{Form, is_own};
use super::list::{contact, first_line};
use super::page::{failure, link, page, path_of, said, span, when};
use super::{Console, Failed, Name};
use crate::engine::Decision;
use crate::views::{EnquiryView, Fitting, ReviewView, Viewer};

/// How many stand on the page; the next appear as these are decided.
pub(super) const ITEMS: usize = 100;

/// Where a decision leads back to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Back {
    /// To the enquiry's page.
    Enquiry,
    /// To the queue.
    Queue,
}

/// `GET /console/review`.
pub(super) async fn queue(State(console): Console) -> Result<Response, Failed> {
    let open = console.reader.open_items(ITEMS, console.clock.now()).await?;
    let frame = console.frame_with(open.count).await?;
    let aside = console.reader.set_aside().await?;
    let mut items = Vec::new();
    for review in &open.oldest {
        items.push((review, console.reader.enquiry(&review.enquiry).await?));
    }
    let content = html! {
        h1 { "Review" }
        @if open.count == 0 { p.soft { "Nobody need decide anything." } }
        @if open.count > open.oldest.len() { p.soft { "The oldest " (open.oldest.len()) " of " (open.count) "." } }
        @for (review, enquiry) in &items { (item(review, enquiry.as_ref(), Back::Queue)) }
        @if !aside.is_empty() {
            p {
                "Nothing came of: " (aside.says()) ". "
                @if aside.quarantined > 0 { a href="/console/deliveries?state=quarantined" { "Quarantined" } " " }
                @if aside.refused > 0 { a href="/console/deliveries?state=refused" { "Refused" } }
            }
        }
    };
    Ok(page(StatusCode::OK, "Review", Some(&frame), &content))
}

/// An item with the forms of its decisions; in the queue also whom and what it is about.
pub(super) fn item(review: &ReviewView, enquiry: Option<&EnquiryView>, back: Back) -> Markup {
    html! {
        div.item {
            @if let Some(enquiry) = enquiry {
                p { strong { (said(&contact(enquiry))) } @if let Some(line) = first_line(enquiry) { ": " (said(line)) } }
                p.soft { code { (said(&enquiry.key)) } }
            }
            p { (said(&review.why)) }
            p.soft {
                (review.kind.replace('_', " ")) ", " (if review.holds { "holds what waits for it" } else { "only notifies" })
                ", opened " (when(review.opened_at)) " (" (span(review.age_s.saturating_mul(1000))) " ago)"
                @if back == Back::Queue { ", enquiry " (link(&review.enquiry)) }
            }
            (forms(review, back))
            @if let Some(at) = review.decisions.iter().find_map(|fitting| fitting.not_before) {
                p.soft { "\u{201c}Not there\u{201d} is taken from " (when(at)) " on: until then a request may still take effect." }
            }
        }
    }
}

/// A form for the decisions that are made by a button alone, and one for each that needs a word: so that the browser asks
/// for the word with its own button only.
fn forms(review: &ReviewView, back: Back) -> Markup {
    let (worded, plain): (Vec<_>, Vec<_>) = review.decisions.iter().partition(|fitting| word(fitting).is_some());
    let form = |fields: &Markup, fittings: &[&Fitting]| {
        html! {
            form method="post" action=(format!("/console/review/{}", review.id)) {
                @if back == Back::Queue { input type="hidden" name="back" value="queue"; }
                label { "Your name" input name="by" maxlength="64" dir="auto"; }
                (fields)
                @for fitting in fittings { (button(fitting)) }
            }
        }
    };
    html! {
        @if !plain.is_empty() { (form(&html! {}, &plain)) }
        @for fitting in worded {
            @if let Some((name, label)) = word(fitting) {
                (form(&html! { label { (label) input name=(name) maxlength="200" dir="auto" required; } }, &[fitting]))
            }
        }
    }
}

/// The word that a decision needs: its field, and what a person is asked for.
fn word(fitting: &Fitting) -> Option<(&'static str, &'static str)> {
    match fitting.decision {
        "dismiss" => Some(("reason", "Reason for dismissing")),
        "it_is" => Some(("external_id", "The record's id")),
        _ => None,
    }
}

fn button(fitting: &Fitting) -> Markup {
    let label = match fitting.decision {
        "approve" => "Approve",
        "dismiss" => "Dismiss",
        "same" => "The same enquiry",
        "separate" => "A separate enquiry",
        "not_there" => "Not there",
        "it_is" => "It is there, under this id",
        "again" => "Look again",
        other => other,
    };
    html! { button name="decision" value=(fitting.decision) { (label) } }
}

/// `POST /console/review/{id}`.
pub(super) async fn decide(
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
    let word = form.get("decision").unwrap_or_default();
    if word == "dismiss" && form.get("reason").is_none() {
        return Err(Failed::Asked("Dismissing needs a reason: the journal keeps it.".to_owned()));
    }
    let decision = Decision::read(word, form.get("reason"), form.get("external_id"));
    let decision = decision.map_err(|error| Failed::Asked(error.to_string()))?;
    let who = viewer.acting_as(form.get("by")).map_err(|error| Failed::Asked(error.to_string()))?;
    console.engine.decide(&id, &decision, &who).await?;
    let to = if form.get("back") == Some("queue") { "/console/review".to_owned() } else { path_of(&id) };
    Ok(Redirect::to(&to).into_response())
}
