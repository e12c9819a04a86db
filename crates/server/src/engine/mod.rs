//! The engine: takes up due work, lets the domain decide, carries out what it decides, and commits.
//!
//! It knows targets and qualifiers only as traits, and time and chance only as what it was given, so that a simulation runs
//! this very code. Here is what it is made of; `process` plans an enquiry after `qualifying` it, `perform` carries an effect on
//! (`ask` speaks to the target, `doors` and `brake` say what keeps an effect from being begun), `settle` commits what follows for the whole enquiry, `traffic` how a target is called, `people` a person's decisions, `verbs` what a person does of their own accord, `run` the workers.

mod ask;
mod brake;
mod condition;
mod doors;
mod entries;
mod people;
mod perform;
mod plan;
mod process;
mod qualifying;
mod run;
mod scene;
mod settle;
mod traffic;
mod verbs;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use domain::enquiry::Enquiry;
use domain::gate::{Effect, Find, Policy, Rules, StepKind};
use domain::ids::RunId;
use domain::retry::Backoff;
use domain::time::{Clock, Entropy, UtcMs};
use evidence::Blob;
use store::{Store, TargetState};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::effects::Target;
use crate::qualify::Qualifier;
use crate::stops::Stops;

use self::traffic::Traffic;

pub use brake::Listed;
pub use condition::{Conditions, Miswritten};
pub use people::{Decision, NoDecision, Refused};
pub use run::Place;

/// One configured action.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "four independent properties of a configured action, each named")]
pub struct Action {
    /// Its name.
    pub name: String,
    /// The target's name.
    pub target: String,
    /// Actions that must have ended well before.
    pub after: Vec<String>,
    /// Whether it has a condition, known to [`Conditions`] by the action's name.
    pub conditional: bool,
    /// It sends a message to a person.
    pub outward: bool,
    /// Its target is never called: what would have been done is planned, said and skipped.
    pub shadow: bool,
    /// A qualification in review holds it.
    pub held_by_review: bool,
    /// What it sends may hold a model's draft: it leaves only after a person has approved it.
    pub sends_draft: bool,
    /// It is not begun later than this after the enquiry, in ms: what is older is held.
    pub not_after_ms: Option<i64>,
    /// How many of its messages one address may get, and within how long, in ms.
    pub per_address: Option<(u32, i64)>,
    /// What to do where the target cannot be asked.
    pub policy: Policy,
    /// The client it belongs to.
    pub client: Option<String>,
}

/// The engine's own settings. Spans in ms.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How much work at a time.
    pub workers: usize,
    /// Names that some source has for fields of its own: an enquiry of another source has them too, as null.
    pub other_names: Vec<String>,
    /// The longest a stalled process may sit between its deadline check and the send.
    pub pause_max_ms: i64,
    /// Attempts that may have reached a target before a person is asked.
    pub attempts_max: u32,
    /// How long a step that was never sent is tried.
    pub give_up_ms: i64,
    /// Waits between tries.
    pub backoff: Backoff,
    /// Tries of the qualifier.
    pub qualify_attempts: u32,
    /// Waits between them.
    pub qualify_backoff: Backoff,
    /// A result below this is uncertain: 0 to 1.
    pub min_confidence: f64,
}

/// What the engine works with.
pub struct Parts {
    /// The book.
    pub store: Arc<dyn Store>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
    /// Targets by name; `TARGET/ACTION` where an action has its own (its own message text).
    pub targets: BTreeMap<String, Arc<dyn Target>>,
    /// Actions, in the configuration's order.
    pub actions: Vec<Action>,
    /// The qualifier.
    pub qualifier: Arc<dyn Qualifier>,
    /// The actions' conditions.
    pub conditions: Conditions,
    /// Settings.
    pub settings: Settings,
    /// Wakes the dispatcher when something was accepted.
    pub wake: Arc<tokio::sync::Notify>,
    /// Places where a drill can hold it.
    pub stops: Arc<Stops>,
}

/// Settings for tests of what stands before an engine: one piece of work at a time, and no waiting.
#[cfg(test)]
pub(crate) fn hasty() -> Settings {
    let backoff = Backoff { first_ms: 1, max_ms: 1 };
    Settings {
        other_names: Vec::new(),
        workers: 1,
        pause_max_ms: 0,
        attempts_max: 3,
        give_up_ms: 1_000,
        backoff,
        qualify_attempts: 1,
        qualify_backoff: backoff,
        min_confidence: 0.5,
    }
}

