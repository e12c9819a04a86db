//! What is to be done for an enquiry: one effect per action, with its door open, held, waiting or skipped.
//!
//! Conditions are evaluated here, once, before any hold, so that a person who clears a hold never lets go what the
//! condition excludes. What came of it is stored with the effect.

use domain::enquiry::{Enquiry, Priority, Qualification};
use domain::gate::{Door, Effect, Hold};
use domain::planted::{self, Bug};
use domain::time::UtcMs;

use super::scene::scene;
use super::{Action, Engine};
use crate::qualify::Failure;

/// Why a qualification holds outward messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// No try gave a result; how the last one failed.
    Failed(Failure),
    /// Below the configured confidence.
    Uncertain,
    /// The qualifier says that a person should look, and why.
    Suspect(&'static str),
}

impl Doubt {
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Failed(Failure::Rejected) => {
                "the qualifier cannot answer for it, and another try would not mend that: it went on without (the timeline says why)"
            }
            Self::Failed(Failure::Refused) => "the model declined to qualify it: it went on without",
            Self::Failed(Failure::Unreachable | Failure::Truncated | Failure::Invalid) => {
                "every try to qualify it failed: it went on without"
            }
            Self::Uncertain => "the qualification is uncertain",
            Self::Suspect(why) => why,
        }
    }
}

/// The reason that an effect's door carries.
pub(super) fn reason(effect: &Effect) -> Option<&str> {
    match &effect.door {
        Door::Held { why, .. } | Door::Skipped { why } => Some(why),
        Door::Open | Door::Waiting => None,
    }
}

/// Whether an effect is held by that.
pub(super) fn is_held_by(effect: &Effect, hold: Hold) -> bool {
    matches!(&effect.door, Door::Held { by, .. } if by.contains(&hold))
}

impl Engine {
    /// Plans every action of the enquiry's client, in the configuration's order.
    pub(super) async fn plan(&self, enquiry: &Enquiry, doubt: Option<Doubt>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for action in self.parts.actions.iter().filter(|action| action.client == enquiry.client) {
            let Some(target) = self.target(&action.target, &action.name) else { continue };
            let fields = enquiry.fields.clone().unwrap_or_default();
            let mut effect = Effect::planned(&enquiry.key, &action.name, &action.target, 0, &target.steps(&fields), self.now());
            effect.after.clone_from(&action.after);
            effect.door = Door::Waiting;
            match self.excluded(enquiry, action, &effect, doubt).await {
                Ok(Some(why)) => effect.door = Door::Skipped { why: why.to_owned() },
                Ok(None) => hold(enquiry, action, &mut effect, doubt),
                Err(why) => {
                    hold(enquiry, action, &mut effect, doubt);
                    effect.hold(Hold::Own, &why);
                }
            }
            effects.push(effect);
        }
        open_doors(&mut effects, self.now());
        effects
    }

    /// Why the action is not for this enquiry at all. `Err`: its condition gives no answer, so a person decides.
    async fn excluded(
        &self,
        enquiry: &Enquiry,
        action: &Action,
        effect: &Effect,
        doubt: Option<Doubt>,
    ) -> Result<Option<&'static str>, String> {
        let has_address = enquiry.fields.as_ref().is_some_and(|f| f.contact.email.is_some());
        if action.outward && !has_address {
            return Ok(Some("the enquiry has no e-mail address"));
        }
        if !action.conditional {
            return Ok(None);
        }
        // A doubtful qualification must not exclude: the condition is asked as if it were a good one, and a person decides.
        let asked = match doubt {
            Some(_) if action.held_by_review => &Enquiry { qualification: Some(well_qualified(enquiry)), ..enquiry.clone() },
            Some(_) | None => enquiry,
        };
        let scene = scene(asked, &effect.outgoing_key, &action.name, effect.ordinal, &self.parts.settings.other_names);
        match self.parts.conditions.holds(&action.name, &scene).await {
            Ok(true) => Ok(None),
            Ok(false) => Ok(Some("its condition is false")),
            Err(why) => Err(format!("its condition gives no answer: {why}")),
        }
    }
}

/// The enquiry's qualification as it would be if there were no doubt about it.
pub(super) fn well_qualified(enquiry: &Enquiry) -> Qualification {
    let good = |found: Qualification| Qualification { qualified: true, confidence: 1.0, ..found };
    good(enquiry.qualification.clone().unwrap_or_else(|| Qualification {
        request_type: "other".to_owned(),
        priority: Priority::Normal,
        summary: String::new(),
        qualified: true,
        confidence: 1.0,
        budget: None,
        contact_facts: Vec::new(),
        unsupported: Vec::new(),
        reply_draft: None,
    }))
}

/// Everything that holds the effect; each is cleared by itself.
fn hold(enquiry: &Enquiry, action: &Action, effect: &mut Effect, doubt: Option<Doubt>) {
    if enquiry.flags.hold {
        effect.hold(Hold::LookAlike, "the enquiry repeats a recent one");
    }
    if enquiry.flags.ambiguous_time {
        effect.hold(Hold::AmbiguousTime, "its local event time is ambiguous");
    }
    if !enquiry.flags.ambiguous.is_empty() {
        effect.hold(Hold::Ambiguous, "who or what it is does not stand for certain in what was sent");
    }
    if let Some(doubt) = doubt.filter(|_| action.held_by_review && !planted::is(Bug::DoubtDoesNotHold)) {
        effect.hold(Hold::Qualification, doubt.sentence());
    }
}

/// Opens what waits for nothing, and skips what waits for something that will never be; until nothing changes.
pub(super) fn open_doors(effects: &mut [Effect], now: UtcMs) -> Vec<usize> {
    let mut changed = Vec::new();
    loop {
        let before = effects.to_vec();
        let woken: Vec<usize> = (0..effects.len()).filter(|&i| effects[i].wake(&before, now)).collect();
        if woken.is_empty() {
            return changed;
        }
        changed.extend(woken);
    }
}
