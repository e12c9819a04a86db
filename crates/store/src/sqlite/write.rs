//! The verbs that write, as SQL inside the writer's transaction. Dull on purpose: everything is decided before.

use std::collections::BTreeMap;

use domain::digest::Digest;
use domain::enquiry::{Enquiry, Standing};
use domain::gate::Away;
use domain::ids::{DeliveryId, EnquiryId};
use domain::time::UtcMs;
use evidence::{Blob, Draft};
use rusqlite::{OptionalExtension as _, named_params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::fault;
use super::marks::mark;
use super::writer::Txn;
use crate::accept::{self, Before, PRUNE_MAX};
use crate::error::Error;
use crate::model::{
    Arrival, Delivery, EffectChange, EnquiryChange, Item, Kept, Lease, Proposal, Receipt, Review, Step, TargetState, Verdict,
};

/// `files`: the digests of the arrival's files, in order.
pub(super) fn accept(txn: &mut Txn<'_>, arrival: &Arrival, files: &[Digest]) -> Result<Receipt, Error> {
    if let Some(id) = &arrival.undoes {
        undo(txn, id, arrival)?;
    }
    let mut items = Vec::with_capacity(arrival.items.len());
    let (mut owner, mut taken, mut owners) = (None, Vec::new(), BTreeMap::new());
    for (n, item) in (0_u32..).zip(arrival.items.iter().cloned()) {
        let before = match &item {
            Item::Enquiry(proposal) => before(txn, &arrival.delivery.source, proposal)?,
            Item::Aside { .. } => Before { known: Vec::new(), recent: None },
        };
        let look_alike = if let Item::Enquiry(proposal) = &item { proposal.candidate.look_alike } else { None };
        let delivery = Delivery { item: n, ..arrival.delivery.clone() };
        let entered = accept::enter(delivery, item, &before, arrival.by.as_deref());
        if let Some(enquiry) = &entered.enquiry {
            let taken_until = arrival.take_until.filter(|_| enquiry.standing == Standing::Accepted);
            insert_enquiry(txn, enquiry, look_alike.as_ref(), taken_until)?;
            taken.extend(taken_until.map(|_| Lease { what: enquiry.clone(), fence: 1, version: 1 }));
            owners.extend(accept::files(enquiry).map(|file| (file, enquiry.id.clone())));
        }
        owner = owner.or_else(|| entered.delivery.enquiry.clone());
        insert_delivery(txn, &entered.delivery)?;
        if let Some(review) = &entered.review {
            put_review(txn, review)?;
        }
        for draft in entered.entries {
            txn.append(draft)?;
        }
        items.push(entered.delivery);
    }
    // The body of a batch is named by entries of all its items.
    let alone = items.len() > 1 || owner.is_none();
    // What a person lets in brings a body that is kept already, as it was when it could not be understood.
    let body = (&arrival.body, &arrival.delivery.body);
    let shared = if alone || arrival.by.is_some() {
        put_blob(txn, body, owner.as_ref(), alone, arrival.delivery.at)?
    } else {
        insert_blob(txn, body, owner.as_ref(), alone, arrival.delivery.at)?;
        None
    };
    if let Some(n) = shared {
        run(txn, "UPDATE deliveries SET blob = ?2 WHERE id = ?1", (arrival.delivery.id.as_str(), n))?;
    }
    for (file, digest) in arrival.files.iter().zip(files) {
        if let Some(of) = owners.get(digest) {
            put_blob(txn, (file, digest), Some(of), false, arrival.delivery.at)?;
        }
    }
    Ok(Receipt { items, taken })
}

/// Marks a weak suppression as undone, which it can be once.
fn undo(txn: &Txn<'_>, id: &DeliveryId, arrival: &Arrival) -> Result<(), Error> {
    let mut statement = txn.conn.prepare_cached("SELECT doc FROM deliveries WHERE id = ?1").map_err(fault)?;
    let docs = statement.query_map([id.as_str()], |row| row.get::<_, String>(0)).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let kept = docs.map_err(fault)?.iter().map(|doc| parse("deliveries", doc)).collect::<Result<Vec<Delivery>, _>>()?;
    let undone: Vec<Delivery> = kept.iter().filter_map(|delivery| accept::undone(delivery, arrival)).collect();
    if undone.is_empty() {
        return Err(accept::NOTHING_TO_UNDO);
    }
    for delivery in undone {
        run(txn, "UPDATE deliveries SET doc = ?3 WHERE id = ?1 AND item = ?2", (id.as_str(), delivery.item, json(&delivery)?))?;
    }
    Ok(())
}

/// What the judge needs to know, read inside the transaction. The variants of a key are counted up from 1, so each is one
/// look-up by id; there are as many as a person has had to tell apart, and one more that is missing.
fn before(txn: &Txn<'_>, source: &str, proposal: &Proposal) -> Result<Before, Error> {
    let mut known: Vec<Enquiry> = Vec::new();
    for key in &proposal.candidate.keys {
        for variant in 1.. {
            let id = key.with_variant(variant).enquiry_id();
            let sql = "SELECT doc FROM enquiries WHERE id = ?1";
            let Some(enquiry) = one(txn, sql, [id.as_str()])? else { break };
            known.push(enquiry);
        }
    }
    let recent = match &proposal.candidate.look_alike {
        Some(digest) if known.is_empty() => {
            let latest = txn.latest(mark(source, digest));
            latest.map(|n| one(txn, "SELECT doc FROM enquiries WHERE n = ?1", [n])).transpose()?.flatten()
        }
        Some(_) | None => None,
    };
    Ok(Before { known, recent })
}

pub(super) fn refuse(txn: &mut Txn<'_>, delivery: &Delivery, body: &Blob, keep: u32, oldest: UtcMs) -> Result<(), Error> {
    let delivery = Delivery { verdict: Verdict::Refused, ..delivery.clone() };
    let sql = "INSERT INTO refused (id, source, at, doc, body, nonce) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    run(txn, sql, (delivery.id.as_str(), &delivery.source, delivery.at.0, json(&delivery)?, &body.bytes, body.nonce.as_slice()))?;
    // By age everywhere: a source that nobody knocks at any more must not keep its bodies for good.
    run(txn, "DELETE FROM refused WHERE at < ?1", [oldest.0])?;
    let sql = "DELETE FROM refused WHERE source = ?1 AND rowid NOT IN
               (SELECT rowid FROM refused WHERE source = ?1 ORDER BY rowid DESC LIMIT ?2)";
    run(txn, sql, (&delivery.source, keep)).map(drop)
}

pub(super) fn commit(txn: &mut Txn<'_>, step: &Step) -> Result<(), Error> {
    for change in &step.enquiries {
        update_enquiry(txn, change)?;
    }
    for change in &step.effects {
        match change.version {
            None => insert_effect(txn, change)?,
            Some(version) => update_effect(txn, change, version)?,
        }
    }
    for review in &step.reviews {
        put_review(txn, review)?;
    }
    for target in &step.targets {
        put_target(txn, target)?;
    }
    for kept in &step.kept {
        put_kept(txn, kept)?;
    }
    for (name, away) in &step.away {
        put_away(txn, name, away.as_ref())?;
    }
    for (enquiry, blob) in &step.blobs {
        put_blob(txn, (blob, &blob.digest()), enquiry.as_ref(), enquiry.is_none(), step.at)?;
    }
    for draft in &step.entries {
        txn.append(draft.clone())?;
    }
    Ok(())
}

/// `taken_until`: it is leased to who brings it.
fn insert_enquiry(txn: &mut Txn<'_>, enquiry: &Enquiry, look_alike: Option<&Digest>, taken_until: Option<UtcMs>) -> Result<(), Error> {
    let due = (enquiry.standing == Standing::Accepted).then_some(enquiry.accepted_at.0);
    let mark = look_alike.map(|digest| mark(&enquiry.key.source, digest));
    let sql = "INSERT INTO enquiries (id, key, source, standing, look_alike, due, lease_until, fence, doc)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let values = (
        enquiry.id.as_str(),
        enquiry.key.to_string(),
        &enquiry.key.source,
        enquiry.standing.as_str(),
        mark,
        due,
        taken_until.map_or(0, |until| until.0),
        u32::from(taken_until.is_some()),
        json(enquiry)?,
    );
    run(txn, sql, values)?;
    let n = txn.conn.last_insert_rowid();
    txn.entered(&enquiry.id, n);
    if let Some(mark) = mark {
        txn.marked(mark, n);
    }
    Ok(())
}

