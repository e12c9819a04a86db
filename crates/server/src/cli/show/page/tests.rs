//! Pages from hand-made views.

use domain::digest::Digest;
use domain::ids::DeliveryId;
use domain::time::UtcMs;
use store::{Delivery, Verdict};

use super::*;
use crate::views::{At, AttemptView};

const AT: UtcMs = UtcMs(1_772_442_904_120);

fn delivery(verdict: Verdict) -> Delivery {
    Delivery {
        id: DeliveryId::parse("dlv_2").unwrap(),
        item: 0,
        source: "website".to_owned(),
        at: AT,
        remote: None,
        request_id: None,
        attempt: None,
        content_type: None,
        content_encoding: None,
        header_digest: Digest::ZERO,
        body_sha256: Digest::ZERO,
        body: Digest::ZERO,
        body_len: 2,
        repairs: std::collections::BTreeMap::new(),
        verdict,
        reason: None,
        enquiry: None,
        key: None,
        duplicate_suppressed: false,
        weak: false,
        first_run: None,
        first_delivery: None,
        first_at: None,
    }
}

fn attempt(n: u32, outcome: &'static str) -> AttemptView {
    let at = At(AT.plus(i64::from(n) * 1000));
    AttemptView { attempt: n, begun_at: at, deadline: at, fence: 1, process: "str_1".to_owned(), outcome, external_id: None }
}

fn effect(attempts: Vec<AttemptView>) -> EffectView {
    EffectView {
        id: "eff_1".to_owned(),
        enquiry: "enq_1".to_owned(),
        action: "deal".to_owned(),
        target: "crm".to_owned(),
        ordinal: 0,
        key: "web:submission:1".to_owned(),
        state: "verified",
        why: None,
        external_id: Some("deal-7".to_owned()),
        due: None,
        after: Vec::new(),
        steps: vec![StepView {
            step: "record",
            phase: "verified",
            why: None,
            external_id: Some("deal-7".to_owned()),
            attempts,
            quiet_until: At(AT),
        }],
    }
}

#[test]
fn every_attempt_is_a_row_and_its_step_is_named_once() {
    let lines = of_effect(&effect(vec![attempt(1, "proved_absent"), attempt(2, "answered")]), "web:submission:1", &[]);
    assert_eq!(lines[0], "  deal in crm: verified as deal-7   eff_1");
    assert_eq!(lines.len(), 5, "{lines:#?}");
    assert!(lines[3].contains("record") && lines[3].contains("09:15:05.120") && lines[3].contains("proved-absent"), "{}", lines[3]);
    assert!(!lines[4].contains("record") && lines[4].contains("09:15:06.120") && lines[4].contains("answered"), "{}", lines[4]);
}

#[test]
fn an_effect_that_was_not_begun_says_where_it_stands_and_no_more() {
    let waiting = EffectView {
        state: "waiting",
        why: Some("waits for deal".to_owned()),
        external_id: None,
        key: "web:submission:1#1".to_owned(),
        ordinal: 1,
        ..effect(Vec::new())
    };
    let lines = of_effect(&waiting, "web:submission:1", &[]);
    assert_eq!(lines, ["  deal #1 in crm: waiting   eff_1", "    waits for deal", "    sent under the key web:submission:1#1"]);
}

#[test]
fn an_effect_says_when_it_is_tried_next_or_that_its_target_is_paused() {
    let due = EffectView { state: "planned", external_id: None, due: Some(At(AT)), ..effect(Vec::new()) };
    let target = |state| TargetView {
        name: "crm".to_owned(),
        kind: "http".to_owned(),
        mode: "live".to_owned(),
        state,
        paused_at: None,
        why: Some("moving house".to_owned()),
    };
    let lines = of_effect(&due, "web:submission:1", &[target("open")]);
    assert_eq!(lines[1], "    next try at 2026-03-02 09:15:04.120 UTC");
    let lines = of_effect(&due, "web:submission:1", &[target("paused")]);
    assert_eq!(lines[1..], ["    waits: target crm is paused (moving house)"]);
    let ended = of_effect(&effect(Vec::new()), "web:submission:1", &[target("paused")]);
    assert_eq!(ended.len(), 1, "what has ended waits for nothing: {ended:?}");
}

#[test]
fn a_suppressed_delivery_names_the_first_run_and_how_to_undo_it_where_that_is_possible() {
    let suppressed =
        Delivery { duplicate_suppressed: true, first_run: domain::ids::RunId::parse("run_1"), ..delivery(Verdict::Redelivery) };
    let lines = of_delivery(&DeliveryView::of(&suppressed), "oncebook");
    assert_eq!(
        lines,
        [
            "  dlv_2   2026-03-02 09:15:04.120   redelivery",
            "    duplicate_suppressed: true; first run run_1, attempted 2026-03-02 09:15:04.120"
        ]
    );
    let lines = of_delivery(&DeliveryView::of(&Delivery { weak: true, ..suppressed }), "oncebook");
    assert!(lines[2].ends_with("oncebook review dlv_2 separate"), "{lines:?}");
}

#[test]
fn a_quarantined_delivery_says_why_and_how_to_read_it_again() {
    let kept = Delivery { reason: Some("the body is no JSON".to_owned()), ..delivery(Verdict::Quarantined) };
    let arrival = ArrivalView { id: "dlv_2".to_owned(), items: vec![DeliveryView::of(&kept)], body: None };
    let text = of_arrival(&arrival, "oncebook").join("\n");
    assert!(text.contains("quarantined: the body is no JSON"), "{text}");
    assert!(text.contains("oncebook replay dlv_2"), "{text}");
    assert!(text.contains("2 bytes, not kept any more"), "{text}");
    let ignored = ArrivalView { items: vec![DeliveryView::of(&delivery(Verdict::Ignored))], ..arrival };
    assert!(!of_arrival(&ignored, "oncebook").join("\n").contains("replay"));
}

#[test]
fn what_was_mended_is_shown_with_a_delivery() {
    let repairs = std::collections::BTreeMap::from([("repeated_name".to_owned(), 3)]);
    let view = DeliveryView::of(&Delivery { repairs, ..delivery(Verdict::Accepted) });
    assert_eq!(of_delivery(&view, "oncebook")[1], "    mended to be read: 3 repeated name");
    let arrival = ArrivalView { id: "dlv_2".to_owned(), items: vec![view], body: None };
    assert!(of_arrival(&arrival, "oncebook").contains(&"  mended   3 repeated name".to_owned()));
}
