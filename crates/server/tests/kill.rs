//! `kill -9` of the real binary before, during and after the call to a target, then a restart: one record (I6, I7; C067).

#![expect(clippy::disallowed_methods, reason = "the end of a process is awaited beside the test")]

mod world;

use serde_json::json;
use world::crm::{self, Act, Crm};
use world::mails;
use world::process::{Held, Process};

const KEY: &str = "web:submission:s1";

fn lead() -> String {
    json!({"submission_id": "s1", "email": "avery@example.com", "message": "Please send a quote for 40 chairs"}).to_string()
}

fn http(crm: &Crm) -> String {
    format!(
        "\n[engine]\npause_max = \"500ms\"\nbackoff = \"100ms\"\n{}",
        crm::config(crm.address, Some("strong"), "settle = \"1s\"\ntimeout = \"2s\"")
    )
}

/// Starts, posts, waits for the stop, kills, restarts, and waits until the enquiry has settled.
async fn killed_at(stop: &str, config: &str) -> Process {
    let held = Held::at(stop);
    let process = Process::start(config, Some(&held)).await;
    process.post("web", &lead()).await;
    held.reached().await;
    let process = process.kill_and_restart().await;
    assert_eq!(process.post("web", &lead()).await["verdict"], "redelivery");
    process.settled(KEY).await;
    process
}

#[tokio::test(flavor = "multi_thread")]
async fn c067_killed_before_the_call_to_an_http_target() {
    let crm = Crm::open().await;
    let _process = killed_at("engine.intended", &http(&crm)).await;
    assert_eq!((crm.posts(), crm.count(KEY)), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn c067_killed_during_the_call_after_the_write() {
    let crm = Crm::open().await;
    crm.script(vec![Act::Hang], Act::Well);
    let process = Process::start(&http(&crm), None).await;
    process.post("web", &lead()).await;
    crm.reached.acquire().await.unwrap().forget();
    let process = process.kill_and_restart().await;
    let dossier = process.settled(KEY).await;
    assert_eq!((crm.posts(), crm.count(KEY)), (1, 1));
    assert!(dossier["timeline"].as_array().unwrap().iter().any(|e| e["kind"] == "effect.found"), "looked up and adopted");
}

#[tokio::test(flavor = "multi_thread")]
async fn c067_killed_during_the_call_and_the_write_happens_after_the_death() {
    let crm = Crm::open().await;
    crm.script(vec![Act::Wait], Act::Well);
    let process = Process::start(&http(&crm), None).await;
    process.post("web", &lead()).await;
    crm.reached.acquire().await.unwrap().forget();
    let process = process.kill_and_restart().await;
    // The new process has looked, and found nothing: that is no proof yet. Only now the request takes effect.
    for _ in 0..1_000 {
        if crm.gets() > 0 {
            break;
        }
        process.get("/healthz").await;
    }
    crm.release.add_permits(1);
    process.settled(KEY).await;
    assert_eq!((crm.posts(), crm.count(KEY)), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn c067_killed_after_the_answer_before_it_was_recorded() {
    let crm = Crm::open().await;
    let _process = killed_at("engine.answered", &http(&crm)).await;
    assert_eq!((crm.posts(), crm.count(KEY)), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn c067_killed_before_during_and_after_the_call_to_the_desk() {
    for stop in ["engine.intended", "desk.before-commit", "desk.after-commit", "engine.answered"] {
        let process = killed_at(stop, "").await;
        assert_eq!(process.deals(KEY).await, 1, "{stop}");
        assert_eq!(process.get("/api/v1/desk/contacts").await["items"].as_array().unwrap().len(), 1, "{stop}");
        assert_eq!(mails(&process.dir.0).len(), 1, "{stop}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c067_killed_before_and_after_a_message_is_in_the_outbox() {
    for stop in ["outbox.before-link", "outbox.after-link"] {
        let process = killed_at(stop, "").await;
        assert_eq!((process.deals(KEY).await, mails(&process.dir.0).len()), (1, 1), "{stop}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_termination_signal_finishes_what_was_begun() {
    let crm = Crm::open().await;
    crm.script(vec![Act::Wait], Act::Well);
    let process = Process::start(&http(&crm), None).await;
    let dir = std::sync::Arc::clone(&process.dir);
    process.post("web", &lead()).await;
    crm.reached.acquire().await.unwrap().forget();
    let ending = tokio::spawn(process.terminate());
    crm.release.add_permits(1);
    assert_eq!(ending.await.unwrap(), Some(0));
    assert_eq!(crm.count(KEY), 1);
    assert!(!dir.0.join("serve.address").exists());
    assert!(!dir.0.join("book.db-wal").exists(), "the book is one file again, and can be copied");
}
