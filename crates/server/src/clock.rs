//! The system's clock and randomness: the one place where they come in.

use domain::time::{Clock, Entropy, Later, UtcMs};

/// The machine's wall clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the front door: everything else takes a Clock")]
    fn now(&self) -> UtcMs {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        UtcMs(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// Sleeps in slices, so that a clock that was set meanwhile is noticed within a second.
    #[expect(clippy::disallowed_methods, reason = "the front door: everything else takes a Clock")]
    fn sleep_until(&self, at: UtcMs) -> Later<'_> {
        Box::pin(async move {
            loop {
                let left = at.since(self.now());
                if left <= 0 {
                    return;
                }
                let slice = u64::try_from(left.min(1_000)).unwrap_or(1_000);
                tokio::time::sleep(std::time::Duration::from_millis(slice)).await;
            }
        })
    }
}

/// The operating system's randomness.
#[derive(Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    #[expect(clippy::disallowed_methods, reason = "the front door: everything else takes an Entropy")]
    #[expect(clippy::panic, reason = "without randomness no secret, nonce or id may be made")]
    fn fill(&self, buffer: &mut [u8]) {
        if let Err(error) = getrandom::fill(buffer) {
            panic!("the operating system gives no randomness: {error}");
        }
    }
}
