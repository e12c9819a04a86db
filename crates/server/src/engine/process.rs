//! One enquiry from accepted to planned: qualify it, plan its effects, commit both in one step.
//!
//! The record is planned whatever the qualifier does (I9): a failure or an uncertain result only holds outward messages. What
//! a try of the qualifier comes to is [`qualifying`](super::qualifying)'s.

use domain::enquiry::{Enquiry, Standing};
use domain::gate::{Door, Effect, Hold};
use domain::ids::ReviewId;
use domain::planted::{self, Bug};
use evidence::Facts;
use store::{Case, EffectChange, EnquiryChange, Error, Lease, Review, ReviewKind, Step};

use super::Engine;
use super::entries::{self, ENGINE};
use super::people::hold_of;
use super::plan::{Doubt, is_held_by, reason};
use super::qualifying::{Evidence, Tried};
use super::settle::standing_of;
use super::work::Work;

/// The version of a record that was just made, and the fence of an effect that is leased as it is planned.
const NEW: u64 = 1;
const FIRST_FENCE: u64 = 1;

impl Engine {
    /// Takes an accepted enquiry to the point where its effects stand in the book, or to its next try. An enquiry that is
    /// past that point is here because a later run asks the qualifier anew.
    pub(super) async fn process(&self, lease: Lease<Enquiry>) {
        if lease.what.standing != Standing::Accepted {
            return self.qualify_again(lease).await;
        }
        let Lease { what: mut enquiry, fence, version } = lease;
        let mut step = Step::default();
        let doubt = match self.qualify(&mut enquiry, &mut step).await {
            Tried::Done(doubt) => doubt,
            Tried::Later(due) => {
                step.at = self.now();
                step.enquiries.push(EnquiryChange { enquiry, version, fence: Some(fence), due: Some(due), keep_lease: false });
                return self.commit_plan(step).await;
            }
        };
        let effects = if planted::is(Bug::ModelStopsRecord) && doubt.is_some() { Vec::new() } else { self.plan(&enquiry, doubt).await };
        let at = self.now();
        step.at = at;
        for effect in &effects {
            let kind = format!("effect.{}", effect.state());
            let facts = Facts::new().maybe("why", reason(effect));
            step.entries.push(entries::of_effect(at, effect, &kind, ENGINE, facts));
        }
        self.open_reviews(&enquiry, doubt, &effects, &mut step);
        let begun = self.begin_first(&enquiry, &effects).await;
        enquiry.standing = standing_of(&effects);
        enquiry.settled_at = (enquiry.standing == Standing::Settled).then_some(at);
        if enquiry.standing == Standing::Settled {
            step.entries.push(entries::of_enquiry(at, &enquiry, "enquiry.settled", ENGINE, Facts::new()));
        }
        let known = begun.is_some().then(|| Case {
            enquiry: enquiry.clone(),
            version: version + 1,
            effects: effects.iter().map(|effect| (effect.clone(), NEW)).collect(),
            reviews: step.reviews.clone(),
        });
        let planned = |effect| EffectChange { effect, version: None, fence: None, keep_lease: false, take_until: None, lock: None };
        step.effects = effects.into_iter().map(planned).collect();
        step.enquiries.push(EnquiryChange { enquiry, version, fence: Some(fence), due: None, keep_lease: false });
        // Should the first commit's outcome stay unknown, the plan is committed without anything begun: what may have been
        // begun is in the book already then, and is looked up by whoever leases it next.
        let bare = step.clone();
        let begun = begun.map(|mut work| {
            step.entries.append(&mut work.entries);
            step.blobs.append(&mut work.blobs);
            step.away.append(&mut work.away);
            if let Some(change) = step.effects.iter_mut().find(|change| change.effect.id == work.effect.id) {
                change.effect.clone_from(&work.effect);
                change.take_until = Some(at.plus(self.lease_ms()));
            }
            Work { known, ..work }
        });
        match (self.parts.store.commit(step).await, begun) {
            (Ok(()), Some(work)) => {
                // What else is planned waits for a worker of its own, and not for this one's target.
                self.parts.wake.notify_one();
                self.perform_begun(work).await;
            }
            (Ok(()), None) => {}
            (Err(Error::Unavailable(_)), _) => Box::pin(self.commit_plan(bare)).await,
            (Err(error), _) => Box::pin(self.miss_plan(&bare, error)).await,
        }
    }

    /// The first effect that can be sent at once, begun, so that its intent is durable with the plan. The others wait for a
    /// worker of their own.
    async fn begin_first(&self, enquiry: &Enquiry, effects: &[Effect]) -> Option<Work> {
        let effect = effects.iter().find(|effect| effect.door == Door::Open)?;
        self.begin(Work::new(enquiry.clone(), effect.clone(), NEW, FIRST_FENCE)).await
    }

    /// A commit after which nothing is to be done at once.
    pub(super) async fn commit_plan(&self, step: Step) {
        if let Err(error) = self.commit_patiently(step.clone()).await {
            Box::pin(self.miss_plan(&step, error)).await;
        }
    }

    /// Nothing was done outside, so the enquiry is taken up again when its lease is over, unless it was overtaken or the plan
    /// stands after all. The qualifier's answer is kept.
    async fn miss_plan(&self, step: &Step, error: Error) {
        tracing::warn!(%error, "an enquiry's plan could not be committed");
        let overtaken = matches!(error, Error::Conflict(_));
        let Some(evidence) = Evidence::of(step).filter(|_| overtaken) else { return };
        if let Err(error) = self.keep_evidence(evidence).await {
            tracing::warn!(%error, "what the qualifier answered could not be kept");
        }
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
