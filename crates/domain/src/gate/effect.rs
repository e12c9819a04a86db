//! What a step of an effect may be: its phases, its attempts, and the declarations of a target that decide about them.
//!
//! How a step moves is `decide`'s business; how steps make an effect is `whole`'s.

use serde::{Deserialize, Serialize};

use crate::ids::StreamId;
use crate::planted::{self, Bug};
use crate::retry::Backoff;
use crate::time::UtcMs;

/// A part of an effect with its own intent and look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// The person in the target: one for one address, serialised per (target, address).
    Contact,
    /// The record that carries our key.
    Record,
    /// The tie between the two.
    Link,
    /// A message to a person.
    Message,
}

impl StepKind {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Contact => "contact",
            Self::Record => "record",
            Self::Link => "link",
            Self::Message => "message",
        }
    }
}

/// How a target's record is found by our key, as the target declares it (DESIGN section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "class")]
pub enum Find {
    /// The write itself is keyed and the target enforces it. `looks`: a look-up exists too.
    Upsert {
        /// Whether a look-up by key exists.
        looks: bool,
    },
    /// The provider keeps our idempotency key for a while.
    Window {
        /// For how long, in ms.
        window_ms: i64,
        /// Whether a look-up by key exists.
        looks: bool,
    },
    /// The target refuses a second record with our key.
    Unique,
    /// A look-up by key sees every write that was answered.
    Strong,
    /// A search index, behind by at most `max_ms`.
    Lagging {
        /// The longest lag, in ms.
        max_ms: i64,
    },
    /// The target cannot be asked.
    None,
}

impl Find {
    /// Whether the write carries the key, so that sending it again is not a blind retry.
    pub fn keyed(self) -> bool {
        matches!(self, Self::Upsert { .. } | Self::Window { .. } | Self::Unique)
    }

    /// Whether that holds however late the next write comes.
    pub fn keyed_for_good(self) -> bool {
        matches!(self, Self::Upsert { .. } | Self::Unique)
    }

    /// Whether the target can be asked for our key.
    pub fn looks(self) -> bool {
        match self {
            Self::Upsert { looks } | Self::Window { looks, .. } => looks,
            Self::Unique | Self::Strong | Self::Lagging { .. } => true,
            Self::None => false,
        }
    }

    /// Whether the target is asked before the first write too. A *unique* target refuses a second record by itself, and its
    /// conflict is looked up; where nothing can be asked, nothing is.
    pub fn looks_first(self) -> bool {
        self.looks() && self != Self::Unique
    }

    /// How far a look-up may be behind, in ms.
    pub fn lag_ms(self) -> i64 {
        if let Self::Lagging { max_ms } = self { max_ms } else { 0 }
    }
}

/// What an action says about a target that cannot be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// A person decides.
    #[default]
    Review,
    /// Send again: a double is accepted.
    AtLeastOnce,
    /// Never send again: a loss is accepted, in a state of that name.
    AtMostOnce,
}

/// What holds for the steps of one action on one target: declarations and bounds. All spans in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How the record is found.
    pub find: Find,
    /// Whether a record can be read back.
    pub reads: bool,
    /// The longest a sent request may still take effect.
    pub settle_ms: i64,
    /// The longest a stalled process may sit between its deadline check and the send.
    pub pause_max_ms: i64,
    /// From the intent to the deadline before which the send must begin; the answer is awaited as long again.
    pub timeout_ms: i64,
    /// Attempts that may have reached the target, before a person is asked.
    pub attempts_max: u32,
    /// How long after planning a step that was never sent is given to a person.
    pub give_up_ms: i64,
    /// Waits between tries.
    pub backoff: Backoff,
    /// What to do where the target cannot be asked.
    pub policy: Policy,
    /// When the book was last found to be restored or moved: until then a former self of it may have written to the target.
    pub restored_at: Option<UtcMs>,
}

/// How one attempt ended, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum Attempted {
    /// Not known: it may have taken effect, or still may.
    Open,
    /// Definitely not done.
    NotSent,
    /// The target refused this record.
    Refused,
    /// The target said that it has the key already.
    Conflicted,
    /// The target answered with the record's id.
    Answered {
        /// The id.
        id: String,
    },
    /// A look-up found its record, or another attempt's.
    Adopted,
    /// A look-up after the wait proved that nothing came of it, or a person said so.
    ProvedAbsent,
}

