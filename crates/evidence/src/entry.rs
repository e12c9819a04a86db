//! Entries: one thing that happened, before ([`Draft`]) and after ([`Entry`]) it got its place in the chain.
//!
//! The kinds that the chain itself relies on are named here; all others belong to whoever writes them.

use domain::digest::Digest;
use domain::ids::{EnquiryId, StreamId};
use domain::time::UtcMs;
use serde::{Deserialize, Serialize};

use crate::chain::Head;
use crate::facts::Facts;

/// The kind of every stream's first entry. Its fact `heads` lists the head of every earlier stream, as text.
pub const STREAM_BEGAN: &str = "stream.began";

/// The kind of an entry that records an erasure. Its blobs are the erased ones, its fact `why` is the reason.
pub const BLOB_ERASED: &str = "blob.erased";

/// What is to be entered, without its place in the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// When it happened.
    pub at: UtcMs,
    /// The enquiry it is about, if it is about one.
    pub enquiry: Option<EnquiryId>,
    /// What happened: `effect.intended`, `delivery.received`.
    pub kind: String,
    /// Who did it: a part of the engine, a person, a token. A name within the book, never an address.
    pub actor: String,
    /// What there is to say about it, without personal data and secrets.
    pub facts: Facts,
    /// The blobs it speaks of.
    pub blobs: Vec<Digest>,
}

impl Draft {
    /// The first entry of a stream: `heads` are those of all streams there are at this moment.
    pub fn stream_began<'a>(at: UtcMs, actor: impl Into<String>, heads: impl IntoIterator<Item = &'a Head>) -> Self {
        let heads: Vec<String> = heads.into_iter().map(ToString::to_string).collect();
        let facts = Facts::new().with("heads", heads);
        Self { at, enquiry: None, kind: STREAM_BEGAN.to_owned(), actor: actor.into(), facts, blobs: vec![] }
    }

    /// The record that makes the absence of these blobs legitimate; it belongs into the transaction that erases them.
    pub fn blob_erased(at: UtcMs, actor: impl Into<String>, why: impl Into<String>, blobs: Vec<Digest>) -> Self {
        let facts = Facts::new().with("why", why.into());
        Self { at, enquiry: None, kind: BLOB_ERASED.to_owned(), actor: actor.into(), facts, blobs }
    }
}

/// One link of the chain. As JSON a flat object, which reads back to an equal entry.
///
/// A field that the hash does not cover could be written in by anybody, so reading refuses fields it does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The stream it stands in.
    #[serde(deserialize_with = "id_text::stream")]
    pub stream: StreamId,
    /// Its place in the stream, from 1, without gaps.
    pub seq: u64,
    /// When it happened. In JSON RFC 3339, UTC, with milliseconds.
    #[serde(with = "at_text")]
    pub at: UtcMs,
    /// The enquiry it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "id_text::enquiry")]
    pub enquiry: Option<EnquiryId>,
    /// What happened.
    pub kind: String,
    /// Who did it.
    pub actor: String,
    /// What there is to say about it.
    pub facts: Facts,
    /// The blobs it speaks of.
    pub blobs: Vec<Digest>,
    /// The hash of the entry before it; the stream's genesis hash for the first.
    pub prev: Digest,
    /// The hash over all of the above.
    pub hash: Digest,
}

/// Instants as text. Only the form that we print is read: another spelling of an instant would pass the hash unnoticed.
mod at_text {
    use domain::time::UtcMs;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(at: &UtcMs, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&at.rfc3339())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UtcMs, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse(&text).filter(|at| at.rfc3339() == text).ok_or_else(|| D::Error::custom("not an instant as `2026-03-02T09:15:04.120Z`"))
    }

    /// An instant outside the calendar prints as a count of milliseconds.
    fn parse(text: &str) -> Option<UtcMs> {
        if let Some(count) = text.strip_suffix("ms") {
            return count.parse().ok().map(UtcMs);
        }
        text.parse::<jiff::Timestamp>().ok().map(|t| UtcMs(t.as_millisecond()))
    }
}

/// Ids from outside, held to their prefix: an empty enquiry id would hash like none at all.
mod id_text {
    use domain::ids::{EnquiryId, StreamId};
    use serde::{Deserialize, Deserializer, de::Error};

    pub(super) fn stream<'de, D: Deserializer<'de>>(deserializer: D) -> Result<StreamId, D::Error> {
        StreamId::parse(&String::deserialize(deserializer)?).ok_or_else(|| D::Error::custom("not a stream id"))
    }

    pub(super) fn enquiry<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EnquiryId>, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        EnquiryId::parse(&text).map(Some).ok_or_else(|| D::Error::custom("not an enquiry id"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::chain::seal;

    fn entry(at: UtcMs, enquiry: Option<&str>) -> Entry {
        let draft = Draft {
            at,
            enquiry: enquiry.and_then(EnquiryId::parse),
            kind: "delivery.received".to_owned(),
            actor: "intake".to_owned(),
            facts: Facts::new().with("verdict", "accepted").with("n", 3).with("more", json!({"list": [1, true, "x"]})),
            blobs: vec![Digest::sha256(b"blob")],
        };
        seal(&Head::genesis(StreamId::parse("str_a").unwrap()), draft).0
    }

    #[test]
    fn an_entry_reads_back_from_its_json() {
        for at in [0, 1, -1, 1_772_442_904_120, 1_772_442_904_000, -62_167_219_200_001, i64::MAX, i64::MIN].map(UtcMs) {
            for enquiry in [None, Some("enq_1")] {
                let entry = entry(at, enquiry);
                let text = serde_json::to_string(&entry).unwrap();
                assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry, "{text}");
            }
        }
    }

    #[test]
    fn the_json_is_flat_and_its_time_is_for_readers() {
        let value = serde_json::to_value(entry(UtcMs(1_772_442_904_120), None)).unwrap();
        assert_eq!(value["at"], "2026-03-02T09:15:04.120Z");
        let names: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, ["actor", "at", "blobs", "facts", "hash", "kind", "prev", "seq", "stream"]);
    }

    #[test]
    fn json_that_says_more_or_says_it_otherwise_is_refused() {
        let good = serde_json::to_value(entry(UtcMs(1_772_442_904_120), Some("enq_1"))).unwrap();
        let changes: [(&str, Value); 7] = [
            ("note", json!("written in later")),
            ("at", json!("2026-03-02T09:15:04.120999Z")),
            ("at", json!("2026-03-02T10:15:04.120+01:00")),
            ("at", json!("+5ms")),
            ("enquiry", json!("")),
            ("stream", json!("enq_1")),
            ("facts", json!({"rate": 0.5})),
        ];
        for (name, value) in changes {
            let mut other = good.clone();
            other[name] = value;
            assert!(serde_json::from_value::<Entry>(other.clone()).is_err(), "{other}");
        }
    }
}
