//! The desk's `SQLite` file: contacts, deals and the links between them.
//!
//! Its constraints are what makes the desk *unique*: they hold whoever writes, also after a restart and from two processes.
//! The store's book is another file, with which this one never shares a transaction: no other CRM could.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::time::UtcMs;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use super::records::{CONTACT, Contact, DEAL, Deal, read_contact, read_deal};
use super::rendered::{Person, Work};
use crate::stops::Stops;

const SCHEMA_VERSION: i64 = 1;
const SCHEMA: &str = "
    CREATE TABLE contacts (
        id INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE, email TEXT, phone TEXT, name TEXT, company TEXT,
        created_at INTEGER NOT NULL);
    CREATE TABLE deals (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, title TEXT NOT NULL, message TEXT, summary TEXT, priority TEXT,
        request_type TEXT, amount TEXT, contact_id INTEGER REFERENCES contacts (id), created_at INTEGER NOT NULL);
    CREATE TABLE links (
        deal_id INTEGER NOT NULL REFERENCES deals (id), contact_id INTEGER NOT NULL REFERENCES contacts (id),
        PRIMARY KEY (deal_id, contact_id)) WITHOUT ROWID;
    PRAGMA user_version = 1;";

/// What came of writing. An error beside it means: not known.
#[derive(Debug)]
pub(super) enum Put {
    Made(String),
    /// The key, the address or the link is there already.
    Taken,
    /// Rolled back, or not begun.
    NotDone(String),
}

pub(super) struct Book {
    connection: Connection,
    stops: Arc<Stops>,
}

impl Book {
    pub(super) fn open(path: &Path, stops: Arc<Stops>) -> Result<Self, String> {
        let told = |e: rusqlite::Error| format!("the desk at {}: {e}", path.display());
        // Beside a file that is not there, or empty, opening throws the log away.
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        if size(path) == 0 && size(Path::new(&log)) > 0 {
            let why = "is missing or empty, and its log (-wal) is there: bring the file back, or move the log away to begin a new one";
            return Err(format!("the desk at {} {why}", path.display()));
        }
        let mut connection = Connection::open(path).map_err(told)?;
        connection.busy_timeout(Duration::from_secs(2)).map_err(told)?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(told)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(told)?;
        connection.pragma_update(None, "foreign_keys", "ON").map_err(told)?;
        let version = |c: &Connection| c.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
        // A file that is made already is not locked: somebody may be writing it.
        if version(&connection).map_err(told)? == 0 {
            let making = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(told)?;
            // Asked again, for two processes may make the file at the same time.
            if version(&making).map_err(told)? == 0 {
                making.execute_batch(SCHEMA).map_err(told)?;
            }
            making.commit().map_err(told)?;
        }
        match version(&connection).map_err(told)? {
            SCHEMA_VERSION => {}
            other => return Err(format!("the desk at {} is of version {other}, this program knows {SCHEMA_VERSION}", path.display())),
        }
        Ok(Self { connection, stops })
    }

