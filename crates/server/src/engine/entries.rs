//! The engine's journal entries: which facts each kind carries. No personal data, no secrets (I12).

use domain::enquiry::Enquiry;
use domain::gate::{Effect, Step};
use domain::ids::EffectId;
use domain::time::UtcMs;
use evidence::{Draft, Facts};
use store::Review;

/// Who writes these entries where no person acts.
pub(super) const ENGINE: &str = "engine";

/// An entry about an enquiry.
pub(super) fn of_enquiry(at: UtcMs, enquiry: &Enquiry, kind: &str, actor: &str, facts: Facts) -> Draft {
    Draft { at, enquiry: Some(enquiry.id.clone()), kind: kind.to_owned(), actor: actor.to_owned(), facts, blobs: Vec::new() }
}

/// An entry about an effect; names it, its key, its action and its target.
pub(super) fn of_effect(at: UtcMs, effect: &Effect, kind: &str, actor: &str, facts: Facts) -> Draft {
    let facts = facts
        .with("effect", effect.id.as_str())
        .with("key", effect.outgoing_key.as_str())
        .with("action", effect.action.as_str())
        .with("target", effect.target.as_str())
        .with("state", effect.state());
    let enquiry = Some(effect.enquiry.clone());
    Draft { at, enquiry, kind: kind.to_owned(), actor: actor.to_owned(), facts, blobs: Vec::new() }
}

/// An entry about a step of an effect; names the step and its latest attempt too.
pub(super) fn of_step(at: UtcMs, effect: &Effect, step: &Step, kind: &str, actor: &str, facts: Facts) -> Draft {
    let facts = facts.with("step", step.kind.as_str()).with("attempt", step.latest()).with("phase", step.phase.as_str());
    of_effect(at, effect, kind, actor, facts.maybe("external_id", step.external_id()))
}

/// An entry about a review item. Its sentence may repeat a target's words, so it stays out of the journal.
pub(super) fn of_review(at: UtcMs, review: &Review, kind: &str, actor: &str) -> Draft {
    let facts = Facts::new()
        .with("review", review.id.as_str())
        .with("kind", review.kind.as_str())
        .with("holds", review.holds)
        .maybe("effect", review.effect.as_ref().map(EffectId::as_str))
        .maybe("decision", review.decision.as_deref());
    Draft { at, enquiry: Some(review.enquiry.clone()), kind: kind.to_owned(), actor: actor.to_owned(), facts, blobs: Vec::new() }
}
