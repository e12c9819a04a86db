//! A book of version 1, as a backup may be, is brought to this version with all that is in it, or not touched.

use domain::digest::Digest;
use domain::enquiry::Standing;
use domain::ids::EnquiryId;

use super::{Connection, refused};
use crate::contract::Dir;
use crate::contract::fixture::{
    Post, T0, accept, aside, assert_whole, at, blob, delivery, draft, effect, effects, enter, key, lease, moved, plan, post, review, stand,
    verified,
};
use crate::model::{Arrival, EffectChange, Step, Verdict};
use crate::sqlite::Sqlite;
use crate::sqlite::migrate::MIGRATIONS;
use crate::{Error, Store as _};

/// What stood where in version 1: the enquiry's id, and not its number. Rows were numbered otherwise, and had gaps.
const AS_BEFORE: &str = "
    INSERT INTO meta SELECT name, value FROM now.meta WHERE name <> 'place';
    INSERT INTO streams SELECT ord, id, started_at FROM now.streams;
    INSERT INTO journal SELECT stream, seq, (SELECT id FROM now.enquiries e WHERE e.n = j.enquiry), entry FROM now.journal j;
    INSERT INTO blobs (rowid, digest, nonce, bytes, enquiry, at)
        SELECT n * 10, digest, nonce, bytes, (SELECT id FROM now.enquiries e WHERE e.n = b.enquiry), at FROM now.blobs b;
    INSERT INTO deliveries (rowid, id, item, source, verdict, enquiry, doc)
        SELECT n * 10, id, item, source, verdict, (SELECT id FROM now.enquiries e WHERE e.n = d.enquiry), doc FROM now.deliveries d;
    INSERT INTO enquiries (rowid, id, key, source, standing, look_alike, due, lease_until, fence, version, doc)
        SELECT n * 10, id, key, source, standing, NULL, due, lease_until, fence, version, doc FROM now.enquiries;
    INSERT INTO effects (rowid, id, enquiry, target, state, external_id, held_lock, due, lease_until, fence, version, doc)
        SELECT n * 10, id, (SELECT id FROM now.enquiries e WHERE e.n = f.enquiry), target, state, external_id, held_lock, due,
               lease_until, fence, version, doc FROM now.effects f;
    INSERT INTO reviews (rowid, id, enquiry, open, doc)
        SELECT n * 10, id, (SELECT id FROM now.enquiries e WHERE e.n = r.enquiry), open, doc FROM now.reviews r;
    INSERT INTO rules SELECT * FROM now.rules;
    INSERT INTO targets SELECT * FROM now.targets;
    INSERT INTO refused (id, source, at, doc, body) SELECT id, source, at, doc, body FROM now.refused;";

/// Makes a book of version 1 in `dir` of the documents in the book at `now`.
fn make_old(dir: &Dir, now: &Dir, alike: &[(EnquiryId, Digest)]) {
    let old = Connection::open(dir.options(1, T0).path).unwrap();
    let (version, sql) = MIGRATIONS[0];
    assert_eq!(version, 1);
    old.execute_batch("CREATE TABLE migrations (version INTEGER PRIMARY KEY, sha256 TEXT NOT NULL)").unwrap();
    old.execute_batch(sql).unwrap();
    old.execute("INSERT INTO migrations VALUES (1, ?1)", [Digest::sha256(sql.as_bytes()).to_string()]).unwrap();
    old.execute("ATTACH ?1 AS now", [now.options(1, T0).path.to_str().unwrap()]).unwrap();
    old.execute_batch(AS_BEFORE).unwrap();
    for (id, digest) in alike {
        old.execute("UPDATE enquiries SET look_alike = ?2 WHERE id = ?1", (id.as_str(), digest.as_bytes().as_slice())).unwrap();
    }
}

fn alike(delivery: &str, id: &str) -> Post {
    post(delivery, id, "a double click").alike()
}

fn batch() -> Arrival {
    post("5", "-", "a batch").batch(vec![post("5", "80", "c").item(), aside(Verdict::Quarantined, "?")])
}

