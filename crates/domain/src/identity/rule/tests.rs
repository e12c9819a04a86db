use proptest::prelude::*;

use super::super::place::PlaceError;
use super::*;

const HEX: usize = 32;

fn place(text: &str) -> Place {
    Place::parse(text).unwrap()
}

fn by_submission(places: &[&str]) -> Rule {
    Rule { submission: places.iter().map(|text| place(text)).collect(), ..Rule::default() }
}

fn by_time(at: &str, with: &[&str], timezone: Option<&str>) -> Rule {
    let time = TimeRule { at: place(at), with: with.iter().map(|text| place(text)).collect() };
    Rule { time: Some(time), timezone: timezone.map(str::to_owned), ..Rule::default() }
}

fn avery() -> Fields {
    let mut fields = Fields::default();
    fields.set("contact.email", "avery@example.com");
    fields
}

fn secret() -> BookSecret {
    BookSecret::new([7; 32])
}

fn read_with(rule: &Rule, body: &str, headers: &[(&str, &str)], fields: &Fields) -> Result<Identity, Unidentified> {
    let headers: Vec<_> = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    rule.read("web", &Tree::from_json(body).unwrap(), &headers, fields, &secret())
}

fn read(rule: &Rule, body: &str) -> Identity {
    read_with(rule, body, &[], &avery()).unwrap()
}

#[test]
fn a_place_is_a_pointer_or_a_header_and_reads_back() {
    for (text, written) in [("/id", "/id"), ("/a~1b/0", "/a~1b/0"), ("header:X-Event-Id", "header:x-event-id")] {
        assert_eq!(place(text).to_string(), written);
        let json = serde_json::to_string(&place(text)).unwrap();
        assert_eq!(json, format!("\"{written}\""));
        assert_eq!(serde_json::from_str::<Place>(&json).unwrap(), place(text));
    }
    for wrong in ["", "id", "header:", "header: x-id", "header:x id", "Header:x"] {
        assert_eq!(Place::parse(wrong), Err(PlaceError(wrong.to_owned())));
    }
}

#[test]
fn a_rule_reads_back_as_the_book_kept_it() {
    let mut rule = by_time("/at", &["/form", "header:x-form"], Some("Europe/Berlin"));
    rule.submission = vec![place("/id")];
    rule.volatile = vec![Pointer::parse("/sent_at").unwrap()];
    let json = serde_json::to_string(&rule).unwrap();
    assert_eq!(serde_json::from_str::<Rule>(&json).unwrap(), rule);
}

