//! How fast one target may be called, and whether it is there at all.
//!
//! A target's outage is one state of the target and not a thousand failing effects: after a few calls in a row that came to
//! nothing it counts as away, and then one effect at a time, the oldest, tries whether it is back. Until then nothing else is
//! handed out for it. Here are the numbers and the decisions; who counts calls and keeps the state is the engine.

use serde::{Deserialize, Serialize};

use crate::retry::Backoff;
use crate::time::UtcMs;

/// Calls in a row that came to nothing, after which a target counts as away.
pub const AWAY_AFTER: u32 = 5;
/// Who would wait longer than this for its turn gives back its place.
const QUEUE_MAX_MS: i64 = 5_000;

/// The bounds of one target, as configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// How many effects are at it at a time; no bound of its own where it is not said.
    pub concurrency: Option<usize>,
    /// The least time between two calls, in ms.
    pub spacing_ms: i64,
}

/// A target that does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Away {
    /// Since when.
    pub since: UtcMs,
    /// How often it was tried since.
    pub probes: u32,
    /// When it is tried next.
    pub probe_at: UtcMs,
}

/// What a call says of the target, whatever it says of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It answered.
    Answer,
    /// It has no time for us, for so many ms.
    Busy(i64),
    /// Nothing came back, or nothing of its own.
    Nothing,
}

/// What changed with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It counts as away from now on.
    Gone(Away),
    /// It is still away.
    Still(Away),
    /// It is back.
    Back,
}

/// One target, as one process sees it.
#[derive(Clone, Debug)]
pub struct Pace {
    limits: Limits,
    inside: usize,
    next_call: UtcMs,
    busy_until: UtcMs,
    nothing: u32,
    away: Option<Away>,
}

impl Pace {
    /// Nobody is at it; `away` is what the book knows.
    pub fn new(limits: Limits, away: Option<Away>) -> Self {
        Self { limits, inside: 0, next_call: UtcMs(0), busy_until: UtcMs(0), nothing: 0, away }
    }

    /// Whether it counts as away.
    pub fn is_away(&self) -> bool {
        self.away.is_some()
    }

    /// How many more effects may go to it now; `None`: as many as there are.
    pub fn room(&self, now: UtcMs) -> Option<usize> {
        if now < self.opens_at() {
            return Some(0);
        }
        let most = if self.away.is_some() { Some(1) } else { self.limits.concurrency };
        most.map(|most| most.saturating_sub(self.inside))
    }

    /// When it lets somebody in again, if it does not now for a reason that ends by itself.
    pub fn shut_until(&self, now: UtcMs) -> Option<UtcMs> {
        Some(self.opens_at()).filter(|&at| now < at)
    }

    fn opens_at(&self) -> UtcMs {
        let probe = self.away.map_or(UtcMs(0), |away| away.probe_at);
        self.busy_until.max(probe).max(self.next_call.plus(-QUEUE_MAX_MS))
    }

    /// An effect goes to it. False: there is no room.
    pub fn enter(&mut self, now: UtcMs) -> bool {
        let may = self.room(now).is_none_or(|room| room > 0);
        self.inside += usize::from(may);
        may
    }

    /// It has gone.
    pub fn leave(&mut self) {
        self.inside = self.inside.saturating_sub(1);
    }

    /// Takes the next turn for a call: when it may begin.
    pub fn turn(&mut self, now: UtcMs) -> UtcMs {
        let at = self.next_call.max(now);
        self.next_call = at.plus(self.limits.spacing_ms);
        at
    }

    /// Notes what came of a call.
    pub fn hear(&mut self, heard: Heard, backoff: &Backoff, now: UtcMs, chance: u64) -> Option<Turn> {
        match heard {
            Heard::Busy(ms) => {
                // It is there, and says when to come again.
                self.busy_until = self.busy_until.max(now.plus(ms));
                self.answered()
            }
            Heard::Answer => self.answered(),
            Heard::Nothing => {
                self.nothing += 1;
                let (since, probes) = match self.away {
                    // Of those that were under way when it went, none is a try whether it is back.
                    Some(away) if now < away.probe_at => return None,
                    Some(away) => (away.since, away.probes + 1),
                    None if self.nothing < AWAY_AFTER => return None,
                    None => (now, 0),
                };
                let away = Away { since, probes, probe_at: now.plus(backoff.wait_ms(probes + 1, chance, None).max(1)) };
                let was = self.away.replace(away);
                Some(if was.is_some() { Turn::Still(away) } else { Turn::Gone(away) })
            }
        }
    }

