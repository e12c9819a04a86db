//! Steps: all of one or nothing of it, versions, fences and locks.

use domain::enquiry::{Enquiry, Standing};
use domain::gate::Away;
use domain::ids::EnquiryId;

use super::Harness;
use super::fixture::{assert_whole, at, blob, draft, effect, effects, enter, intended, key, lease, moved, plan, post, review, verified};
use crate::model::{Ask, EffectChange, EnquiryChange, Kept, List, Step, TargetState};
use crate::{Error, Store};

/// A step that changes one of everything, under leases that it takes.
async fn full_step(store: &dyn Store, id: &EnquiryId) -> Step {
    let leases = lease(store, 0, 9).await;
    let (enquiry, held) = (&leases.enquiries[0], &leases.effects[0]);
    let blob = blob("answer", "the model's answer");
    let mut entry = draft("qualified", Some(id));
    entry.blobs.push(blob.digest());
    let working = Enquiry { standing: Standing::Working, ..enquiry.what.clone() };
    Step {
        at: at(1),
        enquiries: vec![EnquiryChange {
            enquiry: working,
            version: enquiry.version,
            fence: Some(enquiry.fence),
            due: None,
            keep_lease: false,
        }],
        effects: vec![
            moved(held, intended(held.what.clone(), held.fence, store.stream(), at(1))),
            plan(effect(&key("77"), "follow-up", at(50))),
        ],
        reviews: vec![review("1", id)],
        targets: vec![TargetState { name: "crm".to_owned(), paused: Some((at(1), "401".to_owned())) }],
        away: [("crm".to_owned(), Some(Away { since: at(1), probes: 2, probe_at: at(9) }))].into(),
        kept: vec![Kept { name: "sent:1".to_owned(), was: None, is: Some("x".to_owned()) }],
        blobs: vec![(Some(id.clone()), blob)],
        entries: vec![entry, draft("planned", Some(id))],
    }
}

/// Everything that a step can change, as text.
async fn all_of(store: &dyn Store) -> String {
    let mut all = Vec::new();
    for list in [List::Enquiries, List::Deliveries, List::Effects, List::Reviews, List::Journal] {
        all.push(format!("{:?}", store.page(list, Ask { limit: 1000, ..Ask::default() }).await.unwrap()));
    }
    let answer = store.blob(&blob("answer", "the model's answer").digest(), Some(&key("77").enquiry_id())).await.unwrap();
    let kept = store.kept("sent:1").await.unwrap();
    all.push(format!("{:?} {:?} {kept:?} {answer:?}", store.targets().await.unwrap(), store.away().await.unwrap()));
    all.join("\n")
}

async fn one_of_each(store: &dyn Store) -> EnquiryId {
    let id = enter(store, post("1", "77", "a")).await;
    store.commit(effects(vec![plan(effect(&key("77"), "deal", at(0)))])).await.unwrap();
    id
}

pub(super) async fn i5_a_step_is_written_whole(h: &mut dyn Harness) {
    let store = h.store();
    let id = one_of_each(&*store).await;
    let step = full_step(&*store, &id).await;
    store.commit(step.clone()).await.unwrap();
    drop(store);
    h.restart(at(2));
    let store = h.store();
    let dossier = store.dossier(&id).await.unwrap().unwrap();
    assert_eq!((&dossier.enquiry, dossier.version), (&step.enquiries[0].enquiry, 2));
    let planned: Vec<_> = dossier.effects.iter().map(|(effect, version)| (effect, *version)).collect();
    assert_eq!(planned, [(&step.effects[0].effect, 2), (&step.effects[1].effect, 1)]);
    assert_eq!((&dossier.reviews, &store.targets().await.unwrap()), (&step.reviews, &step.targets));
    let kinds: Vec<_> = dossier.entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds, ["delivery.received", "qualified", "planned"]);
    assert_eq!(store.blob(&step.blobs[0].1.digest(), step.blobs[0].0.as_ref()).await.unwrap().as_ref(), Some(&step.blobs[0].1));
    assert_eq!(assert_whole(&*store).await.blobs_checked, 2);
}

