//! The verbs that read, each on one snapshot.

use std::collections::BTreeMap;

use domain::digest::Digest;
use domain::gate::{Away, Effect};
use domain::identity::Key;
use domain::ids::{DeliveryId, EffectId, EnquiryId, ReviewId, StreamId};
use domain::time::UtcMs;
use evidence::{Blob, Entry, Head};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};
use serde::de::DeserializeOwned;

use super::fault;
use super::write::parse;
use super::writer::number;
use crate::error::Error;
use crate::model::{Arrived, Ask, Case, Delivery, Dossier, List, Page, Rows, RuleVersion, TargetState, Verdict};

/// The end of the stream that began last.
pub(super) fn last_head(conn: &Connection) -> Result<Option<Head>, Error> {
    let sql = "SELECT entry FROM journal WHERE stream = (SELECT max(ord) FROM streams) ORDER BY seq DESC LIMIT 1";
    let entry: Option<String> = conn.query_row(sql, [], |row| row.get(0)).optional().map_err(fault)?;
    Ok(entry.map(|entry| parse::<Entry>("journal", &entry)).transpose()?.map(|entry| entry.head()))
}

pub(super) fn case(conn: &Connection, id: &EnquiryId) -> Result<Option<Case>, Error> {
    let row: Option<(String, u64, i64)> = conn
        .prepare_cached("SELECT doc, version, n FROM enquiries WHERE id = ?1")
        .and_then(|mut statement| statement.query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional())
        .map_err(fault)?;
    let Some((doc, version, n)) = row else { return Ok(None) };
    let mut statement = conn.prepare_cached("SELECT doc, version FROM effects WHERE enquiry = ?1 ORDER BY n").map_err(fault)?;
    let rows = statement.query_map([n], |row| Ok((row.get::<_, String>(0)?, row.get(1)?))).map_err(fault)?;
    let mut effects: Vec<(Effect, u64)> = Vec::new();
    for row in rows {
        let (doc, version) = row.map_err(fault)?;
        effects.push((parse("effects", &doc)?, version));
    }
    let reviews = docs(conn, "reviews", "SELECT doc FROM reviews WHERE enquiry = ?1 ORDER BY n", &[Value::Integer(n)])?;
    Ok(Some(Case { enquiry: parse("enquiries", &doc)?, version, effects, reviews }))
}

pub(super) fn dossier(conn: &Connection, id: &EnquiryId) -> Result<Option<Dossier>, Error> {
    let Some(Case { enquiry, version, effects, reviews }) = case(conn, id)? else { return Ok(None) };
    let n = [number(conn, id)?.map_or(Value::Null, Value::Integer)];
    let deliveries = docs(conn, "deliveries", "SELECT doc FROM deliveries WHERE enquiry = ?1 ORDER BY n", &n)?;
    let entries = docs(conn, "journal", "SELECT entry FROM journal WHERE enquiry = ?1 ORDER BY stream, seq", &n)?;
    Ok(Some(Dossier { enquiry, version, effects, deliveries, reviews, entries }))
}

