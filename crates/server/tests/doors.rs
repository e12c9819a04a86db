//! The doors before a message to a person: the do-not-contact list and the brake per address. What they stop is held.

#![expect(clippy::panic, reason = "a test that cannot go on has failed")]

mod world;

use serde_json::json;
use server::engine::Decision;
use store::{Review, ReviewKind};
use world::{DAY, HOUR, World};

const CONFIG: &str = r#"
[[source]]
name = "web"
kind = "generic"
auth = { scheme = "none" }
identity = { submission = "/submission_id" }
look_alike = { then = "proceed" }
map = { "contact.email" = "/email", message = "/message" }

[[target]]
name = "mail"
kind = "outbox"
from = "desk@example.com"

[[action]]
name = "follow-up"
target = "mail"
when = "true"
per_address = "3/24h"
"#;

fn lead(n: usize, email: &str) -> String {
    json!({"submission_id": format!("s{n}"), "email": email, "message": format!("Please send a quote for {n} chairs")}).to_string()
}

fn key(n: usize) -> String {
    format!("web:submission:s{n}")
}

async fn item(world: &World, n: usize, kind: ReviewKind) -> Review {
    let reviews = world.dossier(&key(n)).await.reviews;
    reviews.into_iter().find(|r| r.kind == kind && r.closed_at.is_none()).unwrap_or_else(|| panic!("no item of {kind:?}"))
}

#[tokio::test]
async fn a_fourth_message_in_a_day_to_one_address_is_held() {
    let world = World::with(CONFIG).await;
    for n in 0..5 {
        world.post("web", &lead(n, if n % 2 == 0 { "avery@example.com" } else { " Avery@Example.com" })).await;
        world.post("web", &lead(100 + n, &format!("other{n}@example.com"))).await;
    }
    world.work_for(HOUR).await;
    assert_eq!(world.mails().len(), 3 + 5);
    for n in [3, 4] {
        assert_eq!(world.states(&key(n)).await, ["follow-up=held"]);
        assert!(item(&world, n, ReviewKind::PerAddress).await.why.contains("per_address"));
    }
    // A person lets one of them go; a day later the count begins anew.
    let held = item(&world, 3, ReviewKind::PerAddress).await;
    world.app.engine.decide(held.id.as_str(), &Decision::Approve, "anna").await.unwrap();
    world.work_for(HOUR).await;
    assert_eq!((world.states(&key(3)).await, world.mails().len()), (vec!["follow-up=verified".to_owned()], 9));
    let world = world.restart().await;
    world.clock.advance(DAY);
    world.post("web", &lead(9, "avery@example.com")).await;
    world.work_for(HOUR).await;
    assert_eq!(world.states(&key(9)).await, ["follow-up=verified"]);
    for (name, what) in world.app.store.kept_under("sent:", None, 99).await.unwrap() {
        assert!(!name.contains('@') && !what.contains('@'), "I12: {name} {what}");
    }
}

#[tokio::test]
async fn an_address_on_the_list_gets_nothing_until_a_person_says_so() {
    let world = World::with(CONFIG).await;
    let listed = world.app.engine.list_address("Avery@example.com ", Some("asked us to stop"), "anna").await.unwrap().unwrap();
    assert!(world.app.engine.list_address("avery@example.com", Some("again"), "anna").await.is_err(), "it is there already");
    let world = world.restart().await;
    world.post("web", &lead(1, "avery@example.com")).await;
    world.post("web", &lead(2, "blake@example.com")).await;
    world.work_for(HOUR).await;
    assert_eq!((world.states(&key(1)).await, world.mails().len()), (vec!["follow-up=held".to_owned()], 1));
    let held = item(&world, 1, ReviewKind::DoNotContact).await;
    assert!(held.why.contains("do-not-contact"));
    assert_eq!(world.app.engine.listed(None, 9).await.unwrap(), std::slice::from_ref(&listed));
    let entries = world.app.store.journal_after(None, 999).await.unwrap();
    let told = entries.iter().find(|entry| entry.kind == "contact.listed").unwrap();
    assert_eq!((told.actor.as_str(), told.facts.get("digest")), ("anna", Some(&json!(listed.digest))));
    assert!(!format!("{:?}", told.facts).contains("avery") && !format!("{:?}", told.facts).contains("stop"), "I12");
    world.app.engine.list_address("AVERY@example.com", None, "anna").await.unwrap();
    assert!(world.app.engine.list_address("avery@example.com", None, "anna").await.is_err(), "it is not there any more");
    assert!(world.app.engine.list_address("no address", Some("x"), "anna").await.is_err());
    world.app.engine.decide(held.id.as_str(), &Decision::Approve, "anna").await.unwrap();
    world.work_for(HOUR).await;
    assert_eq!((world.states(&key(1)).await, world.mails().len()), (vec!["follow-up=verified".to_owned()], 2));
}
