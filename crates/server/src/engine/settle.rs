//! What follows for the whole enquiry when one of its effects comes to rest: its dependents wake, a person is asked or no
//! longer asked, the enquiry's standing changes. All in the commit that rests the effect.

use domain::enquiry::Standing;
use domain::gate::{Effect, Phase};
use domain::ids::ReviewId;
use domain::time::UtcMs;
use evidence::Facts;
use store::{Case, EffectChange, EnquiryChange, Error, Review, ReviewKind, Step};

use super::Engine;
use super::entries::{self, ENGINE};
use super::plan::{open_doors, reason};

/// How often a commit is decided anew because another effect of the enquiry was first.
const RACES_MAX: u32 = 32;
/// How often, and after which wait, a commit is tried again while the book cannot be written. After that the lease runs out
/// and the effect is taken up anew.
const OUTAGES_MAX: u32 = 20;
const OUTAGE_WAIT_MS: i64 = 1_000;

/// Where an enquiry stands, given its effects.
pub(super) fn standing_of(effects: &[Effect]) -> Standing {
    if effects.iter().all(Effect::has_ended) {
        return Standing::Settled;
    }
    let goes_on = |effect: &Effect| !effect.has_ended() && !effect.needs_person() && effect.due().is_some();
    if effects.iter().any(goes_on) { Standing::Working } else { Standing::Review }
}

impl Engine {
    /// Commits the step that `build` makes of the enquiry as it stands, and what follows from it. A lost race, or a book that
    /// cannot be written for a moment, is read and decided anew; so `build` must be able to see that it was carried out.
    pub(super) async fn settle(
        &self,
        enquiry: &domain::ids::EnquiryId,
        build: impl Fn(&Case) -> Result<Step, Error> + Send + Sync,
    ) -> Result<(), Error> {
        self.settle_known(None, enquiry, build).await
    }

    /// The same, decided first on what is known of the case. If that was overtaken, a version in the step no longer holds,
    /// and the case is read.
    pub(super) async fn settle_known(
        &self,
        mut known: Option<Case>,
        enquiry: &domain::ids::EnquiryId,
        build: impl Fn(&Case) -> Result<Step, Error> + Send + Sync,
    ) -> Result<(), Error> {
        let (mut races, mut outages) = (0, 0);
        loop {
            let read = match known.take() {
                Some(case) => Ok(Some(case)),
                None => self.parts.store.case(enquiry).await,
            };
            let done = match read {
                Ok(Some(case)) => {
                    let mut step = build(&case)?;
                    self.follow(&case, &mut step);
                    self.parts.store.commit(step).await
                }
                Ok(None) => return Err(Error::Refused("no such enquiry".to_owned())),
                Err(error) => Err(error),
            };
            match done {
                Err(Error::Conflict(_)) if races < RACES_MAX => races += 1,
                Err(Error::Unavailable(_)) if outages < OUTAGES_MAX => {
                    outages += 1;
                    self.parts.clock.sleep_until(self.now().plus(OUTAGE_WAIT_MS)).await;
                }
                result => return result,
            }
        }
    }

    /// Adds to a step what follows from it.
    fn follow(&self, case: &Case, step: &mut Step) {
        let at = step.at;
        let changed = |effect: &Effect| step.effects.iter().find(|c| c.effect.id == effect.id);
        let mut effects: Vec<Effect> =
            case.effects.iter().map(|(e, _)| changed(e).map_or_else(|| e.clone(), |c| c.effect.clone())).collect();
        for index in open_doors(&mut effects, at) {
            let (effect, version) = (effects[index].clone(), case.effects[index].1);
            let kind = format!("effect.{}", effect.state());
            let facts = Facts::new().maybe("why", reason(&effect));
            step.entries.push(entries::of_effect(at, &effect, &kind, ENGINE, facts));
            step.effects.retain(|c| c.effect.id != effect.id);
            step.effects.push(EffectChange {
                effect,
                version: Some(version),
                fence: None,
                keep_lease: false,
                take_until: None,
                lock: None,
            });
        }
        self.ask_person(case, &effects, step);
        follow_standing(case, &effects, step);
    }

