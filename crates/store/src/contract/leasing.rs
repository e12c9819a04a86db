//! Leases: what is handed out, in which order, to whom and until when.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::gate::{Away, Effect, Phase};
use domain::ids::EnquiryId;
use tokio::task::JoinSet;

use super::Harness;
use crate::Store;

use super::fixture::{at, effect, effects, enter, intended, key, lease, moved, plan, post};
use crate::model::{EnquiryChange, Leases, Step, TargetState};

fn names(leases: &Leases) -> Vec<String> {
    let enquiries = leases.enquiries.iter().map(|lease| lease.what.key.value[0].clone());
    enquiries.chain(leases.effects.iter().map(|lease| lease.what.action.clone())).collect()
}

pub(super) async fn the_oldest_due_goes_first_over_enquiries_and_effects(h: &mut dyn Harness) {
    let store = h.store();
    for (n, ms) in [("1", 30), ("2", 10), ("3", 20), ("4", 20), ("5", 99)] {
        enter(&*store, post(n, &format!("q{n}"), n).at(ms)).await;
    }
    let due = |action: &str, ms| plan(effect(&key("q1"), action, at(ms)));
    store.commit(effects(vec![due("late", 31), due("first", 5), due("same", 20), due("never", 99)])).await.unwrap();
    let mut taken = Vec::new();
    for _ in 0..4 {
        let two = lease(&*store, 50, 2).await;
        assert!(two.enquiries.len() + two.effects.len() <= 2);
        taken.push(names(&two));
    }
    // Within one answer enquiries come before effects.
    assert_eq!(taken, [vec!["q2", "first"], vec!["q3", "q4"], vec!["q1", "same"], vec!["late"]]);
    assert!(names(&lease(&*store, 50, 0).await).is_empty());
}

pub(super) async fn no_work_is_held_by_two_live_leases_and_each_lease_has_a_higher_fence(h: &mut dyn Harness) {
    let store = h.store();
    enter(&*store, post("1", "77", "a")).await;
    store.commit(effects(vec![plan(effect(&key("77"), "deal", at(0)))])).await.unwrap();
    let mut fence = 0;
    for round in 0..4 {
        let now = round * 1_000;
        let leases = lease(&*store, now, 9).await;
        let (enquiry, effect) = (&leases.enquiries[0], &leases.effects[0]);
        assert_eq!((leases.enquiries.len(), leases.effects.len(), enquiry.version, effect.version), (1, 1, 1, 1));
        assert!(enquiry.fence > fence && effect.fence > fence);
        fence = enquiry.fence;
        assert!(names(&lease(&*store, now + 999, 9).await).is_empty(), "the lease lives until its last instant");
    }
}

pub(super) async fn a_lease_on_an_enquiry_ends_with_a_commit_unless_that_keeps_it(h: &mut dyn Harness) {
    let store = h.store();
    enter(&*store, post("1", "77", "a")).await;
    let held = lease(&*store, 0, 9).await.enquiries.remove(0);
    let commit = async |version, fence, keep_lease| {
        let enquiry = domain::enquiry::Enquiry { standing: domain::enquiry::Standing::Working, ..held.what.clone() };
        let change = EnquiryChange { enquiry, version, fence, due: Some(at(5)), keep_lease };
        store.commit(Step { at: at(10), enquiries: vec![change], ..Step::default() }).await.unwrap();
    };
    commit(held.version, None, true).await;
    let meanwhile = lease(&*store, 999, 9).await;
    assert_eq!((meanwhile.enquiries.len(), meanwhile.next_due), (0, Some(at(1_000))), "somebody else's act leaves the lease");
    let late = lease(&*store, 1_000, 9).await.enquiries.remove(0);
    assert_eq!((late.version, late.fence), (held.version + 1, held.fence + 1), "it runs out when it would have");
    commit(late.version, Some(late.fence), false).await;
    let again = lease(&*store, 1_001, 9).await.enquiries.remove(0);
    commit(again.version, None, true).await;
    commit(again.version + 1, None, false).await;
    assert_eq!(lease(&*store, 1_002, 9).await.enquiries.len(), 1, "the last word counts");
}

