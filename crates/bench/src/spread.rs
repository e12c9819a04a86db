//! How a measured time spreads: the middle, the slow end, the slowest.

use std::time::Duration;

use serde::Serialize;

/// Times that were measured, in the order they came.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<u32>);

/// A spread, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// How many were measured.
    pub count: usize,
    /// Half were at most this.
    pub p50_us: u32,
    /// 99 of 100 were at most this.
    pub p99_us: u32,
    /// The slowest.
    pub max_us: u32,
}

impl Times {
    /// Notes one.
    pub fn note(&mut self, time: Duration) {
        self.0.push(u32::try_from(time.as_micros()).unwrap_or(u32::MAX));
    }

    /// These and those.
    pub fn join(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// How they spread; all zero if there are none.
    pub fn spread(mut self) -> Spread {
        self.0.sort_unstable();
        let at = |share: usize| self.0.get((self.0.len() * share / 100).min(self.0.len().saturating_sub(1))).copied().unwrap_or(0);
        Spread { count: self.0.len(), p50_us: at(50), p99_us: at(99), max_us: self.0.last().copied().unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_names_the_middle_and_the_ends() {
        let mut times = Times::default();
        (1..=200).rev().for_each(|us| times.note(Duration::from_micros(us)));
        assert_eq!(times.spread(), Spread { count: 200, p50_us: 101, p99_us: 199, max_us: 200 });
        assert_eq!(Times::default().spread(), Spread::default());
    }
}
