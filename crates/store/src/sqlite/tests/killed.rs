//! The log that is folded beside the writer: a reader of an old snapshot, a clean end, and a kill.

use std::path::Path;

use crate::Verdict;
use crate::contract::Dir;
use crate::contract::fixture::{T0, accept, assert_whole, at, post};
use crate::sqlite::{Locked, Sqlite};

/// So many pages are few: a delivery or two.
const FEW: i32 = 8;

fn log(path: &Path) -> u64 {
    std::fs::metadata(path.with_file_name("book.db-wal")).map_or(0, |found| found.len())
}

#[tokio::test]
async fn a_book_that_was_folded_many_times_is_whole_while_it_is_read_and_after() {
    let dir = Dir::new();
    let book = Sqlite::open_folding(Locked::take(&dir.options(1, T0).path).unwrap(), dir.options(1, T0), FEW).unwrap();
    let path = dir.options(1, T0).path;
    let mut beside = super::beside(&dir);
    for n in 0..100 {
        accept(&book, post(&n.to_string(), &n.to_string(), "a")).await;
    }
    let snapshot = beside.transaction().unwrap();
    let entries = || snapshot.query_row("SELECT count(*) FROM journal", [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(entries(), 101);
    for n in 100..200 {
        accept(&book, post(&n.to_string(), &n.to_string(), "a")).await;
    }
    assert_eq!(entries(), 101, "an old snapshot stays what it was");
    assert_eq!(assert_whole(&book).await.entries, 201);
    drop(snapshot);
    drop(beside);
    drop(book);
    assert_eq!(log(&path), 0, "who closes last folds the rest");
    let book = Sqlite::open(dir.options(2, at(1))).unwrap();
    assert_eq!(assert_whole(&book).await.entries, 202);
}

/// What a kill leaves is the files as they are: the log not folded, or folded in part.
#[tokio::test]
async fn i1_a_kill_before_the_log_is_folded_loses_nothing() {
    for pages in [FEW, 100_000] {
        let (dir, after) = (Dir::new(), Dir::new());
        let book = Sqlite::open_folding(Locked::take(&dir.options(1, T0).path).unwrap(), dir.options(1, T0), pages).unwrap();
        for n in 0..50 {
            accept(&book, post(&n.to_string(), &n.to_string(), "a")).await;
        }
        let (path, left) = (dir.options(1, T0).path, after.options(2, at(1)));
        assert!(log(&path) > 0, "the log holds what is in no other place");
        for name in ["book.db", "book.db-wal"] {
            std::fs::copy(path.with_file_name(name), left.path.with_file_name(name)).unwrap();
        }
        let again = Sqlite::open(left).unwrap();
        assert_eq!(assert_whole(&again).await.entries, 52, "the beginnings, and all that was answered");
        for n in 0..50 {
            let copy = accept(&again, post(&format!("again-{n}"), &n.to_string(), "a")).await;
            assert_eq!(copy.verdict, Verdict::Redelivery);
        }
    }
}
