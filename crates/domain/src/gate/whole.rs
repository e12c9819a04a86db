//! An effect as a whole: its door (waiting, held, skipped, open), its steps in order, and what depends on it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::decide::{Moved, Next};
use super::effect::{Attempt, Phase, Step, StepKind};
use crate::digest::Digest;
use crate::identity::Key;
use crate::ids::{EffectId, EnquiryId};
use crate::planted::{self, Bug};
use crate::time::UtcMs;

/// What holds an effect. Each is cleared by a person's decision about just that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// The enquiry repeats a recent one's fields.
    LookAlike,
    /// The enquiry's local event time stands for two instants, or for none.
    AmbiguousTime,
    /// Who or what the enquiry is does not stand for certain in what was sent.
    Ambiguous,
    /// The qualification failed or is uncertain.
    Qualification,
    /// The book was restored or moved, or a former self of it was at work: what this sends may have been sent already.
    Restored,
    /// Its recipient's address is not to be written to.
    DoNotContact,
    /// Its recipient's address had as many messages as are allowed.
    PerAddress,
    /// Something about this effect: its condition, its age, its rendering, its configuration.
    Own,
}

/// Whether the effect's steps may begin at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "door")]
pub enum Door {
    /// The actions named in `after` have not ended yet.
    Waiting,
    /// A person decides first.
    Held {
        /// Why, in words.
        why: String,
        /// What holds it: it opens when the last of these is cleared.
        by: BTreeSet<Hold>,
    },
    /// Its condition is false, or what it waited for never came to be: it will not be carried out.
    Skipped {
        /// Why.
        why: String,
    },
    /// Its steps are carried out.
    Open,
}

/// One action of one enquiry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Derived from (key, action, ordinal).
    pub id: EffectId,
    /// The enquiry.
    pub enquiry: EnquiryId,
    /// The action's name.
    pub action: String,
    /// The target's name.
    pub target: String,
    /// 0 is automatic; n+1 exists only by a person's re-run.
    pub ordinal: u32,
    /// What the target's record carries.
    pub outgoing_key: String,
    /// Actions that must have ended well before this one begins.
    pub after: Vec<String>,
    /// Whether its steps may begin.
    pub door: Door,
    /// Its steps, in order.
    pub steps: Vec<Step>,
    /// What is sent, rendered once: the same bytes on every try.
    pub rendered: Option<Digest>,
    /// What a person cleared: it does not hold the effect again.
    #[serde(default)]
    pub released: BTreeSet<Hold>,
}

/// What an effect that waits for others should do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// All have ended well.
    Ready,
    /// At least one has not ended.
    NotYet,
    /// One ended otherwise, so this one never begins; the reason.
    Never(String),
}

impl Effect {
    /// A planned effect of an enquiry with these steps, its door open.
    pub fn planned(key: &Key, action: &str, target: &str, ordinal: u32, kinds: &[StepKind], now: UtcMs) -> Self {
        assert!(!kinds.is_empty(), "an effect has at least one step");
        Self {
            id: key.effect_id(action, ordinal),
            enquiry: key.enquiry_id(),
            action: action.to_owned(),
            target: target.to_owned(),
            ordinal,
            outgoing_key: key.outgoing(ordinal),
            after: Vec::new(),
            door: Door::Open,
            steps: kinds.iter().map(|&kind| Step::planned(kind, now)).collect(),
            rendered: None,
            released: BTreeSet::new(),
        }
    }

    /// The index of the step that work is at: the first whose record does not stand yet, if it goes on by itself; else the
    /// audit that is due first; else that same step, which is a person's or has ended.
    pub fn current(&self) -> Option<usize> {
        let pending = self.steps.iter().position(|step| !step.has_passed());
        let goes_on = pending.filter(|&index| self.steps[index].due().is_some());
        goes_on.or_else(|| self.audit()).or(pending)
    }

    /// The index of the step whose audit is due first.
    fn audit(&self) -> Option<usize> {
        let due = |step: &Step| step.has_passed().then(|| step.due()).flatten();
        (0..self.steps.len()).filter(|&index| due(&self.steps[index]).is_some()).min_by_key(|&index| due(&self.steps[index]))
    }

    /// When a worker should take it up; `None` where nothing is to be done without a person or another effect.
    pub fn due(&self) -> Option<UtcMs> {
        if self.door != Door::Open {
            return None;
        }
        self.steps[self.current()?].due()
    }

