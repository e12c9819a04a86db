//! An effect as a whole: where work is at, its name in records, its end, and what waits for it.

use super::*;
use crate::gate::decide::{Observation, decide};
use crate::gate::effect::{Attempt, Attempted, Find, Policy, Rules, Why};
use crate::identity::Basis;
use crate::ids::StreamId;
use crate::retry::Backoff;

const T0: UtcMs = UtcMs(1_000);
const DEAL: [StepKind; 3] = [StepKind::Contact, StepKind::Record, StepKind::Link];

fn key() -> Key {
    Key::new("website", Basis::Submission, vec!["lead_77".to_owned()])
}

fn effect(action: &str, kinds: &[StepKind]) -> Effect {
    Effect::planned(&key(), action, "crm", 0, kinds, T0)
}

/// A one-step effect in a phase.
fn single(action: &str, phase: Phase) -> Effect {
    let mut one = effect(action, &[StepKind::Record]);
    one.steps[0].phase = phase;
    one
}

/// A deal with its steps in these phases.
fn deal(phases: [Phase; 3]) -> Effect {
    let mut deal = effect("deal", &DEAL);
    for (step, phase) in deal.steps.iter_mut().zip(phases) {
        step.phase = phase;
    }
    deal
}

fn planned(due: i64) -> Phase {
    Phase::Planned { due: UtcMs(due) }
}

fn verified(id: &str, audit_due: Option<i64>) -> Phase {
    Phase::Verified { id: id.to_owned(), audit_due: audit_due.map(UtcMs) }
}

fn attempt(begun_at: i64) -> Attempt {
    let (begun_at, deadline) = (UtcMs(begun_at), UtcMs(begun_at + 1));
    Attempt { n: 1, begun_at, deadline, fence: 1, process: StreamId::of(&Digest::sha256(b"worker")), outcome: Attempted::Open }
}

fn unverified(id: &str) -> Phase {
    Phase::Unverified { id: id.to_owned() }
}

fn closed() -> Phase {
    Phase::Closed { why: "spam".to_owned() }
}

fn held() -> Door {
    Door::Held { why: "a look-alike".to_owned(), by: [Hold::LookAlike].into() }
}

fn skipped() -> Door {
    Door::Skipped { why: "not qualified".to_owned() }
}

/// Every phase in which a person is asked.
fn asking() -> [Phase; 4] {
    [
        Phase::Review { why: Why::CannotAsk },
        Phase::Refused { why: "no such pipeline".to_owned() },
        Phase::Mismatched { id: "r1".to_owned(), what: "pipeline".to_owned() },
        Phase::Doubled { ids: vec!["r1".to_owned(), "r2".to_owned()] },
    ]
}

/// Every phase in which work goes on by itself.
fn going_on() -> [Phase; 4] {
    let unknown = Phase::Unknown { due: T0, looks: 0, absences: 0, blind: 0 };
    [planned(5), Phase::Intended, unknown, Phase::Done { id: "r1".to_owned(), due: T0, reads: 0 }]
}

#[test]
fn a_planned_effect_is_named_by_its_key_and_opens_its_door() {
    let deal = effect("deal", &DEAL);
    assert_eq!((deal.id.clone(), deal.enquiry.clone()), (key().effect_id("deal", 0), key().enquiry_id()));
    assert_eq!(deal.outgoing_key, "website:submission:lead_77");
    assert_eq!((deal.current(), deal.due(), deal.state()), (Some(0), Some(T0), "planned"));
    assert!(!deal.has_ended() && !deal.has_succeeded() && !deal.needs_person());
}

#[test]
fn i7_a_persons_re_run_is_another_effect_under_another_outgoing_key() {
    let (first, second) = (effect("deal", &DEAL), Effect::planned(&key(), "deal", "crm", 1, &DEAL, T0));
    assert_ne!(first.id, second.id);
    assert_eq!(second.outgoing_key, "website:submission:lead_77#1");
    assert_eq!(first.enquiry, second.enquiry);
}

#[test]
#[should_panic(expected = "an effect has at least one step")]
fn an_effect_without_steps_is_a_bug() {
    drop(effect("deal", &[]));
}

