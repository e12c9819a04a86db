//! Every delivery of the enquiry, those that were suppressed included.

use maud::{Markup, html};

use super::super::page::{link_delivery, said, state, when};
use crate::views::DeliveryView;

pub(super) fn deliveries(deliveries: &[DeliveryView]) -> Markup {
    html! {
        table {
            thead { tr { th { "Arrived" } th { "Delivery" } th { "Verdict" } th { "Sender" } th { "What was done" } } }
            tbody {
                @for delivery in deliveries {
                    tr {
                        td { (when(delivery.arrived_at)) }
                        td { (link_delivery(&delivery.id)) @if delivery.item > 0 { " item " (delivery.item) } }
                        td { (state(delivery.verdict)) }
                        td { (sender(delivery)) }
                        td { (done(delivery)) }
                    }
                }
            }
        }
    }
}

fn sender(delivery: &DeliveryView) -> Markup {
    html! {
        @if let Some(id) = &delivery.request_id { "request " code { (said(id)) } " " }
        @if let Some(attempt) = &delivery.attempt { "attempt " (said(attempt)) " " }
        @if let Some(remote) = &delivery.remote { "from " (said(remote)) }
    }
}

fn done(delivery: &DeliveryView) -> Markup {
    let Some(suppression) = &delivery.suppression else {
        return html! { @if let Some(reason) = &delivery.reason { (said(reason)) } };
    };
    html! {
        "Duplicate suppressed"
        @if let Some(first) = &suppression.first_delivery { ": the first is " (link_delivery(first)) }
        @if let Some(run) = &suppression.first_run { ", run " code { (run) } }
        @if let Some(at) = suppression.first_at { ", at " (when(at)) }
        "."
        @if delivery.weak_key { " The key rests on content alone: it can be told apart." }
    }
}
