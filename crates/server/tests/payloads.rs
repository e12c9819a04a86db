//! Every shared payload, posted twice at the same moment through the HTTP door to a source that is set up for it: one enquiry
//! of each event, read as written down in `expected`.
//!
//! The payloads are synthetic; those under `payloads/` are copies of the project's shared ones, from before they were part
//! of the tree. Where the shared directory stands beside the tree, a file there that has no row here fails the test.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod expected;
mod world;

use std::path::{Path, PathBuf};

use axum::body::Body;
use expected::{Expect, Item, Row, rows};
use http::Request;
use serde_json::{Value, json};
use server::views::EnquiryView;
use tower::ServiceExt as _;
use world::{HOUR, World};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads")
}

/// The shared directory, if it stands beside the tree.
fn shared() -> Option<PathBuf> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(3);
    above.map(|directory| directory.join("shared/payloads")).find(|directory| directory.is_dir())
}

fn config(row: &Row) -> String {
    format!(
        "[[source]]\nname = \"s\"\nauth = {{ scheme = \"none\" }}\n{}
[[target]]\nname = \"crm\"\nkind = \"desk\"
[[action]]\nname = \"deal\"\ntarget = \"crm\"\n",
        row.source.trim()
    )
}

async fn posted(world: &World, row: &Row, bytes: &[u8]) -> Value {
    let mut request = Request::post("/in/s").header("content-type", row.content_type);
    for (name, value) in row.headers {
        request = request.header(*name, *value);
    }
    let router = server::intake::router(std::sync::Arc::clone(&world.app.intake));
    let response = router.oneshot(request.body(Body::from(bytes.to_vec())).unwrap()).await.unwrap();
    assert_eq!(response.status(), 200, "{}", row.file);
    serde_json::from_slice(&axum::body::to_bytes(response.into_body(), 1 << 22).await.unwrap()).unwrap()
}

/// The items of an answer, in order.
fn items_of(answer: &Value) -> Vec<Value> {
    answer["items"].as_array().cloned().unwrap_or_else(|| vec![answer.clone()])
}

