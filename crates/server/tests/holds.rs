//! Holds: what a person clears is just that, what is excluded stays excluded, and nothing held is without an exit.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod world;

use serde_json::{Value, json};
use server::engine::Decision;
use store::{Review, ReviewKind};
use world::crm::{self, Act, Crm};
use world::{DESK, HOUR, World};

fn lead(id: &str, message: &str) -> String {
    json!({"submission_id": id, "email": "avery@example.com", "message": message}).to_string()
}

fn key(id: &str) -> String {
    format!("web:submission:{id}")
}

async fn open_item(world: &World, id: &str, kind: ReviewKind) -> Review {
    let reviews = world.dossier(&key(id)).await.reviews;
    reviews.into_iter().find(|r| r.kind == kind && r.closed_at.is_none()).unwrap_or_else(|| panic!("no open {kind:?} for {id}"))
}

async fn decide(world: &World, item: &Review, decision: Decision) {
    world.app.engine.decide(item.id.as_str(), &decision, "anna").await.unwrap();
    world.work_for(HOUR).await;
}

#[tokio::test]
async fn clearing_a_hold_lets_nothing_go_that_the_condition_excludes() {
    let world = World::with(&format!("{DESK}when = \"enquiry.message.contains('lamp')\"\n")).await;
    world.post("web", &lead("1", "Please send a quote for ten chairs")).await;
    world.post("web", &lead("2", "Please send a quote for ten chairs")).await;
    world.work_for(HOUR).await;
    assert_eq!(world.states(&key("2")).await, ["deal=held", "follow-up=skipped"]);
    let item = open_item(&world, "2", ReviewKind::LookAlike).await;
    decide(&world, &item, Decision::Approve).await;
    assert_eq!(world.states(&key("2")).await, ["deal=verified", "follow-up=skipped"]);
    assert_eq!((world.deals().await.len(), world.mails().len()), (2, 0));
}

#[tokio::test]
async fn each_item_clears_only_what_it_is_about() {
    let world = World::with(&format!("{DESK}\n[qualifier]\nmin_confidence = 1.0\n")).await;
    world.post("web", &lead("1", "Please send a quote for ten chairs")).await;
    world.post("web", &lead("2", "Please send a quote for ten chairs")).await;
    world.work_for(HOUR).await;
    assert_eq!(world.states(&key("2")).await, ["deal=held", "follow-up=held"]);
    let (alike, doubt) = (open_item(&world, "2", ReviewKind::LookAlike).await, open_item(&world, "2", ReviewKind::Qualification).await);
    decide(&world, &doubt, Decision::Approve).await;
    assert_eq!(world.states(&key("2")).await, ["deal=held", "follow-up=held"], "the look-alike still holds both");
    assert_eq!(world.deals().await.len(), 1);
    decide(&world, &alike, Decision::Dismiss("a double click".to_owned())).await;
    let dossier = world.dossier(&key("2")).await;
    assert_eq!(world.states(&key("2")).await, ["deal=skipped", "follow-up=skipped"]);
    assert!(dossier.reviews.iter().find(|r| r.id == alike.id).unwrap().decision.as_ref().unwrap().starts_with("dismissed"));
    assert!(dossier.entries.iter().any(|e| e.kind == "effect.dismissed" && e.actor == "anna"));
    assert_eq!(dossier.enquiry.standing, domain::enquiry::Standing::Settled);
    assert_eq!(world.deals().await.len(), 1);
}

#[tokio::test]
async fn a_condition_without_an_answer_asks_about_its_own_effect_only() {
    let world = World::with(&format!("{DESK}when = \"enquiry.contact[enquiry.message] == 1\"\n")).await;
    world.post("web", &lead("1", "Please send a quote")).await;
    world.work_for(HOUR).await;
    assert_eq!(world.states(&key("1")).await, ["deal=verified", "follow-up=held"]);
    let item = open_item(&world, "1", ReviewKind::Message).await;
    decide(&world, &item, Decision::Approve).await;
    assert_eq!(world.mails().len(), 1);
}

/// A field that only one source has is null in the other's enquiries; one that none has is a slip that nobody can know before.
#[tokio::test]
async fn a_field_of_one_sources_own_is_null_in_anothers_enquiries() {
    let shop =
        DESK.split("[[target]]").next().unwrap().replace("\"web\"", "\"shop\"").replace("message =", "budget = \"/budget\", message =");
    let written = |field: &str| format!("{shop}{DESK}text = \"Budget: {{{{ enquiry.other.{field} or 'open' }}}}\"\n");
    let world = World::with(&written("budget")).await;
    world.post("web", &lead("1", "Please send a quote")).await;
    world.work_for(HOUR).await;
    assert!(world.mails()[0].contains("Budget: open"), "{}", world.mails()[0]);
    let world = World::with(&written("bugdet")).await;
    world.post("web", &lead("1", "Please send a quote")).await;
    world.work_for(HOUR).await;
    assert_eq!(world.states(&key("1")).await, ["deal=verified", "follow-up=held"]);
}

