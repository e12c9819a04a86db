//! HTTP targets that fail the way real ones do: what stands in the target afterwards is counted there.

mod world;

use serde_json::json;
use world::crm::{Act, Crm, Filter, config};
use world::{DAY, HOUR, MINUTE, World};

fn lead(n: usize) -> String {
    json!({"submission_id": format!("s{n}"), "email": format!("p{n}@example.com"), "message": format!("Please send a quote for {n} chairs")}).to_string()
}

fn key(n: usize) -> String {
    format!("web:submission:s{n}")
}

async fn world(crm: &Crm, find: Option<&str>, extra: &str) -> World {
    World::with(&config(crm.address, find, extra)).await
}

#[tokio::test]
async fn a_target_that_takes_the_write_and_drops_the_answer_fifty_times_has_fifty_records() {
    let crm = Crm::open().await;
    crm.script(vec![], Act::Drop);
    let world = world(&crm, Some("strong"), "").await;
    for n in 0..50 {
        world.post("web", &lead(n)).await;
    }
    world.work_for(HOUR).await;
    assert_eq!(crm.records().len(), 50, "every peer made 100 of these");
    for n in 0..50 {
        assert_eq!((crm.count(&key(n)), world.states(&key(n)).await), (1, vec!["deal=verified".to_owned()]));
    }
    world.verify().await;
}

#[tokio::test]
async fn the_same_under_a_lagging_search_and_a_unique_constraint() {
    for find in ["lagging:30s", "unique"] {
        let crm = Crm::open().await;
        crm.script(vec![Act::Drop, Act::Lose, Act::Make(502, json!("bad gateway")), Act::Say(503, json!({}))], Act::Well);
        let world = world(&crm, Some(find), "").await;
        for n in 0..4 {
            world.post("web", &lead(n)).await;
        }
        world.work_for(DAY).await;
        for n in 0..4 {
            assert_eq!((crm.count(&key(n)), world.states(&key(n)).await), (1, vec!["deal=verified".to_owned()]), "{find} {n}");
        }
    }
}

#[tokio::test]
async fn a_find_that_ignores_the_filter_adopts_nothing_wrongly() {
    let crm = Crm::open().await;
    crm.add(json!({"id": "theirs", "external_key": "somebody:else:1", "title": "x"}));
    crm.script(vec![Act::Drop, Act::Lose, Act::Drop], Act::Well);
    let world = world(&crm, Some("strong"), "").await;
    for n in 0..3 {
        // From its write on the filter is ignored.
        crm.set_filter(Filter::Honoured);
        crm.set_filter_after_post(Filter::Ignored);
        world.post("web", &lead(n)).await;
        world.work_for(DAY).await;
    }
    for n in [0, 2] {
        let dossier = world.dossier(&key(n)).await;
        let id = dossier.effects[0].0.external_id().unwrap().to_owned();
        assert_eq!(crm.records().iter().find(|r| r["id"] == *id).unwrap()["external_key"], key(n), "adopted its own");
        assert_eq!((crm.count(&key(n)), world.states(&key(n)).await), (1, vec!["deal=verified".to_owned()]));
    }
    // The lost one: such an answer cannot prove that it is not there, so a person decides, and nothing is sent blindly.
    assert_eq!((crm.count(&key(1)), world.states(&key(1)).await), (0, vec!["deal=review".to_owned()]));
    // Where it proves nothing from the start nothing is sent at all, and a person is told.
    let posts = crm.posts();
    world.post("web", &lead(9)).await;
    world.work_for(DAY).await;
    assert_eq!((crm.posts(), world.states(&key(9)).await), (posts, vec!["deal=review".to_owned()]));
    assert!(world.dossier(&key(9)).await.reviews[0].why.contains("cannot prove that nothing is there"));
}

