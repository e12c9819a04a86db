//! What a person says of a step, and what is not heard.

use super::{Ctx, Moved, Next};
use crate::gate::effect::{Attempt, Attempted, Phase, Step, Why};
use crate::planted::{self, Bug};

impl Ctx<'_> {
    /// Offered only after the wait, bound to the attempt that the person saw, never on a mismatched record; it leads to a
    /// look-up where one exists.
    pub(super) fn not_there(&self, step: &Step, attempt: u32) -> Moved {
        if !matches!(step.phase, Phase::Review { .. } | Phase::Refused { .. }) {
            return Moved::Ignored("'not there' is offered only where a person is asked about an unknown outcome");
        }
        if attempt != step.latest() {
            return Moved::Ignored("a newer attempt was made since: look again");
        }
        if self.now < self.quiet(step) && !planted::is(Bug::NotThereWithoutWait) {
            return Moved::Ignored("a request may still take effect: wait until the settle time is over");
        }
        let mut next = step.clone();
        next.allowed += u32::from(step.reached() >= self.rules.attempts_max.saturating_add(step.allowed));
        // Patience begins anew, or what was never sent for too long would be given up again at once.
        if !planted::is(Bug::NotThereKeepsPatience) {
            next.planned_at = self.now;
        }
        if self.rules.find.looks() && !planted::is(Bug::NotThereWithoutLook) {
            next.phase = Phase::unknown(self.now);
            return Moved::To(next, Next::LookUp);
        }
        self.prove_absent(&mut next, self.now);
        next.phase = Phase::Planned { due: self.now };
        Moved::To(next, Next::Wait)
    }

    pub(super) fn it_is(&self, step: &Step, id: &str) -> Moved {
        if matches!(step.phase, Phase::Intended) {
            return Moved::Ignored("an attempt is under way: wait for its outcome");
        }
        if step.has_passed() || matches!(step.phase, Phase::Done { .. }) {
            return Moved::Ignored("the record is known");
        }
        let mut next = step.clone();
        for attempt in next.attempts.iter_mut().filter(|a| a.is_open()) {
            attempt.outcome = Attempted::Adopted;
        }
        self.done(next, id.to_owned())
    }

    pub(super) fn again(&self, step: &Step) -> Moved {
        let mut next = step.clone();
        let (now, looks) = (self.now, self.rules.find.looks());
        match &step.phase {
            Phase::Intended => return Moved::Ignored("an attempt is under way"),
            Phase::Planned { .. } => next.phase = Phase::Planned { due: now },
            Phase::Done { id, .. } | Phase::Mismatched { id, .. } => {
                next.phase = Phase::Done { id: id.clone(), due: now, reads: 0 };
            }
            Phase::Verified { id, .. } if looks => next.phase = Phase::Verified { id: id.clone(), audit_due: Some(now) },
            Phase::Refused { .. } | Phase::Closed { .. } | Phase::Review { why: Why::GaveUp }
                if !step.attempts.iter().any(may_be_there) =>
            {
                next.planned_at = now;
                next.allowed += 1;
                next.phase = Phase::Planned { due: now };
            }
            Phase::Unknown { .. }
            | Phase::Doubled { .. }
            | Phase::Review { .. }
            | Phase::AtMostOnce
            | Phase::Refused { .. }
            | Phase::Closed { .. }
                if looks =>
            {
                next.allowed += u32::from(matches!(step.phase, Phase::Review { why: Why::AttemptsSpent }));
                next.phase = Phase::unknown(now);
            }
            Phase::Verified { .. } | Phase::Unverified { .. } => {
                return Moved::Ignored("the record stands, and the target cannot be asked again");
            }
            Phase::Unknown { .. }
            | Phase::Doubled { .. }
            | Phase::Review { .. }
            | Phase::AtMostOnce
            | Phase::Refused { .. }
            | Phase::Closed { .. } => return Moved::Ignored("the target cannot be asked: say 'not there', 'it is' or 'close'"),
        }
        Moved::To(next, Next::Wait)
    }
}

/// Whether a record may stand that only a look-up can name again; an answer's own id is taken up by `begin`.
pub(super) fn may_be_there(attempt: &Attempt) -> bool {
    attempt.is_open() || attempt.outcome == Attempted::Adopted
}

/// The record is ours and stays as it is: done, and not verified.
pub(super) fn accept(step: &Step) -> Moved {
    let Phase::Mismatched { id, .. } = &step.phase else {
        return Moved::Ignored("only a record that differs can be taken as it is");
    };
    let mut next = step.clone();
    next.phase = Phase::Unverified { id: id.clone() };
    Moved::To(next, Next::Ended)
}

pub(super) fn close(step: &Step, why: &str) -> Moved {
    match &step.phase {
        Phase::Intended => Moved::Ignored("an attempt is under way: wait for its outcome"),
        Phase::Verified { .. } | Phase::Unverified { .. } | Phase::Done { .. } => {
            Moved::Ignored("the record stands: there is nothing to close")
        }
        Phase::Closed { .. } => Moved::Ignored("it is closed"),
        Phase::Planned { .. }
        | Phase::Unknown { .. }
        | Phase::Mismatched { .. }
        | Phase::Doubled { .. }
        | Phase::Refused { .. }
        | Phase::Review { .. }
        | Phase::AtMostOnce => {
            let mut next = step.clone();
            next.phase = Phase::Closed { why: why.to_owned() };
            Moved::To(next, Next::Ended)
        }
    }
}
