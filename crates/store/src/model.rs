//! The records that cross the contract.

use std::collections::BTreeMap;

use domain::digest::Digest;
use domain::enquiry::{Enquiry, Fields, Note};
use domain::gate::{Away, Effect};
use domain::identity::{Ambiguity, Candidate};
use domain::ids::{DeliveryId, EffectId, EnquiryId, ReviewId, RunId};
use domain::time::UtcMs;
use evidence::{Blob, Draft, Entry};
use serde::{Deserialize, Serialize};

/// What we made of a delivery, or of one item of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A new enquiry.
    Accepted,
    /// A known event again.
    Redelivery,
    /// A known key with other content: a held enquiry.
    Conflict,
    /// A new enquiry whose fields repeat a recent one's.
    LookAlike,
    /// Authentic, not understood; kept whole.
    Quarantined,
    /// A sender's test.
    Test,
    /// Authentic, and nothing that asks for work.
    Ignored,
    /// Not authentic: kept in a bounded ring.
    Refused,
}

impl Verdict {
    /// The name in answers and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Redelivery => "redelivery",
            Self::Conflict => "conflict",
            Self::LookAlike => "look_alike",
            Self::Quarantined => "quarantined",
            Self::Test => "test",
            Self::Ignored => "ignored",
            Self::Refused => "refused",
        }
    }
}

/// One arrival at our door, and what each item of it asks for.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// How it came. Its `item`, `verdict` and what follows from that are filled by the store.
    pub delivery: Delivery,
    /// The raw body; its digest is in `delivery`.
    pub body: Blob,
    /// The files that stood in it, each named by an attachment of a proposal. Those of an item that is entered are kept;
    /// those of a copy stand in its body, and in the book already.
    pub files: Vec<Blob>,
    /// What was read in it: one element, or one per item of a batch. Never empty.
    pub items: Vec<Item>,
    /// A person let it in (a release, a replay of a quarantined delivery): who.
    pub by: Option<String>,
    /// It undoes the suppression of this delivery, which was made under a weak key. One that was undone before fails with
    /// [`crate::Error::Conflict`], so that a suppression is undone once.
    pub undoes: Option<DeliveryId>,
    /// Who brings it works on what is new in it at once, until then: the work comes back leased.
    pub take_until: Option<UtcMs>,
}

/// What one item of an arrival is.
#[derive(Clone, Debug)]
pub enum Item {
    /// An enquiry, if its key is new.
    Enquiry(Box<Proposal>),
    /// No enquiry, and why.
    Aside {
        /// `Quarantined`, `Test` or `Ignored`.
        verdict: Verdict,
        /// The reason, without any personal data.
        reason: String,
    },
}

/// An enquiry as it would be entered.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// What it is compared by.
    pub candidate: Candidate,
    /// Its mapped fields.
    pub fields: Fields,
    /// What normalising changed.
    pub notes: Vec<Note>,
    /// The source's client.
    pub client: Option<String>,
    /// Its local time stands for two instants, or none.
    pub ambiguous_time: bool,
    /// Where who or what it is does not stand for certain in what was sent: its effects wait for a person.
    pub ambiguous: Vec<Ambiguity>,
    /// A look-alike's effects are held for a person.
    pub hold_look_alikes: bool,
    /// The run that begins if it is accepted.
    pub run: RunId,
    /// A person undoes a weak suppression: enter it as an enquiry of its own, whatever the verdict would be.
    pub separate: bool,
}

/// One delivery, or one item of a batch delivery.
#[expect(clippy::struct_field_names, reason = "`first_delivery` is the name that everybody outside reads")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Its id; all items of one arrival share it.
    pub id: DeliveryId,
    /// Which item, from 0.
    pub item: u32,
    /// The source's id.
    pub source: String,
    /// When it arrived.
    pub at: UtcMs,
    /// Who sent it, as far as the connection says.
    pub remote: Option<String>,
    /// The provider's request id.
    pub request_id: Option<String>,
    /// The provider's attempt counter.
    pub attempt: Option<String>,
    /// The declared content type.
    pub content_type: Option<String>,
    /// The declared encoding, where there was one: a kept body is as it came, and is unpacked again when it is read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_encoding: Option<String>,
    /// SHA-256 of the raw header block: each `name: value` in the order received, joined by line feeds.
    pub header_digest: Digest,
    /// SHA-256 of the raw body.
    pub body_sha256: Digest,
    /// The blob of the raw body.
    pub body: Digest,
    /// Its length in bytes.
    pub body_len: u64,
    /// What had to be mended to read the body, by kind, and how often. The body itself is kept as it came.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub repairs: BTreeMap<String, u32>,
    /// What we made of it.
    pub verdict: Verdict,
    /// Why, where it is not plain.
    pub reason: Option<String>,
    /// The enquiry it carries.
    pub enquiry: Option<EnquiryId>,
    /// The enquiry's key, as text.
    pub key: Option<String>,
    /// Nothing was carried out for it, because it had been for the first.
    pub duplicate_suppressed: bool,
    /// The key rests on content alone: a person can undo the suppression.
    pub weak: bool,
    /// The run that the first delivery of this event began.
    pub first_run: Option<RunId>,
    /// The delivery that was first.
    pub first_delivery: Option<DeliveryId>,
    /// When the first was accepted.
    pub first_at: Option<UtcMs>,
}

