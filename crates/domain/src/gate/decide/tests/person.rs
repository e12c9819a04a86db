//! A person's verbs: what each does, and every reason for which one is refused.

use super::*;

/// A target that cannot be asked; attempt 1, begun at 0, is unknown, and a person is asked.
fn asked() -> Case {
    Case::unknown(none(Policy::Review))
}

#[test]
fn not_there_is_heard_only_after_the_wait() {
    let mut case = asked();
    assert_eq!(case.at(QUIET - 1).ignores(&not_there(1)), "a request may still take effect: wait until the settle time is over");
    assert_eq!(case.at(QUIET).see(&not_there(1)), Next::Wait);
    assert_eq!((case.phase(), case.outcomes()), ("planned", vec![&Attempted::ProvedAbsent]));
    assert_eq!(case.see(&begin()), Next::Send);
}

#[test]
fn not_there_is_bound_to_the_attempt_that_the_person_saw() {
    let mut case = asked();
    case.at(QUIET);
    for attempt in [0, 2] {
        assert_eq!(case.ignores(&not_there(attempt)), "a newer attempt was made since: look again");
    }
    case.see(&not_there(1));
    case.see(&begin());
    case.see(&Observation::NoAnswer);
    case.at(2 * QUIET);
    case.ignores(&not_there(1));
    assert_eq!(case.see(&not_there(2)), Next::Wait);
}

#[test]
fn not_there_leads_to_a_look_up_where_one_exists() {
    let mut case = Case::unknown(RULES);
    for _ in 0..BLIND_LOOKS_MAX {
        case.see(&Observation::LookFailed);
    }
    assert_eq!(case.at(QUIET).see(&not_there(1)), Next::LookUp);
    assert_eq!((case.phase(), case.outcomes()), ("unknown", vec![&Attempted::Open]), "the person's word is not proof");
}

#[test]
fn not_there_allows_one_attempt_more_where_they_are_spent() {
    let mut case = Case::planned(Rules { attempts_max: 1, ..none(Policy::AtLeastOnce) });
    case.see(&begin());
    case.see(&Observation::NoAnswer);
    case.at(1_000).see(&begin());
    assert_eq!(case.why(), Some(Why::AttemptsSpent));
    case.at(QUIET).see(&not_there(1));
    assert_eq!(case.step.allowed, 1);
    assert_eq!(case.see(&begin()), Next::Send);
    case.see(&Observation::NoAnswer);
    case.at(2 * QUIET).see(&begin());
    assert_eq!(case.why(), Some(Why::AttemptsSpent), "one, not as many as one likes");
    let mut unspent = asked();
    unspent.at(QUIET).see(&not_there(1));
    assert_eq!(unspent.step.allowed, 0, "nothing is allowed where nothing was spent");
}

#[test]
fn not_there_is_offered_only_where_a_person_is_asked_about_an_unknown_outcome() {
    let offered = "'not there' is offered only where a person is asked about an unknown outcome";
    let mut mismatched = Case::answered(RULES, "r1");
    mismatched.see(&differs());
    let mut doubled = Case::unknown(RULES);
    doubled.see(&found(&["r1", "r2"]));
    let mut closed = asked();
    closed.see(&closes());
    let others =
        [Case::planned(RULES), Case::intended(RULES), Case::unknown(RULES), Case::answered(RULES, "r1"), mismatched, doubled, closed];
    for mut case in others {
        case.at(QUIET);
        assert_eq!(case.ignores(&not_there(case.step.latest())), offered, "{:?}", case.step.phase);
    }
}

#[test]
fn it_is_settles_every_open_attempt_and_is_read_back() {
    let mut case = asked();
    assert_eq!(case.see(&it_is("r9")), Next::ReadBack);
    assert_eq!((case.step.external_id(), case.outcomes()), (Some("r9"), vec![&Attempted::Adopted]));
    assert_eq!(case.see(&Observation::ReadSame), Next::Ended);
    let mut unreadable = Case { rules: Rules { reads: false, ..none(Policy::Review) }, ..asked() };
    assert_eq!(unreadable.see(&it_is("r9")), Next::Ended);
    assert_eq!(unreadable.phase(), "unverified");
}

#[test]
fn it_is_names_the_right_one_of_two() {
    let mut case = Case::unknown(RULES);
    case.see(&found(&["r1", "r2"]));
    case.see(&it_is("r2"));
    case.see(&Observation::ReadSame);
    assert_eq!((case.phase(), case.step.external_id()), ("verified", Some("r2")));
}

#[test]
fn it_is_waits_for_an_attempt_under_way_and_is_not_for_a_record_that_is_known() {
    assert_eq!(Case::intended(RULES).ignores(&it_is("r9")), "an attempt is under way: wait for its outcome");
    let mut case = Case::answered(RULES, "r1");
    assert_eq!(case.ignores(&it_is("r9")), "the record is known");
    case.see(&Observation::ReadSame);
    assert_eq!(case.ignores(&it_is("r9")), "the record is known");
    let unverified = Case::answered(Rules { reads: false, ..RULES }, "r1");
    assert_eq!(unverified.ignores(&it_is("r9")), "the record is known");
}

