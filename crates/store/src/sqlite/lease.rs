//! Handing out work, inside the writer's transaction.

use domain::time::UtcMs;
use rusqlite::{Row, named_params};
use serde::de::DeserializeOwned;

use super::fault;
use super::write::parse;
use super::writer::Txn;
use crate::error::Error;
use crate::model::{Lease, Leases};

pub(super) fn due(txn: &mut Txn<'_>, now: UtcMs, until: UtcMs, limit: usize) -> Result<Leases, Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    // How many of the oldest are enquiries and how many effects: new enquiries without end must not starve what waits longer.
    let sql = "SELECT count(*) FILTER (WHERE part = 0), count(*) FILTER (WHERE part = 1) FROM (
               SELECT * FROM (SELECT * FROM (SELECT 0 AS part, due, rowid AS n FROM enquiries WHERE due <= ?1 AND lease_until <= ?1
                                             ORDER BY due, rowid LIMIT ?2)
                              UNION ALL SELECT * FROM (SELECT 1 AS part, due, rowid AS n FROM effects WHERE due <= ?1 AND lease_until <= ?1
                                             AND target NOT IN (SELECT name FROM targets WHERE paused)
                                             ORDER BY due, rowid LIMIT ?2))
               ORDER BY due, part, n LIMIT ?2)";
    let (enquiries, effects) = txn
        .conn
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row((now.0, limit), |row| Ok((row.get(0)?, row.get(1)?))))
        .map_err(fault)?;
    let mut leases = Leases {
        enquiries: take(txn, "enquiries", "", (now, until), enquiries)?,
        effects: take(txn, "effects", "AND target NOT IN (SELECT name FROM targets WHERE paused)", (now, until), effects)?,
        next_due: None,
    };
    leases.next_due = next_due(txn, now)?;
    Ok(leases)
}

/// Work that will be due, and due work whose worker may never report: its lease will run out.
fn next_due(txn: &Txn<'_>, now: UtcMs) -> Result<Option<UtcMs>, Error> {
    let sql = "SELECT min(at) FROM (SELECT min(due) AS at FROM enquiries WHERE due > ?1
               UNION ALL SELECT min(due) FROM effects WHERE due > ?1
               UNION ALL SELECT min(lease_until) FROM enquiries WHERE due <= ?1 AND lease_until > ?1 AND lease_until > 0
               UNION ALL SELECT min(lease_until) FROM effects WHERE due <= ?1 AND lease_until > ?1 AND lease_until > 0)";
    let next: Option<i64> =
        txn.conn.prepare_cached(sql).and_then(|mut statement| statement.query_row([now.0], |row| row.get(0))).map_err(fault)?;
    Ok(next.map(UtcMs))
}

/// `but`: what of the table is not handed out.
fn take<T: DeserializeOwned>(
    txn: &Txn<'_>,
    table: &str,
    but: &str,
    (now, until): (UtcMs, UtcMs),
    limit: i64,
) -> Result<Vec<Lease<T>>, Error> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let sql = format!(
        "UPDATE {table} SET lease_until = :until, fence = fence + 1 WHERE rowid IN
         (SELECT rowid FROM {table} WHERE due <= :now AND lease_until <= :now {but} ORDER BY due, rowid LIMIT :limit)
         RETURNING doc, fence, version, due, rowid"
    );
    let mut statement = txn.conn.prepare_cached(&sql).map_err(fault)?;
    let read = |row: &Row<'_>| -> rusqlite::Result<(i64, i64, String, u64, u64)> {
        Ok((row.get(3)?, row.get(4)?, row.get(0)?, row.get(1)?, row.get(2)?))
    };
    let rows = statement
        .query_map(named_params! { ":until": until.0, ":now": now.0, ":limit": limit }, read)
        .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>);
    let mut rows = rows.map_err(fault)?;
    // RETURNING promises no order; the oldest due goes first.
    rows.sort_by_key(|row| (row.0, row.1));
    rows.into_iter().map(|(_, _, doc, fence, version)| Ok(Lease { what: parse(table, &doc)?, fence, version })).collect()
}
