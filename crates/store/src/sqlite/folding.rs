//! Folding the log into the book beside the writer: copying pages to their places and waiting for the disk takes a while, and
//! everybody at the door would wait for it.
//!
//! A thread with a connection of its own copies what was in the log when it began; the writer then copies the little that has
//! come since, and only with that does the log begin anew. A fold that fails says nothing, for there is nobody here to say it
//! to: nothing is lost by it, the log is longer by what came, and the next commits try again. On a disk that stays full or
//! broken the commits themselves fail, and they do say so. A thread that has died is not missed: the writer folds by itself
//! from then on.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::fault;
use crate::error::Error;

/// Pages in the log before it is folded: 128 MiB. A page that many commits have touched is written once; in a large book
/// most pages that a delivery touches in an index are touched by no other for long.
pub(super) const LOG_PAGES: i32 = 32_768;

const IDLE: u8 = 0;
const COPYING: u8 = 1;
const COPIED: u8 = 2;

const FOLD: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// The thread that folds, as the writer sees it.
pub(super) struct Folding {
    /// Pages in the log after the last commit.
    pages: Arc<AtomicI32>,
    /// So many, and it is folded.
    log_pages: i32,
    state: Arc<AtomicU8>,
    ask: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Folding {
    /// Starts the thread. The writer's own connection folds no more by itself.
    pub(super) fn start(path: &Path, writer: &mut Connection, log_pages: i32) -> Result<Self, Error> {
        let pages = Arc::new(AtomicI32::new(0));
        let seen = Arc::clone(&pages);
        let hook = move |_: &mut rusqlite::hooks::Wal, pages| {
            seen.store(pages, Ordering::Relaxed);
            Ok(())
        };
        writer.wal_hook(Some(hook)).map_err(fault)?;
        let conn = Connection::open(path).map_err(|e| Error::Unavailable(format!("{}: {e}", path.display())))?;
        let (ask, asked) = mpsc::channel();
        let state = Arc::new(AtomicU8::new(IDLE));
        let own = Arc::clone(&state);
        let fold = move || {
            while asked.recv().is_ok() {
                // What it could not copy stays in the log, and is copied the next time.
                drop(fold(&conn));
                own.store(COPIED, Ordering::Release);
            }
        };
        let thread = std::thread::Builder::new().name("book-folder".to_owned()).spawn(fold);
        let thread = thread.map_err(|e| Error::Unavailable(format!("the thread that folds the log cannot start: {e}")))?;
        Ok(Self { pages, log_pages, state, ask: Some(ask), thread: Some(thread) })
    }

    /// Called by the writer after each commit.
    pub(super) fn committed(&self, writer: &Connection) {
        let is_long = self.pages.load(Ordering::Relaxed) >= self.log_pages;
        match self.state.load(Ordering::Acquire) {
            COPIED => {
                drop(fold(writer));
                self.state.store(IDLE, Ordering::Release);
            }
            IDLE if is_long && self.is_alive() => {
                self.state.store(COPYING, Ordering::Release);
                // Should it die just now, that is seen after the next commit.
                self.ask.iter().for_each(|ask| ask.send(()).unwrap_or_default());
            }
            // Nobody copies any more.
            _ if is_long && !self.is_alive() => drop(fold(writer)),
            _ => {}
        }
    }

    fn is_alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

impl Drop for Folding {
    fn drop(&mut self) {
        drop(self.ask.take());
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            drop(panic);
        }
    }
}

fn fold(conn: &Connection) -> rusqlite::Result<()> {
    conn.query_row(FOLD, [], |_| Ok(()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::contract::Dir;
    use crate::contract::fixture::T0;

    /// So many pages are few.
    const FEW: i32 = 8;
    /// What the log may hold: what is folded, and what comes until the fold is done.
    const BOUND: u64 = 40 * 4096;

    /// A file with one table, its writer, and what folds its log.
    fn file(dir: &Dir) -> (PathBuf, Connection, Folding) {
        let path = dir.options(1, T0).path;
        let mut conn = Connection::open(&path).unwrap();
        conn.pragma_update(None, "journal_mode", "WAL").unwrap();
        conn.execute_batch("CREATE TABLE rows (text TEXT)").unwrap();
        let folding = Folding::start(&path, &mut conn, FEW).unwrap();
        (path, conn, folding)
    }

    /// Commits `count` rows of a page each, and lets the thread end what it was asked for.
    fn commit(conn: &Connection, folding: &Folding, count: usize) {
        for _ in 0..count {
            conn.execute("INSERT INTO rows (text) VALUES (?1)", ["x".repeat(3_000)]).unwrap();
            folding.committed(conn);
            while folding.is_alive() && folding.state.load(Ordering::Acquire) == COPYING {
                std::thread::yield_now();
            }
        }
    }

    fn log(path: &Path) -> u64 {
        std::fs::metadata(path.with_file_name("book.db-wal")).unwrap().len()
    }

    fn rows(conn: &Connection) -> i64 {
        conn.query_row("SELECT count(*) FROM rows", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn the_log_stops_growing_and_an_old_snapshot_stands_beside_it() {
        let dir = Dir::new();
        let (path, conn, folding) = file(&dir);
        commit(&conn, &folding, 200);
        assert!(log(&path) < BOUND, "{}", log(&path));
        let mut reader = Connection::open(&path).unwrap();
        let snapshot = reader.transaction().unwrap();
        assert_eq!(rows(&snapshot), 200);
        commit(&conn, &folding, 200);
        assert_eq!((rows(&snapshot), rows(&conn)), (200, 400));
        let long = log(&path);
        assert!(long > BOUND, "while the snapshot is read, what came after it stays in the log: {long}");
        drop(snapshot);
        commit(&conn, &folding, 400);
        // A log that begins anew keeps its length.
        assert!(log(&path) < long + BOUND, "{}", log(&path));
        assert_eq!(rows(&reader), 800);
        drop((folding, conn, reader));
        assert_eq!(rows(&Connection::open(&path).unwrap()), 800);
    }

    #[test]
    fn a_thread_that_has_died_is_not_missed() {
        for state in [IDLE, COPYING] {
            let dir = Dir::new();
            let (path, conn, mut folding) = file(&dir);
            drop(folding.ask.take());
            folding.thread.take().unwrap().join().unwrap();
            folding.state.store(state, Ordering::Release);
            commit(&conn, &folding, 200);
            assert!(log(&path) < BOUND, "{state}: {}", log(&path));
            assert_eq!(rows(&conn), 200);
        }
    }
}
