//! Real failures of others, as far as a generic JSON or form source can meet them: a test per case, named after it.
//!
//! Bodies keep the structure of the captured ones; persons and ids are synthetic. What is right is stated on records.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "senders at the same moment are tasks")]

mod world;

use std::sync::Arc;

use serde_json::{Value, json};
use world::crm::{Act, Crm};
use world::{DAY, HOUR, MINUTE, World, crm, raw};

const SOURCE: &str = r#"
[[source]]
name = "web"
auth = { scheme = "none" }
identity = { submission = "/submission_id" }
map = { "contact.email" = "/email", "contact.name" = "/name", message = "/message" }
"#;

/// A source, and the default targets and actions.
fn with_source(source: &str) -> String {
    format!(
        "{source}
[[target]]\nname = \"crm\"\nkind = \"desk\"
[[target]]\nname = \"mail\"\nkind = \"outbox\"\nfrom = \"desk@example.com\"
[[action]]\nname = \"deal\"\ntarget = \"crm\"
[[action]]\nname = \"follow-up\"\ntarget = \"mail\"\nafter = [\"deal\"]\n"
    )
}

fn lead(id: &str, email: &str, message: &str) -> String {
    json!({"submission_id": id, "email": email, "message": message}).to_string()
}

fn verdicts(answers: &[Value]) -> Vec<&str> {
    answers.iter().map(|a| a["verdict"].as_str().unwrap()).collect()
}

async fn counts(world: &World) -> (usize, usize, usize) {
    (world.deals().await.len(), world.contacts().await.len(), world.mails().len())
}

const SIGNED: &str = r#"
[[source]]
name = "standard-webhooks"
auth = { scheme = "standard-webhooks", secret = "file:SECRET" }
map = { "contact.email" = "/data/email", "contact.name" = "/data/name", message = "/data/message" }
"#;
const SIGNED_BODY: &str = r#"{"type":"lead.created","timestamp":"2026-03-02T09:15:04.120000Z","data":{"submission_id":"sub_8842","name":"Avery Sample","email":"avery.sample@example.com","message":"Need a quote for 40 chairs"}}"#;

/// A world whose source checks the scheme's signature with the published test secret.
async fn signed_world() -> World {
    let secret = world::Dir::new();
    let path = secret.0.join("secret");
    std::fs::write(&path, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").unwrap();
    World::with(&with_source(&SIGNED.replace("SECRET", path.to_str().unwrap()))).await
}

/// Attempt 1, 2 and 3 of one message: the id stays, timestamp and signature change.
const ATTEMPTS: [[(&str, &str); 4]; 3] = [
    attempt("1772442906", "v1,W/8Wr36xy16K9oJ5UosMldFy6xUzGjlRKMVuGKsrtQU="),
    attempt("1772442911", "v1,7UHv8pm8BcHg+C7Jj7J1+3yRubIan3AaSrS/Cp806Kc="),
    attempt("1772556211", "v1,rX0oQtHxSq8MH9rt5l9YbNuMyy5iTJz0oLArzWITUb0="),
];

const fn attempt(timestamp: &'static str, signature: &'static str) -> [(&'static str, &'static str); 4] {
    [
        ("content-type", "application/json"),
        ("webhook-id", "msg_retry_8842"),
        ("webhook-timestamp", timestamp),
        ("webhook-signature", signature),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn c001_identical_posts_at_the_same_moment_are_one_lead_one_deal_one_mail() {
    let world = Arc::new(signed_world().await);
    let posts = (0..50).map(|_| {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.deliver("standard-webhooks", &ATTEMPTS[0], SIGNED_BODY.as_bytes()).await })
    });
    let mut answers = Vec::new();
    for post in posts.collect::<Vec<_>>() {
        answers.push(post.await.unwrap());
    }
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (1, 1, 1));
    let first = answers.iter().find(|a| a["verdict"] == "accepted").unwrap();
    let suppressed: Vec<&Value> = answers.iter().filter(|a| a["verdict"] == "redelivery").collect();
    assert_eq!(suppressed.len(), 49);
    for answer in suppressed {
        assert_eq!(answer["duplicate_suppressed"], true);
        assert_eq!((&answer["first_delivery"], &answer["enquiry"]), (&first["delivery"], &first["enquiry"]));
        assert!(answer["first_run"].is_string() && answer["attempted_at"].is_string());
    }
    let dossier = world.dossier("standard-webhooks:submission:msg_retry_8842").await;
    assert_eq!(dossier.deliveries.iter().filter(|d| d.duplicate_suppressed).count(), 49, "and they are on record");
}

