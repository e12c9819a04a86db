//! Look-ups: *found* is believed at once, *absent* only from a look-up begun after the wait, and two found are an alarm (I7).

use super::{Ctx, Moved, Next, doubled, mismatched, review};
use crate::gate::effect::{Attempt, Attempted, Find, Phase, Step, StepKind, Why};
use crate::ids::StreamId;
use crate::planted::{self, Bug};
use crate::time::UtcMs;

/// Look-ups in a row that may answer nothing usable before a person is asked.
pub(super) const BLIND_LOOKS_MAX: u32 = 8;

/// How a look-up came to nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    /// It was answered, and the answer proves nothing.
    Blind,
    /// It was not answered; the wait that the target asked for, in ms.
    Unanswered(Option<i64>),
}

const NO_LOOK_UP: Moved = Moved::Ignored("no look-up was asked for in this state");

impl Ctx<'_> {
    pub(super) fn found(&self, step: &Step, ids: &[String]) -> Moved {
        assert!(!ids.is_empty(), "found means at least one record");
        match &step.phase {
            Phase::Unknown { .. } => self.adopt(step, ids),
            Phase::Planned { .. } if self.rules.find.looks_first() => self.adopt(step, ids),
            Phase::Verified { id, .. } if ids == [id.clone()] => {
                let mut next = step.clone();
                next.phase = Phase::Verified { id: id.clone(), audit_due: None };
                Moved::To(next, Next::Ended)
            }
            Phase::Verified { id, .. } => {
                let mut all = vec![id.clone()];
                all.extend(ids.iter().filter(|other| *other != id).cloned());
                doubled(step.clone(), all)
            }
            Phase::Planned { .. }
            | Phase::Intended
            | Phase::Done { .. }
            | Phase::Unverified { .. }
            | Phase::Mismatched { .. }
            | Phase::Doubled { .. }
            | Phase::Refused { .. }
            | Phase::Review { .. }
            | Phase::AtMostOnce
            | Phase::Closed { .. } => NO_LOOK_UP,
        }
    }

    pub(super) fn adopt(&self, step: &Step, ids: &[String]) -> Moved {
        let mut all = ids.to_vec();
        all.extend(answered(step).filter(|id| !ids.contains(id)));
        if planted::is(Bug::TwoFoundFirstTaken) {
            all.truncate(1);
        }
        if all.len() > 1 {
            return doubled(step.clone(), all);
        }
        let mut next = step.clone();
        next.stood_before = step.kind != StepKind::Contact && !step.attempts.iter().any(may_have_made_it);
        if let (true, Some(last)) = (planted::is(Bug::FoundIsNotAdopted), step.attempts.last()) {
            return self.absent(step, self.now, &last.process);
        }
        for attempt in next.attempts.iter_mut().filter(|a| a.is_open()) {
            attempt.outcome = Attempted::Adopted;
        }
        self.done(next, all.remove(0))
    }

    /// Nothing is there before a write of this process: it may begin. It is no proof about attempts of ours, of which none is
    /// open; only a former self of a restored book may have sent, and is waited for.
    fn first_absent(&self, step: &Step, begun_at: UtcMs, process: &StreamId) -> Moved {
        let mut next = step.clone();
        next.looks_failed = 0;
        let from = self.rules.restored_at.map_or(begun_at, |restored| self.quiet_after(restored, 0));
        if begun_at < from {
            next.phase = Phase::Planned { due: from.max(self.now.plus(1)) };
        } else {
            next.looked = Some(process.clone());
            next.phase = Phase::Planned { due: self.now };
        }
        Moved::To(next, Next::Wait)
    }

    pub(super) fn absent(&self, step: &Step, begun_at: UtcMs, process: &StreamId) -> Moved {
        let (looks, absences) = match &step.phase {
            Phase::Planned { .. } if self.rules.find.looks_first() => return self.first_absent(step, begun_at, process),
            Phase::Unknown { looks, absences, .. } => (*looks, *absences),
            Phase::Verified { id, .. } if begun_at < step.quiet_until => {
                let mut next = step.clone();
                next.phase = Phase::Verified { id: id.clone(), audit_due: Some(step.quiet_until) };
                return Moved::To(next, Next::Wait);
            }
            Phase::Verified { id, .. } => {
                let what = "the target no longer finds a record with our key".to_owned();
                return mismatched(step.clone(), id.clone(), what);
            }
            Phase::Planned { .. }
            | Phase::Intended
            | Phase::Done { .. }
            | Phase::Unverified { .. }
            | Phase::Mismatched { .. }
            | Phase::Doubled { .. }
            | Phase::Refused { .. }
            | Phase::Review { .. }
            | Phase::AtMostOnce
            | Phase::Closed { .. } => return NO_LOOK_UP,
        };
        let mut next = step.clone();
        let quiet = self.quiet(step);
        let counts = begun_at >= quiet || planted::is(Bug::LookBeforeTheWait);
        let absences = if counts { absences + 1 } else { 0 };
        if absences >= self.absences_needed() {
            self.prove_absent(&mut next, begun_at);
            next.looked = Some(process.clone());
            next.phase = Phase::Planned { due: self.now };
            return Moved::To(next, Next::Wait);
        }
        let wait = self.rules.backoff.wait_ms(looks + 1, self.chance, None).max(1);
        let soon = self.now.plus(wait);
        let due = if counts { soon } else { soon.min(quiet.max(self.now.plus(1))) };
        next.phase = Phase::Unknown { due, looks: looks + 1, absences, blind: 0 };
        Moved::To(next, Next::Wait)
    }

    /// Nothing was there at `seen_at`. A write that is keyed for good goes again before that proves anything: until nothing of
    /// an attempt can come any more it stays open, so that a refusal of the next one does not speak for it.
    pub(super) fn prove_absent(&self, step: &mut Step, seen_at: UtcMs) {
        let spared = self.rules.pause_max_ms.saturating_add(self.rules.settle_ms);
        let proved = |a: &Attempt| !self.rules.find.keyed_for_good() || seen_at >= a.deadline.plus(spared);
        for attempt in step.attempts.iter_mut().filter(|a| a.is_open() && proved(a)) {
            attempt.outcome = Attempted::ProvedAbsent;
        }
    }

    /// A search index may miss a record that is there: it is asked twice after the wait.
    pub(super) fn absences_needed(&self) -> u32 {
        if matches!(self.rules.find, Find::Lagging { .. }) && !planted::is(Bug::OneLookOnLag) { 2 } else { 1 }
    }

    /// Nothing was sent, so nothing is unknown: it stays planned, until patience ends as for a write that never leaves.
    fn first_look_failed(&self, mut step: Step, how: Looked) -> Moved {
        if step.reached() == 0 && self.now.since(step.planned_at) > self.rules.give_up_ms {
            return review(step, Why::GaveUp);
        }
        step.looks_failed += 1;
        if how == Looked::Blind && step.looks_failed >= BLIND_LOOKS_MAX {
            return review(step, Why::CannotTell);
        }
        step.phase = Phase::Planned { due: self.look_again(step.looks_failed, how) };
        Moved::To(step, Next::Wait)
    }

    fn look_again(&self, looks: u32, how: Looked) -> UtcMs {
        let asked = if let Looked::Unanswered(asked) = how { asked } else { None };
        self.now.plus(self.rules.backoff.wait_ms(looks, self.chance, asked).max(1))
    }

    /// A look-up that fails leaves it unknown, with a due time; after a while a person is told that its answers prove nothing.
    /// While the target is away that is not asked: it comes back.
    pub(super) fn look_failed(&self, step: &Step, how: Looked) -> Moved {
        if let (true, Some(last)) = (planted::is(Bug::FailedLookIsAbsence), step.attempts.last()) {
            return self.absent(step, self.now, &last.process);
        }
        let mut next = step.clone();
        let (looks, blind) = match &step.phase {
            Phase::Unknown { looks, blind, .. } => (*looks, *blind),
            Phase::Planned { .. } if self.rules.find.looks_first() => return self.first_look_failed(next, how),
            Phase::Verified { id, audit_due: Some(_) } => {
                let due = self.now.plus(self.rules.backoff.max_ms.max(1));
                next.phase = Phase::Verified { id: id.clone(), audit_due: Some(due) };
                return Moved::To(next, Next::Wait);
            }
            Phase::Planned { .. }
            | Phase::Intended
            | Phase::Done { .. }
            | Phase::Verified { audit_due: None, .. }
            | Phase::Unverified { .. }
            | Phase::Mismatched { .. }
            | Phase::Doubled { .. }
            | Phase::Refused { .. }
            | Phase::Review { .. }
            | Phase::AtMostOnce
            | Phase::Closed { .. } => return NO_LOOK_UP,
        };
        let blind = blind + u32::from(how == Looked::Blind);
        if blind >= BLIND_LOOKS_MAX {
            return review(next, Why::CannotTell);
        }
        next.phase = Phase::Unknown { due: self.look_again(looks + 1, how), looks: looks + 1, absences: 0, blind };
        Moved::To(next, Next::Wait)
    }
}

/// Whether the record that was found may be this attempt's.
fn may_have_made_it(attempt: &Attempt) -> bool {
    !matches!(attempt.outcome, Attempted::NotSent | Attempted::Refused | Attempted::Conflicted)
}

/// The id that an attempt of this step was answered with.
pub(super) fn answered(step: &Step) -> Option<String> {
    step.attempts.iter().find_map(|a| match &a.outcome {
        Attempted::Answered { id } => Some(id.clone()),
        Attempted::Open
        | Attempted::NotSent
        | Attempted::Refused
        | Attempted::Conflicted
        | Attempted::Adopted
        | Attempted::ProvedAbsent => None,
    })
}
