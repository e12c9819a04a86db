//! The embedded engine: `SQLite` in WAL mode, synchronous=FULL, one writer thread with group commit, readers beside it.
//!
//! One process writes a book: it holds a lock beside the file, so every other process that wrote to it is known to be dead.
//! Here are opening, locking and the hand-over of each verb; `write`, `lease` and `read` hold the SQL.

mod folding;
mod lease;
mod marks;
mod migrate;
mod read;
mod readers;
#[cfg(test)]
mod tests;
mod write;
mod writer;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use domain::digest::{BookSecret, Digest};
use domain::ids::{EnquiryId, StreamId};
use domain::time::UtcMs;
use evidence::{Blob, Draft, Entry, Head};
use rusqlite::{Connection, OptionalExtension as _};

use self::folding::{Folding, LOG_PAGES};
use self::marks::Marks;
use self::readers::{Readers, length, not_its_log_alone, reader};
use self::writer::Writer;
use crate::error::Error;
use crate::model::{Arrival, Arrived, Ask, Case, Delivery, Dossier, Leases, List, Page, Receipt, RuleVersion, Step, TargetState};
use crate::sound;

pub use self::readers::READERS;

/// How long a writer waits for somebody else's lock on the file before the door is told that the book is locked.
const BUSY: Duration = Duration::from_secs(2);

/// What the writer keeps of the book in memory, in KiB: the inner pages of its indexes, and the leaves that are written now.
const CACHE_KIB: i64 = 10 * 1024;

/// How a book is opened for writing.
#[derive(Clone, Debug)]
pub struct Options {
    /// The file.
    pub path: PathBuf,
    /// The time of this process start.
    pub now: UtcMs,
    /// The name of this process start.
    pub stream: StreamId,
    /// The secret of a book that is made now; a book that exists has its own.
    pub new_secret: [u8; 32],
    /// How many callers may share one fsync.
    pub batch_max: usize,
    /// The program and its version, for the journal.
    pub program: String,
}

/// A book that is this process's alone to write, and is not opened yet: nothing in it is touched. Whoever finds that he cannot
/// go on lets it go.
pub struct Locked {
    path: PathBuf,
    lock: File,
}

impl Locked {
    /// Takes the book's lock, where a whole book lies or none. [`Error::Refused`]: another process has it, or it is not whole.
    pub fn take(path: &Path) -> Result<Self, Error> {
        let path = one_name(path)?;
        let lock = lock_file(&path)?;
        whole_or_new(&path)?;
        Ok(Self { path, lock })
    }
}

/// A book in one `SQLite` file.
pub struct Sqlite {
    /// Dropped before the writer, whose connection is then the last: closing it folds the log into the book.
    readers: Readers,
    writer: Option<Writer>,
    stream: StreamId,
    started_at: UtcMs,
    secret: BookSecret,
}

impl Sqlite {
    /// Opens the book, making it if it is not there, and begins this process's stream.
    pub fn open(options: Options) -> Result<Self, Error> {
        Self::open_locked(Locked::take(&options.path)?, options)
    }

    /// The same of a book that is locked already; its path is the lock's.
    pub fn open_locked(locked: Locked, options: Options) -> Result<Self, Error> {
        Self::open_folding(locked, options, LOG_PAGES)
    }

    /// `log_pages`: how long the log grows before it is folded.
    fn open_folding(Locked { path, lock }: Locked, options: Options, log_pages: i32) -> Result<Self, Error> {
        let options = Options { path, ..options };
        let mut conn = Connection::open(&options.path).map_err(|e| Error::Unavailable(format!("{}: {e}", options.path.display())))?;
        prepare(&conn)?;
        migrate::run(&conn)?;
        let secret = migrate::book_secret(&conn, options.new_secret)?;
        let (ord, head) = begin_stream(&conn, &options)?;
        let folding = Folding::start(&options.path, &mut conn, log_pages)?;
        let marks = Marks::read(&conn)?;
        let writer = Writer::start((conn, folding), (ord, head.clone(), marks), options.batch_max.max(1), lock)?;
        let readers = Readers::of(&options.path, Vec::new());
        Ok(Self { readers, writer: Some(writer), stream: head.stream, started_at: options.now, secret })
    }

