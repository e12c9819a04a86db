//! Tests of `decide`: the whole table, the rules by find class, a walk through every interleaving, random sequences.
//!
//! This file holds what they share: one set of rules, and a step that is shown one observation after another.

use super::look::BLIND_LOOKS_MAX;
use super::read::READS_MAX;
use super::*;
use crate::gate::effect::{Attempt, Attempted, Find, Policy, StepKind};
use crate::retry::Backoff;

mod absence;
mod answers;
mod bounds;
mod first;
mod person;
mod property;
mod reads;
mod table;
mod unknown;
mod walk;

const T0: UtcMs = UtcMs(1_000_000);
const TIMEOUT: i64 = 10_000;
const PAUSE: i64 = 60_000;
const SETTLE: i64 = 30_000;
const LAG: i64 = 7_000;
const WINDOW: i64 = 300_000;
/// When *absent* begins to count for an attempt begun at 0 whose process may only be paused.
const QUIET: i64 = TIMEOUT + PAUSE + SETTLE;

const RULES: Rules = Rules {
    find: Find::Strong,
    reads: true,
    settle_ms: SETTLE,
    pause_max_ms: PAUSE,
    timeout_ms: TIMEOUT,
    attempts_max: 3,
    give_up_ms: 3_600_000,
    backoff: Backoff { first_ms: 1_000, max_ms: 60_000 },
    policy: Policy::Review,
    restored_at: None,
};

const UPSERT: Find = Find::Upsert { looks: false };
const UPSERT_LOOKS: Find = Find::Upsert { looks: true };
const PROVIDER_WINDOW: Find = Find::Window { window_ms: WINDOW, looks: false };
const WINDOW_LOOKS: Find = Find::Window { window_ms: WINDOW, looks: true };
const LAGGING: Find = Find::Lagging { max_ms: LAG };

fn find(class: Find) -> Rules {
    Rules { find: class, ..RULES }
}

fn none(policy: Policy) -> Rules {
    Rules { find: Find::None, policy, ..RULES }
}

fn ms(offset: i64) -> UtcMs {
    T0.plus(offset)
}

fn worker() -> StreamId {
    StreamId::of(&crate::digest::Digest::sha256(b"worker"))
}

fn begin() -> Observation {
    Observation::Begin { fence: 1, process: worker() }
}

fn lost(dead_since: Option<i64>) -> Observation {
    Observation::Lost { dead_since: dead_since.map(ms) }
}

fn not_sent() -> Observation {
    Observation::NotSent { retry_after_ms: None }
}

fn refused() -> Observation {
    Observation::Refused { why: "no such pipeline".to_owned() }
}

fn applied(id: &str) -> Observation {
    Observation::Applied { id: id.to_owned() }
}

fn found(ids: &[&str]) -> Observation {
    Observation::Found { ids: ids.iter().map(|&id| id.to_owned()).collect() }
}

fn absent(begun_at: i64) -> Observation {
    absent_at(ms(begun_at))
}

fn absent_at(begun_at: UtcMs) -> Observation {
    Observation::Absent { begun_at, process: worker() }
}

fn unanswered() -> Observation {
    Observation::LookUnanswered { retry_after_ms: None }
}

fn differs() -> Observation {
    Observation::ReadDiffers { what: "pipeline".to_owned() }
}

fn late(attempt: u32, id: &str) -> Observation {
    Observation::LateAnswer { attempt, id: id.to_owned() }
}

fn not_there(attempt: u32) -> Observation {
    Observation::NotThere { attempt }
}

fn it_is(id: &str) -> Observation {
    Observation::ItIs { id: id.to_owned() }
}

fn closes() -> Observation {
    Observation::Close { why: "spam".to_owned() }
}

/// A step under rules, at an offset from `T0`.
struct Case {
    rules: Rules,
    step: Step,
    now: i64,
}

impl Case {
    /// Planned, and never looked for.
    fn fresh(rules: Rules) -> Self {
        Self { rules, step: Step::planned(StepKind::Record, T0), now: 0 }
    }

    /// Planned, and looked for by this process: nothing is there.
    fn planned(rules: Rules) -> Self {
        let mut case = Self::fresh(rules);
        case.step.looked = Some(worker());
        case
    }

    /// One attempt, begun at 0, under way.
    fn intended(rules: Rules) -> Self {
        let mut case = Self::planned(rules);
        assert_eq!(case.see(&begin()), Next::Send);
        case
    }

    /// One attempt, begun at 0, whose outcome is unknown since 0.
    fn unknown(rules: Rules) -> Self {
        let mut case = Self::intended(rules);
        case.see(&Observation::NoAnswer);
        case
    }

    /// One attempt, begun at 0 and answered with `id`; the record is not read back yet.
    fn answered(rules: Rules, id: &str) -> Self {
        let mut case = Self::intended(rules);
        case.see(&applied(id));
        case
    }

    fn at(&mut self, now: i64) -> &mut Self {
        assert!(now >= self.now, "time does not go back");
        self.now = now;
        self
    }

    #[track_caller]
    fn see(&mut self, seen: &Observation) -> Next {
        match decide(&self.step, seen, &self.rules, ms(self.now), 0) {
            Moved::To(step, next) => {
                self.step = step;
                next
            }
            Moved::Ignored(why) => panic!("{seen:?} was ignored in {:?}: {why}", self.step.phase),
        }
    }

    #[track_caller]
    fn ignores(&self, seen: &Observation) -> &'static str {
        match decide(&self.step, seen, &self.rules, ms(self.now), 0) {
            Moved::Ignored(why) => why,
            Moved::To(step, next) => panic!("{seen:?} led to {:?} and {next:?}", step.phase),
        }
    }

    fn phase(&self) -> &'static str {
        self.step.phase.as_str()
    }

    fn quiet(&self) -> i64 {
        self.step.quiet_until.since(T0)
    }

    #[track_caller]
    fn due(&self) -> i64 {
        self.step.due().expect("something is due").since(T0)
    }

    fn outcomes(&self) -> Vec<&Attempted> {
        self.step.attempts.iter().map(|a| &a.outcome).collect()
    }

    fn why(&self) -> Option<Why> {
        if let Phase::Review { why } = self.step.phase { Some(why) } else { None }
    }
}
