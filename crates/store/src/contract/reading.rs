//! Dossiers, and the names that lead to them.

use domain::gate::{Effect, StepKind};
use domain::identity::{Basis, Key};

use super::Harness;
use super::fixture::{accept, at, blob, delivery, draft, effect, effects, enter, key, lease, moved, plan, post, review, verified};
use crate::model::Step;

pub(super) async fn a_dossier_is_complete_and_in_order(h: &mut dyn Harness) {
    let store = h.store();
    let id = enter(&*store, post("1", "77", "a")).await;
    enter(&*store, post("2", "78", "b")).await;
    accept(&*store, post("3", "77", "a").at(1)).await;
    let plans = ["z", "a", "m"].map(|action| plan(effect(&key("77"), action, at(9))));
    let other = plan(effect(&key("78"), "z", at(9)));
    let step = Step {
        reviews: vec![review("9", &id), review("1", &id), review("5", &key("78").enquiry_id())],
        entries: vec![draft("planned", Some(&id)), draft("else", None)],
        ..effects(plans.into_iter().chain([other]).collect())
    };
    store.commit(step).await.unwrap();
    drop(store);
    h.restart(at(2));
    let store = h.store();
    accept(&*store, post("4", "77", "a").at(3)).await;
    let dossier = store.dossier(&id).await.unwrap().unwrap();
    assert_eq!(dossier.enquiry.id, id);
    assert_eq!(dossier.deliveries.iter().map(|d| d.id.as_str()).collect::<Vec<_>>(), ["dlv_1", "dlv_3", "dlv_4"]);
    assert_eq!(dossier.effects.iter().map(|(e, _)| e.action.as_str()).collect::<Vec<_>>(), ["z", "a", "m"]);
    assert_eq!(dossier.reviews.iter().map(|r| r.id.as_str()).collect::<Vec<_>>(), ["rev_9", "rev_1"]);
    let kinds: Vec<_> = dossier.entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds, ["delivery.received", "delivery.received", "planned", "delivery.received"]);
    assert!(dossier.entries.iter().all(|entry| entry.enquiry.as_ref() == Some(&id)));
}

pub(super) async fn i11_every_name_leads_to_the_enquiry(h: &mut dyn Harness) {
    let store = h.store();
    let long = Key::new("web", Basis::Submission, vec!["x".repeat(500)]);
    let odd = Key::new("web", Basis::Submission, vec!["a:b #~,%".to_owned()]);
    for (n, key) in [("1", &key("77")), ("2", &long), ("3", &odd)] {
        let mut post = post(n, "-", "a");
        post.proposal.candidate.keys = vec![key.clone()];
        let id = enter(&*store, post).await;
        let step = Step { reviews: vec![review(n, &id)], ..effects(vec![plan(effect(key, "deal", at(0)))]) };
        store.commit(step).await.unwrap();
        let held = lease(&*store, 0, 9).await.effects.remove(0);
        let record = format!("D:{n}:#1");
        store.commit(effects(vec![moved(&held, verified(held.what.clone(), &record))])).await.unwrap();
        let names = [
            id.as_str().to_owned(),
            key.to_string(),
            key.outgoing(1),
            format!("dlv_{n}"),
            key.effect_id("deal", 0).as_str().to_owned(),
            format!("rev_{n}"),
            record,
        ];
        for name in names {
            assert_eq!(store.resolve(&name).await.unwrap(), std::slice::from_ref(&id), "{name}");
        }
    }
    enter(&*store, post("4", "77", "b")).await;
    assert_eq!(store.resolve("web:submission:77~2").await.unwrap(), [key("77").with_variant(2).enquiry_id()]);
}

pub(super) async fn a_record_that_two_enquiries_share_leads_to_both(h: &mut dyn Harness) {
    let store = h.store();
    for id in ["77", "78"] {
        enter(&*store, post(id, id, "a")).await;
    }
    let deals = [("77", "deal"), ("77", "follow-up"), ("78", "deal")];
    let plans = deals.map(|(id, action)| plan(Effect::planned(&key(id), action, "crm", 0, &[StepKind::Record], at(0))));
    store.commit(effects(plans.to_vec())).await.unwrap();
    let leases = lease(&*store, 0, 9).await.effects;
    let changes = leases.iter().map(|held| moved(held, verified(held.what.clone(), "D-1"))).collect();
    store.commit(effects(changes)).await.unwrap();
    assert_eq!(store.resolve("D-1").await.unwrap(), [key("77").enquiry_id(), key("78").enquiry_id()]);
}

pub(super) async fn unknown_names_lead_nowhere(h: &mut dyn Harness) {
    let store = h.store();
    store.accept(post("1", "-", "{}").batch(vec![super::fixture::aside(crate::Verdict::Test, "a test")])).await.unwrap();
    let body = blob("2", "x");
    store.refuse(delivery("2", at(0), &body), body, 9, at(0)).await.unwrap();
    for name in ["", "enq_x", "dlv_x", "eff_x", "rev_x", "web:submission:77", "a:b:c:d", "#1", "77", "dlv_1", "dlv_2"] {
        assert_eq!(store.resolve(name).await.unwrap(), [], "{name}");
    }
    assert!(store.dossier(&key("77").enquiry_id()).await.unwrap().is_none());
    assert!(store.delivery("dlv_x").await.unwrap().is_none());
    assert_eq!(store.blob(&blob("3", "y").digest(), None).await.unwrap(), None);
}
