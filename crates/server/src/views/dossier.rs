//! Everything about one enquiry, on one page.

use domain::enquiry::Enquiry;
use domain::gate::{Effect, StepKind};
use domain::time::UtcMs;
use evidence::Entry;
use serde::Serialize;
use store::Dossier;

use super::{DeliveryView, EffectView, EnquiryView, Happening, ReviewView};

/// An enquiry with its effects, deliveries, review items and timeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DossierView {
    /// The enquiry.
    pub enquiry: EnquiryView,
    /// Its effects, in the order they were planned.
    pub effects: Vec<EffectView>,
    /// Every delivery of it, oldest first.
    pub deliveries: Vec<DeliveryView>,
    /// Its review items, oldest first.
    pub reviews: Vec<ReviewView>,
    /// What the journal says of it, in order.
    pub timeline: Vec<Happening>,
    /// From arrival to the structured result; where every try failed, to the last of them.
    pub arrival_to_result_ms: Option<i64>,
    /// From arrival to the record in the first record target.
    pub arrival_to_record_ms: Option<i64>,
}

impl DossierView {
    /// The view of a dossier.
    pub fn of(dossier: &Dossier, now: UtcMs) -> Self {
        let effects = || dossier.effects.iter().map(|(effect, _)| effect);
        let enquiry = EnquiryView::of(&dossier.enquiry);
        Self {
            arrival_to_result_ms: enquiry.arrival_to_result_ms,
            arrival_to_record_ms: arrival_to_record_ms(&dossier.enquiry, effects(), &dossier.entries),
            enquiry,
            effects: effects().map(EffectView::of).collect(),
            deliveries: dossier.deliveries.iter().map(DeliveryView::of).collect(),
            reviews: dossier.reviews.iter().map(|review| ReviewView::of(review, effects(), now)).collect(),
            timeline: dossier.entries.iter().map(Happening::of).collect(),
        }
    }
}

impl DossierView {
    /// How many tries of the qualifier there were, where the run that began at acceptance ended without a structured result.
    /// A later run may have brought one since.
    pub fn tries_in_vain(&self) -> Option<i64> {
        // Only the last entry of that run says how long it took.
        let last = self.timeline.iter().find(|entry| entry.facts.get("arrival_to_result_ms").is_some())?;
        let tries = last.facts.get("attempt").and_then(serde_json::Value::as_i64);
        (last.kind == "enquiry.not_qualified").then(|| tries.unwrap_or(1))
    }
}

/// From acceptance to the first entry by which the record of the first record effect is known to stand: answered, found
/// or verified. What was answered and then found to be doubled does not count.
fn arrival_to_record_ms<'a>(enquiry: &Enquiry, mut effects: impl Iterator<Item = &'a Effect>, entries: &[Entry]) -> Option<i64> {
    let effect = effects.find(|effect| effect.steps.iter().any(|step| step.kind == StepKind::Record))?;
    let stands = |entry: &&Entry| {
        let fact = |name: &str, any_of: &[&str]| entry.facts.text(name).is_some_and(|text| any_of.contains(&text));
        matches!(entry.kind.as_str(), "effect.answered" | "effect.found" | "effect.verified")
            && fact("effect", &[effect.id.as_str()])
            && fact("step", &[StepKind::Record.as_str()])
            && fact("phase", &["done", "verified", "unverified"])
    };
    entries.iter().find(stands).map(|entry| entry.at.since(enquiry.accepted_at))
}