    /// The name of where it stands, for records and people.
    pub fn state(&self) -> &'static str {
        match &self.door {
            Door::Waiting => "waiting",
            Door::Held { .. } => "held",
            Door::Skipped { .. } => "skipped",
            Door::Open => {
                let pending = self.steps.iter().find(|step| !step.has_passed()).or(self.steps.last());
                pending.map_or("planned", |step| step.phase.as_str())
            }
        }
    }

    /// Whether every record of it stands.
    pub fn has_succeeded(&self) -> bool {
        self.door == Door::Open && self.steps.iter().all(Step::has_passed)
    }

    /// Whether nothing more will happen by itself or is asked of a person. A due audit does not keep an effect open.
    pub fn has_ended(&self) -> bool {
        let given_up = |step: &Step| matches!(step.phase, Phase::Closed { .. } | Phase::AtMostOnce);
        matches!(self.door, Door::Skipped { .. }) || self.has_succeeded() || self.steps.iter().any(given_up) && !self.needs_person()
    }

    /// Whether a person has to decide before it goes on.
    pub fn needs_person(&self) -> bool {
        match &self.door {
            Door::Held { .. } => true,
            Door::Waiting | Door::Skipped { .. } => false,
            Door::Open => self.steps.iter().any(Step::needs_person),
        }
    }

    /// The id of the record or message, where it is known.
    pub fn external_id(&self) -> Option<&str> {
        let main = |step: &&Step| matches!(step.kind, StepKind::Record | StepKind::Message);
        self.steps.iter().find(main)?.external_id()
    }

    /// Puts a moved step back in its place; says what comes next for the effect.
    #[must_use]
    pub fn moved(mut self, index: usize, moved: &Moved) -> (Self, Next) {
        match moved {
            Moved::To(step, next) => {
                self.steps[index] = step.clone();
                (self, *next)
            }
            Moved::Ignored(_) => (self, Next::Wait),
        }
    }

    /// Holds the effect, or adds to what holds it.
    pub fn hold(&mut self, hold: Hold, because: &str) {
        match &mut self.door {
            Door::Held { why, by } => {
                if by.insert(hold) {
                    *why = format!("{why}; {because}");
                }
            }
            Door::Waiting | Door::Open | Door::Skipped { .. } => self.door = Door::Held { why: because.to_owned(), by: [hold].into() },
        }
    }

    /// A person clears one thing that holds it. When nothing else does, it opens, or goes on waiting for others; its patience
    /// begins now. False if it was not held by that.
    pub fn release(&mut self, hold: Hold, siblings: &[Self], now: UtcMs) -> bool {
        let Door::Held { by, .. } = &mut self.door else { return false };
        if !by.remove(&hold) {
            return false;
        }
        self.released.insert(hold);
        if by.is_empty() || planted::is(Bug::ReleaseIgnoresOthers) {
            self.door = Door::Waiting;
            self.wake(siblings, now);
        }
        true
    }

    /// A person does not want what is held by that: it is not carried out. False if it was not held by that.
    pub fn dismiss(&mut self, hold: Hold, because: &str) -> bool {
        let is_its = matches!(&self.door, Door::Held { by, .. } if by.contains(&hold));
        if is_its {
            self.door = Door::Skipped { why: because.to_owned() };
        }
        is_its
    }

    /// Whether any attempt of it may have reached its target.
    pub fn may_have_reached(&self) -> bool {
        self.steps.iter().flat_map(|step| &step.attempts).any(Attempt::may_have_reached)
    }

    /// Opens or skips a waiting effect if the others allow it; the patience of its steps begins now. True if it changed.
    pub fn wake(&mut self, siblings: &[Self], now: UtcMs) -> bool {
        if self.door != Door::Waiting {
            return false;
        }
        match self.readiness(siblings) {
            Readiness::NotYet => false,
            Readiness::Ready => {
                self.door = Door::Open;
                for step in self.steps.iter_mut().filter(|step| step.attempts.is_empty()) {
                    *step = Step::planned(step.kind, now);
                }
                true
            }
            Readiness::Never(why) => {
                self.door = Door::Skipped { why };
                true
            }
        }
    }

    /// Whether what it waits for has come to be. An effect that needs a person keeps its dependents waiting.
    pub fn readiness(&self, siblings: &[Self]) -> Readiness {
        let mut all_ready = true;
        for action in &self.after {
            let Some(other) = siblings.iter().find(|s| s.action == *action && s.ordinal == self.ordinal) else {
                continue;
            };
            if other.has_ended() && !other.has_succeeded() {
                return Readiness::Never(format!("'{action}' ended {}", other.ending()));
            }
            all_ready &= other.has_succeeded();
        }
        if all_ready || planted::is(Bug::DependentDoesNotWait) { Readiness::Ready } else { Readiness::NotYet }
    }

    fn ending(&self) -> &'static str {
        if self.steps.iter().any(|s| matches!(s.phase, Phase::Closed { .. })) { "closed" } else { self.state() }
    }
}

#[cfg(test)]
mod tests;
