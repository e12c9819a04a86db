//! Reading back: the record stands, and is it ours?

use super::{Ctx, Moved, Next, mismatched};
use crate::gate::effect::{Attempt, Attempted, Phase, Step};

/// Read-backs in a row that find no record before it counts as missing. One that fails is tried again without end: the
/// record stands, and its due time shows.
pub(super) const READS_MAX: u32 = 8;
const NO_READ_BACK: Moved = Moved::Ignored("no read-back was asked for in this state");

impl Ctx<'_> {
    /// The record stands: read back where the target can be read, otherwise *done, unverified*, and says so.
    pub(super) fn done(&self, mut step: Step, id: String) -> Moved {
        step.note(&id);
        if self.rules.reads {
            step.phase = Phase::Done { id, due: self.now, reads: 0 };
            return Moved::To(step, Next::ReadBack);
        }
        step.phase = Phase::Unverified { id };
        Moved::To(step, Next::Ended)
    }

    pub(super) fn read_same(&self, step: &Step) -> Moved {
        let Phase::Done { id, .. } = &step.phase else { return NO_READ_BACK };
        let mut next = step.clone();
        let audited = self.rules.find.looks() && step.attempts.iter().filter(|a| may_stand(a)).count() > 1;
        let audit_due = audited.then(|| step.quiet_until.max(self.now.plus(self.rules.find.lag_ms())));
        next.phase = Phase::Verified { id: id.clone(), audit_due };
        Moved::To(next, Next::Ended)
    }

    /// A record that was just answered may take a moment to be readable; one that stays away is a mismatch.
    pub(super) fn read_gone(&self, step: &Step) -> Moved {
        let Phase::Done { id, reads, .. } = &step.phase else { return NO_READ_BACK };
        if *reads + 1 >= READS_MAX && self.now >= step.quiet_until {
            return mismatched(step.clone(), id.clone(), "the target has no record of that id".to_owned());
        }
        self.read_later(step.clone(), id.clone(), *reads + 1)
    }

    pub(super) fn read_failed(&self, step: &Step) -> Moved {
        let Phase::Done { id, reads, .. } = &step.phase else { return NO_READ_BACK };
        self.read_later(step.clone(), id.clone(), *reads + 1)
    }

    pub(super) fn read_later(&self, mut step: Step, id: String, reads: u32) -> Moved {
        let due = self.now.plus(self.rules.backoff.wait_ms(reads, self.chance, None).max(1));
        step.phase = Phase::Done { id, due, reads };
        Moved::To(step, Next::Wait)
    }
}

pub(super) fn read_differs(step: &Step, what: &str) -> Moved {
    let Phase::Done { id, .. } = &step.phase else { return NO_READ_BACK };
    mismatched(step.clone(), id.clone(), what.to_owned())
}

/// Whether a record of this attempt may stand in the target, against all bounds: what the audit counts.
pub(super) fn may_stand(attempt: &Attempt) -> bool {
    !matches!(attempt.outcome, Attempted::NotSent | Attempted::Refused)
}
