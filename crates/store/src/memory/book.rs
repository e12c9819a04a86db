//! The oracle's book: everything that is kept, and the verbs that enter arrivals, hand out work and drop bodies.
//!
//! Each verb looks first and changes afterwards, so that one that fails has changed nothing.

use std::collections::{BTreeMap, BTreeSet};

use domain::digest::Digest;
use domain::enquiry::{Enquiry, Standing};
use domain::gate::{Away, Effect};
use domain::ids::{DeliveryId, EffectId, EnquiryId, StreamId};
use domain::time::UtcMs;
use evidence::{Blob, Draft, Entry, Head, seal};

use super::table::{Desk, Table, Work};
use crate::accept::{self, Before, PRUNE_MAX};
use crate::error::Error;
use crate::model::{Arrival, Delivery, Item, Lease, Leases, Proposal, Receipt, Review, RuleVersion, TargetState, Verdict};

/// What the journal says of a book that is kept in memory, where others name their program.
pub(super) const PROGRAM: &str = "memory";

/// A blob as it is kept.
pub(super) struct Kept {
    pub(super) blob: Blob,
    /// It is found by its digest alone.
    pub(super) alone: bool,
    pub(super) enquiry: Option<EnquiryId>,
    pub(super) at: UtcMs,
    /// The order it came in.
    pub(super) n: u64,
    /// The deliveries that brought it, in their order, where it is found by its digest alone.
    pub(super) arrivals: Vec<DeliveryId>,
}

/// Everything that is kept.
#[derive(Default)]
pub(super) struct Book {
    /// The streams in the order they began; the journal's places count them from 1.
    pub(super) streams: Vec<StreamId>,
    pub(super) head: Option<Head>,
    pub(super) journal: BTreeMap<(i64, u64), Entry>,
    pub(super) journal_of: BTreeMap<EnquiryId, Vec<(i64, u64)>>,
    pub(super) blobs: BTreeMap<Digest, Kept>,
    blobs_ever: u64,
    pub(super) deliveries: Table<Delivery>,
    pub(super) enquiries: Desk<Enquiry>,
    look_alikes: BTreeMap<(String, Digest), EnquiryId>,
    pub(super) effects: Desk<Effect>,
    pub(super) locks: BTreeMap<String, EffectId>,
    pub(super) reviews: Table<Review>,
    pub(super) rules: BTreeMap<String, Vec<RuleVersion>>,
    pub(super) targets: BTreeMap<String, TargetState>,
    pub(super) away: BTreeMap<String, Away>,
    pub(super) kept: BTreeMap<String, String>,
    /// Oldest first.
    pub(super) refused: Vec<(Delivery, Blob)>,
}

impl Book {
    /// Begins the stream of a process start.
    pub(super) fn begin(&mut self, now: UtcMs, stream: StreamId) {
        assert!(!self.streams.contains(&stream), "every process start has a name of its own");
        self.enquiries.end_leases();
        self.effects.end_leases();
        let draft = Draft::stream_began(now, "engine", self.head.as_ref());
        self.streams.push(stream.clone());
        self.head = Some(Head::genesis(stream));
        self.append(Draft { facts: draft.facts.with("program", PROGRAM), ..draft });
    }

    pub(super) fn append(&mut self, draft: Draft) {
        let Some(head) = &self.head else { unreachable!("a book has begun its stream before anything else") };
        let (entry, next) = seal(head, draft);
        let place = (i64::try_from(self.streams.len()).unwrap_or(i64::MAX), entry.seq);
        if let Some(enquiry) = &entry.enquiry {
            self.journal_of.entry(enquiry.clone()).or_default().push(place);
        }
        assert!(self.journal.last_key_value().is_none_or(|(last, _)| *last < place), "the journal only grows at its end");
        self.journal.insert(place, entry);
        self.head = Some(next);
    }

