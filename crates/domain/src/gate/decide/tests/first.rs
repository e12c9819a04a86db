//! The look before a first write: another copy of this book may have written under the key already (I7).

use super::*;

fn other() -> StreamId {
    StreamId::of(&crate::digest::Digest::sha256(b"another process"))
}

const LOOKING: [Find; 4] = [UPSERT_LOOKS, WINDOW_LOOKS, Find::Strong, LAGGING];

#[test]
fn i7_a_target_that_can_be_asked_is_asked_before_the_first_write_and_what_stands_is_adopted() {
    for class in LOOKING {
        let mut case = Case::fresh(find(class));
        assert_eq!(case.see(&begin()), Next::LookUp, "{class:?}");
        assert_eq!((case.see(&found(&["r7"])), case.phase()), (Next::ReadBack, "done"), "{class:?}");
        assert!(case.step.stood_before && case.step.attempts.is_empty(), "{class:?}");
    }
}

#[test]
fn nothing_found_leads_straight_to_the_intent_and_is_asked_once_in_a_process() {
    for class in LOOKING {
        let mut case = Case::fresh(find(class));
        case.see(&begin());
        assert_eq!((case.see(&absent(0)), case.due()), (Next::Wait, 0), "{class:?}");
        assert_eq!(case.see(&begin()), Next::Send, "{class:?}");
        // A try that never left needs no other look; in another process it does.
        case.see(&not_sent());
        case.at(10_000);
        let by_other = Observation::Begin { fence: 2, process: other() };
        let Moved::To(step, next) = decide(&case.step, &by_other, &case.rules, ms(10_000), 0) else { panic!("ignored") };
        assert_eq!((step.phase.as_str(), next), ("planned", Next::LookUp), "{class:?}");
        assert_eq!(case.see(&begin()), Next::Send, "{class:?}");
    }
}

#[test]
fn a_target_that_refuses_a_second_record_or_cannot_be_asked_is_not_asked_first() {
    for class in [Find::Unique, UPSERT, PROVIDER_WINDOW, Find::None] {
        assert_eq!(Case::fresh(find(class)).see(&begin()), Next::Send, "{class:?}");
    }
    // Its conflict at the first attempt says the same as a record that is found first.
    let mut case = Case::intended(find(Find::Unique));
    case.see(&Observation::Conflict);
    case.see(&found(&["r1"]));
    assert!(case.step.stood_before);
    let mut case = Case::unknown(find(Find::Unique));
    case.see(&found(&["r1"]));
    assert!(!case.step.stood_before, "it may be of the attempt whose answer was lost");
}

#[test]
fn a_first_look_without_an_answer_leaves_the_step_planned_until_patience_ends() {
    let mut case = Case::fresh(RULES);
    for n in 1..40_u32 {
        case.at(case.due());
        assert_eq!(case.see(&begin()), Next::LookUp);
        assert_eq!((case.see(&unanswered()), case.phase(), case.step.looks_failed), (Next::Wait, "planned", n));
    }
    assert!(case.due() - case.now >= RULES.backoff.max_ms / 2, "the waits grow");
    case.see(&Observation::LookUnanswered { retry_after_ms: Some(99_000) });
    assert_eq!(case.due(), case.now + 99_000, "the target's own wait is kept");
    case.at(RULES.give_up_ms + 1);
    case.see(&unanswered());
    assert_eq!(case.why(), Some(Why::GaveUp));
}

#[test]
fn a_first_look_whose_answers_prove_nothing_goes_to_a_person() {
    let mut case = Case::fresh(RULES);
    for _ in 1..BLIND_LOOKS_MAX {
        assert_eq!((case.see(&Observation::LookFailed), case.phase()), (Next::Wait, "planned"));
    }
    case.see(&Observation::LookFailed);
    assert_eq!(case.why(), Some(Why::CannotTell));
}

#[test]
fn an_outage_of_the_look_up_uses_up_nothing_of_an_unknown_step() {
    let mut case = Case::unknown(RULES);
    for _ in 0..BLIND_LOOKS_MAX * 3 {
        case.at(case.due());
        case.see(&unanswered());
        assert_eq!(case.phase(), "unknown");
    }
    case.at(case.due()).see(&found(&["r1"]));
    assert_eq!(case.phase(), "done");
}

#[test]
fn i7_after_a_restore_nothing_counts_as_absent_before_a_former_selfs_last_write_shows() {
    for (class, wait) in [(Find::Strong, SETTLE), (LAGGING, SETTLE + LAG), (UPSERT_LOOKS, 0)] {
        let restored = Rules { restored_at: Some(ms(50)), ..find(class) };
        let mut case = Case::fresh(restored);
        case.at(60).see(&begin());
        if wait > 0 {
            assert_eq!((case.see(&absent(49 + wait)), case.due()), (Next::Wait, 50 + wait), "{class:?}");
            assert_eq!(case.at(50 + wait).see(&begin()), Next::LookUp, "{class:?}");
        }
        case.see(&absent(50 + wait));
        assert_eq!(case.see(&begin()), Next::Send, "{class:?}");
    }
    // An attempt that was unknown in the copy may have been followed by others.
    let mut case = Case::unknown(RULES);
    case.rules.restored_at = Some(ms(500_000));
    case.at(500_001).see(&absent(500_001));
    assert_eq!((case.phase(), case.outcomes()), ("unknown", vec![&Attempted::Open]));
}
