//! The limit of the embedded engine.
//!
//! The rows that a book got for its deliveries are inserted once more into the same tables by a bare loop in batches of one
//! size: no HTTP, no reading, no verdict, no chain, no other thread.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use crate::Watch;

/// The rows of one delivery each, by table.
pub struct Rows {
    schema: Vec<String>,
    inserts: Vec<String>,
    /// A delivery's rows: which insert, and its values.
    deliveries: Vec<Vec<(usize, Vec<Value>)>>,
}

impl Rows {
    /// How many rows a delivery got.
    pub fn per_delivery(&self) -> f64 {
        let rows: usize = self.deliveries.iter().map(Vec::len).sum();
        #[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "a mean of small numbers")]
        let mean = rows as f64 / self.deliveries.len().max(1) as f64;
        mean
    }

    /// Reads the rows of at most so many deliveries from a book that nobody writes.
    pub fn read(book: &Path, max: usize) -> rusqlite::Result<Self> {
        let conn = Connection::open_with_flags(book, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let schema = texts(&conn, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid")?;
        let (mut inserts, mut deliveries) = (Vec::new(), Vec::new());
        for table in ["blobs", "deliveries", "enquiries", "journal"] {
            let columns = texts(&conn, &format!("SELECT name FROM pragma_table_info('{table}')"))?;
            let marks = vec!["?"; columns.len()].join(", ");
            inserts.push(format!("INSERT INTO {table} ({}) VALUES ({marks})", columns.join(", ")));
            // A table has as many rows a delivery as it has rows for all of them.
            let rows: usize = conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
            let all: usize = conn.query_row("SELECT count(*) FROM deliveries", [], |row| row.get(0))?;
            let each = (rows / all.max(1)).max(1);
            let order = if table == "journal" { "stream, seq" } else { "rowid" };
            // The stream's beginning is no delivery's.
            let skip = rows - each * all;
            let sql = format!("SELECT {} FROM {table} ORDER BY {order} LIMIT {} OFFSET {skip}", columns.join(", "), max * each);
            let mut statement = conn.prepare(&sql)?;
            let mut found = statement.query([])?;
            let mut n = 0;
            while let Some(row) = found.next()? {
                let values = (0..columns.len()).map(|at| row.get(at)).collect::<rusqlite::Result<Vec<Value>>>()?;
                if deliveries.len() <= n / each {
                    deliveries.push(Vec::new());
                }
                deliveries[n / each].push((inserts.len() - 1, values));
                n += 1;
            }
        }
        Ok(Self { schema, inserts, deliveries })
    }

    /// Inserts them all into a new file, so many deliveries a transaction. Returns deliveries a second.
    pub fn insert(&self, file: &Path, batch: usize) -> rusqlite::Result<f64> {
        let mut conn = Connection::open(file)?;
        conn.pragma_update(None, "journal_mode", "WAL")?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        for sql in &self.schema {
            conn.execute(sql, [])?;
        }
        conn.execute("INSERT INTO streams (ord, id, started_at) VALUES (1, 'str_bare', 0)", [])?;
        let watch = Watch::start();
        for some in self.deliveries.chunks(batch.max(1)) {
            let transaction = conn.transaction()?;
            for (insert, values) in some.iter().flatten() {
                transaction.prepare_cached(&self.inserts[*insert])?.execute(params_from_iter(values))?;
            }
            transaction.commit()?;
        }
        #[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "a rate of a few million at most")]
        let rate = self.deliveries.len() as f64 / watch.seconds();
        Ok(rate)
    }
}

fn texts(conn: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    conn.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}
