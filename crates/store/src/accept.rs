//! What an arrival becomes: the verdict on each item, as records and journal entries. Pure, and the same for every engine,
//! which only looks up what is known and writes down what comes out.

use domain::digest::Digest;
use domain::enquiry::{Enquiry, Flags, Qualifying, Standing};
use domain::identity::{Basis, Candidate, Judgement, Key, Known, judge};
use domain::ids::{DeliveryId, EnquiryId, ReviewId, RunId};
use domain::planted::{self, Bug};
use domain::time::UtcMs;
use evidence::{Draft, Facts};

use crate::error::Error;
use crate::model::{Arrival, Delivery, Item, Proposal, Review, ReviewKind, Verdict};

/// How many bodies one pruning drops.
pub(crate) const PRUNE_MAX: u32 = 500;

/// What one item changes in the book.
#[derive(Debug)]
pub(crate) struct Entered {
    pub(crate) delivery: Delivery,
    /// A new enquiry, if it is one.
    pub(crate) enquiry: Option<Enquiry>,
    pub(crate) review: Option<Review>,
    pub(crate) entries: Vec<Draft>,
}

/// What an engine looks up for a proposal, inside its transaction.
pub(crate) struct Before {
    /// Every variant of every key of the candidate.
    pub(crate) known: Vec<Enquiry>,
    /// The latest enquiry of the source with an equal look-alike digest.
    pub(crate) recent: Option<Enquiry>,
}

/// What the judge needs of an enquiry.
pub(crate) fn known(enquiry: &Enquiry) -> Known {
    Known { enquiry: enquiry.id.clone(), key: enquiry.key.clone(), contents: enquiry.contents.clone(), accepted_at: enquiry.accepted_at }
}

/// A weak suppression as it stands once it was undone; `None` if it is none, or was undone before.
pub(crate) fn undone(delivery: &Delivery, arrival: &Arrival) -> Option<Delivery> {
    let by = arrival.by.as_deref().unwrap_or("intake");
    let reason = Some(format!("the suppression was undone by {by}: see {}", arrival.delivery.id));
    (delivery.weak && delivery.duplicate_suppressed).then(|| Delivery { weak: false, reason, ..delivery.clone() })
}

/// Why an arrival that undoes a suppression is not entered.
pub(crate) const NOTHING_TO_UNDO: Error = Error::Conflict("the suppression was undone before");

/// Decides one item. `by`: the person who let it in.
pub(crate) fn enter(delivery: Delivery, item: Item, before: &Before, by: Option<&str>) -> Entered {
    let delivery = blank(delivery);
    match item {
        Item::Enquiry(proposal) => enter_proposal(delivery, *proposal, before, by),
        Item::Aside { verdict, reason } => {
            let delivery = Delivery { verdict, reason: Some(reason), ..delivery };
            let entries = vec![received(&delivery, by, Facts::new())];
            Entered { delivery, enquiry: None, review: None, entries }
        }
    }
}

/// What follows from the verdict is ours to fill: a delivery that is let in again still carries the old one's.
fn blank(delivery: Delivery) -> Delivery {
    Delivery {
        reason: None,
        enquiry: None,
        key: None,
        duplicate_suppressed: false,
        weak: false,
        first_run: None,
        first_delivery: None,
        first_at: None,
        ..delivery
    }
}