#[test]
fn work_is_at_the_first_step_whose_record_does_not_stand() {
    let first = deal([planned(5), planned(6), planned(7)]);
    assert_eq!((first.current(), first.due()), (Some(0), Some(UtcMs(5))));
    let second = deal([verified("c1", None), planned(6), planned(7)]);
    assert_eq!((second.current(), second.due()), (Some(1), Some(UtcMs(6))));
    let third = deal([unverified("c1"), verified("d1", None), planned(7)]);
    assert_eq!((third.current(), third.due()), (Some(2), Some(UtcMs(7))));
    let mut under_way = deal([verified("c1", None), Phase::Intended, planned(7)]);
    under_way.steps[1].attempts.push(attempt(4));
    assert_eq!((under_way.current(), under_way.due(), under_way.state()), (Some(1), Some(UtcMs(4)), "intended"));
}

#[test]
fn after_the_last_step_work_is_at_an_audit_and_then_nowhere() {
    let audit = deal([verified("c1", None), verified("d1", Some(9)), verified("l1", None)]);
    assert_eq!((audit.current(), audit.due()), (Some(1), Some(UtcMs(9))));
    assert!(audit.has_ended() && audit.has_succeeded(), "a due audit does not keep an effect open");
    let over = deal([verified("c1", None), verified("d1", None), unverified("l1")]);
    assert_eq!((over.current(), over.due()), (None, None));
}

#[test]
fn an_effect_before_a_closed_door_is_due_for_nobody() {
    for door in [Door::Waiting, held(), skipped()] {
        let effect = Effect { door, ..effect("deal", &DEAL) };
        assert_eq!(effect.due(), None, "{:?}", effect.door);
    }
}

#[test]
fn the_state_is_the_doors_or_that_of_the_step_where_work_is_at() {
    for (door, state) in [(Door::Waiting, "waiting"), (held(), "held"), (skipped(), "skipped"), (Door::Open, "planned")] {
        assert_eq!(Effect { door, ..effect("deal", &DEAL) }.state(), state);
    }
    for phase in going_on().into_iter().chain(asking()).chain([Phase::AtMostOnce, closed(), verified("r1", None), unverified("r1")]) {
        assert_eq!(single("deal", phase.clone()).state(), phase.as_str());
        let state = deal([verified("c1", None), phase.clone(), planned(7)]).state();
        let passed = matches!(phase, Phase::Verified { .. } | Phase::Unverified { .. });
        assert_eq!(state, if passed { "planned" } else { phase.as_str() }, "the next step's, once this one has passed");
    }
}

#[test]
fn it_has_succeeded_when_every_record_stands() {
    for last in [verified("l1", None), unverified("l1"), verified("l1", Some(9))] {
        let done = deal([verified("c1", None), unverified("d1"), last]);
        assert!(done.has_succeeded() && done.has_ended() && !done.needs_person());
    }
    for phase in going_on().into_iter().chain(asking()).chain([Phase::AtMostOnce, closed()]) {
        assert!(!deal([verified("c1", None), verified("d1", None), phase.clone()]).has_succeeded(), "{phase:?}");
    }
    for door in [Door::Waiting, held(), skipped()] {
        assert!(!Effect { door, ..single("deal", verified("r1", None)) }.has_succeeded());
    }
}

#[test]
fn i10_it_has_ended_when_it_succeeded_was_skipped_closed_or_given_up() {
    assert!(Effect { door: skipped(), ..effect("deal", &DEAL) }.has_ended());
    for phase in [Phase::AtMostOnce, closed()] {
        assert!(deal([verified("c1", None), phase.clone(), planned(7)]).has_ended(), "{phase:?}");
        let effect = single("deal", phase);
        assert_eq!((effect.has_ended(), effect.due(), effect.needs_person()), (true, None, false));
    }
    for phase in going_on().into_iter().chain(asking()) {
        assert!(!single("deal", phase.clone()).has_ended(), "{phase:?}");
    }
    for door in [Door::Waiting, held()] {
        assert!(!Effect { door, ..effect("deal", &DEAL) }.has_ended());
    }
}

