//! Qualifiers: an enquiry's text in, a structured result out.
//!
//! A qualifier decides nothing: no recipient, no target, no condition (I9). The engine tries, backs off and goes on without.

pub mod rules;

use async_trait::async_trait;
use domain::enquiry::{Fields, Qualification};

/// Why a try gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QualifyError {
    /// The model could not be asked.
    #[error("the model could not be asked: {0}")]
    Unreachable(String),
    /// The answer does not fit the schema; it is kept as evidence.
    #[error("the model's answer does not fit: {why}")]
    Invalid {
        /// What does not fit.
        why: String,
        /// The answer, as it came.
        answer: Vec<u8>,
    },
}

/// One way to qualify.
#[async_trait]
pub trait Qualifier: Send + Sync {
    /// Its name, with its version, for the journal.
    fn name(&self) -> String;

    /// Tries once.
    async fn qualify(&self, fields: &Fields) -> Result<Qualification, QualifyError>;
}
