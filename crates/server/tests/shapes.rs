//! Payload shapes that made others lose or double enquiries (cases.md, group C), each with kinds beyond the captured files.
//!
//! What is right is stated on records: the enquiry stands, its raw bytes are kept as they came, what was mended is counted,
//! and where it is in doubt who or what it is, a person is asked before anything is done.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use std::io::Write as _;

use domain::identity::Doubt;
use serde_json::{Value, json};
use server::engine::Decision;
use store::{Dossier, ReviewKind};
use world::sent::{FORM, JSON};
use world::{HOUR, World};

const SOURCE: &str = r#"
[[source]]
name = "web"
auth = { scheme = "none" }
identity = { submission = "/submission_id" }
map = { "contact.email" = "/email", "contact.name" = "/name", "contact.phone" = "/phone", message = ["/message", "/text"], occurred_at = "/at" }
[[target]]
name = "crm"
kind = "desk"
[[action]]
name = "deal"
target = "crm"
"#;

async fn world() -> World {
    World::with(SOURCE).await
}

async fn send(world: &World, content_type: &str, body: &[u8]) -> Value {
    world.send("web", content_type, body).await
}

async fn entered(world: &World, content_type: &str, body: &[u8]) -> Dossier {
    world.entered("web", content_type, body).await
}

/// Sends it; why it is set aside. The body is kept whole, and a person can have it read again.
async fn quarantined(world: &World, content_type: &str, body: &[u8]) -> String {
    let answer = send(world, content_type, body).await;
    assert_eq!(answer["verdict"], "quarantined", "{answer}");
    let delivery = answer["delivery"].as_str().unwrap();
    assert_eq!(world.app.store.delivery(delivery).await.unwrap().unwrap().body.unwrap().bytes, body);
    let again = world.app.intake.replay(delivery, "anna", false).await.unwrap().json();
    assert_eq!((&again["verdict"], &again["reason"]), (&answer["verdict"], &answer["reason"]), "read again, it reads the same");
    answer["reason"].as_str().unwrap().to_owned()
}

fn message(dossier: &Dossier) -> &str {
    dossier.enquiry.fields.as_ref().unwrap().message.as_deref().unwrap()
}

fn repairs(dossier: &Dossier) -> Value {
    json!(dossier.deliveries[0].repairs)
}

fn multipart(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (header, content) in parts {
        body.extend(format!("--XX\r\nContent-Disposition: form-data; {header}\r\n\r\n").into_bytes());
        body.extend_from_slice(content);
        body.extend(b"\r\n");
    }
    body.extend(b"--XX--\r\n");
    body
}