#[test]
fn i10_what_has_not_ended_has_a_due_time_a_person_or_something_it_waits_for() {
    for phase in going_on().into_iter().chain(asking()).chain([Phase::AtMostOnce, closed(), verified("r1", None), unverified("r1")]) {
        for door in [Door::Waiting, held(), skipped(), Door::Open] {
            let mut effect = Effect { door, ..single("deal", phase.clone()) };
            effect.steps[0].attempts.push(attempt(4));
            let looked_after = effect.due().is_some() || effect.needs_person() || effect.door == Door::Waiting;
            assert!(effect.has_ended() || looked_after, "{:?} {:?}", effect.door, phase);
        }
    }
}

#[test]
fn a_person_is_needed_for_a_hold_or_for_any_step_that_asks() {
    assert!(Effect { door: held(), ..effect("deal", &DEAL) }.needs_person());
    for phase in asking() {
        assert!(deal([verified("c1", None), phase.clone(), planned(7)]).needs_person(), "{phase:?}");
        assert!(deal([phase.clone(), verified("d1", None), verified("l1", None)]).needs_person(), "{phase:?} by an audit");
        for door in [Door::Waiting, skipped()] {
            assert!(!Effect { door, ..single("deal", phase.clone()) }.needs_person());
        }
    }
    for phase in going_on() {
        assert!(!single("deal", phase).needs_person());
    }
}

#[test]
fn i11_the_external_id_is_the_records_or_the_messages_and_never_the_contacts() {
    assert_eq!(deal([verified("c1", None), planned(6), planned(7)]).external_id(), None);
    assert_eq!(deal([verified("c1", None), verified("d1", None), verified("l1", None)]).external_id(), Some("d1"));
    let mut message = effect("follow-up", &[StepKind::Message]);
    message.steps[0].phase = unverified("m1");
    assert_eq!(message.external_id(), Some("m1"));
    for (phase, id) in asking().into_iter().zip([None, None, Some("r1"), Some("r1")]) {
        assert_eq!(single("deal", phase).external_id(), id);
    }
    let done = Phase::Done { id: "r1".to_owned(), due: T0, reads: 0 };
    assert_eq!(single("deal", done).external_id(), Some("r1"));
    assert_eq!(effect("link", &[StepKind::Link]).external_id(), None);
}

#[test]
fn a_moved_step_is_put_back_in_its_place_and_what_was_ignored_changes_nothing() {
    let rules = Rules {
        find: Find::Unique,
        reads: false,
        settle_ms: 1,
        pause_max_ms: 1,
        timeout_ms: 1,
        attempts_max: 3,
        give_up_ms: 1_000,
        backoff: Backoff { first_ms: 1, max_ms: 1 },
        policy: Policy::Review,
        restored_at: None,
    };
    let process = StreamId::of(&Digest::sha256(b"worker"));
    let mut before = deal([unverified("c1"), planned(6), planned(7)]);
    let story = [(Observation::Begin { fence: 1, process }, Next::Send), (Observation::Applied { id: "d1".to_owned() }, Next::Ended)];
    for (seen, next) in story {
        let index = before.current().expect("work is at a step");
        let moved = decide(&before.steps[index], &seen, &rules, T0, 0);
        let (after, what) = before.clone().moved(index, &moved);
        assert_eq!((index, what), (1, next));
        assert_eq!((&after.steps[0], &after.steps[2]), (&before.steps[0], &before.steps[2]));
        before = after;
    }
    assert_eq!((before.current(), before.external_id()), (Some(2), Some("d1")));
    let ignored = decide(&before.steps[2], &Observation::NoAnswer, &rules, T0, 0);
    assert_eq!(before.clone().moved(2, &ignored), (before, Next::Wait));
}

/// A follow-up that waits for these actions.
fn after(actions: &[&str]) -> Effect {
    let after = actions.iter().map(|&action| action.to_owned()).collect();
    Effect { after, door: Door::Waiting, ..effect("follow-up", &[StepKind::Message]) }
}

