//! A person's verbs: deciding on a review item, replaying an enquiry, pausing a target. Each is attributed and journalled,
//! and each goes through the same decisions as the engine's own work.

use domain::enquiry::{Enquiry, Standing};
use domain::gate::{Door, Effect, Moved, Observation, decide};
use domain::ids::EnquiryId;
use evidence::Facts;
use store::{Dossier, EffectChange, EnquiryChange, Error, Review, ReviewKind, Step, TargetState};

use super::Engine;
use super::entries;
use super::settle::standing_of;

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
    fn misfit(why: impl Into<String>) -> Self {
        Self::DoesNotFit(why.into())
    }
}

impl Engine {
    /// Carries out a person's decision on an open review item.
    pub async fn decide(&self, review: &str, decision: &Decision, who: &str) -> Result<(), Refused> {
        let enquiry = self.parts.store.resolve(review).await?.into_iter().next().ok_or(Refused::Unknown("review item"))?;
        let dossier = self.parts.store.dossier(&enquiry).await?.ok_or(Refused::Unknown("enquiry"))?;
        let item = dossier.reviews.iter().find(|r| r.id.as_str() == review).ok_or(Refused::Unknown("review item"))?.clone();
        if item.closed_at.is_some() {
            return Err(Refused::misfit("the item was decided before"));
        }
        match (item.kind, decision) {
            (ReviewKind::Conflict, Decision::Same) => self.merge(&dossier, &item, who).await?,
            (ReviewKind::Conflict, Decision::Separate) => self.separate(&dossier, &item, who).await?,
            (ReviewKind::Conflict, _) => return Err(Refused::misfit("a conflict is decided with 'same' or 'separate'")),
            (ReviewKind::Effect, decision) => self.decide_effect(&dossier, &item, decision, who).await?,
            (_, Decision::Approve) => self.release(&item, who, Effect::release).await?,
            (_, Decision::Dismiss(why)) => {
                let why = format!("dismissed: {why}");
                let skip = |effect: &mut Effect, _: &[Effect]| {
                    let held = matches!(effect.door, Door::Held { .. });
                    if held {
                        effect.door = Door::Skipped { why: why.clone() };
                    }
                    held
                };
                self.release(&item, who, skip).await?;
            }
            (_, _) => return Err(Refused::misfit("this item is decided with 'approve' or 'dismiss'")),
        }
        self.parts.wake.notify_one();
        Ok(())
    }

    /// Replays an enquiry: a new run; every effect is looked at again, before anything is written. The key stays.
    pub async fn replay(&self, enquiry: &EnquiryId, who: &str) -> Result<(), Refused> {
        let (at, run) = (self.now(), self.new_run());
        let held = |standing| matches!(standing, Standing::Held | Standing::Merged);
        self.settle_person(enquiry, |dossier| {
            if held(dossier.enquiry.standing) {
                return Err(Refused::misfit("a held enquiry waits for its conflict to be decided"));
            }
            let mut step = Step { at, ..Step::default() };
            let facts = Facts::new().with("run", run.as_str()).with("why", "replay");
            step.entries.push(entries::of_enquiry(at, &dossier.enquiry, "run.began", who, facts));
            for (effect, version) in &dossier.effects {
                self.again(effect, *version, who, &mut step);
            }
            let mut next = Enquiry { run: run.clone(), ..dossier.enquiry.clone() };
            let due = (next.standing == Standing::Accepted).then_some(at);
            if due.is_none() {
                let effects: Vec<Effect> = dossier.effects.iter().map(|(e, _)| changed(&step, e)).collect();
                next.standing = standing_of(&effects);
                next.settled_at = (next.standing == Standing::Settled).then(|| dossier.enquiry.settled_at.unwrap_or(at));
            }
            step.enquiries.push(EnquiryChange { enquiry: next, version: dossier.version, fence: None, due });
            Ok(step)
        })
        .await?;
        self.parts.wake.notify_one();
        Ok(())
    }

