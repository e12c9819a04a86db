//! Every planted mistake, and the first seed that finds it.

use domain::planted::{Bug, plant};

use crate::check::Breach;
use crate::plan::make::plan;
use crate::run::run;

/// Seeds that one mistake may take to be found.
pub const SEEDS_MAX: u64 = 1_000;
/// Events of each run.
pub const EVENTS: u32 = 24;

/// The first seed that finds the mistake, and what it found.
pub fn hunt(bug: Bug) -> Option<(u64, Breach)> {
    plant(Some(bug));
    let found = (1..=SEEDS_MAX).find_map(|seed| Some((seed, run(&plan(seed, EVENTS), false).breaches.into_iter().next()?)));
    plant(None);
    found
}