#[test]
fn it_is_ready_when_everything_it_waits_for_has_succeeded() {
    let (deal, note) = (single("deal", verified("d1", None)), single("note", unverified("n1")));
    assert_eq!(after(&[]).readiness(&[]), Readiness::Ready);
    assert_eq!(after(&["deal"]).readiness(std::slice::from_ref(&deal)), Readiness::Ready);
    assert_eq!(after(&["deal", "note"]).readiness(&[note, deal]), Readiness::Ready);
    let audit = single("deal", verified("d1", Some(9)));
    assert_eq!(after(&["deal"]).readiness(&[audit]), Readiness::Ready, "an audit keeps nobody waiting");
}

#[test]
fn it_waits_for_what_goes_on_is_held_or_is_a_persons() {
    for phase in going_on().into_iter().chain(asking()) {
        let deal = single("deal", phase.clone());
        assert_eq!(after(&["deal"]).readiness(&[deal]), Readiness::NotYet, "{phase:?}");
    }
    for door in [Door::Waiting, held()] {
        let deal = Effect { door, ..single("deal", planned(5)) };
        assert_eq!(after(&["deal"]).readiness(&[deal]), Readiness::NotYet);
    }
    let half = [single("note", verified("n1", None)), single("deal", planned(5))];
    assert_eq!(after(&["note", "deal"]).readiness(&half), Readiness::NotYet);
}

#[test]
fn i10_it_never_begins_once_something_it_waits_for_ended_otherwise() {
    let ends = [
        (Effect { door: skipped(), ..single("deal", planned(5)) }, "'deal' ended skipped"),
        (single("deal", closed()), "'deal' ended closed"),
        (deal([verified("c1", None), closed(), planned(7)]), "'deal' ended closed"),
        (single("deal", Phase::AtMostOnce), "'deal' ended at_most_once"),
    ];
    for (deal, why) in ends {
        assert_eq!(after(&["deal"]).readiness(std::slice::from_ref(&deal)), Readiness::Never(why.to_owned()));
        let mut waiting = after(&["note", "deal"]);
        assert!(waiting.wake(&[single("note", planned(5)), deal], T0), "whatever the others still do");
        assert_eq!(waiting.door, Door::Skipped { why: why.to_owned() });
        assert_eq!((waiting.state(), waiting.has_ended(), waiting.has_succeeded()), ("skipped", true, false));
    }
}

#[test]
fn a_skip_passes_on_down_the_line() {
    let mut second = Effect { action: "reminder".to_owned(), ..after(&["follow-up"]) };
    let mut first = after(&["deal"]);
    assert!(first.wake(&[single("deal", closed())], T0));
    assert!(second.wake(&[first], T0));
    assert_eq!(second.door, Door::Skipped { why: "'follow-up' ended skipped".to_owned() });
}

#[test]
fn only_siblings_of_the_same_run_count() {
    let first = Effect { ordinal: 0, ..single("deal", planned(5)) };
    let mut again = Effect { ordinal: 1, ..after(&["deal"]) };
    assert_eq!(again.readiness(std::slice::from_ref(&first)), Readiness::Ready, "a re-run of the follow-up alone waits for nothing");
    let second = Effect { ordinal: 1, ..single("deal", planned(5)) };
    assert_eq!(again.readiness(&[first.clone(), second]), Readiness::NotYet);
    let done = Effect { ordinal: 1, ..single("deal", verified("d1", None)) };
    assert!(again.wake(&[first, done], T0));
    assert_eq!(again.door, Door::Open);
}

#[test]
fn waking_opens_only_what_waits() {
    let deal = [single("deal", verified("d1", None))];
    let mut waiting = after(&["deal"]);
    assert!(!waiting.wake(&[single("deal", planned(5))], T0));
    assert_eq!(waiting.door, Door::Waiting);
    assert!(waiting.wake(&deal, T0));
    assert_eq!((waiting.door.clone(), waiting.due()), (Door::Open, Some(T0)));
    assert!(!waiting.wake(&[single("deal", closed())], T0), "an open door stays open");
    for door in [held(), skipped(), Door::Open] {
        let mut other = Effect { door: door.clone(), ..after(&["deal"]) };
        assert!(!other.wake(&deal, T0));
        assert_eq!(other.door, door);
    }
}

