//! An effect as an operator sees it: where it stands and why, and every attempt of every step.

use domain::gate::{Attempt, Attempted, Door, Effect, Phase, Step};
use serde::Serialize;

use super::At;

/// Every state an effect may be in, for filters.
pub const EFFECT_STATES: [&str; 15] = [
    "waiting",
    "held",
    "skipped",
    "planned",
    "intended",
    "unknown",
    "done",
    "verified",
    "unverified",
    "mismatched",
    "doubled",
    "refused",
    "review",
    "at_most_once",
    "closed",
];

/// One effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EffectView {
    /// Its id.
    pub id: String,
    /// The enquiry.
    pub enquiry: String,
    /// The action's name.
    pub action: String,
    /// The target's name.
    pub target: String,
    /// 0 is automatic; n+1 exists only by a person's re-run.
    pub ordinal: u32,
    /// The outgoing key: what the target's record carries.
    pub key: String,
    /// Where it stands: one of [`EFFECT_STATES`].
    pub state: &'static str,
    /// Why it stands there, where that is not plain.
    pub why: Option<String>,
    /// The record's or message's id in the target.
    pub external_id: Option<String>,
    /// When it is taken up next.
    pub due: Option<At>,
    /// Actions that must have ended well before it begins.
    pub after: Vec<String>,
    /// Its steps, in order.
    pub steps: Vec<StepView>,
}

/// One step of an effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepView {
    /// `contact`, `record`, `link` or `message`.
    pub step: &'static str,
    /// Where it stands.
    pub phase: &'static str,
    /// Why, where that is not plain.
    pub why: Option<String>,
    /// Its record's id in the target.
    pub external_id: Option<String>,
    /// Every try, oldest first.
    pub attempts: Vec<AttemptView>,
    /// From when on a look-up that finds nothing proves absence.
    pub quiet_until: At,
}

/// One try at a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptView {
    /// 1, 2, …
    pub attempt: u32,
    /// When its intent was made.
    pub begun_at: At,
    /// The send must begin before this.
    pub deadline: At,
    /// The fence it was made under.
    pub fence: u64,
    /// The process that made it.
    pub process: String,
    /// `open`, `not_sent`, `refused`, `conflicted`, `answered`, `adopted` or `proved_absent`.
    pub outcome: &'static str,
    /// The id it was answered with.
    pub external_id: Option<String>,
}

impl EffectView {
    /// The view of a record.
    pub fn of(effect: &Effect) -> Self {
        Self {
            id: effect.id.to_string(),
            enquiry: effect.enquiry.to_string(),
            action: effect.action.clone(),
            target: effect.target.clone(),
            ordinal: effect.ordinal,
            key: effect.outgoing_key.clone(),
            state: effect.state(),
            why: why(effect),
            external_id: effect.external_id().map(str::to_owned),
            due: effect.due().map(At),
            after: effect.after.clone(),
            steps: effect.steps.iter().map(StepView::of).collect(),
        }
    }
}

impl StepView {
    fn of(step: &Step) -> Self {
        Self {
            step: step.kind.as_str(),
            phase: step.phase.as_str(),
            why: why_phase(&step.phase),
            external_id: step.external_id().map(str::to_owned),
            attempts: step.attempts.iter().map(AttemptView::of).collect(),
            quiet_until: At(step.quiet_until),
        }
    }
}

impl AttemptView {
    fn of(attempt: &Attempt) -> Self {
        let (outcome, external_id) = match &attempt.outcome {
            Attempted::Open => ("open", None),
            Attempted::NotSent => ("not_sent", None),
            Attempted::Refused => ("refused", None),
            Attempted::Conflicted => ("conflicted", None),
            Attempted::Answered { id } => ("answered", Some(id.clone())),
            Attempted::Adopted => ("adopted", None),
            Attempted::ProvedAbsent => ("proved_absent", None),
        };
        Self {
            attempt: attempt.n,
            begun_at: At(attempt.begun_at),
            deadline: At(attempt.deadline),
            fence: attempt.fence,
            process: attempt.process.to_string(),
            outcome,
            external_id,
        }
    }
}

/// Why an effect stands where it does: its door's reason, else that of the step which gave the effect its state.
fn why(effect: &Effect) -> Option<String> {
    match &effect.door {
        Door::Waiting if effect.after.is_empty() => None,
        Door::Waiting => Some(format!("waits for {}", effect.after.join(", "))),
        Door::Held { why, .. } | Door::Skipped { why } => Some(why.clone()),
        Door::Open => {
            let step = effect.steps.iter().find(|step| !step.has_passed()).or(effect.steps.last());
            step.and_then(|step| why_phase(&step.phase))
        }
    }
}

fn why_phase(phase: &Phase) -> Option<String> {
    match phase {
        Phase::Unknown { .. } => Some("an attempt may have taken effect: the target is asked before anything is sent".to_owned()),
        Phase::Unverified { .. } => Some("the target cannot be read, so the record was not read back".to_owned()),
        Phase::Mismatched { what, .. } => Some(what.clone()),
        Phase::Doubled { ids } => Some(format!("more than one record carries the key: {}", ids.join(", "))),
        Phase::Refused { why } | Phase::Closed { why } => Some(why.clone()),
        Phase::Review { why } => Some(why.sentence().to_owned()),
        Phase::AtMostOnce => Some("sent once, its outcome is unknown, and it is never sent again".to_owned()),
        Phase::Done { reads, .. } if *reads > 0 => {
            Some(format!("the record stands, and could not be read back yet ({reads} times tried): what comes after it waits"))
        }
        Phase::Planned { .. } | Phase::Intended | Phase::Done { .. } | Phase::Verified { .. } => None,
    }
}
