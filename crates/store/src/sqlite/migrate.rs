//! Numbered migrations, each recorded with its digest, and the book's own values.

use domain::digest::{BookSecret, Digest};
use rusqlite::{Connection, OptionalExtension as _};

use super::fault;
use super::marks::{MARKS_MAX, mark};
use crate::error::Error;

pub(super) const MIGRATIONS: &[(i64, &str)] = &[
    (1, include_str!("../../../../migrations/sqlite/0001_book.sql")),
    (NUMBERS, include_str!("../../../../migrations/sqlite/0002_numbers.sql")),
];

/// The version since which an enquiry is a number.
const NUMBERS: i64 = 2;

/// Brings the book to this version. A book of a newer version is refused, and so is one whose past differs.
pub(super) fn run(conn: &Connection) -> Result<(), Error> {
    no_other_database(conn)?;
    let ledger = "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, sha256 TEXT NOT NULL)";
    conn.execute_batch(ledger).map_err(fault)?;
    check(conn)?;
    for (version, sql) in MIGRATIONS {
        let transaction = conn.unchecked_transaction().map_err(fault)?;
        let done: Option<String> = transaction
            .query_row("SELECT sha256 FROM migrations WHERE version = ?1", [version], |row| row.get(0))
            .optional()
            .map_err(fault)?;
        if done.is_none() {
            apply(&transaction, *version, sql)?;
            let digest = Digest::sha256(sql.as_bytes()).to_string();
            transaction.execute("INSERT INTO migrations (version, sha256) VALUES (?1, ?2)", (version, digest)).map_err(fault)?;
        }
        transaction.commit().map_err(fault)?;
    }
    Ok(())
}

/// One migration, with what of it no SQL can do. Whatever it cannot carry over stops it, and the book stays as it was.
fn apply(conn: &Connection, version: i64, sql: &str) -> Result<(), Error> {
    let marks = if version == NUMBERS {
        every_enquiry_is_there(conn)?;
        marks_of_before(conn)?
    } else {
        Vec::new()
    };
    conn.execute_batch(sql).map_err(|e| match fault(e) {
        Error::Conflict(_) => Error::Corrupt(format!("migration {version}: a row of the book has no place in the new tables")),
        other => other,
    })?;
    for (n, mark) in marks {
        conn.prepare_cached("UPDATE enquiries SET look_alike = ?2 WHERE n = ?1")
            .and_then(|mut statement| statement.execute((n, mark)))
            .map_err(fault)?;
    }
    Ok(())
}

/// What is filed under an enquiry that is not in the book would be found by nobody once it is filed under a number.
fn every_enquiry_is_there(conn: &Connection) -> Result<(), Error> {
    for table in ["journal", "blobs", "deliveries", "effects", "reviews"] {
        let sql = format!(
            "SELECT count(*) FROM {table} t WHERE t.enquiry IS NOT NULL AND NOT EXISTS (SELECT 1 FROM enquiries e WHERE e.id = t.enquiry)"
        );
        let lost: i64 = conn.query_row(&sql, [], |row| row.get(0)).map_err(fault)?;
        if lost > 0 {
            let why = "belong to an enquiry that is not in the book; it was not brought to this version, and nothing in it was changed";
            return Err(Error::Corrupt(format!("{table}: {lost} rows {why}")));
        }
    }
    Ok(())
}

/// The marks of the last enquiries, from the digests that stood in their rows: who sends twice around an upgrade is held too.
fn marks_of_before(conn: &Connection) -> Result<Vec<(i64, i64)>, Error> {
    let sql = "SELECT rowid, source, look_alike FROM enquiries
               WHERE rowid > (SELECT coalesce(max(rowid), 0) FROM enquiries) - ?1 AND look_alike IS NOT NULL";
    let max = i64::try_from(MARKS_MAX).unwrap_or(i64::MAX);
    let mut statement = conn.prepare(sql).map_err(fault)?;
    let rows = statement
        .query_map([max], |row| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(2)?)))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let marked = |(n, source, digest): (i64, String, Vec<u8>)| {
        let digest = Digest::from_slice(&digest).ok_or_else(|| Error::Corrupt("enquiries: a mark is not 32 bytes".to_owned()))?;
        Ok((n, mark(&source, &digest)))
    };
    rows.map_err(fault)?.into_iter().map(marked).collect()
}

