//! Answers: an id, a refusal, a conflict, and those that come after their attempt was given up.

use super::*;

#[test]
fn an_answer_with_an_id_is_done_and_read_back() {
    let mut case = Case::intended(RULES);
    assert_eq!(case.see(&applied("r1")), Next::ReadBack);
    assert_eq!((case.phase(), case.step.external_id(), case.due()), ("done", Some("r1"), 0));
    assert_eq!(case.see(&Observation::ReadSame), Next::Ended);
    assert!(case.step.has_passed());
}

#[test]
fn a_refusal_settles_its_own_attempt_and_the_step_if_no_earlier_one_is_open() {
    let mut case = Case::intended(RULES);
    assert_eq!(case.see(&refused()), Next::Person);
    assert_eq!(case.step.phase, Phase::Refused { why: "no such pipeline".to_owned() });
    assert_eq!(case.outcomes(), [&Attempted::Refused]);
    let mut second = Case::unknown(RULES);
    second.at(QUIET).see(&absent(QUIET));
    second.see(&begin());
    assert_eq!(second.see(&refused()), Next::Person, "the first was proved absent");
    assert_eq!(second.outcomes(), [&Attempted::ProvedAbsent, &Attempted::Refused]);
}

#[test]
fn a_refusal_with_an_earlier_attempt_open_says_nothing_about_that_one() {
    for (rules, next) in [(find(UPSERT), Next::Person), (find(PROVIDER_WINDOW), Next::Person), (none(Policy::AtLeastOnce), Next::Person)] {
        let mut case = Case::unknown(rules);
        case.at(1_000).see(&begin());
        assert_eq!(case.see(&refused()), next);
        assert_eq!(case.why(), Some(Why::CannotAsk), "{:?}", rules.find);
        assert_eq!(case.outcomes(), [&Attempted::Open, &Attempted::Refused]);
    }
    let mut looks = Case::unknown(find(UPSERT));
    looks.at(1_000).see(&begin());
    looks.rules = find(UPSERT_LOOKS);
    assert_eq!(looks.see(&refused()), Next::LookUp);
    assert_eq!(looks.phase(), "unknown");
}

#[test]
fn a_conflict_answer_is_looked_up_and_never_taken_as_a_refusal() {
    for class in [UPSERT_LOOKS, WINDOW_LOOKS, Find::Unique, Find::Strong, LAGGING] {
        let mut case = Case::intended(find(class));
        assert_eq!(case.see(&Observation::Conflict), Next::LookUp, "{class:?}");
        assert_eq!(case.outcomes(), [&Attempted::Conflicted]);
        assert!(case.step.attempts[0].is_open(), "whose record it is, is not known");
        assert_eq!(case.see(&found(&["r1"])), Next::ReadBack);
        assert_eq!(case.outcomes(), [&Attempted::Adopted]);
    }
    for rules in [find(UPSERT), find(PROVIDER_WINDOW), none(Policy::Review), none(Policy::AtLeastOnce), none(Policy::AtMostOnce)] {
        let mut case = Case::intended(rules);
        assert_eq!(case.see(&Observation::Conflict), Next::Person, "{:?}", rules.find);
        assert_eq!(case.why(), Some(Why::CannotAsk));
    }
}

#[test]
fn a_conflict_whose_record_is_then_absent_is_an_attempt_that_came_to_nothing() {
    let mut case = Case::intended(find(Find::Unique));
    case.see(&Observation::Conflict);
    case.at(TIMEOUT - 1).see(&absent(TIMEOUT - 1));
    assert_eq!(case.phase(), "unknown");
    case.at(TIMEOUT).see(&absent(TIMEOUT));
    assert_eq!(case.phase(), "planned");
}

