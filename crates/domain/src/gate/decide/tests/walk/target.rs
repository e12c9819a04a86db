//! The toy target: its records, what a write does to them and what a look-up may see.

use super::world::{State, World};
use super::*;

/// A record, by the attempt that wrote it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Record {
    pub(super) attempt: u32,
    pub(super) age: i64,
}

impl Record {
    pub(super) fn id(self) -> String {
        format!("r{}", self.attempt)
    }
}

/// What the target answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    /// With the id of this attempt's record.
    Id(u32),
    Refused,
    Conflict,
}

impl Answer {
    pub(super) fn seen(self) -> Observation {
        match self {
            Self::Id(attempt) => Observation::Applied { id: format!("r{attempt}") },
            Self::Refused => refused(),
            Self::Conflict => Observation::Conflict,
        }
    }
}

impl World {
    /// No record's age matters beyond this.
    pub(super) fn age_max(&self) -> i64 {
        match self.holds.find {
            Find::Lagging { max_ms } => max_ms + 1,
            Find::Window { window_ms, .. } => window_ms,
            Find::Upsert { .. } | Find::Unique | Find::Strong | Find::None => 0,
        }
    }

    /// An attempt's request takes effect.
    pub(super) fn apply(&self, records: &mut Vec<Record>, attempt: u32) -> Answer {
        let known = records.iter().find(|record| match self.holds.find {
            Find::Upsert { .. } | Find::Unique => true,
            Find::Window { window_ms, .. } => record.age < window_ms,
            Find::Strong | Find::Lagging { .. } | Find::None => false,
        });
        match (known, self.holds.find) {
            (Some(_), Find::Unique) => return Answer::Conflict,
            (Some(record), _) => return Answer::Id(record.attempt),
            (None, _) => records.push(Record { attempt, age: 0 }),
        }
        Answer::Id(attempt)
    }

    /// Everything that a look-up by key which begins now may see, and how many misses that takes.
    pub(super) fn sights(&self, state: &State) -> Vec<(Vec<u32>, u8)> {
        let (sure, maybe) = state.records.iter().partition::<Vec<_>, _>(|record| match self.holds.find {
            Find::Lagging { max_ms } => record.age > max_ms,
            Find::Upsert { .. } | Find::Window { .. } | Find::Unique | Find::Strong | Find::None => true,
        });
        let ids = |records: &[&Record]| records.iter().map(|record| record.attempt).collect::<Vec<_>>();
        let mut sights = vec![(ids(&sure), 0)];
        if !maybe.is_empty() {
            sights.push(([ids(&sure), ids(&maybe)].concat(), 0));
        }
        if state.misses > 0 && !sure.is_empty() {
            sights.push((Vec::new(), 1));
        }
        sights
    }
}
