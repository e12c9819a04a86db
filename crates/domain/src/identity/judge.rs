//! The verdict on one delivery: what the book knows of its keys, against what it brings.
//!
//! Called inside the store's transaction, so that of any number of deliveries of one event exactly one is the first (I2).

use serde::{Deserialize, Serialize};

use super::key::{Basis, Key};
use crate::digest::Digest;
use crate::ids::EnquiryId;
use crate::planted::{self, Bug};
use crate::time::UtcMs;

/// What a delivery brings to the comparison.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its key under the current rule, then under every earlier version (I8). Never empty.
    pub keys: Vec<Key>,
    /// Keyed digests of its content, volatile places left out: under the current rule, then under each earlier version,
    /// since what is volatile belongs to the rule. Never empty.
    pub contents: Vec<Digest>,
    /// Keyed digest of its mapped fields, id and time aside; `None` where no message is mapped (no look-alikes then).
    pub look_alike: Option<Digest>,
    /// When it arrived.
    pub at: UtcMs,
    /// How long a copy under a `content` key counts as the same event, in ms from the first.
    pub content_window_ms: i64,
    /// How long after an enquiry another one with equal fields is called its look-alike, in ms.
    pub look_alike_window_ms: i64,
}

/// An enquiry that the book has under one of the candidate's keys, or with its look-alike digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Its id.
    pub enquiry: EnquiryId,
    /// Its key, variant included.
    pub key: Key,
    /// Content it was accepted with, and content that a person called a revision of it.
    pub contents: Vec<Digest>,
    /// When it was accepted.
    pub accepted_at: UtcMs,
}

/// What a delivery turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// A key never seen: a new enquiry, perhaps the look-alike of a recent one.
    New {
        /// The key it is entered under.
        key: Key,
        /// The recent enquiry whose mapped fields it repeats.
        look_alike_of: Option<EnquiryId>,
    },
    /// A known event again, with the same content: nothing new to do.
    Redelivery {
        /// The enquiry it belongs to.
        of: Known,
        /// The key rests on content alone, so this may be a second, equal enquiry: flagged, and a person can undo it.
        weak: bool,
    },
    /// A known key with other content: entered as a held enquiry under the next variant (I4).
    Conflict {
        /// The enquiry that has the key.
        with: Known,
        /// The variant that the other content is entered under.
        key: Key,
    },
}

/// Judges a delivery. `known` are all variants of all its keys; `recent` the latest enquiry of its source with an equal
/// look-alike digest, whenever that was accepted.
pub fn judge(candidate: &Candidate, known: &[Known], recent: Option<&Known>) -> Judgement {
    assert!(!candidate.keys.is_empty(), "a candidate has at least its current key");
    let looked_under = if planted::is(Bug::EarlierRulesForgotten) { 1 } else { candidate.keys.len() };
    for key in &candidate.keys[..looked_under] {
        let base = key.base_digest();
        let mut variants: Vec<&Known> = known.iter().filter(|k| k.key.base_digest() == base).collect();
        variants.sort_by_key(|k| k.key.variant);
        let (Some(first), Some(last)) = (variants.first(), variants.last()) else { continue };
        if key.basis == Basis::Content {
            return judge_content(candidate, key, last);
        }
        let same =
            |k: &&&Known| planted::is(Bug::ContentNotCompared) || candidate.contents.iter().any(|content| k.contents.contains(content));
        return match variants.iter().find(same) {
            Some(&of) => Judgement::Redelivery { of: of.clone(), weak: false },
            None => Judgement::Conflict { with: (*first).clone(), key: key.with_variant(last.key.variant + 1) },
        };
    }
    if let Some(of) = recent.filter(|_| planted::is(Bug::LookAlikeSuppressed)) {
        return Judgement::Redelivery { of: of.clone(), weak: false };
    }
    let look_alike_of = recent
        .filter(|k| candidate.look_alike.is_some() && candidate.at.since(k.accepted_at) <= candidate.look_alike_window_ms)
        .map(|k| k.enquiry.clone());
    Judgement::New { key: candidate.keys[0].clone(), look_alike_of }
}

/// Equal content under a `content` key: a copy inside the window, a look-alike after it.
fn judge_content(candidate: &Candidate, key: &Key, last: &Known) -> Judgement {
    if candidate.at.since(last.accepted_at) <= candidate.content_window_ms {
        Judgement::Redelivery { of: last.clone(), weak: true }
    } else {
        Judgement::New { key: key.with_variant(last.key.variant + 1), look_alike_of: Some(last.enquiry.clone()) }
    }
}

#[cfg(test)]
mod tests;
