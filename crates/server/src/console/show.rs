//! `/console/enquiries/{name}`: everything about one enquiry.

mod deliveries;
pub(super) mod effects;
mod fields;
mod timeline;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};

use super::list::{what, who};
use super::page::{Frame, failure, link, page, said, span, state, when};
use super::review::{Back, item};
use super::{Console, Failed, Name, compare};
use crate::views::DossierView;

/// `GET /console/enquiries/{name}`: an id, a key, a delivery, effect or review id, or an external record id.
pub(super) async fn show(State(console): Console, Name(name): Name) -> Result<Response, Failed> {
    let found = console.reader.show(&name, console.clock.now()).await?;
    let frame = console.frame().await?;
    Ok(match found.as_slice() {
        [] => failure(StatusCode::NOT_FOUND, "Not found", "No enquiry, key, delivery, effect, review item or record has that name."),
        [only] => {
            let beside = compare::conflict(&console, only).await?;
            page(StatusCode::OK, who(&only.enquiry), Some(&frame), &dossier(only, &frame, &beside))
        }
        several => page(StatusCode::OK, "Several enquiries", Some(&frame), &choice(several)),
    })
}

/// An external id need not be unique.
fn choice(several: &[DossierView]) -> Markup {
    html! {
        h1 { "That name leads to several enquiries" }
        ul { @for one in several { li { (link(&one.enquiry.id)) " " (said(who(&one.enquiry))) ": " (said(&what(&one.enquiry))) } } }
    }
}

/// `beside`: what stands between the decision and the fields, where there is something to compare.
fn dossier(dossier: &DossierView, frame: &Frame, beside: &Markup) -> Markup {
    let enquiry = &dossier.enquiry;
    let (open, closed): (Vec<_>, Vec<_>) = dossier.reviews.iter().partition(|review| review.closed_at.is_none());
    html! {
        h1 { (said(who(enquiry))) " " (state(enquiry.state)) }
        p { (said(&what(enquiry))) }
        (measures(dossier))
        @if !open.is_empty() {
            h2 { "To be decided" }
            @for review in open { (item(review, None, Back::Enquiry)) }
        }
        (beside)
        h2 { "What was asked" }
        (fields::fields(enquiry))
        h2 { "Qualification" }
        (fields::qualification(enquiry))
        h2 { "What became of it" }
        (effects::effects(&dossier.effects, frame))
        h2 { "Deliveries" }
        (deliveries::deliveries(&dossier.deliveries))
        @if !closed.is_empty() {
            h2 { "Decided" }
            ul { @for review in closed { (decided(review)) } }
        }
        h2 { "Timeline" }
        (timeline::timeline(&dossier.timeline))
    }
}

fn measures(dossier: &DossierView) -> Markup {
    let enquiry = &dossier.enquiry;
    let took = |ms: Option<i64>| ms.map_or_else(|| "not yet".to_owned(), span);
    html! {
        dl {
            dt { "Key" } dd { code { (said(&enquiry.key)) } }
            dt { "Arrived" } dd { (when(enquiry.accepted_at)) }
            dt { "Arrival to result" }
            dd {
                @match dossier.tries_in_vain() {
                    Some(tries) => { "no result: tried " (tries) @if tries == 1 { " time" } @else { " times" } ", " (took(dossier.arrival_to_result_ms)) }
                    None => { (took(dossier.arrival_to_result_ms)) }
                }
            }
            dt { "Arrival to record" } dd { (took(dossier.arrival_to_record_ms)) }
            @if let Some(at) = enquiry.settled_at { dt { "Settled" } dd { (when(at)) } }
        }
    }
}

fn decided(review: &crate::views::ReviewView) -> Markup {
    html! {
        li {
            @if let Some(at) = review.closed_at { (when(at)) " " }
            (said(&review.why)) ": "
            (said(review.decision.as_deref().unwrap_or("decided")))
        }
    }
}
