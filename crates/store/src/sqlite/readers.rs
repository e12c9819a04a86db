//! Reading beside the writer: a few connections, lent one at a time, in the order they are asked for.
//!
//! A connection has a cache of its own and a reading a thread: without a bound, whoever asks much at once sets how much of
//! the machine's memory the book takes. Deliberately absent: who should wait for whom; those who ask on people's behalf keep
//! to a share of [`READERS`].

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::{BUSY, fault};
use crate::error::Error;

/// How many read at once, each on a connection of its own; who comes beyond them waits in line.
pub const READERS: usize = 8;

/// The connections of one book that read.
pub(super) struct Readers(Arc<Lent>);

struct Lent {
    path: PathBuf,
    /// With those that are lent now, never more than there are places.
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
}

impl Readers {
    /// `idle`: those that are open already.
    pub(super) fn of(path: &Path, idle: Vec<Connection>) -> Self {
        Self(Arc::new(Lent { path: path.to_owned(), idle: Mutex::new(idle), places: Arc::new(Semaphore::new(READERS)) }))
    }

    /// Reads on one snapshot, once there is a place.
    pub(super) async fn read<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<R, Error> + Send + 'static,
    ) -> Result<R, Error> {
        let stopped = |why: String| Error::Unavailable(format!("a reader stopped: {why}"));
        let place = Arc::clone(&self.0.places).acquire_owned().await.map_err(|e| stopped(e.to_string()))?;
        let lent = Arc::clone(&self.0);
        // The place goes along: a caller that is gone does not end the reading.
        let task = tokio::task::spawn_blocking(move || {
            let result = lent.work(work);
            drop(place);
            result
        });
        task.await.unwrap_or_else(|e| Err(stopped(e.to_string())))
    }

    /// The connections that nobody reads on now.
    #[cfg(test)]
    pub(super) fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent {
    fn work<R>(&self, work: impl FnOnce(&Connection) -> Result<R, Error>) -> Result<R, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut conn = match idle {
            Some(conn) => conn,
            None => reader(&self.path)?,
        };
        // One snapshot for everything that a verb reads.
        let snapshot = conn.transaction().map_err(fault)?;
        let result = work(&snapshot);
        drop(snapshot);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
        result
    }
}

/// A connection that only reads. The one way to one: whatever must hold before the file is touched is asked here.
pub(super) fn reader(path: &Path) -> Result<Connection, Error> {
    // `SQLite` follows a link, and the log lies beside what it leads to.
    let own = std::fs::canonicalize(path);
    not_its_log_alone(own.as_deref().unwrap_or(path))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(|e| Error::Unavailable(format!("{}: {e}", path.display())))?;
    conn.busy_timeout(BUSY).map_err(fault)?;
    Ok(conn)
}

/// Refuses a book of which only the log is there: whoever opens a file without a page, if only to read it, has `SQLite`
/// discard the log beside it, and that may be all there is of the book. `path` is the file's own name, not a link's.
pub(super) fn not_its_log_alone(path: &Path) -> Result<(), Error> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if length(path) == 0 && length(Path::new(&log)) > 0 {
        let why = "is missing or empty, and its log (-wal) is there: bring the file back, or move the log away to begin a new book";
        return Err(Error::Refused(format!("the book {} {why}", path.display())));
    }
    Ok(())
}

/// Bytes in the file; 0 where there is none.
pub(super) fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}
