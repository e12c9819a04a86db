//! What a person does of their own accord: replaying an enquiry, pausing a target. And what the configuration says of a
//! target as a whole, which is kept in the same place.

use domain::enquiry::{Again, Enquiry, Qualifying, Standing};
use domain::gate::{Door, Effect, Observation, StepKind};
use domain::ids::EnquiryId;
use evidence::{Draft, Facts};
use store::{Case, EnquiryChange, Error, Step, TargetState};

use super::entries::{self, ENGINE};
use super::settle::standing_of;
use super::{Engine, Refused};

/// Why a target is paused that is no longer configured, and one that is in shadow mode: it goes on by itself when that ends.
const NOT_CONFIGURED: &str = "it is no longer configured";
const IN_SHADOW: &str = "it is in shadow mode: nothing is sent";

impl Engine {
    /// Replays an enquiry: a new run; every effect is looked at again, before anything is written. The key stays.
    pub async fn replay(&self, enquiry: &EnquiryId, who: &str) -> Result<(), Refused> {
        let (at, run) = (self.now(), self.new_run());
        self.settle_person(enquiry, |case| {
            match case.enquiry.standing {
                Standing::Held => return Err(Refused::misfit("it waits for its conflict to be decided: 'oncebook review' lists it")),
                Standing::Merged => return Err(Refused::misfit("it is a revision of another enquiry: replay that one")),
                Standing::Accepted | Standing::Working | Standing::Review | Standing::Settled => {}
            }
            let mut step = Step { at, ..Step::default() };
            let facts = Facts::new().with("run", run.as_str()).with("why", "replay");
            step.entries.push(entries::of_enquiry(at, &case.enquiry, "run.began", who, facts));
            for (effect, version) in &case.effects {
                self.again(case, effect, *version, who, &mut step);
            }
            // A new run asks the qualifier anew; what was planned stays planned, and what was written stays as it is.
            let is_planned = case.enquiry.standing != Standing::Accepted;
            let again = (is_planned && case.enquiry.fields.is_some()).then_some(Again { since: at, due: at });
            let mut next = Enquiry { run: run.clone(), qualifying: Qualifying { tries: 0, again }, ..case.enquiry.clone() };
            let due = if is_planned { next.asked_again() } else { Some(at) };
            if is_planned {
                let effects: Vec<Effect> = case.effects.iter().map(|(e, _)| changed(&step, e)).collect();
                next.standing = standing_of(&effects);
                next.settled_at = (next.standing == Standing::Settled).then(|| case.enquiry.settled_at.unwrap_or(at));
            }
            step.enquiries.push(EnquiryChange { enquiry: next, version: case.version, fence: None, due, keep_lease: false });
            Ok(step)
        })
        .await?;
        self.parts.wake.notify_one();
        Ok(())
    }

    /// Replay of one effect: whatever of it can be asked again is asked again; what is held or skipped stays so.
    fn again(&self, case: &Case, effect: &Effect, version: u64, who: &str, step: &mut Step) {
        if effect.door != Door::Open {
            return;
        }
        let pending = effect.steps.iter().position(|s| !s.has_passed());
        let main = effect.steps.iter().position(|s| matches!(s.kind, StepKind::Record | StepKind::Message));
        let Some(index) = pending.or(main) else { return };
        // What cannot be asked again stays as it is; the entry about the run says that a replay was wanted.
        drop(self.observe_person(case, (effect, version), index, (&Observation::Again, who), step));
    }

    /// Pauses a target, or lets it go on.
    pub async fn set_paused(&self, target: &str, paused: Option<String>, who: &str) -> Result<(), Refused> {
        // `TARGET/ACTION` is how a target's own message of an action is kept, not a name that is configured.
        if target.contains('/') || !self.parts.targets.contains_key(target) {
            return Err(Refused::Unknown("target"));
        }
        Ok(self.pause(target, paused, who).await?)
    }

    /// Compares the book's targets with the configuration's, at the start: what was paused for want of either goes on, and
    /// what is in shadow mode is paused.
    pub(super) async fn settle_targets(&self, known: Vec<TargetState>) -> Result<(), Error> {
        let in_shadow = |name: &str| self.parts.actions.iter().any(|action| action.target == name && action.shadow);
        for state in &known {
            let why = state.paused.as_ref().map(|(_, why)| why.as_str());
            let is_back = why == Some(NOT_CONFIGURED) && self.parts.targets.contains_key(&state.name);
            let is_live = why == Some(IN_SHADOW) && !in_shadow(&state.name);
            if is_back || is_live {
                self.pause(&state.name, None, ENGINE).await?;
            }
        }
        for name in self.parts.targets.keys().filter(|name| in_shadow(name) && !self.is_paused(name)) {
            self.pause(name, Some(IN_SHADOW.to_owned()), ENGINE).await?;
        }
        Ok(())
    }

    /// An effect's target is not configured any more: nothing of its effects is handed out until it is again.
    pub(super) async fn miss_target(&self, target: &str) -> Result<(), Error> {
        tracing::error!(target_name = %target, "a target with open effects is no longer configured: it was paused");
        self.pause(target, Some(NOT_CONFIGURED.to_owned()), ENGINE).await
    }

    async fn pause(&self, target: &str, paused: Option<String>, who: &str) -> Result<(), Error> {
        let at = self.now();
        let kind = if paused.is_some() { "target.paused" } else { "target.resumed" };
        let facts = Facts::new().with("target", target).maybe("why", paused.clone());
        let state = TargetState { name: target.to_owned(), paused: paused.map(|why| (at, why)) };
        let entry = Draft { at, enquiry: None, kind: kind.to_owned(), actor: who.to_owned(), facts, blobs: Vec::new() };
        let step = Step { at, targets: vec![state.clone()], entries: vec![entry], ..Step::default() };
        self.parts.store.commit(step).await?;
        self.note_target(&state);
        self.parts.wake.notify_one();
        Ok(())
    }
}

/// The effect as the step leaves it.
fn changed(step: &Step, effect: &Effect) -> Effect {
    step.effects.iter().find(|c| c.effect.id == effect.id).map_or_else(|| effect.clone(), |c| c.effect.clone())
}
