//! What follows an unknown outcome, class by class (DESIGN section 4, the table of finds).

use super::*;

/// (rules, phase, what comes next) after an outcome that is not known.
const AFTER: [(Rules, &str, Next); 11] = [
    (Rules { find: UPSERT, ..RULES }, "planned", Next::Wait),
    (Rules { find: UPSERT_LOOKS, ..RULES }, "unknown", Next::LookUp),
    (Rules { find: PROVIDER_WINDOW, ..RULES }, "planned", Next::Wait),
    (Rules { find: WINDOW_LOOKS, ..RULES }, "unknown", Next::LookUp),
    (Rules { find: Find::Unique, ..RULES }, "unknown", Next::LookUp),
    (Rules { find: Find::Strong, ..RULES }, "unknown", Next::LookUp),
    (Rules { find: LAGGING, ..RULES }, "unknown", Next::LookUp),
    (Rules { find: Find::None, policy: Policy::Review, ..RULES }, "review", Next::Person),
    (Rules { find: Find::None, policy: Policy::AtLeastOnce, ..RULES }, "planned", Next::Wait),
    (Rules { find: Find::None, policy: Policy::AtMostOnce, ..RULES }, "at_most_once", Next::Ended),
    // A policy is about targets that cannot be asked; one that can is asked.
    (Rules { find: Find::Strong, policy: Policy::AtMostOnce, ..RULES }, "unknown", Next::LookUp),
];

#[test]
fn i6_an_unknown_outcome_is_looked_up_or_sent_again_under_its_key_or_a_persons() {
    for (rules, phase, next) in AFTER {
        for seen in [Observation::NoAnswer, lost(None), lost(Some(5_000))] {
            let mut case = Case::intended(rules);
            assert_eq!(case.at(5_000).see(&seen), next, "{:?} on {seen:?}", rules.find);
            assert_eq!(case.phase(), phase, "{:?} on {seen:?}", rules.find);
            assert_eq!(case.outcomes(), [&Attempted::Open], "it stays open until something is proved");
        }
    }
}

#[test]
fn i6_a_target_that_can_be_asked_is_sent_nothing_before_the_look_up() {
    for class in [UPSERT_LOOKS, WINDOW_LOOKS, Find::Unique, Find::Strong, LAGGING] {
        let mut case = Case::unknown(find(class));
        for now in [0, 1, QUIET, 10 * QUIET] {
            assert_eq!(case.at(now).see(&begin()), Next::LookUp, "{class:?}");
        }
        assert_eq!(case.step.latest(), 1);
    }
}

#[test]
fn a_look_up_is_due_at_once_and_what_it_finds_is_adopted_at_once() {
    for class in [UPSERT_LOOKS, WINDOW_LOOKS, Find::Unique, Find::Strong, LAGGING] {
        let mut case = Case::unknown(find(class));
        assert_eq!(case.due(), 0);
        assert_eq!(case.see(&found(&["r1"])), Next::ReadBack, "{class:?}: before any wait is over");
        assert_eq!((case.phase(), case.step.external_id()), ("done", Some("r1")));
        assert_eq!(case.outcomes(), [&Attempted::Adopted]);
    }
}

#[test]
fn i7_two_found_is_an_alarm_with_both_ids() {
    let mut case = Case::unknown(RULES);
    assert_eq!(case.see(&found(&["r1", "r2"])), Next::Person);
    assert_eq!(case.step.phase, Phase::Doubled { ids: vec!["r1".to_owned(), "r2".to_owned()] });
}

#[test]
fn a_keyed_write_without_a_look_up_goes_again_after_the_backoff_under_a_new_attempt() {
    for class in [UPSERT, PROVIDER_WINDOW] {
        let mut case = Case::unknown(find(class));
        let due = case.due();
        assert!((500..=1_000).contains(&due), "{due}");
        assert_eq!(case.at(due).see(&begin()), Next::Send, "{class:?}");
        assert_eq!(case.outcomes(), [&Attempted::Open, &Attempted::Open]);
    }
}

#[test]
fn a_window_takes_another_attempt_only_while_it_can_still_land_inside() {
    let last = WINDOW - QUIET;
    let mut fits = Case::unknown(find(PROVIDER_WINDOW));
    assert_eq!(fits.at(last).see(&begin()), Next::Send, "deadline + pause + settle end with the window");
    let mut over = Case::unknown(find(PROVIDER_WINDOW));
    assert_eq!(over.at(last + 1).see(&begin()), Next::Person);
    assert_eq!(over.why(), Some(Why::WindowOver));
}

