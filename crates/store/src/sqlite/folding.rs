//! Folding the log into the book beside the writer: copying pages to their places and waiting for the disk takes a while, and
//! everybody at the door would wait for it.
//!
//! A thread with a connection of its own copies what was in the log when it began; the writer then copies the little that has
//! come since, and only with that does the log begin anew. Should the thread fail, the log grows until it succeeds: nothing
//! is lost by that.

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
const LOG_PAGES: i32 = 32_768;

const IDLE: u8 = 0;
const COPYING: u8 = 1;
const COPIED: u8 = 2;

const FOLD: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// The thread that folds, as the writer sees it.
pub(super) struct Folding {
    /// Pages in the log after the last commit.
    pages: Arc<AtomicI32>,
    state: Arc<AtomicU8>,
    ask: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Folding {
    /// Starts the thread. The writer's own connection folds no more by itself.
    pub(super) fn start(path: &Path, writer: &mut Connection) -> Result<Self, Error> {
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
        Ok(Self { pages, state, ask: Some(ask), thread: Some(thread) })
    }

    /// Called by the writer after each commit.
    pub(super) fn committed(&self, writer: &Connection) {
        match self.state.load(Ordering::Acquire) {
            IDLE if self.pages.load(Ordering::Relaxed) >= LOG_PAGES => {
                self.state.store(COPYING, Ordering::Release);
                // A thread that is gone leaves the log to grow, and the book whole.
                self.ask.iter().for_each(|ask| ask.send(()).unwrap_or_default());
            }
            COPIED => {
                drop(fold(writer));
                self.state.store(IDLE, Ordering::Release);
            }
            _ => {}
        }
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
