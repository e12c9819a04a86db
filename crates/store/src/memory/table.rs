//! The two shapes of table that the oracle needs: rows in the order they were entered, and work with a due time.

use std::collections::{BTreeMap, BTreeSet};

use domain::ids::EnquiryId;
use domain::planted::{self, Bug};
use domain::time::UtcMs;

use crate::model::Lease;

/// Rows in the order they were entered, each under an id of its own, and found by the enquiry they belong to.
pub(super) struct Table<T> {
    rows: BTreeMap<i64, T>,
    by_id: BTreeMap<String, i64>,
    by_enquiry: BTreeMap<EnquiryId, Vec<i64>>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), by_id: BTreeMap::new(), by_enquiry: BTreeMap::new() }
    }
}

impl<T> Table<T> {
    pub(super) fn insert(&mut self, id: String, enquiry: Option<&EnquiryId>, row: T) -> i64 {
        let n = self.rows.last_key_value().map_or(1, |(last, _)| last + 1);
        assert!(self.by_id.insert(id, n).is_none(), "the caller has looked: the id is new");
        if let Some(enquiry) = enquiry {
            self.by_enquiry.entry(enquiry.clone()).or_default().push(n);
        }
        self.rows.insert(n, row);
        n
    }

    pub(super) fn get(&self, id: &str) -> Option<&T> {
        self.rows.get(self.by_id.get(id)?)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.rows.get_mut(self.by_id.get(id)?)
    }

    /// All rows, oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (i64, &T)> {
        self.rows.iter().map(|(n, row)| (*n, row))
    }

    /// The rows of one enquiry, oldest first.
    pub(super) fn of(&self, enquiry: &EnquiryId) -> impl Iterator<Item = &T> {
        self.by_enquiry.get(enquiry).into_iter().flatten().map(|n| &self.rows[n])
    }
}

/// A thing that is worked on: as it stands, and who may be at it.
#[derive(Clone)]
pub(super) struct Work<T> {
    pub(super) what: T,
    pub(super) due: Option<UtcMs>,
    pub(super) lease_until: UtcMs,
    pub(super) fence: u64,
    pub(super) version: u64,
}

impl<T> Work<T> {
    pub(super) fn new(what: T, due: Option<UtcMs>) -> Self {
        Self { what, due, lease_until: UtcMs(0), fence: 0, version: 1 }
    }

    /// It is leased to who brings it.
    pub(super) fn taken(self, until: Option<UtcMs>) -> Self {
        match until {
            Some(until) => Self { lease_until: until, fence: 1, ..self },
            None => self,
        }
    }

    /// Whether a change that was decided on this version, under this fence, may still be made.
    pub(super) fn is_current(&self, version: u64, fence: Option<u64>) -> bool {
        let is_decided_on = self.version == version || planted::is(Bug::VersionDropped);
        is_decided_on && fence.is_none_or(|fence| fence == self.fence || planted::is(Bug::FenceDropped))
    }
}

/// A table of work, with its due times in order.
pub(super) struct Desk<T> {
    pub(super) table: Table<Work<T>>,
    due: BTreeSet<(UtcMs, i64, String)>,
}

impl<T> Default for Desk<T> {
    fn default() -> Self {
        Self { table: Table::default(), due: BTreeSet::new() }
    }
}

impl<T: Clone> Desk<T> {
    pub(super) fn insert(&mut self, id: &str, enquiry: &EnquiryId, work: Work<T>) {
        let due = work.due;
        let n = self.table.insert(id.to_owned(), Some(enquiry), work);
        self.due.extend(due.map(|due| (due, n, id.to_owned())));
    }

    /// Puts a changed row in the place of the one that stands under the id.
    pub(super) fn replace(&mut self, id: &str, work: Work<T>) {
        let (Some(n), Some(row)) = (self.table.by_id.get(id).copied(), self.table.get_mut(id)) else {
            unreachable!("the caller has looked: the row is there")
        };
        assert!(work.version > row.version, "a version never stays or goes back");
        assert!(work.fence >= row.fence, "a fence never goes back");
        if let Some(due) = row.due {
            self.due.remove(&(due, n, id.to_owned()));
        }
        self.due.extend(work.due.map(|due| (due, n, id.to_owned())));
        *row = work;
    }

    /// The due times of what may be taken at `now` and goes at all, oldest first, at most `limit`.
    pub(super) fn ready(&self, now: UtcMs, limit: usize, goes: impl FnMut(&T) -> bool) -> Vec<UtcMs> {
        self.takeable(now, goes).take(limit).map(|(due, _)| due).collect()
    }

    /// Takes the oldest `count`.
    pub(super) fn take(&mut self, now: UtcMs, until: UtcMs, count: usize, goes: impl FnMut(&T) -> bool) -> Vec<Lease<T>> {
        let ids: Vec<String> = self.takeable(now, goes).take(count).map(|(_, id)| id.to_owned()).collect();
        let leased = ids.iter().map(|id| {
            let Some(work) = self.table.get_mut(id) else { unreachable!("what is due is in the table") };
            assert!(work.lease_until <= now, "no work is held by two live leases");
            work.lease_until = until;
            work.fence += u64::from(!planted::is(Bug::FenceNotRaised));
            Lease { what: work.what.clone(), fence: work.fence, version: work.version }
        });
        leased.collect()
    }

    fn takeable(&self, now: UtcMs, mut goes: impl FnMut(&T) -> bool) -> impl Iterator<Item = (UtcMs, &str)> {
        let due = self.due.iter().take_while(move |(due, _, _)| *due <= now);
        due.filter(move |(_, _, id)| self.table.get(id).is_some_and(|work| work.lease_until <= now && goes(&work.what)))
            .map(|(due, _, id)| (*due, id.as_str()))
    }

    /// When something here falls due after `now`, or a lease on due work runs out.
    pub(super) fn next_due(&self, now: UtcMs) -> Option<UtcMs> {
        let later = self.due.iter().map(|(due, _, _)| *due).find(|due| *due > now);
        let due = self.due.iter().take_while(|(due, _, _)| *due <= now);
        let leases = due.filter_map(|(_, _, id)| self.table.get(id)).map(|work| work.lease_until).filter(|until| *until > now);
        leases.chain(later).min()
    }

    /// Every lease is over: who held it is dead.
    pub(super) fn end_leases(&mut self) {
        for work in self.table.rows.values_mut() {
            work.lease_until = work.lease_until.min(UtcMs(0));
        }
    }
}
