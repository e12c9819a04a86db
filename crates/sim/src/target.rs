//! Targets as the engine sees them: the trait's calls, carried over the simulated network.

use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use domain::enquiry::Fields;
use domain::gate::{Find, StepKind};
use domain::time::UtcMs;
use serde_json::Value;
use server::effects::{Call, Found, Outcome, ReadBack, Report, Target};

use crate::chance::{mix, of_text, spread};
use crate::door::{after_call, before_call};
use crate::net::{Fate, Request, fate_of_write};
use crate::plan::{AtCall, TargetSetup};
use crate::world::{Happening, Life, Slot, Wait, World};

/// One target, as one life of a process sees it.
pub struct SimTarget {
    /// The world.
    pub world: Arc<World>,
    /// Whose it is.
    pub of: Life,
    /// Which target.
    pub target: usize,
}

impl SimTarget {
    fn setup(&self) -> &TargetSetup {
        &self.world.plan.setup.targets[self.target]
    }

    /// What a step is found by: our key, or the address.
    fn key_of(call: &Call) -> String {
        match call.step {
            StepKind::Contact => call.scene["enquiry"]["contact"]["email"].as_str().unwrap_or_default().to_owned(),
            StepKind::Record | StepKind::Link | StepKind::Message => call.key.clone(),
        }
    }

    /// A number that names this call: the key, the step and how often it was made.
    fn about(&self, call: &Call, kind: u64) -> u64 {
        let (n, _) = self.world.call();
        let sends = self.world.state().crms[self.target].trail(&call.key, call.step).sends;
        mix(&[of_text(&call.key), of_text(call.step.as_str()), kind, sends.into(), if kind == 0 { 0 } else { n }])
    }

    /// Part of a call's time; `None`: nobody answers.
    async fn travel(&self, about: u64, n: u64) -> Option<()> {
        let is_out = {
            let state = self.world.state();
            state.crms[self.target].out_until > state.now
        };
        let ms = if is_out { self.setup().timeout_ms } else { spread(self.world.fate(&[4, about, n]), 0, 20) };
        if ms > 0 {
            self.world.wait(Some(self.of), ms).await;
        }
        (!is_out).then_some(())
    }

    fn is_closed(&self) -> bool {
        let state = self.world.state();
        state.crms[self.target].closed_until > state.now
    }

    fn strikes(&self, share: u64, about: u64, n: u64) -> bool {
        !self.world.state().is_calm && self.world.fate(&[5, about, n]) % 1_000 < share
    }

    fn request(&self, call: &Call, checked_at: UtcMs, fate: Fate, about: u64) -> (Box<Request>, Arc<Slot>) {
        let slot = Arc::<Slot>::default();
        let request = Request {
            of: self.of,
            target: self.target,
            step: call.step,
            key: Self::key_of(call),
            outgoing: call.key.clone(),
            body: mix(&[of_text(&String::from_utf8_lossy(&call.rendered))]),
            checked_at,
            deadline: call.deadline,
            fate,
            timeout_ms: self.setup().timeout_ms,
            lag: spread(self.world.fate(&[6, about]), 0, self.setup().find.lag_ms()),
            sent_at: 0,
            answer: Arc::default(),
            slot: Arc::clone(&slot),
        };
        (Box::new(request), slot)
    }

    async fn sent(&self, call: &Call) -> Outcome {
        let about = self.about(call, 0);
        let is_calm = self.world.state().is_calm;
        let fate = fate_of_write(&self.world, self.target, about, is_calm);
        if self.travel(about, 0).await.is_none() {
            return Outcome::NotSent { why: "no connection".to_owned(), retry_after_ms: None };
        }
        let now = self.world.now();
        if now >= call.deadline {
            return Outcome::NotSent { why: "the deadline had passed before the send".to_owned(), retry_after_ms: None };
        }
        let (request, slot) = self.request(call, now, fate, about);
        let answer = Arc::clone(&request.answer);
        // A process may be held here, between the look at the deadline and the send.
        let pause = self.world.plan.setup.pause_max_ms;
        let held =
            if is_calm { 0 } else { [0, 0, 0, 0, 0, pause / 50, pause / 2, pause][crate::world::index(self.world.fate(&[7, about]), 8)] };
        self.world.state().after(held, Happening::Send(request));
        Wait(slot).await;
        let told = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        told.unwrap_or_else(|| Outcome::Unknown("no answer in time".to_owned()))
    }