    /// Pauses a target, or lets it go on.
    pub async fn set_paused(&self, target: &str, paused: Option<String>, who: &str) -> Result<(), Refused> {
        if !self.parts.targets.contains_key(target) {
            return Err(Refused::Unknown("target"));
        }
        let at = self.now();
        let kind = if paused.is_some() { "target.paused" } else { "target.resumed" };
        let facts = Facts::new().with("target", target).maybe("why", paused.clone());
        let state = TargetState { name: target.to_owned(), paused: paused.map(|why| (at, why)) };
        let entry = evidence::Draft { at, enquiry: None, kind: kind.to_owned(), actor: who.to_owned(), facts, blobs: Vec::new() };
        let step = Step { at, targets: vec![state.clone()], entries: vec![entry], ..Step::default() };
        self.parts.store.commit(step).await?;
        self.note_target(&state);
        self.parts.wake.notify_one();
        Ok(())
    }

    /// The other content is a revision: its digest is known from now on as the first enquiry's, and nothing is done for it.
    async fn merge(&self, dossier: &Dossier, item: &Review, who: &str) -> Result<(), Refused> {
        let Some(first) = dossier.enquiry.flags.conflict_with.clone() else {
            return Err(Refused::misfit("the enquiry conflicts with none"));
        };
        let original = self.parts.store.dossier(&first).await?.ok_or(Refused::Unknown("enquiry"))?;
        let at = self.now();
        let mut step = Step { at, ..Step::default() };
        let mut known = original.enquiry.clone();
        known.contents.extend(dossier.enquiry.contents.iter().copied());
        let facts = Facts::new().with("revision", dossier.enquiry.key.to_string()).with("review", item.id.as_str());
        step.entries.push(entries::of_enquiry(at, &known, "enquiry.revised", who, facts));
        let due = (known.standing == Standing::Accepted).then_some(at);
        step.enquiries.push(EnquiryChange { enquiry: known, version: original.version, fence: None, due });
        let merged = Enquiry { standing: Standing::Merged, settled_at: Some(at), ..dossier.enquiry.clone() };
        let facts = Facts::new().with("into", original.enquiry.key.to_string());
        step.entries.push(entries::of_enquiry(at, &merged, "enquiry.merged", who, facts));
        step.enquiries.push(EnquiryChange { enquiry: merged, version: dossier.version, fence: None, due: None });
        close(&mut step, item, "same", who);
        Ok(self.parts.store.commit(step).await?)
    }

    /// The other content is an enquiry of its own: it is taken up like any accepted one, under its own key.
    async fn separate(&self, dossier: &Dossier, item: &Review, who: &str) -> Result<(), Refused> {
        let at = self.now();
        let mut step = Step { at, ..Step::default() };
        let enquiry = Enquiry { standing: Standing::Accepted, ..dossier.enquiry.clone() };
        step.entries.push(entries::of_enquiry(at, &enquiry, "enquiry.separated", who, Facts::new()));
        step.enquiries.push(EnquiryChange { enquiry, version: dossier.version, fence: None, due: Some(at) });
        close(&mut step, item, "separate", who);
        Ok(self.parts.store.commit(step).await?)
    }

    /// Changes every held effect that the item is about, and closes the item.
    async fn release(
        &self,
        item: &Review,
        who: &str,
        change: impl Fn(&mut Effect, &[Effect]) -> bool + Send + Sync,
    ) -> Result<(), Refused> {
        let at = self.now();
        self.settle_person(&item.enquiry, |dossier| {
            let siblings: Vec<Effect> = dossier.effects.iter().map(|(e, _)| e.clone()).collect();
            let mut step = Step { at, ..Step::default() };
            for (effect, version) in &dossier.effects {
                let mut next = effect.clone();
                let is_meant = item.effect.as_ref().is_none_or(|id| *id == effect.id);
                if is_meant && change(&mut next, &siblings) {
                    step.entries.push(entries::of_effect(at, &next, "effect.released", who, Facts::new()));
                    step.effects.push(by_person(next, *version));
                }
            }
            let decision =
                if step.effects.iter().any(|c| matches!(c.effect.door, Door::Skipped { .. })) { "dismissed" } else { "approved" };
            close(&mut step, item, decision, who);
            Ok(step)
        })
        .await
    }

