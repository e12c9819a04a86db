//! Deliveries against a book that is shut: it remembers what it was asked to enter, and makes nothing durable.
//!
//! What the book answers is the store's own suite's business; here it is what intake asks of it, and that nothing is promised
//! where nothing is durable.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use domain::digest::{BookSecret, Digest};
use domain::identity::{ContactPlaces, Place, Rule, TimeRule};
use domain::ids::StreamId;
use domain::time::{SeededEntropy, UtcMs};
use domain::tree::Pointer;
use store::{Arrival, Arrived, Item, Proposal, Verdict};
use tokio::sync::Notify;

use super::*;

mod book;
mod former;
mod replaying;
mod shut;

use shut::{At, Shut};

pub(super) const NOW: UtcMs = UtcMs(1_772_442_904_120);

/// A source `website` as a careful person would set it up.
pub(super) fn setup() -> SourceSetup {
    let place = |text: &str| Place::parse(text).unwrap();
    let map = [("contact.email", "/email"), ("contact.name", "/name"), ("message", "/message"), ("occurred_at", "/at")];
    SourceSetup {
        id: "website".to_owned(),
        client: Some("acme".to_owned()),
        auth: Auth::None,
        rule: Rule { submission: vec![place("/id")], time: Some(TimeRule { at: place("/at"), with: vec![] }), ..Rule::default() },
        earlier: vec![],
        map: map.into_iter().map(|(field, at)| (field.to_owned(), vec![place(at)])).collect(),
        channel: "form".to_owned(),
        items: None,
        test: Some(place("/is_test")),
        request_id: None,
        attempt: None,
        content_window_ms: 600_000,
        look_alike_window_ms: 600_000,
        hold_look_alikes: true,
        body_max: 1024,
    }
}

fn batch() -> SourceSetup {
    SourceSetup { items: Some(Pointer::parse("/*").unwrap()), ..setup() }
}

/// An intake with the source `website`, and the book behind it.
pub(super) fn intake_at(source: SourceSetup, kept: Option<Arrived>, now: UtcMs) -> (Intake, Arc<Shut>) {
    let book = Arc::new(Shut {
        stream: StreamId::parse("str_1").unwrap(),
        secret: BookSecret::new([7; 32]),
        kept,
        asked: Mutex::default(),
        refused: Mutex::default(),
    });
    let intake = Intake {
        sources: BTreeMap::from([("website".to_owned(), source)]),
        store: Arc::<Shut>::clone(&book),
        clock: Arc::new(At(now)),
        entropy: Arc::new(SeededEntropy::new(1)),
        accepted: Arc::new(Notify::new()),
        worker: None,
        entering: tokio_util::task::TaskTracker::new(),
        room: Room::of(1 << 20),
        strangers: Room::of(1 << 20),
        large: Room::turns(),
    };
    (intake, book)
}

fn raw(body: &str, headers: &[(&str, &str)]) -> Raw {
    let json = [("content-type", "application/json")];
    let headers = json.iter().chain(headers).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Raw { headers, body: Bytes::copy_from_slice(body.as_bytes()), remote: Some("192.0.2.7".to_owned()) }
}

/// What the book is asked to enter for a delivery, which is not made durable.
async fn asked(source: SourceSetup, raw: Raw) -> Arrival {
    let (intake, book) = intake_at(source, None, NOW);
    assert_eq!(Arc::new(intake).deliver("website", raw).await.unwrap_err(), Refusal::Unavailable { retry_after_s: 5 });
    book.asked.lock().unwrap().pop().unwrap()
}

fn enquiry(item: &Item) -> &Proposal {
    match item {
        Item::Enquiry(proposal) => proposal,
        Item::Aside { verdict, reason } => panic!("{verdict:?}: {reason}"),
    }
}

fn aside(item: &Item) -> (Verdict, &str) {
    match item {
        Item::Aside { verdict, reason } => (*verdict, reason),
        Item::Enquiry(proposal) => panic!("an enquiry: {:?}", proposal.candidate.keys),
    }
}

const LEAD: &str = r#"{"id":"lead_77","email":"Avery@Example.com","message":"40 chairs","at":"2026-03-02T09:15:04Z"}"#;

