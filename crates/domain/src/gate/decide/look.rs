//! Look-ups: *found* is believed at once, *absent* only from a look-up begun after the wait, and two found are an alarm (I7).

use super::{Ctx, Moved, Next, doubled, mismatched, review};
use crate::gate::effect::{Attempt, Attempted, Find, Phase, Step, Why};
use crate::planted::{self, Bug};
use crate::time::UtcMs;

/// Look-ups in a row that may answer nothing usable before a person is asked.
pub(super) const BLIND_LOOKS_MAX: u32 = 8;
const NO_LOOK_UP: Moved = Moved::Ignored("no look-up was asked for in this state");

impl Ctx<'_> {
    pub(super) fn found(&self, step: &Step, ids: &[String]) -> Moved {
        assert!(!ids.is_empty(), "found means at least one record");
        match &step.phase {
            Phase::Unknown { .. } => self.adopt(step, ids),
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
        if planted::is(Bug::FoundIsNotAdopted) {
            return self.absent(step, self.now);
        }
        for attempt in next.attempts.iter_mut().filter(|a| a.is_open()) {
            attempt.outcome = Attempted::Adopted;
        }
        self.done(next, all.remove(0))
    }

    pub(super) fn absent(&self, step: &Step, begun_at: UtcMs) -> Moved {
        let (looks, absences) = match &step.phase {
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
        let counts = begun_at >= step.quiet_until || planted::is(Bug::LookBeforeTheWait);
        let absences = if counts { absences + 1 } else { 0 };
        if absences >= self.absences_needed() {
            self.prove_absent(&mut next, begun_at);
            next.phase = Phase::Planned { due: self.now };
            return Moved::To(next, Next::Wait);
        }
        let wait = self.rules.backoff.wait_ms(looks + 1, self.chance, None).max(1);
        let soon = self.now.plus(wait);
        let due = if counts { soon } else { soon.min(step.quiet_until.max(self.now.plus(1))) };
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

    /// A look-up that fails leaves it unknown, with a due time; after a while a person is told that it cannot be asked.
    pub(super) fn look_failed(&self, step: &Step) -> Moved {
        if planted::is(Bug::FailedLookIsAbsence) {
            return self.absent(step, self.now);
        }
        let mut next = step.clone();
        let (looks, blind) = match &step.phase {
            Phase::Unknown { looks, blind, .. } => (*looks, *blind),
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
        if blind + 1 >= BLIND_LOOKS_MAX {
            return review(next, Why::CannotTell);
        }
        let wait = self.rules.backoff.wait_ms(looks + 1, self.chance, None).max(1);
        next.phase = Phase::Unknown { due: self.now.plus(wait), looks: looks + 1, absences: 0, blind: blind + 1 };
        Moved::To(next, Next::Wait)
    }
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
