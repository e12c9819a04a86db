//! Every kind has its sentence, and a sentence says what its facts say.

use serde_json::json;

use super::*;

/// Every kind that the store, the engine and the evidence write.
const KINDS: [&str; 40] = [
    "delivery.received",
    "enquiry.normalised",
    "enquiry.qualified",
    "enquiry.not_qualified",
    "enquiry.settled",
    "enquiry.revised",
    "enquiry.merged",
    "enquiry.separated",
    "run.began",
    "review.opened",
    "review.decided",
    "review.closed",
    "target.paused",
    "target.resumed",
    "stream.began",
    "blob.erased",
    "effect.planned",
    "effect.waiting",
    "effect.held",
    "effect.skipped",
    "effect.released",
    "effect.dismissed",
    "effect.decided",
    "effect.postponed",
    "effect.intended",
    "effect.given_up",
    "effect.lost",
    "effect.not_sent",
    "effect.refused",
    "effect.exists_already",
    "effect.answered",
    "effect.unknown",
    "effect.found",
    "effect.absent",
    "effect.look_failed",
    "effect.verified",
    "effect.mismatched",
    "effect.read_gone",
    "effect.read_failed",
    "effect.late_answer",
];

fn facts(value: serde_json::Value) -> Facts {
    serde_json::from_value(value).unwrap()
}

#[test]
fn every_kind_has_a_sentence() {
    for kind in KINDS {
        let said = says(kind, &Facts::new());
        assert!(said != kind && said.ends_with('.') && said.contains(' '), "{kind}: {said}");
    }
}

#[test]
fn a_kind_that_nobody_knows_is_told_as_it_is() {
    for kind in ["rule.accepted", "effect.vanished", "review.lost", "enquiry.eaten", "plain"] {
        assert_eq!(says(kind, &Facts::new()), kind);
    }
}

#[test]
fn a_suppression_names_the_first_delivery_and_its_run() {
    let facts = facts(json!({
        "delivery": "dlv_2", "source": "website", "verdict": "redelivery", "duplicate_suppressed": true, "weak": false,
        "first_delivery": "dlv_1", "first_run": "run_1",
    }));
    assert_eq!(
        says("delivery.received", &facts),
        "Delivery dlv_2 from website brought a known event again: suppressed as a duplicate of dlv_1 (run run_1)."
    );
}

#[test]
fn a_copy_of_what_is_held_is_not_said_to_be_carried_out() {
    let facts = facts(json!({
        "delivery": "dlv_3", "source": "website", "verdict": "redelivery", "duplicate_suppressed": true, "weak": false,
        "key": "website:submission:77~2", "first_delivery": "dlv_2", "first_run": "run_2",
    }));
    let said = says("delivery.received", &facts);
    assert!(said.contains("duplicate of dlv_2") && !said.contains("carried out"), "{said}");
}

#[test]
fn a_replay_is_looked_at_again_and_moves_from_nowhere_to_nowhere() {
    let of = |from: &str, phase: &str| {
        says("effect.decided", &facts(json!({"action": "deal", "target": "crm", "step": "record", "from": from, "phase": phase})))
    };
    assert_eq!(of("verified", "verified"), "'deal' on crm: the record is looked at again, as a person asked.");
    assert_eq!(of("review", "unknown"), "'deal' on crm: a person decided about the record: from review to unknown.");
}

#[test]
fn an_unknown_outcome_and_its_proof_read_as_a_story() {
    let of = |more: serde_json::Value| {
        let mut all = json!({"action": "deal", "target": "crm", "step": "record", "attempt": 1});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        facts(all)
    };
    assert_eq!(
        says("effect.unknown", &of(json!({"why": "no answer in 5 s"}))),
        "'deal' on crm: attempt 1 at the record got no answer that proves anything, so its outcome is unknown: no answer in 5 s."
    );
    assert_eq!(
        says("effect.found", &of(json!({"external_id": "d-7", "phase": "done"}))),
        "'deal' on crm: a look-up found the record d-7 with our key; nothing is sent again."
    );
    assert!(says("effect.absent", &of(json!({"phase": "unknown"}))).contains("proves nothing yet"));
    assert!(says("effect.absent", &of(json!({"phase": "planned"}))).contains("proved that no record"));
    assert!(says("effect.verified", &of(json!({"ignored": "x"}))).ends_with("It changed nothing: x."));
}

#[test]
fn a_try_says_what_it_came_to_and_what_follows() {
    let failed = json!({"attempt": 2, "qualifier": "openai/local", "why": "the model declined", "next_try": "2026-03-02T09:15:07.000Z"});
    let said = says("enquiry.not_qualified", &facts(failed));
    assert_eq!(said, "Try 2 of openai/local gave no result: the model declined. The next try is at 2026-03-02T09:15:07.000Z.");
    let last = json!({"attempt": 3, "qualifier": "openai/local", "why": "the answer is empty"});
    let said = says("enquiry.not_qualified", &facts(last));
    assert_eq!(said, "Try 3 of openai/local gave no result: the answer is empty. It was the last: it goes on without.");
    let result = |more: serde_json::Value| {
        let mut all =
            json!({"qualifier": "openai/local", "request_type": "quote", "qualified": true, "confidence_percent": 82, "uncertain": false});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        says("enquiry.qualified", &facts(all))
    };
    let begin = "openai/local called it quote, worth a follow-up, with 82 % confidence";
    assert_eq!(result(json!({"arrival_to_result_ms": 850})), format!("{begin}, 850 ms after the arrival."));
    let again = result(json!({"run_to_result_ms": 9, "kept": true}));
    assert_eq!(again, format!("{begin}, 9 ms after the run began. It is kept as the latest result."));
    let again = result(json!({"run_to_result_ms": 9, "kept": false, "suspect": "its text speaks to the model"}));
    let end = "A person should look: its text speaks to the model. The earlier result stays.";
    assert_eq!(again, format!("{begin}, 9 ms after the run began. {end}"));
}

#[test]
fn what_was_mended_in_a_body_is_said_with_its_arrival() {
    let facts = Facts::new().with("delivery", "dlv_1").with("source", "web").with("verdict", "accepted").with("key", "k");
    let said = |facts: Facts| says("delivery.received", &facts);
    assert!(!said(facts.clone()).contains("mended"));
    let told = said(facts.with("repairs", json!({"lone_surrogate": 1, "nul": 2})));
    assert!(told.ends_with("It was mended to be read: 1 lone surrogate, 2 nul."), "{told}");
}
