//! When *absent* is proof: the arithmetic of the wait, its two edges, and the looks that do not count.

use super::*;

/// What a class waits for after the deadline or the death. `upsert` and `unique` need no bound: their write is keyed.
const WAITS: [(Find, i64, i64); 4] =
    [(Find::Strong, PAUSE + SETTLE, SETTLE), (LAGGING, PAUSE + SETTLE + LAG, SETTLE + LAG), (Find::Unique, 0, 0), (UPSERT_LOOKS, 0, 0)];

#[test]
fn the_wait_is_deadline_and_pause_and_settle_and_lag() {
    for (class, wait, _) in WAITS {
        for seen in [Observation::NoAnswer, lost(None)] {
            let mut case = Case::intended(find(class));
            assert_eq!(case.quiet(), TIMEOUT + wait, "{class:?}: with the intent already");
            case.at(3).see(&seen);
            assert_eq!(case.quiet(), TIMEOUT + wait, "{class:?} after {seen:?}");
        }
    }
}

#[test]
fn the_pause_falls_away_once_the_process_is_known_dead_and_settle_counts_from_there() {
    for (class, _, wait) in WAITS {
        let mut case = Case::intended(find(class));
        case.at(9_000).see(&lost(Some(4_000)));
        assert_eq!(case.quiet(), 4_000 + wait, "{class:?}");
    }
}

#[test]
fn a_target_that_cannot_be_asked_waits_as_long_before_a_person_is_heard() {
    assert_eq!(Case::unknown(none(Policy::Review)).quiet(), QUIET);
}

#[test]
fn one_ms_before_the_wait_is_over_absent_does_not_count_and_at_its_end_it_does() {
    for (class, wait, _) in WAITS.iter().filter(|(class, ..)| *class != LAGGING) {
        let mut early = Case::unknown(find(*class));
        let quiet = TIMEOUT + wait;
        early.at(quiet + 60_000).see(&absent(quiet - 1));
        assert_eq!(early.phase(), "unknown", "{class:?}: it began too early, however late it ended");
        let mut ripe = Case::unknown(find(*class));
        assert_eq!(ripe.at(quiet).see(&absent(quiet)), Next::Wait);
        assert_eq!((ripe.phase(), ripe.due()), ("planned", quiet), "{class:?}");
    }
}

#[test]
fn absence_proved_lets_the_next_attempt_begin_and_re_arms_the_wait() {
    let mut case = Case::unknown(RULES);
    case.at(QUIET).see(&absent(QUIET));
    assert_eq!(case.outcomes(), [&Attempted::ProvedAbsent]);
    assert_eq!(case.see(&begin()), Next::Send);
    assert_eq!((case.step.latest(), case.quiet()), (2, 2 * QUIET));
    case.see(&Observation::NoAnswer);
    case.at(2 * QUIET - 1).see(&absent(2 * QUIET - 1));
    assert_eq!(case.phase(), "unknown", "the first attempt's wait says nothing about the second");
}

#[test]
fn a_search_index_is_asked_twice_after_the_wait() {
    let mut case = Case::unknown(find(LAGGING));
    let quiet = QUIET + LAG;
    case.at(quiet - 1).see(&absent(quiet - 1));
    case.at(quiet).see(&absent(quiet));
    assert_eq!(case.phase(), "unknown", "the early one did not count, so this is the first");
    let again = case.due();
    assert!(again > quiet, "the second is another look, not the same one");
    case.at(again).see(&absent(again));
    assert_eq!((case.phase(), case.outcomes()), ("planned", vec![&Attempted::ProvedAbsent]));
}

#[test]
fn the_two_absences_of_a_search_index_follow_each_other() {
    let mut case = Case::unknown(find(LAGGING));
    let quiet = QUIET + LAG;
    case.at(quiet).see(&absent(quiet));
    case.see(&Observation::LookFailed);
    case.at(quiet + 60_000).see(&absent(quiet + 60_000));
    assert_eq!(case.phase(), "unknown", "a look that failed between them begins the count anew");
    case.see(&absent(quiet - 1));
    case.see(&absent(quiet + 60_000));
    assert_eq!(case.phase(), "unknown", "so does one that began too early");
    case.see(&absent(quiet + 60_000));
    assert_eq!(case.phase(), "planned");
}

#[test]
fn a_search_index_that_finds_it_on_the_second_look_is_believed() {
    let mut case = Case::unknown(find(LAGGING));
    case.at(QUIET + LAG).see(&absent(QUIET + LAG));
    assert_eq!(case.see(&found(&["r1"])), Next::ReadBack);
    assert_eq!(case.phase(), "done");
}

#[test]
fn looks_before_the_wait_is_over_are_spread_by_backoff_and_one_falls_on_its_end() {
    let mut case = Case::unknown(RULES);
    let mut dues = Vec::new();
    while case.phase() == "unknown" {
        let now = case.due();
        dues.push(now);
        case.at(now).see(&absent(now));
        assert!(dues.len() < 20, "{dues:?}");
    }
    assert!(dues.windows(2).all(|pair| pair[0] < pair[1]), "{dues:?}");
    assert_eq!(dues.last(), Some(&QUIET), "{dues:?}");
}

#[test]
fn a_look_that_fails_is_not_an_absence() {
    let mut case = Case::unknown(RULES);
    for now in [QUIET, 2 * QUIET, 3 * QUIET] {
        assert_eq!(case.at(now).see(&Observation::LookFailed), Next::Wait);
        assert_eq!((case.phase(), case.outcomes()), ("unknown", vec![&Attempted::Open]));
        assert!(case.due() > now);
    }
}

#[test]
fn i10_a_target_that_answers_nothing_usable_again_and_again_is_a_persons() {
    let mut case = Case::unknown(RULES);
    for _ in 1..BLIND_LOOKS_MAX {
        case.see(&Observation::LookFailed);
    }
    case.see(&absent(0));
    for _ in 1..BLIND_LOOKS_MAX {
        assert_eq!(case.see(&Observation::LookFailed), Next::Wait, "one that answered began the count anew");
    }
    assert_eq!(case.see(&Observation::LookFailed), Next::Person);
    assert_eq!(case.why(), Some(Why::CannotTell));
}

#[test]
fn a_later_intent_never_shortens_the_wait() {
    let mut case = Case::unknown(find(UPSERT_LOOKS));
    case.step.quiet_until = ms(10 * QUIET);
    case.step.phase = Phase::Planned { due: ms(0) };
    case.see(&begin());
    assert_eq!(case.quiet(), 10 * QUIET);
}
