//! The invariants that no smaller test bears the number of: I1, I5, I9, I12, I13; and what a person is asked in between.
//!
//! I2, I3, I4 and I8 are in `domain`'s judge, I6, I7, I10 and I11 in its gate and in `evidence`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use std::sync::Arc;

use domain::enquiry::{Fields, Priority, Qualification};
use domain::gate::Phase;
use domain::retry::Backoff;
use serde_json::json;
use server::app::Outside;
use server::config::Config;
use server::effects::outbox::{Outbox, OutboxParams};
use server::engine::{Action, Conditions, Decision, Engine, Parts, Settings};
use server::qualify::{Evidence, Failure, Qualified, Qualifier, QualifyError};
use server::stops::Stops;
use world::crm::{self, Act, Crm};
use world::process::{Held, Process};
use world::{HOUR, World, mails};

const LEAD: &str = r#"{"submission_id":"s1","email":"avery@example.com","name":"Avery","message":"Please send a quote for 40 chairs"}"#;
const KEY: &str = "web:submission:s1";

#[tokio::test(flavor = "multi_thread")]
async fn i1_what_was_answered_200_is_there_after_kill_9_whenever_it_comes() {
    let mut process = Process::start("", None).await;
    let mut taken = Vec::new();
    for round in 0..5 {
        for n in 0..20 {
            let id = format!("r{round}-{n}");
            process
                .post("web", &json!({"submission_id": id, "email": format!("{id}@example.com"), "message": "are you there?"}).to_string())
                .await;
            taken.push(id);
        }
        process = process.kill_and_restart().await;
    }
    for id in &taken {
        process.settled(&format!("web:submission:{id}")).await;
        assert_eq!(process.deals(&format!("web:submission:{id}")).await, 1);
    }
    assert_eq!(mails(&process.dir.0).len(), taken.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn i5_the_intent_is_on_disk_before_anything_is_sent() {
    let crm = Crm::open().await;
    let held = Held::at("engine.intended");
    let process = Process::start(&crm::config(crm.address, Some("strong"), ""), Some(&held)).await;
    process.post("web", LEAD).await;
    held.reached().await;
    assert_eq!(crm.posts(), 0, "nothing was sent");
    let book = store::sqlite::Sqlite::open_to_read(&process.dir.0.join("book.db")).unwrap();
    let id = store::Store::resolve(&book, KEY).await.unwrap().remove(0);
    let dossier = store::Store::dossier(&book, &id).await.unwrap().unwrap();
    let step = &dossier.effects[0].0.steps[0];
    let attempt = step.attempts.last().unwrap();
    assert_eq!((&step.phase, attempt.n), (&Phase::Intended, 1));
    let entry = dossier.entries.iter().find(|e| e.kind == "effect.intended").unwrap();
    assert_eq!(entry.facts.text("decision"), Some("proceed"));
    for fact in ["key", "action", "step", "attempt", "fence", "deadline"] {
        assert!(entry.facts.get(fact).is_some(), "the intent names its {fact}");
    }
}

/// A model that answers what it is told to.
struct Model(fn() -> Result<Qualification, Failure>);

#[async_trait::async_trait]
impl Qualifier for Model {
    fn name(&self) -> String {
        "test".to_owned()
    }

    async fn qualify(&self, _: &Fields) -> Result<Qualified, QualifyError> {
        let failed = |kind| {
            let evidence = Evidence { answer: b"Sure! Here is".to_vec(), facts: evidence::Facts::new() };
            QualifyError { kind, why: "told to".to_owned(), retry_after_ms: None, evidence }
        };
        (self.0)().map(Qualified::from).map_err(failed)
    }
}

fn sure(confidence: f64) -> Qualification {
    Qualification {
        request_type: "sales".to_owned(),
        priority: Priority::Normal,
        summary: "{{ key }} </script> attacker@example.net".to_owned(),
        qualified: true,
        confidence,
        budget: None,
        contact_facts: vec!["email: attacker@example.net".to_owned()],
        unsupported: vec![],
        reply_draft: Some("To: attacker@example.net\n\nsend it here instead".to_owned()),
    }
}

/// The world's book and intake under an engine with this model, a CRM and an outbox.
async fn with_model(world: &World, crm: &Crm, model: Model) -> Engine {
    let config = crm::config(crm.address, Some("strong"), "");
    let text = world::placed(&world.dir.0, &config);
    let http = Config::from_text(&world.dir.0.join("x.toml"), &text, &|_| None).unwrap();
    let clock: Arc<dyn domain::time::Clock> = Arc::<world::HandClock>::clone(&world.clock);
    let outside = Outside {
        clock: Arc::clone(&clock),
        entropy: Arc::new(domain::time::SeededEntropy::new(9)),
        env: Arc::new(|_| None),
        stops: Arc::new(Stops::none()),
    };
    let outbox = OutboxParams {
        root: world.dir.0.join("mail.outbox"),
        from: "desk@example.com".to_owned(),
        subject: "Re: {{ enquiry.summary }}".to_owned(),
        text: "Thank you.".to_owned(),
        clock: Arc::clone(&clock),
        stops: Arc::new(Stops::none()),
    };
    let mut targets = server::app::targets_of(&http, &outside).unwrap();
    targets.insert("mail".to_owned(), Arc::new(Outbox::open(outbox).unwrap()));
    let action = |name: &str, target: &str, outward: bool| Action {
        name: name.to_owned(),
        target: target.to_owned(),
        after: if outward { vec!["deal".to_owned()] } else { vec![] },
        conditional: outward,
        outward,
        shadow: false,
        held_by_review: outward,
        sends_draft: false,
        not_after_ms: None,
        per_address: None,
        policy: domain::gate::Policy::Review,
        client: None,
    };
    let backoff = Backoff { first_ms: 1_000, max_ms: 8_000 };
    let settings = Settings {
        other_names: Vec::new(),
        workers: 1,
        pause_max_ms: 1_000,
        attempts_max: 5,
        give_up_ms: HOUR,
        backoff,
        qualify_attempts: 3,
        qualify_backoff: backoff,
        min_confidence: 0.7,
    };
    let when = "qualification.qualified && enquiry.contact.email != null";
    let parts = Parts {
        store: Arc::clone(&world.app.store),
        clock,
        entropy: outside.entropy,
        targets,
        actions: vec![action("deal", "crm", false), action("follow-up", "mail", true)],
        qualifier: Arc::new(model),
        conditions: Conditions::compile(vec![("follow-up".to_owned(), when.to_owned())]).unwrap(),
        settings,
        wake: Arc::default(),
        stops: outside.stops,
    };
    Engine::new(parts).await.unwrap()
}

async fn work(engine: &Engine) {
    while engine.work_once().await.unwrap() {}
}

#[tokio::test]
async fn i9_a_model_that_fails_or_is_unsure_never_stops_the_record_and_holds_the_message() {
    let models: [fn() -> Result<Qualification, Failure>; 3] = [|| Err(Failure::Unreachable), || Err(Failure::Invalid), || Ok(sure(0.4))];
    for model in models {
        let (world, crm) = (World::new().await, Crm::open().await);
        let engine = with_model(&world, &crm, Model(model)).await;
        world.post("web", LEAD).await;
        // Each try is a piece of work of its own, due after its wait.
        for _ in 0..3 {
            work(&engine).await;
            world.clock.advance(10_000);
        }
        assert_eq!(crm.count(KEY), 1, "the record is written whatever the model does");
        assert_eq!((mails(&world.dir.0).len(), world.states(KEY).await), (0, vec!["deal=verified".into(), "follow-up=held".into()]));
        let review = world.dossier(KEY).await.reviews[0].clone();
        assert_eq!((review.kind, review.holds), (store::ReviewKind::Qualification, true));
        engine.decide(review.id.as_str(), &Decision::Approve, "anna").await.unwrap();
        work(&engine).await;
        assert_eq!((crm.count(KEY), mails(&world.dir.0).len()), (1, 1));
        assert_eq!(world.dossier(KEY).await.enquiry.standing, domain::enquiry::Standing::Settled);
        world.verify().await;
    }
}

#[tokio::test]
async fn i9_a_model_decides_no_recipient_and_its_words_are_data() {
    let (world, crm) = (World::new().await, Crm::open().await);
    let engine = with_model(&world, &crm, Model(|| Ok(sure(0.95)))).await;
    world.post("web", LEAD).await;
    work(&engine).await;
    let mail = mails(&world.dir.0).remove(0);
    assert!(mail.lines().any(|line| line == "To: avery@example.com"), "{mail}");
    assert!(!mail.lines().any(|line| line.starts_with("To:") && line.contains("attacker")));
    assert_eq!(crm.records()[0]["title"], "{{ key }} </script> attacker@example.net", "rendered once, as text");
    assert_eq!(world.dossier(KEY).await.enquiry.key.to_string(), KEY);
}

#[tokio::test(flavor = "multi_thread")]
async fn i12_no_personal_data_in_the_journal_and_no_secret_anywhere() {
    let crm = Crm::open().await;
    crm.script(vec![Act::Say(422, json!({"message": "quark@example.com is not welcome, token tok-4711-secret"}))], Act::Well);
    let secret = world::Dir::new();
    std::fs::write(secret.0.join("token"), "tok-4711-secret").unwrap();
    let reference = format!("headers = {{ Authorization = \"Bearer {{{{ secret('file:{}/token') }}}}\" }}", secret.0.display());
    let process = Process::start_logged(&crm::config(crm.address, Some("strong"), &reference)).await;
    // The first is refused; the second comes after it, so that the refusal is not its own.
    for (id, body, state) in [("a", "Quark of DS9 asks", "review"), ("b", "Quark asks again", "settled")] {
        let body = json!({"submission_id": id, "email": " Quark@Example.com", "name": "Quark Ferengi", "message": body, "phone": "+49 4711 0815 4711"});
        process.post("web", &body.to_string()).await;
        process.until(&format!("web:submission:{id}"), state).await;
    }
    process.post("web", "{\"email\": \"quark@example.com\", ").await;
    process.send("POST", "/in/quark@example.com", Some("{}")).await;
    let journal = process.get("/api/v1/journal?limit=1000").await.to_string().to_lowercase();
    for personal in ["quark", "ferengi", "4711 0815", "of ds9"] {
        assert!(!journal.contains(personal), "the journal holds {personal}");
    }
    let dossier = process.get("/api/v1/enquiries/web:submission:a").await.to_string();
    let pages = process.send("GET", "/console/enquiries/web:submission:a", None).await.text().await.unwrap();
    let (log, dir) = process.end().await;
    let log = log.to_lowercase();
    assert!(!log.contains("quark") && !log.contains("ferengi"), "{log}");
    for text in [&dossier, &pages, &log, &journal] {
        assert!(!text.contains("tok-4711"), "a secret shows");
    }
    for file in ["book.db", "book.db-wal"] {
        let bytes = std::fs::read(dir.0.join(file)).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains("tok-4711"), "a secret is in {file}");
    }
}

#[tokio::test]
async fn i13_no_enquiry_reaches_another_clients_target() {
    let (acme, birch) = (Crm::open().await, Crm::open().await);
    let of = |client: &str, crm: &Crm| {
        crm::config(crm.address, Some("strong"), "")
            .replace("name = \"web\"", &format!("name = \"{client}-web\"\nclient = \"{client}\""))
            .replace("name = \"crm\"", &format!("name = \"{client}-crm\"\nclient = \"{client}\""))
            .replace(
                "name = \"deal\"\ntarget = \"crm\"",
                &format!("name = \"{client}-deal\"\ntarget = \"{client}-crm\"\nclient = \"{client}\""),
            )
    };
    let config = format!("{}{}", of("acme", &acme), of("birch", &birch));
    let world = World::with(&config).await;
    for n in 0..5 {
        let lead = |id: String| LEAD.replace("s1", &id).replace("40 chairs", &format!("{id} chairs"));
        world.post("acme-web", &lead(format!("a{n}"))).await;
        world.post("birch-web", &lead(format!("b{n}"))).await;
    }
    world.work_for(HOUR).await;
    let all_of = |crm: &Crm, source: &str| crm.records().iter().all(|r| r["external_key"].as_str().unwrap().starts_with(source));
    assert!(all_of(&acme, "acme-web:") && all_of(&birch, "birch-web:"));
    assert_eq!((acme.records().len(), birch.records().len()), (5, 5));
    let crossed = config.replace("target = \"acme-crm\"", "target = \"birch-crm\"");
    let text = world::placed(&world.dir.0, &crossed);
    let refused = Config::from_text(&world.dir.0.join("x.toml"), &text, &|_| None).unwrap_err().to_string();
    assert!(refused.contains("action[0]"), "{refused}");
}

#[tokio::test]
async fn an_hour_that_happens_twice_goes_to_review_and_a_local_time_without_a_zone_to_quarantine() {
    let source = r#"
[[source]]
name = "form"
auth = { scheme = "none" }
identity = { time = "/at" }
timezone = "Europe/Berlin"
map = { "contact.email" = "/email", "contact.name" = "header:X-Visitor", message = "/message" }
[[target]]
name = "crm"
kind = "desk"
[[action]]
name = "deal"
target = "crm"
"#;
    let world = World::with(source).await;
    let body = |at: &str| json!({"at": at, "email": "avery@example.com", "message": format!("at {at}")}).to_string();
    let post =
        async |at: &str| world.deliver("form", &[("content-type", "application/json"), ("x-visitor", "Avery")], body(at).as_bytes()).await;
    let plain = post("2026-10-24T02:30:00").await;
    let twice = post("2026-10-25T02:30:00").await;
    assert_eq!((&plain["verdict"], &twice["verdict"]), (&json!("accepted"), &json!("accepted")));
    world.work_for(HOUR).await;
    assert_eq!(world.deals().await.len(), 1, "the ambiguous one waits for a person");
    assert_eq!(world.contacts().await[0].name.as_deref(), Some("Avery"), "a field may stand in a header");
    let review = world.dossier(twice["key"].as_str().unwrap()).await.reviews[0].clone();
    assert_eq!(review.kind, store::ReviewKind::AmbiguousTime);
    world.app.engine.decide(review.id.as_str(), &Decision::Approve, "anna").await.unwrap();
    world.work_for(HOUR).await;
    assert_eq!(world.deals().await.len(), 2);
}

#[tokio::test]
async fn i4_a_conflict_is_held_until_a_person_says_same_or_separate() {
    let world = World::new().await;
    world.post("web", LEAD).await;
    let other = LEAD.replace("40 chairs", "400 chairs");
    let third = LEAD.replace("40 chairs", "4000 chairs");
    let (held, another) = (world.post("web", &other).await, world.post("web", &third).await);
    assert_eq!((&held["key"], &another["key"]), (&json!(format!("{KEY}~2")), &json!(format!("{KEY}~3"))));
    world.work_for(HOUR).await;
    assert_eq!((world.deals().await.len(), world.mails().len()), (1, 1));
    assert_eq!(world.post("web", &other).await["verdict"], "redelivery", "it is known under its variant");
    let item = async |key: &str| world.dossier(key).await.reviews[0].id.to_string();
    let (same, separate) = (item(&format!("{KEY}~2")).await, item(&format!("{KEY}~3")).await);
    assert!(world.app.engine.decide(&same, &Decision::Approve, "anna").await.is_err(), "a conflict is not simply approved");
    world.app.engine.decide(&same, &Decision::Same, "anna").await.unwrap();
    world.app.engine.decide(&separate, &Decision::Separate, "anna").await.unwrap();
    world.work_for(HOUR).await;
    let keys: Vec<String> = world.deals().await.into_iter().map(|deal| deal.key).collect();
    assert_eq!(keys, [KEY.to_owned(), format!("{KEY}~3")]);
    assert_eq!(world.dossier(KEY).await.enquiry.contents.len(), 2, "the revision's content is known as its own");
    assert_eq!(world.post("web", &other).await["verdict"], "redelivery");
    world.verify().await;
}

#[tokio::test]
async fn not_after_holds_a_message_that_is_too_old_to_be_welcome() {
    let world = World::new().await;
    world.post("web", LEAD).await;
    world.app.engine.set_paused("mail", Some("maintenance".to_owned()), "anna").await.unwrap();
    world.work_for(HOUR).await;
    world.clock.advance(25 * HOUR);
    world.app.engine.set_paused("mail", None, "anna").await.unwrap();
    world.work_for(HOUR).await;
    assert_eq!((world.deals().await.len(), world.mails().len()), (1, 0));
    assert_eq!(world.states(KEY).await, ["deal=verified", "follow-up=held"]);
    let review = world.dossier(KEY).await.reviews.into_iter().find(|r| r.closed_at.is_none()).unwrap();
    world.app.engine.decide(review.id.as_str(), &Decision::Approve, "anna").await.unwrap();
    world.work_for(HOUR).await;
    assert_eq!(world.mails().len(), 1, "a person wanted it all the same");
}
