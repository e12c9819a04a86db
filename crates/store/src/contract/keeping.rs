//! Rules, targets, the ring of the refused, and what retention drops and what it must not.

use domain::enquiry::Standing;

use super::Harness;
use super::fixture::{accept, aside, assert_whole, at, blob, delivery, draft, enter, key, lease, post, stand};
use crate::model::{Arrival, Kept, Step, TargetState, Verdict};
use crate::{Error, Store};

pub(super) async fn rules_are_kept_in_order_of_acceptance(h: &mut dyn Harness) {
    let store = h.store();
    assert_eq!(store.rules("web").await.unwrap(), []);
    for (source, rule) in [("web", "one"), ("ads", "other"), ("web", "two"), ("web", "one")] {
        let draft = domain_draft(rule);
        store.adopt_rule(source, rule.to_owned(), draft).await.unwrap();
    }
    drop(store);
    h.restart(at(1));
    let store = h.store();
    let rules = store.rules("web").await.unwrap();
    let kept: Vec<_> = rules.iter().map(|rule| (rule.version, rule.rule.as_str(), rule.accepted_at)).collect();
    assert_eq!(kept, [(1, "one", at(3)), (2, "two", at(3)), (3, "one", at(3))]);
    assert_eq!(store.rules("ads").await.unwrap().len(), 1);
    assert_eq!(assert_whole(&*store).await.entries, 2 + 4);
}

fn domain_draft(rule: &str) -> evidence::Draft {
    let facts = evidence::Facts::new().with("rule", rule);
    evidence::Draft { at: at(3), facts, ..draft("identity.accepted", None) }
}

pub(super) async fn targets_are_kept_by_name(h: &mut dyn Harness) {
    let store = h.store();
    let state = |name: &str, why: Option<&str>| TargetState { name: name.to_owned(), paused: why.map(|why| (at(1), why.to_owned())) };
    for targets in [vec![state("mail", None), state("crm", Some("401"))], vec![state("crm", None), state("desk", Some("x"))]] {
        store.commit(Step { targets, ..Step::default() }).await.unwrap();
    }
    drop(store);
    h.restart(at(2));
    assert_eq!(h.store().targets().await.unwrap(), [state("crm", None), state("desk", Some("x")), state("mail", None)]);
}

pub(super) async fn the_ring_of_the_refused_is_bounded_by_count_and_age(h: &mut dyn Harness) {
    let store = h.store();
    let refuse = async |id: &str, source: &str, ms, keep, oldest| {
        let body = blob(id, id);
        let delivery = crate::Delivery { source: source.to_owned(), ..delivery(id, at(ms), &body) };
        store.refuse(delivery, body, keep, at(oldest)).await
    };
    let kept = async || {
        let mut kept = String::new();
        for id in ["a", "b", "c", "d", "e", "f"] {
            let found = store.delivery(&format!("dlv_{id}")).await.unwrap();
            kept += found.map_or("", |_| id);
        }
        kept
    };
    for (n, id) in ["a", "b", "c"].into_iter().enumerate() {
        refuse(id, "web", i64::try_from(n).unwrap(), 2, 0).await.unwrap();
    }
    refuse("d", "ads", 1, 2, 0).await.unwrap();
    assert_eq!(kept().await, "bcd", "two of a source");
    assert!(matches!(refuse("d", "ads", 1, 2, 0).await, Err(Error::Conflict(_))));
    refuse("e", "web", 5, 9, 2).await.unwrap();
    assert_eq!(kept().await, "ce", "age counts whatever the source");
    refuse("f", "ads", 5, 0, 2).await.unwrap();
    assert_eq!(kept().await, "ce");
    let arrived = store.delivery("dlv_e").await.unwrap().unwrap();
    assert_eq!((arrived.items[0].verdict, arrived.body), (Verdict::Refused, Some(blob("e", "e"))));
    assert_eq!(assert_whole(&*store).await.entries, 1, "what is not authentic leaves nothing in the journal");
}