/// A lease ends with the commit of what it was for.
fn update_enquiry(txn: &Txn<'_>, change: &EnquiryChange) -> Result<(), Error> {
    let sql = "UPDATE enquiries SET standing = :standing, due = :due, doc = :doc,
               lease_until = CASE WHEN :keep THEN lease_until ELSE 0 END, version = version + 1
               WHERE id = :id AND version = :version AND (:fence IS NULL OR fence = :fence)";
    let values = named_params! {
        ":standing": change.enquiry.standing.as_str(),
        ":due": change.due.map(|due| due.0),
        ":doc": json(&change.enquiry)?,
        ":keep": change.keep_lease,
        ":id": change.enquiry.id.as_str(),
        ":version": change.version,
        ":fence": change.fence,
    };
    if run(txn, sql, values)? == 1 { Ok(()) } else { Err(Error::ENQUIRY_CHANGED) }
}

fn insert_effect(txn: &Txn<'_>, change: &EffectChange) -> Result<(), Error> {
    let effect = &change.effect;
    let sql = "INSERT INTO effects (id, enquiry, target, state, external_id, held_lock, due, lease_until, fence, doc)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let values = (
        effect.id.as_str(),
        txn.number(&effect.enquiry)?,
        &effect.target,
        effect.state(),
        effect.external_id(),
        &change.lock,
        effect.due().map(|due| due.0),
        change.take_until.map_or(0, |until| until.0),
        u32::from(change.take_until.is_some()),
        json(effect)?,
    );
    run(txn, sql, values).map(drop)
}