#[test]
fn a_late_answer_is_taken_up_wherever_the_record_was_not_known() {
    for (class, wait) in [(Find::Strong, 0), (Find::Strong, QUIET), (LAGGING, 0)] {
        let mut case = Case::unknown(find(class));
        if wait > 0 {
            case.at(wait).see(&absent(wait));
            assert_eq!(case.phase(), "planned");
        }
        assert_eq!(case.see(&late(1, "r1")), Next::ReadBack);
        assert_eq!((case.phase(), case.step.external_id()), ("done", Some("r1")));
        assert_eq!(case.outcomes(), [&Attempted::Answered { id: "r1".to_owned() }]);
    }
    let mut review = Case::unknown(none(Policy::Review));
    assert_eq!(review.see(&late(1, "r1")), Next::ReadBack);
    let mut settled = Case::intended(RULES);
    settled.see(&refused());
    assert_eq!(settled.see(&late(1, "r1")), Next::ReadBack, "an id weighs more than a refusal");
}

/// Attempt 1's absence is proved, attempt 2 is under way.
fn second_under_way() -> Case {
    let mut case = Case::unknown(RULES);
    case.at(QUIET).see(&absent(QUIET));
    case.see(&begin());
    case
}

#[test]
fn a_late_answer_while_a_newer_attempt_is_under_way_is_kept_until_that_one_has_an_outcome() {
    for (seen, next) in [
        (Observation::NoAnswer, Next::ReadBack),
        (lost(None), Next::ReadBack),
        (lost(Some(QUIET)), Next::ReadBack),
        (not_sent(), Next::ReadBack),
        (refused(), Next::ReadBack),
        (applied("r1"), Next::ReadBack),
        (applied("r2"), Next::Person),
    ] {
        let mut case = second_under_way();
        assert_eq!(case.see(&late(1, "r1")), Next::Wait);
        assert_eq!(case.phase(), "intended");
        assert_eq!(case.see(&seen), next, "{seen:?}");
        let expected = if next == Next::Person { "doubled" } else { "done" };
        assert_eq!((case.phase(), case.step.external_id()), (expected, Some("r1")), "{seen:?}");
    }
}

#[test]
fn i7_a_late_answer_after_a_newer_attempts_is_nothing_new_or_an_alarm_with_both_ids() {
    let mut same = second_under_way();
    same.see(&applied("r1"));
    assert_eq!(same.see(&late(1, "r1")), Next::Wait);
    assert_eq!(same.phase(), "done");
    assert_eq!(same.see(&Observation::ReadSame), Next::Ended);
    same.ignores(&late(1, "r1"));
    same.ignores(&late(2, "r1"));
    for read in [false, true] {
        let mut other = second_under_way();
        other.see(&applied("r2"));
        if read {
            other.see(&Observation::ReadSame);
        }
        assert_eq!(other.see(&late(1, "r1")), Next::Person);
        assert_eq!(other.step.phase, Phase::Doubled { ids: vec!["r2".to_owned(), "r1".to_owned()] });
        assert_eq!(other.see(&late(2, "r3")), Next::Person);
        assert_eq!(other.step.phase, Phase::Doubled { ids: vec!["r2".to_owned(), "r1".to_owned(), "r3".to_owned()] });
    }
}

#[test]
fn i7_a_late_answer_and_a_look_up_that_disagree_are_an_alarm() {
    let mut case = second_under_way();
    case.see(&Observation::NoAnswer);
    case.step.attempts[0].outcome = Attempted::Answered { id: "r1".to_owned() };
    assert_eq!(case.see(&found(&["r2"])), Next::Person);
    assert_eq!(case.step.phase, Phase::Doubled { ids: vec!["r2".to_owned(), "r1".to_owned()] });
}

#[test]
fn a_late_answer_of_an_attempt_that_never_was_is_ignored() {
    for attempt in [0, 2, u32::MAX] {
        Case::unknown(RULES).ignores(&late(attempt, "r1"));
    }
}

