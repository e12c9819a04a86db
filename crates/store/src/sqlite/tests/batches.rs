//! Many callers, one writer: what they share, and what a failure of one, of the disk or of the writer does to the others.

use std::sync::Arc;
use std::time::Duration;

use domain::gate::{Effect, Phase, StepKind};
use tokio::task::JoinSet;

use super::{all_asked, arrive, beside, count, hold, note, open};
use crate::contract::Dir;
use crate::contract::fixture::{T0, accept, assert_whole, at, draft, effects, key, plan, post};
use crate::sqlite::{Options, Sqlite, fault, writer};
use crate::{Error, Store as _};

#[tokio::test]
async fn many_callers_share_a_transaction_and_each_is_answered_its_own() {
    let dir = Dir::new();
    let book = open(&dir);
    let mut jobs = JoinSet::new();
    let go = hold(&book, &mut jobs).await;
    for _ in 0..100 {
        note(&book, &mut jobs);
    }
    all_asked(go).await;
    let mut seqs: Vec<u64> = jobs.join_all().await.into_iter().map(|head| head.unwrap().seq).collect();
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=101).collect::<Vec<_>>(), "the one that held the writer saw the first entry");
    assert_whole(&*book).await;
}

#[tokio::test]
async fn a_work_that_fails_takes_nothing_of_its_batch_with_it() {
    let dir = Dir::new();
    let book = open(&dir);
    accept(&*book, post("1", "1", "a")).await;
    let mut jobs = JoinSet::new();
    let go = hold(&book, &mut jobs).await;
    note(&book, &mut jobs);
    arrive(&book, &mut jobs, "1", "the delivery's id is taken");
    note(&book, &mut jobs);
    all_asked(go).await;
    let answers = jobs.join_all().await;
    assert_eq!(count(&answers), (3, vec![&Error::EXISTS]));
    assert_eq!(assert_whole(&*book).await.entries, 4);
}

#[tokio::test]
async fn a_work_that_fails_alone_is_run_once_and_nothing_of_it_stands() {
    let dir = Dir::new();
    let book = open(&dir);
    let mut runs = 0;
    let failed = book
        .write(move |txn| -> Result<(), Error> {
            runs += 1;
            txn.append(draft("half", None))?;
            Err(Error::Unavailable(format!("run {runs}")))
        })
        .await;
    assert_eq!(failed, Err(Error::Unavailable("run 1".to_owned())));
    book.ping().await.unwrap();
    assert_eq!(assert_whole(&*book).await.entries, 1);
}

#[tokio::test]
async fn i1_a_full_disk_refuses_what_does_not_fit_and_nothing_else() {
    let dir = Dir::new();
    let book = open(&dir);
    let pages = book.write(|txn| txn.conn.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0)).map_err(fault)).await;
    let pages = pages.unwrap() + 12;
    let limit = async |pages: i64| {
        book.write(move |txn| txn.conn.pragma(None, "max_page_count", pages, |_| Ok(())).map_err(fault)).await.unwrap();
    };
    limit(pages).await;
    let large = "x".repeat(1_000_000);
    let mut jobs = JoinSet::new();
    let go = hold(&book, &mut jobs).await;
    note(&book, &mut jobs);
    arrive(&book, &mut jobs, "1", &large);
    note(&book, &mut jobs);
    note(&book, &mut jobs);
    all_asked(go).await;
    let answers = jobs.join_all().await;
    let (done, failed) = count(&answers);
    assert_eq!(done, 4);
    assert!(matches!(failed[..], [Error::Unavailable(_)]), "{failed:?}");
    assert_eq!(assert_whole(&*book).await.entries, 4, "three notes behind the stream's beginning");
    assert!(book.delivery("dlv_1").await.unwrap().is_none());
    assert_eq!(book.resolve("web:submission:1").await.unwrap(), []);
    limit(1_000_000).await;
    accept(&*book, post("1", "1", &large)).await;
    book.ping().await.unwrap();
    assert_eq!(assert_whole(&*book).await.entries, 5);
}

#[tokio::test]
async fn a_locked_file_is_unavailable_and_works_again_after() {
    let dir = Dir::new();
    let book = open(&dir);
    book.write(|txn| txn.conn.busy_timeout(Duration::from_millis(20)).map_err(fault)).await.unwrap();
    let other = beside(&dir);
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut jobs = JoinSet::new();
    for n in 0..5 {
        arrive(&book, &mut jobs, &n.to_string(), "a");
    }
    let answers = jobs.join_all().await;
    assert!(answers.iter().all(|answer| matches!(answer, Err(Error::Unavailable(_)))), "{answers:?}");
    assert!(matches!(book.ping().await, Err(Error::Unavailable(_))));
    assert_eq!(assert_whole(&*book).await.entries, 1, "it can be read all the while");
    other.execute_batch("ROLLBACK").unwrap();
    for n in 0..5 {
        accept(&*book, post(&n.to_string(), &n.to_string(), "a")).await;
    }
    assert_eq!(assert_whole(&*book).await.entries, 6);
}

#[tokio::test]
async fn more_writes_than_the_queue_takes_are_turned_away_at_once() {
    let dir = Dir::new();
    let book = Arc::new(Sqlite::open(Options { batch_max: 512, ..dir.options(1, T0) }).unwrap());
    let mut jobs = JoinSet::new();
    let go = hold(&book, &mut jobs).await;
    for _ in 0..writer::QUEUE_MAX + 3 {
        note(&book, &mut jobs);
    }
    all_asked(go).await;
    let answers = jobs.join_all().await;
    let (done, failed) = count(&answers);
    assert_eq!((done, failed.len()), (writer::QUEUE_MAX + 1, 3));
    assert!(failed.iter().all(|error| matches!(error, Error::Unavailable(why) if why.contains("more writes wait"))), "{failed:?}");
    book.ping().await.unwrap();
    assert_whole(&*book).await;
}

#[tokio::test]
#[should_panic(expected = "I5: an intent is made under a lease")]
async fn i5_an_intent_without_a_lease_stops_its_caller() {
    let dir = Dir::new();
    let book = open(&dir);
    let mut unleased = Effect::planned(&key("77"), "deal", "crm", 0, &[StepKind::Record], T0);
    unleased.steps[0].phase = Phase::Intended;
    drop(book.commit(effects(vec![plan(unleased)])).await);
}

#[tokio::test]
async fn a_writer_that_stops_leaves_the_book_whole_and_says_so() {
    let dir = Dir::new();
    let book = open(&dir);
    let stopped = book
        .write(|txn| -> Result<(), Error> {
            txn.append(draft("half", None))?;
            panic!("a mistake in our own code")
        })
        .await;
    assert!(matches!(stopped, Err(Error::Unavailable(_))));
    assert!(matches!(book.ping().await, Err(Error::Unavailable(_))));
    drop(book);
    let book = Sqlite::open(dir.options(2, at(1))).unwrap();
    assert_eq!(assert_whole(&book).await.entries, 2, "the two beginnings");
}
