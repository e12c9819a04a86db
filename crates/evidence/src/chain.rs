//! The chain: how an entry's hash is made, and heads, the short texts by which a stream's whole past can be held to.
//!
//! An entry's hash is SHA-256 over these parts, each behind its length (64 bits, big-endian): the label
//! `oncebook.entry.v1`, stream, seq and at (64 bits, big-endian, `at` in milliseconds), enquiry (empty for none), kind,
//! actor, canonical facts, each blob's digest, prev. Changing this list takes a new label; a golden test guards it.

use std::fmt;

use domain::digest::Digest;
use domain::ids::StreamId;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::entry::{Draft, Entry};

const ENTRY_LABEL: &[u8] = b"oncebook.entry.v1";
const STREAM_LABEL: &[u8] = b"oncebook.stream.v1";

/// Where a stream stands: its last entry's place and hash. Kept elsewhere, it pins every entry up to there.
///
/// The text form is `STREAM:SEQ:HASH`, also in JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Head {
    /// The stream.
    pub stream: StreamId,
    /// The last entry's place; 0 before the first.
    pub seq: u64,
    /// The last entry's hash.
    pub hash: Digest,
}

impl Head {
    /// Where a stream stands before its first entry.
    ///
    /// The hash comes from the stream's id, so no two streams share a start and no entry fits into another's stream.
    pub fn genesis(stream: StreamId) -> Self {
        let hash = Digest::of_parts([STREAM_LABEL, stream.as_str().as_bytes()]);
        Self { stream, seq: 0, hash }
    }

    /// Reads the text form; only the spelling that [`fmt::Display`] writes is taken.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.rsplitn(3, ':');
        let (hash, seq, stream) = (parts.next()?, parts.next()?, parts.next()?);
        let head = Self { stream: StreamId::parse(stream)?, seq: seq.parse().ok()?, hash: Digest::parse(hash)? };
        (head.to_string() == text).then_some(head)
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.stream, self.seq, self.hash)
    }
}

impl Serialize for Head {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).ok_or_else(|| D::Error::custom("not a head as STREAM:SEQ:HASH"))
    }
}

/// Gives a draft its place behind `head`, and the head that stands after it.
pub fn seal(head: &Head, draft: Draft) -> (Entry, Head) {
    let Draft { at, enquiry, kind, actor, facts, blobs } = draft;
    // Hashed last, over the entry itself: sealing and checking cannot drift apart.
    let mut entry = Entry {
        stream: head.stream.clone(),
        seq: head.seq + 1,
        at,
        enquiry,
        kind,
        actor,
        facts,
        blobs,
        prev: head.hash,
        hash: Digest::ZERO,
    };
    entry.hash = entry.computed_hash();
    let head = entry.head();
    (entry, head)
}

impl Entry {
    /// The hash that this entry's fields give; [`Entry::hash`] must be equal to it.
    pub fn computed_hash(&self) -> Digest {
        let (seq, at, facts) = (self.seq.to_be_bytes(), self.at.0.to_be_bytes(), self.facts.canonical());
        let mut parts: Vec<&[u8]> = vec![
            ENTRY_LABEL,
            self.stream.as_str().as_bytes(),
            &seq,
            &at,
            self.enquiry.as_ref().map_or(&[], |id| id.as_str().as_bytes()),
            self.kind.as_bytes(),
            self.actor.as_bytes(),
            &facts,
        ];
        parts.extend(self.blobs.iter().map(|blob| blob.as_bytes().as_slice()));
        parts.push(self.prev.as_bytes());
        Digest::of_parts(parts)
    }

    /// Where the stream stands with this entry as its last.
    pub fn head(&self) -> Head {
        Head { stream: self.stream.clone(), seq: self.seq, hash: self.hash }
    }
}

#[cfg(test)]
mod tests {
    use domain::ids::EnquiryId;
    use domain::time::UtcMs;
    use serde_json::json;

    use super::*;
    use crate::facts::Facts;

    fn stream(text: &str) -> StreamId {
        StreamId::parse(text).unwrap()
    }

    fn draft() -> Draft {
        Draft {
            at: UtcMs(1_772_442_904_120),
            enquiry: EnquiryId::parse("enq_golden"),
            kind: "delivery.received".to_owned(),
            actor: "intake".to_owned(),
            facts: Facts::new().with("verdict", "accepted").with("n", 3).with("map", json!({"b": [true], "a": "ü"})),
            blobs: vec![Digest::sha256(b"one"), Digest::sha256(b"two")],
        }
    }

    /// Computed outside this program as well, from the list that opens this file. If it fails, existing journals would
    /// no longer verify.
    #[test]
    fn i11_the_encoding_stays_what_it_was() {
        let genesis = Head::genesis(stream("str_golden"));
        assert_eq!(genesis.hash.to_string(), "78693198be5c195bb96b3ef1bfd426cfda4184cb17261d241f7f4793443a5688");
        let (entry, _) = seal(&genesis, draft());
        assert_eq!(entry.hash.to_string(), "4d39115c44ce12a960cd4b6b5c67d3a7862dcc0539ea630bec921c20d064fa21");
    }

    #[test]
    fn entries_follow_one_another() {
        let (first, head) = seal(&Head::genesis(stream("str_a")), draft());
        let (second, last) = seal(&head, draft());
        assert_eq!((first.seq, second.seq, last.seq), (1, 2, 2));
        assert_eq!((second.prev, last.hash), (first.hash, second.hash));
        assert_ne!(first.hash, second.hash);
    }

    #[test]
    fn no_two_streams_share_a_start() {
        let (a, b) = (Head::genesis(stream("str_a")), Head::genesis(stream("str_b")));
        assert_ne!(a.hash, b.hash);
        assert_ne!(a.hash, Digest::ZERO);
    }

    #[test]
    fn a_head_reads_back_from_its_text_and_from_nothing_else() {
        let head = Head { stream: stream("str_a"), seq: 12, hash: Digest::sha256(b"x") };
        let text = head.to_string();
        assert_eq!(Head::parse(&text), Some(head.clone()));
        assert_eq!(serde_json::from_str::<Head>(&serde_json::to_string(&head).unwrap()).unwrap(), head);
        for wrong in
            ["", "str_a", "str_a:12", &text.replace(":12:", ":012:"), &text.replace(":12:", ":+12:"), &text.replace("str_", "enq_")]
        {
            assert_eq!(Head::parse(wrong), None, "{wrong}");
        }
    }
}