    async fn decide_effect(&self, dossier: &Dossier, item: &Review, decision: &Decision, who: &str) -> Result<(), Refused> {
        let effect = dossier.effects.iter().find(|(e, _)| Some(&e.id) == item.effect.as_ref());
        let index = effect.and_then(|(e, _)| e.steps.iter().position(domain::gate::Step::needs_person));
        let (Some((effect, _)), Some(index)) = (effect, index) else {
            return Err(Refused::misfit("the effect no longer needs a person"));
        };
        let seen = match decision {
            Decision::NotThere => Observation::NotThere { attempt: item.attempt },
            Decision::ItIs(id) => Observation::ItIs { id: id.clone() },
            Decision::Again | Decision::Approve => Observation::Again,
            Decision::Dismiss(why) => Observation::Close { why: why.clone() },
            Decision::Same | Decision::Separate => {
                return Err(Refused::misfit("an effect is decided with 'not-there', 'it-is ID', 'again' or 'dismiss'"));
            }
        };
        let id = effect.id.clone();
        let (at, said) = (self.now(), decision.word());
        self.settle_person(&item.enquiry, |dossier| {
            let Some((effect, version)) = dossier.effects.iter().find(|(e, _)| e.id == id) else {
                return Err(Refused::Unknown("effect"));
            };
            let mut step = Step { at, ..Step::default() };
            self.observe_person((effect, *version), index, &seen, who, &mut step)?;
            close(&mut step, item, said, who);
            Ok(step)
        })
        .await
    }

    /// Lets the domain decide on what a person saw of one step.
    fn observe_person(
        &self,
        (effect, version): (&Effect, u64),
        index: usize,
        seen: &Observation,
        who: &str,
        step: &mut Step,
    ) -> Result<(), Refused> {
        let target = self.target(&effect.target, &effect.action).ok_or_else(|| Refused::misfit("its target is no longer configured"))?;
        let rules = self.rules(&**target, self.action(&effect.action), effect.steps[index].kind);
        match decide(&effect.steps[index], seen, &rules, step.at, 0) {
            Moved::Ignored(why) => Err(Refused::misfit(why)),
            moved @ Moved::To(..) => {
                let from = effect.steps[index].phase.as_str();
                let (next, _) = effect.clone().moved(index, &moved);
                let facts = Facts::new().with("from", from);
                step.entries.push(entries::of_step(step.at, &next, &next.steps[index], "effect.decided", who, facts));
                step.effects.push(by_person(next, version));
                Ok(())
            }
        }
    }

    /// Replay of one effect: whatever of it can be asked again is asked again; what is held or skipped stays so.
    fn again(&self, effect: &Effect, version: u64, who: &str, step: &mut Step) {
        if effect.door != Door::Open {
            return;
        }
        let pending = effect.steps.iter().position(|s| !s.has_passed());
        let main = effect.steps.iter().position(|s| matches!(s.kind, domain::gate::StepKind::Record | domain::gate::StepKind::Message));
        let Some(index) = pending.or(main) else { return };
        // What cannot be asked again stays as it is; the entry about the run says that a replay was wanted.
        drop(self.observe_person((effect, version), index, &Observation::Again, who, step));
    }

    /// `settle`, for verbs whose building can refuse.
    async fn settle_person(
        &self,
        enquiry: &EnquiryId,
        build: impl Fn(&Dossier) -> Result<Step, Refused> + Send + Sync,
    ) -> Result<(), Refused> {
        let refused = std::sync::Mutex::new(None);
        let result = self
            .settle(enquiry, |dossier| {
                build(dossier).map_err(|error| match error {
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

fn by_person(effect: Effect, version: u64) -> EffectChange {
    EffectChange { effect, version: Some(version), fence: None, keep_lease: false, lock: None }
}

/// The effect as the step leaves it.
fn changed(step: &Step, effect: &Effect) -> Effect {
    step.effects.iter().find(|c| c.effect.id == effect.id).map_or_else(|| effect.clone(), |c| c.effect.clone())
}

fn close(step: &mut Step, item: &Review, decision: &str, who: &str) {
    let mut item = item.clone();
    item.closed_at = Some(step.at);
    item.decision = Some(format!("{decision} (by {who})"));
    step.entries.push(entries::of_review(step.at, &item, "review.decided", who));
    step.reviews.push(item);
}