fn enter_proposal(delivery: Delivery, proposal: Proposal, before: &Before, by: Option<&str>) -> Entered {
    let all: Vec<Known> = before.known.iter().map(known).collect();
    let recent = before.recent.as_ref().map(known);
    let judgement = judge(&proposal.candidate, &all, recent.as_ref());
    match judgement {
        Judgement::Redelivery { of, weak } if !proposal.separate => redelivered(delivery, &of.enquiry, weak, before, by),
        Judgement::Conflict { with, key } if !proposal.separate => {
            let flags = Flags { conflict_with: Some(with.enquiry), ..Flags::default() };
            fresh(delivery, proposal, key, flags, Verdict::Conflict, by)
        }
        Judgement::New { key, look_alike_of } if !proposal.separate || look_alike_of.is_none() => {
            let verdict = if look_alike_of.is_some() { Verdict::LookAlike } else { Verdict::Accepted };
            let key = under_current_rule(key, &proposal.candidate);
            fresh(delivery, proposal, key, Flags { look_alike_of, ..Flags::default() }, verdict, by)
        }
        // A person has said that it is another enquiry: whatever it would have been suppressed or held for no longer counts.
        Judgement::Redelivery { of: Known { enquiry, key, .. }, .. }
        | Judgement::Conflict { with: Known { enquiry, .. }, key }
        | Judgement::New { key, look_alike_of: Some(enquiry) } => {
            let key = under_current_rule(next_variant(&key, &all), &proposal.candidate);
            fresh(delivery, proposal, key, Flags { separated_from: Some(enquiry), ..Flags::default() }, Verdict::Accepted, by)
        }
        Judgement::New { look_alike_of: None, .. } => unreachable!("taken above"),
    }
}

/// The key's identity under the first variant that is free.
fn next_variant(key: &Key, all: &[Known]) -> Key {
    let last = all.iter().filter(|k| k.key.base_digest() == key.base_digest()).map(|k| k.key.variant).max();
    key.with_variant(last.map_or(key.variant, |last| last + 1))
}

/// A new enquiry that was compared under an earlier rule is entered under the current one, where it is unknown: its next
/// delivery is looked up there first. Under an earlier rule's `content` key it would be new once more after the window (I2).
fn under_current_rule(key: Key, candidate: &Candidate) -> Key {
    let current = &candidate.keys[0];
    if key.base_digest() == current.base_digest() { key } else { current.clone() }
}

/// A known event again: nothing is carried out, and the record names the first.
fn redelivered(delivery: Delivery, of: &EnquiryId, weak: bool, before: &Before, by: Option<&str>) -> Entered {
    let Some(first) = before.known.iter().find(|e| e.id == *of) else { unreachable!("the judge names one of the enquiries it was given") };
    let delivery = Delivery {
        verdict: Verdict::Redelivery,
        enquiry: Some(first.id.clone()),
        key: Some(first.key.to_string()),
        duplicate_suppressed: true,
        weak,
        first_run: Some(first.first_run.clone()),
        first_delivery: Some(first.first_delivery.clone()),
        first_at: Some(first.accepted_at),
        ..delivery
    };
    let entries = vec![received(&delivery, by, Facts::new())];
    Entered { delivery, enquiry: None, review: None, entries }
}

fn fresh(delivery: Delivery, proposal: Proposal, key: Key, flags: Flags, verdict: Verdict, by: Option<&str>) -> Entered {
    let held = verdict == Verdict::Conflict && !planted::is(Bug::ConflictNotHeld);
    let weak = key.basis == Basis::Content;
    let enquiry = Enquiry {
        id: key.enquiry_id(),
        standing: if held { Standing::Held } else { Standing::Accepted },
        client: proposal.client,
        first_delivery: delivery.id.clone(),
        first_run: proposal.run.clone(),
        run: proposal.run,
        accepted_at: delivery.at,
        contents: proposal.candidate.contents.first().copied().into_iter().collect(),
        fields: Some(proposal.fields),
        flags: Flags {
            weak_key: weak,
            ambiguous_time: proposal.ambiguous_time,
            ambiguous: proposal.ambiguous,
            hold: proposal.hold_look_alikes && verdict == Verdict::LookAlike && !planted::is(Bug::LookAlikeNotHeld),
            ..flags
        },
        qualification: None,
        qualifying: Qualifying::default(),
        qualified_at: None,
        settled_at: None,
        key,
    };
    let delivery = Delivery {
        verdict,
        enquiry: Some(enquiry.id.clone()),
        key: Some(enquiry.key.to_string()),
        weak,
        first_run: Some(enquiry.first_run.clone()),
        ..delivery
    };
    let flags = &enquiry.flags;
    let links = Facts::new()
        .maybe("look_alike_of", flags.look_alike_of.as_ref().map(EnquiryId::as_str))
        .maybe("conflict_with", flags.conflict_with.as_ref().map(EnquiryId::as_str))
        .maybe("separated_from", flags.separated_from.as_ref().map(EnquiryId::as_str));
    let mut entries = vec![received(&delivery, by, links)];
    entries[0].blobs.extend(files(&enquiry));
    entries.extend(proposal.notes.iter().map(|note| {
        let facts = Facts::new().with("field", note.field.as_str()).with("how", note.how.as_str());
        draft(&delivery, Some(enquiry.id.clone()), "enquiry.normalised", "intake", facts)
    }));
    let review = held.then(|| conflict_review(&delivery, &enquiry));
    if let Some(review) = &review {
        let facts = Facts::new().with("review", review.id.as_str()).with("kind", review.kind.as_str()).with("holds", true);
        entries.push(draft(&delivery, Some(enquiry.id.clone()), "review.opened", "intake", facts));
    }
    Entered { delivery, enquiry: Some(enquiry), review, entries }
}