#[tokio::test]
async fn c002_the_answer_does_not_wait_for_any_work() {
    let world = World::with(&with_source(SOURCE)).await;
    // No work is done at all before both are answered, as if the model hung for ever.
    let answers = [
        world.post("web", &lead("a", "a@example.com", "hello there")).await,
        world.post("web", &lead("a", "a@example.com", "hello there")).await,
    ];
    assert_eq!(verdicts(&answers), ["accepted", "redelivery"]);
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (1, 1, 1));
}

#[tokio::test]
async fn c003_a_dedupe_id_that_changes_on_every_resend_is_not_the_identity() {
    let source = r#"
[[source]]
name = "typeform"
auth = { scheme = "none" }
identity = { submission = ["/form_response/form_id", "/form_response/token"] }
volatile = ["/event_id"]
map = { "contact.email" = "/form_response/answers/0/email", message = "/form_response/answers/1/text" }
"#;
    let world = World::with(&with_source(source)).await;
    let body = |event: &str| {
        json!({"event_id": event, "event_type": "form_response", "form_response": {"form_id": "lT4Z3j", "token": "a3a12ec67a1365927098a606107fac15",
            "submitted_at": "2026-03-02T09:15:04Z", "answers": [{"email": "avery@example.com"}, {"text": "Please send a quote"}]}})
        .to_string()
    };
    let answers = [world.post("typeform", &body("01JNAB7Q3S")).await, world.post("typeform", &body("01JNAC00ZZ")).await];
    assert_eq!(verdicts(&answers), ["accepted", "redelivery"]);
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (1, 1, 1));
}

#[tokio::test]
async fn c005_attempt_counters_in_the_body_are_not_content() {
    let source = r#"
[[source]]
name = "hubspot"
auth = { scheme = "none" }
items = "/*"
identity = { submission = ["/portalId", "/appId", "/subscriptionType", "/objectId", "/eventId", "/occurredAt"] }
volatile = ["/attemptNumber"]
map = { message = "/subscriptionType" }
look_alike = { window = "10m", then = "proceed" }
"#;
    let world = World::with(&with_source(source)).await;
    let batch = |attempt: u32| {
        let event = |id: u32, object: u32, at: u64| {
            json!({"eventId": id, "subscriptionId": 12345, "portalId": 62515, "occurredAt": at, "subscriptionType": "contact.creation",
                "attemptNumber": attempt, "objectId": object, "appId": 54321})
        };
        // The provider's event id is not unique: the first two share theirs.
        json!([event(1, 123, 1_772_442_904_120), event(1, 124, 1_772_442_911_950), event(100, 123, 1_772_442_900_000)]).to_string()
    };
    let (first, again) = (world.post("hubspot", &batch(0)).await, world.post("hubspot", &batch(1)).await);
    let of = |answer: &Value| answer["items"].as_array().unwrap().iter().map(|i| i["verdict"].clone()).collect::<Vec<_>>();
    assert_eq!(of(&first).iter().filter(|v| **v != "redelivery").count(), 3);
    assert_eq!(of(&again), ["redelivery", "redelivery", "redelivery"]);
    world.work_for(HOUR).await;
    assert_eq!(world.deals().await.len(), 3);
}

