//! What only this engine can do wrong: its file and its locks here, its batches in `batches`, its log in
//! `killed`, its readers in `reading`, books of before in `upgrade`. The contract itself is tested in `contract`.

mod batches;
mod killed;
mod reading;
mod upgrade;

use std::sync::Arc;
use std::sync::mpsc;

use evidence::Head;
use rusqlite::Connection;
use tokio::task::{JoinSet, yield_now};

use super::writer::Txn;
use super::{Options, Sqlite};
use crate::contract::Dir;
use crate::contract::fixture::{T0, assert_whole, at, blob, delivery, draft, effect, effects, enter, key, plan, post, review};
use crate::model::{Ask, List, Step, TargetState};
use crate::{Error, Store as _};

fn open(dir: &Dir) -> Arc<Sqlite> {
    Arc::new(Sqlite::open(dir.options(1, T0)).unwrap())
}

/// Another connection to the same file, as some tool of the operator's would have.
fn beside(dir: &Dir) -> Connection {
    Connection::open(&dir.options(1, T0).path).unwrap()
}

fn refused(opened: Result<Sqlite, Error>) -> Error {
    opened.err().unwrap()
}

/// Keeps the writer busy until the sender is dropped, so that what is asked meanwhile makes one batch.
async fn hold(book: &Arc<Sqlite>, jobs: &mut JoinSet<Result<Head, Error>>) -> mpsc::Sender<()> {
    let (held, started) = tokio::sync::oneshot::channel();
    let (go, wait) = mpsc::channel::<()>();
    let book = Arc::clone(book);
    let mut held = Some(held);
    jobs.spawn(async move {
        let work = move |txn: &mut Txn<'_>| {
            held.take().map(|held| held.send(()));
            // An error: the sender is gone.
            while wait.recv().is_ok() {}
            Ok(txn.head())
        };
        book.write(work).await
    });
    started.await.unwrap();
    go
}

fn note(book: &Arc<Sqlite>, jobs: &mut JoinSet<Result<Head, Error>>) {
    let book = Arc::clone(book);
    jobs.spawn(async move { book.note(vec![draft("noted", None)]).await });
}

fn arrive(book: &Arc<Sqlite>, jobs: &mut JoinSet<Result<Head, Error>>, delivery: &str, body: &str) {
    let (book, arrival) = (Arc::clone(book), post(delivery, delivery, body).arrival());
    jobs.spawn(async move { book.accept(arrival).await.map(|_| Head::genesis(book.stream().clone())) });
}

/// Lets every job that was spawned ask for what it wants.
async fn all_asked(go: mpsc::Sender<()>) {
    // The scheduler polls a few dozen of them between two looks at the caller.
    for _ in 0..1_000 {
        yield_now().await;
    }
    drop(go);
}

fn count(answers: &[Result<Head, Error>]) -> (usize, Vec<&Error>) {
    (answers.iter().filter(|answer| answer.is_ok()).count(), answers.iter().filter_map(|answer| answer.as_ref().err()).collect())
}

#[tokio::test]
async fn a_second_process_is_refused_until_the_first_has_ended() {
    let dir = Dir::new();
    let book = open(&dir);
    let second = refused(Sqlite::open(dir.options(2, at(1))));
    assert!(matches!(&second, Error::Refused(why) if why.contains("is open in another process")), "{second}");
    let mut jobs = JoinSet::new();
    let go = hold(&book, &mut jobs).await;
    note(&book, &mut jobs);
    all_asked(go).await;
    jobs.join_all().await.into_iter().for_each(|answer| drop(answer.unwrap()));
    drop(book);
    let book = Sqlite::open(dir.options(2, at(1))).unwrap();
    assert_eq!(assert_whole(&book).await.streams, 2);
}