    pub(super) fn accept(&mut self, arrival: Arrival, files: &[Digest]) -> Result<Receipt, Error> {
        if self.deliveries.get(&item_id(arrival.delivery.id.as_str(), 0)).is_some() {
            return Err(Error::EXISTS);
        }
        if let Some(id) = &arrival.undoes {
            self.undo(id, &arrival)?;
        }
        let mut items = Vec::with_capacity(arrival.items.len());
        let (mut owner, mut taken, mut owners) = (None, Vec::new(), BTreeMap::new());
        for (n, item) in (0_u32..).zip(arrival.items) {
            let (before, look_alike) = match &item {
                Item::Enquiry(proposal) => (self.before(&arrival.delivery.source, proposal), proposal.candidate.look_alike),
                Item::Aside { .. } => (Before { known: Vec::new(), recent: None }, None),
            };
            let delivery = Delivery { item: n, ..arrival.delivery.clone() };
            let entered = accept::enter(delivery, item, &before, arrival.by.as_deref());
            if let Some(enquiry) = entered.enquiry {
                let taken_until = arrival.take_until.filter(|_| enquiry.standing == Standing::Accepted);
                taken.extend(taken_until.map(|_| Lease { what: enquiry.clone(), fence: 1, version: 1 }));
                owners.extend(accept::files(&enquiry).map(|file| (file, enquiry.id.clone())));
                self.insert_enquiry(enquiry, look_alike, taken_until);
            }
            owner = owner.or_else(|| entered.delivery.enquiry.clone());
            let id = item_id(entered.delivery.id.as_str(), n);
            self.deliveries.insert(id, entered.delivery.enquiry.as_ref(), entered.delivery.clone());
            if let Some(review) = entered.review {
                self.reviews.insert(review.id.as_str().to_owned(), Some(&review.enquiry.clone()), review);
            }
            entered.entries.into_iter().for_each(|draft| self.append(draft));
            items.push(entered.delivery);
        }
        let alone = items.len() > 1 || owner.is_none();
        let (body, at) = (arrival.delivery.body, arrival.delivery.at);
        if let Some(kept) = self.put_blob((body, arrival.body), owner.as_ref(), alone, at) {
            kept.arrivals.push(arrival.delivery.id);
        }
        for (file, digest) in arrival.files.into_iter().zip(files) {
            if let Some(of) = owners.get(digest) {
                self.put_blob((*digest, file), Some(of), false, at);
            }
        }
        Ok(Receipt { items, taken })
    }

    /// Marks a weak suppression as undone, which it can be once.
    fn undo(&mut self, id: &DeliveryId, arrival: &Arrival) -> Result<(), Error> {
        let kept = self.deliveries.iter().map(|(_, delivery)| delivery).filter(|delivery| delivery.id == *id);
        let undone: Vec<Delivery> = kept.filter_map(|delivery| accept::undone(delivery, arrival)).collect();
        if undone.is_empty() {
            return Err(accept::NOTHING_TO_UNDO);
        }
        for delivery in undone {
            if let Some(row) = self.deliveries.get_mut(&item_id(id.as_str(), delivery.item)) {
                *row = delivery;
            }
        }
        Ok(())
    }

    fn before(&self, source: &str, proposal: &Proposal) -> Before {
        let mut known = Vec::new();
        for key in &proposal.candidate.keys {
            let variants = (1..).map(|variant| self.enquiries.table.get(key.with_variant(variant).enquiry_id().as_str()));
            known.extend(variants.map_while(|work| work.map(|work| work.what.clone())));
        }
        let recent = proposal.candidate.look_alike.and_then(|digest| self.look_alikes.get(&(source.to_owned(), digest)));
        let recent = recent.and_then(|id| self.enquiries.table.get(id.as_str())).map(|work| work.what.clone());
        Before { known, recent }
    }

    fn insert_enquiry(&mut self, enquiry: Enquiry, look_alike: Option<Digest>, taken_until: Option<UtcMs>) {
        assert!(enquiry.id == enquiry.key.enquiry_id(), "I2: an enquiry's id follows from its key");
        if let Some(digest) = look_alike {
            self.look_alikes.insert((enquiry.key.source.clone(), digest), enquiry.id.clone());
        }
        let due = (enquiry.standing == Standing::Accepted).then_some(enquiry.accepted_at);
        let id = enquiry.id.clone();
        self.enquiries.insert(id.as_str(), &id, Work::new(enquiry, due).taken(taken_until));
    }

    /// Whether the enquiry is in the book: what belongs to it is filed under it.
    pub(super) fn find(&self, id: &EnquiryId) -> Result<(), Error> {
        self.enquiries.table.get(id.as_str()).map(|_| ()).ok_or_else(|| Error::no_such_enquiry(id))
    }

    /// Keeps a blob; as it is kept, if it is found by its digest alone.
    pub(super) fn put_blob(
        &mut self,
        (digest, blob): (Digest, Blob),
        enquiry: Option<&EnquiryId>,
        alone: bool,
        at: UtcMs,
    ) -> Option<&mut Kept> {
        let n = self.blobs_ever;
        self.blobs_ever += 1;
        let kept = self.blobs.entry(digest).or_insert_with(|| Kept { blob, alone, enquiry: None, at, n, arrivals: Vec::new() });
        kept.enquiry = kept.enquiry.take().or_else(|| enquiry.cloned());
        kept.alone.then_some(kept)
    }