#[tokio::test]
async fn a_target_that_is_no_longer_configured_pauses_its_effects_and_guesses_no_outcome() {
    let crm = Crm::open().await;
    crm.script(vec![Act::Drop], Act::Well);
    let with = crm::config(crm.address, Some("strong"), "");
    let without = format!(
        "{}\n[[action]]\nname = \"entry\"\ntarget = \"desk\"\n[[target]]\nname = \"desk\"\nkind = \"desk\"\n",
        with.split("[[target]]").next().unwrap()
    );
    let world = World::with(&with).await;
    crm.set_filter(crm::Filter::Broken);
    world.post("web", &lead("1", "written, not answered")).await;
    world.work_for(0).await;
    assert_eq!(world.states(&key("1")).await, ["deal=unknown"]);
    let world = world.restart_with(&without).await;
    world.work_for(HOUR).await;
    assert_eq!(world.states(&key("1")).await, ["deal=unknown"], "nobody can be asked, and nothing is guessed");
    let paused = world.app.store.targets().await.unwrap();
    assert!(paused.iter().any(|t| t.name == "crm" && t.paused.is_some()), "it is a state of the target");
    crm.set_filter(crm::Filter::Honoured);
    let world = world.restart_with(&with).await;
    world.work_for(HOUR).await;
    assert_eq!((world.states(&key("1")).await, crm.records().len()), (vec!["deal=verified".to_owned()], 1));
}

#[tokio::test]
async fn a_target_in_shadow_mode_is_never_called_whenever_it_was_planned() {
    let crm = Crm::open().await;
    let live = crm::config(crm.address, Some("strong"), "");
    let shadow = crm::config(crm.address, Some("strong"), "mode = \"shadow\"");
    let world = World::with(&live).await;
    crm.script(vec![Act::Say(429, json!({}))], Act::Well);
    world.post("web", &lead("1", "planned while live, and not now")).await;
    assert!(world.app.engine.work_once().await.unwrap());
    let world = world.restart_with(&shadow).await;
    world.post("web", &lead("2", "planned in shadow mode")).await;
    world.work_for(HOUR).await;
    assert_eq!((crm.posts(), crm.gets(), crm.records().len()), (1, 0, 0), "nothing but the one that was turned away");
    let world = world.restart_with(&live).await;
    world.work_for(HOUR).await;
    assert_eq!((crm.posts(), crm.records().len()), (3, 2), "back in live mode it goes on");
}

#[tokio::test]
async fn an_action_that_is_no_longer_configured_holds_what_was_not_begun() {
    let world = World::with(DESK).await;
    world.app.engine.set_paused("mail", Some("wait".to_owned()), "anna").await.unwrap();
    world.post("web", &lead("1", "Please send a quote")).await;
    world.work_for(HOUR).await;
    let renamed = DESK.replace("name = \"follow-up\"", "name = \"welcome\"\ntext = \"Something quite different\"");
    let world = world.restart_with(&renamed).await;
    world.app.engine.set_paused("mail", None, "anna").await.unwrap();
    world.work_for(HOUR).await;
    assert_eq!(world.mails().len(), 0, "another action's text is not sent in its place");
    let item = open_item(&world, "1", ReviewKind::Message).await;
    decide(&world, &item, Decision::Dismiss("renamed".to_owned())).await;
    assert_eq!(world.dossier(&key("1")).await.enquiry.standing, domain::enquiry::Standing::Settled);
}

#[tokio::test]
async fn a_record_that_differs_can_be_taken_as_it_is_and_a_closed_one_is_still_found_by_its_id() {
    let crm = Crm::open().await;
    crm.read_with("title", json!("cut"));
    let world = World::with(&crm::config(crm.address, Some("strong"), "")).await;
    for id in ["1", "2"] {
        world.post("web", &lead(id, &format!("a long title number {id}"))).await;
    }
    world.work_for(HOUR).await;
    let (one, two) = (open_item(&world, "1", ReviewKind::Effect).await, open_item(&world, "2", ReviewKind::Effect).await);
    decide(&world, &one, Decision::Approve).await;
    decide(&world, &two, Decision::Dismiss("let it be".to_owned())).await;
    assert_eq!(
        (world.states(&key("1")).await, world.states(&key("2")).await),
        (vec!["deal=unverified".into()], vec!["deal=closed".into()])
    );
    let ids: Vec<Value> = crm.records().iter().map(|r| r["id"].clone()).collect();
    for (id, n) in ids.iter().zip(["1", "2"]) {
        assert_eq!(world.dossier(id.as_str().unwrap()).await.enquiry.key.to_string(), key(n));
    }
}

/// A message is about its event: what is told late is late, however soon it was entered.
#[tokio::test]
async fn not_after_counts_from_the_original_event() {
    let config = DESK.replace("message = \"/message\"", "message = \"/message\", occurred_at = \"/at\"");
    let world = World::with(&config).await;
    for (id, at) in [("old", "2020-01-01T10:00:00Z"), ("future", "2099-01-01T10:00:00Z"), ("none", "last tuesday")] {
        let body =
            json!({"submission_id": id, "email": format!("{id}@example.com"), "message": format!("a quote, please: {id}"), "at": at});
        world.post("web", &body.to_string()).await;
    }
    world.work_for(HOUR).await;
    assert_eq!(world.states("web:submission:old").await, ["deal=verified", "follow-up=held"]);
    assert_eq!(world.mails().len(), 2, "the others count from when they were entered");
}
