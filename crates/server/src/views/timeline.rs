//! The timeline: every journal entry with one plain sentence, built from its kind and its facts alone.

use evidence::{Entry, Facts};
use serde::Serialize;

use super::At;

/// One entry of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Happening {
    /// When it happened.
    pub at: At,
    /// Its place in its stream.
    pub seq: u64,
    /// The stream it stands in.
    pub stream: String,
    /// What happened.
    pub kind: String,
    /// Who did it.
    pub actor: String,
    /// The same, in a sentence.
    pub says: String,
    /// What there is to say about it.
    pub facts: Facts,
    /// The digests of the blobs it speaks of.
    pub blobs: Vec<String>,
}

impl Happening {
    /// The view of an entry.
    pub fn of(entry: &Entry) -> Self {
        Self {
            at: At(entry.at),
            seq: entry.seq,
            stream: entry.stream.to_string(),
            kind: entry.kind.clone(),
            actor: entry.actor.clone(),
            says: says(&entry.kind, &entry.facts),
            facts: entry.facts.clone(),
            blobs: entry.blobs.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The sentence of an entry; the kind itself where nobody has written one.
pub fn says(kind: &str, _facts: &Facts) -> String {
    kind.to_owned()
}
