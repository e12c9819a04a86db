//! The durability contract and its engines.
//!
//! [`Store`] is about a dozen verbs, each one step of the product and one transaction. SQL is dull here because the domain
//! has already decided; what has to be decided inside a transaction (the verdict on a delivery) is a pure function that
//! every engine calls. Deliberately absent: queries that only a screen wants; policies; the clock.
#![warn(missing_docs)]

mod accept;
mod error;
mod model;
mod sound;

pub mod memory;
pub mod sqlite;

#[cfg(test)]
mod contract;

pub use error::Error;
pub use model::*;

use std::collections::BTreeMap;

use async_trait::async_trait;
use domain::digest::{BookSecret, Digest};
use domain::gate::Away;
use domain::ids::{EnquiryId, StreamId};
use domain::time::UtcMs;
use evidence::{Blob, Draft, Entry, Head};

/// Durable state.
///
/// When a method returns `Ok`, its effect survives a crash of this process; when it returns `Err`, nothing happened, except
/// [`Error::Unavailable`], after which the caller must read before it writes again.
#[async_trait]
pub trait Store: Send + Sync {
    /// The stream of this process start: its entries form one chain.
    fn stream(&self) -> &StreamId;

    /// The book's own secret, which keys every fingerprint.
    fn secret(&self) -> &BookSecret;

    /// Since when every process but this one is known to be dead. On `SQLite` that is this process's start, because the data
    /// directory's lock is held; an engine with several nodes answers `None` for a process that may be alive, and so does a
    /// book that is open to be read only.
    fn dead_since(&self, process: &StreamId) -> Option<UtcMs>;

    /// When this book was last found to be restored from a copy, or moved: up to then another copy of it may have been at work,
    /// and have sent what this one knows nothing of. `None` for a book that has always been the one.
    fn restored_at(&self) -> Option<UtcMs> {
        None
    }

    /// Records one arrival, with the verdict on each item of it. Of any number of calls with one key, exactly one gets
    /// [`Verdict::Accepted`]; the rest get what they are, naming the first. The journal says all of it.
    ///
    /// A look-alike is found among the last enquiries that have a mark: at least the last 131,072 of the book, whatever the
    /// window. Who asked to take what is new (`take_until`) and is answered [`Error::Unavailable`] may have entered it: it is
    /// then leased to nobody who knows of it, and is handed out when that lease has run out.
    async fn accept(&self, arrival: Arrival) -> Result<Receipt, Error>;

    /// Keeps one delivery that was not authentic, in a ring of `keep` per source. What arrived before `oldest` leaves the
    /// ring with it, whatever its source.
    async fn refuse(&self, delivery: Delivery, body: Blob, keep: u32, oldest: UtcMs) -> Result<(), Error>;

    /// Hands out work that is due at `now`, oldest due first (enquiries before effects of one instant), to be done before
    /// `until`. No work is held by two live leases; each lease of a thing has a higher fence. Effects of a paused target are not handed out. Also says when to ask next.
    async fn lease(&self, now: UtcMs, until: UtcMs, limit: usize) -> Result<Leases, Error>;

    /// The same, with at most so many effects of each target that is named. An engine that cannot tell may hand out more: who
    /// asks gives back what is too much.
    async fn lease_within(&self, now: UtcMs, until: UtcMs, limit: usize, rooms: &BTreeMap<String, usize>) -> Result<Leases, Error> {
        let _ = rooms;
        self.lease(now, until, limit).await
    }

    /// Targets that count as away, as the steps have said.
    async fn away(&self) -> Result<BTreeMap<String, Away>, Error> {
        Ok(BTreeMap::new())
    }

    /// What is kept under that name, as the steps have said.
    async fn kept(&self, name: &str) -> Result<Option<String>, Error> {
        let _ = name;
        Ok(None)
    }

    /// Everything that is kept under names that begin so, by name, after `after`, at most `limit`.
    async fn kept_under(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<(String, String)>, Error> {
        let _ = (prefix, after, limit);
        Ok(Vec::new())
    }

    /// Applies one decided step: compare-and-set of every record it names, its journal entries and blobs, all or nothing.
    /// Fails with [`Error::Conflict`] if a version or a fence is no longer current, or a lock is another's.
    async fn commit(&self, step: Step) -> Result<(), Error>;

    /// One enquiry with what decisions about it need; how often it was delivered makes this no slower.
    async fn case(&self, id: &EnquiryId) -> Result<Option<Case>, Error>;

    /// One enquiry with everything about it.
    async fn dossier(&self, id: &EnquiryId) -> Result<Option<Dossier>, Error>;

    /// The enquiry that a name leads to: an enquiry id, a key's text, a delivery id, an effect id, a review id or an
    /// external record id. Several where an external id is not unique.
    async fn resolve(&self, name: &str) -> Result<Vec<EnquiryId>, Error>;

    /// One page of a list, newest first (the journal: oldest first). Deliveries in the state `refused` are those of the ring.
    async fn page(&self, list: List, ask: Ask) -> Result<Page, Error>;

    /// The blob of that digest; `None` if it was never kept or is erased. `of`: the enquiry of the entry, effect or delivery
    /// that names it, by which it is found.
    async fn blob(&self, digest: &Digest, of: Option<&EnquiryId>) -> Result<Option<Blob>, Error>;

    /// One delivery, its items in order, with its raw body where that is still kept. The ring of deliveries that were not
    /// authentic is looked through too.
    async fn delivery(&self, id: &str) -> Result<Option<Arrived>, Error>;

    /// Entries after (`stream`, `seq`), in that order, over all streams.
    async fn journal_after(&self, after: Option<(StreamId, u64)>, limit: usize) -> Result<Vec<Entry>, Error>;

    /// Appends entries that belong to no record's change.
    async fn note(&self, drafts: Vec<Draft>) -> Result<Head, Error>;

    /// Every accepted rule version of a source, oldest first, as the text it was accepted as.
    async fn rules(&self, source: &str) -> Result<Vec<RuleVersion>, Error>;

    /// Accepts a rule as the source's next version.
    async fn adopt_rule(&self, source: &str, rule: String, draft: Draft) -> Result<(), Error>;

    /// What is known of every target: paused or not, and why.
    async fn targets(&self) -> Result<Vec<TargetState>, Error>;

    /// Drops bodies that arrived before `before` (deliveries' raw bodies, models' and targets' answers), with a journal
    /// entry that names them; at most 500 a call, and how many it were. Only of enquiries that are settled. Keys, content
    /// digests and everything that decides about identity stay (I8). A batch's body stays until all its enquiries are settled
    /// and no item of it is in quarantine any more.
    async fn prune(&self, before: UtcMs, now: UtcMs) -> Result<u64, Error>;

    /// Whether a write can be made durable now.
    async fn ping(&self) -> Result<(), Error>;
}
