//! How long to wait before the next try: exponential, capped, jittered, never sooner than a target asked.

/// The shape of a backoff. All spans in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait.
    pub first_ms: i64,
    /// No wait is longer, before jitter and apart from a target's own Retry-After.
    pub max_ms: i64,
}

impl Backoff {
    /// The wait after `tries` tries (at least 1): doubled each time, then spread over its upper half by `chance`.
    pub fn wait_ms(&self, tries: u32, chance: u64, retry_after_ms: Option<i64>) -> i64 {
        let doublings = tries.saturating_sub(1).min(40);
        let full = self.first_ms.saturating_mul(1_i64 << doublings).clamp(0, self.max_ms);
        let half = full / 2;
        let spread = i64::try_from(chance % u64::try_from(half + 1).unwrap_or(1)).unwrap_or(0);
        (full - half + spread).max(retry_after_ms.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff { first_ms: 1_000, max_ms: 60_000 };

    #[test]
    fn waits_double_up_to_the_cap_and_jitter_stays_in_the_upper_half() {
        for (tries, full) in [(1, 1_000), (2, 2_000), (3, 4_000), (7, 60_000), (90, 60_000)] {
            for chance in [0, 1, 499, u64::MAX] {
                let wait = BACKOFF.wait_ms(tries, chance, None);
                assert!((full / 2..=full).contains(&wait), "{tries} tries waited {wait}");
            }
        }
        assert_ne!(BACKOFF.wait_ms(5, 1, None), BACKOFF.wait_ms(5, 2, None));
    }

    #[test]
    fn a_targets_retry_after_is_never_undercut() {
        assert_eq!(BACKOFF.wait_ms(1, 0, Some(90_000)), 90_000);
        assert!(BACKOFF.wait_ms(7, 0, Some(5)) >= 30_000);
    }
}
