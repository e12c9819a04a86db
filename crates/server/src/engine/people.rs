//! A person's decisions on review items. Each is attributed and journalled, and each goes through the same decisions of the
//! domain as the engine's own work. `verbs` holds what a person does of their own accord.

use domain::enquiry::{Enquiry, Standing};
use domain::gate::{Effect, Hold, Moved, Observation, Phase, decide};
use domain::ids::EnquiryId;
use domain::planted::{self, Bug};
use evidence::Facts;
use store::{Case, EffectChange, EnquiryChange, Error, Review, ReviewKind, Step};

use super::Engine;
use super::entries;
use super::work::contact_is_open;

/// What a person decides on an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// What is held may go on.
    Approve,
    /// What is held is not to be done; the reason.
    Dismiss(String),
    /// A conflict's content is a revision of the same enquiry.
    Same,
    /// A conflict's content is an enquiry of its own.
    Separate,
    /// The record is not in the target.
    NotThere,
    /// The record is in the target, under this id.
    ItIs(String),
    /// Look again, and go on from what is found.
    Again,
}

/// Why words are no decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDecision {
    /// No decision is called so.
    #[error("there is no such decision: say approve, dismiss, same, separate, not_there, it_is or again")]
    Unknown,
    /// *It is* names the record.
    #[error("`it_is` needs the record's id, as the target shows it")]
    NeedsId,
}

impl Decision {
    /// The decision as API, console and command line write it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Dismiss(_) => "dismiss",
            Self::Same => "same",
            Self::Separate => "separate",
            Self::NotThere => "not_there",
            Self::ItIs(_) => "it_is",
            Self::Again => "again",
        }
    }

    /// Reads it, with the reason or the record's id that some need.
    pub fn read(word: &str, reason: Option<&str>, external_id: Option<&str>) -> Result<Self, NoDecision> {
        let given = |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(match word {
            "approve" => Self::Approve,
            "dismiss" => Self::Dismiss(given(reason).unwrap_or_else(|| "no reason given".to_owned())),
            "same" => Self::Same,
            "separate" => Self::Separate,
            "not_there" => Self::NotThere,
            "it_is" => Self::ItIs(given(external_id).ok_or(NoDecision::NeedsId)?),
            "again" => Self::Again,
            _ => return Err(NoDecision::Unknown),
        })
    }
}