/// A book with something of everything; the look-alike digest that stood in a row.
async fn fill(dir: &Dir) -> (Vec<EnquiryId>, Vec<(EnquiryId, Digest)>) {
    let book = Sqlite::open(dir.options(1, T0)).unwrap();
    let first = enter(&book, post("1", "77", "a").noted()).await;
    let second = enter(&book, alike("2", "78")).await;
    accept(&book, post("3", "77", "a").at(5)).await;
    let conflict = accept(&book, post("4", "77", "b").at(6)).await;
    assert_eq!(conflict.verdict, Verdict::Conflict);
    let third = book.accept(batch()).await.unwrap().items.remove(0).enquiry.unwrap();
    let body = blob("r", "refused");
    book.refuse(delivery("r", T0, &body), body, 9, T0).await.unwrap();
    let (deal, mail) = (effect(&key("77"), "deal", at(1)), effect(&key("78"), "mail", at(2)));
    let lock = Some("crm/ada".to_owned());
    let planned = vec![EffectChange { lock: lock.clone(), ..plan(deal) }, plan(mail)];
    book.commit(Step { reviews: vec![review("1", &first)], ..effects(planned) }).await.unwrap();
    let leased = lease(&book, 1, 99).await.effects.remove(0);
    let answer = blob("answer", "an answer");
    let mut entry = draft("effect.verified", Some(&first));
    entry.blobs.push(answer.digest());
    let done = EffectChange { lock, ..moved(&leased, verified(leased.what.clone(), "D-1")) };
    let step = Step { blobs: vec![(Some(first.clone()), answer)], entries: vec![entry], ..effects(vec![done]) };
    book.commit(step).await.unwrap();
    book.adopt_rule("web", "a rule".to_owned(), draft("rule", None)).await.unwrap();
    assert_eq!(lease(&book, 2, 9).await.effects.len(), 1, "it is leased when the book is left");
    let marked = alike("2", "78").proposal.candidate.look_alike.unwrap();
    (vec![first, second.clone(), third, conflict.enquiry.unwrap()], vec![(second, marked)])
}

#[tokio::test]
async fn a_book_of_version_1_is_brought_to_this_one_with_all_that_is_in_it() {
    let (now, dir) = (Dir::new(), Dir::new());
    let (ids, marked) = fill(&now).await;
    make_old(&dir, &now, &marked);
    let before = Sqlite::open_to_read(&now.options(1, T0).path).unwrap();
    let error = refused(Sqlite::open_to_read(&dir.options(2, T0).path));
    let says = |error: &Error| matches!(error, Error::Refused(why) if why.contains("earlier version (migration 1,") && why.contains("`oncebook serve`"));
    assert!(says(&error), "{error}");

    let book = Sqlite::open(dir.options(2, at(10))).unwrap();
    let report = assert_whole(&book).await;
    assert_eq!((report.streams, report.entries), (2, assert_whole(&before).await.entries + 1));
    for id in &ids {
        let (then, is) = (before.dossier(id).await.unwrap().unwrap(), book.dossier(id).await.unwrap().unwrap());
        assert_eq!(format!("{is:#?}"), format!("{then:#?}"));
    }
    let deal = before.dossier(&ids[0]).await.unwrap().unwrap().effects[0].0.id.clone();
    let variant = key("77").with_variant(2).to_string();
    let names = [
        (ids[0].as_str(), 0),
        ("web:submission:77", 0),
        ("web:submission:77#1", 0),
        ("dlv_3", 0),
        (deal.as_str(), 0),
        ("rev_1", 0),
        ("D-1", 0),
        ("web:submission:78", 1),
        ("dlv_5", 2),
        ("dlv_4", 3),
        (&variant, 3),
    ];
    for (name, n) in names {
        assert_eq!(book.resolve(name).await.unwrap(), std::slice::from_ref(&ids[n]), "{name}");
    }
    assert_eq!(book.rules("web").await.unwrap().len(), 1);
    for (id, body) in [("1", blob("1", "a")), ("3", blob("3", "a")), ("5", blob("5", "a batch"))] {
        assert_eq!(book.delivery(&format!("dlv_{id}")).await.unwrap().unwrap().body, Some(body));
    }
    let ring = book.delivery("dlv_r").await.unwrap().unwrap().body.unwrap();
    assert_eq!((ring.nonce, ring.bytes.as_slice()), ([0; 32], b"refused".as_slice()));

    let again = accept(&book, post("6", "77", "a").at(20)).await;
    assert_eq!((again.verdict, again.enquiry.as_ref()), (Verdict::Redelivery, Some(&ids[0])));
    let twice = accept(&book, alike("7", "79").at(21)).await;
    assert_eq!(twice.verdict, Verdict::LookAlike);
    let flags = book.dossier(&twice.enquiry.unwrap()).await.unwrap().unwrap().enquiry.flags;
    assert_eq!(flags.look_alike_of.as_ref(), Some(&ids[1]), "a double click around the upgrade");
    let leases = lease(&book, 30, 99).await;
    let held: Vec<_> = leases.effects.iter().map(|lease| (lease.what.action.as_str(), lease.fence)).collect();
    assert_eq!(held, [("mail", 2)], "the lease of before is over, and its fence counts on");
    let taken = EffectChange { lock: Some("crm/ada".to_owned()), ..plan(effect(&key("80"), "deal", at(1))) };
    assert!(matches!(book.commit(effects(vec![taken])).await, Err(Error::Conflict(_))), "a lock is held on");
}