pub(super) async fn the_next_due_counts_what_falls_due_and_leases_that_run_out(h: &mut dyn Harness) {
    let store = h.store();
    assert_eq!(lease(&*store, 0, 9).await.next_due, None);
    enter(&*store, post("1", "77", "a").at(10)).await;
    store.commit(effects(vec![plan(effect(&key("77"), "deal", at(5_000)))])).await.unwrap();
    assert_eq!(lease(&*store, 0, 9).await.next_due, Some(at(10)));
    assert_eq!(lease(&*store, 10, 9).await.next_due, Some(at(1_010)), "its worker may never report");
    let taken = lease(&*store, 1_010, 9).await;
    assert_eq!(taken.next_due, Some(at(2_010)));
    let lease_of = &taken.enquiries[0];
    let enquiry = domain::enquiry::Enquiry { standing: domain::enquiry::Standing::Working, ..lease_of.what.clone() };
    let change = EnquiryChange { enquiry, version: lease_of.version, fence: Some(lease_of.fence), due: None, keep_lease: false };
    store.commit(Step { at: at(1_020), enquiries: vec![change], ..Step::default() }).await.unwrap();
    assert_eq!(lease(&*store, 1_020, 9).await.next_due, Some(at(5_000)));
    assert_eq!(lease(&*store, 4_999, 9).await.effects.len(), 0);
    assert_eq!(lease(&*store, 5_000, 9).await.effects.len(), 1);
}

pub(super) async fn a_restart_ends_every_lease_and_an_intent_is_handed_out_again(h: &mut dyn Harness) {
    let store = h.store();
    enter(&*store, post("1", "77", "a")).await;
    store.commit(effects(vec![plan(effect(&key("77"), "deal", at(0)))])).await.unwrap();
    let leases = lease(&*store, 0, 9).await;
    let held = &leases.effects[0];
    let intent = intended(held.what.clone(), held.fence, store.stream(), at(1));
    let change = crate::EffectChange { keep_lease: true, ..moved(held, intent.clone()) };
    store.commit(effects(vec![change])).await.unwrap();
    assert!(names(&lease(&*store, 2, 9).await).is_empty());
    drop(store);
    h.restart(at(3));
    let store = h.store();
    let again = lease(&*store, 3, 9).await;
    assert_eq!(names(&again), ["77", "deal"], "long before the old leases end");
    let after = &again.effects[0];
    assert_eq!((&after.what, &after.what.steps[0].phase), (&intent, &Phase::Intended));
    assert!(after.fence > held.fence && again.enquiries[0].fence > leases.enquiries[0].fence);
    assert_eq!(store.dead_since(&after.what.steps[0].attempts[0].process), Some(at(3)));
}

pub(super) async fn who_brings_or_plans_work_may_take_it_at_once(h: &mut dyn Harness) {
    let store = h.store();
    let taking = |post: super::fixture::Post| crate::Arrival { take_until: Some(at(1_000)), ..post.arrival() };
    let brought = store.accept(taking(post("1", "77", "a"))).await.unwrap();
    let held = &brought.taken[0];
    assert_eq!((held.what.key.to_string(), held.fence, held.version), ("web:submission:77".to_owned(), 1, 1));
    assert!(names(&lease(&*store, 999, 9).await).is_empty(), "nobody else gets it meanwhile");
    for again in [post("2", "77", "a"), post("3", "77", "other content")] {
        assert!(store.accept(taking(again)).await.unwrap().taken.is_empty(), "a redelivery and a conflict are no work");
    }
    let enquiry = domain::enquiry::Enquiry { standing: domain::enquiry::Standing::Working, ..held.what.clone() };
    let begun = intended(effect(&key("77"), "deal", at(0)), 1, store.stream(), at(1));
    let step = Step {
        enquiries: vec![EnquiryChange { enquiry, version: held.version, fence: Some(held.fence), due: None, keep_lease: false }],
        ..effects(vec![crate::EffectChange { take_until: Some(at(2_000)), ..plan(begun.clone()) }])
    };
    store.commit(step).await.unwrap();
    assert!(names(&lease(&*store, 1_999, 9).await).is_empty());
    let late = lease(&*store, 2_000, 9).await;
    assert_eq!((&late.effects[0].what, late.effects[0].fence, late.effects[0].version), (&begun, 2, 1), "it did not report");
}

