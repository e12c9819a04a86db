//! Verification: a walk over a journal that finds what was changed or removed (I11).
//!
//! The walk reads nothing by itself: it is fed entries and blobs, in one pass, and judges at the end. It relies on three
//! witnesses. The chain shows any change, gap or reordering inside a stream. A stream's first entry lists the heads of the
//! streams before it, which shows a tail or a whole stream removed. Heads kept outside the book show the rest: whoever can
//! rewrite the whole journal, or take away the end of its newest stream, can only be caught by those.
//!
//! It holds 40 bytes an entry in memory, since any later stream may speak of any earlier entry, and each blob's digest,
//! since an erasure may be recorded anywhere.

mod report;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use domain::digest::Digest;
use domain::ids::StreamId;
use serde_json::Value;

use crate::blob::Blob;
use crate::chain::Head;
use crate::entry::{BLOB_ERASED, Entry, STREAM_BEGAN};

pub use report::{Fault, Report};

/// A verification under way.
#[derive(Debug, Default)]
pub struct Walk {
    entries: u64,
    streams: BTreeMap<StreamId, Seen>,
    /// What must be true of some stream, and who says so. One witness is enough.
    claims: BTreeMap<Head, String>,
    /// Blobs by digest, and the first entry that names each.
    named: BTreeMap<Digest, Place>,
    erased: BTreeMap<Digest, Place>,
    /// Blobs that are there, and whether each is what its digest says.
    found: BTreeMap<Digest, bool>,
    faults: Vec<Fault>,
}

type Place = (StreamId, u64);

/// The hashes of a stream's entries, by place: ascending, with gaps only where the stream has some.
#[derive(Debug)]
struct Seen {
    genesis: Digest,
    hashes: Vec<(u64, Digest)>,
}

impl Walk {
    /// Begins a walk; `kept` are heads that were kept outside the book (from packs, from daily messages).
    pub fn new(kept: Vec<Head>) -> Self {
        let claims = kept.into_iter().map(|head| (head, "a head that was kept".to_owned())).collect();
        Self { claims, ..Self::default() }
    }

    /// Takes the next entry. A stream's entries must come by ascending `seq`; the order of streams does not matter.
    pub fn entry(&mut self, entry: &Entry) {
        self.entries += 1;
        if entry.computed_hash() != entry.hash {
            self.fault(&entry.stream, entry.seq, "the entry's fields do not give its hash: something in it was changed");
        }
        self.place(entry);
        if entry.seq == 1 {
            self.beginning(entry);
        }
        // An erasure speaks of blobs that are gone: naming them there does not ask for them.
        let names = if entry.kind == BLOB_ERASED { &mut self.erased } else { &mut self.named };
        for blob in &entry.blobs {
            names.entry(*blob).or_insert_with(|| (entry.stream.clone(), entry.seq));
        }
    }

    /// Takes what the store holds under a digest, before or after the entries that name it.
    ///
    /// `None` is the same as no call: at the end, a blob that was named and never found must have been erased. What no
    /// entry names is not judged.
    pub fn blob(&mut self, digest: Digest, found: Option<&Blob>) {
        if let Some(blob) = found {
            self.found.insert(digest, blob.digest() == digest);
        }
    }

    /// Judges what could only be judged with everything seen. Faults come by stream and place.
    pub fn finish(mut self) -> Report {
        for (head, witness) in std::mem::take(&mut self.claims) {
            if let Some((seq, what)) = self.contradiction(&head, &witness) {
                self.fault(&head.stream, seq, what);
            }
        }
        let (blobs_checked, blobs_erased) = self.judge_blobs();
        let mut faults = self.faults;
        faults.sort_by(|a, b| (&a.stream, a.seq).cmp(&(&b.stream, b.seq)));
        let heads: Vec<Head> = self.streams.into_iter().map(|(stream, seen)| seen.head(stream)).collect();
        let streams = u64::try_from(heads.len()).unwrap_or(u64::MAX);
        Report { entries: self.entries, streams, blobs_checked, blobs_erased, heads, faults }
    }