/// The engine.
pub struct Engine {
    parts: Parts,
    /// Targets that nothing is sent to. The store has them too and hands out nothing of theirs; this is for what was handed
    /// out before.
    paused: Mutex<BTreeSet<String>>,
    traffic: Traffic,
    /// Room for work: one permit a worker.
    places: Arc<Semaphore>,
    tasks: TaskTracker,
    /// Older work than what arrives now waits in the book, or nobody works: what arrives waits behind it.
    waits: AtomicBool,
}

impl Engine {
    /// An engine over these parts; reads from the book which targets are paused.
    pub async fn new(parts: Parts) -> Result<Self, store::Error> {
        let known = parts.store.targets().await?;
        let paused = Mutex::new(known.iter().filter(|t| t.paused.is_some()).map(|t| t.name.clone()).collect());
        let places = Arc::new(Semaphore::new(parts.settings.workers));
        let traffic = Traffic::new(&parts.targets, &parts.store.away().await?);
        let engine = Self { parts, paused, traffic, places, tasks: TaskTracker::new(), waits: AtomicBool::new(true) };
        engine.settle_targets(known).await?;
        Ok(engine)
    }

    fn now(&self) -> UtcMs {
        self.parts.clock.now()
    }

    /// What holds for one step of an action on a target.
    fn rules(&self, target: &dyn Target, action: Option<&Action>, step: StepKind) -> Rules {
        let settings = &self.parts.settings;
        Rules {
            find: target.find(step),
            reads: target.reads(step),
            settle_ms: target.settle_ms(),
            pause_max_ms: settings.pause_max_ms,
            timeout_ms: target.timeout_ms(),
            attempts_max: settings.attempts_max,
            give_up_ms: settings.give_up_ms,
            backoff: settings.backoff,
            policy: action.map(|a| a.policy).unwrap_or_default(),
            restored_at: self.parts.store.restored_at(),
        }
    }

    /// What holds for an effect whose target is not configured any more: it can neither be asked nor read.
    fn rules_without_target(&self) -> Rules {
        let settings = &self.parts.settings;
        Rules {
            find: Find::None,
            reads: false,
            settle_ms: 0,
            pause_max_ms: settings.pause_max_ms,
            timeout_ms: 0,
            attempts_max: settings.attempts_max,
            give_up_ms: settings.give_up_ms,
            backoff: settings.backoff,
            policy: Policy::Review,
            restored_at: self.parts.store.restored_at(),
        }
    }

    /// The contact step is serialised per (target, address): while one effect's is open, no other begins. The lock's name
    /// is a keyed fingerprint, so that the book's columns hold no address.
    fn contact_lock(&self, enquiry: &Enquiry, effect: &Effect) -> Option<String> {
        let (field, value) = enquiry.fields.as_ref()?.contact_handle()?;
        let parts = [effect.target.as_bytes(), field.as_bytes(), value.as_bytes()];
        Some(format!("contact:{}", self.parts.store.secret().fingerprint("contact-lock", parts)))
    }

    /// The target of an action: its own, else the one of that name.
    fn target(&self, target: &str, action: &str) -> Option<&Arc<dyn Target>> {
        self.parts.targets.get(&format!("{target}/{action}")).or_else(|| self.parts.targets.get(target))
    }

    fn action(&self, name: &str) -> Option<&Action> {
        self.parts.actions.iter().find(|action| action.name == name)
    }

    fn is_paused(&self, target: &str) -> bool {
        self.paused.lock().unwrap_or_else(PoisonError::into_inner).contains(target)
    }

    /// Takes note of a target's state that was committed.
    fn note_target(&self, state: &TargetState) {
        let mut paused = self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.paused {
            Some(_) => paused.insert(state.name.clone()),
            None => paused.remove(&state.name),
        };
    }

    fn blob(&self, bytes: Vec<u8>) -> Blob {
        let mut nonce = [0_u8; 32];
        self.parts.entropy.fill(&mut nonce);
        Blob { nonce, bytes }
    }

    fn new_run(&self) -> RunId {
        RunId::draw(self.now(), &*self.parts.entropy)
    }

    /// How long a lease lasts: the longest that one piece of work can take, and a minute. It is only waited for when a
    /// worker is lost without its process. A piece of work is one try of the qualifier: the waits between are in the book.
    fn lease_ms(&self) -> i64 {
        let slowest = self.parts.targets.values().map(|t| t.timeout_ms()).max().unwrap_or(0);
        let qualifying = self.parts.qualifier.timeout_ms().saturating_mul(2);
        (slowest.saturating_mul(16)).max(qualifying).saturating_add(60_000)
    }
}