#[test]
fn releasing_a_held_effect_opens_it_if_what_it_waits_for_allows() {
    let mut free = Effect { door: held(), ..after(&[]) };
    assert!(free.release(Hold::LookAlike, &[], T0));
    assert_eq!(free.door, Door::Open);
    let mut unmet = Effect { door: held(), ..after(&["deal"]) };
    assert!(unmet.release(Hold::LookAlike, &[single("deal", planned(5))], T0));
    assert_eq!((unmet.door.clone(), unmet.due(), unmet.needs_person()), (Door::Waiting, None, false));
    assert!(unmet.wake(&[single("deal", verified("d1", None))], T0), "it goes on by itself");
    assert_eq!(unmet.door, Door::Open);
    let mut never = Effect { door: held(), ..after(&["deal"]) };
    assert!(never.release(Hold::LookAlike, &[single("deal", Phase::AtMostOnce)], T0));
    assert_eq!(never.door, Door::Skipped { why: "'deal' ended at_most_once".to_owned() });
}

#[test]
fn each_hold_is_cleared_by_itself_and_the_door_opens_with_the_last() {
    let mut effect = Effect { door: held(), ..after(&[]) };
    effect.hold(Hold::Qualification, "uncertain");
    effect.hold(Hold::Qualification, "uncertain");
    assert!(!effect.release(Hold::Own, &[], T0), "it is not held by that");
    assert!(effect.release(Hold::Qualification, &[], T0));
    assert!(effect.needs_person(), "the look-alike still holds it");
    assert!(!effect.dismiss(Hold::Qualification, "no"), "what is cleared can no longer be dismissed");
    assert!(effect.release(Hold::LookAlike, &[], UtcMs(9_000)));
    assert_eq!((effect.door.clone(), effect.released.len()), (Door::Open, 2));
    assert!(effect.steps.iter().all(|step| step.planned_at == UtcMs(9_000)), "its patience begins when it may begin");
    let mut dismissed = Effect { door: held(), ..after(&[]) };
    assert!(dismissed.dismiss(Hold::LookAlike, "a double click"));
    assert_eq!(dismissed.door, Door::Skipped { why: "a double click".to_owned() });
}

#[test]
fn only_what_is_held_can_be_released() {
    for door in [Door::Waiting, skipped(), Door::Open] {
        let mut effect = Effect { door: door.clone(), ..after(&[]) };
        assert!(!effect.release(Hold::LookAlike, &[], T0));
        assert_eq!(effect.door, door);
    }
}

#[test]
fn i7_an_audit_is_made_though_a_later_step_is_a_persons_or_closed() {
    for phase in asking().into_iter().chain([closed(), Phase::AtMostOnce]) {
        let half = deal([verified("c1", Some(9)), phase.clone(), planned(7)]);
        assert_eq!((half.current(), half.due()), (Some(0), Some(UtcMs(9))), "{phase:?}");
        assert_eq!(half.state(), phase.as_str(), "its name is still that of the step it stands at");
    }
    let going_on = deal([verified("c1", Some(9)), planned(20), planned(7)]);
    assert_eq!((going_on.current(), going_on.due()), (Some(1), Some(UtcMs(20))), "what goes on by itself goes first");
}

#[test]
fn of_two_audits_the_earlier_one_is_due() {
    let both = deal([verified("c1", Some(9)), verified("d1", Some(8)), verified("l1", None)]);
    assert_eq!((both.current(), both.due()), (Some(1), Some(UtcMs(8))));
}

#[test]
fn an_alarm_by_an_audit_keeps_a_closed_effect_open() {
    let doubled = Phase::Doubled { ids: vec!["c1".to_owned(), "c2".to_owned()] };
    let half = deal([doubled, closed(), planned(7)]);
    assert_eq!((half.needs_person(), half.has_ended()), (true, false));
}
