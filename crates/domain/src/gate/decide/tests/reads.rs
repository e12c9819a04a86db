//! After the record stands: the read-back, the audit, and targets that cannot be read.

use super::*;

#[test]
fn i7_a_target_that_cannot_be_read_ends_unverified_and_says_so() {
    for rules in [RULES, find(UPSERT), none(Policy::Review)] {
        let rules = Rules { reads: false, ..rules };
        let mut case = Case::intended(rules);
        assert_eq!(case.see(&applied("r1")), Next::Ended);
        assert_eq!(case.step.phase, Phase::Unverified { id: "r1".to_owned() });
        assert!(case.step.has_passed() && !case.step.needs_person());
        case.ignores(&Observation::ReadSame);
    }
    let mut adopted = Case::unknown(Rules { reads: false, ..RULES });
    assert_eq!(adopted.see(&found(&["r1"])), Next::Ended);
    assert_eq!(adopted.phase(), "unverified");
}

#[test]
fn a_record_that_differs_is_a_persons() {
    let mut case = Case::answered(RULES, "r1");
    assert_eq!(case.see(&differs()), Next::Person);
    assert_eq!(case.step.phase, Phase::Mismatched { id: "r1".to_owned(), what: "pipeline".to_owned() });
    assert_eq!(case.see(&Observation::Again), Next::Wait, "mended in the target, it is read again");
    assert_eq!(case.see(&begin()), Next::ReadBack);
    assert_eq!(case.see(&Observation::ReadSame), Next::Ended);
}

#[test]
fn a_record_that_is_not_there_yet_is_read_again_and_one_that_stays_away_is_a_mismatch() {
    let mut case = Case::answered(RULES, "r1");
    for _ in 0..3 * READS_MAX {
        assert_eq!(case.see(&Observation::ReadGone), Next::Wait, "as long as the request may still take effect");
    }
    case.at(QUIET - 1).see(&Observation::ReadGone);
    assert_eq!(case.phase(), "done");
    assert_eq!(case.at(QUIET).see(&Observation::ReadGone), Next::Person);
    assert_eq!((case.phase(), case.step.external_id()), ("mismatched", Some("r1")));
    let mut few = Case::answered(RULES, "r1");
    few.at(QUIET);
    for _ in 1..READS_MAX {
        assert_eq!(few.see(&Observation::ReadGone), Next::Wait);
        assert!(few.due() > QUIET);
    }
    assert_eq!(few.see(&Observation::ReadGone), Next::Person);
}

#[test]
fn a_read_that_fails_says_nothing_about_the_record() {
    let mut case = Case::answered(RULES, "r1");
    let mut dues = Vec::new();
    for _ in 0..3 {
        assert_eq!(case.see(&Observation::ReadFailed), Next::Wait);
        dues.push(case.due());
    }
    assert!(dues.windows(2).all(|pair| pair[0] < pair[1]) && dues[0] > 0, "{dues:?}");
    assert_eq!(case.phase(), "done");
}

/// The step of a strong target whose first attempt ended so and whose second was answered, read back at `QUIET`.
fn second_verified(rules: Rules, first: &[Observation]) -> Case {
    let mut case = Case::intended(rules);
    for seen in first {
        case.see(seen);
    }
    case.at(QUIET + LAG).see(&begin());
    case.see(&applied("r2"));
    case.see(&Observation::ReadSame);
    case
}

fn audit_due(case: &Case) -> Option<i64> {
    let Phase::Verified { audit_due, .. } = case.step.phase else { panic!("not verified: {:?}", case.step.phase) };
    audit_due.map(|at| at.since(T0))
}

#[test]
fn an_audit_is_due_only_where_more_than_one_attempt_may_have_left_a_record() {
    let mut one = Case::answered(RULES, "r1");
    one.see(&Observation::ReadSame);
    assert_eq!(audit_due(&one), None, "one attempt");
    let mut adopted = Case::unknown(RULES);
    adopted.see(&found(&["r1"]));
    adopted.see(&Observation::ReadSame);
    assert_eq!(audit_due(&adopted), None, "one attempt, adopted");
    assert_eq!(audit_due(&second_verified(RULES, &[not_sent()])), None, "the first was never sent");
    let again = second_verified(RULES, &[refused(), Observation::Again]);
    assert_eq!(audit_due(&again), None, "the first was refused");
    let absent_first = second_verified(RULES, &[Observation::NoAnswer, absent(QUIET)]);
    assert_eq!(audit_due(&absent_first), Some(absent_first.quiet()), "the first was proved absent, against bounds that may not hold");
    let lagging = second_verified(find(LAGGING), &[Observation::NoAnswer, absent(QUIET + LAG), absent(QUIET + LAG)]);
    assert_eq!(audit_due(&lagging), Some(2 * (QUIET + LAG)));
    assert_eq!(audit_due(&second_verified(find(UPSERT), &[Observation::NoAnswer])), None, "there is no look-up to audit by");
}

#[test]
fn an_audit_never_falls_before_the_index_can_know() {
    let mut case = second_verified(find(LAGGING), &[Observation::NoAnswer, absent(QUIET + LAG), absent(QUIET + LAG)]);
    case.step.phase = Phase::Done { id: "r2".to_owned(), due: ms(0), reads: 0 };
    case.at(9 * QUIET).see(&Observation::ReadSame);
    assert_eq!(audit_due(&case), Some(9 * QUIET + LAG), "counted from the read-back where the wait is long over");
}

#[test]
fn i7_the_audit_ends_quietly_or_with_an_alarm() {
    let verified = || second_verified(RULES, &[Observation::NoAnswer, absent(QUIET)]);
    let mut only = verified();
    only.at(2 * QUIET + LAG);
    assert_eq!(only.see(&begin()), Next::LookUp);
    assert_eq!(only.see(&found(&["r2"])), Next::Ended);
    assert_eq!((audit_due(&only), only.step.due()), (None, None));
    only.ignores(&begin());
    for ids in [&["r1", "r2"][..], &["r2", "r1"], &["r1"]] {
        let mut two = verified();
        assert_eq!(two.see(&found(ids)), Next::Person, "{ids:?}");
        assert_eq!(two.step.phase, Phase::Doubled { ids: vec!["r2".to_owned(), "r1".to_owned()] }, "the known one first");
    }
}

#[test]
fn an_audit_that_finds_nothing_too_early_is_put_off_and_after_the_wait_is_a_mismatch() {
    let mut case = second_verified(RULES, &[Observation::NoAnswer, absent(QUIET)]);
    let quiet = case.quiet();
    assert_eq!(case.at(quiet).see(&absent(quiet - 1)), Next::Wait);
    assert_eq!(audit_due(&case), Some(quiet));
    assert_eq!(case.see(&absent(quiet)), Next::Person);
    assert_eq!(case.phase(), "mismatched");
}

#[test]
fn an_audit_that_cannot_be_made_is_put_off() {
    let mut case = second_verified(RULES, &[Observation::NoAnswer, absent(QUIET)]);
    case.at(2 * QUIET + LAG).see(&Observation::LookFailed);
    assert_eq!(audit_due(&case), Some(2 * QUIET + LAG + RULES.backoff.max_ms));
}
