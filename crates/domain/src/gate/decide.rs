//! How one step moves: state and observation in, new state and the next command out.
//!
//! The invariants that live here: no attempt begins while an earlier one is open, unless the write itself is keyed (I6);
//! *found* is believed at once, *absent* only from a look-up begun after `quiet_until` (DESIGN section 4); two found is an
//! alarm (I7). Before a first write the target is asked too, where it can be: this book may be an older copy of another. What does not fit a state is ignored with a reason, never guessed at: the caller keeps it as evidence.
//!
//! Here are the words and the dispatch; `attempt`, `look`, `read` and `person` hold what each kind of observation does.

mod attempt;
mod look;
mod person;
mod read;

use super::effect::{Phase, Rules, Step, Why};
use crate::ids::StreamId;
use crate::planted::{self, Bug};
use crate::time::UtcMs;
use look::Looked;
use person::{accept, close};
use read::read_differs;

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
        /// The process that asked.
        process: StreamId,
    },
    /// A look-up was answered, and its answer cannot prove anything.
    LookFailed,
    /// A look-up got no answer: the target is away, or has no time for us. That says nothing about this step.
    LookUnanswered {
        /// The wait the target asked for, in ms.
        retry_after_ms: Option<i64>,
    },
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
        Observation::Absent { begun_at, process } => ctx.absent(step, *begun_at, process),
        Observation::LookFailed => ctx.look_failed(step, Looked::Blind),
        Observation::LookUnanswered { retry_after_ms } => ctx.look_failed(step, Looked::Unanswered(*retry_after_ms)),
        Observation::ReadSame => ctx.read_same(step),
        Observation::ReadDiffers { .. } if planted::is(Bug::DifferenceOverlooked) => ctx.read_same(step),
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

/// What every decision may look at besides the step and the observation.
struct Ctx<'a> {
    rules: &'a Rules,
    now: UtcMs,
    chance: u64,
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

#[cfg(test)]
mod tests;