#[tokio::test]
async fn a_delivery_is_asked_for_with_all_its_evidence() {
    let arrival = asked(setup(), raw(LEAD, &[("x-request-id", "r-1"), ("x-attempt", "3")])).await;
    let delivery = &arrival.delivery;
    assert_eq!(delivery.header_digest, Digest::sha256(b"content-type: application/json\nx-request-id: r-1\nx-attempt: 3"));
    assert_eq!(delivery.body_sha256, Digest::sha256(LEAD.as_bytes()));
    assert_eq!((delivery.body, delivery.body_len), (arrival.body.digest(), 94));
    assert_eq!(delivery.content_type.as_deref(), Some("application/json"));
    assert_eq!((delivery.request_id.as_deref(), delivery.attempt.as_deref()), (Some("r-1"), Some("3")));
    assert_eq!((delivery.at, delivery.remote.as_deref()), (NOW, Some("192.0.2.7")));
    assert_eq!(arrival.body.bytes, LEAD.as_bytes());
    assert_ne!(arrival.body.nonce, [0; 32]);
    let proposal = enquiry(&arrival.items[0]);
    assert_eq!(proposal.candidate.keys[0].to_string(), "website:submission:lead_77");
    assert_eq!(proposal.fields.contact.email.as_deref(), Some("avery@example.com"));
    assert_eq!(proposal.notes.len(), 1);
    assert_eq!(proposal.client.as_deref(), Some("acme"));
    assert!(proposal.hold_look_alikes && !proposal.separate && arrival.by.is_none());
}

#[tokio::test]
async fn i8_a_delivery_is_looked_up_under_earlier_rules_too() {
    let by = |text: &str| Rule { submission: vec![Place::parse(text).unwrap()], ..Rule::default() };
    let unreadable = Rule { time: Some(TimeRule { at: Place::parse("/message").unwrap(), with: vec![] }), ..Rule::default() };
    let source = SourceSetup { earlier: vec![by("/message"), by("/id"), unreadable], ..setup() };
    let arrival = asked(source, raw(LEAD, &[])).await;
    let keys: Vec<String> = enquiry(&arrival.items[0]).candidate.keys.iter().map(ToString::to_string).collect();
    assert_eq!(keys, ["website:submission:lead_77", "website:submission:40%20chairs"]);
}

#[tokio::test]
async fn i8_an_earlier_version_reads_the_contact_where_it_stood_then() {
    let at = |email: &str| {
        let contact = ContactPlaces { email: Some(Place::parse(email).unwrap()), ..ContactPlaces::default() };
        let time = TimeRule { at: Place::parse("/at").unwrap(), with: vec![] };
        Rule { time: Some(time), contact: Some(contact), ..Rule::default() }
    };
    let keys = |arrival: &Arrival| enquiry(&arrival.items[0]).candidate.keys.clone();
    let before = asked(SourceSetup { rule: at("/email"), ..setup() }, raw(LEAD, &[])).await;
    let mut source = SourceSetup { rule: at("/kontakt/mail"), earlier: vec![at("/email")], ..setup() };
    source.map.insert("contact.email".to_owned(), vec![Place::parse("/kontakt/mail").unwrap()]);
    let again = asked(source, raw(LEAD, &[])).await;
    assert_eq!(keys(&again)[1..], keys(&before)[..], "the redelivery is looked up under the key that the first had");
}