const MULTIPART: &str = "multipart/form-data; boundary=XX";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[tokio::test]
async fn c032_a_multipart_form_is_read_and_a_broken_one_is_parked_with_its_reason() {
    let world = world().await;
    let whole = multipart(&[
        (r#"name="submission_id""#, b"m1"),
        (r#"name="email""#, b"avery@example.com"),
        (r#"name="message""#, "40 chairs — bitte".as_bytes()),
        (r#"name="untouched"; filename="""#, b""),
        (r#"name="plan"; filename="..\..\plan.pdf""#, b"%PDF\r\n--X\0\xFF"),
    ]);
    let dossier = entered(&world, MULTIPART, &whole).await;
    let fields = dossier.enquiry.fields.clone().unwrap();
    assert_eq!((message(&dossier), fields.contact.email.as_deref()), ("40 chairs — bitte", Some("avery@example.com")));
    let [file] = fields.attachments.as_slice() else { panic!("{:?}", fields.attachments) };
    assert_eq!((file.name.as_deref(), file.length, file.fetched), (Some("plan.pdf"), Some(11), true));
    let blob = world.app.store.blob(&file.blob.unwrap(), Some(&dossier.enquiry.id)).await.unwrap().unwrap();
    assert_eq!(blob.bytes, b"%PDF\r\n--X\0\xFF");
    // The copy brought no second file: the journal names the one blob once, beside the two bodies.
    let named: Vec<_> = dossier.entries.iter().flat_map(|entry| &entry.blobs).filter(|digest| **digest == file.blob.unwrap()).collect();
    assert_eq!(named.len(), 1);
    assert_eq!(dossier.entries.iter().map(|entry| entry.blobs.len()).sum::<usize>(), 3);

    // Cut at every tenth byte: parked, each with its bytes and a reason.
    for cut in (10..whole.len() - 4).step_by(10) {
        let why = quarantined(&world, MULTIPART, &whole[..cut]).await;
        assert!(why.contains("breaks off in part") || why.contains("does not stand in it"), "{cut}: {why}");
    }
    // A wrong boundary is mended where the body shows its own, and parked where it does not.
    let other = String::from_utf8_lossy(&whole).replace("m1", "m2");
    let mended = entered(&world, "multipart/form-data; boundary=YY", other.as_bytes()).await;
    assert_eq!(repairs(&mended)["boundary"], 1);
    let why = quarantined(&world, "multipart/form-data; boundary=YY", b"some text --XX and no form").await;
    assert!(why.contains("does not stand in it"), "{why}");
    let why = quarantined(&world, "multipart/form-data", b"").await;
    assert_eq!(why, "the body is empty");
    // Called something else, and without any declaration.
    for (n, content_type) in [JSON, FORM, "text/plain", "application/octet-stream"].iter().enumerate() {
        let body = String::from_utf8_lossy(&whole).replace("m1", &format!("t{n}"));
        assert_eq!(repairs(&entered(&world, content_type, body.as_bytes()).await)["declared_type"], 1, "{content_type}");
    }
    world.verify().await;
}

#[tokio::test]
async fn c034_nul_characters_are_kept_raw_and_replaced_with_a_count() {
    let world = world().await;
    let kinds: [(&str, &[u8]); 4] = [
        (JSON, br#"{"submission_id":"n1","na\u0000me":"x","message":"Need \u0000 40\u0000"}"#),
        (JSON, b"{\"submission_id\":\"n2\",\"na\0me\":\"x\",\"message\":\"Need \0 40\0\"}"),
        (FORM, b"submission_id=n3&na%00me=x&message=Need+%00+40%00"),
        (FORM, b"submission_id=n4&na\0me=x&message=Need+\0+40\0"),
    ];
    for (content_type, body) in kinds {
        let dossier = entered(&world, content_type, body).await;
        assert_eq!(message(&dossier), "Need \u{FFFD} 40\u{FFFD}");
        assert_eq!(dossier.enquiry.fields.as_ref().unwrap().original["message"], "Need \0 40\0", "what was sent stands beside it");
        assert_eq!(repairs(&dossier)["nul"], 3, "{}", String::from_utf8_lossy(body));
        let noted = |entry: &&evidence::Entry| entry.facts.text("how") == Some("2 NUL characters replaced");
        assert_eq!(dossier.entries.iter().filter(noted).count(), 1);
    }
    let form = multipart(&[
        (r#"name="submission_id""#, b"n5"),
        ("name=\"na\0me\"", b"x"),
        (r#"name="message""#, b"Need \0 40\0"),
        ("name=\"f\"; filename=\"pl\0an.pdf\"", b"\0\0"),
    ]);
    let dossier = entered(&world, MULTIPART, &form).await;
    assert_eq!(message(&dossier), "Need \u{FFFD} 40\u{FFFD}");
    let file = &dossier.enquiry.fields.as_ref().unwrap().attachments[0];
    assert_eq!((file.name.as_deref(), file.length), (Some("plan.pdf"), Some(2)));
    assert_eq!((&repairs(&dossier)["nul"], &repairs(&dossier)["file_name"]), (&json!(4), &json!(1)));
    // A NUL in an id is part of the id: two are two, and no third is the same as neither.
    let ids = ["a\\u0000b", "ab", "a\\u0001b"].map(|id| format!(r#"{{"submission_id":"{id}","message":"x"}}"#));
    for body in &ids {
        entered(&world, JSON, body.as_bytes()).await;
    }
    world.work_for(HOUR).await;
    world.verify().await;
}

#[tokio::test]
async fn c035_half_an_emoji_and_bytes_that_are_no_text_lose_no_enquiry() {
    let world = world().await;
    let utf_16 = |text: &str, swap: bool| -> Vec<u8> {
        text.encode_utf16().flat_map(|unit| if swap { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    };
    let marked = |mark: &[u8], bytes: Vec<u8>| [mark.to_vec(), bytes].concat();
    let kinds: Vec<(&str, Vec<u8>, &str, &str)> = vec![
        (JSON, br#"{"submission_id":"s1","message":"40 \ud83d"}"#.to_vec(), "40 \u{FFFD}", "lone_surrogate"),
        (JSON, br#"{"submission_id":"s2","message":"\ude00 40","\ud83d":1}"#.to_vec(), "\u{FFFD} 40", "lone_surrogate"),
        (JSON, b"{\"submission_id\":\"s3\",\"message\":\"caf\xE9\"}".to_vec(), "caf\u{FFFD}", "undecodable"),
        (JSON, b"{\"submission_id\":\"s4\",\"message\":\"\xED\xA0\xBD\"}".to_vec(), "\u{FFFD}\u{FFFD}\u{FFFD}", "undecodable"),
        (JSON, b"\xEF\xBB\xBF{\"submission_id\":\"s5\",\"message\":\"x\"}".to_vec(), "x", "byte_order_mark"),
        (JSON, marked(b"\xFF\xFE", utf_16(r#"{"submission_id":"s6","message":"é😀"}"#, false)), "é😀", "transcoded"),
        (JSON, marked(b"\xFE\xFF", utf_16(r#"{"submission_id":"s7","message":"é😀"}"#, true)), "é😀", "transcoded"),
        (JSON, utf_16(r#"{"submission_id":"s8","message":"é😀"}"#, false), "é😀", "transcoded"),
        (JSON, utf_16(r#"{"submission_id":"s9","message":"é😀"}"#, true), "é😀", "transcoded"),
        (FORM, b"submission_id=s10&message=caf%E9".to_vec(), "caf\u{FFFD}", "undecodable"),
        (FORM, b"submission_id=s11&message=%ED%A0%BD".to_vec(), "\u{FFFD}\u{FFFD}\u{FFFD}", "undecodable"),
        ("application/x-www-form-urlencoded; charset=iso-8859-1", b"submission_id=s12&message=caf%E9".to_vec(), "café", "transcoded"),
        (JSON, b"{\"submission_id\":\"s13\",\"message\":\"two\nlines\"}".to_vec(), "two\nlines", "control_character"),
    ];
    for (content_type, body, text, kind) in &kinds {
        let dossier = entered(&world, content_type, body).await;
        assert_eq!((message(&dossier), repairs(&dossier)[kind].as_u64().is_some()), (*text, true), "{kind}: {}", repairs(&dossier));
        assert_eq!(dossier.entries[0].facts.get("repairs"), Some(&repairs(&dossier)), "the journal has the count");
        assert_eq!(dossier.enquiry.flags.ambiguous, [], "a damaged message is no doubt about who asks");
    }
    world.work_for(HOUR).await;
    world.verify().await;
}

/// What is lost in reading must not make two into one: neither by the id nor by the content.
#[tokio::test]
async fn c035_i3_two_that_differ_only_in_what_could_not_be_read_are_two() {
    let world = world().await;
    let by_id = |byte: &[u8]| [b"{\"submission_id\":\"a", byte, b"\",\"email\":\"a@example.com\",\"message\":\"x\"}"].concat();
    let one = entered(&world, JSON, &by_id(b"\xE9")).await;
    assert_eq!(one.enquiry.flags.ambiguous[0].why, Doubt::Damaged);
    let other = send(&world, JSON, &by_id(b"\xE8")).await;
    assert_eq!(other["verdict"], "conflict", "never a silent suppression: {other}");
    let by_content = |half: &str| format!(r#"{{"email":"b@example.com","message":"{half}"}}"#);
    let one = entered(&world, JSON, by_content("\\ud83d").as_bytes()).await;
    let other = entered(&world, JSON, by_content("\\ud83e").as_bytes()).await;
    assert_ne!(one.enquiry.key, other.enquiry.key);
    // An address of which something was lost is nobody's for certain.
    let dossier = entered(&world, JSON, b"{\"submission_id\":\"d\",\"email\":\"av\xE9ry@example.com\",\"message\":\"y\"}").await;
    assert_eq!(dossier.enquiry.flags.ambiguous[0].field, "contact.email");
    world.work_for(HOUR).await;
    assert_eq!(world.deals().await.len(), 1, "only the first of the two by content goes on; the other repeats its fields");
}

/// The id, the address or the time stands twice and differently: one key that every copy gets, and a person looks first.
#[tokio::test]
async fn c035_what_stands_twice_and_differently_is_held_under_one_key() {
    let world = world().await;
    let kinds: [(&str, &str, &str, &str); 7] = [
        (JSON, r#"{"submission_id":"k1","submission_id":"k2","message":"a"}"#, "web:submission:k2", "submission"),
        (FORM, "submission_id=k3&submission_id=k4&message=b", "web:submission:k4", "submission"),
        (
            JSON,
            r#"{"submission_id":"k5","email":"a@example.com","email":"b@example.com","message":"c"}"#,
            "web:submission:k5",
            "contact.email",
        ),
        (FORM, "submission_id=k6&email=a%40example.com&email=b%40example.com&message=d", "web:submission:k6", "contact.email"),
        (
            JSON,
            r#"{"submission_id":"k7","at":"2026-03-02T09:15:04Z","at":"2026-03-02T09:15:05Z","message":"e"}"#,
            "web:submission:k7",
            "occurred_at",
        ),
        (JSON, r#"{"submission_id":1.0,"message":"f"}"#, "web:submission:1.0", "submission"),
        (JSON, r#"{"submission_id":6.084250982513018e18,"message":"g"}"#, "web:submission:6.084250982513018e18", "submission"),
    ];
    for (content_type, body, key, field) in kinds {
        let dossier = entered(&world, content_type, body.as_bytes()).await;
        assert_eq!((dossier.enquiry.key.to_string().as_str(), dossier.enquiry.flags.ambiguous[0].field.as_str()), (key, field), "{body}");
        world.work_for(HOUR).await;
        let review = world.dossier(key).await.reviews[0].clone();
        assert_eq!((review.kind, review.holds), (ReviewKind::Ambiguous, true), "{body}");
        assert!(review.why.contains(field) && !review.why.contains("example.com"), "{}", review.why);
        assert_eq!(world.deals().await.iter().filter(|deal| deal.key == key).count(), 0, "{body}");
        world.app.engine.decide(review.id.as_str(), &Decision::Approve, "anna").await.unwrap();
        world.work_for(HOUR).await;
        assert_eq!(world.deals().await.iter().filter(|deal| deal.key == key).count(), 1, "{body}");
    }
    let last = world.dossier("web:submission:k6").await.enquiry.fields.unwrap();
    assert_eq!(last.contact.email.as_deref(), Some("b@example.com"));
    // Twice and the same, or elsewhere than who and what it is: no doubt.
    for body in [
        r#"{"submission_id":"k8","submission_id":"k8","message":"h"}"#,
        r#"{"submission_id":"k9","x":1,"x":2,"message":"i"}"#,
        r#"{"submission_id":1234567890123456789,"message":"j"}"#,
    ] {
        assert_eq!(entered(&world, JSON, body.as_bytes()).await.enquiry.flags.ambiguous, [], "{body}");
    }
    world.verify().await;
}

#[tokio::test]
async fn c035_packed_bodies_are_read_and_a_bomb_is_parked() {
    let world = world().await;
    let gzipped = async |body: &[u8]| world.deliver("web", &[("content-type", JSON), ("content-encoding", "gzip")], body).await;
    let body = gzip(br#"{"submission_id":"z1","message":"packed"}"#);
    assert_eq!(gzipped(&body).await["verdict"], "accepted");
    assert_eq!(gzipped(&body).await["verdict"], "redelivery");
    assert_eq!(gzipped(br#"{"submission_id":"z1","message":"packed"}"#).await["verdict"], "redelivery", "unpacked on the way");
    let dossier = world.dossier("web:submission:z1").await;
    assert_eq!(dossier.deliveries[0].content_encoding.as_deref(), Some("gzip"));
    assert_eq!(repairs(&dossier), json!({}));
    // 64 MiB in 64 KiB: no more of it is unpacked than a body may have.
    let mut zeros = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let chunk = vec![b'0'; 1 << 20];
    for _ in 0..64 {
        zeros.write_all(&chunk).unwrap();
    }
    let bomb = zeros.finish().unwrap();
    let answer = gzipped(&bomb).await;
    assert_eq!(answer["reason"], "the body is compressed, and unpacked it is longer than 1048576 bytes");
    let delivery = answer["delivery"].as_str().unwrap();
    assert_eq!(world.app.store.delivery(delivery).await.unwrap().unwrap().body.unwrap().bytes, bomb);
    let again = world.app.intake.replay(delivery, "anna", false).await.unwrap().json();
    assert_eq!(again["reason"], answer["reason"], "a replay knows the encoding");
    world.verify().await;
}

/// Read again from the record: type and encoding are on it, so the same bytes are the same enquiry.
#[tokio::test]
async fn c035_what_is_read_again_is_read_the_same() {
    let unmapped =
        SOURCE.replace("/submission_id", "/elsewhere").replace("\"/message\", \"/text\"", "\"/nowhere\"").replace("\"/email\"", "\"/no\"");
    let unmapped = unmapped.replace("\"/name\"", "\"/nobody\"").replace("\"/phone\"", "\"/none\"");
    let world = World::with(&unmapped).await;
    let packed = gzip(br#"{"submission_id":"r1","message":"40 \ud83d"}"#);
    let sent = world.deliver("web", &[("content-type", JSON), ("content-encoding", "gzip")], &packed).await;
    assert_eq!(sent["verdict"], "quarantined", "{sent}");
    let form = multipart(&[(r#"name="submission_id""#, b"r2"), (r#"name="f"; filename="a.txt""#, b"hi")]);
    let file = world.deliver("web", &[("content-type", MULTIPART)], &form).await;
    assert_eq!(file["verdict"], "quarantined", "{file}");
    // The mapping is mended. The rule changes with it, and is accepted by its examples elsewhere: here a new book's rule.
    let mended = World::with(SOURCE).await;
    for (delivery, key, attachments) in [(&sent, "web:submission:r1", 0), (&file, "web:submission:r2", 1)] {
        let kept = world.app.store.delivery(delivery["delivery"].as_str().unwrap()).await.unwrap().unwrap();
        let record = &kept.items[0];
        let headers = [("content-type", record.content_type.clone()), ("content-encoding", record.content_encoding.clone())];
        let headers: Vec<(&str, &str)> = headers.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
        assert_eq!(mended.deliver("web", &headers, &kept.body.unwrap().bytes).await["key"], key);
        assert_eq!(mended.dossier(key).await.enquiry.fields.unwrap().attachments.len(), attachments);
    }
}

#[tokio::test]
async fn c035_no_depth_and_no_length_breaks_the_reader() {
    let world = world().await;
    let deep = |open: &str| open.repeat((1 << 20) / open.len());
    for (content_type, body) in [
        (JSON, deep("[")),
        (JSON, deep("{\"a\":")),
        (FORM, deep("[")),
        ("text/json", deep("{\"a\":[")),
        ("application/x-ndjson", deep("[\n")),
        (FORM, format!("a{}=1", "[b]".repeat(300_000))),
        (JSON, format!("{}{}", "[".repeat(500_000), "]".repeat(500_000))),
    ] {
        let why = quarantined(&world, content_type, body.as_bytes()).await;
        assert!(why.len() < 200, "{why}");
    }
    // Plain text may be anything.
    let answer = send(&world, "text/plain", deep("[").as_bytes()).await;
    assert_eq!(answer["verdict"], "accepted");
    let lines = "{\"submission_id\":\"x\"}\n".repeat(1001);
    assert_eq!(quarantined(&world, "application/x-ndjson", lines.as_bytes()).await, "the batch has 1001 items, and at most 1000 are read");
}

#[tokio::test]
async fn c014_a_bad_line_does_not_spoil_the_others() {
    let body = b"{\"submission_id\":\"l1\",\"message\":\"a\"}\n{\"submission_id\":\"l2\",\"message\":\"b\\ud83d\"}\n\n{\"submission_id\":\r\n\xFF\n[1]\n        {\"submission_id\":\"l\xE9\",\"message\":\"c\"}\n{\"submission_id\":\"l\xE8\",\"message\":\"c\"}";
    for content_type in ["application/x-ndjson", "application/jsonl", JSON, "text/plain"] {
        let world = world().await;
        for known in ["accepted", "redelivery"] {
            let answer = send(&world, content_type, body).await;
            let of = |member: &str| -> Vec<String> {
                answer["items"].as_array().unwrap().iter().map(|item| item[member].as_str().unwrap_or_default().to_owned()).collect()
            };
            let last = if known == "accepted" { "conflict" } else { known };
            assert_eq!(of("verdict"), [known, known, "quarantined", "quarantined", "quarantined", known, last], "{content_type}");
            let reasons = of("reason");
            assert!(reasons[2].starts_with("the line is not JSON") && reasons[4] == "the item is no object", "{reasons:?}");
        }
        assert_eq!(message(&world.dossier("web:submission:l2").await), "b\u{FFFD}");
        assert_eq!(repairs(&world.dossier("web:submission:l1").await)["lone_surrogate"], 1);
        world.verify().await;
    }
}

#[tokio::test]
async fn plain_text_and_wrongly_called_bodies_are_read_as_what_they_are() {
    let world = world().await;
    let dossier = entered(&world, "text/plain", "Hello,\nwe need 40 chairs.".as_bytes()).await;
    assert_eq!((message(&dossier), dossier.enquiry.flags.weak_key), ("Hello,\nwe need 40 chairs.", true));
    for (n, content_type) in ["text/plain", "text/html", FORM, "application/octet-stream", "application/xml"].iter().enumerate() {
        let dossier = entered(&world, content_type, format!(r#"{{"submission_id":"w{n}","message":"{n}"}}"#).as_bytes()).await;
        assert_eq!(repairs(&dossier)["declared_type"], 1, "{content_type}");
    }
    let dossier = entered(&world, JSON, b"submission_id=w9&message=40+chairs").await;
    assert_eq!((message(&dossier), &repairs(&dossier)["declared_type"]), ("40 chairs", &json!(1)));
    assert!(quarantined(&world, "application/xml", b"<lead><id>1</id></lead>").await.contains("application/xml"));
}

/// Mail is read later: here it is kept whole and can be read again, and nothing of it breaks anything.
#[tokio::test]
async fn c040_mail_with_broken_parts_is_kept_whole_and_replayable() {
    let world = world().await;
    for file in ["16_broken_rfc822_part", "19_nul_bytes_in_base64_text", "06_missing_charset", "10_attachment_names"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/payloads/email-rfc5322/{file}.eml"));
        let mail = std::fs::read(path).unwrap();
        for cut in [mail.len(), mail.len() / 2, 40] {
            let why = quarantined(&world, "message/rfc822", &mail[..cut]).await;
            assert_eq!(why, "bodies of type message/rfc822 are not read yet: kept for later");
        }
    }
    let raw_header = b"From: Avery Sample <avery@example.com>\r\nSubject: caf\xE9 \xFF\0\r\n\r\nhello";
    quarantined(&world, "message/rfc822", raw_header).await;
}

#[tokio::test]
async fn c042_a_phone_stays_as_it_was_written_and_identifies_no_event() {
    let world = world().await;
    let phones: [(&str, &str); 7] = [
        ("15550000000", "15550000000"),
        ("4930901820123456789", "4930901820123456789"),
        (r#""0049 (0)30 901820""#, "0049 (0)30 901820"),
        (r#""551133334444""#, "551133334444"),
        (r#""5541988887777""#, "5541988887777"),
        (r#"" +49 30 1\u00a0""#, "+49 30 1"),
        (r#"["+49 30 1","+49 30 1"]"#, "+49 30 1"),
    ];
    for (n, (sent, kept)) in phones.iter().enumerate() {
        let body = format!(r#"{{"submission_id":"p{n}","phone":{sent},"message":"call {n}"}}"#);
        let dossier = entered(&world, JSON, body.as_bytes()).await;
        assert_eq!(dossier.enquiry.fields.unwrap().contact.phone.as_deref(), Some(*kept));
    }
    // One phone in three spellings, and one spelling twice: each its own event.
    for (id, phone) in [("q1", "+5511988887777"), ("q2", "551188887777"), ("q3", "(11) 98888-7777"), ("q4", "+5511988887777")] {
        entered(&world, FORM, format!("submission_id={id}&phone={}&message={id}", phone.replace('+', "%2B")).as_bytes()).await;
    }
    // A number that lost its digits on the way is nobody's for certain.
    let dossier = entered(&world, JSON, br#"{"submission_id":"p9","phone":1.555e10,"message":"x"}"#).await;
    assert_eq!(
        (dossier.enquiry.flags.ambiguous[0].field.as_str(), dossier.enquiry.flags.ambiguous[0].why),
        ("contact.phone", Doubt::Inexact)
    );
    world.work_for(HOUR).await;
    assert_eq!(world.deals().await.len(), phones.len() + 4);
}
