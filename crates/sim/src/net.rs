//! The network between the engine and the targets: what becomes of a request, by its fate.
//!
//! A request that has left cannot be called back: it takes effect whether its process lives or not.

use std::sync::{Arc, Mutex, PoisonError};

use domain::gate::{Find, StepKind};
use domain::time::UtcMs;
use server::effects::Outcome;

use crate::chance::spread;
use crate::crm::{Took, Write};
use crate::world::{Happening, Life, Slot, State, World};

/// How fast everything is that nothing happens to, in ms.
const QUICK_MS: i64 = 40;

/// What a request meets on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives, and its answer too.
    Plain,
    /// Nobody listens: no byte of it leaves.
    NoConnection,
    /// It is lost on its way.
    Lost,
    /// It takes effect so many ms after its send; who sent it is told that the connection was reset.
    Reset(i64),
    /// It takes effect so many ms after its send; no answer comes.
    Mute(i64),
    /// It arrives so many ms after its send, and is answered.
    Slow(i64),
    /// It takes effect; the answer is of no use.
    Says(&'static str),
    /// It is answered without an effect, and not in a way that says so.
    Fails(&'static str),
    /// It is answered without an effect, and the answer says so.
    Declined(Outcome),
}

/// A write on its way.
pub struct Request {
    /// Whose it is.
    pub of: Life,
    /// Which target.
    pub target: usize,
    /// Which step.
    pub step: StepKind,
    /// What it is found by.
    pub key: String,
    /// The effect's key.
    pub outgoing: String,
    /// Its bytes, as a digest.
    pub body: u64,
    /// When its deadline was looked at, by the clock.
    pub checked_at: UtcMs,
    /// That deadline.
    pub deadline: UtcMs,
    /// What it meets.
    pub fate: Fate,
    /// When its process gives up, in ms after its send.
    pub timeout_ms: i64,
    /// How long the search will not see what it makes.
    pub lag: i64,
    /// When it left, in the run's ms.
    pub sent_at: i64,
    /// Who waits for its answer, and where that is put.
    pub answer: Arc<Mutex<Option<Outcome>>>,
    /// Wakes who waits.
    pub slot: Arc<Slot>,
}

/// The fate of a write.
pub fn fate_of_write(world: &World, target: usize, about: u64, is_calm: bool) -> Fate {
    let setup = &world.plan.setup.targets[target];
    let draw = |n: u64| world.fate(&[1, u64::try_from(target).unwrap_or(0), about, n]);
    if is_calm || draw(0) % 1_000 >= world.plan.fates.write {
        return Fate::Plain;
    }
    let late = spread(draw(2), 0, setup.settle_ms);
    match draw(1) % 14 {
        0 => Fate::NoConnection,
        1 => Fate::Lost,
        2 => Fate::Reset(late),
        3 => Fate::Reset(spread(draw(2), 0, QUICK_MS)),
        4 => Fate::Mute(late),
        5 => Fate::Mute(setup.settle_ms),
        6 => Fate::Slow(late),
        7 => Fate::Says("status 502"),
        8 => Fate::Says("status 200, a 2xx without an id"),
        9 => Fate::Fails("status 500"),
        10 => Fate::Fails("status 200, with an error inside that may pass"),
        11 => Fate::Declined(Outcome::NotSent { why: "status 429".to_owned(), retry_after_ms: Some(spread(draw(2), 0, 120_000)) }),
        12 => Fate::Declined(Outcome::NotSent { why: "status 503, declared as not executed".to_owned(), retry_after_ms: None }),
        _ if draw(3).is_multiple_of(8) => Fate::Declined(Outcome::Refused("status 200, with a refusal inside".to_owned())),
        _ => Fate::Mute(0),
    }
}

impl World {
    /// A request leaves, unless its process died while it was held.
    pub fn send(&self, mut request: Box<Request>) {
        if !self.lives(request.of) {
            return;
        }
        crate::check::at_send(self, &request);
        let mut state = self.state();
        request.sent_at = state.now;
        let (now, timeout) = (state.now, request.timeout_ms);
        let crm = &mut state.crms[request.target];
        crm.trail(&request.outgoing, request.step).sent(request.body);
        let (is_out, is_closed) = (crm.out_until > now, crm.closed_until > now);
        state
            .tell(|| format!("{} of {} leaves for target {}: {:?}", request.step.as_str(), request.outgoing, request.target, request.fate));
        if is_out && request.fate != Fate::NoConnection {
            return state.after(timeout, Happening::Wake(Some(request.of), Arc::clone(&request.slot)));
        }
        let quick = spread(self.fate(&[2, request.body, u64::try_from(now).unwrap_or(0)]), 0, QUICK_MS.min(timeout / 4));
        match request.fate.clone() {
            Fate::NoConnection => {
                state.answer(&request, Some(Outcome::NotSent { why: "no connection".to_owned(), retry_after_ms: None }), quick);
            }
            _ if is_closed => state.answer(&request, Some(Outcome::Closed("status 401".to_owned())), quick),
            Fate::Lost => state.answer(&request, None, timeout),
            Fate::Declined(outcome) => state.answer(&request, Some(outcome), quick),
            Fate::Fails(why) => state.answer(&request, Some(Outcome::Unknown(why.to_owned())), quick),
            Fate::Reset(late) => {
                state.answer(&request, Some(Outcome::Unknown("reset after the send".to_owned())), quick);
                state.after(late, Happening::Apply(request));
            }
            Fate::Mute(late) | Fate::Slow(late) => {
                state.answer(&request, None, timeout);
                state.after(late, Happening::Apply(request));
            }
            Fate::Plain | Fate::Says(_) => {
                state.answer(&request, None, timeout);
                state.after(quick, Happening::Apply(request));
            }
        }
    }

    /// A request takes effect.
    pub fn apply(&self, request: &Request) {
        let mut state = self.state();
        let now = state.now;
        let write = Write { step: request.step, key: &request.key, outgoing: &request.outgoing, body: request.body, lag: request.lag };
        let took = state.crms[request.target].take(write, now);
        if !state.is_calm && self.fate(&[21, request.body, u64::from(request.step == StepKind::Record)]) % 1_000 < self.plan.fates.twin {
            state.crms[request.target].copy_of(&request.outgoing, request.step, now);
        }
        state.tell(|| format!("{} of {} takes effect in target {}: {took:?}", request.step.as_str(), request.outgoing, request.target));
        let outcome = match (&request.fate, took) {
            (Fate::Plain | Fate::Slow(_), Took::Id(id)) => Outcome::Applied(id),
            (Fate::Plain | Fate::Slow(_), Took::Exists) => Outcome::Conflict,
            (Fate::Says(why), _) => Outcome::Unknown((*why).to_owned()),
            _ => return,
        };
        let back = spread(self.fate(&[3, request.body, u64::try_from(now).unwrap_or(0)]), 0, QUICK_MS);
        if now.saturating_sub(request.sent_at).saturating_add(back) < request.timeout_ms {
            state.answer(request, Some(outcome), back);
        }
    }
}

impl State {
    /// An answer, or the end of waiting for one, comes in so many ms.
    fn answer(&mut self, request: &Request, outcome: Option<Outcome>, ms: i64) {
        if let Some(outcome) = outcome {
            let mut answer = request.answer.lock().unwrap_or_else(PoisonError::into_inner);
            answer.get_or_insert(outcome);
        }
        self.after(ms, Happening::Wake(Some(request.of), Arc::clone(&request.slot)));
    }
}

/// Whether a write with that class may be sent again without having asked.
pub fn is_keyed_without_look(find: Find) -> bool {
    find.keyed() && !find.looks()
}
