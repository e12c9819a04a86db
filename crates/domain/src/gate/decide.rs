//! How one step moves: state and observation in, new state and the next command out.
//!
//! The invariants that live here: no attempt begins while an earlier one is open, unless the write itself is keyed (I6);
//! *found* is believed at once, *absent* only from a look-up begun after `quiet_until` (DESIGN section 4); two found is an
//! alarm (I7). What does not fit a state is ignored with a reason, never guessed at: the caller keeps it as evidence.

use super::effect::{Attempt, Attempted, Find, Phase, Policy, Rules, Step, Why};
use crate::ids::StreamId;
use crate::time::UtcMs;

/// Look-ups in a row that may answer nothing usable before a person is asked.
const BLIND_LOOKS_MAX: u32 = 8;
/// Read-backs in a row that find no record before it counts as missing. One that fails is tried again without end: the
/// record stands, and its due time shows.
const READS_MAX: u32 = 8;

/// What was observed of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A worker holds the effect and the step is due.
    Begin {
        /// The lease's fence.
        fence: u64,
        /// The worker's process.
        process: StreamId,
    },
    /// The latest attempt's worker is gone: a crash, or a lease that ran out.
    Lost {
        /// Since when its process is known to be dead; `None` if it may only be paused.
        dead_since: Option<UtcMs>,
    },
    /// Definitely not done: no connection, no byte sent, 429, or an answer declared as not executed.
    NotSent {
        /// The wait the target asked for, in ms.
        retry_after_ms: Option<i64>,
    },
    /// A 4xx about this record.
    Refused {
        /// The target's words, shortened.
        why: String,
    },
    /// The target says that it has the key already.
    Conflict,
    /// Answered with the record's id.
    Applied {
        /// The id.
        id: String,
    },
    /// Anything else after the first byte: timeout, reset, 5xx, a 2xx without an id.
    NoAnswer,
    /// A look-up found records whose own field equals our key.
    Found {
        /// All of them, at least one.
        ids: Vec<String>,
    },
    /// A look-up, followed to its end, found none.
    Absent {
        /// When it began.
        begun_at: UtcMs,
    },
    /// A look-up failed, or its answer cannot prove anything.
    LookFailed,
    /// The record was read and carries our key, and what must be equal is equal.
    ReadSame,
    /// The record was read and differs where it must not, our key included.
    ReadDiffers {
        /// What differs.
        what: String,
    },
    /// The record is not there to be read.
    ReadGone,
    /// The read failed.
    ReadFailed,
    /// A late answer of an attempt that was given up: evidence, never dropped.
    LateAnswer {
        /// Which attempt.
        attempt: u32,
        /// The record's id.
        id: String,
    },
    /// A person looked: not there.
    NotThere {
        /// The latest attempt that the person saw.
        attempt: u32,
    },
    /// A person looked: it is there.
    ItIs {
        /// The record's id.
        id: String,
    },
    /// A person wants it looked at again; looks before it writes.
    Again,
    /// A person takes the record as it is, though it differs.
    Accept,
    /// A person closes it.
    Close {
        /// The person's reason.
        why: String,
    },
}

/// What the engine does next about the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Send the latest attempt, if its deadline has not passed.
    Send,
    /// Ask the target for our key.
    LookUp,
    /// Read the record.
    ReadBack,
    /// Nothing before the step's due time.
    Wait,
    /// A person is asked.
    Person,
    /// The step's end: the next one may begin, or the effect is over.
    Ended,
}

/// A step after an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It moved (perhaps onto itself), and this comes next.
    To(Step, Next),
    /// The observation does not fit the state; nothing changed.
    Ignored(&'static str),
}

/// Decides. `chance` jitters waits; everything else follows from the arguments.
pub fn decide(step: &Step, seen: &Observation, rules: &Rules, now: UtcMs, chance: u64) -> Moved {
    let ctx = Ctx { rules, now, chance };
    match seen {
        Observation::Begin { fence, process } => ctx.begin(step, *fence, process),
        Observation::Lost { dead_since } => ctx.lost(step, *dead_since),
        Observation::NotSent { retry_after_ms } => ctx.not_sent(step, *retry_after_ms),
        Observation::Refused { why } => ctx.refused(step, why),
        Observation::Conflict => ctx.conflict(step),
        Observation::Applied { id } => ctx.applied(step, id),
        Observation::NoAnswer => ctx.no_answer(step),
        Observation::Found { ids } => ctx.found(step, ids),
        Observation::Absent { begun_at } => ctx.absent(step, *begun_at),
        Observation::LookFailed => ctx.look_failed(step),
        Observation::ReadSame => ctx.read_same(step),
        Observation::ReadDiffers { what } => read_differs(step, what),
        Observation::ReadGone => ctx.read_gone(step),
        Observation::ReadFailed => ctx.read_failed(step),
        Observation::LateAnswer { attempt, id } => ctx.late_answer(step, *attempt, id),
        Observation::NotThere { attempt } => ctx.not_there(step, *attempt),
        Observation::ItIs { id } => ctx.it_is(step, id),
        Observation::Again => ctx.again(step),
        Observation::Accept => accept(step),
        Observation::Close { why } => close(step, why),
    }
}

