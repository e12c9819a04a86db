//! Numbered migrations, each recorded with its digest, and the book's own values.

use domain::digest::{BookSecret, Digest};
use rusqlite::{Connection, OptionalExtension as _};

use super::fault;
use crate::error::Error;

const MIGRATIONS: &[(i64, &str)] = &[
    (1, include_str!("../../../../migrations/sqlite/0001_book.sql")),
    (2, include_str!("../../../../migrations/sqlite/0002_numbers.sql")),
];

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
            transaction.execute_batch(sql).map_err(fault)?;
            let digest = Digest::sha256(sql.as_bytes()).to_string();
            transaction.execute("INSERT INTO migrations (version, sha256) VALUES (?1, ?2)", (version, digest)).map_err(fault)?;
        }
        transaction.commit().map_err(fault)?;
    }
    Ok(())
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
