//! Which recent enquiry has the same fields: the marks of the last ones, in memory.
//!
//! An index on disk would have every delivery change a page anywhere in it, for a question that is about minutes. So the mark
//! stands in its row, and the last ones are read from there when a book is opened. What a transaction adds counts within it at
//! once, and for others after its commit.

use std::collections::{HashMap, VecDeque};

use domain::digest::Digest;
use rusqlite::Connection;

use super::fault;
use crate::error::Error;

/// Look-alikes are found among so many last enquiries that have a mark: a day and a half at one a second.
pub(super) const MARKS_MAX: usize = 131_072;

/// The marks of the last enquiries.
#[derive(Default)]
pub(super) struct Marks {
    latest: HashMap<i64, i64>,
    /// Every (mark, number) in the order of entering.
    order: VecDeque<(i64, i64)>,
}

/// A mark: 64 bits of a source and of the fields' digest. Of the last enquiries no two share one by chance.
pub(super) fn mark(source: &str, look_alike: &Digest) -> i64 {
    let whole = Digest::of_parts([source.as_bytes(), look_alike.as_bytes()]);
    let mut first = [0; 8];
    first.copy_from_slice(&whole.as_bytes()[..8]);
    i64::from_be_bytes(first)
}

impl Marks {
    /// Those of a book.
    pub(super) fn read(conn: &Connection) -> Result<Self, Error> {
        let sql = "SELECT look_alike, n FROM enquiries WHERE n > (SELECT coalesce(max(n), 0) FROM enquiries) - ?1
                   AND look_alike IS NOT NULL ORDER BY n";
        let max = i64::try_from(MARKS_MAX).unwrap_or(i64::MAX);
        let mut statement = conn.prepare(sql).map_err(fault)?;
        let rows = statement.query_map([max], |row| Ok((row.get(0)?, row.get(1)?))).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut marks = Self::default();
        marks.add(rows.map_err(fault)?);
        Ok(marks)
    }

    /// The latest enquiry with that mark: one of this transaction's, else one that was committed.
    pub(super) fn latest(&self, pending: &[(i64, i64)], mark: i64) -> Option<i64> {
        let mine = pending.iter().rev().find(|(other, _)| *other == mark).map(|(_, n)| *n);
        mine.or_else(|| self.latest.get(&mark).copied())
    }

    /// What a transaction added is committed.
    pub(super) fn add(&mut self, pending: Vec<(i64, i64)>) {
        for (mark, n) in pending {
            self.latest.insert(mark, n);
            self.order.push_back((mark, n));
            if self.order.len() > MARKS_MAX
                && let Some((old, number)) = self.order.pop_front()
                && self.latest.get(&old) == Some(&number)
            {
                self.latest.remove(&old);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_counts_and_the_oldest_are_forgotten() {
        let mut marks = Marks::default();
        marks.add(vec![(7, 1), (8, 2), (7, 3)]);
        assert_eq!((marks.latest(&[], 7), marks.latest(&[(7, 4)], 7), marks.latest(&[], 9)), (Some(3), Some(4), None));
        marks.add((0..i64::try_from(MARKS_MAX).unwrap() - 1).map(|n| (100 + n, 4 + n)).collect());
        assert_eq!((marks.latest(&[], 8), marks.latest(&[], 7)), (None, Some(3)));
        marks.add(vec![(99, 999_999)]);
        assert_eq!((marks.latest(&[], 7), marks.latest(&[], 100)), (None, Some(4)));
        assert_eq!(marks.order.len(), MARKS_MAX);
    }

    #[test]
    fn a_mark_is_its_sources_own() {
        assert_ne!(mark("web", &Digest::ZERO), mark("ads", &Digest::ZERO));
    }
}
