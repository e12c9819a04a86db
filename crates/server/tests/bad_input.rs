//! Bad input gets a clear answer and a place to be found again; what cannot be made durable is never answered 2xx.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use std::process::{Command, Output};

use serde_json::{Value, json};
use world::process::{Process, binary};
use world::{Dir, placed};

const SIGNED: &str = r#"
[server_]
[[source]]
name = "web"
auth = { scheme = "none" }
identity = { submission = "/submission_id" }
map = { "contact.email" = "/email", message = "/message" }
[[source]]
name = "token"
auth = { scheme = "bearer", secret = "file:SECRET" }
[[target]]
name = "crm"
kind = "desk"
[[action]]
name = "deal"
target = "crm"
"#;

async fn started() -> (Process, Dir) {
    let secret = Dir::new();
    std::fs::write(secret.0.join("secret"), "s3cret-of-the-test").unwrap();
    let config = SIGNED.replace("[server_]\n", "body_max = \"64KiB\"\n").replace("SECRET", secret.0.join("secret").to_str().unwrap());
    (Process::start(&config, None).await, secret)
}

/// The problem of an answer: status, code and content type, each as promised.
async fn problem(answer: reqwest::Response) -> (u16, String) {
    let status = answer.status().as_u16();
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    let body: Value = answer.json().await.unwrap();
    assert_eq!(body["status"], status);
    assert!(body["title"].is_string() && body["detail"].is_string());
    (status, body["code"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_bad_request_is_a_problem_of_its_own() {
    let (process, _secret) = started().await;
    let large = json!({"submission_id": "large", "message": "x".repeat(70_000)}).to_string();
    let answers = [
        process.send("POST", "/in/token", Some("{}")).await,
        process.send("POST", "/in/web", Some(&large)).await,
        process.send("DELETE", "/in/web", None).await,
        process.send("POST", "/in/nobody", Some("{}")).await,
        process.send("GET", "/nowhere", None).await,
        process.send("GET", "/api/v1/enquiries/enq_nothing", None).await,
        process.send("GET", "/api/v1/enquiries?cursor=x", None).await,
    ];
    assert_eq!(answers[2].headers()["allow"], "GET, HEAD, POST");
    let mut statuses = Vec::new();
    for answer in answers {
        statuses.push(problem(answer).await.0);
    }
    assert_eq!(statuses, [401, 413, 405, 404, 404, 404, 400]);
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_bodies_are_answered_200_and_kept_whole() {
    let (process, _secret) = started().await;
    for body in ["{\"submission_id\":", "", "\u{0}", "[]", "\"text\"", "{\"a\":[[[[", "{}"] {
        let answer = process.post("web", body).await;
        assert_eq!(answer["verdict"], "quarantined", "{body:?}");
        let kept = process.get(&format!("/api/v1/deliveries/{}", answer["delivery"].as_str().unwrap())).await;
        assert!(kept["items"][0]["reason"].is_string(), "{kept}");
    }
    let list = process.get("/api/v1/deliveries?state=quarantined").await;
    assert_eq!(list["items"].as_array().unwrap().len(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unauthentic_delivery_is_kept_and_a_person_can_let_it_in() {
    let (process, _secret) = started().await;
    let body = json!({"submission_id": "unsigned", "email": "u@example.com", "message": "my proof got lost"}).to_string();
    assert_eq!(process.send("POST", "/in/token", Some(&body)).await.status(), 401);
    let kept = process.get("/api/v1/deliveries?state=refused").await;
    let id = kept["items"][0]["id"].as_str().unwrap().to_owned();
    assert!(!process.get("/api/v1/enquiries").await.to_string().contains("u@example.com"), "nothing was done for it");
    let answer = process.send("POST", &format!("/api/v1/deliveries/{id}/replay"), Some("{}")).await;
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_book_is_503_with_retry_after_and_nothing_half_written() {
    let (process, _secret) = started().await;
    let body = json!({"submission_id": "locked", "email": "l@example.com", "message": "can you hear me?"}).to_string();
    let locker = rusqlite::Connection::open(process.dir.0.join("book.db")).unwrap();
    locker.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let refused = process.send("POST", "/in/web", Some(&body)).await;
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(problem(refused).await.0, 503);
    locker.execute_batch("ROLLBACK").unwrap();
    assert_eq!(process.get("/api/v1/deliveries").await["items"].as_array().unwrap().len(), 0);
    assert_eq!(process.post("web", &body).await["verdict"], "accepted", "the sender's retry is the first that counts");
    process.settled("web:submission:locked").await;
}

/// A disk that takes no more: the process may write no file beyond a size, and is told so instead of killed.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_503_with_retry_after_and_every_2xx_is_on_disk() {
    let config = SIGNED
        .replace("[server_]\n", "body_max = \"256KiB\"\n")
        .replace("scheme = \"bearer\", secret = \"file:SECRET\"", "scheme = \"none\"");
    let process = Process::start_limited(&config, 4_000).await;
    let lead = |n: usize| json!({"submission_id": format!("f{n}"), "message": "m".repeat(60_000)}).to_string();
    let (mut taken, mut refused) = (Vec::new(), 0);
    for n in 0..200 {
        let answer = process.send("POST", "/in/web", Some(&lead(n))).await;
        if answer.status() == 200 {
            taken.push(n);
        } else {
            assert!(answer.headers().contains_key("retry-after"));
            assert_eq!(problem(answer).await.0, 503);
            refused += 1;
        }
    }
    assert!(refused > 0 && !taken.is_empty(), "{} taken, {refused} refused", taken.len());
    // More room, and the same book.
    let process = process.kill_and_restart().await;
    for n in &taken {
        assert_eq!(process.post("web", &lead(*n)).await["verdict"], "redelivery", "f{n} was answered 200");
    }
    let verified = command(&process.dir, &["evidence", "verify"]);
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stdout));
    for n in 0..200 {
        process.post("web", &lead(n)).await;
    }
    assert_eq!(process.deals("web:submission:f0").await, 1);
}

#[test]
fn a_wrong_configuration_stops_the_start_with_file_line_and_key() {
    let dir = Dir::new();
    let wrong = placed(
        &dir.0,
        "[[source]]\nname = \"web\"\nidentity = { submision = \"/id\" }\n[[action]]\nname = \"deal\"\ntarget = \"nowhere\"\n",
    );
    std::fs::write(dir.0.join("oncebook.toml"), wrong).unwrap();
    for args in [&["serve"][..], &["config", "check"]] {
        let output = command(&dir, args);
        assert_ne!(output.status.code(), Some(0));
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("oncebook.toml:6:") && said.contains("submision") && said.contains("submission"), "{said}");
        assert!(said.contains("oncebook.toml:9:") && said.contains("nowhere"), "{said}");
    }
    assert!(!dir.0.join("book.db").exists(), "and nothing was made");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_identity_rule_stops_the_start_until_it_is_accepted() {
    let (process, _secret) = started().await;
    process.post("web", r#"{"submission_id":"old","id":"other","email":"o@example.com","message":"known under the old rule"}"#).await;
    process.settled("web:submission:old").await;
    let dir = std::sync::Arc::clone(&process.dir);
    assert_eq!(process.terminate().await, Some(0));
    let path = dir.0.join("oncebook.toml");
    let changed = std::fs::read_to_string(&path).unwrap().replace("submission = \"/submission_id\"", "submission = \"/id\"");
    std::fs::write(&path, changed).unwrap();
    let refused = command(&dir, &["serve"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("identity accept web"));
    assert_eq!(command(&dir, &["identity", "accept", "web"]).status.code(), Some(0));
    let process = Process::again(dir).await;
    let again =
        process.post("web", r#"{"submission_id":"old","id":"other","email":"o@example.com","message":"known under the old rule"}"#).await;
    assert_eq!(
        (&again["verdict"], &again["key"]),
        (&json!("redelivery"), &json!("web:submission:old")),
        "looked up under the earlier version too"
    );
}

fn command(dir: &Dir, args: &[&str]) -> Output {
    Command::new(binary()).arg("--config").arg(dir.0.join("oncebook.toml")).args(args).current_dir(&dir.0).output().unwrap()
}
