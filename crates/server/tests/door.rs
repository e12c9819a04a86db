//! The door under load, over the real binary: slow heads, too many connections, no room; and that nothing is lost by it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use std::io::Write as _;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use world::process::Process;

/// Two sources; `server` stands in the section that every test's configuration begins with.
fn config(server: &str) -> String {
    format!(
        r#"{server}

[[source]]
name = "flooded"
kind = "generic"
auth = {{ scheme = "none" }}
identity = {{ submission = "/id" }}
map = {{ message = "/message" }}

[[source]]
name = "quiet"
kind = "generic"
auth = {{ scheme = "none" }}
identity = {{ submission = "/id" }}
map = {{ message = "/message" }}
"#
    )
}

async fn connect(server: &Process) -> TcpStream {
    TcpStream::connect(server.address).await.unwrap()
}

/// What the server says until it closes.
async fn to_the_end(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    // A reset is an end too.
    drop(stream.read_to_end(&mut said).await);
    String::from_utf8(said).unwrap()
}

/// A request and its answer on a connection that stays open.
async fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut said = vec![0_u8; 4096];
    let n = stream.read(&mut said).await.unwrap();
    String::from_utf8(said[..n].to_vec()).unwrap()
}

fn post(source: &str, body: &Value) -> String {
    let body = body.to_string();
    format!("POST /in/{source} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

#[tokio::test]
async fn a_head_that_does_not_come_and_a_connection_that_idles_are_closed() {
    let server = Process::start(&config("head_timeout = \"200ms\""), None).await;
    let mut half = connect(&server).await;
    half.write_all(b"POST /in/quiet HTTP/1.1\r\nHost: x\r\nX-Slow").await.unwrap();
    let mut silent = connect(&server).await;
    let mut idle = connect(&server).await;
    assert!(ask(&mut idle, HEALTH).await.starts_with("HTTP/1.1 200 "));
    for stream in [&mut half, &mut silent, &mut idle] {
        let said = to_the_end(stream).await;
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408 "), "{said}");
    }
    let mut next = connect(&server).await;
    assert!(ask(&mut next, &post("quiet", &json!({"id": "1", "message": "m"}))).await.contains("\"accepted\""));
}

/// A delivery of which the last byte is still to come, and that byte.
fn unfinished(id: &str) -> (String, String) {
    let mut head = post("quiet", &json!({"id": id, "message": format!("message {id}")}));
    let last = head.split_off(head.len() - 1);
    (head, last)
}

#[tokio::test]
async fn one_connection_too_many_is_told_to_come_again() {
    let server = Process::start(&config("connections_max = 2"), None).await;
    let (mut one, mut two) = (connect(&server).await, connect(&server).await);
    let halves = [unfinished("1"), unfinished("2")];
    for (stream, (head, _)) in [&mut one, &mut two].into_iter().zip(&halves) {
        stream.write_all(head.as_bytes()).await.unwrap();
    }
    let mut third = connect(&server).await;
    let said = to_the_end(&mut third).await;
    assert!(said.starts_with("HTTP/1.1 503 ") && said.contains("retry-after: 2") && said.contains("\"code\":\"busy\""), "{said}");
    for (stream, (_, last)) in [&mut one, &mut two].into_iter().zip(&halves) {
        assert!(ask(stream, last).await.contains("\"accepted\""), "who is in stays in");
    }
}

#[tokio::test]
async fn one_connection_too_many_takes_an_idle_one_s_place() {
    let server = Process::start(&config("connections_max = 2"), None).await;
    let (mut idle, mut works) = (connect(&server).await, connect(&server).await);
    assert!(ask(&mut idle, HEALTH).await.starts_with("HTTP/1.1 200 "));
    let (head, last) = unfinished("1");
    works.write_all(head.as_bytes()).await.unwrap();
    let mut third = loop {
        let mut third = connect(&server).await;
        let said = ask(&mut third, HEALTH).await;
        if said.starts_with("HTTP/1.1 200 ") {
            break third;
        }
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 503 "), "{said}");
    };
    assert!(to_the_end(&mut idle).await.is_empty(), "it said nothing, and its place is another's");
    assert!(ask(&mut works, &last).await.contains("\"accepted\""), "who is at a request stays in");
    assert!(ask(&mut third, HEALTH).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn who_never_reads_its_answers_is_cut_off() {
    let server = Process::start(&config("answer_timeout = \"200ms\""), None).await;
    let mut deaf = connect(&server).await;
    // Its requests go on until the answers to them fill every buffer between here and there, and it is cut off.
    while deaf.write_all("GET /console HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".as_bytes()).await.is_ok() {}
    assert!(ask(&mut connect(&server).await, HEALTH).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_stranger_s_body_takes_no_room_from_those_who_are_known() {
    let known = r#"
[[source]]
name = "known"
kind = "generic"
auth = { scheme = "bearer", secret = "env:KNOWN" }
identity = { submission = "/id" }
map = { message = "/message" }
"#;
    let text = format!("{}{known}", config("in_flight_max = \"128KiB\""));
    let server = Process::start_with(&text, ("KNOWN", "hush")).await;
    let mut strangers = Vec::new();
    for _ in 0..8 {
        let mut stranger = connect(&server).await;
        let head = "POST /in/known HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer guess\r\nContent-Length: 500000\r\n\r\n{";
        stranger.write_all(head.as_bytes()).await.unwrap();
        strangers.push(stranger);
    }
    for n in 0..8 {
        let lead = post("known", &json!({"id": n.to_string(), "message": n.to_string()})).replacen(
            "Host: x",
            "Host: x\r\nAuthorization: Bearer hush",
            1,
        );
        let said = ask(&mut connect(&server).await, &lead).await;
        assert!(said.contains("\"accepted\""), "{said}");
    }
    // Told so once all of it has come, for it is kept a while for a person to look at.
    let whole = post("known", &json!({"id": "9", "message": "m"}));
    assert!(ask(&mut connect(&server).await, &whole).await.starts_with("HTTP/1.1 401 "));
    assert_eq!(strangers.len(), 8, "who were there all the time");
}

/// A sender that sends much and stands still holds all the room there is: another one is told so, and is entered once that
/// one is gone.
#[tokio::test]
async fn i1_without_room_a_sender_is_told_to_come_again_and_nothing_is_lost() {
    let server = Process::start(&config("in_flight_max = \"128KiB\""), None).await;
    let mut stuck = connect(&server).await;
    let head = "POST /in/flooded HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500000\r\n\r\n";
    stuck.write_all(head.as_bytes()).await.unwrap();
    stuck.write_all(&vec![b' '; 400_000]).await.unwrap();
    let lead = post("quiet", &json!({"id": "1", "message": "m"}));
    let said = loop {
        // Its bytes are taken in pieces: until the room is full, others find some.
        let mut other = connect(&server).await;
        let said = ask(&mut other, &lead).await;
        if said.starts_with("HTTP/1.1 503 ") {
            break said;
        }
    };
    assert!(said.contains("retry-after: 2") && said.contains("\"code\":\"busy\""), "{said}");
    drop(stuck);
    let again = loop {
        let said = ask(&mut connect(&server).await, &lead).await;
        if !said.starts_with("HTTP/1.1 503 ") {
            break said;
        }
    };
    assert!(again.starts_with("HTTP/1.1 200 "), "{again}");
    assert_eq!(server.get("/api/v1/enquiries").await["items"].as_array().unwrap().len(), 1, "entered, and once");
}

#[tokio::test]
async fn what_is_declared_too_large_is_told_so_though_it_does_not_come() {
    let server = Process::start(&config("head_timeout = \"10s\""), None).await;
    let mut half = connect(&server).await;
    half.write_all(b"POST /in/quiet HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n{").await.unwrap();
    half.shutdown().await.unwrap();
    let said = to_the_end(&mut half).await;
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 413 "), "{said}");
}

/// Many large bodies at once, far more than there is room for: everyone who is told to come again does, and each is entered
/// once.
#[tokio::test]
async fn i1_i2_a_flood_of_large_bodies_is_entered_whole() {
    let server = Process::start(&config("in_flight_max = \"256KiB\""), None).await;
    let senders: Vec<_> = (0..24)
        .map(|n| {
            let (address, source) = (server.address, if n % 4 == 0 { "quiet" } else { "flooded" });
            let request = post(source, &json!({"id": n.to_string(), "message": "x".repeat(150_000)}));
            tokio_util::task::TaskTracker::new().spawn(async move {
                loop {
                    let mut stream = TcpStream::connect(address).await.unwrap();
                    // A sender that is turned away in the middle of its body may not get to the end of it.
                    drop(stream.write_all(request.as_bytes()).await);
                    let mut said = vec![0_u8; 4096];
                    let n = stream.read(&mut said).await.unwrap_or(0);
                    let said = String::from_utf8_lossy(&said[..n]).into_owned();
                    if said.starts_with("HTTP/1.1 200 ") {
                        return;
                    }
                    assert!(said.is_empty() || said.starts_with("HTTP/1.1 503 "), "{said}");
                }
            })
        })
        .collect();
    for sender in senders {
        sender.await.unwrap();
    }
    let entered = server.get("/api/v1/enquiries?limit=100").await;
    assert_eq!(entered["items"].as_array().unwrap().len(), 24);
}

/// A packed body of a kilobyte may hold a megabyte: it is charged for that, so that many at once wait for one another, and
/// who hangs up meanwhile gives nothing back before its turn is over. All that are answered 200 are entered, and others are served.
#[tokio::test]
async fn packed_bodies_are_read_in_turn_for_as_much_as_they_hold() {
    let server = Process::start(&config("in_flight_max = \"2MiB\""), None).await;
    let body = |n: usize| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        write!(packed, "{{\"id\": \"{n}\", \"message\": \"m{n}\", \"zeros\": [0{}]}}", ",0".repeat(200_000)).unwrap();
        let packed = packed.finish().unwrap();
        let head = "POST /in/flooded HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n";
        [format!("{head}Content-Length: {}\r\n\r\n", packed.len()).as_bytes(), &packed].concat()
    };
    let senders: Vec<_> = (0..16)
        .map(|n| {
            let (address, request) = (server.address, body(n));
            tokio_util::task::TaskTracker::new().spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(&request).await.unwrap();
                if n % 2 == 0 {
                    return "gone".to_owned();
                }
                let mut said = vec![0_u8; 4096];
                let n = stream.read(&mut said).await.unwrap();
                String::from_utf8_lossy(&said[..n]).into_owned()
            })
        })
        .collect();
    let quiet = ask(&mut connect(&server).await, &post("quiet", &json!({"id": "1", "message": "m"}))).await;
    assert!(quiet.contains("\"accepted\""), "{quiet}");
    let mut entered = 1;
    for sender in senders {
        let said = sender.await.unwrap();
        assert!(said == "gone" || said.starts_with("HTTP/1.1 200 ") || said.contains("\"code\":\"busy\""), "{said}");
        entered += usize::from(said.starts_with("HTTP/1.1 200 "));
    }
    let kept = server.get("/api/v1/enquiries?limit=100").await;
    assert!(kept["items"].as_array().unwrap().len() >= entered, "what was acknowledged is there");
}