pub(super) async fn the_ring_is_listed_newest_first_page_by_page(h: &mut dyn Harness) {
    let store = h.store();
    for (n, source) in [("1", "web"), ("2", "ads"), ("3", "web"), ("4", "web")] {
        let body = blob(n, n);
        let delivery = crate::Delivery { source: source.to_owned(), ..delivery(n, at(1), &body) };
        store.refuse(delivery, body, 9, at(0)).await.unwrap();
    }
    let ask = |source: Option<&str>, cursor: Option<String>| crate::Ask {
        state: Some("refused".to_owned()),
        source: source.map(str::to_owned),
        limit: 2,
        cursor,
        ..crate::Ask::default()
    };
    let ids = async |ask| {
        let crate::Page { rows: crate::Rows::Deliveries(rows), next } = store.page(crate::List::Deliveries, ask).await.unwrap() else {
            unreachable!("deliveries were asked for")
        };
        (rows.into_iter().map(|d| d.id.to_string()).collect::<Vec<_>>(), next)
    };
    let (first, next) = ids(ask(None, None)).await;
    assert_eq!(first, ["dlv_4", "dlv_3"]);
    assert_eq!(ids(ask(None, next)).await, (vec!["dlv_2".to_owned(), "dlv_1".to_owned()], None));
    assert_eq!(ids(ask(Some("ads"), None)).await.0, ["dlv_2"]);
}

pub(super) async fn pruning_drops_only_bodies_of_settled_enquiries(h: &mut dyn Harness) {
    let store = h.store();
    for (n, standing) in [("1", Standing::Settled), ("2", Standing::Merged), ("3", Standing::Working), ("4", Standing::Review)] {
        let id = enter(&*store, post(n, n, "a")).await;
        let answer = blob(&format!("answer {n}"), "an answer");
        let mut entry = draft("qualified", Some(&id));
        entry.blobs.push(answer.digest());
        let step = Step { at: at(1), blobs: vec![(Some(id.clone()), answer)], entries: vec![entry], ..Step::default() };
        store.commit(step).await.unwrap();
        stand(&*store, &id, standing).await.unwrap();
    }
    accept(&*store, post("again", "1", "a").at(9)).await;
    store.accept(post("5", "-", "{}").batch(vec![aside(Verdict::Quarantined, "?")])).await.unwrap();
    assert_eq!(store.prune(at(0), at(50)).await.unwrap(), 0);
    assert_eq!(store.prune(at(9), at(50)).await.unwrap(), 4);
    assert_eq!(store.prune(at(9), at(50)).await.unwrap(), 0);
    let has = async |id: &str| store.delivery(id).await.unwrap().unwrap().body.is_some();
    let left = [has("dlv_1").await, has("dlv_2").await, has("dlv_3").await, has("dlv_4").await, has("dlv_5").await, has("dlv_again").await];
    assert_eq!(left, [false, false, true, true, true, true]);
    let report = assert_whole(&*store).await;
    assert_eq!((report.blobs_erased, report.blobs_checked), (4, 6));
    let dossier = store.dossier(&key("1").enquiry_id()).await.unwrap().unwrap();
    assert_eq!((dossier.deliveries.len(), dossier.enquiry.contents.len()), (2, 1), "records stay");
}

pub(super) async fn c006_a_redelivery_is_known_for_good_after_pruning_too(h: &mut dyn Harness) {
    let store = h.store();
    let id = enter(&*store, post("1", "77", "a")).await;
    stand(&*store, &id, Standing::Settled).await.unwrap();
    assert_eq!(store.prune(at(1), at(2)).await.unwrap(), 1);
    drop(store);
    h.restart(at(3));
    let store = h.store();
    let year = 366 * 86_400_000;
    let again = accept(&*store, post("2", "77", "a").at(year)).await;
    assert_eq!((again.verdict, again.enquiry, again.first_at), (Verdict::Redelivery, Some(id), Some(at(0))));
    let other = accept(&*store, post("3", "77", "b").at(year)).await;
    assert_eq!(other.verdict, Verdict::Conflict);
    assert_eq!(lease(&*store, year, 9).await.enquiries.len(), 0);
    assert_whole(&*store).await;
}