fn update_effect(txn: &Txn<'_>, change: &EffectChange, version: u64) -> Result<(), Error> {
    let effect = &change.effect;
    let sql = "UPDATE effects SET state = :state, external_id = :external, held_lock = :lock, due = :due, doc = :doc,
               lease_until = CASE WHEN :keep THEN lease_until ELSE 0 END, version = version + 1
               WHERE id = :id AND version = :version AND (:fence IS NULL OR fence = :fence)";
    let values = named_params! {
        ":state": effect.state(),
        ":external": effect.external_id(),
        ":lock": change.lock,
        ":due": effect.due().map(|due| due.0),
        ":doc": json(effect)?,
        ":keep": change.keep_lease,
        ":id": effect.id.as_str(),
        ":version": version,
        ":fence": change.fence,
    };
    if run(txn, sql, values)? == 1 { Ok(()) } else { Err(Error::EFFECT_CHANGED) }
}

fn insert_delivery(txn: &Txn<'_>, delivery: &Delivery) -> Result<(), Error> {
    let sql = "INSERT INTO deliveries (id, item, source, verdict, enquiry, doc) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let enquiry = delivery.enquiry.as_ref().map(|id| txn.number(id)).transpose()?;
    let values = (delivery.id.as_str(), delivery.item, &delivery.source, delivery.verdict.as_str(), enquiry, json(delivery)?);
    run(txn, sql, values).map(drop)
}