    /// Checks that the entry stands behind the one before it.
    fn place(&mut self, entry: &Entry) {
        let seen = self
            .streams
            .entry(entry.stream.clone())
            .or_insert_with(|| Seen { genesis: Head::genesis(entry.stream.clone()).hash, hashes: vec![] });
        let (last, hash) = seen.last();
        let fault = if entry.seq <= last {
            Some((entry.seq, format!("the entry comes after entry {last}: entries were reordered, or one stands twice")))
        } else if entry.seq > last + 1 {
            Some((last + 1, format!("missing: entry {} follows entry {last}", entry.seq)))
        } else if entry.prev != hash {
            Some((entry.seq, "the entry does not continue the one before it: one of the two was changed or replaced".to_owned()))
        } else {
            None
        };
        if entry.seq > last {
            // Its own word for its hash, not ours: then one changed entry is one fault, and not one for all that follow.
            seen.hashes.push((entry.seq, entry.hash));
        }
        if let Some((seq, what)) = fault {
            self.fault(&entry.stream, seq, what);
        }
    }

    /// Takes down what a stream's first entry says about the streams before it.
    fn beginning(&mut self, entry: &Entry) {
        if entry.kind != STREAM_BEGAN {
            self.fault(&entry.stream, entry.seq, format!("the stream's first entry is not of kind {STREAM_BEGAN}"));
            return;
        }
        let heads = entry.facts.get("heads").and_then(Value::as_array);
        let heads: Option<Vec<Head>> = heads.and_then(|list| list.iter().map(|head| Head::parse(head.as_str()?)).collect());
        let Some(heads) = heads else {
            self.fault(&entry.stream, entry.seq, "the stream's first entry does not list the heads of the streams before it");
            return;
        };
        for head in heads {
            self.claims.entry(head).or_insert_with(|| format!("the first entry of {}", entry.stream));
        }
    }

    /// Where and how a stream contradicts a head that somebody vouches for.
    fn contradiction(&self, head: &Head, witness: &str) -> Option<(u64, String)> {
        let seen = self.streams.get(&head.stream);
        let last = seen.map_or(0, |seen| seen.last().0);
        if head.seq > last {
            let what =
                if last == 0 { "the whole stream is missing".to_owned() } else { format!("missing: the stream ends at entry {last}") };
            return Some((last + 1, format!("{what}, but {witness} says that it had reached entry {}", head.seq)));
        }
        let hash = match seen {
            Some(seen) => seen.hash(head.seq),
            None => Some(Head::genesis(head.stream.clone()).hash),
        };
        match hash {
            Some(hash) if hash == head.hash => None,
            Some(_) => Some((head.seq, format!("the entry's hash is not the one that {witness} gives: the stream was rewritten"))),
            None => Some((head.seq, format!("missing, but {witness} names it"))),
        }
    }

    /// Judges every blob that was named; counts those checked and those erased.
    fn judge_blobs(&mut self) -> (u64, u64) {
        let (mut checked, mut erased) = (0, 0);
        for (digest, (stream, seq)) in std::mem::take(&mut self.named) {
            let what = match (self.found.get(&digest), self.erased.get(&digest)) {
                (Some(true), None) => {
                    checked += 1;
                    continue;
                }
                (None, Some(_)) => {
                    erased += 1;
                    continue;
                }
                (Some(true), Some((by, at))) => format!("blob {digest} is still there, though entry {at} of {by} says that it was erased"),
                (Some(false), _) => format!("blob {digest} does not give its digest: its bytes or its nonce were changed"),
                (None, None) => format!("blob {digest} is missing, and no entry says that it was erased"),
            };
            self.fault(&stream, seq, what);
        }
        (checked, erased)
    }

    fn fault(&mut self, stream: &StreamId, seq: u64, what: impl Into<String>) {
        self.faults.push(Fault { stream: stream.clone(), seq, what: what.into() });
    }
}

impl Seen {
    fn last(&self) -> (u64, Digest) {
        self.hashes.last().copied().unwrap_or((0, self.genesis))
    }

    fn hash(&self, seq: u64) -> Option<Digest> {
        if seq == 0 {
            return Some(self.genesis);
        }
        let index = self.hashes.binary_search_by_key(&seq, |(at, _)| *at).ok()?;
        self.hashes.get(index).map(|(_, hash)| *hash)
    }

    fn head(self, stream: StreamId) -> Head {
        let (seq, hash) = self.last();
        Head { stream, seq, hash }
    }
}
