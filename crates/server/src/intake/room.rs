//! Room for bodies: how many bytes of them are held at once, whatever is sent, shared fairly between sources.
//!
//! A sender takes room for all that it declares before its body is read: those that took it piece by piece would wait for
//! one another. When there is no more, senders wait, each source in its own line, and what is given back goes to the lines in
//! turn: a source that is flooded does not push another one out. Who has waited too long, or finds the line full, is told to
//! come again; and while anybody waits, who holds room and sends next to nothing loses it (in [`super::routes`]).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use domain::time::Clock;
use tokio::sync::oneshot;

/// Room is taken in such pieces, in bytes. Half of a typical delivery's other costs, so that many small ones count too.
pub(super) const PIECE: usize = 4 << 10;

/// Senders of one source that may wait at once, and for how long.
const LINE_MAX: usize = 128;
const WAIT_MAX_MS: i64 = 2_000;

/// All the room there is.
#[derive(Debug)]
pub struct Room {
    pieces: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    free: usize,
    lines: BTreeMap<String, VecDeque<Waiting>>,
    /// The source that was given room last.
    last: String,
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
    pieces: usize,
}

/// The room of one delivery; given back when this is dropped.
pub(super) struct Taking<'a> {
    room: &'a Arc<Room>,
    source: &'a str,
    clock: &'a dyn Clock,
    held: Vec<Share>,
}

impl<'a> Taking<'a> {
    /// Nothing yet.
    pub(super) fn new(room: &'a Arc<Room>, source: &'a str, clock: &'a dyn Clock) -> Self {
        Self { room, source, clock, held: Vec::new() }
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
        let given = self.room.wait(self.source, wanted, self.clock).await;
        self.held.extend(given);
        self.held.iter().map(|share| share.pieces).sum::<usize>() > held
    }
}

impl Room {
    /// Room for so many bytes.
    pub fn of(bytes: usize) -> Arc<Self> {
        let pieces = bytes.div_ceil(PIECE).max(1);
        Arc::new(Self { pieces, state: Mutex::new(State { free: pieces, ..State::default() }) })
    }

    /// Whether anybody waits.
    fn is_short(&self) -> bool {
        self.state().lines.values().flatten().any(|waiting| !waiting.tell.is_closed())
    }

    async fn wait(self: &Arc<Self>, source: &str, pieces: usize, clock: &dyn Clock) -> Option<Share> {
        let given = {
            let mut state = self.state();
            if state.lines.is_empty() && state.free >= pieces {
                state.free -= pieces;
                return Some(Share { room: Arc::clone(self), pieces });
            }
            let line = state.lines.entry(source.to_owned()).or_default();
            line.retain(|waiting| !waiting.tell.is_closed());
            if line.len() >= LINE_MAX {
                return None;
            }
            let (tell, given) = oneshot::channel();
            line.push_back(Waiting { pieces, tell });
            given
        };
        // Somebody who went away may have been in front.
        self.give();
        tokio::select! {
            biased;
            share = given => share.ok(),
            () = clock.sleep_until(clock.now().plus(WAIT_MAX_MS)) => None,
        }
    }

    /// Gives what is free to the lines, one of each in turn. The first of a line whose wish is larger than what is free is
    /// waited for: otherwise the small ones would never let a large one in.
    fn give(self: &Arc<Self>) {
        loop {
            let (waiting, share) = {
                let mut state = self.state();
                let after = (std::ops::Bound::Excluded(state.last.clone()), std::ops::Bound::Unbounded);
                let next = state.lines.range(after).next().or_else(|| state.lines.iter().next()).map(|(source, _)| source.clone());
                let Some(source) = next else { return };
                let free = state.free;
                let Some(line) = state.lines.get_mut(&source) else { return };
                line.retain(|waiting| !waiting.tell.is_closed());
                let taken = line.pop_front_if(|waiting| waiting.pieces <= free);
                let (is_over, goes_on) = (line.is_empty(), taken.is_some());
                if is_over {
                    state.lines.remove(&source);
                }
                let Some(waiting) = taken else {
                    if is_over && !goes_on {
                        continue;
                    }
                    return;
                };
                state.last = source;
                state.free -= waiting.pieces;
                let share = Share { room: Arc::clone(self), pieces: waiting.pieces };
                (waiting, share)
            };
            // Who went away meanwhile gives it back by not taking it; the loop goes on with it.
            drop(waiting.tell.send(share));
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.room.state().free += self.pieces;
        self.room.give();
    }
}

#[cfg(test)]
mod tests;
