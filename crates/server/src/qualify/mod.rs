//! Qualifiers: an enquiry's text in, a structured result out.
//!
//! A qualifier decides nothing: no recipient, no target, no condition (I9). It tries once and says what it saw; the engine
//! tries again, backs off, keeps every answer as evidence and goes on without.

pub mod openai;
pub mod rules;

use async_trait::async_trait;
use domain::enquiry::{Fields, Qualification};
use evidence::Facts;

/// What a try leaves behind, whatever came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The answer as it came, as far as it is kept; empty where there was none.
    pub answer: Vec<u8>,
    /// What the journal may know of the try: no personal data, no secrets, no word of the model's.
    pub facts: Facts,
}

/// A result that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Qualified {
    /// The result.
    pub result: Qualification,
    /// Why a person should look at it before it counts, whatever its confidence.
    pub suspect: Option<&'static str>,
    /// What is kept of the try.
    pub evidence: Evidence,
}

impl From<Qualification> for Qualified {
    /// A result that nobody answered: it was made here, and there is no more evidence of it than itself.
    fn from(result: Qualification) -> Self {
        Self { result, suspect: None, evidence: Evidence::default() }
    }
}

/// What kind of failure a try was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There was no whole answer: no connection, a timeout, 408, 409, 425, 429 or a 5xx.
    Unreachable,
    /// The model would not answer.
    Refused,
    /// The answer was cut off.
    Truncated,
    /// The answer does not fit the schema.
    Invalid,
    /// The server refuses the question itself (401, 403, 404, 400 …): asking again would not mend that.
    Rejected,
}

impl Failure {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Refused => "refused",
            Self::Truncated => "truncated",
            Self::Invalid => "invalid",
            Self::Rejected => "rejected",
        }
    }

    /// Whether another try may go better.
    pub fn may_pass(self) -> bool {
        self != Self::Rejected
    }
}

/// Why a try gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}", .kind.as_str())]
pub struct QualifyError {
    /// What kind of failure it was.
    pub kind: Failure,
    /// In our own words: nothing of the enquiry and nothing of the answer.
    pub why: String,
    /// The wait that the server asked for, in ms; bounded by the engine.
    pub retry_after_ms: Option<i64>,
    /// What is kept of the try.
    pub evidence: Evidence,
}

/// One way to qualify.
#[async_trait]
pub trait Qualifier: Send + Sync {
    /// Its name, with its version, for the journal.
    fn name(&self) -> String;

    /// Where it asks, for the log: an address without user, password and query. `None`: it asks nobody.
    fn address(&self) -> Option<&str> {
        None
    }

    /// The longest that one try takes, in ms: leases last longer.
    fn timeout_ms(&self) -> i64 {
        0
    }

    /// Tries once.
    async fn qualify(&self, fields: &Fields) -> Result<Qualified, QualifyError>;
}