/// One try at a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// 1, 2, …
    pub n: u32,
    /// When its intent was made.
    pub begun_at: UtcMs,
    /// The send must begin before this.
    pub deadline: UtcMs,
    /// The fence it was made under.
    pub fence: u64,
    /// The process that made it.
    pub process: StreamId,
    /// How it ended.
    pub outcome: Attempted,
}

impl Attempt {
    /// Whether a record of it may stand in the target, or may yet come to stand there.
    pub fn is_open(&self) -> bool {
        matches!(self.outcome, Attempted::Open | Attempted::Conflicted)
    }

    /// Whether it may have reached the target at all.
    pub fn may_have_reached(&self) -> bool {
        !matches!(self.outcome, Attempted::NotSent)
    }
}

/// Why a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The outcome is unknown and the target cannot be asked.
    CannotAsk,
    /// The target was asked, and its answers cannot prove an absence.
    CannotTell,
    /// As many attempts as are allowed may have reached the target.
    AttemptsSpent,
    /// The provider's idempotency window no longer covers another attempt.
    WindowOver,
    /// Never sent, for longer than the configured patience.
    GaveUp,
}

impl Why {
    /// A sentence for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::CannotAsk => "the outcome of an attempt is unknown and the target cannot be asked",
            Self::CannotTell => "the target's look-up cannot prove that nothing is there",
            Self::AttemptsSpent => "as many attempts as are allowed may have reached the target",
            Self::WindowOver => "the provider's idempotency window no longer covers another attempt",
            Self::GaveUp => "nothing could be sent for longer than give_up_after",
        }
    }
}

/// Where a step stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "phase")]
pub enum Phase {
    /// An attempt may begin at `due`.
    Planned {
        /// When.
        due: UtcMs,
    },
    /// The latest attempt's intent is durable; its outcome is not known here yet.
    Intended,
    /// An attempt may have taken effect: the target is asked before anything is sent.
    Unknown {
        /// When to ask next.
        due: UtcMs,
        /// Look-ups made, for the waits between them.
        looks: u32,
        /// Look-ups in a row that count as proof of absence.
        absences: u32,
        /// Look-ups in a row that answered nothing usable.
        blind: u32,
    },
    /// The record stands; it has not been read back yet.
    Done {
        /// The record.
        id: String,
        /// When to read it.
        due: UtcMs,
        /// Read-backs that failed.
        reads: u32,
    },
    /// The record stands and carries our key.
    Verified {
        /// The record.
        id: String,
        /// When to ask once more whether it is the only one.
        audit_due: Option<UtcMs>,
    },
    /// The record stands, says the target; it cannot be read.
    Unverified {
        /// The record.
        id: String,
    },
    /// What was read back is not what was written.
    Mismatched {
        /// The record.
        id: String,
        /// What differs.
        what: String,
    },
    /// More than one record carries our key: an alarm.
    Doubled {
        /// All of them.
        ids: Vec<String>,
    },
    /// The target refused this record, and no earlier attempt is open.
    Refused {
        /// Its words, shortened.
        why: String,
    },
    /// A person decides.
    Review {
        /// Why.
        why: Why,
    },
    /// Sent once, outcome unknown, never sent again: the action's policy.
    AtMostOnce,
    /// A person closed it.
    Closed {
        /// The person's reason.
        why: String,
    },
}

impl Phase {
    /// The name in records.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Planned { .. } => "planned",
            Self::Intended => "intended",
            Self::Unknown { .. } => "unknown",
            Self::Done { .. } => "done",
            Self::Verified { .. } => "verified",
            Self::Unverified { .. } => "unverified",
            Self::Mismatched { .. } => "mismatched",
            Self::Doubled { .. } => "doubled",
            Self::Refused { .. } => "refused",
            Self::Review { .. } => "review",
            Self::AtMostOnce => "at_most_once",
            Self::Closed { .. } => "closed",
        }
    }

    /// Unknown from now on: asked at once.
    pub(super) fn unknown(now: UtcMs) -> Self {
        Self::Unknown { due: now, looks: 0, absences: 0, blind: 0 }
    }
}