pub(super) async fn a_batch_keeps_its_body_until_all_of_it_is_settled(h: &mut dyn Harness) {
    let store = h.store();
    let items = vec![post("1", "77", "a").item(), post("1", "78", "b").item(), aside(Verdict::Quarantined, "?"), aside(Verdict::Test, "t")];
    let batch = post("1", "-", "the batch").batch(items);
    store.accept(batch.clone()).await.unwrap();
    stand(&*store, &key("77").enquiry_id(), Standing::Settled).await.unwrap();
    assert_eq!(store.prune(at(9), at(9)).await.unwrap(), 0, "its second enquiry is open");
    stand(&*store, &key("78").enquiry_id(), Standing::Settled).await.unwrap();
    assert_eq!(store.prune(at(9), at(9)).await.unwrap(), 0, "its third item is in quarantine");
    let again = post("2", "-", "").arrival().delivery.id;
    let delivery = crate::Delivery { id: again, at: at(1), ..batch.delivery };
    let items = vec![post("2", "77", "a").item(), post("2", "78", "b").item(), post("2", "79", "c").item(), aside(Verdict::Test, "t")];
    store.accept(Arrival { delivery, items, ..batch }).await.unwrap();
    assert_eq!(store.prune(at(9), at(9)).await.unwrap(), 0, "what was let in is open");
    stand(&*store, &key("79").enquiry_id(), Standing::Settled).await.unwrap();
    assert_eq!(store.prune(at(9), at(9)).await.unwrap(), 1);
    assert_whole(&*store).await;
}

pub(super) async fn a_body_let_in_from_quarantine_ages_with_its_enquiry(h: &mut dyn Harness) {
    let store = h.store();
    let quarantined = post("1", "-", "{}").batch(vec![aside(Verdict::Quarantined, "?")]);
    store.accept(quarantined.clone()).await.unwrap();
    let delivery = crate::Delivery { id: post("2", "-", "").arrival().delivery.id, ..quarantined.delivery };
    let released = Arrival { delivery, items: vec![post("2", "77", "{}").item()], by: Some("ada".to_owned()), ..quarantined };
    store.accept(released).await.unwrap();
    assert_eq!(store.prune(at(9), at(9)).await.unwrap(), 0);
    stand(&*store, &key("77").enquiry_id(), Standing::Settled).await.unwrap();
    assert_eq!(store.prune(at(9), at(9)).await.unwrap(), 1);
    assert!(store.delivery("dlv_1").await.unwrap().unwrap().body.is_none());
    assert_whole(&*store).await;
}

/// Of a batch, only what was in quarantine is entered again, by the kept delivery's own blob: it stays until both arrivals'
/// enquiries are settled, and no longer.
pub(super) async fn i12_a_batch_let_in_in_part_ages_with_all_of_its_enquiries(h: &mut dyn Harness) {
    let store = h.store();
    let items = vec![post("1", "77", "a").item(), aside(Verdict::Quarantined, "?"), aside(Verdict::Quarantined, "??")];
    let batch = post("1", "-", "the batch").batch(items);
    store.accept(batch.clone()).await.unwrap();
    let settle = async |id: &str| stand(&*store, &key(id).enquiry_id(), Standing::Settled).await.unwrap();
    settle("77").await;
    let again = async |id: &str, items| {
        let kept = store.delivery("dlv_1").await.unwrap().unwrap();
        let delivery = crate::Delivery { id: post(id, "-", "").arrival().delivery.id, at: at(1), ..kept.items[0].clone() };
        let arrival = Arrival { delivery, body: kept.body.unwrap(), items, by: Some("ada".to_owned()), ..batch.clone() };
        store.accept(arrival).await.unwrap();
    };
    let known = || aside(Verdict::Ignored, "read before");
    again("2", vec![known(), post("2", "78", "b").item(), aside(Verdict::Quarantined, "??")]).await;
    settle("78").await;
    assert_eq!(store.prune(at(9), at(9)).await.unwrap(), 0, "its third item is in quarantine still");
    // One item now, and another enquiry than those before.
    again("3", vec![post("3", "79", "c").item()]).await;
    assert_eq!(store.prune(at(9), at(9)).await.unwrap(), 0, "what was let in last is open");
    settle("79").await;
    assert_eq!(store.prune(at(9), at(9)).await.unwrap(), 1);
    for id in ["dlv_1", "dlv_2", "dlv_3"] {
        assert!(store.delivery(id).await.unwrap().unwrap().body.is_none(), "{id}");
    }
    assert_eq!(assert_whole(&*store).await.blobs_erased, 1);
}