    pub(super) fn refuse(&mut self, delivery: Delivery, body: Blob, keep: u32, oldest: UtcMs) -> Result<(), Error> {
        if self.refused.iter().any(|(other, _)| other.id == delivery.id) {
            return Err(Error::EXISTS);
        }
        let source = delivery.source.clone();
        self.refused.push((Delivery { verdict: Verdict::Refused, ..delivery }, body));
        self.refused.retain(|(delivery, _)| delivery.at >= oldest);
        let of_source = self.refused.iter().filter(|(delivery, _)| delivery.source == source).count();
        let mut surplus = of_source.saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX));
        self.refused.retain(|(delivery, _)| {
            let drops = delivery.source == source && surplus > 0;
            surplus -= usize::from(drops);
            !drops
        });
        Ok(())
    }

    pub(super) fn lease(&mut self, now: UtcMs, until: UtcMs, limit: usize, rooms: &BTreeMap<String, usize>) -> Leases {
        let targets = &self.targets;
        // Asked of each due effect in order: of a target with a room, so many go.
        let goes = |left: &mut BTreeMap<String, usize>, effect: &Effect| {
            let is_open = targets.get(&effect.target).is_none_or(|target| target.paused.is_none());
            match left.get_mut(&effect.target) {
                Some(room) if is_open => {
                    let may = *room > 0;
                    *room = room.saturating_sub(1);
                    may
                }
                Some(_) | None => is_open,
            }
        };
        let enquiries = self.enquiries.ready(now, limit, |_| true).into_iter().map(|due| (due, false));
        let mut left = rooms.clone();
        let effects = self.effects.ready(now, limit, |effect| goes(&mut left, effect)).into_iter().map(|due| (due, true));
        let mut oldest: Vec<(UtcMs, bool)> = enquiries.chain(effects).collect();
        oldest.sort();
        oldest.truncate(limit);
        let effects = oldest.iter().filter(|(_, is_effect)| *is_effect).count();
        let enquiries = self.enquiries.take(now, until, oldest.len() - effects, |_| true);
        let mut left = rooms.clone();
        let effects = self.effects.take(now, until, effects, |effect| goes(&mut left, effect));
        let next_due = self.enquiries.next_due(now).into_iter().chain(self.effects.next_due(now)).min();
        Leases { enquiries, effects, next_due }
    }

    pub(super) fn adopt_rule(&mut self, source: &str, rule: String, draft: Draft) {
        let versions = self.rules.entry(source.to_owned()).or_default();
        let version = versions.last().map_or(1, |last| last.version + 1);
        versions.push(RuleVersion { version, rule, accepted_at: draft.at });
        self.append(draft);
    }

    pub(super) fn prune(&mut self, before: UtcMs, now: UtcMs) -> u64 {
        let droppable = |(_, kept): &(&Digest, &Kept)| kept.at < before && self.is_settled(kept) && !self.is_needed(kept);
        let mut old: Vec<(u64, Digest)> = self.blobs.iter().filter(droppable).map(|(digest, kept)| (kept.n, *digest)).collect();
        old.sort_unstable();
        old.truncate(usize::try_from(PRUNE_MAX).unwrap_or(usize::MAX));
        let digests: BTreeSet<Digest> = old.into_iter().map(|(_, digest)| digest).collect();
        if digests.is_empty() {
            return 0;
        }
        self.blobs.retain(|digest, _| !digests.contains(digest));
        let count = u64::try_from(digests.len()).unwrap_or(u64::MAX);
        self.append(accept::pruned(now, digests.into_iter().collect()));
        count
    }

    fn is_settled(&self, kept: &Kept) -> bool {
        kept.enquiry.as_ref().is_some_and(|owner| !self.is_open(owner))
    }

    fn is_open(&self, id: &EnquiryId) -> bool {
        let work = self.enquiries.table.get(id.as_str());
        work.is_none_or(|work| !matches!(work.what.standing, Standing::Settled | Standing::Merged))
    }

    /// Whether an item of the arrivals with this body is in work or in quarantine still.
    fn is_needed(&self, kept: &Kept) -> bool {
        kept.arrivals.iter().enumerate().any(|(place, id)| {
            let superseded = place + 1 < kept.arrivals.len();
            let mut items = (0..).map_while(|n| self.deliveries.get(&item_id(id.as_str(), n)));
            items
                .any(|item| item.enquiry.as_ref().is_some_and(|id| self.is_open(id)) || item.verdict == Verdict::Quarantined && !superseded)
        })
    }
}

/// The id of one item of a delivery.
pub(super) fn item_id(delivery: &str, item: u32) -> String {
    format!("{delivery}/{item}")
}
