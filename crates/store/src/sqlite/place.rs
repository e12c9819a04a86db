//! Whether a book is the one it was: where its file stands, and which start was the last.
//!
//! A copy that is put back, or a book that is moved to another disk, is another file; and a small file beside the book names
//! the last start, so that an older book that was written over the same file shows too. Whoever was at work in between may
//! have written to targets what this book knows nothing of. What cannot be seen here (a whole disk set back to an earlier
//! state) a person says: [`super::Sqlite::open_restored`].

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use domain::ids::StreamId;
use domain::time::UtcMs;
use evidence::{Draft, Facts};
use rusqlite::{Connection, OptionalExtension as _};

use super::{Options, fault};
use crate::error::Error;

const PLACE: &str = "place";
const RESTORED: &str = "restored";

/// Which file it is: its number and when it was made. Not its device, whose number changes with a mount.
fn place(path: &Path) -> Result<String, Error> {
    let found = fs::metadata(path).map_err(|e| unavailable(path, &e))?;
    let made = found.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos());
    Ok(format!("{}:{made}", found.ino()))
}

/// Why this is not the book that was here last; `None` if it is, or is new, or is the first that notes its place.
pub(super) fn moved(conn: &Connection, path: &Path) -> Result<Option<&'static str>, Error> {
    let Some(last) = last_start(conn)? else { return Ok(None) };
    let starts = noted(path)?;
    Ok(match (value(conn, PLACE)?, starts) {
        (None, None) => None,
        (None, Some(_)) => Some("a later start of this book is noted beside it"),
        (Some(known), _) if known != place(path)? => Some("its file is another one than at its last start"),
        (Some(_), Some(starts)) if starts.lines().any(|start| start == last.as_str()) => None,
        (Some(_), Some(_)) => Some("its last start is not the one that is noted beside it"),
        (Some(_), None) => Some("no start is noted beside it"),
    })
}

/// Notes in the book where it stands, and, if so, that it was restored; says when it last was. Within the transaction that
/// begins the stream.
pub(super) fn note(conn: &Connection, options: &Options, why: Option<&str>) -> Result<(Option<UtcMs>, Option<Draft>), Error> {
    put(conn, PLACE, &place(&options.path)?)?;
    let Some(why) = why else {
        let at = value(conn, RESTORED)?.map(|text| text.parse().map_err(|_| Error::Corrupt("meta: 'restored' is no time".to_owned())));
        return Ok((at.transpose()?.map(UtcMs), None));
    };
    put(conn, RESTORED, &options.now.0.to_string())?;
    let (kind, actor) = ("book.restored".to_owned(), "engine".to_owned());
    let draft = Draft { at: options.now, enquiry: None, kind, actor, facts: Facts::new().with("why", why), blobs: Vec::new() };
    Ok((Some(options.now), Some(draft)))
}

/// Notes beside the book which starts may be its last. Both of them while a stream begins, so that a crash between the two
/// files is no restore.
pub(super) fn note_beside(path: &Path, starts: &[&StreamId]) -> Result<(), Error> {
    let (name, new) = (beside(path, ".start"), beside(path, ".start.new"));
    let text = starts.iter().map(|start| start.as_str()).collect::<Vec<_>>().join("\n");
    let written = File::create(&new).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&new, &name)).map_err(|e| unavailable(&name, &e))
}

/// The last start of the book, as the book has it.
pub(super) fn last_start(conn: &Connection) -> Result<Option<StreamId>, Error> {
    let id: Option<String> =
        conn.query_row("SELECT id FROM streams ORDER BY ord DESC LIMIT 1", [], |row| row.get(0)).optional().map_err(fault)?;
    Ok(id.as_deref().and_then(StreamId::parse))
}

fn noted(path: &Path) -> Result<Option<String>, Error> {
    let name = beside(path, ".start");
    match fs::read_to_string(&name) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(unavailable(&name, &e)),
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn value(conn: &Connection, name: &str) -> Result<Option<String>, Error> {
    conn.query_row("SELECT CAST(value AS TEXT) FROM meta WHERE name = ?1", [name], |row| row.get(0)).optional().map_err(fault)
}

fn put(conn: &Connection, name: &str, value: &str) -> Result<(), Error> {
    let sql = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    conn.execute(sql, (name, value)).map(drop).map_err(fault)
}

fn unavailable(path: &Path, error: &std::io::Error) -> Error {
    Error::Unavailable(format!("{}: {error}", path.display()))
}