pub(super) async fn concurrent_leases_share_nothing(h: &mut dyn Harness) {
    let store = h.store();
    for n in 0..40 {
        enter(&*store, post(&n.to_string(), &n.to_string(), "a")).await;
    }
    let mut all = JoinSet::new();
    for _ in 0..10 {
        let store = Arc::clone(&store);
        all.spawn(async move { lease(&*store, 0, 3).await.enquiries });
    }
    let taken: Vec<EnquiryId> = all.join_all().await.into_iter().flatten().map(|lease| lease.what.id).collect();
    assert_eq!((taken.len(), taken.iter().collect::<BTreeSet<_>>().len()), (30, 30));
}

pub(super) async fn a_paused_targets_effects_are_not_handed_out_and_go_on_oldest_first(h: &mut dyn Harness) {
    let store = h.store();
    enter(&*store, post("1", "77", "a").at(900)).await;
    let due = |action: &str, ms| plan(effect(&key("77"), action, at(ms)));
    store.commit(effects(vec![due("second", 2), due("first", 1), due("later", 500)])).await.unwrap();
    let set = async |paused: Option<&str>| {
        let target = TargetState { name: "crm".to_owned(), paused: paused.map(|why| (at(3), why.to_owned())) };
        store.commit(Step { targets: vec![target], ..Step::default() }).await.unwrap();
    };
    set(Some("401")).await;
    let none = lease(&*store, 10, 9).await;
    assert_eq!((names(&none).len(), none.next_due), (0, Some(at(500))), "nothing is handed out, and nothing is lost");
    drop(store);
    h.restart(at(20));
    let store = h.store();
    assert!(names(&lease(&*store, 20, 9).await).is_empty(), "the pause outlives the process");
    let target = TargetState { name: "crm".to_owned(), paused: None };
    store.commit(Step { targets: vec![target], ..Step::default() }).await.unwrap();
    assert_eq!(names(&lease(&*store, 30, 9).await), ["first", "second"]);
}

pub(super) async fn of_a_bounded_target_so_many_are_handed_out_oldest_first(h: &mut dyn Harness) {
    let store = h.store();
    enter(&*store, post("1", "77", "a").at(500)).await;
    let on = |action: &str, target: &str, ms| plan(Effect { target: target.to_owned(), ..effect(&key("77"), action, at(ms)) });
    let all =
        vec![on("c3", "crm", 3), on("c1", "crm", 1), on("m2", "mail", 2), on("m4", "mail", 4), on("c5", "crm", 5), on("d6", "desk", 6)];
    store.commit(effects(all)).await.unwrap();
    let take = async |limit, rooms: &[(&str, usize)]| {
        let rooms = rooms.iter().map(|(name, room)| ((*name).to_owned(), *room)).collect();
        names(&store.lease_within(at(10), at(1_000), limit, &rooms).await.unwrap())
    };
    assert_eq!(take(9, &[("crm", 0), ("mail", 0), ("desk", 0)]).await, Vec::<String>::new());
    assert_eq!(take(1, &[("crm", 9), ("mail", 9)]).await, ["c1"], "the limit holds too");
    assert_eq!(take(9, &[("crm", 1), ("mail", 0)]).await, ["c3", "d6"]);
    assert_eq!(take(9, &[("mail", 1), ("gone", 3)]).await, ["m2", "c5"]);
    let paused = TargetState { name: "mail".to_owned(), paused: Some((at(1), "x".to_owned())) };
    store.commit(Step { targets: vec![paused], ..Step::default() }).await.unwrap();
    assert_eq!(take(9, &[("mail", 5)]).await, Vec::<String>::new(), "a pause is a pause");
}

pub(super) async fn that_a_target_is_away_outlives_the_process_and_a_pause(h: &mut dyn Harness) {
    let away = |probes| Away { since: at(1), probes, probe_at: at(7) };
    let say = async |store: &dyn Store, name: &str, away| {
        store.commit(Step { away: [(name.to_owned(), away)].into(), ..Step::default() }).await.unwrap();
    };
    say(&*h.store(), "crm", Some(away(0))).await;
    say(&*h.store(), "mail", Some(away(1))).await;
    let paused = TargetState { name: "crm".to_owned(), paused: Some((at(1), "x".to_owned())) };
    h.store().commit(Step { targets: vec![paused], ..Step::default() }).await.unwrap();
    say(&*h.store(), "crm", Some(away(3))).await;
    say(&*h.store(), "mail", None).await;
    h.restart(at(5));
    assert_eq!(h.store().away().await.unwrap(), [("crm".to_owned(), away(3))].into());
    assert_eq!(h.store().targets().await.unwrap().len(), 1);
}