/// A delivery as it is kept.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// One record per item.
    pub items: Vec<Delivery>,
    /// The raw body, unless it was pruned or erased. With its nonce it has the digest that the records name, and who enters
    /// the delivery again hands it over as it is: another nonce would make another blob of it, and the first would belong to
    /// nobody for good (I12). Only what was refused before the book kept nonces there has one of zeros.
    pub body: Option<Blob>,
}

/// The answer to an arrival: one delivery record per item, in order.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// The records.
    pub items: Vec<Delivery>,
    /// The new enquiries, where they were asked for.
    pub taken: Vec<Lease<Enquiry>>,
}

/// Something handed out to be done.
#[derive(Clone, Debug)]
pub struct Lease<T> {
    /// The thing.
    pub what: T,
    /// Higher with every lease of it.
    pub fence: u64,
    /// Changes with every commit.
    pub version: u64,
}

/// Work handed out.
#[derive(Clone, Debug, Default)]
pub struct Leases {
    /// Enquiries to be qualified and planned.
    pub enquiries: Vec<Lease<Enquiry>>,
    /// Effects to be carried on.
    pub effects: Vec<Lease<Effect>>,
    /// When to ask again: the earliest instant after now at which something falls due, or a lease on due work (these too)
    /// runs out. What is due now and was left out for the limit does not count.
    pub next_due: Option<UtcMs>,
}

/// A change of one enquiry.
#[derive(Clone, Debug)]
pub struct EnquiryChange {
    /// The new state.
    pub enquiry: Enquiry,
    /// The version that it was decided on.
    pub version: u64,
    /// The fence of the lease it was done under; `None` for a person's act.
    pub fence: Option<u64>,
    /// When it is to be taken up (again).
    pub due: Option<UtcMs>,
    /// Whether somebody else's lease goes on after this commit: of who is at the enquiry while an effect of it comes to rest.
    pub keep_lease: bool,
}

/// A new effect, or a change of one.
#[derive(Clone, Debug)]
pub struct EffectChange {
    /// The new state. Its due time follows from it.
    pub effect: Effect,
    /// The version that it was decided on; `None` for a new one.
    pub version: Option<u64>,
    /// The fence of the lease it was done under; `None` for a person's or a sibling's act.
    pub fence: Option<u64>,
    /// Whether the lease goes on after this commit.
    pub keep_lease: bool,
    /// A new effect is worked on at once by who planned it, until then: it is leased, under the fence 1.
    pub take_until: Option<UtcMs>,
    /// What only one effect at a time may hold (a contact in a target); taken with this commit, given back by `None`.
    pub lock: Option<String>,
}

/// One decided step: everything in it happens, or nothing.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The time of the act.
    pub at: UtcMs,
    /// Changes of enquiries.
    pub enquiries: Vec<EnquiryChange>,
    /// Changes of effects.
    pub effects: Vec<EffectChange>,
    /// New review items, and closed ones.
    pub reviews: Vec<Review>,
    /// New states of targets.
    pub targets: Vec<TargetState>,
    /// Targets that count as away from now on, or are back (`None`).
    pub away: BTreeMap<String, Option<Away>>,
    /// What is kept under a name of its own.
    pub kept: Vec<Kept>,
    /// Blobs to keep, with the enquiry they belong to.
    pub blobs: Vec<(Option<EnquiryId>, Blob)>,
    /// What the journal says of it.
    pub entries: Vec<Draft>,
}

/// Something small that is kept under a name (a keyed digest of an address, say), also through erasure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The name.
    pub name: String,
    /// What stood there when it was decided on; the commit fails with [`crate::Error::Conflict`] if that is no longer so.
    pub was: Option<String>,
    /// What is to stand there; `None`: nothing.
    pub is: Option<String>,
}