#[tokio::test]
async fn an_outage_is_waited_out_and_the_queue_drains_oldest_first() {
    let crm = Crm::open().await;
    let down = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = down.local_addr().unwrap();
    drop(down);
    let outage = World::with(&config(nobody, Some("strong"), "")).await;
    for n in 0..5 {
        outage.post("web", &lead(n)).await;
        outage.clock.advance(1_000);
    }
    outage.work_for(HOUR).await;
    assert_eq!(outage.states(&key(0)).await, ["deal=planned"], "no connection is no attempt that counts");
    let back = outage.restart_with(&config(crm.address, Some("strong"), "")).await;
    back.work_for(2 * MINUTE).await;
    let order: Vec<String> = crm.records().iter().map(|r| r["external_key"].as_str().unwrap().to_owned()).collect();
    assert_eq!(order.len(), 5);
    assert!((0..5).all(|n| crm.count(&key(n)) == 1), "{order:?}");
}

#[tokio::test]
async fn a_target_that_cannot_be_asked_is_never_sent_to_again_by_itself() {
    let crm = Crm::open().await;
    crm.script(vec![Act::Drop, Act::Lose], Act::Well);
    let world = world(&crm, None, "").await;
    for n in 0..3 {
        world.post("web", &lead(n)).await;
    }
    world.work_for(DAY).await;
    assert_eq!(crm.posts(), 3);
    assert_eq!((world.states(&key(0)).await, world.states(&key(1)).await), (vec!["deal=review".into()], vec!["deal=review".into()]));
    assert_eq!(world.states(&key(2)).await, ["deal=unverified"]);
}

#[tokio::test]
async fn what_is_read_back_must_carry_our_key_and_the_expected_fields() {
    let crm = Crm::open().await;
    let world = world(&crm, Some("strong"), "").await;
    crm.read_with("title", json!("cut"));
    world.post("web", &lead(1)).await;
    world.work_for(HOUR).await;
    assert_eq!((crm.count(&key(1)), world.states(&key(1)).await), (1, vec!["deal=mismatched".to_owned()]));
    crm.read_with("external_key", json!("another"));
    world.post("web", &lead(2)).await;
    world.work_for(HOUR).await;
    assert_eq!((crm.count(&key(2)), world.states(&key(2)).await), (1, vec!["deal=mismatched".to_owned()]));
    assert_eq!(crm.posts(), 2, "a mismatch is never written again by itself");
}

#[tokio::test]
async fn a_refusal_goes_to_a_person_and_a_closed_target_pauses() {
    let crm = Crm::open().await;
    crm.script(vec![Act::Say(422, json!({"message": "email is not valid"})), Act::Say(401, json!({}))], Act::Well);
    let world = world(&crm, Some("strong"), "").await;
    world.post("web", &lead(1)).await;
    world.work_for(0).await;
    assert_eq!(world.states(&key(1)).await, ["deal=refused"]);
    world.post("web", &lead(2)).await;
    world.post("web", &lead(3)).await;
    world.work_for(10 * MINUTE).await;
    assert_eq!((world.states(&key(2)).await, world.states(&key(3)).await), (vec!["deal=planned".into()], vec!["deal=planned".into()]));
    assert_eq!(crm.posts(), 2, "nothing is sent to a paused target");
    world.app.engine.set_paused("crm", None, "test").await.unwrap();
    world.work_for(10 * MINUTE).await;
    assert_eq!((crm.count(&key(2)), crm.count(&key(3))), (1, 1));
}

