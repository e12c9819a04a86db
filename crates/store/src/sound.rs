//! What must be true of everything that is handed to an engine.
//!
//! A breach is a mistake of our own code, so it is an assertion, and it is made on the caller's side of the contract: the
//! caller's task stops, and neither the writer nor anybody else's work does.

use std::collections::BTreeSet;

use domain::digest::Digest;
use domain::gate::{Effect, Phase};
use domain::time::UtcMs;
use evidence::Blob;

use crate::model::{Arrival, Item, Step, Verdict};

/// An arrival says something, and names the body that it brings. The digests of its files, in order: a file may be large, and
/// is looked through once.
pub(crate) fn arrival(arrival: &Arrival) -> Vec<Digest> {
    assert!(!arrival.items.is_empty(), "I1: an arrival without an item would leave no record of its delivery");
    assert!(arrival.delivery.body == arrival.body.digest(), "I11: a delivery names the blob of its own body");
    let digests: Vec<Digest> = arrival.files.iter().map(Blob::digest).collect();
    let mut unnamed: BTreeSet<Digest> = digests.iter().copied().collect();
    let came = unnamed.clone();
    for item in &arrival.items {
        let named: BTreeSet<Digest> = files(item).into_iter().collect();
        assert!(named.is_subset(&came), "I11: an attachment names a blob that came with it");
        assert!(named.iter().all(|file| unnamed.remove(file)), "I12: a file is one item's, with which it ages and is erased");
    }
    for item in &arrival.items {
        match item {
            Item::Enquiry(proposal) => assert!(!proposal.candidate.keys.is_empty(), "an enquiry has at least its current key"),
            Item::Aside { verdict, .. } => {
                let known = matches!(verdict, Verdict::Quarantined | Verdict::Test | Verdict::Ignored);
                assert!(known, "an item set aside is quarantined, a test or ignored");
            }
        }
    }
    digests
}

/// The blobs that an item's attachments name.
fn files(item: &Item) -> Vec<Digest> {
    match item {
        Item::Enquiry(proposal) => proposal.fields.attachments.iter().filter_map(|attachment| attachment.blob).collect(),
        Item::Aside { .. } => Vec::new(),
    }
}

/// No intent is made but under a lease; and who knows more of an effect that another one is at leaves that one the lease.
pub(crate) fn step(step: &Step) {
    for change in &step.effects {
        let leased = if change.version.is_some() { change.fence.is_some() || change.keep_lease } else { change.take_until.is_some() };
        assert!(leased || !is_intended(&change.effect), "I5: an intent is made under a lease");
    }
}

/// A lease that ends before it begins would be handed out twice.
pub(crate) fn lease(now: UtcMs, until: UtcMs) {
    assert!(now < until, "a lease ends after it begins");
}

fn is_intended(effect: &Effect) -> bool {
    effect.steps.iter().any(|step| step.phase == Phase::Intended)
}
