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
    /// When the structured result stood (also when all attempts had failed).
    pub qualified_at: Option<UtcMs>,
    /// When the last effect ended.
    pub settled_at: Option<UtcMs>,
}