fn put_review(txn: &Txn<'_>, review: &Review) -> Result<(), Error> {
    let sql = "INSERT INTO reviews (id, enquiry, open, doc) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (id) DO UPDATE SET open = excluded.open, doc = excluded.doc
               WHERE (open = 1 OR excluded.open = 1) AND enquiry = excluded.enquiry";
    let values = (review.id.as_str(), txn.number(&review.enquiry)?, review.closed_at.is_none(), json(review)?);
    // Of two people who decide at once, the second is told so.
    if run(txn, sql, values)? == 1 { Ok(()) } else { Err(Error::REVIEW_TAKEN) }
}

fn put_target(txn: &Txn<'_>, target: &TargetState) -> Result<(), Error> {
    let sql = "INSERT INTO targets (name, paused, doc) VALUES (?1, ?2, ?3)
               ON CONFLICT (name) DO UPDATE SET paused = excluded.paused, doc = excluded.doc";
    run(txn, sql, (&target.name, target.paused.is_some(), json(target)?)).map(drop)
}

/// Among the book's own values; each name is one row.
fn put_kept(txn: &Txn<'_>, kept: &Kept) -> Result<(), Error> {
    if super::read::kept(txn.conn, &kept.name)? != kept.was {
        return Err(Error::KEPT_CHANGED);
    }
    let name = format!("kept:{}", kept.name);
    match &kept.is {
        Some(is) => {
            let sql = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
            run(txn, sql, (name, is)).map(drop)
        }
        None => run(txn, "DELETE FROM meta WHERE name = ?1", [name]).map(drop),
    }
}

fn put_away(txn: &Txn<'_>, target: &str, away: Option<&Away>) -> Result<(), Error> {
    let name = format!("away:{target}");
    match away {
        Some(away) => {
            let sql = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
            run(txn, sql, (name, json(away)?)).map(drop)
        }
        None => run(txn, "DELETE FROM meta WHERE name = ?1", [name]).map(drop),
    }
}

/// Keeps a blob. One that was nobody's (a body in quarantine) becomes the enquiry's that it is let in for, and ages with it.
/// `alone`: it is to be found by its digest alone. The number of its row, if it is.
fn put_blob(txn: &Txn<'_>, (blob, digest): (&Blob, &Digest), of: Option<&EnquiryId>, alone: bool, at: UtcMs) -> Result<Option<i64>, Error> {
    let enquiry = of.map(|id| txn.number(id)).transpose()?;
    let key = digest.as_bytes().as_slice();
    let shared = txn.conn.prepare_cached("SELECT n FROM blobs WHERE digest = ?1 AND alone");
    let shared: Option<i64> = shared.and_then(|mut s| s.query_row([key], |row| row.get(0)).optional()).map_err(fault)?;
    if let Some(n) = shared {
        run(txn, "UPDATE blobs SET enquiry = ?2 WHERE n = ?1 AND enquiry IS NULL", (n, enquiry))?;
        return Ok(Some(n));
    }
    let sql = "SELECT 1 FROM blobs WHERE enquiry = ?2 AND digest = ?1";
    if txn.conn.prepare_cached(sql).and_then(|mut statement| statement.exists((key, enquiry))).map_err(fault)? {
        return Ok(None);
    }
    insert_blob(txn, (blob, digest), of, alone, at)?;
    Ok(alone.then(|| txn.conn.last_insert_rowid()))
}

/// Keeps a blob that was made just now: its nonce is new, so nothing has its digest.
fn insert_blob(txn: &Txn<'_>, (blob, digest): (&Blob, &Digest), of: Option<&EnquiryId>, alone: bool, at: UtcMs) -> Result<(), Error> {
    let enquiry = of.map(|id| txn.number(id)).transpose()?;
    let sql = "INSERT INTO blobs (digest, alone, nonce, bytes, enquiry, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    run(txn, sql, (digest.as_bytes().as_slice(), alone, blob.nonce.as_slice(), &blob.bytes, enquiry, at.0)).map(drop)
}

