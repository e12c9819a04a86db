//! Arrivals: what is durable once one is answered, under concurrency, in batches, and for what is no enquiry.

use std::sync::Arc;

use domain::enquiry::{Attachment, Standing};
use domain::identity::{Ambiguity, Doubt};
use domain::ids::RunId;
use tokio::task::JoinSet;

use super::Harness;
use super::fixture::{accept, aside, assert_whole, at, blob, enter, key, lease, post, stand};
use crate::Error;
use crate::model::{Arrival, Ask, List, Rows, Verdict};

pub(super) async fn i1_a_new_enquiry_is_entered_with_its_delivery_its_body_and_work_due_at_once(h: &mut dyn Harness) {
    let delivery = accept(&*h.store(), post("1", "77", "hello").noted()).await;
    assert_eq!((delivery.verdict, delivery.duplicate_suppressed, delivery.weak), (Verdict::Accepted, false, false));
    assert_eq!(delivery.key.as_deref(), Some("web:submission:77"));
    assert_eq!(delivery.first_run.as_ref().map(RunId::as_str), Some("run_1"));
    h.restart(at(1));
    let store = h.store();
    let dossier = store.dossier(delivery.enquiry.as_ref().unwrap()).await.unwrap().unwrap();
    assert_eq!((dossier.enquiry.standing, dossier.version), (Standing::Accepted, 1));
    assert_eq!(dossier.deliveries, [delivery]);
    let kinds: Vec<_> = dossier.entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds, ["delivery.received", "enquiry.normalised"]);
    assert_eq!(store.delivery("dlv_1").await.unwrap().unwrap().body.unwrap(), b"hello");
    assert_eq!(lease(&*store, 1, 9).await.enquiries.len(), 1);
}

pub(super) async fn i2_of_fifty_concurrent_deliveries_one_is_accepted_and_the_rest_name_it(h: &mut dyn Harness) {
    let store = h.store();
    let mut all = JoinSet::new();
    for n in 0..50 {
        let store = Arc::clone(&store);
        all.spawn(async move { accept(&*store, post(&n.to_string(), "77", "hello").at(n)).await });
    }
    let items = all.join_all().await;
    let (first, rest): (Vec<_>, Vec<_>) = items.iter().partition(|item| item.verdict == Verdict::Accepted);
    assert_eq!((first.len(), rest.len()), (1, 49));
    for item in rest {
        assert_eq!((item.verdict, item.duplicate_suppressed), (Verdict::Redelivery, true));
        assert_eq!((&item.first_delivery, &item.first_run), (&Some(first[0].id.clone()), &first[0].first_run));
        assert_eq!(item.first_at, Some(first[0].at));
    }
    drop(store);
    h.restart(at(100));
    let store = h.store();
    for item in &items {
        assert_eq!(store.delivery(item.id.as_str()).await.unwrap().unwrap().items, std::slice::from_ref(item));
    }
    assert_eq!(lease(&*store, 100, 99).await.enquiries.len(), 1);
    assert_whole(&*store).await;
}

/// A file stands once, with the enquiry that it came with: not for copies, not for what is set aside, and not for others.
pub(super) async fn files_are_kept_with_the_enquiry_that_they_came_with_and_once(h: &mut dyn Harness) {
    let with_file = |delivery: &str, id: &str, body: &str| {
        let file = blob(&format!("file of {delivery}"), "%PDF");
        let mut post = post(delivery, id, body);
        post.proposal.fields.attachments = vec![Attachment { blob: Some(file.digest()), ..Attachment::default() }];
        Arrival { files: vec![file], ..post.arrival() }
    };
    let store = h.store();
    let (first, copy, other) = (with_file("1", "77", "a"), with_file("2", "77", "a"), with_file("3", "77", "b"));
    let aside = Arrival { items: vec![aside(Verdict::Quarantined, "?")], ..with_file("4", "78", "a") };
    for (arrival, verdict, is_kept) in [
        (first, Verdict::Accepted, true),
        (copy, Verdict::Redelivery, false),
        (other, Verdict::Conflict, true),
        (aside, Verdict::Quarantined, false),
    ] {
        let digest = arrival.files[0].digest();
        let record = store.accept(arrival).await.unwrap().items.remove(0);
        assert_eq!(record.verdict, verdict);
        assert_eq!(
            store.blob(&digest, record.enquiry.as_ref()).await.unwrap().map(|file| file.bytes),
            is_kept.then(|| b"%PDF".to_vec()),
            "{verdict:?}"
        );
        let entries = store.journal_after(None, 99).await.unwrap();
        assert_eq!(entries.iter().any(|entry| entry.blobs.contains(&digest)), is_kept, "{verdict:?}");
    }
    drop(store);
    h.restart(at(1));
    let store = h.store();
    stand(&*store, &key("77").enquiry_id(), Standing::Settled).await.unwrap();
    // Its own body and its file; the other content's stay with their open enquiry, and so does the copy's body.
    assert_eq!(store.prune(at(9), at(9)).await.unwrap(), 3);
    assert_whole(&*store).await;
}