pub(super) async fn pruning_takes_at_most_500_a_call(h: &mut dyn Harness) {
    let store = h.store();
    let id = enter(&*store, post("1", "77", "a")).await;
    let blobs: Vec<_> = (0..600).map(|n| (Some(id.clone()), blob(&n.to_string(), "x"))).collect();
    let mut entry = draft("many", Some(&id));
    entry.blobs = blobs.iter().map(|(_, blob)| blob.digest()).collect();
    store.commit(Step { at: at(1), blobs, entries: vec![entry], ..Step::default() }).await.unwrap();
    stand(&*store, &id, Standing::Settled).await.unwrap();
    let mut counts = Vec::new();
    for _ in 0..3 {
        counts.push(store.prune(at(9), at(9)).await.unwrap());
    }
    assert_eq!(counts, [500, 101, 0]);
    assert_eq!(assert_whole(&*store).await.blobs_erased, 601);
}

pub(super) async fn a_ping_is_answered(h: &mut dyn Harness) {
    let store = h.store();
    store.ping().await.unwrap();
    store.ping().await.unwrap();
    assert_eq!(assert_whole(&*store).await.entries, 1);
}

pub(super) async fn what_is_kept_under_a_name_is_compared_and_set(h: &mut dyn Harness) {
    let keep = async |store: &dyn Store, name: &str, was: Option<&str>, is: Option<&str>| {
        let kept = Kept { name: name.to_owned(), was: was.map(str::to_owned), is: is.map(str::to_owned) };
        store.commit(Step { kept: vec![kept], entries: vec![draft("kept", None)], ..Step::default() }).await
    };
    let store = h.store();
    keep(&*store, "a:1", None, Some("x")).await.unwrap();
    keep(&*store, "a:2", None, Some("y")).await.unwrap();
    keep(&*store, "b:1", None, Some("z")).await.unwrap();
    assert!(matches!(keep(&*store, "a:1", None, Some("other")).await, Err(Error::Conflict(_))));
    assert!(matches!(keep(&*store, "a:9", Some("x"), None).await, Err(Error::Conflict(_))));
    keep(&*store, "a:1", Some("x"), Some("x2")).await.unwrap();
    drop(store);
    h.restart(at(5));
    let store = h.store();
    assert_eq!(store.kept("a:1").await.unwrap().as_deref(), Some("x2"));
    let all = [("a:1".to_owned(), "x2".to_owned()), ("a:2".to_owned(), "y".to_owned())];
    assert_eq!(store.kept_under("a:", None, 9).await.unwrap(), all);
    assert_eq!(store.kept_under("a:", None, 1).await.unwrap(), all[..1]);
    assert_eq!(store.kept_under("a:", Some("a:1"), 9).await.unwrap(), all[1..]);
    keep(&*store, "a:1", Some("x2"), None).await.unwrap();
    assert_eq!(store.kept("a:1").await.unwrap(), None);
    let entries = store.journal_after(None, 99).await.unwrap();
    assert_eq!(entries.iter().filter(|entry| entry.kind == "kept").count(), 5, "a refused step says nothing");
}
