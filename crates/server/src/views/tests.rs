//! Views of hand-made records.

use domain::enquiry::{Enquiry, Fields, Flags, Standing};
use domain::gate::{Attempt, Attempted, Door, Effect, Phase, Step, StepKind, Why};
use domain::identity::{Basis, Key};
use domain::ids::{DeliveryId, EnquiryId, ReviewId, RunId, StreamId};
use domain::time::UtcMs;
use evidence::{Blob, Draft, Entry, Facts, Head, seal};
use serde_json::{Value, json};
use store::{Arrived, Dossier, Review, ReviewKind, Verdict};

use super::fixture::{Book, NOW, delivery};
use super::*;

fn key() -> Key {
    Key::new("website", Basis::Submission, vec!["lead_77".to_owned()])
}

fn enquiry() -> Enquiry {
    let mut fields = Fields::default();
    fields.set("contact.email", " Avery@Example.com ");
    fields.set("budget", "500");
    Enquiry {
        id: key().enquiry_id(),
        key: key(),
        standing: Standing::Working,
        client: None,
        first_delivery: DeliveryId::parse("dlv_1").unwrap(),
        first_run: RunId::parse("run_1").unwrap(),
        run: RunId::parse("run_2").unwrap(),
        accepted_at: NOW,
        contents: Vec::new(),
        fields: Some(fields),
        flags: Flags { look_alike_of: EnquiryId::parse("enq_0"), hold: true, ..Flags::default() },
        qualification: None,
        qualifying: domain::enquiry::Qualifying::default(),
        qualified_at: Some(NOW.plus(850)),
        settled_at: None,
    }
}

fn effect(phase: Phase) -> Effect {
    let mut effect = Effect::planned(&key(), "deal", "crm", 0, &[StepKind::Record], NOW);
    let process = StreamId::parse("str_1").unwrap();
    let outcome = Attempted::Open;
    effect.steps[0].attempts.push(Attempt { n: 1, begun_at: NOW, deadline: NOW.plus(5_000), fence: 3, process, outcome });
    effect.steps[0].quiet_until = NOW.plus(45_000);
    effect.steps[0].phase = phase;
    effect
}

fn review(kind: ReviewKind, effect: Option<&Effect>) -> Review {
    Review {
        id: ReviewId::parse("rev_1").unwrap(),
        enquiry: key().enquiry_id(),
        effect: effect.map(|effect| effect.id.clone()),
        kind,
        holds: true,
        why: "why".to_owned(),
        attempt: 1,
        opened_at: NOW,
        closed_at: None,
        decision: None,
    }
}

fn json_of(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[test]
fn an_enquiry_is_told_in_designs_words() {
    let value = json_of(EnquiryView::of(&enquiry()));
    assert_eq!(value["key"], "website:submission:lead_77");
    assert_eq!(value["state"], "working");
    assert_eq!(value["accepted_at"], "2026-03-02T09:15:04.120Z");
    assert_eq!(value["contact"]["email"], "avery@example.com");
    assert_eq!(value["original"]["contact.email"], " Avery@Example.com ");
    assert_eq!(value["other"]["budget"], "500");
    assert_eq!(value["arrival_to_result_ms"], 850);
    assert_eq!(value["flags"]["look_alike_of"], "enq_0");
    assert_eq!(value["flags"]["held"], true);
    assert_eq!(value["qualification"], Value::Null);
}

#[test]
fn an_erased_enquiry_says_so() {
    let view = EnquiryView::of(&Enquiry { fields: None, ..enquiry() });
    assert!(view.erased && view.message.is_none() && view.key == "website:submission:lead_77");
}

#[test]
fn a_suppressed_delivery_names_what_it_was_suppressed_for_and_others_do_not() {
    let body = Blob { nonce: [1; 32], bytes: b"{}".to_vec() };
    let fresh = store::Delivery {
        verdict: Verdict::Accepted,
        first_run: RunId::parse("run_1"),
        ..delivery(DeliveryId::parse("dlv_1").unwrap(), "website", &body)
    };
    let value = json_of(DeliveryView::of(&fresh));
    assert_eq!((&value["duplicate_suppressed"], value.get("first_run")), (&json!(false), None));
    let again = store::Delivery {
        verdict: Verdict::Redelivery,
        duplicate_suppressed: true,
        first_delivery: DeliveryId::parse("dlv_0"),
        first_at: Some(NOW.plus(-60_000)),
        ..fresh
    };
    let value = json_of(DeliveryView::of(&again));
    assert_eq!(value["duplicate_suppressed"], true);
    assert_eq!(value["first_run"], "run_1");
    assert_eq!(value["first_delivery"], "dlv_0");
    assert_eq!(value["first_at"], "2026-03-02T09:14:04.120Z");
    assert_eq!(value["attempted_at"], value["arrived_at"]);
}

#[test]
fn a_body_that_is_no_text_is_told_in_base64() {
    let of = |body: &[u8]| {
        let body = Blob { nonce: [0; 32], bytes: body.to_vec() };
        json_of(ArrivalView::of("dlv_1", Arrived { items: Vec::new(), body: Some(body) }))["body"].clone()
    };
    assert_eq!(of(b"{}"), json!({"encoding": "text", "value": "{}"}));
    assert_eq!(of(&[0xff]), json!({"encoding": "base64", "value": "/w=="}));
}

#[test]
fn an_effect_says_where_it_stands_and_why() {
    let states = [
        (Phase::Planned { due: NOW }, "planned", false),
        (Phase::Unknown { due: NOW, looks: 0, absences: 0, blind: 0 }, "unknown", true),
        (Phase::Verified { id: "d-7".to_owned(), audit_due: None }, "verified", false),
        (Phase::Unverified { id: "d-7".to_owned() }, "unverified", true),
        (Phase::Refused { why: "no".to_owned() }, "refused", true),
        (Phase::Doubled { ids: vec!["d-7".to_owned(), "d-8".to_owned()] }, "doubled", true),
        (Phase::AtMostOnce, "at_most_once", true),
    ];
    for (phase, state, has_reason) in states {
        let view = EffectView::of(&effect(phase));
        assert_eq!((view.state, view.why.is_some()), (state, has_reason), "{view:?}");
        assert!(EFFECT_STATES.contains(&view.state));
    }
    let mut held = effect(Phase::Planned { due: NOW });
    held.door = Door::Held { why: "look-alike".to_owned(), by: [domain::gate::Hold::LookAlike].into() };
    let value = json_of(EffectView::of(&held));
    assert_eq!((&value["state"], &value["why"], &value["due"]), (&json!("held"), &json!("look-alike"), &Value::Null));
    assert_eq!(value["steps"][0]["attempts"][0]["outcome"], "open");
    assert_eq!(value["steps"][0]["attempts"][0]["fence"], 3);
    assert_eq!(value["steps"][0]["quiet_until"], "2026-03-02T09:15:49.120Z");
}

fn offered(review: &Review, effect: Option<&Effect>) -> Vec<&'static str> {
    ReviewView::of(review, effect, NOW).decisions.iter().map(|fitting| fitting.decision).collect()
}

