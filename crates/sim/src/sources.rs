//! The sources that senders deliver to, and the bodies that they send.
//!
//! One source goes by submission id, one by event time, one by content, and one changes its rule from time to id while
//! enquiries are under way.

use bytes::Bytes;
use domain::identity::rule::TimeRule;
use domain::identity::{Place, Rule};
use domain::tree::Pointer;
use server::intake::{Auth, Raw, SourceSetup};

use crate::plan::{Plan, Sent};
use crate::world::BEGIN;

/// The sources' ids.
pub const SOURCES: [&str; 4] = ["by-id", "by-time", "by-content", "by-turns"];

/// What no journal may hold: every address has it.
pub const SECRET_MARK: &str = "pii7qx";

/// Copies under a `content` key inside this are the same event.
pub const CONTENT_WINDOW_MS: i64 = 24 * 60 * 60 * 1_000;

fn place(text: &str) -> Option<Place> {
    Place::parse(text).ok()
}

fn pointer(text: &str) -> Option<Pointer> {
    Pointer::parse(text).ok()
}

/// The client of a source.
pub fn client(plan: &Plan, source: usize) -> Option<String> {
    (plan.setup.clients > 1).then(|| if source.is_multiple_of(2) { "acme" } else { "birch" }.to_owned())
}

/// A source as it stands.
pub fn source(plan: &Plan, source: usize, rule_changed: bool) -> SourceSetup {
    let volatile = ["/sent_at", "/attempt", "/at"].into_iter().filter_map(pointer).collect::<Vec<_>>();
    let by_id = Rule { submission: place("/id").into_iter().collect(), volatile: volatile.clone(), ..Rule::default() };
    let time = place("/at").map(|at| TimeRule { at, with: place("/form").into_iter().collect() });
    let by_time = Rule { time, volatile: volatile.clone(), ..Rule::default() };
    let by_content = Rule { volatile, ..Rule::default() };
    let (rule, earlier) = match source {
        0 => (by_id, vec![]),
        1 => (by_time, vec![]),
        2 => (by_content, vec![]),
        _ if rule_changed => (by_id, vec![by_time]),
        _ => (by_time, vec![]),
    };
    let map = [("contact.email", "/email"), ("contact.name", "/name"), ("message", "/message"), ("occurred_at", "/at")];
    SourceSetup {
        id: SOURCES[source].to_owned(),
        client: client(plan, source),
        auth: Auth::None,
        rule,
        earlier,
        channel: "form".to_owned(),
        map: map.into_iter().filter_map(|(field, at)| Some((field.to_owned(), vec![place(at)?]))).collect(),
        items: None,
        test: None,
        request_id: None,
        attempt: None,
        content_window_ms: CONTENT_WINDOW_MS,
        look_alike_window_ms: 600_000,
        hold_look_alikes: plan.setup.hold_look_alikes,
        body_max: 1 << 16,
    }
}

/// Events lie so far apart.
pub const EVENT_STEP_MS: i64 = 1_371;

/// When the first event was.
pub fn first_event_at() -> i64 {
    BEGIN - 1_000_000_000
}

/// The body of a delivery, as it is sent the `nth` time.
pub fn raw(sent: &Sent, nth: u32) -> Raw {
    let instant = domain::time::UtcMs(first_event_at() + i64::from(sent.event) * EVENT_STEP_MS).rfc3339();
    // An equal instant, written in another way.
    let at = if nth % 2 == 1 { instant.replace('Z', "+00:00") } else { instant };
    let says = sent.repeats.unwrap_or(sent.event);
    let id = if SOURCES[sent.source] == "by-content" { String::new() } else { format!("e{}", sent.event) };
    let mut body = format!(
        r#"{{"id":"{id}","at":"{at}","form":"f","email":"{SECRET_MARK}{}@example.com","name":"P{}","message":"says {says} v{}","attempt":{nth}}}"#,
        sent.contact, sent.contact, sent.content
    );
    if sent.broken {
        body.truncate(body.len() / 2);
    }
    let headers = vec![("content-type".to_owned(), "application/json".to_owned()), ("x-attempt".to_owned(), nth.to_string())];
    Raw { headers, body: Bytes::from(body), remote: None }
}
