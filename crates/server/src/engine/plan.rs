//! What is to be done for an enquiry: one effect per action, with its door open, held, waiting or skipped.
//!
//! Conditions are evaluated here, once, and what came of it is stored with the effect.

use domain::enquiry::Enquiry;
use domain::gate::{Door, Effect};

use super::scene::scene;
use super::{Action, Engine};

/// Why a qualification holds outward messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Every try failed.
    Failed,
    /// Below the configured confidence.
    Uncertain,
}

impl Doubt {
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Failed => "every try to qualify it failed: it went on without",
            Self::Uncertain => "the qualification is uncertain",
        }
    }
}

const CONDITION_FAILED: &str = "its condition could not be evaluated";

/// The reason that an effect's door carries.
pub(super) fn reason(effect: &Effect) -> Option<&str> {
    match &effect.door {
        Door::Held { why } | Door::Skipped { why } => Some(why),
        Door::Open | Door::Waiting => None,
    }
}

/// The reason, if it is that its condition could not be evaluated.
pub(super) fn condition_failed(effect: &Effect) -> Option<&str> {
    reason(effect).filter(|why| why.starts_with(CONDITION_FAILED))
}

impl Engine {
    /// Plans every action of the enquiry's client, in the configuration's order.
    pub(super) async fn plan(&self, enquiry: &Enquiry, doubt: Option<&Doubt>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for action in self.parts.actions.iter().filter(|action| action.client == enquiry.client) {
            let Some(target) = self.target(&action.target, &action.name) else { continue };
            let fields = enquiry.fields.clone().unwrap_or_default();
            let mut effect = Effect::planned(&enquiry.key, &action.name, &action.target, 0, &target.steps(&fields), self.now());
            effect.after.clone_from(&action.after);
            effect.door = self.door(enquiry, action, &effect, doubt).await;
            effects.push(effect);
        }
        open_doors(&mut effects);
        effects
    }

    async fn door(&self, enquiry: &Enquiry, action: &Action, effect: &Effect, doubt: Option<&Doubt>) -> Door {
        let skipped = |why: &str| Door::Skipped { why: why.to_owned() };
        let held = |why: &str| Door::Held { why: why.to_owned() };
        let has_address = enquiry.fields.as_ref().is_some_and(|f| f.contact.email.is_some());
        if action.outward && !has_address {
            return skipped("the enquiry has no e-mail address");
        }
        if action.shadow {
            return skipped("the target is in shadow mode: nothing is sent");
        }
        if enquiry.flags.hold {
            return held(if enquiry.flags.ambiguous_time { "ambiguous event time" } else { "look-alike of a recent enquiry" });
        }
        if let Some(doubt) = doubt.filter(|_| action.held_by_review) {
            return held(doubt.sentence());
        }
        if action.conditional {
            let scene = scene(enquiry, &effect.outgoing_key, &action.name, effect.ordinal);
            match self.parts.conditions.holds(&action.name, &scene).await {
                Ok(true) => {}
                Ok(false) => return skipped("its condition is false"),
                Err(why) => return held(&format!("{CONDITION_FAILED}: {why}")),
            }
        }
        Door::Waiting
    }
}

/// Opens what waits for nothing, and skips what waits for something that will never be; until nothing changes.
pub(super) fn open_doors(effects: &mut [Effect]) -> Vec<usize> {
    let mut changed = Vec::new();
    loop {
        let before = effects.to_vec();
        let woken: Vec<usize> = (0..effects.len()).filter(|&i| effects[i].wake(&before)).collect();
        if woken.is_empty() {
            return changed;
        }
        changed.extend(woken);
    }
}
