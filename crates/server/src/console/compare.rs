//! A held conflict beside the enquiry whose key it came under: what a person must see to say *same* or *separate*.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::ConsoleState;
use super::page::{link, link_delivery, raw, said, when};
use crate::views::{ArrivalView, DossierView, EnquiryView};

/// The first enquiry's fields beside this one's, and both raw bodies; nothing, where there is no conflict to decide.
pub(super) async fn conflict(console: &ConsoleState, dossier: &DossierView) -> Result<Markup, store::Error> {
    let is_open = dossier.reviews.iter().any(|review| review.kind == "conflict" && review.closed_at.is_none());
    let Some(first) = dossier.enquiry.flags.conflict_with.as_deref().filter(|_| is_open) else { return Ok(html! {}) };
    let Some(first) = console.reader.enquiry(first).await? else { return Ok(html! {}) };
    let this = &dossier.enquiry;
    let first_body = console.reader.delivery(&first.first_delivery).await?;
    let this_body = console.reader.delivery(&this.first_delivery).await?;
    Ok(html! {
        h2 { "The two, side by side" }
        (fields(&first, this))
        (body("The first body", &first, first_body.as_ref()))
        (body("This body", this, this_body.as_ref()))
    })
}

fn fields(first: &EnquiryView, this: &EnquiryView) -> Markup {
    let names: BTreeSet<&str> = told(first).into_iter().chain(told(this)).map(|(name, _)| name).collect();
    let value = |enquiry: &EnquiryView, name: &str| told(enquiry).into_iter().find(|(n, _)| *n == name).map(|(_, value)| value.to_owned());
    html! {
        table {
            thead { tr { th { "" } th { "The first, " (link(&first.id)) } th { "This one" } } }
            tbody {
                tr { td.soft { "arrived" } td { (when(first.accepted_at)) } td { (when(this.accepted_at)) } }
                @for name in names {
                    @let (a, b) = (value(first, name), value(this, name));
                    tr {
                        td.soft { (said(name)) @if a != b { " " span.state.ask { "differs" } } }
                        @for side in [&a, &b] { td { @match side { Some(text) => div.message dir="auto" { (text) }, None => span.soft { "–" } } } }
                    }
                }
            }
        }
    }
}

/// Every field that has a value, by the name that `map` gives it.
fn told(enquiry: &EnquiryView) -> Vec<(&str, &str)> {
    let contact = &enquiry.contact;
    let named = [
        ("contact.name", &contact.name),
        ("contact.company", &contact.company),
        ("contact.email", &contact.email),
        ("contact.phone", &contact.phone),
        ("message", &enquiry.message),
        ("occurred_at", &enquiry.occurred_at),
        ("consent", &enquiry.consent),
    ];
    let named = named.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    named.chain(enquiry.other.iter().map(|(name, value)| (name.as_str(), value.as_str()))).collect()
}

fn body(title: &str, enquiry: &EnquiryView, arrival: Option<&ArrivalView>) -> Markup {
    html! {
        details {
            summary { (title) ", delivery " (link_delivery(&enquiry.first_delivery)) }
            (raw(arrival.and_then(|arrival| arrival.body.as_ref())))
        }
    }
}