#[test]
fn a_window_counts_from_the_first_attempt_that_may_have_reached_the_provider() {
    let mut case = Case::intended(find(PROVIDER_WINDOW));
    case.see(&not_sent());
    assert_eq!(case.at(50_000).see(&begin()), Next::Send);
    case.see(&Observation::NoAnswer);
    assert_eq!(case.at(60_000).see(&begin()), Next::Send, "a second one, inside");
    case.see(&Observation::NoAnswer);
    let mut over = Case { rules: case.rules, step: case.step.clone(), now: case.now };
    assert_eq!(case.at(50_000 + WINDOW - QUIET).see(&begin()), Next::Send, "the one that was never sent began no window");
    assert_eq!(over.at(50_000 + WINDOW - QUIET + 1).see(&begin()), Next::Person, "the second one did not move it");
}

#[test]
fn a_window_matters_only_while_an_earlier_attempt_is_open() {
    let mut case = Case::intended(find(PROVIDER_WINDOW));
    case.see(&not_sent());
    assert_eq!(case.at(3 * WINDOW).see(&begin()), Next::Send);
}

#[test]
fn at_least_once_sends_again_though_an_attempt_is_open() {
    let mut case = Case::unknown(none(Policy::AtLeastOnce));
    assert_eq!(case.at(case.due()).see(&begin()), Next::Send);
    assert_eq!(case.outcomes(), [&Attempted::Open, &Attempted::Open]);
}

#[test]
fn at_most_once_ends_in_a_state_of_that_name_and_takes_up_only_what_comes_late() {
    let mut case = Case::unknown(none(Policy::AtMostOnce));
    assert_eq!((case.step.due(), case.step.needs_person(), case.step.has_passed()), (None, false, false));
    case.ignores(&begin());
    assert_eq!(case.at(50).see(&late(1, "m1")), Next::ReadBack);
    assert_eq!(case.step.external_id(), Some("m1"));
}

#[test]
fn at_most_once_may_send_after_an_attempt_that_definitely_was_not_sent() {
    let mut case = Case::intended(none(Policy::AtMostOnce));
    case.see(&not_sent());
    assert_eq!(case.at(1_000).see(&begin()), Next::Send);
}

#[test]
fn a_window_that_can_be_asked_waits_like_any_other_before_absent_counts() {
    // The key may be gone by the time that a second write comes: it is no reason to believe an early *absent*.
    let mut case = Case::unknown(find(WINDOW_LOOKS));
    assert_eq!(case.quiet(), QUIET);
    case.at(QUIET - 1).see(&absent(QUIET - 1));
    assert_eq!(case.phase(), "unknown");
    case.at(QUIET).see(&absent(QUIET));
    assert_eq!(case.phase(), "planned");
    assert_eq!(Case::unknown(find(PROVIDER_WINDOW)).quiet(), QUIET, "nor a person's 'not there'");
}

/// A target or policy under which the next attempt needs no look-up, and one under which it does.
const STRICTER: [(Rules, Rules, &str); 4] = [
    (Rules { find: UPSERT, ..RULES }, RULES, "unknown"),
    (Rules { find: PROVIDER_WINDOW, ..RULES }, Rules { find: Find::None, ..RULES }, "review"),
    (Rules { find: Find::None, policy: Policy::AtLeastOnce, ..RULES }, Rules { find: Find::None, ..RULES }, "review"),
    (
        Rules { find: Find::None, policy: Policy::AtLeastOnce, ..RULES },
        Rules { find: Find::None, policy: Policy::AtMostOnce, ..RULES },
        "at_most_once",
    ),
];

#[test]
fn i6_i10_a_declaration_or_policy_made_stricter_while_an_attempt_is_open_is_obeyed() {
    for (before, after, phase) in STRICTER {
        let mut case = Case::unknown(before);
        case.rules = after;
        case.at(1_000).see(&begin());
        assert_eq!(case.phase(), phase, "{:?}", after.find);
        assert_eq!((case.step.latest(), case.quiet()), (1, QUIET), "{:?}: and with its wait", after.find);
    }
}