#[tokio::test]
async fn a_book_of_a_newer_or_another_program_is_refused() {
    let dir = Dir::new();
    drop(open(&dir));
    let edit = |sql: &str| beside(&dir).execute_batch(sql).unwrap();
    edit("INSERT INTO migrations (version, sha256) VALUES (99, 'x')");
    let path = dir.options(2, T0).path;
    for opened in [Sqlite::open(dir.options(2, at(1))), Sqlite::open_to_read(&path)] {
        let error = refused(opened);
        assert!(matches!(&error, Error::Refused(why) if why.contains("newer version (migration 99)")), "{error}");
    }
    edit("DELETE FROM migrations WHERE version = 99; UPDATE migrations SET sha256 = 'x'");
    let error = refused(Sqlite::open(dir.options(2, at(1))));
    assert!(matches!(&error, Error::Corrupt(what) if what.contains("migrations")), "{error}");
    let other = Options { path: path.with_file_name("other.db"), ..dir.options(2, T0) };
    std::fs::write(&other.path, "this is a text, and long enough to be taken for one".repeat(20)).unwrap();
    let error = refused(Sqlite::open(other));
    assert!(matches!(error, Error::Corrupt(_)), "{error}");
}

#[tokio::test]
async fn a_reader_sees_what_is_committed_and_writes_nothing() {
    let dir = Dir::new();
    let path = dir.options(1, T0).path;
    assert!(matches!(refused(Sqlite::open_to_read(&path)), Error::Unavailable(_)), "a reader makes no book");
    let book = open(&dir);
    let id = enter(&*book, post("1", "77", "a")).await;
    let reader = Sqlite::open_to_read(&path).unwrap();
    assert!(reader.dossier(&id).await.unwrap().is_some());
    assert_eq!(reader.stream(), book.stream());
    let later = enter(&*book, post("2", "78", "a")).await;
    assert!(reader.dossier(&later).await.unwrap().is_some());
    assert_eq!(reader.dead_since(&domain::ids::StreamId::parse("str_0").unwrap()), None, "the writer may be alive");
    let body = blob("3", "x");
    let refusals = [
        reader.accept(post("3", "79", "a").arrival()).await.map(drop),
        reader.refuse(delivery("3", T0, &body), body, 1, T0).await,
        reader.lease(at(0), at(1), 1).await.map(drop),
        reader.commit(Step::default()).await,
        reader.note(vec![]).await.map(drop),
        reader.adopt_rule("web", String::new(), draft("rule", None)).await,
        reader.prune(at(0), at(0)).await.map(drop),
        reader.ping().await,
    ];
    assert!(refusals.iter().all(|refused| matches!(refused, Err(Error::Refused(_)))), "{refusals:?}");
    drop(book);
    assert_eq!(assert_whole(&reader).await.entries, 3, "the reader goes on after the writer has ended");
}

#[tokio::test]
async fn a_damaged_record_is_corrupt_and_its_table_is_named() {
    let dir = Dir::new();
    let book = open(&dir);
    let id = enter(&*book, post("1", "77", "a")).await;
    let target = TargetState { name: "crm".to_owned(), paused: None };
    let effect = effect(&key("77"), "deal", at(0));
    book.commit(Step { reviews: vec![review("1", &id)], targets: vec![target], ..effects(vec![plan(effect)]) }).await.unwrap();
    let body = blob("r", "x");
    book.refuse(delivery("r", T0, &body), body, 1, T0).await.unwrap();
    let page = |list| book.page(list, Ask { limit: 9, ..Ask::default() });
    let is_about = |error: Error, table: &str| assert!(matches!(&error, Error::Corrupt(what) if what.starts_with(table)), "{error}");

    let damage = |table: &str, column: &str| beside(&dir).execute_batch(&format!("UPDATE {table} SET {column} = '{{'")).unwrap();
    for (table, list) in [("deliveries", List::Deliveries), ("effects", List::Effects), ("reviews", List::Reviews)] {
        damage(table, "doc");
        is_about(page(list).await.err().unwrap(), table);
    }
    is_about(book.lease(at(0), at(1), 9).await.err().unwrap(), "effects");
    damage("enquiries", "doc");
    is_about(page(List::Enquiries).await.err().unwrap(), "enquiries");
    is_about(book.lease(at(0), at(1), 9).await.err().unwrap(), "enquiries");
    is_about(book.accept(post("2", "77", "a").arrival()).await.err().unwrap(), "enquiries");
    damage("targets", "doc");
    is_about(book.targets().await.err().unwrap(), "targets");
    damage("refused", "doc");
    is_about(book.delivery("dlv_r").await.err().unwrap(), "refused");
    beside(&dir).execute_batch("UPDATE blobs SET nonce = x'00'").unwrap();
    is_about(book.blob(&blob("1", "a").digest(), Some(&id)).await.err().unwrap(), "blobs");
    damage("journal", "entry");
    is_about(book.journal_after(None, 9).await.err().unwrap(), "journal");
    damage("enquiries", "version");
    assert!(matches!(book.dossier(&id).await.err().unwrap(), Error::Corrupt(_)));
}

