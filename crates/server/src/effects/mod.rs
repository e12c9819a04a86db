//! The `Target` trait and its kinds: one file a vendor.
//!
//! A target tries once, answers what it saw and never decides: retries, waits and proofs are the gate's. Nothing here
//! knows the engine, the store or the intake.

pub mod desk;
pub mod http;
pub mod message;
pub mod names;
pub mod outbox;
pub mod template;

use async_trait::async_trait;
use domain::enquiry::Fields;
use domain::gate::{Find, Limits, StepKind};
use domain::time::UtcMs;
use evidence::Facts;
use serde_json::Value;

/// What a target is asked to do for one step.
#[derive(Clone, Debug)]
pub struct Call {
    /// Which step of the effect.
    pub step: StepKind,
    /// The outgoing key: what the record carries and is found by.
    pub key: String,
    /// What [`Target::render`] made, once: the same bytes on every try.
    pub rendered: Vec<u8>,
    /// What templates see: `key`, `action`, `ordinal`, `enquiry`, `qualification`.
    pub scene: Value,
    /// The contact's id in the target, once that step has passed.
    pub contact_id: Option<String>,
    /// The record's id in the target, once that step has passed.
    pub record_id: Option<String>,
    /// The send must begin before this instant, else nothing is sent.
    pub deadline: UtcMs,
}

/// What came of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Answered with the record's id.
    Applied(String),
    /// A 4xx about this record; the words, shortened, without secrets.
    Refused(String),
    /// The target says that it has the key already.
    Conflict,
    /// Definitely not done.
    NotSent {
        /// Why.
        why: String,
        /// The wait the target asked for, in ms.
        retry_after_ms: Option<i64>,
    },
    /// 401 or 403: the target is closed to us; nothing was done.
    Closed(String),
    /// Anything else after the first byte.
    Unknown(String),
}

/// What a look-up by key found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Records whose own field equals the key byte for byte, at least one. For a contact: the oldest first.
    Records(Vec<String>),
    /// None, and every page was followed.
    Absent,
    /// Its answer can prove nothing; why.
    CannotTell(String),
    /// There was no answer: no connection, no time, 429, 5xx.
    Unanswered {
        /// Why.
        why: String,
        /// The wait the target asked for, in ms.
        retry_after_ms: Option<i64>,
    },
    /// 401 or 403.
    Closed(String),
}

/// What reading a record back showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadBack {
    /// It carries our key, and what must be equal is equal.
    Same,
    /// It differs where it must not; what.
    Differs(String),
    /// There is no record of that id.
    Gone,
    /// It failed; why.
    Failed(String),
    /// 401 or 403.
    Closed(String),
}

/// An answer and the evidence of it.
#[derive(Clone, Debug)]
pub struct Report<T> {
    /// The answer.
    pub what: T,
    /// Facts for the journal: no personal data, no secrets (a status, a count, a reason).
    pub facts: Facts,
    /// What the target answered, at most 64 KiB, for an erasable blob.
    pub body: Option<Vec<u8>>,
}

impl<T> Report<T> {
    /// An answer without further evidence.
    pub fn bare(what: T) -> Self {
        Self { what, facts: Facts::new(), body: None }
    }
}

/// One external system, or an embedded one reached through the same protocol. None of the calls may be made inside a
/// transaction of the book.
#[async_trait]
pub trait Target: Send + Sync {
    /// The kind, as configured: `desk`, `outbox`, `http`.
    fn kind(&self) -> &'static str;

    /// The steps that an effect for an enquiry with these fields has here.
    fn steps(&self, fields: &Fields) -> Vec<StepKind>;

    /// How a step's record is found by our key.
    fn find(&self, step: StepKind) -> Find;

    /// Whether a step's record can be read back.
    fn reads(&self, step: StepKind) -> bool;

    /// The longest a sent request may still take effect, in ms.
    fn settle_ms(&self) -> i64;

    /// How long an answer is awaited, in ms.
    fn timeout_ms(&self) -> i64;

    /// How many effects may be at it at a time, and how fast it may be called.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Renders what will be sent for the effect, once. An error is a configuration's fault and goes to a person.
    fn render(&self, key: &str, scene: &Value) -> Result<Vec<u8>, String>;

    /// Tries once. Never retries, never follows a redirect. Checks the deadline right before the send.
    async fn write(&self, call: &Call) -> Report<Outcome>;

    /// Answers "is it there?".
    async fn look_up(&self, call: &Call) -> Report<Found>;

    /// Reads the record back and compares it with what was sent.
    async fn read_back(&self, call: &Call, id: &str) -> Report<ReadBack>;
}