#[tokio::test]
async fn c006_a_retry_after_thirty_two_hours_eight_days_and_pruning_is_known() {
    let world = signed_world().await;
    let mut answers = vec![
        world.deliver("standard-webhooks", &ATTEMPTS[0], SIGNED_BODY.as_bytes()).await,
        world.deliver("standard-webhooks", &ATTEMPTS[1], SIGNED_BODY.as_bytes()).await,
    ];
    world.work_for(HOUR).await;
    // Attempt 3 is signed for a moment 31.5 h later.
    let later = 1_772_556_211_000 - domain::time::Clock::now(&*world.clock).0;
    world.clock.advance(later);
    answers.push(world.deliver("standard-webhooks", &ATTEMPTS[2], SIGNED_BODY.as_bytes()).await);
    assert_eq!(verdicts(&answers), ["accepted", "redelivery", "redelivery"]);
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (1, 1, 1));
    let dossier = world.dossier("standard-webhooks:submission:msg_retry_8842").await;
    let first = &dossier.deliveries[0];
    assert!(dossier.deliveries[1..].iter().all(|d| d.duplicate_suppressed && d.first_delivery.as_ref() == Some(&first.id)));

    let plain = World::with(&with_source(SOURCE)).await;
    let body = lead("late", "late@example.com", "please call me back");
    let first = plain.post("web", &body).await;
    plain.work_for(HOUR).await;
    plain.clock.advance(8 * DAY);
    let now = domain::time::Clock::now(&*plain.clock);
    while plain.app.store.prune(now, now).await.unwrap() > 0 {}
    let again = plain.post("web", &body).await;
    assert_eq!((&again["verdict"], &again["enquiry"]), (&json!("redelivery"), &first["enquiry"]));
    let plain = plain.restart().await;
    let other = plain.post("web", &lead("late", "late@example.com", "something else")).await;
    assert_eq!(other["verdict"], "conflict", "content is still compared after its body is gone");
    plain.work_for(HOUR).await;
    assert_eq!(counts(&plain).await, (1, 1, 1));
    plain.verify().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c007_the_unique_key_decides_a_race_and_the_loser_does_nothing_else() {
    let world = Arc::new(World::with(&with_source(SOURCE)).await);
    let body = lead("race", "race@example.com", "who is first?");
    for _ in 0..20 {
        let [a, b] = [0, 1].map(|_| {
            let (world, body) = (Arc::clone(&world), body.clone());
            tokio::spawn(async move { world.post("web", &body).await })
        });
        drop((a.await.unwrap(), b.await.unwrap()));
    }
    let entries = world.dossier("web:submission:race").await.entries;
    assert_eq!(entries.iter().filter(|e| e.facts.text("verdict") == Some("accepted")).count(), 1);
    assert_eq!(entries.iter().filter(|e| e.facts.text("verdict") == Some("redelivery")).count(), 39);
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (1, 1, 1));
    // A second process on the same book is turned away at the start, before it could race at all.
    let path = world.dir.0.join("book.db");
    let stream = domain::ids::StreamId::parse("str_second").unwrap();
    let options =
        store::sqlite::Options { path, now: world::BEGIN, stream, new_secret: [0; 32], batch_max: 1, program: "a second".to_owned() };
    let second = store::sqlite::Sqlite::open(options);
    assert!(matches!(second, Err(store::Error::Refused(_))));
}

#[tokio::test]
async fn c008_a_second_delivery_before_the_first_write_is_not_worked() {
    let crm = Crm::open().await;
    let world = World::with(&crm::config(crm.address, Some("strong"), "")).await;
    let body = lead("mail", "a@example.com", "hello, is anybody there?");
    world.post("web", &body).await;
    // The enquiry is planned, nothing is written yet.
    assert!(world.app.engine.work_once().await.unwrap());
    world.post("web", &body).await;
    world.work_for(HOUR).await;
    assert_eq!((crm.posts(), crm.records().len()), (1, 1));
}

#[tokio::test]
async fn c010_two_subscriptions_of_one_event_are_one_lead() {
    let source = r#"
[[source]]
name = "shopify"
auth = { scheme = "none" }
identity = { submission = "header:X-Shopify-Event-Id" }
map = { "contact.email" = "/email", "contact.name" = "/first_name", message = "/note" }
"#;
    let world = World::with(&with_source(source)).await;
    let body =
        r#"{"id":706405506930370084,"email":"avery.sample@example.com","first_name":"Avery","note":"This customer loves ice cream"}"#;
    let mut answers = Vec::new();
    for subscription in ["b528b59e-04ea-4957-8778-19141f4b3c79", "0d1c7d1e-7c1e-4a8e-9d0b-5b6f1a2c3d4e"] {
        let headers = [
            ("content-type", "application/json"),
            ("x-shopify-event-id", "98880550-7158-44d4-b7cd-2c97c8a091b5"),
            ("x-shopify-webhook-id", subscription),
        ];
        answers.push(world.deliver("shopify", &headers, body.as_bytes()).await);
    }
    assert_eq!(verdicts(&answers), ["accepted", "redelivery"]);
    let key = "shopify:submission:98880550-7158-44d4-b7cd-2c97c8a091b5";
    let requests: Vec<Option<String>> = world.dossier(key).await.deliveries.iter().map(|d| d.request_id.clone()).collect();
    assert_eq!(requests[1].as_deref(), Some("0d1c7d1e-7c1e-4a8e-9d0b-5b6f1a2c3d4e"), "the delivery id is evidence");
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (1, 1, 1));
}