    /// Opens an item for an effect that needs a person and has none open; closes items whose effect no longer needs one.
    fn ask_person(&self, case: &Case, effects: &[Effect], step: &mut Step) {
        let at = step.at;
        for effect in effects {
            let is_its = |review: &&Review| review.effect.as_ref() == Some(&effect.id) && review.closed_at.is_none();
            let decided_now = |id: &ReviewId| step.reviews.iter().any(|r| r.id == *id && r.closed_at.is_some());
            let open: Vec<Review> = case.reviews.iter().filter(is_its).filter(|r| !decided_now(&r.id)).cloned().collect();
            let asks = effect.needs_person() && effect.door == domain::gate::Door::Open;
            if asks && open.is_empty() {
                let review = self.effect_review(effect, at);
                step.entries.push(entries::of_review(at, &review, "review.opened", ENGINE));
                step.reviews.push(review);
            }
            if !effect.needs_person() {
                for mut review in open {
                    review.closed_at = Some(at);
                    review.decision = Some("no longer needed: the effect went on".to_owned());
                    step.entries.push(entries::of_review(at, &review, "review.closed", ENGINE));
                    step.reviews.push(review);
                }
            }
        }
    }

    fn effect_review(&self, effect: &Effect, at: UtcMs) -> Review {
        let step = effect.steps.iter().find(|step| step.needs_person());
        Review {
            id: ReviewId::draw(at, &*self.parts.entropy),
            enquiry: effect.enquiry.clone(),
            effect: Some(effect.id.clone()),
            kind: ReviewKind::Effect,
            holds: true,
            why: step.map_or_else(String::new, |step| why(&effect.action, &step.phase)),
            attempt: step.map_or(0, domain::gate::Step::latest),
            opened_at: at,
            closed_at: None,
            decision: None,
        }
    }
}

/// What a person is asked, in a sentence.
fn why(action: &str, phase: &Phase) -> String {
    match phase {
        Phase::Mismatched { id, what } => format!("'{action}': record {id} was read back and differs: {what}"),
        Phase::Doubled { ids } => format!("'{action}': more than one record carries the key: {}", ids.join(", ")),
        Phase::Refused { why } => format!("'{action}': the target refused the record: {why}"),
        Phase::Review { why } => format!("'{action}': {}", why.sentence()),
        Phase::Planned { .. }
        | Phase::Intended
        | Phase::Unknown { .. }
        | Phase::Done { .. }
        | Phase::Verified { .. }
        | Phase::Unverified { .. }
        | Phase::AtMostOnce
        | Phase::Closed { .. } => format!("'{action}' needs a decision"),
    }
}

/// The enquiry's standing follows from its effects, unless a person's verb set it in this step.
///
/// Where there are several effects the enquiry is written even if nothing of it changes: its version is what makes two of
/// them that come to rest at the same moment see one another. Each might otherwise leave it to the other to wake a third.
fn follow_standing(case: &Case, effects: &[Effect], step: &mut Step) {
    if step.enquiries.iter().any(|c| c.enquiry.id == case.enquiry.id) {
        return;
    }
    let standing = standing_of(effects);
    let changes = standing != case.enquiry.standing;
    if case.enquiry.standing == Standing::Accepted || !changes && effects.len() < 2 {
        return;
    }
    let mut enquiry = case.enquiry.clone();
    enquiry.standing = standing;
    if changes && standing == Standing::Settled {
        enquiry.settled_at = Some(step.at);
        let facts = Facts::new().with("arrival_to_settled_ms", step.at.since(enquiry.accepted_at));
        step.entries.push(entries::of_enquiry(step.at, &enquiry, "enquiry.settled", ENGINE, facts));
    }
    let due = enquiry.asked_again();
    step.enquiries.push(EnquiryChange { enquiry, version: case.version, fence: None, due });
}