#[test]
fn a_late_answer_to_a_closed_step_is_kept_as_evidence() {
    let mut case = Case::unknown(RULES);
    case.see(&closes());
    assert_eq!(case.see(&late(1, "r1")), Next::Ended);
    assert_eq!((case.phase(), case.outcomes()), ("closed", vec![&Attempted::Answered { id: "r1".to_owned() }]));
}

#[test]
fn a_known_answer_is_adopted_instead_of_another_attempt() {
    let mut case = Case::unknown(RULES);
    case.see(&closes());
    case.see(&late(1, "r1"));
    case.see(&Observation::Again);
    assert_eq!(case.see(&begin()), Next::ReadBack);
    assert_eq!((case.phase(), case.step.latest()), ("done", 1));
}

#[test]
fn i7_a_late_answer_with_another_id_than_the_mismatched_records_is_an_alarm() {
    let mut case = second_under_way();
    case.see(&applied("r2"));
    case.see(&differs());
    assert_eq!(case.see(&late(1, "r1")), Next::Person);
    assert_eq!(case.step.phase, Phase::Doubled { ids: vec!["r2".to_owned(), "r1".to_owned()] });
}

/// Attempts 1 and 2 are open, 3 is under way, and then both answer late.
fn two_late_answers(rules: Rules) -> Case {
    let mut case = Case::unknown(rules);
    case.at(1_000).see(&begin());
    case.see(&Observation::NoAnswer);
    case.at(5_000).see(&begin());
    case.see(&late(1, "r1"));
    case.see(&late(2, "r2"));
    case
}

#[test]
fn i7_two_late_answers_that_disagree_are_an_alarm_whatever_the_third_comes_to() {
    for seen in [Observation::NoAnswer, lost(None), not_sent(), refused(), Observation::Conflict, applied("r1"), applied("r2")] {
        let mut case = two_late_answers(none(Policy::AtLeastOnce));
        assert_eq!(case.see(&seen), Next::Person, "{seen:?}");
        assert_eq!(case.step.phase, Phase::Doubled { ids: vec!["r1".to_owned(), "r2".to_owned()] }, "{seen:?}");
    }
    let mut three = two_late_answers(none(Policy::AtLeastOnce));
    three.see(&applied("r3"));
    let ids = ["r1", "r2", "r3"].map(str::to_owned);
    assert_eq!(three.step.phase, Phase::Doubled { ids: ids.to_vec() });
}

#[test]
fn a_conflict_answer_is_explained_by_a_late_one() {
    for rules in [RULES, find(UPSERT), none(Policy::AtLeastOnce)] {
        let mut case = Case::unknown(rules);
        if rules.find == Find::Strong {
            case.at(QUIET).see(&absent(QUIET));
        }
        case.see(&begin());
        case.see(&late(1, "r1"));
        assert_eq!(case.see(&Observation::Conflict), Next::ReadBack, "{:?}: its record is known", rules.find);
        assert_eq!(case.step.external_id(), Some("r1"));
    }
}

#[test]
fn a_keyed_attempt_not_seen_yet_stays_open_until_nothing_of_it_can_come() {
    for class in [Find::Unique, UPSERT_LOOKS] {
        let mut early = Case::unknown(find(class));
        early.at(TIMEOUT).see(&absent(TIMEOUT));
        assert_eq!(early.outcomes(), [&Attempted::Open], "{class:?}");
        assert_eq!(early.see(&begin()), Next::Send, "{class:?}: the write is keyed, it need not wait");
        assert_eq!(early.see(&refused()), Next::LookUp, "{class:?}: the first may yet take effect");
        let mut settled = Case::unknown(find(class));
        settled.at(QUIET).see(&absent(QUIET));
        assert_eq!(settled.outcomes(), [&Attempted::ProvedAbsent], "{class:?}");
        settled.see(&begin());
        assert_eq!(settled.see(&refused()), Next::Person);
        assert_eq!(settled.phase(), "refused");
    }
}