    pub(super) fn put_contact(&mut self, person: &Person, now: UtcMs, in_time: impl Fn() -> Result<(), String>) -> Result<Put, String> {
        let insert = |t: &Transaction<'_>| {
            t.execute(
                "INSERT INTO contacts (address, email, phone, name, company, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![person.address, person.email, person.phone, person.name, person.company, now.0],
            )?;
            Ok(format!("contact-{}", t.last_insert_rowid()))
        };
        self.put(in_time, insert, &[])
    }

    pub(super) fn put_deal(
        &mut self,
        key: &str,
        deal: &Work,
        contact: Option<&str>,
        now: UtcMs,
        in_time: impl Fn() -> Result<(), String>,
    ) -> Result<Put, String> {
        let contact = contact.and_then(|id| number("contact-", id));
        let insert = |t: &Transaction<'_>| {
            t.execute(
                "INSERT INTO deals (key, title, message, summary, priority, request_type, amount, contact_id, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![key, deal.title, deal.message, deal.summary, deal.priority, deal.request_type, deal.amount, contact, now.0],
            )?;
            Ok(format!("deal-{}", t.last_insert_rowid()))
        };
        self.put(in_time, insert, &["desk.before-commit", "desk.after-commit"])
    }

    /// Ties the two together, and fills what stands empty in the contact: a filled field is a person's, never overwritten.
    pub(super) fn put_link(
        &mut self,
        deal: &str,
        contact: &str,
        person: &Person,
        in_time: impl Fn() -> Result<(), String>,
    ) -> Result<Put, String> {
        let (Some(deal), Some(contact)) = (number("deal-", deal), number("contact-", contact)) else {
            return Ok(Put::NotDone("a link needs ids of the desk's own".to_owned()));
        };
        let insert = |t: &Transaction<'_>| {
            t.execute("INSERT INTO links (deal_id, contact_id) VALUES (?1, ?2)", params![deal, contact])?;
            t.execute("UPDATE deals SET contact_id = ?2 WHERE id = ?1 AND contact_id IS NULL", params![deal, contact])?;
            t.execute(
                "UPDATE contacts SET email = coalesce(nullif(email, ''), ?2), phone = coalesce(nullif(phone, ''), ?3),
                     name = coalesce(nullif(name, ''), ?4), company = coalesce(nullif(company, ''), ?5) WHERE id = ?1",
                params![contact, person.email, person.phone, person.name, person.company],
            )?;
            Ok(format!("link-{deal}-{contact}"))
        };
        self.put(in_time, insert, &[])
    }

    /// One transaction, with the drills' places before and after its COMMIT. Before it every failure is definite; a failing COMMIT is not.
    fn put(
        &mut self,
        in_time: impl Fn() -> Result<(), String>,
        insert: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<String>,
        places: &[&str],
    ) -> Result<Put, String> {
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = match begun {
            Ok(transaction) => transaction,
            Err(e) => return Ok(Put::NotDone(e.to_string())),
        };
        if let Err(why) = in_time() {
            return Ok(Put::NotDone(why));
        }
        let id = match insert(&transaction) {
            Ok(id) => id,
            Err(e) if is_taken(&e) => return Ok(Put::Taken),
            Err(e) => return Ok(Put::NotDone(e.to_string())),
        };
        places.first().iter().for_each(|place| self.stops.at(place));
        transaction.commit().map_err(|e| e.to_string())?;
        places.last().iter().for_each(|place| self.stops.at(place));
        Ok(Put::Made(id))
    }

    pub(super) fn deal_of(&self, key: &str) -> Result<Option<String>, String> {
        self.one("SELECT 'deal-' || id FROM deals WHERE key = ?1", params![key], |row| row.get(0))
    }

    pub(super) fn contact_of(&self, address: &str) -> Result<Option<String>, String> {
        self.one("SELECT 'contact-' || id FROM contacts WHERE address = ?1", params![address], |row| row.get(0))
    }

    pub(super) fn link_of(&self, key: &str, address: &str) -> Result<Option<String>, String> {
        let select = "SELECT 'link-' || deal_id || '-' || links.contact_id FROM links JOIN deals ON deals.id = deal_id
                      JOIN contacts ON contacts.id = links.contact_id WHERE key = ?1 AND address = ?2";
        self.one(select, params![key, address], |row| row.get(0))
    }

    pub(super) fn deal(&self, id: &str) -> Result<Option<Deal>, String> {
        self.one(&format!("{DEAL} WHERE id = ?1"), params![number("deal-", id)], read_deal)
    }

    pub(super) fn contact(&self, id: &str) -> Result<Option<Contact>, String> {
        self.one(&format!("{CONTACT} WHERE id = ?1"), params![number("contact-", id)], read_contact)
    }

    pub(super) fn deals(&self, key: Option<&str>, after: i64, limit: u32) -> Result<Vec<Deal>, String> {
        let select = format!("{DEAL} WHERE id > ?1 AND (?2 IS NULL OR key = ?2) ORDER BY id LIMIT ?3");
        self.many(&select, params![after, key, limit], read_deal)
    }

    pub(super) fn contacts(&self, after: i64, limit: u32) -> Result<Vec<Contact>, String> {
        self.many(&format!("{CONTACT} WHERE id > ?1 ORDER BY id LIMIT ?2"), params![after, limit], read_contact)
    }

    fn one<T>(&self, select: &str, with: &[&dyn rusqlite::ToSql], read: fn(&Row<'_>) -> rusqlite::Result<T>) -> Result<Option<T>, String> {
        self.connection.query_row(select, with, read).optional().map_err(|e| e.to_string())
    }

    fn many<T>(&self, select: &str, with: &[&dyn rusqlite::ToSql], read: fn(&Row<'_>) -> rusqlite::Result<T>) -> Result<Vec<T>, String> {
        let mut statement = self.connection.prepare(select).map_err(|e| e.to_string())?;
        let rows = statement.query_map(with, read).map_err(|e| e.to_string())?;
        rows.collect::<Result<_, _>>().map_err(|e| e.to_string())
    }
}

/// A uniqueness that was violated; any other constraint is our own mistake.
fn is_taken(error: &rusqlite::Error) -> bool {
    let rusqlite::Error::SqliteFailure(failure, _) = error else { return false };
    failure.code == ErrorCode::ConstraintViolation
        && matches!(failure.extended_code, rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
}

fn number(prefix: &str, id: &str) -> Option<i64> {
    id.strip_prefix(prefix)?.parse().ok()
}