pub(super) fn adopt_rule(txn: &mut Txn<'_>, source: &str, rule: &str, draft: Draft) -> Result<(), Error> {
    let sql = "INSERT INTO rules (source, version, rule, accepted_at)
               SELECT ?1, coalesce(max(version), 0) + 1, ?2, ?3 FROM rules WHERE source = ?1";
    run(txn, sql, (source, rule, draft.at.0))?;
    txn.append(draft).map(drop)
}

pub(super) fn prune(txn: &mut Txn<'_>, before: UtcMs, now: UtcMs) -> Result<u64, Error> {
    // A page at a time, so that no transaction and no entry grows with the book. What an open enquiry still needs, and what
    // no enquiry came of yet (quarantine), stays. A shared body belongs to the first of its enquiries; the others are asked as
    // well, and so is an item in quarantine unless the same body was let in again later.
    let sql = "DELETE FROM blobs WHERE n IN (
               SELECT b.n FROM blobs b JOIN enquiries e ON e.n = b.enquiry
               WHERE b.at < ?1 AND e.standing IN ('settled', 'merged') AND NOT EXISTS (
                   SELECT 1 FROM deliveries item LEFT JOIN enquiries o ON o.n = item.enquiry
                   WHERE item.blob = b.n AND (
                       o.standing NOT IN ('settled', 'merged')
                       OR item.verdict = 'quarantined' AND NOT EXISTS (
                           SELECT 1 FROM deliveries later WHERE later.blob = b.n AND later.id <> item.id AND later.n > item.n)))
               ORDER BY b.n LIMIT ?2) RETURNING n, digest, alone";
    let mut statement = txn.conn.prepare_cached(sql).map_err(fault)?;
    let dropped = statement
        .query_map((before.0, PRUNE_MAX), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, bool>(2)?)))
        .and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let dropped = dropped.map_err(fault)?;
    drop(statement);
    // A number may be given again.
    for (n, ..) in dropped.iter().filter(|(.., alone)| *alone) {
        run(txn, "UPDATE deliveries SET blob = NULL WHERE blob = ?1", [n])?;
    }
    let digests = dropped.iter().map(|(_, bytes, _)| Digest::from_slice(bytes)).collect::<Option<Vec<_>>>();
    let mut digests = digests.ok_or_else(|| Error::Corrupt("blobs: a digest is not 32 bytes".to_owned()))?;
    if digests.is_empty() {
        return Ok(0);
    }
    digests.sort();
    let count = u64::try_from(digests.len()).unwrap_or(u64::MAX);
    txn.append(accept::pruned(now, digests))?;
    Ok(count)
}

/// Writes a page, for a transaction that changes nothing would succeed on a full disk too.
pub(super) fn ping(txn: &Txn<'_>) -> Result<(), Error> {
    run(txn, "INSERT INTO meta (name, value) VALUES ('ping', x'') ON CONFLICT (name) DO UPDATE SET value = excluded.value", []).map(drop)
}

fn run(txn: &Txn<'_>, sql: &str, values: impl rusqlite::Params) -> Result<usize, Error> {
    txn.conn.prepare_cached(sql).and_then(|mut statement| statement.execute(values)).map_err(fault)
}

fn one<T: DeserializeOwned>(txn: &Txn<'_>, sql: &str, values: impl rusqlite::Params) -> Result<Option<T>, Error> {
    let doc: Option<String> =
        txn.conn.prepare_cached(sql).and_then(|mut s| s.query_row(values, |row| row.get(0)).optional()).map_err(fault)?;
    doc.map(|doc| parse("enquiries", &doc)).transpose()
}

fn json<T: Serialize>(record: &T) -> Result<String, Error> {
    serde_json::to_string(record).map_err(|e| Error::Corrupt(format!("a record cannot be written: {e}")))
}

/// Reads a document; a damaged one names its table.
pub(super) fn parse<T: DeserializeOwned>(table: &str, doc: &str) -> Result<T, Error> {
    serde_json::from_str(doc).map_err(|e| Error::Corrupt(format!("{table}: a record cannot be read: {e}")))
}
