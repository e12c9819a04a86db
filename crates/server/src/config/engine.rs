//! `[engine]`: the bounds and the pace of carrying effects out.

use domain::retry::Backoff;

use super::section::Section;
use super::units::Period;

/// The `[engine]` section.
#[derive(Clone, Debug)]
pub struct Engine {
    /// The longest that a stalled process may sit between its deadline check and the send.
    pub pause_max: Period,
    /// How many runs are worked at once; 0: deliveries are entered and answered, and nothing is worked on.
    pub workers: usize,
    /// The wait after an effect's first failure; doubled after each.
    pub backoff: Period,
    /// No such wait is longer.
    pub backoff_max: Period,
    /// How many attempts of one effect may be sent before a person looks.
    pub attempts: u32,
    /// How long an effect is tried at all.
    pub give_up_after: Period,
}

impl Engine {
    pub(super) fn read(section: &Section<'_>) -> Self {
        let engine = Self {
            pause_max: section.parsed("pause_max").unwrap_or(Period::secs(10)),
            workers: section.whole("workers", 0..=1_024).unwrap_or(32),
            backoff: section.parsed("backoff").unwrap_or(Period::secs(1)),
            backoff_max: section.parsed("backoff_max").unwrap_or(Period::secs(60)),
            attempts: section.whole("attempts", 1..=100).unwrap_or(5),
            give_up_after: section.parsed("give_up_after").unwrap_or(Period::from_ms(7 * 86_400_000)),
        };
        if engine.backoff_max < engine.backoff {
            section.problem("backoff_max", format!("`backoff_max` is the longest wait: give at least `backoff`, {}", engine.backoff));
        }
        engine
    }

    /// The shape of the waits between attempts.
    pub fn waits(&self) -> Backoff {
        Backoff { first_ms: self.backoff.ms(), max_ms: self.backoff_max.ms() }
    }
}
