//! Lists, page by page.

use domain::ids::EnquiryId;

use super::Harness;
use super::fixture::{accept, aside, at, draft, effect, effects, enter, key, plan, post, review, stand};
use crate::model::{Ask, List, Rows, Step, Verdict};
use crate::{Error, Store};

const LISTS: [List; 5] = [List::Enquiries, List::Deliveries, List::Effects, List::Reviews, List::Journal];

/// Names of a page's rows.
fn names(rows: Rows) -> Vec<String> {
    match rows {
        Rows::Enquiries(rows) => rows.into_iter().map(|row| row.key.to_string()).collect(),
        Rows::Deliveries(rows) => rows.into_iter().map(|row| format!("{}/{}", row.id, row.item)).collect(),
        Rows::Effects(rows) => rows.into_iter().map(|row| format!("{} {}", row.outgoing_key, row.action)).collect(),
        Rows::Reviews(rows) => rows.into_iter().map(|row| row.id.as_str().to_owned()).collect(),
        Rows::Journal(rows) => rows.into_iter().map(|row| row.head().to_string()).collect(),
    }
}

/// Every row of a list, in pages of `limit`.
async fn all(store: &dyn Store, list: List, limit: usize, ask: &Ask) -> Vec<String> {
    let mut all = Vec::new();
    let mut cursor = None;
    loop {
        let page = store.page(list, Ask { cursor, limit, ..ask.clone() }).await.unwrap();
        let rows = names(page.rows);
        assert!(rows.len() <= limit);
        all.extend(rows);
        cursor = page.next;
        if cursor.is_none() {
            return all;
        }
    }
}

async fn fill(store: &dyn Store, from: usize, to: usize) {
    for n in from..to {
        let n = n.to_string();
        let id = enter(store, post(&n, &n, "a")).await;
        let step = Step { reviews: vec![review(&n, &id)], ..effects(vec![plan(effect(&key(&n), "deal", at(5)))]) };
        store.commit(step).await.unwrap();
    }
}

pub(super) async fn every_list_gives_every_row_once(h: &mut dyn Harness) {
    fill(&*h.store(), 0, 7).await;
    h.restart(at(1));
    let store = h.store();
    store.note(vec![draft("one", None)]).await.unwrap();
    for list in LISTS {
        let whole = all(&*store, list, 1000, &Ask::default()).await;
        assert_eq!(whole.len(), if list == List::Journal { 7 + 3 } else { 7 }, "{list:?}");
        for limit in [1, 2, 3, 6, 7, 8] {
            assert_eq!(all(&*store, list, limit, &Ask::default()).await, whole, "{list:?} by {limit}");
        }
    }
    let newest = all(&*store, List::Enquiries, 2, &Ask::default()).await;
    assert_eq!((newest[0].as_str(), newest[6].as_str()), ("web:submission:6", "web:submission:0"));
    let none = store.page(List::Enquiries, Ask::default()).await.unwrap();
    assert_eq!(names(none.rows).len(), 1, "a limit of nothing is one");
}

pub(super) async fn pages_stay_where_they_were_while_rows_are_added(h: &mut dyn Harness) {
    let store = h.store();
    fill(&*store, 0, 6).await;
    for list in [List::Enquiries, List::Deliveries, List::Effects, List::Reviews] {
        let before = all(&*store, list, 1000, &Ask::default()).await;
        let first = store.page(list, Ask { limit: 2, ..Ask::default() }).await.unwrap();
        let count = before.len();
        fill(&*store, count, count + 2).await;
        let mut seen = names(first.rows);
        let mut cursor = first.next;
        while let Some(at) = cursor {
            let page = store.page(list, Ask { limit: 2, cursor: Some(at), ..Ask::default() }).await.unwrap();
            seen.extend(names(page.rows));
            cursor = page.next;
        }
        assert_eq!(seen, before, "{list:?}");
    }
    // A changed row stays in its place.
    let before = all(&*store, List::Enquiries, 1000, &Ask::default()).await;
    stand(&*store, &key("3").enquiry_id(), domain::enquiry::Standing::Settled).await.unwrap();
    assert_eq!(all(&*store, List::Enquiries, 3, &Ask::default()).await, before);
}

pub(super) async fn lists_are_filtered(h: &mut dyn Harness) {
    let store = h.store();
    fill(&*store, 0, 3).await;
    let id: EnquiryId = key("1").enquiry_id();
    accept(&*store, post("again", "1", "a")).await;
    store.accept(post("set", "-", "{}").batch(vec![aside(Verdict::Test, "t"), aside(Verdict::Ignored, "i")])).await.unwrap();
    let mut elsewhere = post("else", "-", "a");
    elsewhere.proposal.candidate.keys[0].source = "ads".to_owned();
    let mut elsewhere = elsewhere.arrival();
    elsewhere.delivery.source = "ads".to_owned();
    store.accept(elsewhere).await.unwrap();
    stand(&*store, &id, domain::enquiry::Standing::Settled).await.unwrap();
    let closed = crate::Review { closed_at: Some(at(1)), ..review("1", &id) };
    store.commit(Step { reviews: vec![closed], ..Step::default() }).await.unwrap();

    let source = |name: &str| Ask { source: Some(name.to_owned()), ..Ask::default() };
    let state = |name: &str| Ask { state: Some(name.to_owned()), ..Ask::default() };
    let about = Ask { enquiry: Some(id.clone()), ..Ask::default() };
    let cases = [
        (List::Enquiries, source("ads"), 1),
        (List::Enquiries, source("no"), 0),
        (List::Enquiries, state("settled"), 1),
        (List::Enquiries, state("accepted"), 3),
        (List::Enquiries, Ask { state: Some("settled".to_owned()), ..source("ads") }, 0),
        (List::Deliveries, source("web"), 6),
        (List::Deliveries, state("redelivery"), 1),
        (List::Deliveries, state("test"), 1),
        (List::Deliveries, about.clone(), 2),
        (List::Effects, state("planned"), 3),
        (List::Effects, state("verified"), 0),
        (List::Effects, about.clone(), 1),
        (List::Reviews, state("open"), 2),
        (List::Reviews, state("closed"), 1),
        (List::Reviews, state("other"), 0),
        (List::Reviews, about.clone(), 1),
        (List::Journal, about, 2),
    ];
    for (list, ask, count) in cases {
        for limit in [1, 2, 1000] {
            assert_eq!(all(&*store, list, limit, &ask).await.len(), count, "{list:?} {ask:?}");
        }
    }
}

pub(super) async fn a_cursor_of_another_list_is_refused(h: &mut dyn Harness) {
    let store = h.store();
    fill(&*store, 0, 2).await;
    for list in LISTS {
        let other = if list == List::Journal { "12" } else { "1.2" };
        for cursor in ["", "x", "1.x", "x.1", "9999999999999999999999", other] {
            let page = store.page(list, Ask { limit: 1, cursor: Some(cursor.to_owned()), ..Ask::default() }).await;
            assert!(matches!(page, Err(Error::Refused(_))), "{list:?} {cursor}: {page:?}");
        }
    }
}
