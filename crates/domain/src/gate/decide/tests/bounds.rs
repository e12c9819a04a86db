//! Bounds: how many attempts, how long without one, and what a try that never left counts for.

use super::*;

#[test]
fn an_intent_names_its_attempt_deadline_fence_and_process() {
    let case = Case::intended(RULES);
    let Observation::Begin { process, .. } = begin() else { panic!("begin begins") };
    let expected = Attempt { n: 1, begun_at: ms(0), deadline: ms(TIMEOUT), fence: 1, process, outcome: Attempted::Open };
    assert_eq!(case.step.attempts, [expected]);
    assert_eq!(case.due(), 0, "should its lease run out, it is taken up at once");
    case.ignores(&begin());
}

#[test]
fn as_many_attempts_as_are_allowed_may_reach_the_target_then_a_person_is_asked() {
    for rules in [find(UPSERT), none(Policy::AtLeastOnce)] {
        let mut case = Case::planned(rules);
        for n in 1..=rules.attempts_max {
            assert_eq!(case.at(case.due()).see(&begin()), Next::Send);
            assert_eq!(case.step.latest(), n);
            case.see(&Observation::NoAnswer);
        }
        assert_eq!(case.at(case.due()).see(&begin()), Next::Person);
        assert_eq!((case.why(), case.step.latest()), (Some(Why::AttemptsSpent), rules.attempts_max));
    }
}

#[test]
fn attempts_proved_absent_use_up_the_bound() {
    let mut case = Case::planned(RULES);
    for n in 0..i64::from(RULES.attempts_max) {
        case.at(n * QUIET).see(&begin());
        case.see(&Observation::NoAnswer);
        case.at((n + 1) * QUIET).see(&absent((n + 1) * QUIET));
    }
    assert_eq!(case.see(&begin()), Next::Person);
    assert_eq!(case.why(), Some(Why::AttemptsSpent));
}

#[test]
fn tries_that_never_left_neither_pile_up_nor_use_up_the_bound() {
    let mut case = Case::planned(RULES);
    for n in 1..=500 {
        assert_eq!(case.see(&begin()), Next::Send);
        assert_eq!((case.step.latest(), case.step.attempts.len()), (n, 1), "numbers go on, records do not pile up");
        case.see(&not_sent());
    }
    case.see(&begin());
    assert_eq!(case.see(&applied("r1")), Next::ReadBack);
}

#[test]
fn tries_that_never_left_do_not_displace_those_that_may_have() {
    let mut case = Case::unknown(find(UPSERT));
    for _ in 0..20 {
        assert_eq!(case.see(&begin()), Next::Send);
        case.see(&not_sent());
    }
    assert_eq!(case.outcomes(), [&Attempted::Open, &Attempted::NotSent]);
    assert_eq!(case.step.attempts.iter().map(|a| a.n).collect::<Vec<_>>(), [1, 21]);
}

#[test]
fn a_try_that_never_left_is_due_after_the_backoff_or_what_the_target_asked_for() {
    let mut case = Case::intended(RULES);
    case.see(&not_sent());
    assert!((500..=1_000).contains(&case.due()));
    let mut told = Case::intended(RULES);
    told.at(7).see(&Observation::NotSent { retry_after_ms: Some(90_000) });
    assert_eq!(told.due(), 90_007);
}

#[test]
fn i10_what_was_never_sent_is_given_to_a_person_after_the_configured_patience() {
    let patience = RULES.give_up_ms;
    let mut case = Case::intended(RULES);
    case.see(&not_sent());
    let mut over = Case { rules: RULES, step: case.step.clone(), now: 0 };
    assert_eq!(case.at(patience).see(&begin()), Next::Send, "to the ms");
    assert_eq!(over.at(patience + 1).see(&begin()), Next::Person);
    assert_eq!(over.why(), Some(Why::GaveUp));
    assert_eq!(over.see(&Observation::Again), Next::Wait);
    assert_eq!(over.see(&begin()), Next::Send, "patience begins anew when a person says again");
}

#[test]
fn patience_is_for_what_was_never_sent() {
    let mut case = Case::unknown(RULES);
    let later = 2 * RULES.give_up_ms;
    case.at(later).see(&absent(later));
    assert_eq!(case.see(&begin()), Next::Send);
}