const FORM: &str = r#"
[[source]]
name = "form"
auth = { scheme = "none" }
map = { "contact.email" = "/your-email", "contact.name" = "/your-name", message = "/your-message" }
"#;
const FORM_TYPE: [(&str, &str); 1] = [("content-type", "application/x-www-form-urlencoded")];

#[tokio::test]
async fn c011_six_clicks_are_one_lead_and_a_person_can_undo_each_suppression() {
    let world = World::with(&with_source(FORM)).await;
    let body = b"your-name=Avery+Sample&your-email=avery%40example.com&your-message=Please+call+me";
    let mut answers = Vec::new();
    for _ in 0..6 {
        answers.push(world.deliver("form", &FORM_TYPE, body).await);
        world.clock.advance(500);
    }
    assert_eq!(verdicts(&answers), ["accepted", "redelivery", "redelivery", "redelivery", "redelivery", "redelivery"]);
    assert!(answers.iter().all(|a| a["weak_key"] == true), "no id and no time: the key is weak, and says so");
    world.work_for(MINUTE).await;
    assert_eq!(counts(&world).await, (1, 1, 1));
    let suppressed = answers[3]["delivery"].as_str().unwrap();
    let undone = world.app.intake.replay(suppressed, "operator", true).await.unwrap().json();
    assert_ne!(undone["enquiry"], answers[0]["enquiry"]);
    world.work_for(MINUTE).await;
    assert_eq!(world.deals().await.len(), 2, "released as an enquiry of its own");
    assert!(world.app.intake.replay(suppressed, "operator", true).await.is_err(), "and only once");
    assert_eq!(world.deals().await.len(), 2);
}

#[tokio::test]
async fn c011_six_posts_with_ids_of_their_own_are_six_events_and_one_open_deal() {
    let world = World::with(&with_source(SOURCE)).await;
    for n in 0..6 {
        world.post("web", &lead(&format!("click-{n}"), "avery@example.com", "Please call me")).await;
        world.clock.advance(400);
    }
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (1, 1, 1), "the others wait for a person");
    for n in 1..6 {
        let dossier = world.dossier(&format!("web:submission:click-{n}")).await;
        assert!(dossier.enquiry.flags.look_alike_of.is_some());
        assert_eq!(dossier.reviews.iter().filter(|r| r.closed_at.is_none()).count(), 1);
    }
    let item = world.dossier("web:submission:click-3").await.reviews[0].id.clone();
    world.app.engine.decide(item.as_str(), &server::engine::Decision::Approve, "operator").await.unwrap();
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (2, 1, 2));
}

/// The structure of an Elementor form with advanced data: no id, and a local time of minute precision in words.
fn elementor(name: &str, email: &str, date: &str, time: &str) -> String {
    let pairs = [
        ("form[id]", "c1d6fde"),
        ("fields[name][value]", name),
        ("fields[email][value]", email),
        ("fields[message][value]", "Quero um orçamento & prazo <urgente>"),
        ("meta[date][value]", date),
        ("meta[time][value]", time),
    ];
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(pairs);
    body.finish()
}

const ELEMENTOR: &str = r#"
[[source]]
name = "elementor"
auth = { scheme = "none" }
identity = { content = "24h" }
volatile = ["/meta/date/value", "/meta/time/value"]
map = { "contact.email" = "/fields/email/value", "contact.name" = "/fields/name/value", message = "/fields/message/value" }
"#;

#[tokio::test]
async fn c012_a_page_script_that_posts_six_times_is_one_lead() {
    let world = World::with(&with_source(ELEMENTOR)).await;
    let body = elementor("Avery Sample", "avery.sample@example.com", "março 2, 2026", "6:15 am");
    for _ in 0..6 {
        world.deliver("elementor", &FORM_TYPE, body.as_bytes()).await;
        world.clock.advance(150);
    }
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (1, 1, 1));
}

