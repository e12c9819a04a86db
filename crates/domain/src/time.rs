//! Instants, spans and the two traits by which time and chance come in.
//!
//! Parsing the event time that a sender gave is identity's business (`identity::event_time`); this file is about ours.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

/// An instant: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UtcMs(pub i64);

impl UtcMs {
    /// This instant and `ms` milliseconds; stops at the end of time instead of wrapping.
    #[must_use]
    pub fn plus(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this instant; negative if it is later.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// RFC 3339 in UTC with milliseconds: `2026-03-02T09:15:04.120Z`.
    pub fn rfc3339(self) -> String {
        jiff::Timestamp::from_millisecond(self.0).map_or_else(|_| format!("{}ms", self.0), |t| format!("{t:.3}"))
    }
}

/// A future that a trait object can return.
pub type Later<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Where "now" comes from. One clock serves the process; a test's clock is moved by hand.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> UtcMs;
    /// Completes once `now() >= at`.
    fn sleep_until(&self, at: UtcMs) -> Later<'_>;
}

/// Where chance comes from.
pub trait Entropy: Send + Sync {
    /// Fills the buffer with random bytes.
    fn fill(&self, buffer: &mut [u8]);

    /// A random number, all 64 bits of it.
    fn draw(&self) -> u64 {
        let mut bytes = [0_u8; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// Chance that a seed decides (`SplitMix64`): for deterministic runs, never for secrets.
pub struct SeededEntropy(Mutex<u64>);

impl SeededEntropy {
    /// The sequence that belongs to this seed.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        let mut state = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for chunk in buffer.chunks_mut(8) {
            *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = *state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            let bytes = (z ^ (z >> 31)).to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_prints_with_milliseconds_in_utc() {
        assert_eq!(UtcMs(1_772_442_904_120).rfc3339(), "2026-03-02T09:15:04.120Z");
        assert_eq!(UtcMs(0).rfc3339(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn one_seed_gives_one_sequence() {
        let (a, b, c) = (SeededEntropy::new(7), SeededEntropy::new(7), SeededEntropy::new(8));
        let first = a.draw();
        assert_eq!(first, b.draw());
        assert_ne!(first, c.draw());
        assert_ne!(first, a.draw());
    }
}
