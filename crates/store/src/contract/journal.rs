//! The journal: one chain a process start, whole over restarts, without gaps.

use super::Harness;
use super::fixture::{accept, assert_whole, at, draft, effect, effects, enter, key, plan, post};
use crate::model::Step;
use crate::{Error, Store};

pub(super) async fn i11_the_chain_is_whole_over_restarts_and_blobs(h: &mut dyn Harness) {
    for start in 0_i64..4 {
        let store = h.store();
        // The third start writes nothing: its one entry is a head all the same.
        if start != 2 {
            for n in 0..3 {
                accept(&*store, post(&format!("{start}{n}"), &n.to_string(), "a").at(start)).await;
            }
        }
        drop(store);
        h.restart(at(start + 1));
    }
    let report = assert_whole(&*h.store()).await;
    assert_eq!((report.streams, report.entries, report.blobs_checked), (5, 5 + 9, 9));
    let entries = h.store().journal_after(None, 99).await.unwrap();
    for stream in &report.heads {
        let seqs: Vec<u64> = entries.iter().filter(|entry| entry.stream == stream.stream).map(|entry| entry.seq).collect();
        assert_eq!(seqs, (1..=stream.seq).collect::<Vec<_>>());
    }
}

pub(super) async fn i11_a_refused_step_leaves_no_gap(h: &mut dyn Harness) {
    let store = h.store();
    enter(&*store, post("1", "77", "a")).await;
    let deal = plan(effect(&key("77"), "deal", at(0)));
    store.commit(effects(vec![deal.clone()])).await.unwrap();
    let before = store.note(vec![draft("one", None)]).await.unwrap();
    let step = Step { entries: vec![draft("two", None), draft("three", None)], ..effects(vec![deal]) };
    assert!(matches!(store.commit(step).await, Err(Error::Conflict(_))));
    let after = store.note(vec![draft("four", None)]).await.unwrap();
    assert_eq!(after.seq, before.seq + 1);
    assert_eq!(store.journal_after(Some((before.stream, before.seq)), 9).await.unwrap()[0].prev, before.hash);
    assert_whole(&*store).await;
}

pub(super) async fn a_note_moves_the_head(h: &mut dyn Harness) {
    let store = h.store();
    let id = enter(&*store, post("1", "77", "a")).await;
    let still = store.note(vec![]).await.unwrap();
    assert_eq!((still.seq, &still.stream), (2, store.stream()));
    let head = store.note(vec![draft("config.read", None), draft("person.noted", Some(&id))]).await.unwrap();
    assert_eq!(head.seq, 4);
    let dossier = store.dossier(&id).await.unwrap().unwrap();
    assert_eq!(dossier.entries.last().unwrap().head(), head);
    assert_eq!(assert_whole(&*store).await.heads, [head]);
}

pub(super) async fn the_journal_is_read_in_pieces_over_all_streams(h: &mut dyn Harness) {
    h.store().note(vec![draft("one", None), draft("two", None)]).await.unwrap();
    let first = h.store().stream().clone();
    h.restart(at(1));
    let store = h.store();
    store.note(vec![draft("three", None)]).await.unwrap();
    let kinds = async |after, limit| {
        let entries = store.journal_after(after, limit).await.unwrap();
        entries.into_iter().map(|entry| entry.kind).collect::<Vec<_>>()
    };
    let all = ["stream.began", "one", "two", "stream.began", "three"];
    assert_eq!(kinds(None, 99).await, all);
    assert_eq!(kinds(None, 2).await, all[..2]);
    assert_eq!(kinds(Some((first.clone(), 2)), 2).await, all[2..4]);
    assert_eq!(kinds(Some((first.clone(), 99)), 9).await, all[3..]);
    assert!(kinds(Some((store.stream().clone(), 2)), 9).await.is_empty());
    assert!(kinds(None, 0).await.is_empty());
    let unknown = domain::ids::StreamId::parse("str_unknown").unwrap();
    assert!(matches!(store.journal_after(Some((unknown, 1)), 9).await, Err(Error::Refused(_))));
}

pub(super) async fn every_process_but_this_one_is_dead_since_this_start(h: &mut dyn Harness) {
    let first = h.store().stream().clone();
    assert_eq!(h.store().dead_since(&first), None);
    h.restart(at(8));
    let store = h.store();
    assert_ne!(*store.stream(), first);
    assert_eq!((store.dead_since(&first), store.dead_since(store.stream())), (Some(at(8)), None));
    let keyed = |store: &dyn Store| store.secret().fingerprint("test", [b"a".as_slice()]);
    let before = keyed(&*store);
    drop(store);
    h.restart(at(9));
    assert_eq!(keyed(&*h.store()), before, "the secret is the book's, not the process's");
}
