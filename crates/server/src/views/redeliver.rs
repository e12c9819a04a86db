//! The seam through which a kept delivery is read again: the composition root implements it over the intake.

use async_trait::async_trait;
use serde_json::Value;

/// A way to read a kept delivery again.
#[async_trait]
pub trait Redeliver: Send + Sync {
    /// Reads the delivery again, in that person's name. `separate` undoes a suppression under a weak key. Answers what the
    /// sender would have been answered.
    async fn redeliver(&self, delivery: &str, by: &str, separate: bool) -> Result<Value, RedeliverRefused>;
}

/// Why a delivery was not read again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedeliverRefused {
    /// No delivery of that id.
    #[error("there is no delivery of that id")]
    Unknown,
    /// It does not fit, and why.
    #[error("{0}")]
    DoesNotFit(String),
    /// The book cannot be used now.
    #[error("the book cannot be used now: try again in {retry_after_s} s")]
    Unavailable {
        /// In how many seconds.
        retry_after_s: u32,
    },
}