#[tokio::test]
async fn c022_the_second_enquiry_of_a_person_is_not_swallowed() {
    let world = World::with(&with_source(SOURCE)).await;
    let mail = "avery.sample@example.com";
    let answers = [
        world.post("web", &lead("sub_1", mail, "Need 40 chairs")).await,
        world.post("web", &lead("sub_9", mail, "Separate: 4 tables for another site")).await,
        // The same text under a new id: an event of its own, shown as a repetition, never silently swallowed.
        world.post("web", &lead("sub_10", mail, "Need 40 chairs")).await,
    ];
    assert_eq!(verdicts(&answers), ["accepted", "accepted", "look_alike"]);
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (2, 1, 2));
    let five = World::with(&with_source(SOURCE)).await;
    for n in 0..5 {
        five.post("web", &lead(&format!("p{n}"), &format!("p{n}@example.com"), &format!("from the same tablet, person {n}"))).await;
    }
    five.work_for(HOUR).await;
    assert_eq!(counts(&five).await, (5, 5, 5));
}

#[tokio::test]
async fn c023_one_person_through_two_forms_is_two_leads_and_one_contact() {
    let second = SOURCE.replace("name = \"web\"", "name = \"other\"");
    let world = World::with(&with_source(&format!("{SOURCE}{second}"))).await;
    world.post("web", &lead("1", "Avery@Example.com", "a quote, please")).await;
    world.post("other", &lead("1", "avery@example.com ", "and a catalogue")).await;
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (2, 1, 2));
    world.post("web", &lead("2", "avery+x@example.com", "another address is another contact")).await;
    world.work_for(HOUR).await;
    assert_eq!(world.contacts().await.len(), 2);
}

#[tokio::test]
async fn c024_a_book_full_of_keys_takes_the_next_lead() {
    // A million with ONCEBOOK_TEST_KEYS=1000000; the shape is the same.
    let keys: usize = option_env!("ONCEBOOK_TEST_KEYS").and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let batch = SOURCE.replace("name = \"web\"", "name = \"batch\"\nitems = \"/*\"");
    let world = World::with(&with_source(&format!("{SOURCE}{batch}"))).await;
    for start in (0..keys).step_by(1_000) {
        let items: Vec<Value> =
            (start..start + 1_000).map(|n| json!({"submission_id": format!("k{n}"), "message": format!("m{n}")})).collect();
        let answer = world.post("batch", &json!(items).to_string()).await;
        assert_eq!(answer["items"].as_array().unwrap().len(), 1_000);
    }
    let answers = [
        world.post("web", &lead("new", "new@example.com", "am I let in?")).await,
        world.post("batch", r#"[{"submission_id":"k7","message":"m7"}]"#).await,
    ];
    assert_eq!((&answers[0]["verdict"], &answers[1]["items"][0]["verdict"]), (&json!("accepted"), &json!("redelivery")));
}

#[tokio::test]
async fn c026_a_claim_without_an_end_is_taken_up_again_under_the_same_key() {
    let world = World::with(&with_source(SOURCE)).await;
    let body = lead("claimed", "claimed@example.com", "is this seen or done?");
    world.post("web", &body).await;
    // The process ends after the claim, before anything was written.
    let world = world.restart().await;
    assert_eq!(world.post("web", &body).await["verdict"], "redelivery");
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (1, 1, 1));
    assert_eq!(world.deals().await[0].key, "web:submission:claimed");
    world.verify().await;
}

#[tokio::test]
async fn c037_nineteen_digit_ids_keep_every_digit() {
    let world = World::with(&with_source(SOURCE)).await;
    let mut keys = Vec::new();
    for body in [
        r#"{"submission_id":6084250982513018472,"email":"avery@example.com","message":"a"}"#,
        r#"{"submission_id":6084250982513018473,"email":"blake@example.com","message":"b"}"#,
        r#"{"submission_id":"6084250982513018472","email":"avery@example.com","message":"a"}"#,
        r#"{"submission_id":"06084250982513018472","email":"casey@example.com","message":"c"}"#,
    ] {
        let answer = world.post("web", body).await;
        keys.push((answer["verdict"].as_str().unwrap().to_owned(), answer["key"].as_str().unwrap().to_owned()));
    }
    let expected = [
        ("accepted", "6084250982513018472"),
        ("accepted", "6084250982513018473"),
        ("redelivery", "6084250982513018472"),
        ("accepted", "06084250982513018472"),
    ];
    for ((verdict, key), (wanted, id)) in keys.iter().zip(expected) {
        assert_eq!((verdict.as_str(), key.as_str()), (wanted, format!("web:submission:{id}").as_str()));
    }
    world.work_for(HOUR).await;
    assert_eq!(world.deals().await.len(), 3);
}

