//! The frame of every page, and the small pieces that all pages are made of.
//!
//! What a sender wrote may run in any direction: it is always isolated (`bdi`, `dir="auto"`), and always escaped by maud.

use axum::response::{Html, IntoResponse as _, Response};
use http::StatusCode;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::views::{At, BodyView, visible};

const STYLE: &str = include_str!("style.css");

/// What stands above every page.
pub(super) struct Frame {
    /// How many review items are open.
    pub(super) open_items: usize,
    /// The names of paused targets, with the reason.
    pub(super) paused: Vec<(String, String)>,
}

/// A whole page.
pub(super) fn page(status: StatusCode, title: &str, frame: Option<&Frame>, content: &Markup) -> Response {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " · Oncebook" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    strong { "Oncebook" }
                    nav {
                        a href="/console" { "Enquiries" } " · "
                        a href="/console/review" { "Review" @if let Some(frame) = frame { " (" (frame.open_items) ")" } } " · "
                        a href="/console/deliveries" { "Deliveries" }
                    }
                }
                @if let Some(frame) = frame {
                    @for (name, why) in &frame.paused {
                        p.notice { "Target " strong { (name) } " is paused: " (said(why)) }
                    }
                }
                main { (content) }
            }
        }
    };
    (status, Html(markup.into_string())).into_response()
}

/// A page that only says that something did not work.
pub(super) fn failure(status: StatusCode, title: &str, why: &str) -> Response {
    page(status, title, None, &html! { h1 { (title) } p { (said(why)) } })
}

/// Text that somebody else wrote.
pub(super) fn said(text: &str) -> Markup {
    html! { bdi dir="auto" { (text) } }
}

/// An instant, to the second; the whole of it for programs and on hovering.
pub(super) fn when(at: At) -> Markup {
    let exact = at.to_string();
    let short = exact.split_once('.').map_or(exact.clone(), |(seconds, _)| format!("{} UTC", seconds.replace('T', " ")));
    html! { time datetime=(exact) title=(exact) { (short) } }
}

/// How long something took or has lasted.
pub(super) fn span(ms: i64) -> String {
    let ms = ms.max(0);
    let (seconds, minutes, hours, days) = (ms / 1_000, ms / 60_000, ms / 3_600_000, ms / 86_400_000);
    if seconds == 0 {
        format!("{ms} ms")
    } else if minutes == 0 {
        format!("{seconds}.{} s", ms % 1_000 / 100)
    } else if hours == 0 {
        format!("{minutes} min {} s", seconds % 60)
    } else if days == 0 {
        format!("{hours} h {} min", minutes % 60)
    } else {
        format!("{days} d {} h", hours % 24)
    }
}

/// A state, coloured by whether it asks for somebody.
pub(super) fn state(name: &str) -> Markup {
    let tone = match name {
        "review" | "held" | "refused" | "mismatched" | "doubled" | "conflict" | "quarantined" | "paused" | "at_most_once" => "ask",
        "settled" | "verified" | "unverified" | "accepted" | "done" => "good",
        _ => "plain",
    };
    html! { span.state.(tone) { (name.replace('_', " ")) } }
}

/// The page of an enquiry, effect or delivery, by its id or any other name.
pub(super) fn path_of(name: &str) -> String {
    format!("/console/enquiries/{}", segment(name))
}

/// The page of a delivery.
pub(super) fn path_of_delivery(id: &str) -> String {
    format!("/console/deliveries/{}", segment(id))
}

fn segment(name: &str) -> String {
    let encoded: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
    // In a path a plus sign is a plus sign.
    encoded.replace('+', "%20")
}

/// A name that leads to an enquiry's page.
pub(super) fn link(name: &str) -> Markup {
    html! { a href=(path_of(name)) { code { (name) } } }
}

/// An id that leads to a delivery's page.
pub(super) fn link_delivery(id: &str) -> Markup {
    html! { a href=(path_of_delivery(id)) { code { (id) } } }
}

/// A raw body, its control characters shown and not obeyed.
pub(super) fn raw(body: Option<&BodyView>) -> Markup {
    match body {
        None => html! { p.soft { "The body is not kept any more." } },
        Some(body) if body.encoding == "text" => html! { pre dir="auto" { (visible(&body.value)) } },
        Some(body) => html! { p.soft { "The body is no text; as base64:" } pre { (body.value) } },
    }
}

/// The links of a list: to its beginning, and to what comes next. `filters` are what the list was asked for.
pub(super) fn paging(path: &str, filters: &[(&str, Option<&str>)], is_later: bool, next: Option<&str>) -> Markup {
    let with = |cursor: Option<&str>| {
        let mut link = form_urlencoded::Serializer::for_suffix(format!("{path}?"), path.len() + 1);
        let all = filters.iter().copied().chain([("cursor", cursor)]);
        let link =
            all.filter_map(|(name, value)| Some((name, value?))).fold(&mut link, |link, (name, value)| link.append_pair(name, value));
        link.finish()
    };
    html! {
        p {
            @if is_later { a href=(with(None)) { "Newest" } " " }
            @if next.is_some() { a href=(with(next)) { "Older" } }
        }
    }
}
