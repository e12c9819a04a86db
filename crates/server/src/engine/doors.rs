//! The doors before an effect is begun: why it waits for a person after all, unless one has let it go.
//!
//! They are asked when a worker is about to begin, and not when the effect is planned: what counts is how things are then.

use domain::enquiry::Enquiry;
use domain::gate::{Effect, Hold, Policy, StepKind};
use domain::ids::ReviewId;
use domain::time::UtcMs;
use evidence::Facts;
use jiff::Timestamp;
use store::{Error, Review, ReviewKind};

use super::entries::{self, ENGINE};
use super::plan::{is_held_by, reason};
use super::work::Work;
use super::{Action, Engine};
use crate::effects::Target;

impl Engine {
    /// Why an effect that was never begun is held, and by what.
    pub(super) async fn held_now(
        &self,
        work: &Work,
        target: &dyn Target,
        action: Option<&Action>,
    ) -> Result<Option<(Hold, &'static str)>, Error> {
        let effect = &work.effect;
        if effect.may_have_reached() {
            return Ok(None);
        }
        let holds = |hold: Hold| !effect.released.contains(&hold);
        if let Some(why) = self.held_by_itself(work, action).filter(|_| holds(Hold::Own)) {
            return Ok(Some((Hold::Own, why)));
        }
        if let Some(why) = self.held_by_a_restore(work, target, action).filter(|_| holds(Hold::Restored)) {
            return Ok(Some((Hold::Restored, why)));
        }
        let Some(action) = action.filter(|action| action.outward) else { return Ok(None) };
        if holds(Hold::DoNotContact) && self.is_listed(work).await? {
            return Ok(Some((Hold::DoNotContact, "its address is on the do-not-contact list")));
        }
        if holds(Hold::PerAddress) && self.had_enough(work, action).await? {
            return Ok(Some((Hold::PerAddress, "its address had as many messages as the action's per_address allows")));
        }
        Ok(None)
    }

    fn held_by_itself(&self, work: &Work, action: Option<&Action>) -> Option<&'static str> {
        let Some(action) = action else { return Some("its action is no longer configured") };
        let drafted = work.enquiry.qualification.as_ref().is_some_and(|q| q.reply_draft.is_some());
        if action.sends_draft && drafted {
            return Some("its message holds a model's draft, which leaves after a person's approval only");
        }
        let late = action.not_after_ms.is_some_and(|limit| self.now().since(original_at(&work.enquiry)) > limit);
        late.then_some("older than the action's not_after")
    }

    /// Why something that the target cannot be asked about may have been sent already, by a former self of this book.
    fn held_by_a_restore(&self, work: &Work, target: &dyn Target, action: Option<&Action>) -> Option<&'static str> {
        let effect = &work.effect;
        if action.is_some_and(|action| action.policy == Policy::AtLeastOnce) {
            return None;
        }
        let cannot_ask = |kind: StepKind| {
            let find = target.find(kind);
            kind == StepKind::Message || !find.looks() && !find.keyed_for_good()
        };
        if !effect.steps.iter().any(|step| cannot_ask(step.kind)) {
            return None;
        }
        let siblings = work.known.iter().flat_map(|case| &case.effects).map(|(other, _)| other);
        let stood = |other: &Effect| other.ordinal == effect.ordinal && other.steps.iter().any(|step| step.stood_before);
        if siblings.into_iter().any(stood) {
            return Some("a record of its enquiry stood in a target before this book wrote it: it may have been sent already");
        }
        let restored = self.parts.store.restored_at()?;
        (original_at(&work.enquiry) <= restored).then_some("the book was restored or moved: it may have been sent already")
    }

    pub(super) fn hold(&self, work: &mut Work, hold: Hold, why: &str) {
        work.effect.hold(hold, why);
        let facts = Facts::new().with("why", why);
        work.entries.push(entries::of_effect(self.now(), &work.effect, "effect.held", ENGINE, facts));
    }

    /// What a person is asked about an effect that was held as it was about to begin.
    pub(super) fn held_review(&self, work: &Work, at: UtcMs) -> Review {
        let why = reason(&work.effect).unwrap_or_default();
        let kinds = [
            (Hold::Restored, ReviewKind::Restored),
            (Hold::DoNotContact, ReviewKind::DoNotContact),
            (Hold::PerAddress, ReviewKind::PerAddress),
        ];
        let kind = kinds.into_iter().find(|(hold, _)| is_held_by(&work.effect, *hold)).map_or(ReviewKind::Message, |(_, kind)| kind);
        Review {
            id: ReviewId::draw(at, &*self.parts.entropy),
            enquiry: work.effect.enquiry.clone(),
            effect: Some(work.effect.id.clone()),
            kind,
            holds: true,
            why: format!("'{}' is held: {why}", work.effect.action),
            attempt: 0,
            opened_at: at,
            closed_at: None,
            decision: None,
        }
    }
}

/// When the original event was, as far as the enquiry says, and no later than it was entered.
fn original_at(enquiry: &Enquiry) -> UtcMs {
    let said = enquiry.fields.as_ref().and_then(|fields| fields.timestamp.as_deref()?.parse::<Timestamp>().ok());
    said.map_or(enquiry.accepted_at, |at| UtcMs(at.as_millisecond()).min(enquiry.accepted_at))
}