#[tokio::test]
async fn c037_a_missing_id_is_no_id_and_never_a_shared_empty_value() {
    let world = World::with(&with_source(SOURCE)).await;
    let mut enquiries = Vec::new();
    for (n, id) in [json!(null), json!(""), json!("  "), json!(true), json!({}), json!([])].into_iter().enumerate() {
        let body = json!({"submission_id": id, "email": format!("n{n}@example.com"), "message": format!("message {n}")});
        let answer = world.post("web", &body.to_string()).await;
        assert_eq!((&answer["verdict"], &answer["weak_key"]), (&json!("accepted"), &json!(true)), "{body}");
        enquiries.push(answer["enquiry"].to_string());
    }
    enquiries.sort();
    enquiries.dedup();
    assert_eq!(enquiries.len(), 6);
}

#[tokio::test]
async fn c043_two_renderings_of_one_instant_are_one_event() {
    let source = r#"
[[source]]
name = "mail"
auth = { scheme = "none" }
identity = { time = "/date", with = ["/subject"] }
volatile = ["/date"]
map = { "contact.email" = "/from", message = "/text" }
"#;
    let world = World::with(&with_source(source)).await;
    let body = |date: &str| json!({"date": date, "subject": "Quote", "from": "avery@example.com", "text": "40 chairs, please"}).to_string();
    let mut answers = Vec::new();
    for date in
        ["Mon, 2 Mar 2026 10:15:04 +0100 (CET)", "Mon, 02 Mar 2026 03:15:04 -0600", "2026-03-02T09:15:04Z", "2026-03-02T09:15:04.000Z"]
    {
        answers.push(world.post("mail", &body(date)).await);
    }
    assert_eq!(verdicts(&answers), ["accepted", "redelivery", "redelivery", "redelivery"]);
    let naive = world.post("mail", &body("2026-03-02 10:15:04")).await;
    assert_eq!(naive["verdict"], "quarantined", "a local time without a zone cannot be placed");
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (1, 1, 1));
}

#[tokio::test]
async fn c046_the_outer_clock_of_a_body_is_not_the_event() {
    let source = r#"
[[source]]
name = "tally"
auth = { scheme = "none" }
identity = { submission = "/data/submissionId" }
volatile = ["/eventId", "/createdAt"]
map = { "contact.email" = "/data/fields/1/value", message = "/data/fields/2/value" }
"#;
    let world = World::with(&with_source(source)).await;
    let body = |created: &str| {
        json!({"eventId": created, "eventType": "FORM_RESPONSE", "createdAt": created, "data": {"submissionId": "jyqVba", "createdAt": "2026-03-02T09:15:04.000Z",
            "fields": [{"value": "Avery Sample"}, {"value": "avery@example.com"}, {"value": "40 chairs"}]}})
        .to_string()
    };
    let answers =
        [world.post("tally", &body("2026-03-02T09:15:05.854Z")).await, world.post("tally", &body("2026-03-02T15:00:00.000Z")).await];
    assert_eq!(verdicts(&answers), ["accepted", "redelivery"]);
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (1, 1, 1));
}

#[tokio::test]
async fn c047_no_id_and_a_local_time_in_words() {
    let world = World::with(&with_source(ELEMENTOR)).await;
    let avery = elementor("Avery Sample", "avery.sample@example.com", "março 2, 2026", "6:15 am");
    let blake = elementor("Blake Sample", "blake@example.com", "março 2, 2026", "6:15 am");
    // The site's date format is changed; the sender tries the first one again.
    let reformatted = elementor("Avery Sample", "avery.sample@example.com", "02/03/2026", "06:15");
    let mut answers = Vec::new();
    for body in [&avery, &blake, &avery, &reformatted] {
        answers.push(world.deliver("elementor", &FORM_TYPE, body.as_bytes()).await);
    }
    assert_eq!(verdicts(&answers), ["accepted", "accepted", "redelivery", "redelivery"]);
    assert!(answers.iter().all(|a| a["weak_key"] == true));
    world.work_for(HOUR).await;
    assert_eq!(counts(&world).await, (2, 2, 2));
}

