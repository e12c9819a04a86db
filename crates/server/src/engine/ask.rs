//! Asking a target, and turning its words into observations and journal words.
//!
//! A target's own words may repeat what the enquiry says: they stay in the effect and in blobs, out of the journal.

use domain::gate::{Next, Observation, Phase, Step, StepKind};
use evidence::Facts;
use store::TargetState;

use super::Engine;
use super::entries::{self, ENGINE};
use super::work::Work;
use crate::effects::{Found, Outcome, ReadBack, Report, Target};

impl Engine {
    pub(super) async fn send(&self, work: &mut Work, index: usize, target: &dyn Target) -> (Observation, Report<()>) {
        self.parts.stops.at("engine.intended");
        let call = work.call(index, &self.parts.settings.other_names);
        let Report { what, facts, body } = target.write(&call).await;
        self.parts.stops.at("engine.answered");
        if let Outcome::NotSent { why, .. } | Outcome::Closed(why) | Outcome::Unknown(why) = &what {
            let (effect, target) = (&work.effect.id, &work.effect.target);
            tracing::warn!(%effect, target_name = %target, why, "an attempt did not go through: it is looked up or made again");
        }
        let seen = match what {
            Outcome::Applied(id) => (Observation::Applied { id }, facts),
            // The target's words may repeat the enquiry's: they stay in the effect and the blob, out of the journal.
            Outcome::Refused(why) => (Observation::Refused { why }, facts),
            Outcome::Conflict => (Observation::Conflict, facts),
            Outcome::NotSent { why, retry_after_ms } => (Observation::NotSent { retry_after_ms }, facts.with("why", why)),
            Outcome::Closed(why) => {
                self.close_target(work, &why);
                (Observation::NotSent { retry_after_ms: None }, facts.with("why", why))
            }
            Outcome::Unknown(why) => (Observation::NoAnswer, facts.with("why", why)),
        };
        (seen.0, Report { what: (), facts: seen.1, body })
    }

    pub(super) async fn look_up(&self, work: &mut Work, index: usize, target: &dyn Target) -> (Observation, Report<()>) {
        let begun_at = self.now();
        let Report { what, facts, body } = target.look_up(&work.call(index, &self.parts.settings.other_names)).await;
        let step = &work.effect.steps[index];
        let (contact, first) = (step.kind == StepKind::Contact, matches!(step.phase, Phase::Planned { .. }));
        let (seen, facts) = match what {
            // Several contacts with one address are other people's doing: the oldest is taken, and flagged.
            Found::Records(ids) if contact => {
                let facts = facts.with("matches", u64::try_from(ids.len()).unwrap_or(u64::MAX));
                (Observation::Found { ids: ids.into_iter().take(1).collect() }, facts)
            }
            Found::Records(ids) => (Observation::Found { ids }, facts),
            Found::Absent => (Observation::Absent { begun_at, process: self.parts.store.stream().clone() }, facts),
            Found::CannotTell(why) => (Observation::LookFailed, facts.with("why", why)),
            Found::Unanswered { why, retry_after_ms } => (Observation::LookUnanswered { retry_after_ms }, facts.with("why", why)),
            Found::Closed(why) => {
                self.close_target(work, &why);
                (Observation::LookUnanswered { retry_after_ms: None }, facts.with("why", why))
            }
        };
        // That nothing is there before a first write is said in a word: a page of nothing is no evidence worth its place.
        let body = body.filter(|_| !first || !matches!(seen, Observation::Absent { .. }));
        (seen, Report { what: (), facts, body })
    }

    pub(super) async fn read_back(&self, work: &mut Work, index: usize, target: &dyn Target) -> (Observation, Report<()>) {
        let Phase::Done { id, .. } = work.effect.steps[index].phase.clone() else {
            return (Observation::ReadFailed, Report::bare(()));
        };
        let Report { what, facts, body } = target.read_back(&work.call(index, &self.parts.settings.other_names), &id).await;
        let (seen, facts) = match what {
            ReadBack::Same => (Observation::ReadSame, facts),
            ReadBack::Differs(what) => (Observation::ReadDiffers { what: what.clone() }, facts.with("differs", what)),
            ReadBack::Gone => (Observation::ReadGone, facts),
            ReadBack::Failed(why) => {
                tracing::warn!(effect = %work.effect.id, why, "a record could not be read back; what comes after it waits");
                (Observation::ReadFailed, facts.with("why", why))
            }
            ReadBack::Closed(why) => {
                self.close_target(work, &why);
                (Observation::ReadFailed, facts.with("why", why))
            }
        };
        (seen, Report { what: (), facts, body })
    }

    /// 401 and 403 pause the target, with an alarm; its effects stay planned.
    fn close_target(&self, work: &mut Work, why: &str) {
        let at = self.now();
        let state = TargetState { name: work.effect.target.clone(), paused: Some((at, why.to_owned())) };
        tracing::error!(target_name = %state.name, why, "a target is closed to us and was paused");
        let facts = Facts::new().with("why", why);
        work.entries.push(entries::of_effect(at, &work.effect, "target.paused", ENGINE, facts));
        work.targets.push(state);
    }
}

/// The journal's word for an observation; `None` for a beginning that only leads to a question.
pub(super) fn kind_of(seen: &Observation, next: Next) -> Option<&'static str> {
    Some(match seen {
        Observation::Begin { .. } if next == Next::Send => "effect.intended",
        Observation::Begin { .. } if next == Next::Person => "effect.given_up",
        Observation::Begin { .. } => return None,
        Observation::Lost { .. } => "effect.lost",
        Observation::NotSent { .. } => "effect.not_sent",
        Observation::Refused { .. } => "effect.refused",
        Observation::Conflict => "effect.exists_already",
        Observation::Applied { .. } => "effect.answered",
        Observation::NoAnswer => "effect.unknown",
        Observation::Found { .. } => "effect.found",
        Observation::Absent { .. } => "effect.absent",
        Observation::LookFailed | Observation::LookUnanswered { .. } => "effect.look_failed",
        Observation::ReadSame => "effect.verified",
        Observation::ReadDiffers { .. } => "effect.mismatched",
        Observation::ReadGone => "effect.read_gone",
        Observation::ReadFailed => "effect.read_failed",
        Observation::LateAnswer { .. } => "effect.late_answer",
        Observation::NotThere { .. } | Observation::ItIs { .. } | Observation::Again | Observation::Accept | Observation::Close { .. } => {
            "effect.decided"
        }
    })
}

/// An intent names key, action, step, attempt, fence and deadline, and that the gate let it proceed.
pub(super) fn intent_facts(step: &Step, facts: Facts) -> Facts {
    match step.attempts.last().filter(|_| step.phase == Phase::Intended) {
        Some(attempt) => facts.with("decision", "proceed").with("fence", attempt.fence).with("deadline", attempt.deadline.rfc3339()),
        None => facts,
    }
}
