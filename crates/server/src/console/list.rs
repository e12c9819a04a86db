//! `/console`: the enquiries, newest first, by state and source.

use axum::extract::{RawQuery, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};

use super::page::{page, path_of, said, state, when};
use super::{Console, ConsoleState, Failed};
use crate::views::{EnquiryView, PageView, Query, STANDINGS};

/// How many stand on a page.
const ROWS: usize = 50;
/// How much of a message is shown.
const LINE_MAX: usize = 90;

/// `GET /console`.
pub(super) async fn list(State(console): Console, RawQuery(raw): RawQuery) -> Result<Response, Failed> {
    let query = asked(raw.as_deref());
    let found = console.reader.enquiries(&query).await.map_err(|error| match error {
        // The book refuses nothing of a list but its cursor.
        store::Error::Refused(_) => Failed::Asked("That place in the list cannot be found: begin again at the newest.".to_owned()),
        other => other.into(),
    })?;
    let frame = console.frame().await?;
    let content = html! {
        h1 { "Enquiries" }
        (filters(&console, &query))
        @if found.items.is_empty() { p.soft { "None." } } @else { (table(&found.items)) }
        (paging(&query, &found))
    };
    Ok(page(StatusCode::OK, "Enquiries", Some(&frame), &content))
}

fn asked(raw: Option<&str>) -> Query {
    let mut query = Query { limit: ROWS, ..Query::default() };
    for (name, value) in form_urlencoded::parse(raw.unwrap_or_default().as_bytes()).filter(|(_, value)| !value.is_empty()) {
        match &*name {
            "cursor" => query.cursor = Some(value.into_owned()),
            "source" => query.source = Some(value.into_owned()),
            "state" if STANDINGS.contains(&&*value) => query.state = Some(value.into_owned()),
            _ => {}
        }
    }
    query
}

fn filters(console: &ConsoleState, query: &Query) -> Markup {
    html! {
        form method="get" action="/console" {
            label { "State"
                select name="state" {
                    option value="" { "any" }
                    @for name in STANDINGS { option value=(name) selected[query.state.as_deref() == Some(name)] { (name) } }
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

/// One line of what is wanted: the qualification's, else the message's first, else the key.
pub(super) fn what(enquiry: &EnquiryView) -> String {
    let summary = enquiry.qualification.as_ref().map(|q| q.summary.trim()).filter(|summary| !summary.is_empty());
    let first_line = || enquiry.message.as_deref().and_then(|message| message.lines().find(|line| !line.trim().is_empty()));
    summary.or_else(first_line).unwrap_or(&enquiry.key).chars().take(LINE_MAX).collect()
}

fn marks(enquiry: &EnquiryView) -> Markup {
    let flags = &enquiry.flags;
    let marks = [
        (flags.look_alike_of.is_some(), "look-alike"),
        (flags.conflict_with.is_some(), "conflict"),
        (flags.ambiguous_time, "ambiguous time"),
        (flags.weak_key, "weak key"),
        (flags.separated_from.is_some(), "separated"),
    ];
    html! { @for (_, name) in marks.iter().filter(|(holds, _)| *holds) { " " span.state { (name) } } }
}

fn paging(query: &Query, found: &PageView<EnquiryView>) -> Markup {
    let with = |cursor: Option<&str>| {
        let mut link = form_urlencoded::Serializer::for_suffix(String::from("/console?"), "/console?".len());
        let link = [("state", query.state.as_deref()), ("source", query.source.as_deref()), ("cursor", cursor)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .fold(&mut link, |link, (name, value)| link.append_pair(name, value));
        link.finish()
    };
    html! {
        p {
            @if query.cursor.is_some() { a href=(with(None)) { "Newest" } " " }
            @if let Some(next) = &found.next_cursor { a href=(with(Some(next))) { "Older" } }
        }
    }
}