#[tokio::test]
async fn i8_a_body_of_an_earlier_shape_is_known_by_its_id_before_it_is_set_aside() {
    let by = |text: &str| Rule { submission: vec![Place::parse(text).unwrap()], ..Rule::default() };
    let at = |text: &str| Rule { time: Some(TimeRule { at: Place::parse(text).unwrap(), with: vec![] }), ..Rule::default() };
    let (old, key) = (r#"{"lead":{"id":"lead_77"},"when":"soon"}"#, "website:submission:lead_77");
    for current in [by("/submission/id"), at("/when"), at("/at")] {
        let source = SourceSetup { rule: current, earlier: vec![at("/at"), by("/lead/id")], ..setup() };
        let arrival = asked(source, raw(old, &[])).await;
        let candidate = &enquiry(&arrival.items[0]).candidate;
        assert_eq!(candidate.keys[0].to_string(), key);
        assert!(!candidate.contents.is_empty());
    }
    let source = SourceSetup { rule: at("/when"), earlier: vec![at("/at")], ..setup() };
    assert_eq!(aside(&asked(source, raw(old, &[])).await.items[0]).0, Verdict::Quarantined);
}

#[tokio::test]
async fn i1_what_is_not_understood_is_quarantined_with_a_reason() {
    for (body, words) in [
        ("", "the body is empty"),
        ("{\"a\":", "not JSON"),
        ("[1]", "name its items in `items`"),
        (r#"{"message":"x","at":"yesterday"}"#, "the event time at /at"),
        (r#"{"message":"x","at":"2026-03-02 09:15:04"}"#, "no `timezone`"),
        (r#"{"unknown":"x"}"#, "nothing mapped"),
        (r#"{"at":"2026-03-02T09:15:04Z"}"#, "nothing mapped"),
    ] {
        let arrival = asked(setup(), raw(body, &[])).await;
        let (verdict, reason) = aside(&arrival.items[0]);
        assert_eq!(verdict, Verdict::Quarantined);
        assert!(reason.contains(words), "{body}: {reason}");
    }
    let arrival = asked(setup(), raw("\u{1}\u{5}packed", &[("content-encoding", "br")])).await;
    assert!(aside(&arrival.items[0]).1.contains("compressed"));
}

#[tokio::test]
async fn an_id_alone_is_an_enquiry_and_a_test_is_none() {
    let arrival = asked(setup(), raw(r#"{"id":6084250982513018472}"#, &[])).await;
    assert_eq!(enquiry(&arrival.items[0]).candidate.keys[0].to_string(), "website:submission:6084250982513018472");
    let arrival = asked(setup(), raw(r#"{"id":"lead_77","is_test":true}"#, &[])).await;
    assert_eq!(aside(&arrival.items[0]).0, Verdict::Test);
}

#[tokio::test]
async fn c014_one_unreadable_item_does_not_spoil_the_others() {
    let body = format!(r#"[{LEAD},"x",{{"id":"lead_78","message":"4 tables"}},{{"message":"y","at":"soon"}}]"#);
    let arrival = asked(batch(), raw(&body, &[])).await;
    assert_eq!(arrival.items.len(), 4);
    assert_eq!(enquiry(&arrival.items[0]).candidate.keys[0].to_string(), "website:submission:lead_77");
    assert_eq!(aside(&arrival.items[1]), (Verdict::Quarantined, "the item is no object"));
    assert_eq!(enquiry(&arrival.items[2]).candidate.keys[0].to_string(), "website:submission:lead_78");
    assert!(aside(&arrival.items[3]).1.contains("the event time at /at"));
    assert_ne!(enquiry(&arrival.items[0]).run, enquiry(&arrival.items[2]).run);
}

#[tokio::test]
async fn an_empty_batch_is_ignored_and_an_endless_one_is_kept_whole() {
    let arrival = asked(batch(), raw("[]", &[])).await;
    assert_eq!(aside(&arrival.items[0]).0, Verdict::Ignored);
    let arrival = asked(batch(), raw(&format!("[{}0]", "0,".repeat(1000)), &[])).await;
    assert_eq!((arrival.items.len(), aside(&arrival.items[0]).0), (1, Verdict::Quarantined));
}

#[tokio::test]
async fn a_renamed_source_is_reached_under_its_id_too() {
    let (intake, _) = intake_at(SourceSetup { id: "old".to_owned(), ..setup() }, None, NOW);
    assert!(intake.source("website").is_some() && intake.source("old").is_some());
    assert_eq!(Arc::new(intake).deliver("none", raw(LEAD, &[])).await.unwrap_err(), Refusal::UnknownSource);
}

#[tokio::test]
async fn an_unauthentic_delivery_is_kept_in_the_ring_and_refused_even_if_that_fails() {
    let auth = Auth::Basic { user: "lead".to_owned(), passwords: vec![Secret::new("hush")] };
    let (intake, book) = intake_at(SourceSetup { auth, ..setup() }, None, NOW);
    let refusal = Arc::new(intake).deliver("website", raw(LEAD, &[("webhook-id", "msg_1")])).await.unwrap_err();
    assert!(matches!(refusal, Refusal::NotAuthentic { challenge: Some(_), .. }));
    let (kept, body) = book.refused.lock().unwrap().pop().unwrap();
    assert_eq!((kept.verdict, kept.request_id.as_deref()), (Verdict::Refused, Some("msg_1")));
    assert_eq!(kept.reason.as_deref(), Some("there is no `authorization` header"));
    assert_eq!((kept.body, body.bytes.as_slice()), (body.digest(), LEAD.as_bytes()));
    assert!(book.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn attachments_are_bounded_for_an_enquiry_and_for_all_of_a_body() {
    let mut source = batch();
    source.map.insert("attachments".to_owned(), vec![Place::parse("/files").unwrap()]);
    let files = vec![r#""data:text/plain;base64,aGk=""#; 60].join(",");
    let items: Vec<_> = (0..6).map(|n| format!(r#"{{"id":"{n}","message":"hi","files":[{files}]}}"#)).collect();
    let arrival = asked(source, raw(&format!("[{}]", items.join(",")), &[])).await;
    let told = |item| {
        let Proposal { fields, notes, .. } = enquiry(item);
        (fields.attachments.len(), notes.iter().find(|note| note.field == "attachments").map(|note| note.how.clone()))
    };
    let more = |count: usize| Some(format!("{count} more than are listed: the raw body has them"));
    let listed: Vec<_> = arrival.items.iter().map(told).collect();
    assert_eq!(listed, [50, 50, 50, 50, 0, 0].map(|listed| (listed, more(60 - listed))));
    assert_eq!(arrival.files.len(), 200);
    assert!(arrival.items.iter().all(|item| enquiry(item).candidate.keys.len() == 1));
}
