//! What had to be mended is told apart by its place, and what was mended in an address sends nothing.

mod world;

use domain::identity::Doubt;
use serde_json::Value;
use world::sent::{FORM, JSON};
use world::{HOUR, World};

const SOURCE: &str = r#"
[[source]]
name = "web"
auth = { scheme = "none" }
identity = { submission = "/id" }
map = { "contact.email" = "/email", "contact.name" = "/name", "contact.phone" = "/phone", message = ["/message", "/x", "/y"], occurred_at = "/at" }
[[source]]
name = "head"
auth = { scheme = "none" }
identity = { submission = "header:x-id" }
map = { message = "/message" }
[[source]]
name = "raw"
auth = { scheme = "none" }
identity = { submission = "/raw/id" }
embedded = ["/raw"]
map = { message = "/raw/m" }
[[source]]
name = "batch"
auth = { scheme = "none" }
identity = { submission = "/id" }
items = "/entries/*"
map = { message = "/message" }
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

#[tokio::test]
async fn i3_an_id_of_a_header_in_letters_beyond_ascii_is_held() {
    let world = world().await;
    for (n, (id, is_held)) in [("zz\u{e9}", true), ("zz\u{ea}", true), ("zz1", false), ("zzж", false)].into_iter().enumerate() {
        let body = format!(r#"{{"message":"m{n}"}}"#);
        let answer = world.deliver("head", &[("content-type", JSON), ("x-id", id)], body.as_bytes()).await;
        assert!(answer["verdict"] == "accepted" || answer["verdict"] == "look_alike", "{answer}");
        let dossier = world.dossier(answer["key"].as_str().unwrap()).await;
        assert_eq!(!dossier.enquiry.flags.ambiguous.is_empty(), is_held, "{id}");
    }
    world.work_for(HOUR).await;
    assert_eq!(world.deals().await.len(), 2, "the others wait for a person");
}

#[tokio::test]
async fn an_address_that_was_altered_or_is_two_sends_nothing() {
    let world = world().await;
    for (n, (email, why, reads)) in [
        (r"nul\u0000@ex.com", Doubt::Damaged, "nul\u{FFFD}@ex.com"),
        (r"a\u0001b@ex.com", Doubt::Damaged, "ab@ex.com"),
        (r"a\u200bb@ex.com", Doubt::Damaged, "a\u{200b}b@ex.com"),
        (r"a@ex.com\r\nBcc: victim@ex.com", Doubt::Damaged, "a@ex.combcc: victim@ex.com"),
        (r"Avery <avery@ex.com> <evil@ex.com>", Doubt::Repeated, "evil@ex.com"),
        (r"avery@ex.com, evil@ex.com", Doubt::Repeated, "avery@ex.com, evil@ex.com"),
        (r"\u0022avery@ex.com\u0022 <evil@ex.com>", Doubt::Repeated, "evil@ex.com"),
    ]
    .into_iter()
    .enumerate()
    {
        let body = format!(r#"{{"id":"e{n}","email":"{email}","message":"{n}"}}"#);
        let dossier = world.entered("web", JSON, body.as_bytes()).await;
        let doubt = dossier.enquiry.flags.ambiguous.first().unwrap();
        assert_eq!((doubt.field.as_str(), doubt.why), ("contact.email", why), "{email}");
        let fields = dossier.enquiry.fields.unwrap();
        assert_eq!(fields.contact.email.as_deref(), Some(reads));
        let sent: Value = serde_json::from_str(&body).unwrap();
        let original = fields.original.get("contact.email").map_or(reads, String::as_str);
        assert_eq!(Some(original), sent["email"].as_str(), "what was sent stands beside it");
    }
    for (n, email) in [" Avery <avery@ex.com>\\r\\n", "avery@ex.com <Avery@ex.com>", "avery@ex.com\\n"].iter().enumerate() {
        let body = format!(r#"{{"id":"f{n}","email":"{email}","message":"fine {n}"}}"#);
        let dossier = world.entered("web", JSON, body.as_bytes()).await;
        assert_eq!(dossier.enquiry.flags.ambiguous, [], "{email}");
        assert_eq!(dossier.enquiry.fields.unwrap().contact.email.as_deref(), Some("avery@ex.com"));
    }
    world.work_for(HOUR).await;
    assert!(world.deals().await.iter().all(|deal| deal.key.starts_with("web:submission:f")));
}

#[tokio::test]
async fn a_field_of_one_line_is_one_line_and_a_message_keeps_its_lines() {
    let world = world().await;
    let body = br#"{"id":"l1","name":"Avery\r\nLee","phone":"+49\t30\n1","at":"2026-03-02\t09:15:04Z","message":"a\n\tb\u0007"}"#;
    let dossier = world.entered("web", JSON, body).await;
    let fields = dossier.enquiry.fields.unwrap();
    assert_eq!((fields.contact.name.as_deref(), fields.contact.phone.as_deref()), (Some("Avery Lee"), Some("+49 30 1")));
    assert_eq!((fields.occurred_at.as_deref(), fields.message.as_deref()), (Some("2026-03-02 09:15:04Z"), Some("a\n\tb")));
    assert_eq!(fields.original["contact.phone"], "+49\t30\n1");
}

/// Pairs that read alike and are two: what could not be read stood in another place.
fn swapped() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let json = |text: &str| text.as_bytes().to_vec();
    let part = |name: &[u8], value: &[u8]| {
        [b"--XX\r\nContent-Disposition: form-data; name=\"".as_slice(), name, b"\"\r\n\r\n", value, b"\r\n"].concat()
    };
    let parts = |x: &[u8], y: &[u8]| [part(b"id", b"s"), part(b"x", x), part(b"y", y), b"--XX--\r\n".to_vec()].concat();
    let seen = "\u{FFFD}".as_bytes();
    let utf_16 = |x: u16, y: u16| {
        let text: Vec<u16> = r#"{"id":"s","x":""#.encode_utf16().chain([x]).chain(r#"","y":""#.encode_utf16()).chain([y]).chain("\"}".encode_utf16()).collect();
        text.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<u8>>()
    };
    vec![
        (JSON, json(r#"{"id":"s","x":"\ud800","y":"\ufffd"}"#), json(r#"{"id":"s","x":"\ufffd","y":"\ud800"}"#)),
        (JSON, json(r#"{"id":"s","x":"\ud800","y":"\ufffd"}"#), json(r#"{"id":"s","y":"\ud800","x":"\ufffd"}"#)),
        (JSON, json(r#"{"id":"s","x":"\ud800 \ufffd"}"#), json(r#"{"id":"s","x":"\ufffd \ud800"}"#)),
        (JSON, b"{\"id\":\"s\",\"x\":\"\xFF \xEF\xBF\xBD\"}".to_vec(), b"{\"id\":\"s\",\"x\":\"\xEF\xBF\xBD \xFF\"}".to_vec()),
        (JSON, json(r#"{"id":"s","x":1,"\ud800":1,"\ufffd":2}"#), json(r#"{"id":"s","x":1,"\ufffd":1,"\ud800":2}"#)),
        (JSON, utf_16(0xD800, 0xFFFD), utf_16(0xFFFD, 0xD800)),
        (FORM, json("id=s&x=%ff&y=%EF%BF%BD"), json("id=s&x=%EF%BF%BD&y=%ff")),
        (FORM, b"id=s&x=\xFF&y=%EF%BF%BD".to_vec(), b"id=s&x=%EF%BF%BD&y=\xFF".to_vec()),
        (FORM, json("id=s&x=1&%ff=1&%EF%BF%BD=2"), json("id=s&x=1&%EF%BF%BD=1&%ff=2")),
        ("multipart/form-data; boundary=XX", parts(b"\xFF", seen), parts(seen, b"\xFF")),
        ("text/plain", b"a \xFF \xEF\xBF\xBD".to_vec(), b"a \xEF\xBF\xBD \xFF".to_vec()),
    ]
}

#[tokio::test]
async fn i4_what_could_not_be_read_counts_with_its_place() {
    for (kind, one, other) in swapped() {
        let world = world().await;
        let shown = String::from_utf8_lossy(&one).into_owned();
        if kind != "text/plain" {
            assert_eq!(world.send("web", kind, &one).await["verdict"], "accepted", "{shown}");
            assert_eq!(world.send("web", kind, &one).await["verdict"], "redelivery", "{shown}");
            assert_eq!(world.send("web", kind, &other).await["verdict"], "conflict", "{shown}");
        }
        // The same without an id: by content they are two.
        let world =
            World::with(&SOURCE.replace("submission = \"/id\"", "submission = \"/none\"").replace("\"/x\"", "\"/x\", \"/text\"")).await;
        let one = world.entered("web", kind, &one).await;
        let other = world.entered("web", kind, &other).await;
        assert_ne!(one.enquiry.key, other.enquiry.key, "{shown}");
    }
}

#[tokio::test]
async fn i4_the_same_inside_of_embedded_text_and_in_lines() {
    let world = world().await;
    let raw = |inner: &str| serde_json::json!({ "raw": inner }).to_string();
    let one = raw(r#"{"id":"r1","m":"\ud800","y":"\ufffd"}"#);
    let dossier = world.entered("raw", JSON, one.as_bytes()).await;
    assert_eq!(dossier.deliveries[0].repairs.get("lone_surrogate"), Some(&1), "what was mended inside is counted");
    let other = raw(r#"{"id":"r1","y":"\ud800","m":"\ufffd"}"#);
    assert_eq!(world.send("raw", JSON, other.as_bytes()).await["verdict"], "conflict");
    let lines = |x: &str, y: &str| format!("{{\"id\":\"n1\",\"x\":\"{x}\",\"y\":\"{y}\"}}\n");
    let kind = "application/x-ndjson";
    world.entered("web", kind, lines("\\ud800", "\\ufffd").as_bytes()).await;
    assert_eq!(world.send("web", kind, lines("\\ufffd", "\\ud800").as_bytes()).await["verdict"], "conflict");
}

#[tokio::test]
async fn embedded_text_that_cannot_be_read_is_named() {
    let world = world().await;
    let deep = format!(r#"{{"id":{}{}}}"#, "[".repeat(300), "]".repeat(300));
    for inner in ["{broken canary", deep.as_str(), "canary"] {
        let answer = world.send("raw", JSON, serde_json::json!({ "raw": inner }).to_string().as_bytes()).await;
        assert_eq!(answer["verdict"], "quarantined");
        let reason = answer["reason"].as_str().unwrap();
        assert!(reason.contains("/raw") && reason.contains("could not be read") && !reason.contains("canary"), "{reason}");
    }
}

#[tokio::test]
async fn of_a_repeated_member_above_a_batchs_items_all_are_split() {
    let world = world().await;
    let body = br#"{"entries":[{"id":"i81","message":"a"}],"entries":[{"id":"i91","message":"b"},{"id":"i92","message":"c"}]}"#;
    world.send("batch", JSON, body).await;
    for id in ["i81", "i91", "i92"] {
        assert_eq!(world.dossier(&format!("batch:submission:{id}")).await.enquiry.key.to_string(), format!("batch:submission:{id}"));
    }
}

#[tokio::test]
async fn a_wrong_content_encoding_on_a_plain_body_is_passed_over() {
    let world = world().await;
    let encoded =
        async |encoding: &str, body: &[u8]| world.deliver("web", &[("content-type", JSON), ("content-encoding", encoding)], body).await;
    for (n, encoding) in ["utf-8", "br", "gzip, br", "gzip", "a, b, c, d", "canary"].iter().enumerate() {
        let answer = encoded(encoding, format!(r#"{{"id":"c{n}","message":"m{n}"}}"#).as_bytes()).await;
        assert_eq!(answer["verdict"], "accepted", "{encoding}: {answer}");
        assert!(world.dossier(&format!("web:submission:c{n}")).await.deliveries[0].repairs["declared_encoding"] >= 1);
    }
    for (encoding, named) in [("br", "br"), ("canarymail", "something unknown")] {
        let answer = encoded(encoding, b"\x8b\x05\x80\xff\x00\x01\x03").await;
        assert_eq!(answer["reason"], format!("the body is compressed with {named}, which is not read: kept for later"));
    }
}

#[tokio::test]
async fn i12_a_reason_says_nothing_of_a_headers_own_words() {
    let world = world().await;
    for kind in ["application/canarymail@ex.com", "text/canary; charset=canary", "canary", "multipart/canary"] {
        for body in [b"no form".as_slice(), b"<a/>", b"{", b"\x00\xff"] {
            let answer = world.send("web", kind, body).await;
            assert_eq!(answer["verdict"], "quarantined", "{kind}");
            assert!(!answer["reason"].as_str().unwrap().contains("canary"), "{answer}");
        }
    }
    assert!(world.send("web", "application/xml", b"<a/>").await["reason"].as_str().unwrap().contains("application/xml"));
}

#[tokio::test]
async fn parts_of_a_form_are_decoded_and_a_long_boundary_is_one() {
    let world = world().await;
    let boundary = "b".repeat(250);
    let kind = format!("multipart/form-data; boundary={boundary}");
    let part = |header: &str, content: &[u8]| {
        [format!("--{boundary}\r\nContent-Disposition: form-data; {header}\r\n\r\n").as_bytes(), content, b"\r\n"].concat()
    };
    let wide: Vec<u8> = "\u{FEFF}Zoë".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut body = part("name=\"id\"; name=\"other\"", b"p1");
    body.extend(part("name=\"name\"\r\nContent-Type: text/plain; charset=utf-16", &wide));
    body.extend(part("name=\"message\"\r\nContent-Transfer-Encoding: base64", b"NDAgY2hh\r\naXJz"));
    body.extend(part("name=\"phone\"\r\nContent-Transfer-Encoding: Quoted-Printable", b"=2B49 =\r\n30"));
    body.extend(part("name=\"x\"\r\nContent-Transfer-Encoding: base64", b"no base64!"));
    body.extend(format!("--{boundary}--\r\n").bytes());
    let dossier = world.entered("web", &kind, &body).await;
    let fields = dossier.enquiry.fields.unwrap();
    assert_eq!((fields.contact.name.as_deref(), fields.contact.phone.as_deref()), (Some("Zoë"), Some("+49 30")));
    assert_eq!(fields.message.as_deref(), Some("40 chairs\nno base64!"));
    let repairs = &dossier.deliveries[0].repairs;
    for (kind, count) in [("byte_order_mark", 1), ("transcoded", 1), ("part_encoding", 2), ("repeated_name", 1)] {
        assert_eq!(repairs.get(kind), Some(&count), "{kind}");
    }
    let longer = format!("multipart/form-data; boundary={}", "b".repeat(301));
    let reason = world.send("web", &longer, b"no form").await["reason"].clone();
    assert!(reason.as_str().unwrap().contains("longer than 300 bytes"), "{reason}");
}

#[tokio::test]
async fn utf_16_with_a_stray_last_byte_is_read() {
    let world = world().await;
    let wide: Vec<u8> = "\u{FEFF}{\"id\":\"w1\",\"message\":\"m\"}".encode_utf16().flat_map(u16::to_be_bytes).chain([b'\n']).collect();
    let dossier = world.entered("web", JSON, &wide).await;
    assert_eq!(dossier.deliveries[0].repairs.get("undecodable"), Some(&1));
}