pub(super) fn resolve(conn: &Connection, name: &str) -> Result<Vec<EnquiryId>, Error> {
    let mut ways: Vec<(&str, String)> = Vec::new();
    if EnquiryId::parse(name).is_some() {
        ways.push(("SELECT id FROM enquiries WHERE id = ?1", name.to_owned()));
    }
    if DeliveryId::parse(name).is_some() {
        ways.push((
            "SELECT e.id FROM deliveries d JOIN enquiries e ON e.n = d.enquiry WHERE d.id = ?1 GROUP BY e.n ORDER BY min(d.item)",
            name.to_owned(),
        ));
    }
    if EffectId::parse(name).is_some() {
        ways.push(("SELECT e.id FROM effects f JOIN enquiries e ON e.n = f.enquiry WHERE f.id = ?1", name.to_owned()));
    }
    if ReviewId::parse(name).is_some() {
        ways.push(("SELECT e.id FROM reviews r JOIN enquiries e ON e.n = r.enquiry WHERE r.id = ?1", name.to_owned()));
    }
    // An outgoing key of a re-run ends with `#n`.
    let key = name.split_once('#').map_or(name, |(key, _)| key);
    let parsed = Key::parse(key);
    ways.extend(parsed.iter().map(|key| ("SELECT id FROM enquiries WHERE id = ?1", key.enquiry_id().as_str().to_owned())));
    // A value that was too long stands in the text as its digest, which reads like a short value: only the text finds it.
    if key.matches(':').count() >= 2 && (parsed.is_none() || key.contains(":sha256-")) {
        ways.push(("SELECT id FROM enquiries WHERE key = ?1", key.to_owned()));
    }
    let by_record =
        "SELECT e.id FROM effects f JOIN enquiries e ON e.n = f.enquiry WHERE f.external_id = ?1 GROUP BY e.n ORDER BY min(f.n)";
    ways.push((by_record, name.to_owned()));
    for (sql, value) in ways {
        let mut statement = conn.prepare_cached(sql).map_err(fault)?;
        let found = statement.query_map([value], |row| row.get::<_, String>(0)).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let found: Vec<EnquiryId> = found.map_err(fault)?.iter().filter_map(|id| EnquiryId::parse(id)).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Records newest first, by the order they were entered in; the journal oldest first.
pub(super) fn page(conn: &Connection, list: List, ask: &Ask) -> Result<Page, Error> {
    if list == List::Journal {
        return journal_page(conn, ask);
    }
    if list == List::Deliveries && ask.state.as_deref() == Some(Verdict::Refused.as_str()) {
        return refused_page(conn, ask);
    }
    let (table, state) = match list {
        List::Enquiries => ("enquiries", "standing"),
        List::Deliveries => ("deliveries", "verdict"),
        List::Effects => ("effects", "state"),
        List::Reviews => ("reviews", "open"),
        List::Journal => unreachable!("handled above"),
    };
    let mut wheres = vec!["1 = 1".to_owned()];
    let mut values = Vec::new();
    let mut only = |condition: String, value: Value| {
        wheres.push(format!("{condition} ?"));
        values.push(value);
    };
    if let Some(cursor) = &ask.cursor {
        only("n <".to_owned(), Value::Integer(cursor.parse().map_err(|_| Error::bad_cursor())?));
    }
    if let Some(source) = ask.source.as_ref().filter(|_| matches!(list, List::Enquiries | List::Deliveries)) {
        only("source =".to_owned(), text(source));
    }
    if let Some(wanted) = &ask.state {
        let value = match (list, wanted.as_str()) {
            (List::Reviews, "open") => Value::Integer(1),
            (List::Reviews, "closed") => Value::Integer(0),
            // A state that the list does not know is nobody's.
            _ => text(wanted),
        };
        only(format!("{state} ="), value);
    }
    if let Some(enquiry) = ask.enquiry.as_ref().filter(|_| list != List::Enquiries) {
        only("enquiry =".to_owned(), number(conn, enquiry)?.map_or(Value::Null, Value::Integer));
    }
    let sql = format!("SELECT n, doc FROM {table} WHERE {} ORDER BY n DESC LIMIT ?", wheres.join(" AND "));
    let limit = ask.limit.clamp(1, 1000);
    values.push(Value::Integer(i64::try_from(limit).unwrap_or(1000) + 1));
    let mut statement = conn.prepare_cached(&sql).map_err(fault)?;
    let rows = statement
        .query_map(params_from_iter(values), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut rows = rows.map_err(fault)?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|(rowid, _)| rowid.to_string());
    let docs = rows.into_iter().map(|(_, doc)| doc);
    let rows = match list {
        List::Enquiries => Rows::Enquiries(parse_all(table, docs)?),
        List::Deliveries => Rows::Deliveries(parse_all(table, docs)?),
        List::Effects => Rows::Effects(parse_all(table, docs)?),
        List::Reviews => Rows::Reviews(parse_all(table, docs)?),
        List::Journal => unreachable!("handled above"),
    };
    Ok(Page { rows, next })
}

/// The ring of deliveries that were not authentic, newest first. Ids sort by time, and a cursor is the last one shown.
fn refused_page(conn: &Connection, ask: &Ask) -> Result<Page, Error> {
    let limit = ask.limit.clamp(1, 1000);
    let sql = "SELECT doc FROM refused WHERE (?1 IS NULL OR id < ?1) AND (?2 IS NULL OR source = ?2) AND ?3 IS NULL
               ORDER BY id DESC LIMIT ?4";
    let optional = |value: Option<&str>| value.map_or(Value::Null, text);
    let enquiry = ask.enquiry.as_ref().map(EnquiryId::as_str);
    let values = [optional(ask.cursor.as_deref()), optional(ask.source.as_deref()), optional(enquiry), limit_value(limit + 1)];
    let mut rows: Vec<Delivery> = docs(conn, "refused", sql, &values)?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|last| last.id.to_string());
    Ok(Page { rows: Rows::Deliveries(rows), next })
}

fn journal_page(conn: &Connection, ask: &Ask) -> Result<Page, Error> {
    let after = match ask.cursor.as_deref().map(|cursor| cursor.split_once('.').ok_or_else(Error::bad_cursor)) {
        Some(parts) => {
            let (ord, seq) = parts?;
            (ord.parse().map_err(|_| Error::bad_cursor())?, seq.parse().map_err(|_| Error::bad_cursor())?)
        }
        None => (0_i64, 0_i64),
    };
    let limit = ask.limit.clamp(1, 1000);
    let take = i64::try_from(limit).unwrap_or(1000) + 1;
    // Under the number 0 is nothing.
    let enquiry = ask.enquiry.as_ref().map(|id| Ok::<_, Error>(number(conn, id)?.unwrap_or(0))).transpose()?;
    let sql = if enquiry.is_some() {
        "SELECT stream, seq, entry FROM journal WHERE enquiry = ?4 AND (stream, seq) > (?1, ?2) ORDER BY stream, seq LIMIT ?3"
    } else {
        "SELECT stream, seq, entry FROM journal WHERE (stream, seq) > (?1, ?2) AND ?4 IS NULL ORDER BY stream, seq LIMIT ?3"
    };
    let mut statement = conn.prepare_cached(sql).map_err(fault)?;
    let rows = statement
        .query_map((after.0, after.1, take, enquiry), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?)))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut rows = rows.map_err(fault)?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|(ord, seq, _)| format!("{ord}.{seq}"));
    Ok(Page { rows: Rows::Journal(parse_all("journal", rows.into_iter().map(|(_, _, entry)| entry))?), next })
}

