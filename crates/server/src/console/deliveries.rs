//! `/console/deliveries`: what arrived, newest first, by verdict and source.

use std::collections::BTreeMap;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};

use super::list::{asked, filters};
use super::page::{link, link_delivery, page, paging, said, state, when};
use super::{Console, Failed};
use crate::views::{DeliveryView, VERDICTS};

const PATH: &str = "/console/deliveries";

/// `GET /console/deliveries`.
pub(super) async fn list(State(console): Console, RawQuery(raw): RawQuery) -> Result<Response, Failed> {
    let query = asked(raw.as_deref(), &VERDICTS);
    let found = console.reader.deliveries(&query).await.map_err(Failed::of_list)?;
    let aside = console.reader.set_aside().await?;
    let frame = console.frame().await?;
    let shown = [("state", query.state.as_deref()), ("source", query.source.as_deref())];
    let content = html! {
        h1 { "Deliveries" }
        (filters(&console, &query, PATH, "Verdict", &VERDICTS))
        @if query.state.is_none() {
            p.soft { "Those that were refused as not authentic stand apart: " a href="/console/deliveries?state=refused" { "refused" } "." }
        }
        @if found.items.is_empty() { p.soft { "None." } } @else { (table(&found.items, &aside.came_again)) }
        (paging(PATH, &shown, query.cursor.is_some(), found.next_cursor.as_deref()))
    };
    Ok(page(StatusCode::OK, "Deliveries", Some(&frame), &content))
}

fn table(items: &[DeliveryView], came_again: &BTreeMap<String, String>) -> Markup {
    html! {
        table {
            thead { tr { th { "Arrived" } th { "Delivery" } th { "Source" } th { "Verdict" } th { "Enquiry, or why there is none" } } }
            tbody {
                @for delivery in items {
                    tr {
                        td { (when(delivery.arrived_at)) }
                        td { (link_delivery(&delivery.id)) @if delivery.item > 0 { " item " (delivery.item) } }
                        td { (said(&delivery.source)) }
                        td { (state(delivery.verdict)) }
                        td { (became(delivery)) @if let Some(later) = came_again.get(&delivery.id) { " Came again: " (link_delivery(later)) } }
                    }
                }
            }
        }
    }
}

/// The enquiry that it carries, under its key; else why it carries none.
pub(super) fn became(delivery: &DeliveryView) -> Markup {
    html! {
        @if let Some(id) = &delivery.enquiry {
            @match &delivery.key { Some(key) => a href=(super::page::path_of(id)) { (said(key)) }, None => (link(id)) }
            " "
        }
        @if let Some(reason) = &delivery.reason { (said(reason)) }
    }
}