/// Why a person's verb was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no such thing.
    #[error("there is no {0} of that name")]
    Unknown(&'static str),
    /// It does not fit; what would.
    #[error("{0}")]
    DoesNotFit(String),
    /// The book could not be read or written.
    #[error(transparent)]
    Store(#[from] Error),
}

impl Refused {
    pub(super) fn misfit(why: impl Into<String>) -> Self {
        Self::DoesNotFit(why.into())
    }
}

impl Engine {
    /// Carries out a person's decision on an open review item.
    pub async fn decide(&self, review: &str, decision: &Decision, who: &str) -> Result<(), Refused> {
        let enquiry = self.parts.store.resolve(review).await?.into_iter().next().ok_or(Refused::Unknown("review item"))?;
        let case = self.parts.store.case(&enquiry).await?.ok_or(Refused::Unknown("enquiry"))?;
        let item = case.reviews.iter().find(|r| r.id.as_str() == review).ok_or(Refused::Unknown("review item"))?.clone();
        if item.closed_at.is_some() {
            let how = item.decision.as_deref().unwrap_or("closed");
            return Err(Refused::misfit(format!("the item was decided before: {how}")));
        }
        match (item.kind, hold_of(item.kind), decision) {
            (ReviewKind::Conflict, _, Decision::Same) => self.merge(&item, who).await?,
            (ReviewKind::Conflict, _, Decision::Separate) => self.separate(&case, &item, who).await?,
            (ReviewKind::Conflict, _, _) => return Err(Refused::misfit("a conflict is decided with 'same' or 'separate'")),
            (ReviewKind::Effect, _, decision) => self.decide_effect(&case, &item, decision, who).await?,
            (_, Some(hold), Decision::Approve) => self.clear(&item, hold, None, who).await?,
            (_, Some(hold), Decision::Dismiss(why)) => self.clear(&item, hold, Some(why), who).await?,
            (_, _, _) => return Err(Refused::misfit("this item is decided with 'approve' or 'dismiss'")),
        }
        self.parts.wake.notify_one();
        Ok(())
    }

    /// The other content is a revision: its digest is known from now on as the first enquiry's, and nothing is done for it.
    /// Two enquiries change, so a lost race over either is decided anew.
    async fn merge(&self, item: &Review, who: &str) -> Result<(), Refused> {
        loop {
            match self.try_merge(item, who).await {
                Err(Refused::Store(Error::Conflict(_))) => {}
                result => return result,
            }
        }
    }

    async fn try_merge(&self, item: &Review, who: &str) -> Result<(), Refused> {
        let held = self.parts.store.case(&item.enquiry).await?.ok_or(Refused::Unknown("enquiry"))?;
        if held.enquiry.standing != Standing::Held {
            return Err(Refused::misfit("the conflict was decided before"));
        }
        let Some(first) = held.enquiry.flags.conflict_with.clone() else {
            return Err(Refused::misfit("the enquiry conflicts with none"));
        };
        let original = self.parts.store.case(&first).await?.ok_or(Refused::Unknown("enquiry"))?;
        let at = self.now();
        let mut step = Step { at, ..Step::default() };
        let mut known = original.enquiry.clone();
        known.contents.extend(held.enquiry.contents.iter().copied());
        let facts = Facts::new().with("revision", held.enquiry.key.to_string()).with("review", item.id.as_str());
        step.entries.push(entries::of_enquiry(at, &known, "enquiry.revised", who, facts));
        let due = (known.standing == Standing::Accepted).then_some(at).or(known.asked_again());
        // Who asks the qualifier anew goes on; who plans is overtaken, so that the plan is made anew at once.
        let keep_lease = known.standing != Standing::Accepted;
        step.enquiries.push(EnquiryChange { enquiry: known, version: original.version, fence: None, due, keep_lease });
        let merged = Enquiry { standing: Standing::Merged, settled_at: Some(at), ..held.enquiry.clone() };
        let facts = Facts::new().with("into", original.enquiry.key.to_string());
        step.entries.push(entries::of_enquiry(at, &merged, "enquiry.merged", who, facts));
        step.enquiries.push(EnquiryChange { enquiry: merged, version: held.version, fence: None, due: None, keep_lease: false });
        close(&mut step, item, "same", who);
        Ok(self.parts.store.commit(step).await?)
    }

    /// The other content is an enquiry of its own: it is taken up like any accepted one, under its own key.
    async fn separate(&self, case: &Case, item: &Review, who: &str) -> Result<(), Refused> {
        let at = self.now();
        let mut step = Step { at, ..Step::default() };
        let enquiry = Enquiry { standing: Standing::Accepted, ..case.enquiry.clone() };
        step.entries.push(entries::of_enquiry(at, &enquiry, "enquiry.separated", who, Facts::new()));
        step.enquiries.push(EnquiryChange { enquiry, version: case.version, fence: None, due: Some(at), keep_lease: false });
        close(&mut step, item, "separate", who);
        Ok(self.parts.store.commit(step).await?)
    }

    /// Clears, or dismisses, what the item holds in every effect that it is about, and closes the item. What else holds an
    /// effect goes on holding it.
    async fn clear(&self, item: &Review, hold: Hold, dismissed: Option<&String>, who: &str) -> Result<(), Refused> {
        let at = self.now();
        self.settle_person(&item.enquiry, |case| {
            let siblings: Vec<Effect> = case.effects.iter().map(|(e, _)| e.clone()).collect();
            let mut step = Step { at, ..Step::default() };
            let meant = case.effects.iter().filter(|(e, _)| item.effect.as_ref().is_none_or(|id| *id == e.id));
            for (effect, version) in meant {
                let mut next = effect.clone();
                let (changed, kind) = match dismissed {
                    Some(why) => (next.dismiss(hold, &format!("dismissed: {why}")), "effect.dismissed"),
                    None => (next.release(hold, &siblings, at), "effect.released"),
                };
                if changed {
                    step.entries.push(entries::of_effect(at, &next, kind, who, Facts::new()));
                    step.effects.push(self.by_person(case, next, *version));
                }
            }
            close(&mut step, item, if dismissed.is_some() { "dismissed" } else { "approved" }, who);
            Ok(step)
        })
        .await
    }

    async fn decide_effect(&self, case: &Case, item: &Review, decision: &Decision, who: &str) -> Result<(), Refused> {
        let effect = case.effects.iter().find(|(e, _)| Some(&e.id) == item.effect.as_ref());
        let index = effect.and_then(|(e, _)| e.steps.iter().position(domain::gate::Step::needs_person));
        let (Some((effect, _)), Some(index)) = (effect, index) else {
            return Err(Refused::misfit("the effect no longer needs a person"));
        };
        let seen = match decision {
            Decision::NotThere => Observation::NotThere { attempt: item.attempt },
            Decision::ItIs(id) => Observation::ItIs { id: id.clone() },
            Decision::Approve if matches!(effect.steps[index].phase, Phase::Mismatched { .. }) => Observation::Accept,
            Decision::Again | Decision::Approve => Observation::Again,
            Decision::Dismiss(why) => Observation::Close { why: why.clone() },
            Decision::Same | Decision::Separate => {
                return Err(Refused::misfit(
                    "an effect is decided with 'not-there', 'it-is ID', 'again', 'approve' (a record that differs, as it is) or 'dismiss'",
                ));
            }
        };
        let id = effect.id.clone();
        let (at, said) = (self.now(), decision.word());
        self.settle_person(&item.enquiry, |case| {
            let Some((effect, version)) = case.effects.iter().find(|(e, _)| e.id == id) else {
                return Err(Refused::Unknown("effect"));
            };
            let mut step = Step { at, ..Step::default() };
            self.observe_person(case, (effect, *version), index, (&seen, who), &mut step)?;
            close(&mut step, item, said, who);
            Ok(step)
        })
        .await
    }

    /// Lets the domain decide on what a person saw of one step. Of a target that is not configured any more a person can
    /// still say what stands in it, or close; it cannot be asked.
    pub(super) fn observe_person(
        &self,
        case: &Case,
        (effect, version): (&Effect, u64),
        index: usize,
        (seen, who): (&Observation, &str),
        step: &mut Step,
    ) -> Result<(), Refused> {
        let action = self.action(&effect.action);
        let rules = match self.target(&effect.target, &effect.action) {
            Some(target) => self.rules(&**target, action, effect.steps[index].kind),
            None => self.rules_without_target(),
        };
        match decide(&effect.steps[index], seen, &rules, step.at, 0) {
            Moved::Ignored(why) => Err(Refused::misfit(why)),
            moved @ Moved::To(..) => {
                let from = effect.steps[index].phase.as_str();
                let (next, _) = effect.clone().moved(index, &moved);
                let facts = Facts::new().with("from", from);
                step.entries.push(entries::of_step(step.at, &next, &next.steps[index], "effect.decided", who, facts));
                step.effects.push(self.by_person(case, next, version));
                Ok(())
            }
        }
    }

    /// A change by a person. A contact that may still come to be keeps its lock, and who is at an attempt keeps the lease.
    pub(super) fn by_person(&self, case: &Case, effect: Effect, version: u64) -> EffectChange {
        let lock = self.contact_lock(&case.enquiry, &effect).filter(|_| contact_is_open(&effect));
        let keep_lease = effect.steps.iter().any(|step| step.phase == Phase::Intended) && !planted::is(Bug::LateAnswerTakesLease);
        EffectChange { effect, version: Some(version), fence: None, keep_lease, take_until: None, lock }
    }

    /// `settle`, for verbs whose building can refuse.
    pub(super) async fn settle_person(
        &self,
        enquiry: &EnquiryId,
        build: impl Fn(&Case) -> Result<Step, Refused> + Send + Sync,
    ) -> Result<(), Refused> {
        let refused = std::sync::Mutex::new(None);
        let result = self
            .settle(enquiry, |case| {
                build(case).map_err(|error| match error {
                    Refused::Store(error) => error,
                    other => {
                        let words = other.to_string();
                        *refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(other);
                        Error::Refused(words)
                    }
                })
            })
            .await;
        match (result, refused.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)) {
            (Err(_), Some(refused)) => Err(refused),
            (result, _) => Ok(result?),
        }
    }
}

/// What an item of that kind holds.
pub(super) fn hold_of(kind: ReviewKind) -> Option<Hold> {
    match kind {
        ReviewKind::LookAlike => Some(Hold::LookAlike),
        ReviewKind::AmbiguousTime => Some(Hold::AmbiguousTime),
        ReviewKind::Ambiguous => Some(Hold::Ambiguous),
        ReviewKind::Qualification => Some(Hold::Qualification),
        ReviewKind::Message => Some(Hold::Own),
        ReviewKind::Restored => Some(Hold::Restored),
        ReviewKind::DoNotContact => Some(Hold::DoNotContact),
        ReviewKind::PerAddress => Some(Hold::PerAddress),
        ReviewKind::Conflict | ReviewKind::Effect => None,
    }
}

fn close(step: &mut Step, item: &Review, decision: &str, who: &str) {
    let mut item = item.clone();
    item.closed_at = Some(step.at);
    item.decision = Some(format!("{decision} (by {who})"));
    step.entries.push(entries::of_review(step.at, &item, "review.decided", who));
    step.reviews.push(item);
}
