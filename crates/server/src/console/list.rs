//! `/console`: the enquiries, newest first, by state and source.

use axum::extract::{RawQuery, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};

use super::page::{page, paging, path_of, said, state, when};
use super::{Console, ConsoleState, Failed};
use crate::views::{EnquiryView, Query, STANDINGS, state_called};

/// How many stand on a page.
pub(super) const ROWS: usize = 50;
/// How much of a message is shown.
const LINE_MAX: usize = 90;

/// `GET /console`.
pub(super) async fn list(State(console): Console, RawQuery(raw): RawQuery) -> Result<Response, Failed> {
    let query = asked(raw.as_deref(), &STANDINGS);
    let found = console.reader.enquiries(&query).await.map_err(Failed::of_list)?;
    let frame = console.frame().await?;
    let content = html! {
        h1 { "Enquiries" }
        (filters(&console, &query, "/console", "State", &STANDINGS))
        @if found.items.is_empty() { p.soft { "None." } } @else { (table(&found.items)) }
        (paging("/console", &[("state", query.state.as_deref()), ("source", query.source.as_deref())], query.cursor.is_some(), found.next_cursor.as_deref()))
    };
    Ok(page(StatusCode::OK, "Enquiries", Some(&frame), &content))
}

/// A list's query; a state that the list does not know is not asked for.
pub(super) fn asked(raw: Option<&str>, states: &[&'static str]) -> Query {
    let mut query = Query { limit: ROWS, ..Query::default() };
    for (name, value) in form_urlencoded::parse(raw.unwrap_or_default().as_bytes()).filter(|(_, value)| !value.is_empty()) {
        match &*name {
            "cursor" => query.cursor = Some(value.into_owned()),
            "source" => query.source = Some(value.into_owned()),
            "state" => query.state = state_called(&value, states).map(str::to_owned),
            _ => {}
        }
    }
    query
}

/// The form by which a list is narrowed: by `states`, which people call `called`, and by source.
pub(super) fn filters(console: &ConsoleState, query: &Query, path: &str, called: &str, states: &[&str]) -> Markup {
    html! {
        form method="get" action=(path) {
            label { (called)
                select name="state" {
                    option value="" { "any" }
                    @for name in states { option value=(name) selected[query.state.as_deref() == Some(*name)] { (name.replace('_', " ")) } }
                }
            }
            label { "Source"
                input name="source" list="sources" dir="auto" value=(query.source.as_deref().unwrap_or_default());
                datalist id="sources" { @for source in &console.sources { option value=(source) {} } }
            }
            button { "Show" }
        }
    }
}

fn table(items: &[EnquiryView]) -> Markup {
    html! {
        table {
            thead { tr { th { "Arrived" } th { "Who" } th { "What" } th { "Source" } th { "State" } } }
            tbody {
                @for enquiry in items {
                    tr {
                        td { (when(enquiry.accepted_at)) }
                        td { (said(who(enquiry))) }
                        td { a href=(path_of(&enquiry.id)) { (said(&what(enquiry))) } (marks(enquiry)) }
                        td { (said(&enquiry.source)) }
                        td { (state(enquiry.state)) }
                    }
                }
            }
        }
    }
}

/// Whom a person would look for.
pub(super) fn who(enquiry: &EnquiryView) -> &str {
    let contact = &enquiry.contact;
    let names = [&contact.name, &contact.company, &contact.email, &contact.phone];
    names.into_iter().find_map(|name| name.as_deref()).unwrap_or(if enquiry.erased { "(erased)" } else { "(nobody named)" })
}

/// The whole contact, on one line.
pub(super) fn contact(enquiry: &EnquiryView) -> String {
    let contact = &enquiry.contact;
    let known = [&contact.name, &contact.company, &contact.email, &contact.phone].into_iter().flatten();
    let known = known.map(String::as_str).collect::<Vec<_>>().join(", ");
    if known.is_empty() { who(enquiry).to_owned() } else { known }
}

/// One line of what is wanted: the qualification's, else the message's first, else the key.
pub(super) fn what(enquiry: &EnquiryView) -> String {
    let summary = enquiry.qualification.as_ref().map(|q| q.summary.trim()).filter(|summary| !summary.is_empty());
    summary.or_else(|| first_line(enquiry)).unwrap_or(&enquiry.key).chars().take(LINE_MAX).collect()
}

/// The message's first line that says anything.
pub(super) fn first_line(enquiry: &EnquiryView) -> Option<&str> {
    enquiry.message.as_deref().and_then(|message| message.lines().find(|line| !line.trim().is_empty()))
}

fn marks(enquiry: &EnquiryView) -> Markup {
    let flags = &enquiry.flags;
    let marks = [
        (flags.look_alike_of.is_some(), "look-alike"),
        (flags.conflict_with.is_some(), "conflict"),
        (flags.ambiguous_time, "ambiguous time"),
        (!flags.ambiguous.is_empty(), "ambiguous"),
        (flags.weak_key, "weak key"),
        (flags.separated_from.is_some(), "separated"),
    ];
    html! { @for (_, name) in marks.iter().filter(|(holds, _)| *holds) { " " span.state { (name) } } }
}
