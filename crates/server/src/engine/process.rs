//! One enquiry from accepted to planned: qualify it, plan its effects, commit both in one step.
//!
//! The record is planned whatever the qualifier does (I9): a failure or an uncertain result only holds outward messages.

use domain::enquiry::{Enquiry, Qualification, Standing};
use domain::gate::{Effect, Hold};
use domain::ids::ReviewId;
use evidence::{Draft, Facts};
use store::{EffectChange, EnquiryChange, Lease, Review, ReviewKind, Step};

use super::Engine;
use super::entries::{self, ENGINE};
use super::people::hold_of;
use super::plan::{Doubt, is_held_by, reason};
use super::settle::standing_of;
use crate::qualify::QualifyError;

impl Engine {
    /// Takes an accepted enquiry to the point where its effects stand in the book.
    pub(super) async fn process(&self, lease: Lease<Enquiry>) {
        let Lease { what: mut enquiry, fence, version } = lease;
        let mut step = Step::default();
        let doubt = self.qualify(&mut enquiry, &mut step).await;
        let effects = self.plan(&enquiry, doubt).await;
        let at = self.now();
        step.at = at;
        for effect in &effects {
            let kind = format!("effect.{}", effect.state());
            let facts = Facts::new().maybe("why", reason(effect));
            step.entries.push(entries::of_effect(at, effect, &kind, ENGINE, facts));
        }
        self.open_reviews(&enquiry, doubt, &effects, &mut step);
        enquiry.standing = standing_of(&effects);
        enquiry.settled_at = (enquiry.standing == Standing::Settled).then_some(at);
        if enquiry.standing == Standing::Settled {
            step.entries.push(entries::of_enquiry(at, &enquiry, "enquiry.settled", ENGINE, Facts::new()));
        }
        step.effects =
            effects.into_iter().map(|effect| EffectChange { effect, version: None, fence: None, keep_lease: false, lock: None }).collect();
        step.enquiries.push(EnquiryChange { enquiry, version, fence: Some(fence), due: None });
        if let Err(error) = self.parts.store.commit(step).await {
            // Nothing was done outside: the enquiry is taken up again when its lease is over.
            tracing::warn!(%error, "an enquiry's plan could not be committed");
        }
    }

    /// Tries the qualifier as often as configured. Returns the doubt that holds outward messages, if there is one.
    async fn qualify(&self, enquiry: &mut Enquiry, step: &mut Step) -> Option<Doubt> {
        let settings = &self.parts.settings;
        let fields = enquiry.fields.clone().unwrap_or_default();
        for attempt in 1..=settings.qualify_attempts.max(1) {
            match self.parts.qualifier.qualify(&fields).await {
                Ok(result) => return self.qualified(enquiry, result, attempt, step),
                Err(error) => self.not_qualified(enquiry, &error, attempt, step),
            }
            if attempt < settings.qualify_attempts {
                let wait = settings.qualify_backoff.wait_ms(attempt, self.parts.entropy.draw(), None);
                self.parts.clock.sleep_until(self.now().plus(wait)).await;
            }
        }
        enquiry.qualified_at = Some(self.now());
        Some(Doubt::Failed)
    }

    fn qualified(&self, enquiry: &mut Enquiry, result: Qualification, attempt: u32, step: &mut Step) -> Option<Doubt> {
        let at = self.now();
        let sure = result.confidence >= self.parts.settings.min_confidence;
        // The result may repeat what the enquiry says, so it is a blob; the journal holds only its digest.
        let blob = self.blob(serde_json::to_vec(&result).unwrap_or_default());
        let facts = Facts::new()
            .with("qualifier", self.parts.qualifier.name())
            .with("attempt", attempt)
            .with("request_type", result.request_type.as_str())
            .with("qualified", result.qualified)
            .with("confidence_percent", percent(result.confidence))
            .with("uncertain", !sure)
            .with("arrival_to_result_ms", at.since(enquiry.accepted_at));
        let entry = entries::of_enquiry(at, enquiry, "enquiry.qualified", ENGINE, facts);
        step.entries.push(Draft { blobs: vec![blob.digest()], ..entry });
        step.blobs.push((Some(enquiry.id.clone()), blob));
        enquiry.qualification = Some(result);
        enquiry.qualified_at = Some(at);
        (!sure).then_some(Doubt::Uncertain)
    }

    fn not_qualified(&self, enquiry: &Enquiry, error: &QualifyError, attempt: u32, step: &mut Step) {
        let why = match error {
            QualifyError::Unreachable(_) => "unreachable",
            QualifyError::Invalid { .. } => "invalid",
        };
        let facts = Facts::new().with("qualifier", self.parts.qualifier.name()).with("attempt", attempt).with("why", why);
        let mut entry = entries::of_enquiry(self.now(), enquiry, "enquiry.not_qualified", ENGINE, facts);
        if let QualifyError::Invalid { answer, .. } = error {
            let blob = self.blob(answer.clone());
            entry.blobs.push(blob.digest());
            step.blobs.push((Some(enquiry.id.clone()), blob));
        }
        step.entries.push(entry);
    }

    /// One item per reason that holds something, which it names; a reason that holds nothing still notifies.
    fn open_reviews(&self, enquiry: &Enquiry, doubt: Option<Doubt>, effects: &[Effect], step: &mut Step) {
        let mut open = |kind: ReviewKind, why: &str, effect: Option<&Effect>| {
            let holds = effects.iter().any(|e| hold_of(kind).is_some_and(|hold| is_held_by(e, hold)));
            let review = Review {
                id: ReviewId::draw(step.at, &*self.parts.entropy),
                enquiry: enquiry.id.clone(),
                effect: effect.map(|effect| effect.id.clone()),
                kind,
                holds,
                why: why.to_owned(),
                attempt: 0,
                opened_at: step.at,
                closed_at: None,
                decision: None,
            };
            step.entries.push(entries::of_review(step.at, &review, "review.opened", ENGINE));
            step.reviews.push(review);
        };
        if enquiry.flags.hold {
            open(ReviewKind::LookAlike, "its fields repeat those of a recent enquiry: a second request, or the first again?", None);
        }
        if enquiry.flags.ambiguous_time {
            open(ReviewKind::AmbiguousTime, "its local event time stands for two instants, or for none (a clock change)", None);
        }
        if !enquiry.flags.ambiguous.is_empty() {
            let doubts: Vec<String> = enquiry.flags.ambiguous.iter().map(domain::identity::Ambiguity::words).collect();
            open(
                ReviewKind::Ambiguous,
                &format!("who or what it is does not stand for certain in what was sent: {}", doubts.join("; ")),
                None,
            );
        }
        if let Some(doubt) = doubt {
            open(ReviewKind::Qualification, doubt.sentence(), None);
        }
        for effect in effects.iter().filter(|effect| is_held_by(effect, Hold::Own)) {
            let why = format!("'{}' is held: {}", effect.action, reason(effect).unwrap_or_default());
            open(ReviewKind::Message, &why, Some(effect));
        }
    }
}

/// A share as whole percents: facts hold no floats.
fn percent(share: f64) -> i64 {
    let rounded = (share.clamp(0.0, 1.0) * 100.0).round();
    (0..=100).find(|&n| f64::from(n) >= rounded).map_or(100, i64::from)
}