#[tokio::test]
async fn c063_a_2xx_with_an_error_inside_is_not_written() {
    let zoho = json!({"data": [{"code": "DUPLICATE_DATA", "details": {"api_name": "Email", "id": "554023000000527002"}, "message": "duplicate data", "status": "error"}]});
    let hubspot =
        json!({"status": "COMPLETE", "results": [], "numErrors": 1, "errors": [{"status": "error", "category": "VALIDATION_ERROR"}]});
    for (status, body) in [(200, zoho), (207, hubspot), (202, json!({})), (200, json!("Success"))] {
        let crm = Crm::open().await;
        crm.script(vec![Act::Say(status, body)], Act::Well);
        let world = World::with(&crm::config(crm.address, Some("strong"), "")).await;
        world.post("web", &lead("z", "z@example.com", "write me down once")).await;
        world.work_for(0).await;
        assert_eq!((crm.records().len(), world.states("web:submission:z").await), (0, vec!["deal=unknown".to_owned()]), "not done");
        world.work_for(HOUR).await;
        assert_eq!((crm.records().len(), world.states("web:submission:z").await), (1, vec!["deal=verified".to_owned()]));
    }
}

#[tokio::test]
async fn c063_the_id_of_somebody_elses_record_in_a_2xx_is_found_out_by_the_read_back() {
    let crm = Crm::open().await;
    crm.add(json!({"id": "theirs", "external_key": "somebody:else:1", "title": "another"}));
    crm.script(vec![Act::Say(200, json!({"status": "error", "id": "theirs"}))], Act::Well);
    let world = World::with(&crm::config(crm.address, Some("strong"), "")).await;
    world.post("web", &lead("z", "z@example.com", "write me down once")).await;
    world.work_for(HOUR).await;
    assert_eq!(world.states("web:submission:z").await, ["deal=mismatched"]);
    assert_eq!(crm.records().len(), 1, "and nothing was written on top");
}

#[tokio::test]
async fn c067_a_timeout_or_a_proxys_502_after_the_write_is_one_deal() {
    for act in [Act::Drop, Act::Make(502, json!("<html>502 Bad Gateway</html>")), Act::Make(504, json!({})), Act::Make(500, json!({}))] {
        let crm = Crm::open().await;
        crm.script(vec![act.clone()], Act::Well);
        let world = World::with(&crm::config(crm.address, Some("strong"), "")).await;
        world.post("web", &lead("t", "t@example.com", "once, please")).await;
        world.work_for(HOUR).await;
        assert_eq!((crm.posts(), crm.count("web:submission:t")), (1, 1), "{act:?}");
        let blind = Crm::open().await;
        blind.script(vec![act.clone()], Act::Well);
        let world = World::with(&crm::config(blind.address, None, "")).await;
        world.post("web", &lead("t", "t@example.com", "once, please")).await;
        world.work_for(DAY).await;
        assert_eq!(
            (blind.posts(), world.states("web:submission:t").await),
            (1, vec!["deal=review".to_owned()]),
            "{act:?}: a person decides"
        );
    }
}

#[tokio::test]
async fn unreadable_and_unauthentic_deliveries_have_a_place() {
    let world = signed_world().await;
    let stranger = world.app.intake.deliver("standard-webhooks", raw(&[("content-type", "application/json")], b"{}")).await;
    assert!(stranger.is_err());
    let world = World::with(&with_source(SOURCE)).await;
    for body in ["", "{", "[1,2]", "null", "\u{feff}{", "{}"] {
        let answer = world.post("web", body).await;
        assert_eq!(answer["verdict"], "quarantined", "{body:?}");
        let kept = world.app.store.delivery(answer["delivery"].as_str().unwrap()).await.unwrap().unwrap();
        assert_eq!(kept.body.unwrap().bytes, body.as_bytes());
        assert!(kept.items[0].reason.is_some());
    }
}