const NO_ATTEMPT: Moved = Moved::Ignored("no attempt is under way");
const NO_LOOK_UP: Moved = Moved::Ignored("no look-up was asked for in this state");
const NO_READ_BACK: Moved = Moved::Ignored("no read-back was asked for in this state");

struct Ctx<'a> {
    rules: &'a Rules,
    now: UtcMs,
    chance: u64,
}

impl Ctx<'_> {
    fn begin(&self, step: &Step, fence: u64, process: &StreamId) -> Moved {
        match &step.phase {
            Phase::Planned { .. } => self.begin_planned(step, fence, process),
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

    fn begin_planned(&self, step: &Step, fence: u64, process: &StreamId) -> Moved {
        if let Some(moved) = self.known(step) {
            return moved;
        }
        let any_open = step.attempts.iter().any(Attempt::is_open);
        if any_open && !self.rules.find.keyed() && self.rules.policy != Policy::AtLeastOnce {
            return self.asked_first(step.clone());
        }
        if step.reached() >= self.rules.attempts_max.saturating_add(step.allowed) {
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
        next.quiet_until = next.quiet_until.max(self.quiet_after(deadline, self.rules.pause_max_ms));
        next.phase = Phase::Intended;
        Moved::To(next, Next::Send)
    }

    /// I6: the target's declaration or the action's policy was made stricter while an attempt is open: it is obeyed from
    /// now on, with the wait that belongs to it.
    fn asked_first(&self, mut step: Step) -> Moved {
        for attempt in step.attempts.iter().filter(|a| a.is_open()) {
            step.quiet_until = step.quiet_until.max(self.quiet_after(attempt.deadline, self.rules.pause_max_ms));
        }
        self.after_unknown(step)
    }

    /// From when on *absent* is proof: the latest possible send, the longest it may take effect, the index's lag. A keyed
    /// write needs no proof, so it waits for neither (protocol model, `unique` and `upsert`); a provider's window may be
    /// over by the time of the next write, so there it does.
    fn quiet_after(&self, sendable_until: UtcMs, pause_ms: i64) -> UtcMs {
        if self.rules.find.keyed_for_good() {
            return sendable_until;
        }
        sendable_until.plus(pause_ms).plus(self.rules.settle_ms).plus(self.rules.find.lag_ms())
    }

    /// Whether one more attempt still lands inside the provider's window, counted from the first that may have reached it.
    fn fits_window(&self, step: &Step) -> bool {
        let Find::Window { window_ms, .. } = self.rules.find else { return true };
        let first = step.attempts.iter().find(|a| a.may_have_reached()).map_or(self.now, |a| a.begun_at);
        let lands_by = self.now.plus(self.rules.timeout_ms).plus(self.rules.pause_max_ms).plus(self.rules.settle_ms);
        lands_by <= first.plus(window_ms)
    }

    fn lost(&self, step: &Step, dead_since: Option<UtcMs>) -> Moved {
        if step.phase != Phase::Intended {
            return NO_ATTEMPT;
        }
        let mut next = step.clone();
        if let Some(dead) = dead_since {
            next.quiet_until = self.quiet_after(dead, 0);
        }
        self.after_unknown(next)
    }

    fn no_answer(&self, step: &Step) -> Moved {
        if step.phase == Phase::Intended { self.after_unknown(step.clone()) } else { NO_ATTEMPT }
    }

    /// Where an unknown outcome goes: to the look-up; where there is none, to a keyed re-send, the policy or a person.
    fn after_unknown(&self, mut step: Step) -> Moved {
        if let Some(moved) = self.known(&step) {
            return moved;
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

    fn not_sent(&self, step: &Step, retry_after_ms: Option<i64>) -> Moved {
        let Some(next) = ended(step, Attempted::NotSent) else { return NO_ATTEMPT };
        if let Some(moved) = self.known(&next) {
            return moved;
        }
        self.planned_later(next, retry_after_ms)
    }

    fn planned_later(&self, mut step: Step, retry_after_ms: Option<i64>) -> Moved {
        let wait = self.rules.backoff.wait_ms(step.latest().max(1), self.chance, retry_after_ms);
        step.phase = Phase::Planned { due: self.now.plus(wait) };
        Moved::To(step, Next::Wait)
    }

    /// A refusal settles its own attempt; the effect is refused only if no earlier attempt is open.
    fn refused(&self, step: &Step, why: &str) -> Moved {
        let Some(mut next) = ended(step, Attempted::Refused) else { return NO_ATTEMPT };
        if let Some(moved) = self.known(&next) {
            return moved;
        }
        if next.attempts.iter().any(Attempt::is_open) {
            return self.after_refusal_with_open(next);
        }
        next.phase = Phase::Refused { why: why.to_owned() };
        Moved::To(next, Next::Person)
    }

    fn after_refusal_with_open(&self, mut step: Step) -> Moved {
        if self.rules.find.looks() {
            step.phase = Phase::unknown(self.now);
            return Moved::To(step, Next::LookUp);
        }
        review(step, Why::CannotAsk)
    }

    /// The target has our key already, it says: looked up, never taken as a refusal.
    fn conflict(&self, step: &Step) -> Moved {
        let Some(next) = ended(step, Attempted::Conflicted) else { return NO_ATTEMPT };
        self.known(&next).unwrap_or_else(|| self.after_refusal_with_open(next))
    }

    fn applied(&self, step: &Step, id: &str) -> Moved {
        let Some(next) = ended(step, Attempted::Answered { id: id.to_owned() }) else { return NO_ATTEMPT };
        self.known(&next).unwrap_or(NO_ATTEMPT)
    }

    /// What the attempts' own answers say: nothing, the record, or, where they disagree, an alarm (I7).
    fn known(&self, step: &Step) -> Option<Moved> {
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

    fn found(&self, step: &Step, ids: &[String]) -> Moved {
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

    fn adopt(&self, step: &Step, ids: &[String]) -> Moved {
        let mut all = ids.to_vec();
        all.extend(answered(step).filter(|id| !ids.contains(id)));
        if all.len() > 1 {
            return doubled(step.clone(), all);
        }
        let mut next = step.clone();
        for attempt in next.attempts.iter_mut().filter(|a| a.is_open()) {
            attempt.outcome = Attempted::Adopted;
        }
        self.done(next, all.remove(0))
    }

    fn absent(&self, step: &Step, begun_at: UtcMs) -> Moved {
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
        let counts = begun_at >= step.quiet_until;
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
    fn prove_absent(&self, step: &mut Step, seen_at: UtcMs) {
        let spared = self.rules.pause_max_ms.saturating_add(self.rules.settle_ms);
        let proved = |a: &Attempt| !self.rules.find.keyed_for_good() || seen_at >= a.deadline.plus(spared);
        for attempt in step.attempts.iter_mut().filter(|a| a.is_open() && proved(a)) {
            attempt.outcome = Attempted::ProvedAbsent;
        }
    }

    /// A search index may miss a record that is there: it is asked twice after the wait.
    fn absences_needed(&self) -> u32 {
        if matches!(self.rules.find, Find::Lagging { .. }) { 2 } else { 1 }
    }

    /// A look-up that fails leaves it unknown, with a due time; after a while a person is told that it cannot be asked.
    fn look_failed(&self, step: &Step) -> Moved {
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

    /// The record stands: read back where the target can be read, otherwise *done, unverified*, and says so.
    fn done(&self, mut step: Step, id: String) -> Moved {
        step.note(&id);
        if self.rules.reads {
            step.phase = Phase::Done { id, due: self.now, reads: 0 };
            return Moved::To(step, Next::ReadBack);
        }
        step.phase = Phase::Unverified { id };
        Moved::To(step, Next::Ended)
    }

    fn read_same(&self, step: &Step) -> Moved {
        let Phase::Done { id, .. } = &step.phase else { return NO_READ_BACK };
        let mut next = step.clone();
        let audited = self.rules.find.looks() && step.attempts.iter().filter(|a| may_stand(a)).count() > 1;
        let audit_due = audited.then(|| step.quiet_until.max(self.now.plus(self.rules.find.lag_ms())));
        next.phase = Phase::Verified { id: id.clone(), audit_due };
        Moved::To(next, Next::Ended)
    }

    /// A record that was just answered may take a moment to be readable; one that stays away is a mismatch.
    fn read_gone(&self, step: &Step) -> Moved {
        let Phase::Done { id, reads, .. } = &step.phase else { return NO_READ_BACK };
        if *reads + 1 >= READS_MAX && self.now >= step.quiet_until {
            return mismatched(step.clone(), id.clone(), "the target has no record of that id".to_owned());
        }
        self.read_later(step.clone(), id.clone(), *reads + 1)
    }

    fn read_failed(&self, step: &Step) -> Moved {
        let Phase::Done { id, reads, .. } = &step.phase else { return NO_READ_BACK };
        self.read_later(step.clone(), id.clone(), *reads + 1)
    }

    fn read_later(&self, mut step: Step, id: String, reads: u32) -> Moved {
        let due = self.now.plus(self.rules.backoff.wait_ms(reads, self.chance, None).max(1));
        step.phase = Phase::Done { id, due, reads };
        Moved::To(step, Next::Wait)
    }

    fn late_answer(&self, step: &Step, attempt: u32, id: &str) -> Moved {
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

    /// Offered only after the wait, bound to the attempt that the person saw, never on a mismatched record; it leads to a
    /// look-up where one exists.
    fn not_there(&self, step: &Step, attempt: u32) -> Moved {
        if !matches!(step.phase, Phase::Review { .. } | Phase::Refused { .. }) {
            return Moved::Ignored("'not there' is offered only where a person is asked about an unknown outcome");
        }
        if attempt != step.latest() {
            return Moved::Ignored("a newer attempt was made since: look again");
        }
        if self.now < step.quiet_until {
            return Moved::Ignored("a request may still take effect: wait until the settle time is over");
        }
        let mut next = step.clone();
        next.allowed += u32::from(step.reached() >= self.rules.attempts_max.saturating_add(step.allowed));
        if self.rules.find.looks() {
            next.phase = Phase::unknown(self.now);
            return Moved::To(next, Next::LookUp);
        }
        self.prove_absent(&mut next, self.now);
        next.phase = Phase::Planned { due: self.now };
        Moved::To(next, Next::Wait)
    }

    fn it_is(&self, step: &Step, id: &str) -> Moved {
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

    fn again(&self, step: &Step) -> Moved {
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

fn read_differs(step: &Step, what: &str) -> Moved {
    let Phase::Done { id, .. } = &step.phase else { return NO_READ_BACK };
    mismatched(step.clone(), id.clone(), what.to_owned())
}

/// Whether a record may stand that only a look-up can name again; an answer's own id is taken up by `begin`.
fn may_be_there(attempt: &Attempt) -> bool {
    attempt.is_open() || attempt.outcome == Attempted::Adopted
}

/// Whether a record of this attempt may stand in the target, against all bounds: what the audit counts.
fn may_stand(attempt: &Attempt) -> bool {
    !matches!(attempt.outcome, Attempted::NotSent | Attempted::Refused)
}

/// The id that an attempt of this step was answered with.
fn answered(step: &Step) -> Option<String> {
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

/// The step with its latest attempt ended so; `None` if none is under way.
fn ended(step: &Step, outcome: Attempted) -> Option<Step> {
    if step.phase != Phase::Intended {
        return None;
    }
    let mut next = step.clone();
    next.attempts.last_mut()?.outcome = outcome;
    Some(next)
}

fn review(mut step: Step, why: Why) -> Moved {
    step.phase = Phase::Review { why };
    Moved::To(step, Next::Person)
}

fn doubled(mut step: Step, ids: Vec<String>) -> Moved {
    for id in &ids {
        step.note(id);
    }
    step.phase = Phase::Doubled { ids };
    Moved::To(step, Next::Person)
}

fn mismatched(mut step: Step, id: String, what: String) -> Moved {
    step.phase = Phase::Mismatched { id, what };
    Moved::To(step, Next::Person)
}

/// The record is ours and stays as it is: done, and not verified.
fn accept(step: &Step) -> Moved {
    let Phase::Mismatched { id, .. } = &step.phase else {
        return Moved::Ignored("only a record that differs can be taken as it is");
    };
    let mut next = step.clone();
    next.phase = Phase::Unverified { id: id.clone() };
    Moved::To(next, Next::Ended)
}

fn close(step: &Step, why: &str) -> Moved {
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

#[cfg(test)]
mod tests;