/// The columns beside an entry are outside its hash: a row that was moved, or filed under another enquiry, is damage too.
#[tokio::test]
async fn i11_a_journal_row_in_another_place_than_its_own_is_damage_that_is_named() {
    for sql in ["UPDATE journal SET enquiry = NULL WHERE seq = 2", "UPDATE journal SET seq = 9999 WHERE seq = 2"] {
        let dir = Dir::new();
        let book = open(&dir);
        enter(&*book, post("1", "77", "a")).await;
        beside(&dir).execute_batch(sql).unwrap();
        let error = book.journal_after(None, 9).await.err().unwrap();
        assert!(matches!(&error, Error::Corrupt(what) if what.starts_with("journal: entry ")), "{sql}: {error}");
    }
}

/// The lock stands beside the file: another name for it would have another lock, and two processes would write.
#[test]
fn a_book_has_one_name() {
    let dir = Dir::new();
    let book = open(&dir);
    let path = dir.options(1, T0).path;
    let other = |name: &str| Options { path: path.with_file_name(name), ..dir.options(2, T0) };
    std::os::unix::fs::symlink(&path, other("link.db").path).unwrap();
    let error = refused(Sqlite::open(other("link.db")));
    assert!(matches!(&error, Error::Refused(why) if why.contains("open in another process")), "{error}");
    drop(book);
    std::fs::hard_link(&path, other("twin.db").path).unwrap();
    for options in [other("twin.db"), dir.options(2, T0)] {
        let error = refused(Sqlite::open(options));
        assert!(matches!(&error, Error::Refused(why) if why.contains("second name")), "{error}");
    }
    std::fs::remove_file(other("twin.db").path).unwrap();
    assert!(Sqlite::open(other("link.db")).is_ok(), "a link to a book is that book");
}

#[tokio::test]
async fn a_file_of_something_else_and_a_book_without_its_secret_are_not_opened() {
    let others = [
        "CREATE TABLE customers (id INTEGER)",
        "CREATE TABLE migrations (id INTEGER, name TEXT); CREATE TABLE customers (id INTEGER)",
        "CREATE TABLE migrations (version INTEGER, sha256 TEXT); CREATE TABLE customers (id INTEGER)",
    ];
    for other in others {
        let dir = Dir::new();
        beside(&dir).execute_batch(other).unwrap();
        let before = std::fs::read(dir.options(2, T0).path).unwrap();
        let error = refused(Sqlite::open(dir.options(2, T0)));
        assert!(matches!(&error, Error::Refused(why) if why.contains("something else")), "{error}");
        assert_eq!(std::fs::read(dir.options(2, T0).path).unwrap(), before, "not a byte of it is changed");
    }
    let dir = Dir::new();
    drop(open(&dir));
    beside(&dir).execute_batch("DELETE FROM meta").unwrap();
    assert!(Sqlite::open(dir.options(2, T0)).is_err(), "with a new secret nothing would be recognised");
}
