//! The enquiry: one piece of requested work, its mapped fields, its qualification and where it stands.

pub mod attachment;
pub mod fields;
pub mod qualification;

pub use attachment::Attachment;
pub use fields::{Contact, Fields, Note};
pub use qualification::{Priority, Qualification};

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::identity::{Ambiguity, Key};
use crate::ids::{DeliveryId, EnquiryId, RunId};
use crate::time::UtcMs;

/// Where an enquiry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Entered, not yet qualified: work is due.
    Accepted,
    /// Qualified; its effects are being carried out, or wait for a due time.
    Working,
    /// Held: other content under a known key; a person says *same* or *separate*.
    Held,
    /// Nothing more happens before a person decides on at least one item.
    Review,
    /// Every effect has ended.
    Settled,
    /// A person said that this content is a revision of another enquiry.
    Merged,
}

impl Standing {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Working => "working",
            Self::Held => "held",
            Self::Review => "review",
            Self::Settled => "settled",
            Self::Merged => "merged",
        }
    }
}

/// What a person should know about how an enquiry came in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Flags {
    /// Its key rests on content alone.
    pub weak_key: bool,
    /// Its local event time stands for two instants, or for none (a clock change).
    pub ambiguous_time: bool,
    /// Where who or what it is does not stand for certain in what was sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ambiguous: Vec<Ambiguity>,
    /// It is a look-alike, and its effects wait for a person.
    pub hold: bool,
    /// The recent enquiry whose mapped fields it repeats.
    pub look_alike_of: Option<EnquiryId>,
    /// The enquiry whose key it came under with other content.
    pub conflict_with: Option<EnquiryId>,
    /// A person released it from a suppression under a weak key.
    pub separated_from: Option<EnquiryId>,
}

/// How far a run has come with qualifying. In the book after every try, so that a crash neither forgets nor repeats one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Qualifying {
    /// Tries that gave no result, in this run.
    pub tries: u32,
    /// The later run that asks anew; `None` in the run that began at acceptance, and once the later run has its result.
    pub again: Option<Again>,
}

/// A later run that asks the model anew. What was planned stays planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Again {
    /// When the run began.
    pub since: UtcMs,
    /// When it is to be tried (again).
    pub due: UtcMs,
}

/// An enquiry as the book keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Enquiry {
    /// Derived from the key.
    pub id: EnquiryId,
    /// Its idempotency key.
    pub key: Key,
    /// Where it stands.
    pub standing: Standing,
    /// The client whose source it came through, where there are several.
    pub client: Option<String>,
    /// The delivery that brought it.
    pub first_delivery: DeliveryId,
    /// The run that began at acceptance: what suppressions name.
    pub first_run: RunId,
    /// The latest run.
    pub run: RunId,
    /// When it was accepted.
    pub accepted_at: UtcMs,
    /// Keyed digests of the content it was accepted with and of every revision.
    pub contents: Vec<Digest>,
    /// Mapped fields; `None` once erased.
    pub fields: Option<Fields>,
    /// How it came in.
    pub flags: Flags,
    /// The model's result; `None` before, and where every attempt failed.
    pub qualification: Option<Qualification>,
    /// How far the run at hand has come with it.
    #[serde(default)]
    pub qualifying: Qualifying,
    /// When the structured result stood (also when all attempts had failed).
    pub qualified_at: Option<UtcMs>,
    /// When the last effect ended.
    pub settled_at: Option<UtcMs>,
}

impl Enquiry {
    /// When a later run's question to the model is due; whoever commits the enquiry for another reason keeps it.
    pub fn asked_again(&self) -> Option<UtcMs> {
        self.qualifying.again.map(|again| again.due)
    }
}