pub(super) async fn a_stale_version_or_fence_writes_nothing_of_the_step(h: &mut dyn Harness) {
    let store = h.store();
    let id = one_of_each(&*store).await;
    let step = full_step(&*store, &id).await;
    let before = all_of(&*store).await;
    let mut stale = vec![step.clone(), step.clone(), step.clone(), step.clone()];
    stale[0].enquiries[0].version += 1;
    stale[1].effects[0].version = Some(9);
    stale[2].enquiries[0].fence = Some(0);
    let later = lease(&*store, 5_000, 9).await;
    assert_eq!(later.effects.len(), 1, "the lease ran out, and another worker has it now");
    for (n, step) in stale.into_iter().enumerate() {
        let refused = store.commit(step).await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{n}: {refused:?}");
        assert_eq!(all_of(&*store).await, before, "{n}");
    }
    let late = effects(vec![step.effects[0].clone()]);
    assert!(matches!(store.commit(late).await, Err(Error::Conflict(_))), "the fence alone is stale");
    let held = &later.effects[0];
    store.commit(effects(vec![moved(held, verified(held.what.clone(), "D-1"))])).await.unwrap();
    assert_whole(&*store).await;
}

pub(super) async fn any_refusal_takes_back_everything_before_it(h: &mut dyn Harness) {
    let store = h.store();
    let id = one_of_each(&*store).await;
    let closed = crate::Review { closed_at: Some(at(1)), ..review("0", &id) };
    store.commit(Step { reviews: vec![closed.clone()], ..Step::default() }).await.unwrap();
    let step = full_step(&*store, &id).await;
    let before = all_of(&*store).await;
    let mut known = step.clone();
    known.effects.push(plan(effect(&key("77"), "deal", at(0))));
    let mut decided = step.clone();
    decided.reviews.push(closed);
    let mut locked = step.clone();
    locked.effects[0].lock = Some("crm/a".to_owned());
    locked.effects[1].lock = Some("crm/a".to_owned());
    let mut unknown = step.clone();
    unknown.enquiries[0].enquiry.id = key("no").enquiry_id();
    for step in [known, decided, locked, unknown] {
        let refused = store.commit(step).await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
        assert_eq!(all_of(&*store).await, before);
    }
    store.commit(step).await.unwrap();
    assert_whole(&*store).await;
}

pub(super) async fn keep_lease_goes_on_under_the_same_fence(h: &mut dyn Harness) {
    let store = h.store();
    enter(&*store, post("1", "77", "a")).await;
    store.commit(effects(vec![plan(effect(&key("77"), "deal", at(0)))])).await.unwrap();
    let held = lease(&*store, 0, 9).await.effects.remove(0);
    let intent = intended(held.what.clone(), held.fence, store.stream(), at(1));
    store.commit(effects(vec![EffectChange { keep_lease: true, ..moved(&held, intent.clone()) }])).await.unwrap();
    assert_eq!(lease(&*store, 999, 9).await.effects.len(), 0);
    let next = EffectChange { version: Some(held.version + 1), ..moved(&held, intent) };
    store.commit(effects(vec![next])).await.unwrap();
    let again = lease(&*store, 999, 9).await.effects.remove(0);
    assert_eq!((again.version, again.fence), (held.version + 2, held.fence + 1), "the second commit ended the lease");
}