pub(super) fn journal_after(conn: &Connection, after: Option<&(StreamId, u64)>, limit: usize) -> Result<Vec<Entry>, Error> {
    let (ord, seq) = match after {
        Some((stream, seq)) => {
            let sql = "SELECT ord FROM streams WHERE id = ?1";
            let ord: Option<i64> = conn.query_row(sql, [stream.as_str()], |row| row.get(0)).optional().map_err(fault)?;
            (ord.ok_or_else(Error::no_such_stream)?, i64::try_from(*seq).unwrap_or(i64::MAX))
        }
        None => (0, 0),
    };
    let sql = "SELECT s.id, j.seq, e.id, j.entry FROM journal j JOIN streams s ON s.ord = j.stream
               LEFT JOIN enquiries e ON e.n = j.enquiry WHERE (j.stream, j.seq) > (?1, ?2) ORDER BY j.stream, j.seq LIMIT ?3";
    let mut statement = conn.prepare_cached(sql).map_err(fault)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement
        .query_map((ord, seq, limit), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .and_then(Iterator::collect::<Result<Vec<(String, i64, Option<String>, String)>, _>>);
    rows.map_err(fault)?.into_iter().map(entry_in_its_place).collect()
}

/// An entry stands where it says, and is found by the enquiry it names: a row that was moved or re-labelled is damage, which
/// the entry's own hash cannot show.
fn entry_in_its_place((stream, seq, enquiry, text): (String, i64, Option<String>, String)) -> Result<Entry, Error> {
    let place = || format!("journal: entry {seq} of {stream}");
    let entry: Entry = serde_json::from_str(&text).map_err(|e| Error::Corrupt(format!("{} cannot be read: {e}", place())))?;
    let is_its = entry.stream.as_str() == stream
        && i64::try_from(entry.seq) == Ok(seq)
        && entry.enquiry.as_ref().map(EnquiryId::as_str) == enquiry.as_deref();
    if is_its { Ok(entry) } else { Err(Error::Corrupt(format!("{} is filed under another place or enquiry than its own", place()))) }
}

pub(super) fn blob(conn: &Connection, digest: &Digest, of: Option<&EnquiryId>) -> Result<Option<Blob>, Error> {
    let owner = of.map(|id| number(conn, id)).transpose()?.flatten();
    let sql = "SELECT nonce, bytes FROM blobs WHERE enquiry = ?2 AND digest = ?1
               UNION ALL SELECT nonce, bytes FROM blobs WHERE digest = ?1 AND alone LIMIT 1";
    let row: Option<(Vec<u8>, Vec<u8>)> = conn
        .prepare_cached(sql)
        .and_then(|mut s| s.query_row((digest.as_bytes().as_slice(), owner), |row| Ok((row.get(0)?, row.get(1)?))).optional())
        .map_err(fault)?;
    row.map(|(nonce, bytes)| whole("blobs", digest, nonce, bytes)).transpose()
}

fn whole(table: &str, digest: &Digest, nonce: Vec<u8>, bytes: Vec<u8>) -> Result<Blob, Error> {
    let nonce = nonce.try_into().map_err(|_| Error::Corrupt(format!("{table}: the nonce of {digest} is not 32 bytes")))?;
    Ok(Blob { nonce, bytes })
}

pub(super) fn delivery(conn: &Connection, id: &str) -> Result<Option<Arrived>, Error> {
    let items: Vec<Delivery> = docs(conn, "deliveries", "SELECT doc FROM deliveries WHERE id = ?1 ORDER BY item", &[text(id)])?;
    if let Some(first) = items.first() {
        let owner = items.iter().find_map(|item| item.enquiry.as_ref());
        let body = blob(conn, &first.body, owner)?;
        return Ok(Some(Arrived { items, body }));
    }
    let sql = "SELECT doc, nonce, body FROM refused WHERE id = ?1";
    let row = conn.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional().map_err(fault)?;
    let Some((doc, nonce, body)): Option<(String, Vec<u8>, Vec<u8>)> = row else { return Ok(None) };
    let delivery: Delivery = parse("refused", &doc)?;
    let body = Some(whole("refused", &delivery.body, nonce, body)?);
    Ok(Some(Arrived { items: vec![delivery], body }))
}

pub(super) fn rules(conn: &Connection, source: &str) -> Result<Vec<RuleVersion>, Error> {
    let sql = "SELECT version, rule, accepted_at FROM rules WHERE source = ?1 ORDER BY version";
    let mut statement = conn.prepare_cached(sql).map_err(fault)?;
    let rows = statement
        .query_map([source], |row| Ok(RuleVersion { version: row.get(0)?, rule: row.get(1)?, accepted_at: UtcMs(row.get(2)?) }))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>);
    rows.map_err(fault)
}

