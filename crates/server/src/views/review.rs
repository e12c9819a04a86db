//! A review item as an operator sees it, with the decisions that fit it.
//!
//! What fits is told so that nobody is offered what the engine would refuse; the engine still decides. Whether a target
//! can be asked again is its declaration, which is not known here: where that alone decides, *again* is offered.

use domain::gate::{Effect, Phase, Step, Why};
use domain::time::UtcMs;
use serde::Serialize;
use store::{Review, ReviewKind};

use super::At;

/// The states of an item, for filters.
pub const REVIEW_STATES: [&str; 2] = ["open", "closed"];

/// One item of a person's queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewView {
    /// Its id.
    pub id: String,
    /// The enquiry.
    pub enquiry: String,
    /// The effect it is about; none if it is about the enquiry.
    pub effect: Option<String>,
    /// `conflict`, `look_alike`, `ambiguous_time`, `ambiguous`, `qualification`, `effect` or `message`.
    pub kind: &'static str,
    /// Whether something waits for it, or it only notifies.
    pub holds: bool,
    /// A sentence for people.
    pub why: String,
    /// When it was opened.
    pub opened_at: At,
    /// When it was closed.
    pub closed_at: Option<At>,
    /// What was decided, and by whom.
    pub decision: Option<String>,
    /// How long it has been open, or was.
    pub age_s: i64,
    /// The decisions that fit; none once it is closed.
    pub decisions: Vec<Fitting>,
}

/// A decision that fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fitting {
    /// `approve`, `dismiss`, `same`, `separate`, `not_there`, `it_is` or `again`.
    pub decision: &'static str,
    /// It is taken only from then on: until then a request may still take effect.
    pub not_before: Option<At>,
}

impl ReviewView {
    /// The view of an item, given its enquiry's effects.
    pub fn of<'a>(review: &Review, effects: impl IntoIterator<Item = &'a Effect>, now: UtcMs) -> Self {
        let effect = effects.into_iter().find(|effect| Some(&effect.id) == review.effect.as_ref());
        let is_open = review.closed_at.is_none();
        Self {
            id: review.id.to_string(),
            enquiry: review.enquiry.to_string(),
            effect: review.effect.as_ref().map(ToString::to_string),
            kind: review.kind.as_str(),
            holds: review.holds,
            why: review.why.clone(),
            opened_at: At(review.opened_at),
            closed_at: review.closed_at.map(At),
            decision: review.decision.clone(),
            age_s: review.closed_at.unwrap_or(now).since(review.opened_at).max(0) / 1000,
            decisions: if is_open { fitting(review, effect) } else { Vec::new() },
        }
    }
}

fn fitting(review: &Review, effect: Option<&Effect>) -> Vec<Fitting> {
    match review.kind {
        ReviewKind::Conflict => vec![plain("same"), plain("separate")],
        ReviewKind::LookAlike
        | ReviewKind::AmbiguousTime
        | ReviewKind::Ambiguous
        | ReviewKind::Qualification
        | ReviewKind::Message
        | ReviewKind::Restored
        | ReviewKind::DoNotContact
        | ReviewKind::PerAddress => vec![plain("approve"), plain("dismiss")],
        ReviewKind::Effect => {
            let step = effect.and_then(|effect| effect.steps.iter().find(|step| step.needs_person()));
            step.map_or_else(Vec::new, |step| of_step(review, step))
        }
    }
}

/// The exits of a step that needs a person (DESIGN section 4): *not there* only after the wait, bound to the attempt that
/// was seen, and never on a record that was read.
fn of_step(review: &Review, step: &Step) -> Vec<Fitting> {
    let mut fits = Vec::new();
    let outcome_is_asked = matches!(step.phase, Phase::Review { .. } | Phase::Refused { .. });
    if !matches!(step.phase, Phase::Review { why: Why::CannotAsk }) {
        fits.push(plain("again"));
    }
    // A record that differs, as it is.
    if matches!(step.phase, Phase::Mismatched { .. }) {
        fits.push(plain("approve"));
    }
    if outcome_is_asked && review.attempt == step.latest() {
        fits.push(Fitting { decision: "not_there", not_before: Some(At(step.quiet_until)) });
    }
    fits.extend([plain("it_is"), plain("dismiss")]);
    fits
}

fn plain(decision: &'static str) -> Fitting {
    Fitting { decision, not_before: None }
}
