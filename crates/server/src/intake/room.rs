//! Room for bodies: how many bytes of them are held at once, whatever is sent, shared fairly between sources.
//!
//! A sender takes room for all that it declares before its body is read: those that took it piece by piece would wait for
//! one another. When there is no more, senders wait, each source in its own line, and what is given back goes to the lines in
//! turn: a source that is flooded does not push another one out; nor does one hold all the room there is, unless it is one
//! body that needs it. Who has waited too long, or finds the line full, is told to come again; and while anybody waits, who
//! holds room and sends next to nothing loses it (in [`super::routes`]).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use domain::time::Clock;
use tokio::sync::oneshot;

/// Room is taken in such pieces, in bytes. Half of a typical delivery's other costs, so that many small ones count too.
pub(super) const PIECE: usize = 4 << 10;

/// Senders of one source that may wait at once, and for how long.
const LINE_MAX: usize = 128;
const WAIT_MAX_MS: i64 = 2_000;

/// Deliveries of one source that may wait for their turn at once. What they wait for is our own work, and that ends.
const TURN_LINE_MAX: usize = 16;

/// All the room there is.
#[derive(Debug)]
pub struct Room {
    pieces: usize,
    line_max: usize,
    wait_max_ms: Option<i64>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// What each source holds, where it holds anything.
    held: BTreeMap<Arc<str>, usize>,
    lines: BTreeMap<Arc<str>, VecDeque<Waiting>>,
    /// The source that was given room last.
    last: Arc<str>,
}

#[derive(Debug)]
struct Waiting {
    pieces: usize,
    tell: oneshot::Sender<Share>,
}

/// Room that is held, until it is dropped.
#[derive(Debug)]
struct Share {
    room: Arc<Room>,
    source: Arc<str>,
    pieces: usize,
}

/// The room of one delivery; given back when this is dropped.
pub(super) struct Taking {
    room: Arc<Room>,
    source: Arc<str>,
    clock: Arc<dyn Clock>,
    held: Vec<Share>,
}

impl Taking {
    /// Nothing yet.
    pub(super) fn new(room: &Arc<Room>, source: &str, clock: &Arc<dyn Clock>) -> Self {
        Self { room: Arc::clone(room), source: source.into(), clock: Arc::clone(clock), held: Vec::new() }
    }

    /// Whether others wait for room.
    pub(super) fn is_awaited(&self) -> bool {
        self.room.is_short()
    }

    /// Room for a body of so many bytes. More than there is at all counts as all there is. `false`: there is
    /// none in time.
    pub(super) async fn has(&mut self, bytes: usize) -> bool {
        let held: usize = self.held.iter().map(|share| share.pieces).sum();
        let wanted = bytes.div_ceil(PIECE).clamp(1, self.room.pieces).saturating_sub(held);
        if wanted == 0 {
            return true;
        }
        let given = self.room.wait(&self.source, wanted, &*self.clock).await;
        self.held.extend(given);
        self.held.iter().map(|share| share.pieces).sum::<usize>() > held
    }
}

impl Room {
    /// Room for so many bytes.
    pub fn of(bytes: usize) -> Arc<Self> {
        let pieces = bytes.div_ceil(PIECE).max(1);
        let state = State { free: pieces, held: BTreeMap::new(), lines: BTreeMap::new(), last: "".into() };
        Arc::new(Self { pieces, line_max: LINE_MAX, wait_max_ms: Some(WAIT_MAX_MS), state: Mutex::new(state) })
    }

    /// One piece that sources take turns at, each waiting until it comes.
    pub fn turns() -> Arc<Self> {
        let state = State { free: 1, held: BTreeMap::new(), lines: BTreeMap::new(), last: "".into() };
        Arc::new(Self { pieces: 1, line_max: TURN_LINE_MAX, wait_max_ms: None, state: Mutex::new(state) })
    }

    /// Whether anybody waits.
    fn is_short(&self) -> bool {
        self.state().lines.values().flatten().any(|waiting| !waiting.tell.is_closed())
    }

    async fn wait(self: &Arc<Self>, source: &Arc<str>, pieces: usize, clock: &dyn Clock) -> Option<Share> {
        let given = {
            let mut state = self.state();
            if state.lines.is_empty() && state.free >= pieces && self.may_hold(&state, source, pieces) {
                return Some(self.share(&mut state, source, pieces));
            }
            let line = state.lines.entry(Arc::clone(source)).or_default();
            line.retain(|waiting| !waiting.tell.is_closed());
            if line.len() >= self.line_max {
                return None;
            }
            let (tell, given) = oneshot::channel();
            line.push_back(Waiting { pieces, tell });
            given
        };
        // Somebody who went away may have been in front.
        self.give();
        let Some(wait_max_ms) = self.wait_max_ms else { return given.await.ok() };
        tokio::select! {
            biased;
            share = given => share.ok(),
            () = clock.sleep_until(clock.now().plus(wait_max_ms)) => None,
        }
    }

    /// Whether a source may hold so much more: at most three quarters of all there is, so that there is always some for the
    /// others; a body that needs more is waited for until its source holds nothing else.
    fn may_hold(&self, state: &State, source: &str, pieces: usize) -> bool {
        let held = state.held.get(source).copied().unwrap_or(0);
        held == 0 || held + pieces <= self.pieces / 4 * 3
    }

    fn share(self: &Arc<Self>, state: &mut State, source: &Arc<str>, pieces: usize) -> Share {
        state.free -= pieces;
        *state.held.entry(Arc::clone(source)).or_default() += pieces;
        Share { room: Arc::clone(self), source: Arc::clone(source), pieces }
    }

    /// Gives what is free to the lines, one of each in turn.
    fn give(self: &Arc<Self>) {
        loop {
            let (waiting, share) = {
                let mut state = self.state();
                let Some((source, waiting)) = self.next(&mut state) else { return };
                let share = self.share(&mut state, &source, waiting.pieces);
                state.last = source;
                (waiting, share)
            };
            // Who went away meanwhile gives it back by not taking it; the loop goes on with it.
            drop(waiting.tell.send(share));
        }
    }

    /// Who is next: the first of the next line whose source may hold more. One whose wish is larger than what is free is
    /// waited for: otherwise the small ones would never let a large one in.
    fn next(&self, state: &mut State) -> Option<(Arc<str>, Waiting)> {
        for line in state.lines.values_mut() {
            line.retain(|waiting| !waiting.tell.is_closed());
        }
        state.lines.retain(|_, line| !line.is_empty());
        let behind = (std::ops::Bound::Excluded(Arc::clone(&state.last)), std::ops::Bound::Unbounded);
        let in_turn = state.lines.range::<Arc<str>, _>(behind).chain(&state.lines);
        let mut first = in_turn.filter_map(|(source, line)| Some((source, line.front()?.pieces)));
        let (source, pieces) = first.find(|(source, pieces)| self.may_hold(state, source, *pieces))?;
        if pieces > state.free {
            return None;
        }
        let source = Arc::clone(source);
        let waiting = state.lines.get_mut(&source)?.pop_front()?;
        if state.lines.get(&source).is_some_and(VecDeque::is_empty) {
            state.lines.remove(&source);
        }
        Some((source, waiting))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        {
            let mut state = self.room.state();
            state.free += self.pieces;
            if let Some(held) = state.held.get_mut(&self.source) {
                *held -= self.pieces;
                if *held == 0 {
                    state.held.remove(&self.source);
                }
            }
        }
        self.room.give();
    }
}

#[cfg(test)]
mod tests;