/// What was mended in a body is on the delivery's record and in the journal.
pub(super) async fn repairs_and_doubts_are_on_record(h: &mut dyn Harness) {
    let store = h.store();
    let mut post = post("1", "77", "a");
    let doubt = Ambiguity { field: "contact.email".to_owned(), why: Doubt::Repeated };
    post.proposal.ambiguous = vec![doubt.clone()];
    let mut arrival = post.arrival();
    arrival.delivery.repairs.insert("nul".to_owned(), 2);
    arrival.delivery.content_encoding = Some("gzip".to_owned());
    let delivery = store.accept(arrival).await.unwrap().items.remove(0);
    drop(store);
    h.restart(at(1));
    let store = h.store();
    let dossier = store.dossier(delivery.enquiry.as_ref().unwrap()).await.unwrap().unwrap();
    assert_eq!((dossier.deliveries[0].repairs["nul"], dossier.deliveries[0].content_encoding.as_deref()), (2, Some("gzip")));
    assert_eq!(dossier.entries[0].facts.get("repairs"), Some(&serde_json::json!({"nul": 2})));
    assert_eq!(dossier.enquiry.flags.ambiguous, [doubt]);
    assert_whole(&*store).await;
}

pub(super) async fn a_batch_gives_each_item_its_own_verdict_and_arrives_once(h: &mut dyn Harness) {
    let store = h.store();
    enter(&*store, post("0", "old", "hello")).await;
    let items = vec![
        post("1", "old", "hello").item(),
        post("1", "new", "hi").item(),
        post("1", "new", "hi").item(),
        post("1", "old", "other").item(),
        aside(Verdict::Quarantined, "no id"),
        aside(Verdict::Test, "a test"),
    ];
    let receipt = store.accept(post("1", "-", "the whole batch").at(5).batch(items)).await.unwrap();
    let verdicts: Vec<_> = receipt.items.iter().map(|item| item.verdict.as_str()).collect();
    assert_eq!(verdicts, ["redelivery", "accepted", "redelivery", "conflict", "quarantined", "test"]);
    assert_eq!(receipt.items.iter().map(|item| item.item).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(receipt.items[2].first_delivery.as_ref(), Some(&receipt.items[1].id), "the batch repeats itself");
    assert_eq!(receipt.items[0].first_delivery.as_ref().unwrap().as_str(), "dlv_0");
    let arrived = store.delivery("dlv_1").await.unwrap().unwrap();
    assert_eq!((arrived.items, arrived.body.unwrap()), (receipt.items.clone(), b"the whole batch".to_vec()));
    let ids =
        [receipt.items[0].enquiry.clone().unwrap(), receipt.items[1].enquiry.clone().unwrap(), receipt.items[3].enquiry.clone().unwrap()];
    assert_eq!(store.resolve("dlv_1").await.unwrap(), ids, "each enquiry once, in the batch's order");
    assert_whole(&*store).await;
}

pub(super) async fn what_is_set_aside_is_kept_whole_with_the_reason(h: &mut dyn Harness) {
    let store = h.store();
    for (id, verdict) in [("1", Verdict::Quarantined), ("2", Verdict::Test), ("3", Verdict::Ignored)] {
        let receipt = store.accept(post(id, "-", "{}").batch(vec![aside(verdict, "why")])).await.unwrap();
        let item = &receipt.items[0];
        assert_eq!((item.verdict, item.reason.as_deref(), &item.enquiry), (verdict, Some("why"), &None));
        let ask = Ask { limit: 9, state: Some(verdict.as_str().to_owned()), ..Ask::default() };
        let Rows::Deliveries(rows) = store.page(List::Deliveries, ask).await.unwrap().rows else { panic!() };
        assert_eq!(rows, receipt.items);
        assert_eq!(store.delivery(item.id.as_str()).await.unwrap().unwrap().body.unwrap(), b"{}");
    }
    assert_whole(&*store).await;
}

pub(super) async fn a_delivery_id_is_entered_once(h: &mut dyn Harness) {
    let store = h.store();
    accept(&*store, post("1", "77", "hello")).await;
    let again = store.accept(post("1", "78", "hello").arrival()).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    assert_eq!(store.resolve("web:submission:78").await.unwrap(), []);
    assert_eq!(assert_whole(&*store).await.entries, 2);
}

pub(super) async fn a_delivery_let_in_again_carries_nothing_of_its_old_verdict(h: &mut dyn Harness) {
    let store = h.store();
    let body = blob("1", "{}");
    let quarantined = store.accept(post("1", "-", "{}").batch(vec![aside(Verdict::Quarantined, "no id")])).await.unwrap().items.remove(0);
    let stale = post("0", "76", "{}").proposal.run;
    let delivery = crate::Delivery {
        id: post("2", "-", "").arrival().delivery.id,
        duplicate_suppressed: true,
        first_run: Some(stale),
        first_delivery: Some(quarantined.id.clone()),
        first_at: Some(at(0)),
        ..quarantined
    };
    let items = vec![post("2", "77", "{}").item()];
    let arrival = Arrival { delivery, body, files: vec![], items, by: Some("ada".to_owned()), undoes: None, take_until: None };
    let item = store.accept(arrival).await.unwrap().items.remove(0);
    assert_eq!((item.verdict, &item.reason, item.duplicate_suppressed), (Verdict::Accepted, &None, false));
    assert_eq!((&item.first_delivery, item.first_at), (&None, None));
    let dossier = store.dossier(&item.enquiry.unwrap()).await.unwrap().unwrap();
    assert_eq!(dossier.entries[0].actor, "ada");
}