#[test]
fn only_decisions_that_fit_are_offered() {
    assert_eq!(offered(&review(ReviewKind::Conflict, None), None), ["same", "separate"]);
    assert_eq!(offered(&review(ReviewKind::LookAlike, None), None), ["approve", "dismiss"]);
    let of = |phase: Phase| {
        let effect = effect(phase);
        offered(&review(ReviewKind::Effect, Some(&effect)), Some(&effect))
    };
    assert_eq!(of(Phase::Review { why: Why::CannotAsk }), ["not_there", "it_is", "dismiss"]);
    assert_eq!(of(Phase::Review { why: Why::CannotTell }), ["again", "not_there", "it_is", "dismiss"]);
    assert_eq!(of(Phase::Mismatched { id: "d".to_owned(), what: "title".to_owned() }), ["again", "approve", "it_is", "dismiss"]);
    assert_eq!(of(Phase::Verified { id: "d".to_owned(), audit_due: None }), [""; 0]);
}

#[test]
fn not_there_waits_and_is_bound_to_the_attempt_that_was_seen() {
    let effect = effect(Phase::Review { why: Why::CannotAsk });
    let mut item = review(ReviewKind::Effect, Some(&effect));
    let fits = ReviewView::of(&item, [&effect], NOW).decisions;
    assert_eq!(fits[0], Fitting { decision: "not_there", not_before: Some(At(NOW.plus(45_000))) });
    item.attempt = 0;
    assert_eq!(offered(&item, Some(&effect)), ["it_is", "dismiss"], "a newer attempt was made");
}

#[test]
fn a_closed_item_offers_nothing_and_keeps_its_age() {
    let item = Review { closed_at: Some(NOW.plus(90_000)), ..review(ReviewKind::Conflict, None) };
    let view = ReviewView::of(&item, [], NOW.plus(1_000_000));
    assert_eq!((view.age_s, view.decisions.len()), (90, 0));
    assert_eq!(ReviewView::of(&review(ReviewKind::Conflict, None), [], NOW.plus(5_500)).age_s, 5);
}

fn entries(of: &Effect, kinds: &[(&str, &str, &str)]) -> Vec<Entry> {
    let mut head = Head::genesis(StreamId::parse("str_1").unwrap());
    let sealed = (1..).zip(kinds).map(|(n, (kind, step, phase))| {
        let facts = Facts::new().with("effect", of.id.as_str()).with("step", *step).with("phase", *phase);
        let (enquiry, kind) = (Some(key().enquiry_id()), (*kind).to_owned());
        let draft = Draft { at: NOW.plus(n * 100), enquiry, kind, actor: "engine".to_owned(), facts, blobs: Vec::new() };
        let (entry, next) = seal(&head, draft);
        head = next;
        entry
    });
    sealed.collect()
}