/// Every class through an HTTP target: what a write may come to, and what then stands.
#[tokio::test]
async fn whatever_becomes_of_a_write_one_record_stands_in_every_class() {
    let acts = [
        Act::Drop,
        Act::Lose,
        Act::Make(502, json!("<html>502 Bad Gateway</html>")),
        Act::Make(302, json!({})),
        Act::Say(302, json!({"id": "elsewhere"})),
        Act::Make(200, json!({"data": [{"code": "DUPLICATE_DATA", "status": "error"}]})),
        Act::Say(207, json!({"status": "COMPLETE", "results": [], "numErrors": 1})),
        Act::Say(429, json!({"category": "RATE_LIMITS"})),
        Act::Say(409, json!({"message": "it exists"})),
    ];
    for class in ["strong", "lagging:30s", "unique", "upsert", "window:8d"] {
        for act in &acts {
            let crm = Crm::open().await;
            crm.set_unique(!["strong", "lagging:30s"].contains(&class));
            crm.script(vec![act.clone()], Act::Well);
            let world = world(&crm, Some(class), "").await;
            world.post("web", &lead(1)).await;
            world.work_for(DAY).await;
            assert_eq!((crm.count(&key(1)), world.states(&key(1)).await), (1, vec!["deal=verified".to_owned()]), "{class} {act:?}");
        }
    }
    for act in &acts {
        let crm = Crm::open().await;
        crm.script(vec![act.clone()], Act::Well);
        let world = world(&crm, None, "").await;
        world.post("web", &lead(1)).await;
        world.work_for(DAY).await;
        let sure = matches!(act, Act::Say(429, _));
        let expected = if sure { "deal=unverified" } else { "deal=review" };
        assert_eq!((crm.posts(), world.states(&key(1)).await), (1 + usize::from(sure), vec![expected.to_owned()]), "none {act:?}");
    }
}

/// A search that is ten seconds behind, one answer lost, and a second enquiry of the same person two seconds later.
#[tokio::test]
async fn c056_two_enquiries_of_one_person_under_a_lagging_search_are_two_deals_and_no_failure() {
    for class in ["lagging:10s", "unique"] {
        let crm = Crm::open().await;
        crm.set_unique(class == "unique");
        let world = world(&crm, Some(class), "").await;
        crm.set_lag(std::sync::Arc::<world::HandClock>::clone(&world.clock), 10_000);
        crm.script(vec![Act::Drop], Act::Well);
        let of = |n: usize| lead(n).replace(&format!("p{n}@"), "avery@");
        world.post("web", &of(1)).await;
        world.work_for(2_000).await;
        world.clock.advance(2_000);
        world.post("web", &of(2)).await;
        world.work_for(HOUR).await;
        for n in [1, 2] {
            assert_eq!((crm.count(&key(n)), world.states(&key(n)).await), (1, vec!["deal=verified".to_owned()]), "{class} {n}");
        }
        assert_eq!(crm.records().len(), 2);
        assert!(crm.records().iter().all(|record| record["email"] == "avery@example.com"));
    }
}

/// A 2xx with somebody else's id in it is told by a place of the answer, before it is taken for ours.
#[tokio::test]
async fn c063_write_ok_says_which_2xx_is_one() {
    let crm = Crm::open().await;
    let mixed = json!({"id": "554023000000527002", "status": "error", "code": "DUPLICATE_DATA"});
    crm.script(vec![Act::Say(200, mixed), Act::Make(201, json!({"id": "rec-1", "status": "success"}))], Act::Well);
    let config =
        config(crm.address, Some("strong"), "").replace("id = \"/id\" }\nfind", "id = \"/id\", ok = { \"/status\" = \"success\" } }\nfind");
    let world = World::with(&config).await;
    world.post("web", &lead(1)).await;
    world.work_for(HOUR).await;
    assert_eq!((crm.count(&key(1)), crm.posts(), world.states(&key(1)).await), (1, 2, vec!["deal=verified".to_owned()]));
}

/// A target that changed a field, one that lost our key, and two records under one key: each is told, none is written over.
#[tokio::test]
async fn i7_what_is_found_otherwise_is_told_with_its_ids() {
    let crm = Crm::open().await;
    let world = world(&crm, Some("strong"), "").await;
    crm.add(json!({"id": "a", "external_key": key(1), "title": "x"}));
    crm.add(json!({"id": "b", "external_key": key(1), "title": "y"}));
    world.post("web", &lead(1)).await;
    world.work_for(HOUR).await;
    assert_eq!((crm.posts(), world.states(&key(1)).await), (0, vec!["deal=doubled".to_owned()]));
    let why = world.dossier(&key(1)).await.reviews[0].why.clone();
    assert!(why.contains("a, b"), "{why}");
}
