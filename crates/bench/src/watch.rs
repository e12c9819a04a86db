//! The one clock of the instruments.

use std::time::{Duration, Instant};

/// A stop watch on the machine's steady clock.
#[derive(Clone, Copy, Debug)]
pub struct Watch(Instant);

impl Watch {
    /// Starts it.
    #[expect(clippy::disallowed_methods, reason = "an instrument measures time: this is its one clock")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// What has passed since.
    pub fn passed(self) -> Duration {
        self.0.elapsed()
    }

    /// What has passed since, in seconds.
    pub fn seconds(self) -> f64 {
        self.passed().as_secs_f64()
    }
}
