//! How many effects are at a target, how fast it is called, and whether it is there: `domain::gate::pace` decides, this counts.
//!
//! The counts are this process's own. That a target is away is in the book and in the journal too, so that a restart does not
//! begin an outage anew.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::gate::{Away, Heard, Observation, Pace, Turn};
use domain::time::UtcMs;
use evidence::Facts;

use super::Engine;
use super::entries::{self, ENGINE};
use super::work::Work;
use crate::effects::Target;

/// Every configured target's pace, by name.
#[derive(Clone, Default)]
pub(super) struct Traffic(Arc<Mutex<BTreeMap<String, Pace>>>);

/// An effect that is at its target, until this is dropped.
pub(super) struct Entered {
    traffic: Traffic,
    target: String,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.traffic.at(&self.target, Pace::leave);
    }
}

impl Traffic {
    pub(super) fn new(targets: &BTreeMap<String, Arc<dyn Target>>, away: &BTreeMap<String, Away>) -> Self {
        // `TARGET/ACTION` is a target's own message of an action: the pace is the target's.
        let own = targets.iter().filter(|(name, _)| !name.contains('/'));
        let paces = own.map(|(name, target)| (name.clone(), Pace::new(target.limits(), away.get(name).copied())));
        Self(Arc::new(Mutex::new(paces.collect())))
    }

    fn at<R>(&self, target: &str, act: impl FnOnce(&mut Pace) -> R) -> Option<R> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(target).map(act)
    }

    fn all<R>(&self, read: impl Fn(&Pace) -> Option<R>) -> Vec<(String, R)> {
        let paces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paces.iter().filter_map(|(name, pace)| Some((name.clone(), read(pace)?))).collect()
    }
}

impl Engine {
    /// How many more effects each target with a bound takes in now.
    pub(super) fn rooms(&self) -> BTreeMap<String, usize> {
        let now = self.now();
        self.traffic.all(|pace| pace.room(now)).into_iter().collect()
    }

    /// When the next target lets somebody in that does not now.
    pub(super) fn opens_next(&self) -> Option<UtcMs> {
        let now = self.now();
        self.traffic.all(|pace| pace.shut_until(now)).into_iter().map(|(_, at)| at).min()
    }

    /// An effect goes to its target; `None`: there is no room.
    pub(super) fn enter(&self, target: &str) -> Option<Entered> {
        let now = self.now();
        let entered = self.traffic.at(target, |pace| pace.enter(now)).unwrap_or(true);
        entered.then(|| Entered { traffic: self.traffic.clone(), target: target.to_owned() })
    }

    /// The same for an effect that was only just planned: where a target has a bound, those wait before it that are older.
    pub(super) fn enter_at_once(&self, target: &str) -> Option<Entered> {
        let now = self.now();
        self.traffic.at(target, |pace| pace.room(now).is_none()).filter(|free| *free)?;
        self.enter(target)
    }

    pub(super) fn is_away(&self, target: &str) -> bool {
        self.traffic.at(target, |pace| pace.is_away()).unwrap_or(false)
    }

    /// When a target that lets nobody in now will, at the latest known; soon, where only others are at it.
    pub(super) fn opens_at(&self, target: &str) -> UtcMs {
        let now = self.now();
        let shut = self.traffic.at(target, |pace| pace.shut_until(now)).flatten();
        shut.unwrap_or_else(|| now.plus(OTHERS_MS))
    }

    /// Waits for the next call's turn.
    pub(super) async fn turn(&self, target: &str) {
        let now = self.now();
        if let Some(at) = self.traffic.at(target, |pace| pace.turn(now)).filter(|at| *at > now) {
            self.parts.clock.sleep_until(at).await;
        }
    }

    /// Notes what an answer, or its lack, says of the target.
    pub(super) fn hear(&self, work: &mut Work, seen: &Observation) {
        // A target that closed its door answered; it is paused.
        let heard = if work.targets.is_empty() { heard(seen) } else { Some(Heard::Answer) };
        let Some(heard) = heard else { return };
        let (now, chance, name) = (self.now(), self.parts.entropy.draw(), work.effect.target.clone());
        let turn = self.traffic.at(&name, |pace| pace.hear(heard, &self.parts.settings.backoff, now, chance)).flatten();
        let (kind, away) = match turn {
            None => return,
            Some(Turn::Gone(away)) => {
                tracing::error!(target_name = %name, "a target does not answer: it counts as away, and is tried from time to time");
                ("target.away", Some(away))
            }
            Some(Turn::Still(away)) => ("target.still_away", Some(away)),
            Some(Turn::Back) => {
                tracing::info!(target_name = %name, "a target is back");
                ("target.back", None)
            }
        };
        let facts = away.map_or_else(Facts::new, |away| {
            Facts::new().with("since", away.since.rfc3339()).with("probes", away.probes).with("probe_at", away.probe_at.rfc3339())
        });
        work.entries.push(entries::of_effect(now, &work.effect, kind, ENGINE, facts));
        work.away.insert(name, away);
    }
}

/// How long an effect waits that found others at its target.
const OTHERS_MS: i64 = 50;

fn heard(seen: &Observation) -> Option<Heard> {
    Some(match seen {
        Observation::NotSent { retry_after_ms: Some(ms) } | Observation::LookUnanswered { retry_after_ms: Some(ms) } => Heard::Busy(*ms),
        Observation::NotSent { retry_after_ms: None }
        | Observation::LookUnanswered { retry_after_ms: None }
        | Observation::NoAnswer
        | Observation::ReadFailed => Heard::Nothing,
        Observation::Refused { .. }
        | Observation::Conflict
        | Observation::Applied { .. }
        | Observation::Found { .. }
        | Observation::Absent { .. }
        | Observation::LookFailed
        | Observation::ReadSame
        | Observation::ReadDiffers { .. }
        | Observation::ReadGone => Heard::Answer,
        Observation::Begin { .. }
        | Observation::Lost { .. }
        | Observation::LateAnswer { .. }
        | Observation::NotThere { .. }
        | Observation::ItIs { .. }
        | Observation::Again
        | Observation::Accept
        | Observation::Close { .. } => return None,
    })
}
