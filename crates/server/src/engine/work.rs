//! An effect under work: its state, and what is to be committed with it.

use std::collections::BTreeMap;

use domain::enquiry::Enquiry;
use domain::gate::{Attempt, Away, Door, Effect, Phase, Step, StepKind};
use domain::ids::EnquiryId;
use domain::planted::{self, Bug};
use domain::time::UtcMs;
use evidence::{Blob, Draft};
use store::{Case, EffectChange, TargetState};

use super::scene::scene;
use super::traffic::Entered;
use crate::effects::Call;

/// The effect, its enquiry, and what was observed since the last commit.
pub(super) struct Work {
    pub(super) enquiry: Enquiry,
    pub(super) effect: Effect,
    pub(super) version: u64,
    pub(super) fence: u64,
    pub(super) rendered: Vec<u8>,
    pub(super) entries: Vec<Draft>,
    pub(super) blobs: Vec<(Option<EnquiryId>, Blob)>,
    pub(super) targets: Vec<TargetState>,
    pub(super) away: BTreeMap<String, Option<Away>>,
    /// Its place at the target, as long as it is worked on.
    pub(super) entered: Option<Entered>,
    /// The enquiry with all its effects, as far as it is known from this worker's last commit or reading.
    pub(super) known: Option<Case>,
}

impl Work {
    /// Nothing observed yet.
    pub(super) fn new(enquiry: Enquiry, effect: Effect, version: u64, fence: u64) -> Self {
        let (rendered, entries, blobs, targets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let away = BTreeMap::new();
        Self { enquiry, effect, version, fence, rendered, entries, blobs, targets, away, entered: None, known: None }
    }

    /// The case as it is if nobody else was at it: this effect has the version of this worker's last commit. `None` where
    /// another effect of the enquiry is worked on beside this one: whoever rests second would only lose the race.
    pub(super) fn take_known(&mut self) -> Option<Case> {
        let mut case = self.known.take()?;
        let is_alone = |(other, _): &(Effect, u64)| other.id == self.effect.id || other.has_ended() || other.door == Door::Waiting;
        if !case.effects.iter().all(is_alone) {
            return None;
        }
        let mine = case.effects.iter_mut().find(|(effect, _)| effect.id == self.effect.id)?;
        mine.1 = self.version;
        Some(case)
    }

    /// The change of the effect as it stands now.
    pub(super) fn change(&self, keep_lease: bool, lock: Option<String>) -> EffectChange {
        EffectChange {
            effect: self.effect.clone(),
            version: Some(self.version),
            fence: Some(self.fence),
            keep_lease,
            take_until: None,
            lock,
        }
    }

    /// What the target is asked, for the step at hand.
    pub(super) fn call(&self, index: usize, other_names: &[String]) -> Call {
        let effect = &self.effect;
        let id_of = |kind: StepKind| effect.steps.iter().find(|s| s.kind == kind).and_then(Step::external_id).map(str::to_owned);
        Call {
            step: effect.steps[index].kind,
            key: if planted::is(Bug::KeyOfTheRetry) {
                format!("{}@{}", effect.outgoing_key, effect.steps[index].latest())
            } else {
                effect.outgoing_key.clone()
            },
            rendered: self.rendered.clone(),
            scene: scene(&self.enquiry, &effect.outgoing_key, &effect.action, effect.ordinal, other_names),
            contact_id: id_of(StepKind::Contact),
            record_id: id_of(StepKind::Record),
            deadline: effect.steps[index]
                .attempts
                .last()
                .filter(|_| !planted::is(Bug::DeadlineForgotten))
                .map_or(UtcMs(i64::MAX), |attempt| attempt.deadline),
        }
    }
}

/// Puts off what the step at hand does next.
pub(super) fn put_off(effect: &mut Effect, until: UtcMs) {
    let Some(index) = effect.current() else { return };
    match &mut effect.steps[index].phase {
        Phase::Planned { due } | Phase::Unknown { due, .. } | Phase::Done { due, .. } => *due = until,
        Phase::Verified { audit_due, .. } => *audit_due = audit_due.map(|_| until),
        _ => {}
    }
}

/// Whether an attempt at the contact may still take effect, so that no other effect may begin one. Who closed it gave it up:
/// nothing more is ever heard of it, and others would wait for good.
pub(super) fn contact_is_open(effect: &Effect) -> bool {
    let contact = effect.steps.iter().find(|step| step.kind == StepKind::Contact);
    let is_over = |step: &Step| {
        planted::is(Bug::ContactLockDropped)
            || step.has_passed()
            || matches!(step.phase, Phase::Closed { .. } | Phase::AtMostOnce) && !planted::is(Bug::ClosedContactKeepsLock)
    };
    contact.is_some_and(|step| !is_over(step) && step.attempts.iter().any(Attempt::is_open))
}