/// What an enquiry's fields are, as the API shows them, without the digests of blobs, which are another each time.
fn fields_of(view: &Value) -> Value {
    let mut fields = json!({});
    for name in ["contact", "channel", "message", "attachments", "occurred_at", "timestamp", "other"] {
        fields[name] = view[name].clone();
    }
    for attachment in fields["attachments"].as_array_mut().unwrap() {
        attachment.as_object_mut().unwrap().remove("blob");
    }
    fields
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_payload_posted_twice_at_once_is_read_as_it_should_be() {
    for row in rows() {
        if let Expect::Items(items) = &row.expect {
            let world = World::with(&config(&row)).await;
            let bytes = std::fs::read(fixtures().join(row.file)).unwrap();
            let (one, two) = tokio::join!(posted(&world, &row, &bytes), posted(&world, &row, &bytes));
            check(&world, &row, items, &[items_of(&one), items_of(&two)]).await;
        }
    }
}

async fn check(world: &World, row: &Row, items: &[Item], answers: &[Vec<Value>; 2]) {
    let file = row.file;
    assert_eq!((answers[0].len(), answers[1].len()), (items.len(), items.len()), "{file}: {answers:?}");
    let mut keys = Vec::new();
    for (n, item) in items.iter().enumerate() {
        let mut verdicts: Vec<&str> = answers.iter().map(|answer| answer[n]["verdict"].as_str().unwrap()).collect();
        let is_enquiry = item.reason.is_empty();
        let mut wanted = vec![item.verdict, if is_enquiry { "redelivery" } else { item.verdict }];
        verdicts.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(verdicts, wanted, "{file}, item {n}: {answers:?}");
        if !is_enquiry {
            assert_eq!(answers[0][n]["reason"], item.reason, "{file}, item {n}");
            continue;
        }
        let key = answers[0][n]["key"].as_str().unwrap();
        let is_whole = !item.key.ends_with(':') && !item.key.ends_with("Z,");
        assert!(if is_whole { key == item.key } else { key.starts_with(item.key) }, "{file}, item {n}: {key}");
        assert_eq!(answers[0][n]["key"], answers[1][n]["key"], "{file}, item {n}");
        let dossier = world.dossier(key).await;
        let view = serde_json::to_value(EnquiryView::of(&dossier.enquiry)).unwrap();
        assert_eq!(fields_of(&view), item.fields, "{file}, item {n}");
        assert_eq!(view["source"], "s");
        for attachment in dossier.enquiry.fields.iter().flat_map(|fields| &fields.attachments).filter(|a| a.fetched) {
            let blob = world.app.store.blob(&attachment.blob.unwrap(), Some(&dossier.enquiry.id)).await.unwrap().unwrap();
            assert_eq!(Some(domain::digest::Digest::sha256(&blob.bytes)), attachment.sha256, "{file}: the file's bytes are kept");
        }
        keys.push((key.to_owned(), item.verdict));
    }
    keys.retain(|(_, verdict)| *verdict != "redelivery");
    keys.dedup();
    // One set of records: a deal of each enquiry that is not held.
    world.work_for(HOUR).await;
    let mut deals: Vec<String> = world.deals().await.into_iter().map(|deal| deal.key).collect();
    let mut open: Vec<String> = keys.iter().filter(|(_, verdict)| *verdict == "accepted").map(|(key, _)| key.clone()).collect();
    deals.sort();
    open.sort();
    assert_eq!(deals, open, "{file}");
    world.verify().await;
}

/// Payloads that carry the event of another one: what they are after it.
#[tokio::test]
async fn payloads_of_one_event_are_one_enquiry() {
    for (first, second, verdict) in [
        ("typeform/form_response.json", "typeform/form_response.resend_new_event_id.json", "redelivery"),
        ("stripe/checkout_session_completed.json", "stripe/checkout_session_completed.retry.json", "redelivery"),
        ("standard-webhooks/retry_attempt1.json", "standard-webhooks/retry_attempt3.json", "redelivery"),
        ("hubspot/contact_creation_batch.json", "hubspot/contact_creation_batch.retry.json", "redelivery"),
        ("shopify/customers_create.json", "shopify/customers_create.second_subscription.json", "redelivery"),
        ("quirks/bigint_id.json", "quirks/bigint_id_neighbour.json", "accepted"),
        ("elementor/advanced.urlencoded", "elementor/advanced_other_person_same_minute.urlencoded", "accepted"),
        ("calendly/invitee_created.json", "calendly/resched_2_created.json", "look_alike"),
    ] {
        let rows = rows();
        let row = |file: &str| rows.iter().find(|row| row.file == file).unwrap();
        let world = World::with(&config(row(first))).await;
        for (file, verdict) in [(first, "accepted"), (second, verdict)] {
            let answer = posted(&world, row(file), &std::fs::read(fixtures().join(file)).unwrap()).await;
            assert!(items_of(&answer).iter().all(|item| item["verdict"] == verdict), "{file}: {answer}");
        }
    }
}

/// A new file needs a row, a row needs its file, and a copy is the file.
#[test]
fn every_payload_has_an_expectation() {
    let rows = rows();
    let mut errors = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        if rows[..n].iter().any(|before| before.file == row.file) {
            errors.push(format!("{}: two rows", row.file));
        }
        if !fixtures().join(row.file).is_file() {
            errors.push(format!("{}: there is no such file", row.file));
        }
        if let Expect::NotAnEnquiry(why) = row.expect {
            assert!(!why.is_empty());
        }
    }
    for directory in [Some(fixtures()), shared()].into_iter().flatten() {
        for file in files(&directory) {
            let name = file.strip_prefix(&directory).unwrap().to_str().unwrap().to_owned();
            let is_described = file.extension().is_some_and(|ending| ending == "md")
                || expected::NOT_DELIVERED.iter().any(|(below, _)| name.starts_with(below));
            if is_described {
                continue;
            }
            if !rows.iter().any(|row| row.file == name) {
                errors.push(format!("{name}: has no expectation"));
            } else if std::fs::read(fixtures().join(&name)).ok() != std::fs::read(&file).ok() {
                errors.push(format!("{name}: the copy in the tree is another"));
            }
        }
    }
    assert!(errors.is_empty(), "\n{}", errors.join("\n"));
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { panic!("{} cannot be read", directory.display()) };
    let mut found: Vec<PathBuf> = entries.flatten().map(|e| e.path()).flat_map(|p| if p.is_dir() { files(&p) } else { vec![p] }).collect();
    found.sort();
    found
}