/// What was in quarantine before the upgrade is let in after it, and ages with all that came of it.
#[tokio::test]
async fn i12_a_body_of_before_the_upgrade_ages_with_its_enquiries() {
    let (now, dir) = (Dir::new(), Dir::new());
    fill(&now).await;
    make_old(&dir, &now, &[]);
    let book = Sqlite::open(dir.options(2, at(10))).unwrap();
    let stand = async |id: &str| stand(&book, &key(id).enquiry_id(), Standing::Settled).await.unwrap();
    stand("80").await;
    assert_eq!(book.prune(at(99), at(99)).await.unwrap(), 0, "its second item is in quarantine");
    let kept = batch();
    let delivery = crate::Delivery { id: post("6", "-", "").arrival().delivery.id, ..kept.delivery.clone() };
    let items = vec![aside(Verdict::Ignored, "read before"), post("6", "81", "d").item()];
    book.accept(Arrival { delivery, items, by: Some("ada".to_owned()), ..kept }).await.unwrap();
    assert_eq!(book.prune(at(99), at(99)).await.unwrap(), 0);
    stand("81").await;
    assert_eq!(book.prune(at(99), at(99)).await.unwrap(), 1);
    assert!(book.delivery("dlv_5").await.unwrap().unwrap().body.is_none());
    assert_whole(&book).await;
}

#[tokio::test]
async fn a_row_of_an_enquiry_that_is_not_there_refuses_the_upgrade_and_is_named() {
    let (now, dir) = (Dir::new(), Dir::new());
    fill(&now).await;
    make_old(&dir, &now, &[]);
    let path = dir.options(2, T0).path;
    let edit = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    for table in ["journal", "blobs", "deliveries", "effects", "reviews"] {
        edit(&format!(
            "CREATE TABLE saved AS SELECT max(enquiry) AS e FROM {table}; UPDATE {table} SET enquiry = 'enq_0' WHERE enquiry = (SELECT e FROM saved)"
        ));
        let error = refused(Sqlite::open(dir.options(2, at(10))));
        assert!(matches!(&error, Error::Corrupt(what) if what.starts_with(&format!("{table}: ")) && what.contains("nothing")), "{error}");
        let error = refused(Sqlite::open_to_read(&path));
        assert!(matches!(&error, Error::Refused(why) if why.contains("migration 1")), "it is as it was: {error}");
        edit(&format!("UPDATE {table} SET enquiry = (SELECT e FROM saved) WHERE enquiry = 'enq_0'; DROP TABLE saved"));
    }
    assert_whole(&Sqlite::open(dir.options(2, at(10))).unwrap()).await;
}
