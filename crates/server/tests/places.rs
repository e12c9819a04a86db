//! What arrives is worked on at once where there is a place; a sender that hangs up leaves its work with whoever took it.

mod world;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use world::DESK;
use world::process::Process;

fn lead(id: &str) -> String {
    json!({"submission_id": id, "email": format!("{id}@example.com"), "message": format!("enquiry {id}")}).to_string()
}

/// Lets what was begun go on until that holds.
async fn until(mut holds: impl AsyncFnMut() -> bool) {
    while !holds().await {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_sender_that_hangs_up_leaves_its_work_to_be_done() {
    let server = Process::start(DESK, None).await;
    for n in 0..20 {
        let body = lead(&n.to_string());
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = "POST /in/web HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
        stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    }
    // All of it had come, so all of it is entered; and nothing of it waits for a lease to run out.
    let all = async || server.get("/api/v1/enquiries?limit=100").await["items"].as_array().cloned().unwrap_or_default();
    until(async || {
        let all = all().await;
        all.len() == 20 && all.iter().all(|enquiry: &Value| !enquiry["settled_at"].is_null())
    })
    .await;
    assert_eq!(server.get("/api/v1/desk/deals?limit=100").await["items"].as_array().map(Vec::len), Some(20));
}