/// Kept among the book's own values, for a pause of a person's must not overwrite it.
pub(super) fn away(conn: &Connection) -> Result<BTreeMap<String, Away>, Error> {
    let sql = "SELECT substr(name, 6), CAST(value AS TEXT) FROM meta WHERE name LIKE 'away:%'";
    let mut statement = conn.prepare_cached(sql).map_err(fault)?;
    let read = |row: &Row<'_>| -> rusqlite::Result<(String, String)> { Ok((row.get(0)?, row.get(1)?)) };
    let rows = statement.query_map([], read).and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>).map_err(fault)?;
    rows.into_iter().map(|(name, doc): (String, String)| Ok((name, parse("meta", &doc)?))).collect()
}

pub(super) fn kept(conn: &Connection, name: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT CAST(value AS TEXT) FROM meta WHERE name = 'kept:' || ?1";
    conn.prepare_cached(sql).and_then(|mut s| s.query_row([name], |row| row.get(0)).optional()).map_err(fault)
}

pub(super) fn kept_under(conn: &Connection, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<(String, String)>, Error> {
    let sql = "SELECT substr(name, 6), CAST(value AS TEXT) FROM meta
               WHERE name >= 'kept:' || ?1 AND substr(name, 6, length(?1)) = ?1 AND (?2 IS NULL OR name > 'kept:' || ?2)
               ORDER BY name LIMIT ?3";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = conn.prepare_cached(sql).map_err(fault)?;
    let read = |row: &Row<'_>| -> rusqlite::Result<(String, String)> { Ok((row.get(0)?, row.get(1)?)) };
    statement.query_map((prefix, after, limit), read).and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>).map_err(fault)
}

pub(super) fn targets(conn: &Connection) -> Result<Vec<TargetState>, Error> {
    docs(conn, "targets", "SELECT doc FROM targets ORDER BY name", &[])
}

fn docs<T: DeserializeOwned>(conn: &Connection, table: &str, sql: &str, values: &[Value]) -> Result<Vec<T>, Error> {
    let mut statement = conn.prepare_cached(sql).map_err(fault)?;
    let rows =
        statement.query_map(params_from_iter(values), |row| row.get::<_, String>(0)).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    parse_all(table, rows.map_err(fault)?)
}

fn parse_all<T: DeserializeOwned>(table: &str, docs: impl IntoIterator<Item = String>) -> Result<Vec<T>, Error> {
    docs.into_iter().map(|doc| parse(table, &doc)).collect()
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn limit_value(limit: usize) -> Value {
    Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX))
}