    /// Opens a book that another process may be writing, to read it only. Verbs that write answer [`Error::Refused`].
    pub fn open_to_read(path: &Path) -> Result<Self, Error> {
        let conn = reader(path)?;
        if !migrate::is_book(&conn)? {
            let wal = "a book copied while it was open lacks what its -wal file holds";
            return Err(Error::Refused(format!("{} is no book of Oncebook: {wal}", path.display())));
        }
        migrate::check_to_read(&conn)?;
        let secret = migrate::read_secret(&conn)?;
        let id: Option<String> =
            conn.query_row("SELECT id FROM streams ORDER BY ord DESC LIMIT 1", [], |row| row.get(0)).optional().map_err(fault)?;
        let stream = id.as_deref().and_then(StreamId::parse).ok_or_else(|| Error::Corrupt("streams: no stream".to_owned()))?;
        Ok(Self { readers: Readers::of(path, vec![conn]), writer: None, stream, started_at: UtcMs(0), secret })
    }

    async fn write<R: Send + 'static>(
        &self,
        work: impl FnMut(&mut writer::Txn<'_>) -> Result<R, Error> + Send + 'static,
    ) -> Result<R, Error> {
        match &self.writer {
            Some(writer) => writer.write(work).await,
            None => Err(Error::Refused("this book is open to be read only".to_owned())),
        }
    }

    async fn read<R: Send + 'static>(&self, work: impl FnOnce(&Connection) -> Result<R, Error> + Send + 'static) -> Result<R, Error> {
        self.readers.read(work).await
    }
}

/// The one name of the book's file: the lock stands beside it, and a second name would have a second lock.
fn one_name(path: &Path) -> Result<PathBuf, Error> {
    use std::os::unix::fs::MetadataExt as _;
    let unavailable = |e: std::io::Error| Error::Unavailable(format!("{}: {e}", path.display()));
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        // A link to nothing would be made into a book elsewhere, under another name than its own.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && !path.is_symlink() => return Ok(path.to_owned()),
        Err(e) => return Err(unavailable(e)),
    };
    if found.is_file() && found.nlink() > 1 {
        return Err(Error::Refused(format!("the book {} has a second name (a hard link): leave it one, or copy it", path.display())));
    }
    std::fs::canonicalize(path).map_err(unavailable)
}

/// Refuses to begin a new book where the log of an old one lies, and to touch a database of something else.
fn whole_or_new(path: &Path) -> Result<(), Error> {
    if length(path) > 0 {
        return migrate::no_other_database(&reader(path)?);
    }
    not_its_log_alone(path)
}

/// Takes the lock that makes this process the only writer.
fn lock_file(path: &Path) -> Result<File, Error> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = File::create(&name).map_err(|e| Error::Unavailable(format!("{}: {e}", name.display())))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let stop = "stop `oncebook serve` first, or let the server do it";
            Err(Error::Refused(format!("the book {} is open in another process: {stop}", path.display())))
        }
        Err(TryLockError::Error(e)) => Err(Error::Unavailable(format!("{}: {e}", name.display()))),
    }
}

fn prepare(conn: &Connection) -> Result<(), Error> {
    conn.busy_timeout(BUSY).map_err(fault)?;
    conn.pragma_update(None, "journal_mode", "WAL").map_err(fault)?;
    conn.pragma_update(None, "synchronous", "FULL").map_err(fault)?;
    conn.pragma_update(None, "foreign_keys", "ON").map_err(fault)?;
    conn.pragma_update(None, "cache_size", -(CACHE_KIB)).map_err(fault)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Begins this process's stream. Every lease of an earlier process is over: it is dead, since we hold the lock.
fn begin_stream(conn: &Connection, options: &Options) -> Result<(i64, Head), Error> {
    let transaction = conn.unchecked_transaction().map_err(fault)?;
    let earlier = read::last_head(&transaction)?;
    transaction.execute("INSERT INTO streams (id, started_at) VALUES (?1, ?2)", (options.stream.as_str(), options.now.0)).map_err(fault)?;
    let ord = transaction.last_insert_rowid();
    transaction.execute("UPDATE enquiries SET lease_until = 0 WHERE due IS NOT NULL AND lease_until > 0", []).map_err(fault)?;
    transaction.execute("UPDATE effects SET lease_until = 0 WHERE due IS NOT NULL AND lease_until > 0", []).map_err(fault)?;
    let mut head = Head::genesis(options.stream.clone());
    // One process at a time writes: only the last stream can have grown since its successor would have listed it.
    let draft = Draft::stream_began(options.now, "engine", earlier.as_ref());
    let draft = Draft { facts: draft.facts.with("program", options.program.as_str()), ..draft };
    writer::append_to(&transaction, ord, &mut head, draft, None)?;
    transaction.commit().map_err(fault)?;
    Ok((ord, head))
}

/// A failure of `SQLite`, told by what the caller does next. What it says of a statement names no value.
#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
fn fault(error: rusqlite::Error) -> Error {
    use rusqlite::Error as E;
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Corrupt(error.to_string()),
        Some(ErrorCode::ConstraintViolation) => Error::EXISTS,
        // A column holds what none of our statements puts there.
        None if matches!(error, E::FromSqlConversionFailure(..) | E::IntegralValueOutOfRange(..) | E::InvalidColumnType(..)) => {
            Error::Corrupt(error.to_string())
        }
        _ => Error::Unavailable(error.to_string()),
    }
}

