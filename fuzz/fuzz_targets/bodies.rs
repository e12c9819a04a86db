//! Any bytes under any declaration, through the readers, the identity rule and the mapping of a source.
//!
//! Nothing panics; the same bytes read the same twice, keys and all; what comes out is bounded.
#![no_main]

use domain::digest::BookSecret;
use domain::identity::{ContactPlaces, Place, Rule, TimeRule};
use domain::time::{SeededEntropy, UtcMs};
use domain::tree::Pointer;
use libfuzzer_sys::fuzz_target;
use server::intake::{Auth, Raw, SourceSetup, arrive};
use store::{Arrival, Item};

const TYPES: [Option<&str>; 16] = [
    None,
    Some("application/json"),
    Some("application/json; charset=utf-16le"),
    Some("application/x-ndjson"),
    Some("application/x-www-form-urlencoded"),
    Some("application/x-www-form-urlencoded; charset=iso-8859-1"),
    Some("multipart/form-data; boundary=X"),
    Some("multipart/form-data; boundary=\"a b\""),
    Some("multipart/form-data"),
    Some("text/plain"),
    Some("text/plain; charset=shift_jis"),
    Some("text/html"),
    Some("application/octet-stream"),
    Some("application/vnd.api+json"),
    Some("message/rfc822"),
    Some("; boundary=\"\\"),
];
const ENCODINGS: [Option<&str>; 4] = [None, Some("gzip"), Some("deflate"), Some("gzip, deflate")];
const BODY_MAX: usize = 64 * 1024;

fn place(text: &str) -> Place {
    Place::parse(text).expect("a place")
}

fn setup(with_items: bool) -> SourceSetup {
    let map = [
        ("contact.email", "/email"),
        ("contact.name", "/name"),
        ("contact.phone", "/phone"),
        ("message", "/message"),
        ("occurred_at", "/at"),
        ("attachments", "/files"),
        ("text", "/text"),
    ];
    let contact = ContactPlaces { email: Some(place("/email")), ..ContactPlaces::default() };
    SourceSetup {
        id: "s".to_owned(),
        client: None,
        auth: Auth::None,
        rule: Rule {
            submission: vec![place("/id")],
            time: Some(TimeRule { at: place("/at"), with: vec![place("/form")] }),
            timezone: Some("Europe/Berlin".to_owned()),
            volatile: vec![Pointer::parse("/sent").expect("a pointer")],
            address: Some(Pointer::parse("/email").expect("a pointer")),
            contact: Some(contact),
            embedded: vec![Pointer::parse("/raw").expect("a pointer"), Pointer::parse("/raw/deep").expect("a pointer")],
        },
        earlier: vec![Rule::default()],
        channel: "form".to_owned(),
        map: map.into_iter().map(|(field, at)| (field.to_owned(), vec![place(at)])).collect(),
        items: with_items.then(|| Pointer::parse("/*").expect("a pointer")),
        test: Some(place("/is_test")),
        request_id: None,
        attempt: None,
        content_window_ms: 600_000,
        look_alike_window_ms: 600_000,
        hold_look_alikes: true,
        body_max: BODY_MAX,
    }
}

/// What an arrival says, without what is drawn by chance.
fn said(arrival: &Arrival) -> Vec<String> {
    let item = |item: &Item| match item {
        Item::Aside { verdict, reason } => {
            assert!(reason.len() < 400, "a reason is a sentence");
            format!("{verdict:?} {reason}")
        }
        Item::Enquiry(proposal) => {
            let mut fields = proposal.fields.clone();
            for attachment in &mut fields.attachments {
                assert!(attachment.name.as_ref().is_none_or(|name| (1..=120).contains(&name.chars().count())));
                attachment.blob = None;
            }
            assert!(fields.attachments.len() <= 50);
            let said = format!("{:?} {:?} {fields:?}", proposal.candidate, proposal.ambiguous);
            assert!(said.len() < 64 * 8 * BODY_MAX, "what is read is bounded by what was sent");
            said
        }
    };
    assert!((1..=1000).contains(&arrival.items.len()));
    arrival.items.iter().map(item).chain([format!("{:?}", arrival.delivery.repairs)]).collect()
}

fuzz_target!(|data: &[u8]| {
    let [choice, packing, body @ ..] = data else { return };
    let content_type = TYPES[usize::from(*choice) % TYPES.len()].map(|value| ("content-type", value));
    let encoding = ENCODINGS[usize::from(*packing) % ENCODINGS.len()].map(|value| ("content-encoding", value));
    let headers = content_type.into_iter().chain(encoding).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let raw = Raw { headers, body: bytes::Bytes::copy_from_slice(body), remote: None };
    let source = setup(packing & 0x80 != 0);
    let secret = BookSecret::new([7; 32]);
    let read = |seed| arrive::arrival(&source, &raw, UtcMs(1_772_442_904_000), &secret, &SeededEntropy::new(seed));
    assert_eq!(said(&read(1)), said(&read(2)), "the same bytes are read the same");
});