/// What a review item is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// Other content under a known key: *same* or *separate*.
    Conflict,
    /// The fields of a recent enquiry again: approve or dismiss.
    LookAlike,
    /// The local event time stands for two instants, or none.
    AmbiguousTime,
    /// Who or what it is does not stand for certain in what was sent.
    Ambiguous,
    /// The qualification failed or is uncertain: outward messages wait.
    Qualification,
    /// An effect needs a person (unknown outcome, refusal, mismatch, double).
    Effect,
    /// An outward message waits for a person (a brake, a policy).
    Message,
    /// What an effect sends may have been sent already: the book was restored or moved, or a former self of it was at work.
    Restored,
    /// A message to an address that is not to be written to.
    DoNotContact,
    /// A message to an address that had as many as are allowed.
    PerAddress,
}

impl ReviewKind {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::LookAlike => "look_alike",
            Self::AmbiguousTime => "ambiguous_time",
            Self::Ambiguous => "ambiguous",
            Self::Qualification => "qualification",
            Self::Effect => "effect",
            Self::Message => "message",
            Self::Restored => "restored",
            Self::DoNotContact => "do_not_contact",
            Self::PerAddress => "per_address",
        }
    }
}

/// One item of a person's queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// Its id.
    pub id: ReviewId,
    /// The enquiry.
    pub enquiry: EnquiryId,
    /// The effect it holds; `None` if it is about the enquiry.
    pub effect: Option<EffectId>,
    /// What it is about.
    pub kind: ReviewKind,
    /// Whether something waits for it, or it only notifies.
    pub holds: bool,
    /// A sentence for people, without personal data.
    pub why: String,
    /// The latest attempt at the time, for decisions bound to what was seen.
    pub attempt: u32,
    /// When it was opened.
    pub opened_at: UtcMs,
    /// When it was decided.
    pub closed_at: Option<UtcMs>,
    /// What was decided, and by whom.
    pub decision: Option<String>,
}

/// An enquiry with what decisions about it need.
#[derive(Clone, Debug)]
pub struct Case {
    /// The enquiry.
    pub enquiry: Enquiry,
    /// Its version.
    pub version: u64,
    /// Its effects, each with its version, in the order they were planned.
    pub effects: Vec<(Effect, u64)>,
    /// Its review items, oldest first.
    pub reviews: Vec<Review>,
}

/// An enquiry with everything about it.
#[derive(Clone, Debug)]
pub struct Dossier {
    /// The enquiry.
    pub enquiry: Enquiry,
    /// Its version.
    pub version: u64,
    /// Its effects, each with its version, in the order they were planned.
    pub effects: Vec<(Effect, u64)>,
    /// Every delivery of it, oldest first.
    pub deliveries: Vec<Delivery>,
    /// Its review items, oldest first.
    pub reviews: Vec<Review>,
    /// Its journal entries, oldest first.
    pub entries: Vec<Entry>,
}

/// Which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Enquiries.
    Enquiries,
    /// Deliveries.
    Deliveries,
    /// Effects.
    Effects,
    /// Review items.
    Reviews,
    /// Journal entries.
    Journal,
}

/// Which page of it.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Where the last page ended.
    pub cursor: Option<String>,
    /// At most so many.
    pub limit: usize,
    /// Only of this source (enquiries, deliveries).
    pub source: Option<String>,
    /// Only in this state (enquiries: standing; deliveries: verdict; effects: state; reviews: `open`, `closed`).
    pub state: Option<String>,
    /// Only of this enquiry (deliveries, effects, reviews, journal).
    pub enquiry: Option<EnquiryId>,
}

/// One page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The records.
    pub rows: Rows,
    /// Where the next page begins; `None` at the end.
    pub next: Option<String>,
}

/// The records of a page.
#[derive(Clone, Debug)]
pub enum Rows {
    /// Enquiries.
    Enquiries(Vec<Enquiry>),
    /// Deliveries.
    Deliveries(Vec<Delivery>),
    /// Effects.
    Effects(Vec<Effect>),
    /// Review items.
    Reviews(Vec<Review>),
    /// Journal entries.
    Journal(Vec<Entry>),
}

/// One accepted version of a source's identity rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleVersion {
    /// From 1.
    pub version: u32,
    /// The rule, serialised.
    pub rule: String,
    /// When it was accepted.
    pub accepted_at: UtcMs,
}

/// What is known of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetState {
    /// Its name.
    pub name: String,
    /// Nothing is sent to it: since when, and why.
    pub paused: Option<(UtcMs, String)>,
}