    fn answered(&mut self) -> Option<Turn> {
        self.nothing = 0;
        self.away.take().map(|_| Turn::Back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff { first_ms: 1_000, max_ms: 60_000 };

    fn hear(pace: &mut Pace, heard: Heard, now: i64) -> Option<Turn> {
        pace.hear(heard, &BACKOFF, UtcMs(now), 0)
    }

    #[test]
    fn a_target_is_away_after_a_few_calls_in_a_row_and_one_at_a_time_tries_whether_it_is_back() {
        let mut pace = Pace::new(Limits::default(), None);
        assert_eq!((pace.room(UtcMs(0)), pace.shut_until(UtcMs(0))), (None, None));
        for _ in 1..AWAY_AFTER {
            assert_eq!(hear(&mut pace, Heard::Nothing, 0), None);
        }
        assert_eq!(hear(&mut pace, Heard::Answer, 0), None, "one answer in between, and it counts anew");
        for _ in 1..AWAY_AFTER {
            assert_eq!(hear(&mut pace, Heard::Nothing, 0), None);
        }
        let Some(Turn::Gone(away)) = hear(&mut pace, Heard::Nothing, 0) else { panic!("it is away") };
        assert_eq!(hear(&mut pace, Heard::Nothing, 1), None, "who was under way still");
        assert_eq!((pace.room(UtcMs(1)), pace.shut_until(UtcMs(1))), (Some(0), Some(away.probe_at)));
        let mut at = away.probe_at;
        let mut waits = Vec::new();
        for probes in 1..12 {
            assert!(pace.enter(at) && !pace.enter(at), "one at a time");
            let Some(Turn::Still(next)) = hear(&mut pace, Heard::Nothing, at.0) else { panic!("still away") };
            pace.leave();
            assert_eq!((next.probes, next.since), (probes, UtcMs(0)));
            waits.push(next.probe_at.since(at));
            at = next.probe_at;
        }
        assert!(waits.is_sorted() && waits.iter().all(|wait| *wait <= BACKOFF.max_ms) && waits[10] >= 30_000, "{waits:?}");
        assert_eq!(hear(&mut pace, Heard::Answer, at.0), Some(Turn::Back));
        assert_eq!(pace.room(at), None);
    }

    #[test]
    fn what_the_book_knows_of_an_outage_holds_after_a_restart() {
        let away = Away { since: UtcMs(0), probes: 7, probe_at: UtcMs(900) };
        let mut pace = Pace::new(Limits { concurrency: Some(9), spacing_ms: 0 }, Some(away));
        assert_eq!((pace.room(UtcMs(899)), pace.room(UtcMs(900))), (Some(0), Some(1)));
        assert_eq!(hear(&mut pace, Heard::Busy(50), 900), Some(Turn::Back), "who says that it is busy is there");
        assert_eq!((pace.room(UtcMs(949)), pace.room(UtcMs(950))), (Some(0), Some(9)));
    }

    #[test]
    fn calls_are_spaced_and_a_long_queue_takes_nobody_in() {
        let mut pace = Pace::new(Limits { concurrency: None, spacing_ms: 2_000 }, None);
        let turns: Vec<i64> = (0..4).map(|_| pace.turn(UtcMs(10)).0).collect();
        assert_eq!(turns, [10, 2_010, 4_010, 6_010]);
        assert_eq!(pace.shut_until(UtcMs(10)), Some(UtcMs(3_010)));
        assert_eq!((pace.room(UtcMs(3_009)), pace.room(UtcMs(3_010))), (Some(0), None));
        assert_eq!(pace.turn(UtcMs(99_000)), UtcMs(99_000), "what was not used is not saved up");
    }

    #[test]
    fn a_bound_of_its_own_holds() {
        let mut pace = Pace::new(Limits { concurrency: Some(2), spacing_ms: 0 }, None);
        assert!(pace.enter(UtcMs(0)) && pace.enter(UtcMs(0)) && !pace.enter(UtcMs(0)));
        pace.leave();
        assert_eq!(pace.room(UtcMs(0)), Some(1));
    }
}