#[test]
fn again_looks_before_it_writes() {
    let mut doubled = Case::unknown(RULES);
    doubled.see(&found(&["r1", "r2"]));
    let mut blind = Case::unknown(RULES);
    (0..BLIND_LOOKS_MAX).for_each(|_| {
        blind.see(&Observation::LookFailed);
    });
    let mut closed = Case::unknown(RULES);
    closed.see(&closes());
    for mut case in [Case::unknown(RULES), doubled, blind, closed] {
        assert_eq!(case.at(9).see(&Observation::Again), Next::Wait);
        assert_eq!((case.phase(), case.due()), ("unknown", 9));
        assert_eq!(case.see(&begin()), Next::LookUp);
    }
}

#[test]
fn again_hurries_what_waits() {
    let mut planned = Case::intended(RULES);
    planned.see(&Observation::NotSent { retry_after_ms: Some(90_000) });
    planned.at(5).see(&Observation::Again);
    assert_eq!((planned.phase(), planned.due()), ("planned", 5));
    let mut done = Case::answered(RULES, "r1");
    done.see(&Observation::ReadFailed);
    done.at(5).see(&Observation::Again);
    assert_eq!((done.phase(), done.due()), ("done", 5));
    let mut verified = Case::answered(RULES, "r1");
    verified.see(&Observation::ReadSame);
    verified.at(5).see(&Observation::Again);
    assert_eq!((verified.phase(), verified.due(), verified.see(&begin())), ("verified", 5, Next::LookUp));
}

#[test]
fn again_after_a_refusal_or_a_close_with_nothing_open_allows_one_attempt_more() {
    for end in [refused(), closes()] {
        let mut case = Case::intended(Rules { attempts_max: 1, ..RULES });
        case.see(&refused());
        if end == closes() {
            case.see(&end);
        }
        assert_eq!(case.see(&Observation::Again), Next::Wait);
        assert_eq!((case.phase(), case.step.allowed), ("planned", 1));
        assert_eq!(case.see(&begin()), Next::Send);
    }
}

#[test]
fn again_after_spent_attempts_looks_first_and_then_allows_one_more() {
    let mut case = Case::intended(Rules { attempts_max: 1, ..RULES });
    case.see(&Observation::NoAnswer);
    case.at(QUIET).see(&absent(QUIET));
    assert_eq!(case.see(&begin()), Next::Person);
    assert_eq!(case.why(), Some(Why::AttemptsSpent));
    case.see(&Observation::Again);
    assert_eq!((case.phase(), case.see(&begin())), ("unknown", Next::LookUp));
    case.see(&absent(QUIET));
    assert_eq!(case.see(&begin()), Next::Send);
}

#[test]
fn again_is_refused_where_an_attempt_is_under_way_or_the_target_cannot_be_asked() {
    assert_eq!(Case::intended(RULES).ignores(&Observation::Again), "an attempt is under way");
    let cannot = "the target cannot be asked: say 'not there', 'it is' or 'close'";
    let mut closed = asked();
    closed.see(&closes());
    for case in [asked(), closed, Case::unknown(none(Policy::AtMostOnce))] {
        assert_eq!(case.ignores(&Observation::Again), cannot, "{:?}", case.step.phase);
    }
    let stands = "the record stands, and the target cannot be asked again";
    let mut verified = Case::answered(none(Policy::Review), "r1");
    verified.see(&Observation::ReadSame);
    let unverified = Case::answered(Rules { reads: false, ..RULES }, "r1");
    for case in [verified, unverified] {
        assert_eq!(case.ignores(&Observation::Again), stands, "{:?}", case.step.phase);
    }
}

#[test]
fn close_ends_it_with_the_persons_reason() {
    let mut case = asked();
    assert_eq!(case.see(&closes()), Next::Ended);
    assert_eq!(case.step.phase, Phase::Closed { why: "spam".to_owned() });
    assert_eq!((case.step.due(), case.step.needs_person(), case.step.has_passed()), (None, false, false));
    case.ignores(&begin());
    assert_eq!(case.ignores(&closes()), "it is closed");
}

#[test]
fn close_waits_for_an_attempt_under_way_and_is_not_for_a_record_that_stands() {
    assert_eq!(Case::intended(RULES).ignores(&closes()), "an attempt is under way: wait for its outcome");
    let stands = "the record stands: there is nothing to close";
    let done = Case::answered(RULES, "r1");
    assert_eq!(done.ignores(&closes()), stands);
    let mut verified = Case::answered(RULES, "r1");
    verified.see(&Observation::ReadSame);
    assert_eq!(verified.ignores(&closes()), stands);
    assert_eq!(Case::answered(Rules { reads: false, ..RULES }, "r1").ignores(&closes()), stands);
}

/// A record stands, found by a look-up or named by a person; it differs, and a person closed it.
fn closed_over_a_record(rules: Rules, stands: &Observation) -> Case {
    let mut case = Case::unknown(rules);
    case.see(stands);
    case.see(&differs());
    case.see(&closes());
    case
}

#[test]
fn i7_again_never_sends_past_a_record_that_was_found_or_named() {
    for stands in [found(&["r1"]), it_is("r1")] {
        let mut case = closed_over_a_record(RULES, &stands);
        case.at(QUIET).see(&Observation::Again);
        assert_eq!((case.phase(), case.see(&begin())), ("unknown", Next::LookUp), "{stands:?}");
    }
    let unasked = closed_over_a_record(none(Policy::Review), &it_is("r1"));
    assert_eq!(unasked.ignores(&Observation::Again), "the target cannot be asked: say 'not there', 'it is' or 'close'");
}