/// The blobs of the files that came with an enquiry.
pub(crate) fn files(enquiry: &Enquiry) -> impl Iterator<Item = Digest> + '_ {
    enquiry.fields.iter().flat_map(|fields| &fields.attachments).filter_map(|attachment| attachment.blob)
}

/// One delivery has at most one conflict an enquiry, so the item's id can follow from the enquiry's key.
fn conflict_review(delivery: &Delivery, enquiry: &Enquiry) -> Review {
    Review {
        id: ReviewId::of(&enquiry.key.digest()),
        enquiry: enquiry.id.clone(),
        effect: None,
        kind: ReviewKind::Conflict,
        holds: true,
        why: "other content came under a key that is already entered: is it the same enquiry, or a separate one?".to_owned(),
        attempt: 0,
        opened_at: delivery.at,
        closed_at: None,
        decision: None,
    }
}

/// The entry about the arrival of one item; `links` names the enquiry that it was told apart from.
fn received(delivery: &Delivery, by: Option<&str>, links: Facts) -> Draft {
    let facts = links
        .with("delivery", delivery.id.as_str())
        .with("item", delivery.item)
        .with("source", delivery.source.as_str())
        .with("verdict", delivery.verdict.as_str())
        .with("header_digest", delivery.header_digest.to_string())
        .maybe("request_id", delivery.request_id.as_deref())
        .maybe("attempt", delivery.attempt.as_deref())
        .maybe("reason", delivery.reason.as_deref())
        .maybe("key", delivery.key.as_deref())
        .maybe("first_run", delivery.first_run.as_ref().map(RunId::as_str));
    let repairs: serde_json::Map<_, _> = delivery.repairs.iter().map(|(kind, count)| (kind.clone(), (*count).into())).collect();
    let facts = facts.maybe("repairs", (!repairs.is_empty()).then_some(repairs));
    let facts = if delivery.duplicate_suppressed {
        facts
            .with("duplicate_suppressed", true)
            .with("weak", delivery.weak)
            .with("attempted_at", delivery.at.rfc3339())
            .maybe("first_delivery", delivery.first_delivery.as_ref().map(DeliveryId::as_str))
            .maybe("first_at", delivery.first_at.map(UtcMs::rfc3339))
    } else {
        facts
    };
    let mut draft = draft(delivery, delivery.enquiry.clone(), "delivery.received", by.unwrap_or("intake"), facts);
    draft.blobs = vec![delivery.body];
    draft
}

fn draft(delivery: &Delivery, enquiry: Option<EnquiryId>, kind: &str, actor: &str, facts: Facts) -> Draft {
    Draft { at: delivery.at, enquiry, kind: kind.to_owned(), actor: actor.to_owned(), facts, blobs: Vec::new() }
}

/// The entry that makes the absence of pruned bodies legitimate.
pub(crate) fn pruned(now: UtcMs, digests: Vec<Digest>) -> Draft {
    Draft::blob_erased(now, "retention", "older than the retention allows", digests)
}