#[test]
fn an_id_is_a_leafs_text_as_it_was_sent() {
    for (body, id) in [
        (r#"{"id":"lead_77"}"#, "lead_77"),
        (r#"{"id":77}"#, "77"),
        (r#"{"id":"77"}"#, "77"),
        (r#"{"id":"01"}"#, "01"),
        (r#"{"id":0}"#, "0"),
        (r#"{"id":1.10}"#, "1.10"),
        (r#"{"id":" 77 "}"#, " 77 "),
        (r#"{"id":6084250982513018472}"#, "6084250982513018472"),
        (r#"{"id":12345678901234567890123}"#, "12345678901234567890123"),
        (r#"{"id":"e\u0301"}"#, "\u{e9}"),
    ] {
        let identity = read(&by_submission(&["/id"]), body);
        assert_eq!((identity.key.basis, identity.key.value, identity.key.variant), (Basis::Submission, vec![id.to_owned()], 1), "{body}");
    }
    assert_eq!(read(&by_submission(&["/id"]), r#"{"id":"lead_77"}"#).key.to_string(), "web:submission:lead_77");
}

#[test]
fn what_says_nothing_is_no_id_and_never_a_shared_value() {
    let nothing = ["{}", r#"{"id":null}"#, r#"{"id":""}"#, r#"{"id":" \t\n"}"#, r#"{"id":"\u00a0"}"#, r#"{"id":"\u0000"}"#];
    let other = [r#"{"id":true}"#, r#"{"id":false}"#, r#"{"id":[]}"#, r#"{"id":["77"]}"#, r#"{"id":{"id":"77"}}"#, "[]", "7"];
    for body in nothing.into_iter().chain(other) {
        let identity = read(&by_submission(&["/id"]), body);
        assert_eq!(identity.key.basis, Basis::Content, "{body}");
        assert_eq!(identity.key.value, [&identity.content.to_string()[..HEX]], "{body}");
    }
}

#[test]
fn every_place_of_a_submission_must_hold_an_id() {
    let rule = by_submission(&["/form", "/id"]);
    assert_eq!(read(&rule, r#"{"form":"f","id":7}"#).key.value, ["f", "7"]);
    assert_eq!(read(&rule, r#"{"form":"f"}"#).key.basis, Basis::Content);
    assert_eq!(read(&rule, r#"{"form":"","id":7}"#).key.basis, Basis::Content);
    assert_eq!(read(&by_submission(&[]), r#"{"id":7}"#).key.basis, Basis::Content);
    let (ab_c, a_bc) = (read(&rule, r#"{"form":"a:b","id":"c"}"#), read(&rule, r#"{"form":"a","id":"b:c"}"#));
    assert_ne!(ab_c.key.base_digest(), a_bc.key.base_digest());
}

#[test]
fn a_header_with_two_values_is_no_id() {
    let rule = by_submission(&["header:X-Event-Id"]);
    for (headers, id) in [
        (vec![("x-event-id", "7")], Some("7")),
        (vec![("x-event-id", "7"), ("x-event-id", "7")], Some("7")),
        (vec![("x-event-id", "7"), ("x-event-id", "8")], None),
        (vec![("x-event-id", ""), ("x-event-id", "8")], None),
        (vec![("x-event-id", " ")], None),
        (vec![("x-other", "7")], None),
    ] {
        let key = read_with(&rule, r#"{"a":1}"#, &headers, &avery()).unwrap().key;
        assert_eq!((key.basis == Basis::Submission).then(|| key.value[0].as_str()), id, "{headers:?}");
    }
}

#[test]
fn i3_neither_the_contact_nor_the_content_is_part_of_a_submission_key() {
    let rule = by_submission(&["/id"]);
    let one = read(&rule, r#"{"id":1,"m":"a"}"#);
    let revised = read_with(&rule, r#"{"id":1,"m":"b"}"#, &[], &Fields::default()).unwrap();
    assert_eq!(one.key, revised.key);
    assert_ne!(one.content, revised.content);
    assert_ne!(one.key, read(&rule, r#"{"id":2,"m":"a"}"#).key);
}

#[test]
fn c003_c010_a_new_delivery_id_or_subscription_leaves_the_key() {
    let rule = by_submission(&["/form_response/token"]);
    let first = read_with(&rule, r#"{"event_id":"e1","form_response":{"token":"t"}}"#, &[("x-webhook-id", "a")], &avery()).unwrap();
    let again = read_with(&rule, r#"{"event_id":"e2","form_response":{"token":"t"}}"#, &[("x-webhook-id", "b")], &avery()).unwrap();
    assert_eq!(first.key, again.key);
}

#[test]
fn c037_neighbouring_big_ids_are_two_enquiries() {
    let rule = by_submission(&["/id"]);
    let (one, next) = (read(&rule, r#"{"id":7234567890123456789}"#), read(&rule, r#"{"id":7234567890123456788}"#));
    assert_ne!(one.key, next.key);
}

#[test]
fn a_time_key_is_the_instant_the_contact_and_what_narrows_it() {
    let rule = by_time("/at", &["/form", "/none"], None);
    let identity = read(&rule, r#"{"at":"2026-03-02T10:15:04.000+01:00","form":12}"#);
    let [instant, contact, form, none] = identity.key.value.as_slice() else { panic!("four parts: {:?}", identity.key) };
    assert_eq!((instant.as_str(), form.as_str(), none.as_str()), ("2026-03-02T09:15:04Z", "12", ""));
    assert_eq!(contact.len(), HEX);
    assert!(!identity.ambiguous_time);
    assert!(!identity.key.to_string().contains("avery"));

    let nobody = read_with(&rule, r#"{"at":1772442904}"#, &[], &Fields::default()).unwrap();
    assert_eq!(nobody.key.value, ["2026-03-02T09:15:04Z", "-", "", ""]);
}

#[test]
fn the_contact_of_a_time_key_is_told_apart_by_field_and_value() {
    let rule = by_time("header:Date", &[], None);
    let key = |field: &str, value: &str| {
        let mut fields = Fields::default();
        fields.set(field, value);
        read_with(&rule, "{}", &[("date", "Mon, 2 Mar 2026 10:15:04 +0100 (CET)")], &fields).unwrap().key
    };
    assert_eq!(key("contact.email", "avery@example.com"), key("contact.email", " Avery@Example.com"));
    assert_ne!(key("contact.email", "avery@example.com"), key("contact.email", "blake@example.com"));
    assert_ne!(key("contact.phone", "77"), key("contact.name", "77"));
    assert_ne!(key("contact.name", "Avery"), key("message", "Avery"));
}

fn by_time_and(places: &[(&str, &str)]) -> Rule {
    let mut contact = ContactPlaces::default();
    for (field, at) in places {
        let slot = match *field {
            "email" => &mut contact.email,
            "phone" => &mut contact.phone,
            _ => &mut contact.name,
        };
        *slot = Some(place(at));
    }
    Rule { contact: Some(contact), ..by_time("/at", &[], None) }
}

#[test]
fn i8_the_handle_is_read_from_the_rules_own_places_whatever_the_mapping_finds() {
    let body = r#"{"at":"2026-03-02T09:15:04Z","email":" Avery@Example.com","tel":"77","who":["Avery","B"]}"#;
    let rule = by_time_and(&[("email", "/email"), ("phone", "/tel"), ("name", "/who")]);
    let mut blake = Fields::default();
    blake.set("contact.email", "blake@example.com");
    let [avery, other, none] = [avery(), blake, Fields::default()].map(|fields| read_with(&rule, body, &[], &fields).unwrap().key);
    assert_eq!((&avery, &avery), (&other, &none));
    // A version from before the places were recorded gives the key that it gave.
    assert_eq!(avery, read(&by_time("/at", &[], None), body).key);
    let by_name = by_time_and(&[("email", "/none"), ("name", "/who")]);
    let mut named = Fields::default();
    named.set("contact.name", "Avery, B");
    assert_eq!(read_with(&by_name, body, &[], &Fields::default()), read_with(&by_time("/at", &[], None), body, &[], &named));
    let nobody = read(&by_time_and(&[]), body).key;
    assert_eq!(nobody.value[1], "-");
}

#[test]
fn i8_a_version_without_places_of_the_contact_is_still_read() {
    let kept = r#"{"submission":[],"time":{"at":"/at","with":[]},"timezone":null,"volatile":[],"address":"/email"}"#;
    let rule: Rule = serde_json::from_str(kept).unwrap();
    assert_eq!(rule, Rule { address: Some(Pointer::parse("/email").unwrap()), ..by_time("/at", &[], None) });
    assert_eq!(serde_json::to_string(&rule).unwrap(), kept);
    let with_places = by_time_and(&[("email", "/email"), ("name", "header:x-name")]);
    assert_ne!(with_places, rule);
    assert_eq!(serde_json::from_str::<Rule>(&serde_json::to_string(&with_places).unwrap()).unwrap(), with_places);
    let places: Vec<String> = with_places.places().map(ToString::to_string).collect();
    assert_eq!(places, ["/at", "/email", "header:x-name"]);
}

#[test]
fn c043_two_renderings_of_one_mails_time_are_one_event() {
    let rule = by_time("/date", &["/subject"], None);
    let cet = read(&rule, r#"{"date":"Mon, 2 Mar 2026 10:15:04 +0100 (CET)","subject":"Offer"}"#);
    let cdt = read(&rule, r#"{"date":"Mon, 2 Mar 2026 04:15:04 -0500 (CDT)","subject":"Offer"}"#);
    let other = read(&rule, r#"{"date":"Mon, 2 Mar 2026 10:15:05 +0100 (CET)","subject":"Offer"}"#);
    assert_eq!(cet.key, cdt.key);
    assert_ne!(cet.key, other.key);
}

#[test]
fn c046_only_the_clock_that_the_rule_names_counts() {
    let rule = by_time("/data/createdAt", &[], None);
    let first = read(&rule, r#"{"createdAt":"2026-03-02T09:15:05.854Z","data":{"createdAt":"2026-03-02T09:15:04.000Z"}}"#);
    let again = read(&rule, r#"{"createdAt":"2026-03-02T09:45:06.001Z","data":{"createdAt":"2026-03-02T09:15:04.000Z"}}"#);
    assert_eq!(first.key, again.key);
}

#[test]
fn a_local_time_needs_the_sources_zone() {
    let body = r#"{"at":"2026-03-02 10:15:04"}"#;
    let berlin = read(&by_time("/at", &[], Some("Europe/Berlin")), body);
    assert_eq!(berlin.key.value[0], "2026-03-02T09:15:04Z");
    for zone in [None, Some("Mars/Olympus")] {
        let error = read_with(&by_time("/at", &[], zone), body, &[], &avery()).unwrap_err();
        assert_eq!(error, Unidentified::NaiveTime("2026-03-02T10:15:04".to_owned()));
    }
    let with_offset = read(&by_time("/at", &[], None), r#"{"at":"2026-03-02T10:15:04+01:00"}"#);
    assert_eq!(with_offset.key, berlin.key);
}

#[test]
fn an_hour_that_exists_twice_or_never_is_ambiguous_and_still_one_key() {
    let rule = by_time("/at", &[], Some("Europe/Berlin"));
    for (one, same, other) in [
        ("2026-10-25T02:30:00", "2026-10-25 02:30:00.0", "2026-10-25T02:30:01"),
        ("2026-03-29T02:30:00", "2026-03-29 02:30:00.0", "2026-03-29T02:30:01"),
    ] {
        let [one, same, other] = [one, same, other].map(|at| read(&rule, &format!(r#"{{"at":"{at}"}}"#)));
        assert!(one.ambiguous_time && same.ambiguous_time && other.ambiguous_time);
        assert_eq!(one.key, same.key);
        assert_ne!(one.key, other.key);
    }
    assert!(!read(&rule, r#"{"at":"2026-10-25T02:30:00+02:00"}"#).ambiguous_time);
}

#[test]
fn c047_a_time_coarser_than_a_second_is_narrowed_by_the_content() {
    let rule = by_time("/at", &[], Some("America/Fortaleza"));
    for at in ["2026-03-02 06:15", "2026-03-02T06:15Z", "2026-03-02"] {
        let [one, copy, other] = ["a", "a", "b"].map(|m| read(&rule, &format!(r#"{{"at":"{at}","m":"{m}"}}"#)));
        assert_eq!(one.key.value.last().unwrap(), &one.content.to_string()[..HEX]);
        assert_eq!(one.key, copy.key, "{at}");
        assert_ne!(one.key, other.key, "{at}");
    }
    let [one, other] = ["a", "b"].map(|m| read(&rule, &format!(r#"{{"at":"2026-03-02T06:15:00Z","m":"{m}"}}"#)));
    assert_eq!(one.key, other.key);

    let mut blake = Fields::default();
    blake.set("contact.email", "blake@example.com");
    let body = r#"{"at":"2026-03-02 06:15"}"#;
    assert_ne!(read(&rule, body).key, read_with(&rule, body, &[], &blake).unwrap().key);
}

#[test]
fn an_unreadable_time_names_its_place_and_never_its_value() {
    for (body, headers) in [(r#"{"at":"avery@example.com"}"#, vec![]), (r#"{"at":true}"#, vec![]), (r#"{"at":12}"#, vec![])] {
        let error = read_with(&by_time("/at", &[], Some("UTC")), body, &headers, &avery()).unwrap_err();
        assert_eq!(error, Unidentified::UnreadableTime("/at".to_owned()), "{body}");
    }
    let error = read_with(&by_time("header:Date", &[], None), "{}", &[("date", "soon")], &avery()).unwrap_err();
    assert_eq!(error, Unidentified::UnreadableTime("header:date".to_owned()));
}

#[test]
fn the_strongest_basis_that_can_be_filled_is_taken() {
    let mut rule = by_time("/at", &[], None);
    rule.submission = vec![place("/id")];
    for (body, basis) in [
        (r#"{"id":7,"at":"2026-03-02T09:15:04Z"}"#, Basis::Submission),
        (r#"{"id":7,"at":"never"}"#, Basis::Submission),
        (r#"{"id":"","at":"2026-03-02T09:15:04Z"}"#, Basis::Time),
        (r#"{"at":""}"#, Basis::Content),
        (r#"{"at":" "}"#, Basis::Content),
        (r#"{"at":null}"#, Basis::Content),
        (r#"{"at":[]}"#, Basis::Content),
        ("{}", Basis::Content),
    ] {
        assert_eq!(read(&rule, body).key.basis, basis, "{body}");
    }
}

#[test]
fn a_content_key_follows_the_content_and_the_whole_digest_is_kept() {
    let mut rule = by_submission(&[]);
    rule.volatile = vec![Pointer::parse("/sent_at").unwrap()];
    rule.address = Some(Pointer::parse("/email").unwrap());
    let first = read(&rule, r#"{"email":"Avery@Example.com","sent_at":1}"#);
    let again = read(&rule, r#"{"sent_at":2,"email":"avery@example.com"}"#);
    assert_eq!(first, again);
    assert_ne!(first.key, read(&rule, r#"{"email":"blake@example.com"}"#).key);
    assert_eq!((first.key.value[0].len(), first.content.to_string().len()), (HEX, 2 * HEX));
}

#[test]
fn enquiries_look_alike_by_their_mapped_fields_time_and_consent_aside() {
    let look = |set: &[(&str, &str)]| {
        let mut fields = Fields::default();
        for (field, value) in set {
            fields.set(field, value);
        }
        read_with(&by_submission(&["/id"]), r#"{"id":1}"#, &[], &fields).unwrap().look_alike
    };
    let base = look(&[("contact.email", "a@b.c"), ("message", "Hello there"), ("budget", "5")]);
    assert!(base.is_some());
    let same = [("contact.email", "A@B.c"), ("message", "Hello  there \r\n"), ("budget", "5"), ("occurred_at", "x"), ("consent", "yes")];
    assert_eq!(look(&same), base);
    for other in [
        [("contact.email", "d@b.c"), ("message", "Hello there"), ("budget", "5")],
        [("contact.email", "a@b.c"), ("message", "Hello, there"), ("budget", "5")],
        [("contact.email", "a@b.c"), ("message", "Hello there"), ("budget", "6")],
        [("contact.email", "a@b.c"), ("message", "Hello there"), ("size", "5")],
        [("contact.name", "a@b.c"), ("message", "Hello there"), ("budget", "5")],
        [("contact.company", "a@b.c"), ("message", "Hello there"), ("budget", "5")],
    ] {
        assert_ne!(look(&other), base, "{other:?}");
    }
    assert_ne!(look(&[("message", "x"), ("contact.phone", "1")]), look(&[("message", "x"), ("phone", "1")]));
    assert_eq!(look(&[("contact.email", "a@b.c"), ("budget", "5")]), None);
}

proptest! {
    #[test]
    fn equal_instants_in_any_offset_give_equal_keys(
        second in 40_000_000_i64..4_000_000_000,
        nanosecond in prop_oneof![Just(0_i32), 0..1_000_000_000_i32],
        minutes in prop::array::uniform2(-14 * 60..14 * 60_i32),
    ) {
        let at = jiff::Timestamp::new(second, nanosecond).unwrap();
        let [one, other] = minutes.map(|minutes| {
            let offset = jiff::tz::Offset::from_seconds(minutes * 60).unwrap();
            read(&by_time("/at", &[], None), &format!(r#"{{"at":"{}"}}"#, at.display_with_offset(offset))).key
        });
        prop_assert_eq!(one, other);
    }

    #[test]
    fn two_ids_never_share_a_key(
        one in "[01a:,~#% e\u{301}]{1,3}|\\PC{1,12}",
        other in "[01a:,~#% e\u{301}]{1,3}|\\PC{1,12}",
        form in "[a:,~]{1,3}",
    ) {
        prop_assume!(!is_blank(&one) && !is_blank(&other));
        let rule = by_submission(&["/form", "/id"]);
        let [one_key, other_key] = [&one, &other].map(|id| {
            let body = Tree::Map(vec![("form".to_owned(), Tree::Text(form.clone())), ("id".to_owned(), Tree::Text(id.clone()))]);
            rule.read("web", &body, &[], &avery(), &secret()).unwrap().key
        });
        let is_same = composed(&one) == composed(&other);
        prop_assert_eq!(one_key.base_digest() == other_key.base_digest(), is_same);
        prop_assert_eq!(one_key.to_string() == other_key.to_string(), is_same);
    }
}

#[test]
fn of_an_id_that_was_sent_several_times_the_last_counts_and_it_is_in_doubt() {
    let rule = by_submission(&["/id"]);
    for (body, id, doubted) in [
        (r#"{"id":["a","b"]}"#, "b", true),
        (r#"{"id":["b",7]}"#, "7", true),
        (r#"{"id":["b","b"]}"#, "b", false),
        (r#"{"id":"a","id":"b"}"#, "b", true),
        (r#"{"id":1.0}"#, "1.0", true),
        (r#"{"id":10}"#, "10", false),
    ] {
        let identity = read(&rule, body);
        assert_eq!((identity.key.value, !identity.ambiguous.is_empty()), (vec![id.to_owned()], doubted), "{body}");
    }
    let identity = read(&rule, r#"{"id":"a","id":null}"#);
    assert_eq!((identity.key.basis, identity.ambiguous.len()), (Basis::Content, 1), "an id that another one takes back");
}

#[test]
fn a_time_is_in_doubt_only_where_the_key_rests_on_it() {
    let mut rule = by_time("/at", &["/form"], None);
    let body = r#"{"id":1,"at":"2026-03-02T09:15:04Z","at":"2026-03-02T09:15:05Z","form":"a","form":"b"}"#;
    let fields: Vec<_> = read(&rule, body).ambiguous.into_iter().map(|doubt| doubt.field).collect();
    assert_eq!(fields, ["time", "with"]);
    for id in ["/id", "header:X-Id"] {
        rule.submission = vec![place(id)];
        assert_eq!(read_with(&rule, body, &[("x-id", "7")], &avery()).unwrap().ambiguous, [], "{id}");
    }
    // A header that says nothing certain is no id, and so the key rests on the time.
    let fields = read_with(&rule, body, &[("x-id", "7"), ("x-id", "8")], &avery()).unwrap().ambiguous;
    assert_eq!(fields.len(), 2);
}

#[test]
fn i8_what_was_sent_several_times_still_has_the_key_that_it_had() {
    let mut rule = by_time("/at", &["/form"], None);
    rule.submission = vec![place("/id")];
    let at = "2026-03-02T09:15:04Z";
    for (body, now, before) in [
        (format!(r#"{{"id":["b","b"],"at":"{at}"}}"#), Basis::Submission, Basis::Time),
        (format!(r#"{{"id":["a","b"],"at":["{at}","{at}"]}}"#), Basis::Submission, Basis::Content),
        (format!(r#"{{"at":["2026-03-02T09:15:03Z","{at}"]}}"#), Basis::Time, Basis::Content),
        (format!(r#"{{"at":"{at}","form":["a","b"]}}"#), Basis::Time, Basis::Time),
        (format!(r#"{{"at":["{at}","soon"]}}"#), Basis::Content, Basis::Content),
    ] {
        let tree = Tree::from_json(&body).unwrap();
        let sent = Sent { body: &tree, lost: None };
        let former = rule.read_as_before("web", sent, &[], &avery(), &secret()).unwrap();
        let read = read(&rule, &body);
        assert_eq!((read.key.basis, former.key.basis, read.of_several), (now, before, true), "{body}");
        assert_eq!((read.key == former.key, read.content), (now == Basis::Content, former.content), "{body}");
    }
    let tree = Tree::from_json(r#"{"id":["b"],"at":[],"form":[["x"],"y"]}"#).unwrap();
    let once = rule.read("web", &tree, &[], &avery(), &secret()).unwrap();
    assert_eq!(once, rule.read_as_before("web", Sent { body: &tree, lost: None }, &[], &avery(), &secret()).unwrap());
    assert!(!once.of_several);
}

#[test]
fn a_key_may_stand_in_json_inside_a_text() {
    let rule = Rule { embedded: vec![Pointer::parse("/raw").unwrap()], ..by_submission(&["/raw/id"]) };
    let identity = read(&rule, r#"{"raw":"{\"id\":6084250982513018472,\"sent\":1}"}"#);
    assert_eq!(identity.key.value, ["6084250982513018472"]);
    // White space inside the text is no content, what it says is.
    assert_eq!(identity.content, read(&rule, r#"{"raw":"{ \"id\": 6084250982513018472, \"sent\": 1 }"}"#).content);
    assert_ne!(identity.content, read(&rule, r#"{"raw":"{\"id\":6084250982513018472,\"sent\":2}"}"#).content);
    let json = serde_json::to_string(&rule).unwrap();
    assert_eq!(serde_json::from_str::<Rule>(&json).unwrap(), rule);
    assert!(!serde_json::to_string(&Rule::default()).unwrap().contains("embedded"), "a rule without is written as before");
}

#[test]
fn i3_what_was_lost_in_reading_counts_as_content() {
    let body = Tree::from_json("{\"m\":\"\u{FFFD}\"}").unwrap();
    let (one, other) = (Digest::sha256(b"1"), Digest::sha256(b"2"));
    let of = |lost| Rule::default().read_mended("web", Sent { body: &body, lost }, &[], &Fields::default(), &secret()).unwrap();
    assert_eq!(of(Some(&one)), of(Some(&one)));
    assert_ne!(of(Some(&one)).key, of(Some(&other)).key);
    assert_ne!(of(Some(&one)).key, of(None).key);
    // Half of a pair that is lost inside of embedded JSON counts the same.
    let rule = Rule { embedded: vec![Pointer::parse("/raw").unwrap()], ..Rule::default() };
    let inside = |half: &str| read(&rule, &format!(r#"{{"raw":"{{\"m\":\"\\{half}\"}}"}}"#)).content;
    assert_ne!(inside("ud83d"), inside("ud83e"));
}

#[test]
fn a_written_time_is_one_instant_or_none() {
    let rule = |zone: Option<&str>| Rule { timezone: zone.map(str::to_owned), ..Rule::default() };
    let utc = |zone, sent: &str| rule(zone).instant(sent).map(|at| at.to_string());
    assert_eq!(utc(None, "2026-03-02T10:15:04+01:00").as_deref(), Some("2026-03-02T09:15:04Z"));
    assert_eq!(utc(None, "1772442904120").as_deref(), Some("2026-03-02T09:15:04.12Z"));
    assert_eq!(utc(Some("Europe/Berlin"), "2026-03-02 10:15:04").as_deref(), Some("2026-03-02T09:15:04Z"));
    for (zone, sent) in [
        (None, "2026-03-02 10:15:04"),
        (Some("Europe/Berlin"), "2026-10-25 02:30:00"),
        (Some("Europe/Berlin"), "2026-03-02"),
        (None, "soon"),
    ] {
        assert_eq!(utc(zone, sent), None, "{sent}");
    }
}
