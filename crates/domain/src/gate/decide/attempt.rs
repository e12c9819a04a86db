//! Attempts: when one may begin (I6), and what its answer, or its silence, makes of the step.

use super::{Ctx, Moved, Next, doubled, review};
use crate::gate::effect::{Attempt, Attempted, Find, Phase, Policy, Step, Why};
use crate::ids::StreamId;
use crate::planted::{self, Bug};
use crate::time::UtcMs;

const NO_ATTEMPT: Moved = Moved::Ignored("no attempt is under way");

impl Ctx<'_> {
    pub(super) fn begin(&self, step: &Step, fence: u64, process: &StreamId) -> Moved {
        match &step.phase {
            Phase::Planned { .. } => self.begin_planned(step, fence, process),
            Phase::Unknown { .. } if planted::is(Bug::AttemptsForgotten) => {
                self.begin_planned(&Step { attempts: Vec::new(), ..step.clone() }, fence, process)
            }
            Phase::Unknown { .. } | Phase::Verified { audit_due: Some(_), .. } => Moved::To(step.clone(), Next::LookUp),
            Phase::Done { .. } => Moved::To(step.clone(), Next::ReadBack),
            Phase::Intended => Moved::Ignored("an attempt is under way: its worker answers, or is lost"),
            Phase::Verified { audit_due: None, .. } | Phase::Unverified { .. } | Phase::AtMostOnce | Phase::Closed { .. } => {
                Moved::Ignored("the step has ended")
            }
            Phase::Mismatched { .. } | Phase::Doubled { .. } | Phase::Refused { .. } | Phase::Review { .. } => {
                Moved::Ignored("a person decides first")
            }
        }
    }

    pub(super) fn begin_planned(&self, step: &Step, fence: u64, process: &StreamId) -> Moved {
        if let Some(moved) = self.known(step) {
            return moved;
        }
        let any_open = step.attempts.iter().any(Attempt::is_open);
        if any_open && !self.rules.find.keyed() && self.rules.policy != Policy::AtLeastOnce {
            return self.asked_first(step.clone());
        }
        if self.rules.find.looks_first() && step.looked.as_ref() != Some(process) {
            return Moved::To(step.clone(), Next::LookUp);
        }
        if step.reached() >= self.rules.attempts_max.saturating_add(step.allowed) && !planted::is(Bug::AttemptsUnbounded) {
            return review(step.clone(), Why::AttemptsSpent);
        }
        if any_open && !self.fits_window(step) {
            return review(step.clone(), Why::WindowOver);
        }
        if step.reached() == 0 && self.now.since(step.planned_at) > self.rules.give_up_ms {
            return review(step.clone(), Why::GaveUp);
        }
        let mut next = step.clone();
        let (n, deadline) = (step.latest() + 1, self.now.plus(self.rules.timeout_ms));
        // A long outage makes thousands of tries that never left; the journal has them, the state need not.
        next.attempts.retain(Attempt::may_have_reached);
        let (begun_at, process) = (self.now, process.clone());
        next.attempts.push(Attempt { n, begun_at, deadline, fence, process, outcome: Attempted::Open });
        if n == 1 || !planted::is(Bug::WaitNotRearmed) {
            next.quiet_until = next.quiet_until.max(self.quiet_after(deadline, self.rules.pause_max_ms));
        }
        next.phase = Phase::Intended;
        Moved::To(next, Next::Send)
    }

    /// I6: the target's declaration or the action's policy was made stricter while an attempt is open: it is obeyed from
    /// now on, with the wait that belongs to it.
    pub(super) fn asked_first(&self, mut step: Step) -> Moved {
        for attempt in step.attempts.iter().filter(|a| a.is_open()) {
            step.quiet_until = step.quiet_until.max(self.quiet_after(attempt.deadline, self.rules.pause_max_ms));
        }
        self.after_unknown(step)
    }

    /// From when on *absent* is proof: the latest possible send, the longest it may take effect, the index's lag. A keyed
    /// write needs no proof, so it waits for neither (protocol model, `unique` and `upsert`); a provider's window may be
    /// over by the time of the next write, so there it does.
    pub(super) fn quiet_after(&self, sendable_until: UtcMs, pause_ms: i64) -> UtcMs {
        if self.rules.find.keyed_for_good() {
            return sendable_until;
        }
        let pause_ms = if planted::is(Bug::WaitForgetsPause) { 0 } else { pause_ms };
        let settle_ms = if planted::is(Bug::WaitForgetsSettle) { 0 } else { self.rules.settle_ms };
        let lag_ms = if planted::is(Bug::WaitForgetsLag) { 0 } else { self.rules.find.lag_ms() };
        sendable_until.plus(pause_ms).plus(settle_ms).plus(lag_ms)
    }

    /// The same for this step: a former self of the book may have sent until the book was restored.
    pub(super) fn quiet(&self, step: &Step) -> UtcMs {
        self.rules.restored_at.map_or(step.quiet_until, |restored| step.quiet_until.max(self.quiet_after(restored, 0)))
    }

    /// Whether one more attempt still lands inside the provider's window, counted from the first that may have reached it.
    pub(super) fn fits_window(&self, step: &Step) -> bool {
        let Find::Window { window_ms, .. } = self.rules.find else { return true };
        let first = step.attempts.iter().find(|a| a.may_have_reached()).map_or(self.now, |a| a.begun_at);
        let lands_by = self.now.plus(self.rules.timeout_ms).plus(self.rules.pause_max_ms).plus(self.rules.settle_ms);
        lands_by <= first.plus(window_ms) || planted::is(Bug::WindowUnchecked)
    }

    pub(super) fn lost(&self, step: &Step, dead_since: Option<UtcMs>) -> Moved {
        if step.phase != Phase::Intended {
            return NO_ATTEMPT;
        }
        if planted::is(Bug::CrashNotSent) {
            return self.not_sent(step, None);
        }
        let dead_since = if planted::is(Bug::PauseTakenForDeath) { dead_since.or(Some(self.now)) } else { dead_since };
        let mut next = step.clone();
        if let Some(dead) = dead_since {
            next.quiet_until = if planted::is(Bug::DeathForgetsSettle) { dead } else { self.quiet_after(dead, 0) };
        }
        self.after_unknown(next)
    }

    pub(super) fn no_answer(&self, step: &Step) -> Moved {
        if planted::is(Bug::ResetNotSent) {
            return self.not_sent(step, None);
        }
        if planted::is(Bug::DoneBeforeTheAnswer) {
            return self.done(step.clone(), "assumed".to_owned());
        }
        if step.phase == Phase::Intended { self.after_unknown(step.clone()) } else { NO_ATTEMPT }
    }

    /// Where an unknown outcome goes: to the look-up; where there is none, to a keyed re-send, the policy or a person.
    pub(super) fn after_unknown(&self, mut step: Step) -> Moved {
        if let Some(moved) = self.known(&step) {
            return moved;
        }
        if planted::is(Bug::LookSkipped) {
            self.prove_absent(&mut step, self.now);
            return self.planned_later(step, None);
        }
        if self.rules.find.looks() {
            step.phase = Phase::unknown(self.now);
            return Moved::To(step, Next::LookUp);
        }
        match (self.rules.find.keyed(), self.rules.policy) {
            (true, _) | (false, Policy::AtLeastOnce) => self.planned_later(step, None),
            (false, Policy::AtMostOnce) => {
                step.phase = Phase::AtMostOnce;
                Moved::To(step, Next::Ended)
            }
            (false, Policy::Review) => review(step, Why::CannotAsk),
        }
    }

    pub(super) fn not_sent(&self, step: &Step, retry_after_ms: Option<i64>) -> Moved {
        let Some(next) = ended(step, Attempted::NotSent) else { return NO_ATTEMPT };
        if let Some(moved) = self.known(&next) {
            return moved;
        }
        self.planned_later(next, retry_after_ms)
    }

    pub(super) fn planned_later(&self, mut step: Step, retry_after_ms: Option<i64>) -> Moved {
        let wait = self.rules.backoff.wait_ms(step.latest().max(1), self.chance, retry_after_ms);
        step.phase = Phase::Planned { due: self.now.plus(wait) };
        Moved::To(step, Next::Wait)
    }

    /// A refusal settles its own attempt; the effect is refused only if no earlier attempt is open.
    pub(super) fn refused(&self, step: &Step, why: &str) -> Moved {
        let Some(mut next) = ended(step, Attempted::Refused) else { return NO_ATTEMPT };
        if let Some(moved) = self.known(&next) {
            return moved;
        }
        if next.attempts.iter().any(Attempt::is_open) && !planted::is(Bug::RefusedThoughOpen) {
            return self.after_refusal_with_open(next);
        }
        next.phase = Phase::Refused { why: why.to_owned() };
        Moved::To(next, Next::Person)
    }

    pub(super) fn after_refusal_with_open(&self, mut step: Step) -> Moved {
        if self.rules.find.looks() {
            step.phase = Phase::unknown(self.now);
            return Moved::To(step, Next::LookUp);
        }
        review(step, Why::CannotAsk)
    }

    /// The target has our key already, it says: looked up, never taken as a refusal.
    pub(super) fn conflict(&self, step: &Step) -> Moved {
        if planted::is(Bug::ConflictIsRefusal) {
            return self.refused(step, "exists already");
        }
        let Some(next) = ended(step, Attempted::Conflicted) else { return NO_ATTEMPT };
        self.known(&next).unwrap_or_else(|| self.after_refusal_with_open(next))
    }

    pub(super) fn applied(&self, step: &Step, id: &str) -> Moved {
        let Some(next) = ended(step, Attempted::Answered { id: id.to_owned() }) else { return NO_ATTEMPT };
        self.known(&next).unwrap_or(NO_ATTEMPT)
    }

    /// What the attempts' own answers say: nothing, the record, or, where they disagree, an alarm (I7).
    pub(super) fn known(&self, step: &Step) -> Option<Moved> {
        let mut ids: Vec<String> = Vec::new();
        for attempt in &step.attempts {
            if let Attempted::Answered { id } = &attempt.outcome
                && !ids.contains(id)
            {
                ids.push(id.clone());
            }
        }
        match ids.len() {
            0 => None,
            1 => Some(self.done(step.clone(), ids.remove(0))),
            _ => Some(doubled(step.clone(), ids)),
        }
    }

    pub(super) fn late_answer(&self, step: &Step, attempt: u32, id: &str) -> Moved {
        let mut next = step.clone();
        let Some(late) = next.attempts.iter_mut().find(|a| a.n == attempt) else {
            return Moved::Ignored("no attempt of that number");
        };
        if late.outcome == (Attempted::Answered { id: id.to_owned() }) {
            return Moved::Ignored("that answer is known");
        }
        late.outcome = Attempted::Answered { id: id.to_owned() };
        match &step.phase {
            Phase::Planned { .. } | Phase::Unknown { .. } | Phase::Refused { .. } | Phase::Review { .. } | Phase::AtMostOnce => {
                self.known(&next).unwrap_or(NO_ATTEMPT)
            }
            Phase::Done { id: known, .. }
            | Phase::Verified { id: known, .. }
            | Phase::Unverified { id: known }
            | Phase::Mismatched { id: known, .. }
                if known != id =>
            {
                let ids = vec![known.clone(), id.to_owned()];
                doubled(next, ids)
            }
            Phase::Doubled { ids } if !ids.iter().any(|known| known == id) => {
                let ids = ids.iter().cloned().chain([id.to_owned()]).collect();
                doubled(next, ids)
            }
            Phase::Intended | Phase::Done { .. } => Moved::To(next, Next::Wait),
            Phase::Mismatched { .. } | Phase::Doubled { .. } => Moved::To(next, Next::Person),
            Phase::Verified { .. } | Phase::Unverified { .. } | Phase::Closed { .. } => Moved::To(next, Next::Ended),
        }
    }
}

/// The step with its latest attempt ended so; `None` if none is under way.
pub(super) fn ended(step: &Step, outcome: Attempted) -> Option<Step> {
    if step.phase != Phase::Intended {
        return None;
    }
    let mut next = step.clone();
    next.attempts.last_mut()?.outcome = outcome;
    Some(next)
}
