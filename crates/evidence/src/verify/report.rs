//! What a walk found.

use std::fmt;

use domain::ids::StreamId;
use serde::Serialize;

use crate::chain::Head;

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Entries walked.
    pub entries: u64,
    /// Streams they stand in.
    pub streams: u64,
    /// Blobs that were named, found and equal to their digests.
    pub blobs_checked: u64,
    /// Blobs that were named and are gone, with an entry that says so.
    pub blobs_erased: u64,
    /// Where each stream stands: what to keep elsewhere, if the journal is whole.
    pub heads: Vec<Head>,
    /// What is wrong, by stream and place.
    pub faults: Vec<Fault>,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.faults.is_empty()
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The stream it is in.
    pub stream: StreamId,
    /// The entry it is at: the changed one, or the first missing one.
    pub seq: u64,
    /// What is wrong, as a sentence.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, entry {}: {}", self.stream, self.seq, self.what)
    }
}