#[test]
fn arrival_to_record_counts_the_record_and_not_its_contact() {
    let mut effect = effect(Phase::Verified { id: "d".to_owned(), audit_due: None });
    effect.steps.insert(0, Step::planned(StepKind::Contact, UtcMs(0)));
    let story = [
        ("effect.answered", "contact", "done"),
        ("effect.answered", "record", "doubled"),
        ("effect.found", "record", "done"),
        ("effect.verified", "record", "verified"),
    ];
    let entries = entries(&effect, &story);
    let dossier =
        Dossier { enquiry: enquiry(), version: 1, effects: vec![(effect, 1)], deliveries: Vec::new(), reviews: Vec::new(), entries };
    let view = DossierView::of(&dossier, NOW);
    assert_eq!((view.arrival_to_result_ms, view.arrival_to_record_ms), (Some(850), Some(300)));
    assert_eq!(view.timeline.len(), 4);
    let none = DossierView::of(&Dossier { entries: Vec::new(), ..dossier }, NOW);
    assert_eq!(none.arrival_to_record_ms, None);
}

#[test]
fn a_target_is_open_unless_the_book_says_otherwise() {
    let setup = TargetSetup { name: "crm".to_owned(), kind: "http".to_owned(), mode: "live".to_owned() };
    assert_eq!(json_of(TargetView::of(&setup, &[]))["state"], "open");
    let known = [store::TargetState { name: "crm".to_owned(), paused: Some((NOW, "401".to_owned())) }];
    let value = json_of(TargetView::of(&setup, &known));
    assert_eq!(
        (&value["state"], &value["why"], &value["paused_at"]),
        (&json!("paused"), &json!("401"), &json!("2026-03-02T09:15:04.120Z"))
    );
}

#[tokio::test]
async fn a_target_that_is_configured_no_more_is_told_of_while_something_waits_for_it() {
    let book = Book::open();
    let state =
        |name: &str, paused: Option<&str>| store::TargetState { name: name.to_owned(), paused: paused.map(|why| (NOW, why.to_owned())) };
    let targets = vec![state("crm", None), state("old", Some("it is not configured")), state("older", None)];
    book.store.commit(store::Step { at: NOW, targets, ..store::Step::default() }).await.unwrap();
    let setup = TargetSetup { name: "crm".to_owned(), kind: "http".to_owned(), mode: "live".to_owned() };
    let listed = Reader::new(std::sync::Arc::clone(&book.store)).targets(&[setup]).await.unwrap();
    let told: Vec<_> = listed.iter().map(|target| (target.name.as_str(), target.kind.as_str(), target.state)).collect();
    assert_eq!(told, [("crm", "http", "open"), ("old", "unconfigured", "paused")]);
}

#[test]
fn who_acts_is_a_name_and_never_an_address_or_the_engine() {
    let open = Viewer::default();
    assert_eq!(open.acting_as(None).as_deref(), Ok("operator"));
    assert_eq!(open.acting_as(Some(" anna ")).as_deref(), Ok("anna"));
    let token = Viewer { token: Some("ops".to_owned()), client: None };
    assert_eq!(token.acting_as(Some("")).as_deref(), Ok("ops"));
    assert_eq!(token.acting_as(Some("anna")).as_deref(), Ok("anna via ops"));
    let long = "x".repeat(65);
    for wrong in ["anna@example.com", "engine", "a\nb", long.as_str()] {
        assert_eq!(open.acting_as(Some(wrong)), Err(NotAName), "{wrong}");
    }
}

#[tokio::test]
async fn open_items_are_counted_and_the_oldest_come_first() {
    let book = Book::open();
    for n in 0..4 {
        book.deliver("website", &format!("s{n}"), "Avery", "one").await;
        book.deliver("website", &format!("s{n}"), "Avery", "other").await;
    }
    let reader = Reader::new(std::sync::Arc::clone(&book.store));
    let open = reader.open_items(2, NOW).await.unwrap();
    assert_eq!((open.count, open.oldest.len()), (4, 2));
    let listed = reader.reviews(&Query { limit: 10, ..Query::default() }, NOW).await.unwrap().items;
    assert_eq!(open.oldest, [listed[3].clone(), listed[2].clone()]);
}

#[tokio::test]
async fn what_was_set_aside_is_counted_until_it_comes_again() {
    let book = Book::open();
    let reader = Reader::new(std::sync::Arc::clone(&book.store));
    assert_eq!(reader.set_aside().await.unwrap(), SetAside::default());
    let broken = book.quarantine("website", b"one").await;
    book.quarantine("website", b"two").await;
    let strange = book.refuse("website", b"three").await;
    let found = reader.set_aside().await.unwrap();
    assert_eq!(
        (found.quarantined, found.refused, found.says()),
        (2, 1, "2 deliveries quarantined, 1 delivery refused as not authentic".into())
    );
    assert!(found.came_again.is_empty() && !found.is_empty());
    // Read again under a mended rule: the same body, a new delivery. From another source it is another thing.
    book.deliver("ads", "s1", "Avery", "one").await;
    let again = book.deliver("website", "s1", "Avery", "one").await.id.to_string();
    let let_in = book.deliver("website", "s2", "Avery", "three").await.id.to_string();
    let found = reader.set_aside().await.unwrap();
    assert_eq!((found.quarantined, found.refused), (1, 0));
    assert_eq!((found.came_again.get(&broken), found.came_again.get(&strange)), (Some(&again), Some(&let_in)));
}