/// Refuses a file that holds something, and no book.
pub(super) fn no_other_database(conn: &Connection) -> Result<(), Error> {
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(fault)?;
    if tables == 0 || is_book(conn)? {
        return Ok(());
    }
    Err(Error::Refused("the file is a database of something else: name another file in [store] url".to_owned()))
}

/// Whether the file is a book at all. Others have a table of migrations too, but not with the same columns; and a book whose
/// making was cut short has nothing but that table.
pub(super) fn is_book(conn: &Connection) -> Result<bool, Error> {
    let ours = "SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info('migrations') ORDER BY cid)";
    let columns: Option<String> = conn.query_row(ours, [], |row| row.get(0)).map_err(fault)?;
    let others = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('migrations', 'meta', 'sqlite_sequence')";
    let has_streams = "SELECT count(*) FROM pragma_table_info('streams') WHERE name IN ('ord', 'id', 'started_at')";
    let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(fault);
    Ok(columns.as_deref() == Some("version,sha256") && (count(others)? == 0 || count(has_streams)? == 3))
}

/// Whether this program knows the book's version.
pub(super) fn check(conn: &Connection) -> Result<(), Error> {
    let mut statement = conn.prepare("SELECT version, sha256 FROM migrations ORDER BY version").map_err(fault)?;
    let done = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))).map_err(fault)?;
    for row in done {
        let (version, digest) = row.map_err(fault)?;
        let known = MIGRATIONS.iter().find(|(known, _)| *known == version);
        let Some((_, sql)) = known else {
            return Err(Error::Refused(format!("the book was made by a newer version (migration {version}): update oncebook")));
        };
        if Digest::sha256(sql.as_bytes()).to_string() != digest {
            return Err(Error::Corrupt(format!("migrations: number {version} is not the one this program knows")));
        }
    }
    Ok(())
}

/// Whether this program can read the book as it is: who only reads does not bring it to this version.
pub(super) fn check_to_read(conn: &Connection) -> Result<(), Error> {
    check(conn)?;
    let of: i64 = conn.query_row("SELECT coalesce(max(version), 0) FROM migrations", [], |row| row.get(0)).map_err(fault)?;
    let ours = MIGRATIONS.last().map_or(0, |(version, _)| *version);
    if of < ours {
        let what = "start `oncebook serve` once on a copy of it, which brings the copy to this version, or read it with the older program";
        return Err(Error::Refused(format!("the book is of an earlier version (migration {of}, this program reads {ours}): {what}")));
    }
    Ok(())
}

/// The book's secret, made now if the book is new.
pub(super) fn book_secret(conn: &Connection, new: [u8; 32]) -> Result<BookSecret, Error> {
    // A book that has begun a stream has a secret: with another one nothing in it would be recognised again.
    let sql = "INSERT INTO meta (name, value) SELECT 'secret', ?1 WHERE NOT EXISTS (SELECT 1 FROM streams)
               ON CONFLICT (name) DO NOTHING";
    conn.execute(sql, [new.as_slice()]).map_err(fault)?;
    read_secret(conn)
}

/// The secret of a book that exists.
pub(super) fn read_secret(conn: &Connection) -> Result<BookSecret, Error> {
    let bytes: Vec<u8> = conn.query_row("SELECT value FROM meta WHERE name = 'secret'", [], |row| row.get(0)).map_err(fault)?;
    let bytes = bytes.try_into().map_err(|_| Error::Corrupt("meta: the secret is not 32 bytes".to_owned()))?;
    Ok(BookSecret::new(bytes))
}
