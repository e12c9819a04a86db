//! Handing out work, inside the writer's transaction.

use std::collections::BTreeMap;

use domain::time::UtcMs;
use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use serde::de::DeserializeOwned;

use super::fault;
use super::write::parse;
use super::writer::Txn;
use crate::error::Error;
use crate::model::{Lease, Leases};

pub(super) fn due(txn: &mut Txn<'_>, (now, until): (UtcMs, UtcMs), limit: usize, rooms: &BTreeMap<String, usize>) -> Result<Leases, Error> {
    let limit = whole(limit);
    // Which effects may go: of a target with a room the oldest so many, of the others all. In order of due time, which the
    // index has, so that each part ends after a few rows however many are due.
    let effects = goes(rooms.len());
    let mut values = vec![Value::from(now.0), Value::from(limit)];
    for (target, room) in rooms {
        values.extend([Value::from(target.clone()), Value::from(whole(*room))]);
    }
    // How many of the oldest are enquiries and how many effects: new enquiries without end must not starve what waits longer.
    let sql = format!(
        "SELECT count(*) FILTER (WHERE part = 0), count(*) FILTER (WHERE part = 1) FROM (
         SELECT * FROM (SELECT * FROM (SELECT 0 AS part, due, rowid AS n FROM enquiries WHERE due <= ?1 AND lease_until <= ?1
                                       ORDER BY due, rowid LIMIT ?2)
                        UNION ALL {effects})
         ORDER BY due, part, n LIMIT ?2)"
    );
    let count = |row: &Row<'_>| -> rusqlite::Result<(i64, i64)> { Ok((row.get(0)?, row.get(1)?)) };
    let counted = txn.conn.prepare_cached(&sql).and_then(|mut statement| statement.query_row(params_from_iter(&values), count));
    let (of_enquiries, of_effects) = counted.map_err(fault)?;
    let which = "SELECT rowid FROM enquiries WHERE due <= ?1 AND lease_until <= ?1 ORDER BY due, rowid LIMIT ?2";
    let mut leases = Leases {
        enquiries: take(txn, "enquiries", which, vec![Value::from(now.0), Value::from(of_enquiries)], until)?,
        effects: Vec::new(),
        next_due: None,
    };
    values[1] = Value::from(of_effects);
    let which = format!("SELECT n FROM ({effects}) ORDER BY due, n LIMIT ?2");
    leases.effects = take(txn, "effects", &which, values, until)?;
    leases.next_due = next_due(txn, now)?;
    Ok(leases)
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The due effects that may go, with so many bounded targets: ?3 and ?4 are the first one's name and room, and so on.
fn goes(bounded: usize) -> String {
    let due = "SELECT 1 AS part, due, rowid AS n FROM effects WHERE due <= ?1 AND lease_until <= ?1
               AND target NOT IN (SELECT name FROM targets WHERE paused)";
    let names: Vec<String> = (0..bounded).map(|k| format!("?{}", 2 * k + 3)).collect();
    let others = format!("SELECT * FROM ({due} AND target NOT IN ({}) ORDER BY due, rowid LIMIT ?2)", names.join(", "));
    let bounded = names
        .iter()
        .enumerate()
        .map(|(k, name)| format!("SELECT * FROM ({due} AND target = {name} ORDER BY due, rowid LIMIT min(?2, ?{}))", 2 * k + 4));
    [others].into_iter().chain(bounded).collect::<Vec<_>>().join(" UNION ALL ")
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

/// Takes the rows that `which` names, with its values.
fn take<T: DeserializeOwned>(
    txn: &Txn<'_>,
    table: &str,
    which: &str,
    mut values: Vec<Value>,
    until: UtcMs,
) -> Result<Vec<Lease<T>>, Error> {
    if values.get(1) == Some(&Value::from(0_i64)) {
        return Ok(Vec::new());
    }
    values.push(Value::from(until.0));
    let sql = format!(
        "UPDATE {table} SET lease_until = ?{}, fence = fence + 1 WHERE rowid IN ({which}) RETURNING doc, fence, version, due, rowid",
        values.len()
    );
    let mut statement = txn.conn.prepare_cached(&sql).map_err(fault)?;
    let read = |row: &Row<'_>| -> rusqlite::Result<(i64, i64, String, u64, u64)> {
        Ok((row.get(3)?, row.get(4)?, row.get(0)?, row.get(1)?, row.get(2)?))
    };
    let rows = statement.query_map(params_from_iter(values), read).and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>);
    let mut rows = rows.map_err(fault)?;
    // RETURNING promises no order; the oldest due goes first.
    rows.sort_by_key(|row| (row.0, row.1));
    rows.into_iter().map(|(_, _, doc, fence, version)| Ok(Lease { what: parse(table, &doc)?, fence, version })).collect()
}