pub(super) async fn a_lock_is_one_effects_and_is_given_back(h: &mut dyn Harness) {
    let store = h.store();
    enter(&*store, post("1", "77", "a")).await;
    let plans = ["a", "b"].map(|action| plan(effect(&key("77"), action, at(0))));
    store.commit(effects(plans.to_vec())).await.unwrap();
    let [first, second] = <[_; 2]>::try_from(lease(&*store, 0, 9).await.effects).unwrap();
    let change = |lease: &crate::Lease<domain::gate::Effect>, step: u64, lock: Option<&str>| EffectChange {
        version: Some(lease.version + step),
        lock: lock.map(str::to_owned),
        keep_lease: true,
        ..moved(lease, lease.what.clone())
    };
    let commit = async |change| store.commit(effects(vec![change])).await;
    commit(change(&first, 0, Some("crm/ada"))).await.unwrap();
    assert!(matches!(commit(change(&second, 0, Some("crm/ada"))).await, Err(Error::Conflict(_))));
    commit(change(&second, 0, Some("crm/bob"))).await.unwrap();
    commit(change(&first, 1, Some("crm/ada"))).await.unwrap();
    commit(change(&first, 2, None)).await.unwrap();
    commit(change(&second, 1, Some("crm/ada"))).await.unwrap();
    assert!(matches!(commit(change(&first, 3, Some("crm/ada"))).await, Err(Error::Conflict(_))));
    commit(change(&first, 3, Some("crm/bob"))).await.unwrap();
    drop(store);
    h.restart(at(1));
    let store = h.store();
    let third = EffectChange { lock: Some("crm/ada".to_owned()), ..plan(effect(&key("77"), "c", at(0))) };
    assert!(matches!(store.commit(effects(vec![third])).await, Err(Error::Conflict(_))), "a lock outlives its process");
}

pub(super) async fn a_review_item_is_decided_once(h: &mut dyn Harness) {
    let store = h.store();
    let id = enter(&*store, post("1", "77", "a")).await;
    let open = review("1", &id);
    let decide = |by: &str| crate::Review { closed_at: Some(at(9)), decision: Some(by.to_owned()), ..open.clone() };
    let commit = async |review| store.commit(Step { reviews: vec![review], ..Step::default() }).await;
    commit(open.clone()).await.unwrap();
    commit(open.clone()).await.unwrap();
    commit(decide("ada")).await.unwrap();
    assert!(matches!(commit(decide("bob")).await, Err(Error::Conflict(_))));
    let other = enter(&*store, post("2", "78", "b")).await;
    let elsewhere = crate::Review { enquiry: other, ..open.clone() };
    assert!(matches!(commit(elsewhere).await, Err(Error::Conflict(_))));
    assert_eq!(store.dossier(&id).await.unwrap().unwrap().reviews, [decide("ada")]);
    commit(open.clone()).await.unwrap();
    commit(decide("bob")).await.unwrap();
    assert_eq!(store.dossier(&id).await.unwrap().unwrap().reviews, [decide("bob")], "opened again, and decided again");
}

/// What belongs to an enquiry is filed under it; what belongs to none that is in the book would never be found again.
pub(super) async fn nothing_is_filed_under_an_enquiry_that_is_not_in_the_book(h: &mut dyn Harness) {
    let store = h.store();
    let stranger = key("77").enquiry_id();
    let before = all_of(&*store).await;
    let steps = [
        effects(vec![plan(effect(&key("77"), "deal", at(0)))]),
        Step { reviews: vec![review("1", &stranger)], ..Step::default() },
        Step { blobs: vec![(Some(stranger.clone()), blob("answer", "x"))], ..Step::default() },
        Step { entries: vec![draft("noted", None), draft("noted", Some(&stranger))], ..Step::default() },
    ];
    for step in steps {
        let refused = store.commit(step).await;
        assert!(matches!(&refused, Err(Error::Refused(why)) if why.contains(stranger.as_str())), "{refused:?}");
    }
    assert!(matches!(store.note(vec![draft("noted", Some(&stranger))]).await, Err(Error::Refused(_))));
    assert_eq!(all_of(&*store).await, before);
}

pub(super) async fn a_plan_is_made_once(h: &mut dyn Harness) {
    let store = h.store();
    enter(&*store, post("1", "77", "a")).await;
    let deal = plan(effect(&key("77"), "deal", at(0)));
    store.commit(effects(vec![deal.clone()])).await.unwrap();
    assert!(matches!(store.commit(effects(vec![deal])).await, Err(Error::Conflict(_))));
}