#[async_trait]
impl crate::Store for Sqlite {
    fn stream(&self) -> &StreamId {
        &self.stream
    }

    fn secret(&self) -> &BookSecret {
        &self.secret
    }

    fn dead_since(&self, process: &StreamId) -> Option<UtcMs> {
        // Who only reads holds no lock, and knows nothing about the process that may be writing.
        (self.writer.is_some() && *process != self.stream).then_some(self.started_at)
    }

    async fn accept(&self, arrival: Arrival) -> Result<Receipt, Error> {
        let files = sound::arrival(&arrival);
        self.write(move |txn| write::accept(txn, &arrival, &files)).await
    }

    async fn refuse(&self, delivery: Delivery, body: Blob, keep: u32, oldest: UtcMs) -> Result<(), Error> {
        self.write(move |txn| write::refuse(txn, &delivery, &body, keep, oldest)).await
    }

    async fn lease(&self, now: UtcMs, until: UtcMs, limit: usize) -> Result<Leases, Error> {
        sound::lease(now, until);
        self.write(move |txn| lease::due(txn, now, until, limit)).await
    }

    async fn commit(&self, step: Step) -> Result<(), Error> {
        sound::step(&step);
        self.write(move |txn| write::commit(txn, &step)).await
    }

    async fn case(&self, id: &EnquiryId) -> Result<Option<Case>, Error> {
        let id = id.clone();
        self.read(move |conn| read::case(conn, &id)).await
    }

    async fn dossier(&self, id: &EnquiryId) -> Result<Option<Dossier>, Error> {
        let id = id.clone();
        self.read(move |conn| read::dossier(conn, &id)).await
    }

    async fn resolve(&self, name: &str) -> Result<Vec<EnquiryId>, Error> {
        let name = name.to_owned();
        self.read(move |conn| read::resolve(conn, &name)).await
    }

    async fn page(&self, list: List, ask: Ask) -> Result<Page, Error> {
        self.read(move |conn| read::page(conn, list, &ask)).await
    }

    async fn blob(&self, digest: &Digest, of: Option<&EnquiryId>) -> Result<Option<Blob>, Error> {
        let (digest, of) = (*digest, of.cloned());
        self.read(move |conn| read::blob(conn, &digest, of.as_ref())).await
    }

    async fn delivery(&self, id: &str) -> Result<Option<Arrived>, Error> {
        let id = id.to_owned();
        self.read(move |conn| read::delivery(conn, &id)).await
    }

    async fn journal_after(&self, after: Option<(StreamId, u64)>, limit: usize) -> Result<Vec<Entry>, Error> {
        self.read(move |conn| read::journal_after(conn, after.as_ref(), limit)).await
    }

    async fn note(&self, drafts: Vec<Draft>) -> Result<Head, Error> {
        self.write(move |txn| {
            for draft in &drafts {
                txn.append(draft.clone())?;
            }
            Ok(txn.head())
        })
        .await
    }

    async fn rules(&self, source: &str) -> Result<Vec<RuleVersion>, Error> {
        let source = source.to_owned();
        self.read(move |conn| read::rules(conn, &source)).await
    }

    async fn adopt_rule(&self, source: &str, rule: String, draft: Draft) -> Result<(), Error> {
        let source = source.to_owned();
        self.write(move |txn| write::adopt_rule(txn, &source, &rule, draft.clone())).await
    }

    async fn targets(&self) -> Result<Vec<TargetState>, Error> {
        self.read(read::targets).await
    }

    async fn prune(&self, before: UtcMs, now: UtcMs) -> Result<u64, Error> {
        self.write(move |txn| write::prune(txn, before, now)).await
    }

    async fn ping(&self) -> Result<(), Error> {
        self.write(|txn| write::ping(txn)).await
    }
}
