//! The constructed bodies: one web form, and everything that can be odd about what it sends.

use super::{Expect, Item, Row, aside, lead, none, row};

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";

/// The form that the quirks are sent by.
const FORM: &str = r#"
identity = { submission = "/submission_id" }
map = { "contact.email" = "/email", "contact.name" = "/name", "contact.phone" = "/phone", message = "/message", occurred_at = "/submitted_at" }
"#;
const BATCH: &str = r#"
identity = { submission = "/submission_id" }
items = "/*"
map = { "contact.email" = "/email", message = "/message", occurred_at = "/submitted_at" }
"#;

fn avery() -> Item {
    lead("s:submission:sub_1").email("avery.sample@example.com").at("2026-03-02T09:15:04Z", "2026-03-02T09:15:04Z")
}

fn quirk(file: &'static str, item: Item) -> Row {
    row(file, JSON, FORM, vec![item])
}

pub fn rows() -> Vec<Row> {
    let second = [("sub_1", "Need 40 chairs"), ("sub_2", "And 4 tables")];
    let second = second.map(|(id, message)| {
        Item { key: if id == "sub_1" { "s:submission:sub_1" } else { "s:submission:sub_2" }, ..avery() }.message(message)
    });
    vec![
        row("quirks/array_of_two.json", JSON, BATCH, second.into_iter().collect()),
        quirk("quirks/bigint_id.json", Item { key: "s:submission:6084250982513018472", ..avery() }.message("a")),
        quirk(
            "quirks/bigint_id_neighbour.json",
            lead("s:submission:6084250982513018473").email("blake@example.com").message("b").at("2026-03-02T09:15:05Z", "2026-03-02T09:15:05Z"),
        ),
        // The innermost leaf is no contact: the id is all that is mapped.
        quirk("quirks/deep_nesting.json", lead("s:submission:sub_1")),
        quirk("quirks/empty_body.bin", aside("quarantined", "the body is empty")),
        none("quirks/github_ping.json", "a ping"),
        quirk("quirks/huge_message_300k.json", avery().message(&"x".repeat(300_000))),
        quirk("quirks/invalid_utf8.json", avery().message("caf\u{FFFD} devis")),
        quirk("quirks/lone_surrogate.json", avery().message("40 chairs \u{FFFD}")),
        quirk("quirks/long_message_4586.json", avery().message(&format!("{}Thank you.", "We need chairs. ".repeat(286)))),
        quirk(
            "quirks/long_url_and_phone.json",
            avery().message("Need 40 chairs").phone("please call my assistant first +33 (0)6 12 34 56 78 ext. 1234"),
        ),
        quirk("quirks/nested_custom_fields.json", avery().message("Need 40 chairs")),
        quirk("quirks/nul_escape.json", avery().message("Need \u{FFFD} 40\u{FFFD} chairs")),
        row("quirks/phones_same_person.ndjson", LINES, FORM, phones()),
        quirk(
            "quirks/rtl_zwj_emoji.json",
            avery()
                .name("\u{644}\u{64a}\u{644}\u{649} \u{200f}(Avery)\u{202e} evil\u{202c}")
                .message("\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}\u{1f3f3}\u{fe0f}\u{200d}\u{1f308} \u{661}\u{662}\u{663} \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{200b}\u{200d}\u{2066}x\u{2069} \u{e9} \u{e9}"),
        ),
        row(
            "quirks/second_enquiry_same_person.ndjson",
            LINES,
            FORM,
            vec![
                avery().message("Need 40 chairs"),
                Item { key: "s:submission:sub_9", ..avery() }
                    .message("Separate: 4 tables for another site")
                    .at("2026-03-02T09:16:30Z", "2026-03-02T09:16:30Z"),
                Item { key: "s:submission:sub_10", ..avery() }
                    .message("Need 40 chairs")
                    .at("2026-03-02T09:17:00Z", "2026-03-02T09:17:00Z")
                    .verdict("look_alike"),
            ],
        ),
        mail("email-rfc5322/01_plain_enquiry.eml"),
        mail("email-rfc5322/02_no_message_id.eml"),
        mail("email-rfc5322/03_no_message_id.second_delivery.eml"),
        mail("email-rfc5322/06_missing_charset.eml"),
        mail("email-rfc5322/07_rtl_and_nordic.eml"),
        mail("email-rfc5322/10_attachment_names.eml"),
        mail("email-rfc5322/11_bounce_of_our_followup.eml"),
        mail("email-rfc5322/12_out_of_office.eml"),
        mail("email-rfc5322/15_forwarded_lead.eml"),
        mail("email-rfc5322/16_broken_rfc822_part.eml"),
        mail("email-rfc5322/19_nul_bytes_in_base64_text.eml"),
        mail("email-rfc5322/21_html_only_hidden_text.eml"),
        mail("email-rfc5322/22_prompt_injection.eml"),
    ]
}

/// Mail is not read yet: it is kept whole, and can be read again later.
fn mail(file: &'static str) -> Row {
    let kept = aside("quarantined", "bodies of type message/rfc822 are not read yet: kept for later");
    Row { file, content_type: "message/rfc822", headers: &[], source: FORM, expect: Expect::Items(vec![kept]) }
}

/// Fifteen ways to write a phone: each as it was written, each an event of its own.
fn phones() -> Vec<Item> {
    let written = [
        ("s:submission:p0", "919876500000"),
        ("s:submission:p1", "+919876500000"),
        ("s:submission:p2", "09876500000"),
        ("s:submission:p3", "+525512345678"),
        ("s:submission:p4", "+5215512345678"),
        ("s:submission:p5", "whatsapp:+5215512345678"),
        ("s:submission:p6", "+5541988887777"),
        ("s:submission:p7", "+554188887777"),
        ("s:submission:p8", "551133334444"),
        ("s:submission:p9", "p:+61402000700"),
        ("s:submission:p10", "00353851234567"),
        ("s:submission:p11", "+353 (0)85 123 4567"),
        ("s:submission:p12", "15550000000"),
        ("s:submission:p13", "(85) 98769-0000"),
        ("s:submission:p14", "010-1234-5678"),
    ];
    written.into_iter().map(|(key, phone)| lead(key).phone(phone)).collect()
}