/// One step of an effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Which part of the effect.
    pub kind: StepKind,
    /// Where it stands.
    pub phase: Phase,
    /// Every try, oldest first.
    pub attempts: Vec<Attempt>,
    /// From when on a look-up that finds nothing proves absence: it must have begun after this.
    pub quiet_until: UtcMs,
    /// When it was planned.
    pub planned_at: UtcMs,
    /// Attempts a person allowed beyond the bound.
    pub allowed: u32,
    /// Every record's id that was ever seen for it: from each of them one can walk back here (I11).
    #[serde(default)]
    pub seen: Vec<String>,
    /// The process that asked the target and found nothing, with no attempt since that may have reached it. Of another
    /// process, which may have had a later copy of this book, that says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked: Option<StreamId>,
    /// Looks before a write that failed in a row, for the waits between them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub looks_failed: u32,
    /// Its record stood in the target before an attempt of this book could have made it: a former self of the book was here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stood_before: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Step {
    /// A step that may begin at `now`.
    pub fn planned(kind: StepKind, now: UtcMs) -> Self {
        Self {
            kind,
            phase: Phase::Planned { due: now },
            attempts: Vec::new(),
            quiet_until: now,
            planned_at: now,
            allowed: 0,
            seen: Vec::new(),
            looked: None,
            looks_failed: 0,
            stood_before: false,
        }
    }

    /// The number of the latest attempt, 0 if there is none.
    pub fn latest(&self) -> u32 {
        self.attempts.last().map_or(0, |a| a.n)
    }

    /// Whether the step's record stands, as well as can be known: the next step may begin.
    pub fn has_passed(&self) -> bool {
        matches!(self.phase, Phase::Verified { .. } | Phase::Unverified { .. })
    }

    /// The record's id, where it is known.
    pub fn external_id(&self) -> Option<&str> {
        match &self.phase {
            Phase::Done { id, .. } | Phase::Verified { id, .. } | Phase::Unverified { id } | Phase::Mismatched { id, .. } => Some(id),
            Phase::Doubled { ids } => ids.first().map(String::as_str),
            Phase::Closed { .. } => self.seen.last().map(String::as_str),
            Phase::Planned { .. }
            | Phase::Intended
            | Phase::Unknown { .. }
            | Phase::Refused { .. }
            | Phase::Review { .. }
            | Phase::AtMostOnce => None,
        }
    }

    /// When something is to be done about it without a person.
    pub fn due(&self) -> Option<UtcMs> {
        match self.phase {
            Phase::Unknown { blind: 1.., .. } if planted::is(Bug::BlindHasNoDue) => None,
            Phase::Intended if planted::is(Bug::IntendedHasNoDue) => None,
            Phase::Planned { due } | Phase::Unknown { due, .. } | Phase::Done { due, .. } => Some(due),
            Phase::Verified { audit_due, .. } => audit_due,
            // Its worker holds the lease; should that run out, somebody else takes it up at once.
            Phase::Intended => self.attempts.last().map(|a| a.begun_at),
            Phase::Unverified { .. }
            | Phase::Mismatched { .. }
            | Phase::Doubled { .. }
            | Phase::Refused { .. }
            | Phase::Review { .. }
            | Phase::AtMostOnce
            | Phase::Closed { .. } => None,
        }
    }

    /// Takes note of a record's id.
    pub(super) fn note(&mut self, id: &str) {
        if !self.seen.iter().any(|seen| seen == id) {
            self.seen.push(id.to_owned());
        }
    }

    /// Whether a person has to decide before anything more happens.
    pub fn needs_person(&self) -> bool {
        matches!(self.phase, Phase::Mismatched { .. } | Phase::Doubled { .. } | Phase::Refused { .. } | Phase::Review { .. })
    }

    /// How many attempts may have left a record.
    pub(super) fn reached(&self) -> u32 {
        let reached = self.attempts.iter().filter(|a| a.may_have_reached()).count();
        u32::try_from(reached).unwrap_or(u32::MAX)
    }
}