    async fn looked(&self, call: &Call) -> Found {
        let about = self.about(call, 1);
        if self.travel(about, 1).await.is_none() || self.strikes(self.world.plan.fates.look, about, 1) {
            return Found::CannotTell("no usable answer".to_owned());
        }
        if self.is_closed() {
            return Found::Closed("status 403".to_owned());
        }
        let key = Self::key_of(call);
        let strikes = self.strikes(self.world.plan.fates.look, about, 5);
        let ids: Vec<String> = {
            let mut state = self.world.state();
            let now = state.now;
            let flaps = |record: &crate::crm::Record| self.world.fate(&[8, about, of_text(&record.id)]).is_multiple_of(2);
            let mut ids: Vec<String> = state.crms[self.target].seen(call.step, &key, now, flaps).iter().map(|r| r.id.clone()).collect();
            let is_index = state.crms[self.target].find(call.step).lag_ms() > 0;
            let trail = state.crms[self.target].trail(&call.key, call.step);
            // An index may miss what is there, once.
            if is_index && !trail.missed && strikes && !ids.is_empty() {
                trail.missed = true;
                ids.clear();
            }
            trail.is_unknown = false;
            trail.saw_two |= ids.len() > 1;
            state.tell(|| format!("{} of {} is looked for in target {}: {ids:?}", call.step.as_str(), call.key, self.target));
            ids
        };
        if self.travel(about, 2).await.is_none() {
            return Found::CannotTell("no answer in time".to_owned());
        }
        if ids.is_empty() { Found::Absent } else { Found::Records(ids) }
    }

    async fn read(&self, call: &Call, id: &str) -> ReadBack {
        let about = self.about(call, 2);
        if self.travel(about, 3).await.is_none() {
            return ReadBack::Failed("no answer in time".to_owned());
        }
        if self.is_closed() {
            return ReadBack::Closed("status 403".to_owned());
        }
        if self.strikes(self.world.plan.fates.read, about, 3) {
            return if about.is_multiple_of(3) { ReadBack::Gone } else { ReadBack::Failed("status 500".to_owned()) };
        }
        let key = Self::key_of(call);
        let edits = self.strikes(self.world.plan.fates.edited, about, 4);
        let mut state = self.world.state();
        let Some(record) = state.crms[self.target].records.iter_mut().find(|record| record.id == id) else { return ReadBack::Gone };
        record.edited |= edits && matches!(call.step, StepKind::Record | StepKind::Message);
        if record.key != key {
            return ReadBack::Differs("/key".to_owned());
        }
        if record.edited {
            return ReadBack::Differs("/title".to_owned());
        }
        state.crms[self.target].trail(&call.key, call.step).read_same = true;
        ReadBack::Same
    }
}

#[async_trait]
impl Target for SimTarget {
    fn kind(&self) -> &'static str {
        "simulated"
    }

    fn steps(&self, fields: &Fields) -> Vec<StepKind> {
        match self.setup() {
            TargetSetup { outward: true, .. } => vec![StepKind::Message],
            TargetSetup { contacts: true, .. } if fields.contact.email.is_some() => {
                vec![StepKind::Contact, StepKind::Record, StepKind::Link]
            }
            TargetSetup { .. } => vec![StepKind::Record],
        }
    }

    fn find(&self, step: StepKind) -> Find {
        self.world.state().crms[self.target].find(step)
    }

    fn reads(&self, _: StepKind) -> bool {
        self.setup().reads
    }

    fn settle_ms(&self) -> i64 {
        self.setup().settle_ms
    }

    fn timeout_ms(&self) -> i64 {
        self.setup().timeout_ms
    }

    fn render(&self, key: &str, scene: &Value) -> Result<Vec<u8>, String> {
        // The words change when the configuration does; what was sent once must not.
        let wording = self.world.state().wording;
        Ok(format!("{key} to {} v{wording}", scene["enquiry"]["contact"]["email"].as_str().unwrap_or("nobody")).into_bytes())
    }

    async fn write(&self, call: &Call) -> Report<Outcome> {
        let (n, at) = before_call(&self.world, self.of).await;
        let mut outcome = self.sent(call).await;
        if at == Some(AtCall::Repeat) {
            outcome = Outcome::Unknown("its answer was lost".to_owned());
        }
        // What was told is told to a process that lives.
        after_call(&self.world, self.of, n, at).await;
        let mut state = self.world.state();
        state.crms[self.target].trail(&call.key, call.step).told(&outcome);
        state.tell(|| format!("{} of {} is answered: {outcome:?}", call.step.as_str(), call.key));
        Report::bare(outcome)
    }

    async fn look_up(&self, call: &Call) -> Report<Found> {
        let (n, at) = before_call(&self.world, self.of).await;
        let mut found = self.looked(call).await;
        if at == Some(AtCall::Repeat) {
            found = Found::CannotTell("its answer was lost".to_owned());
        }
        after_call(&self.world, self.of, n, at).await;
        Report::bare(found)
    }

    async fn read_back(&self, call: &Call, id: &str) -> Report<ReadBack> {
        let (n, at) = before_call(&self.world, self.of).await;
        let mut read = self.read(call, id).await;
        if at == Some(AtCall::Repeat) {
            read = ReadBack::Failed("its answer was lost".to_owned());
        }
        after_call(&self.world, self.of, n, at).await;
        Report::bare(read)
    }
}
