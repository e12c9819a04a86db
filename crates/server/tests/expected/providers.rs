//! The providers' bodies, each through a generic source that is set up as its documentation says.

use super::{Expect, Row, aside, lead, none, row};

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";
const BOUNDARY: &str = "multipart/form-data; boundary=BoUnDaRy";
const XYZZY: &str = "multipart/form-data; boundary=xYzZY";

const CALENDLY: &str = r#"
channel = "calendar"
identity = { submission = ["/payload/uri", "/event"] }
map = { "contact.email" = "/payload/email", "contact.name" = "/payload/name", "contact.phone" = "/payload/text_reminder_number", "contact.company" = "/payload/questions_and_answers/0/answer", message = "/payload/questions_and_answers/1/answer", occurred_at = "/payload/created_at" }
"#;
const ELEMENTOR: &str = r#"
volatile = ["/meta/date", "/meta/time"]
map = { "contact.name" = "/fields/name/value", "contact.email" = "/fields/email/value", "contact.phone" = "/fields/phone/value", message = "/fields/message/value" }
"#;
const GOOGLE: &str = r#"
channel = "ads"
identity = { submission = "/lead_id" }
test = "/is_test"
map = { "contact.name" = "/user_column_data/0/string_value", "contact.phone" = "/user_column_data/1/string_value", "contact.email" = "/user_column_data/2/string_value", message = ["/user_column_data/3/string_value", "/user_column_data/4/string_value"], occurred_at = "/lead_submit_time" }
"#;
const HUBSPOT: &str = r#"
items = "/*"
volatile = ["/attemptNumber"]
identity = { submission = ["/portalId", "/subscriptionType", "/objectId", "/eventId", "/occurredAt"] }
map = { occurred_at = "/occurredAt" }
"#;
const JOTFORM: &str = r#"
identity = { submission = "/submissionID" }
embedded = ["/rawRequest"]
volatile = ["/webhookURL"]
map = { "contact.name" = ["/rawRequest/q3_studentsName/first", "/rawRequest/q3_studentsName/last"], message = ["/rawRequest/q33_typeOf", "/rawRequest/q34_subjectFor", "/rawRequest/q35_grade", "/rawRequest/q7_feedback"], attachments = ["/rawRequest/identityProof", "/rawRequest/reports", "/rawRequest/filesRelated"] }
"#;
const META: &str = r#"
channel = "ads"
items = "/entry/*/changes/*"
volatile = ["/value/adgroup_id", "/value/ad_id"]
identity = { submission = "/value/leadgen_id" }
map = { occurred_at = "/value/created_time" }
"#;
const WHATSAPP: &str = r#"
channel = "chat"
identity = { submission = "/entry/0/changes/0/value/messages/0/id" }
map = { "contact.name" = "/entry/0/changes/0/value/contacts/0/profile/name", "contact.phone" = "/entry/0/changes/0/value/messages/0/from", message = ["/entry/0/changes/0/value/messages/0/text/body", "/entry/0/changes/0/value/messages/0/image/caption"], occurred_at = "/entry/0/changes/0/value/messages/0/timestamp", attachments = "/entry/0/changes/0/value/messages/0/image" }
"#;
const STANDARD: &str = r#"
identity = { submission = "/data/submission_id" }
map = { "contact.name" = "/data/name", "contact.email" = "/data/email", message = "/data/message", occurred_at = "/timestamp" }
"#;
const TYPEFORM: &str = r#"
identity = { submission = "/form_response/token" }
volatile = ["/event_id"]
map = { "contact.name" = "/form_response/answers/0/text", "contact.email" = "/form_response/answers/1/email", "contact.phone" = "/form_response/answers/2/phone_number", message = "/form_response/answers/3/text", rooms = "/form_response/answers/4/choices/labels", other_room = "/form_response/answers/4/choices/other", urgent = "/form_response/answers/5/boolean", date = "/form_response/answers/6/date", attachments = "/form_response/answers/7/file_url", occurred_at = "/form_response/submitted_at" }
"#;
const STRIPE: &str = r#"
identity = { submission = "/id" }
map = { "contact.name" = "/data/object/customer_details/name", "contact.email" = "/data/object/customer_details/email", message = "/data/object/custom_fields/0/text/value", occurred_at = "/created" }
"#;
const SHOPIFY: &str = r#"
channel = "shop"
identity = { submission = "header:X-Shopify-Event-Id" }
map = { "contact.name" = ["/first_name", "/last_name"], "contact.email" = "/email", message = "/note", occurred_at = "header:X-Shopify-Triggered-At" }
"#;
const SHOPIFY_HEADERS: &[(&str, &str)] =
    &[("x-shopify-event-id", "98880550-7158-44d4-b7cd-2c97c8a091b5"), ("x-shopify-triggered-at", "2024-08-07T22:51:14.136738016Z")];

pub fn rows() -> Vec<Row> {
    let mut rows = forms();
    rows.extend(leads());
    rows.extend(mailed());
    rows.extend(messages());
    rows.extend(others());
    rows
}

/// Form builders.
fn forms() -> Vec<Row> {
    let elementor = |name: &str, email: &str| {
        lead("s:content:").name(name).email(email).phone("(85) 98769-0000").message("Quero um orçamento & prazo <urgente>")
    };
    let typeform = || {
        lead("s:submission:a3a12ec67a1365927098a606107fac15")
            .name("Zoë \"Avery\" Sämple")
            .email("avery.sample@example.com")
            .phone("+34123456789")
            .message("Quote for 40 chairs.\nDelivery < 2 weeks & assembly.")
            .other("rooms", "Kitchen, Office")
            .other("other_room", "Terrasse")
            .other("urgent", "true")
            .other("date", "2026-05-11")
            .at("2026-03-02T09:15:04Z", "2026-03-02T09:15:04Z")
            .url("https://api.typeform.example/forms/lT4Z3j/responses/a3a12ec67a1365927098a606107fac15/fields/fUpLdFiLe001/files/plan%20final.pdf")
    };
    vec![
        row(
            "contact-form-7/feedback.multipart",
            "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
            r#"map = { "contact.name" = "/your-name", "contact.phone" = "/your-phone", message = "/your-message", method = "/your-method", pay = "/your-pay" }"#,
            vec![
                lead("s:content:")
                    .name("Avery 샘플")
                    .phone("010-1234-5678")
                    .message("통합 테스트 東京 🚀")
                    .other("method", "리스, 할부")
                    .other("pay", "좋은 조건 즉시"),
            ],
        ),
        row("elementor/advanced.urlencoded", FORM, ELEMENTOR, vec![elementor("Avery Sample", "avery.sample@example.com")]),
        row("elementor/advanced_other_person_same_minute.urlencoded", FORM, ELEMENTOR, vec![elementor("Blake Sample", "blake@example.com")]),
        row(
            "elementor/simple.urlencoded",
            FORM,
            r#"map = { "contact.name" = "/Seu nome", "contact.email" = "/Seu melhor email", "contact.phone" = "/Whatsapp", message = "/No Label message" }"#,
            vec![
                lead("s:content:").name("Avery Sample").email("avery.sample@example.com").phone("(85) 98769-0000").message("Quero um orçamento"),
            ],
        ),
        row(
            "gravity-forms/entry_all_fields.json",
            JSON,
            r#"
identity = { submission = ["/source_url", "/form_id", "/id"] }
timezone = "UTC"
embedded = ["/6"]
map = { "contact.name" = ["/1.3", "/1.6"], "contact.email" = "/2", "contact.phone" = "/3", message = "/4", attachments = "/6", occurred_at = "/date_created" }"#,
            vec![
                lead("s:submission:https://www.example.com/contact/,7,134")
                    .name("Avery Sample")
                    .email("avery.sample@example.com")
                    .phone("(352) 555-0101")
                    .message("Please call\nafter 5 &amp; before 7")
                    .at("2026-03-02 09:15:04", "2026-03-02T09:15:04Z")
                    .url("https://www.example.com/wp-content/uploads/gravity_forms/7-abc/2026/03/plan.pdf"),
            ],
        ),
        row(
            "jotform/response.multipart",
            "multipart/form-data; boundary=------------------------J1JNT4vbVO4FCC1qLG4HSv",
            JOTFORM,
            vec![
                lead("s:submission:6084250982513018472")
                    .name("Avery Sample")
                    .message("Online Tutoring\nMath\n12")
                    .url("https://www.jotform.com/uploads/sampleuser/243231271343446/6111139644845227683/Student_ID_%21_%24%26%27%28%29_%2C-.%3B%3D%40%5B%5D%5E_%60%7B%7D~%20.png")
                    .url("https://www.jotform.com/uploads/sampleuser/243231271343446/6111139644845227684/Driving.license.png")
                    .url("https://www.jotform.com/uploads/sampleuser/243231271343446/6111139644845227685/Report%20Card.pdf"),
            ],
        ),
        row(
            "jotform/resubmitted_page.multipart",
            "multipart/form-data; boundary=------------------------1WSA91c0mNqsH82UlEp0qj",
            JOTFORM,
            vec![
                lead("s:submission:6114090137116205381")
                    .message("The new personalized recommendations feature is great!")
                    .url("https://www.jotform.com/uploads/sampleuser/243615086540051/6114090137116205381/frontend%20setup.jpg"),
            ],
        ),
        row(
            "jotform/response_inline_signature.json",
            JSON,
            r#"
identity = { submission = "/submissionID" }
embedded = ["/rawRequest"]
map = { "contact.name" = ["/rawRequest/q3_name/first", "/rawRequest/q3_name/last"], attachments = "/rawRequest/q4_signature" }"#,
            vec![
                lead("s:submission:4791133489169827307").name("Avery Sample").file(
                    "unnamed",
                    "image/png",
                    908,
                    "42dabc875f6c333332c93252ce15f2bc4b72d8436d7418cd4cbaa92f0494e895",
                ),
            ],
        ),
        row(
            "tally/form_response.json",
            JSON,
            r#"
identity = { submission = "/data/responseId" }
volatile = ["/createdAt", "/eventId"]
map = { "contact.name" = "/data/fields/0/value", "contact.email" = "/data/fields/1/value", "contact.phone" = "/data/fields/2/value", message = "/data/fields/3/value", attachments = "/data/fields/9/value", occurred_at = "/data/createdAt" }"#,
            vec![
                lead("s:submission:jyqVba")
                    .name("Avery Sample")
                    .email("avery.sample@example.com")
                    .phone("+972501234567")
                    .message("שלום, צריך הצעת מחיר ל-40 כיסאות.\nThanks!")
                    .at("2026-03-02T09:15:04.000Z", "2026-03-02T09:15:04Z")
                    .named_url(
                        "plan.pdf",
                        "application/pdf",
                        "https://storage.tally.example/private/plan.pdf?accessToken=synthetic&signature=synthetic",
                    ),
            ],
        ),
        row("typeform/form_response.json", JSON, TYPEFORM, vec![typeform()]),
        row("typeform/form_response.resend_new_event_id.json", JSON, TYPEFORM, vec![typeform()]),
        row(
            "webflow/v1_form_submission.json",
            JSON,
            r#"
identity = { submission = "/_id" }
map = { "contact.name" = ["/data/First Name", "/data/Last Name"], "contact.email" = "/data/email", "contact.phone" = "/data/Phone Number", occurred_at = "/d" }"#,
            vec![webflow()],
        ),
        row(
            "webflow/v2_form_submission.json",
            JSON,
            r#"
identity = { submission = "/payload/id" }
map = { "contact.name" = ["/payload/data/First Name", "/payload/data/Last Name"], "contact.email" = "/payload/data/email", "contact.phone" = "/payload/data/Phone Number", occurred_at = "/payload/submittedAt" }"#,
            vec![webflow()],
        ),
    ]
}

fn webflow() -> super::Item {
    lead("s:submission:6321ca84df3949bfc6752327")
        .name("Avery Sample")
        .email("avery.sample@example.com")
        .phone("15550000000")
        .at("2022-09-14T12:35:16.117Z", "2022-09-14T12:35:16.117Z")
}

/// Ads and CRMs.
fn leads() -> Vec<Row> {
    let hubspot = || {
        vec![
            lead("s:submission:62515,contact.creation,123,1,1772442904120").at("1772442904120", "2026-03-02T09:15:04.12Z"),
            lead("s:submission:62515,contact.creation,124,1,1772442911950").at("1772442911950", "2026-03-02T09:15:11.95Z"),
            lead("s:submission:62515,contact.propertyChange,123,100,1772442900000").at("1772442900000", "2026-03-02T09:15:00Z"),
        ]
    };
    let meta = |key: &'static str| lead(key).channel("ads").at("1772442904", "2026-03-02T09:15:04Z");
    vec![
        row(
            "google-ads/lead.json",
            JSON,
            GOOGLE,
            vec![
                lead("s:submission:CjwKEAiA0vLeAd77")
                    .channel("ads")
                    .name("Avery Sample")
                    // The country is the provider kind's to know: as written.
                    .phone("1-305-555-0123")
                    .email("avery@example.com")
                    .message("AC not cooling\nCondo")
                    .at("2026-03-02T05:15:04-04:00", "2026-03-02T09:15:04Z"),
            ],
        ),
        row("google-ads/test_data_button.json", JSON, GOOGLE, vec![aside("test", "marked as a test by its sender")]),
        // Thin: who asks has to be fetched, which a generic source does not.
        row("hubspot/contact_creation_batch.json", JSON, HUBSPOT, hubspot()),
        row("hubspot/contact_creation_batch.retry.json", JSON, HUBSPOT, hubspot()),
        none("hubspot/sensitive_property_change.json", "a change of a contact's property"),
        none("hubspot/v2_vector.json", "a signature vector"),
        none("hubspot/v3_vector_py.txt", "a signature vector"),
        none("hubspot/v3_vector_rb.txt", "a signature vector"),
        row(
            "hubspot/workflow_contact.json",
            JSON,
            r#"
identity = { time = "/properties/createdate/value", with = ["/vid"] }
volatile = ["/properties/lastmodifieddate"]
map = { "contact.name" = ["/properties/firstname/value", "/properties/lastname/value"], "contact.email" = "/properties/email/value", "contact.phone" = "/properties/phone/value", message = "/properties/message/value", occurred_at = "/properties/createdate/value" }"#,
            vec![
                lead("s:time:2026-03-02T09:15:04.12Z,")
                    .name("Avery Sample")
                    .email("avery.sample@example.com")
                    .phone("+1 (352) 555-0101")
                    .message("Do you ship to Lyon?\nMerci 🙂")
                    .at("1772442904120", "2026-03-02T09:15:04.12Z"),
            ],
        ),
        none("meta-leadgen/handshake.query.txt", "a handshake"),
        row(
            "meta-leadgen/lead_retrieval.json",
            JSON,
            r#"
channel = "ads"
identity = { submission = "/id" }
map = { "contact.name" = "/field_data/0/values", "contact.email" = "/field_data/1/values", "contact.phone" = "/field_data/2/values", message = "/field_data/3/values", occurred_at = "/created_time" }"#,
            vec![
                lead("s:submission:233370042045345")
                    .channel("ads")
                    .name("Avery Sample")
                    .email("avery.sample@example.com")
                    .phone("+33612345678")
                    .message("kitchen, bathroom")
                    .at("2026-03-02T09:15:04+0000", "2026-03-02T09:15:04Z"),
            ],
        ),
        none(
            "meta-leadgen/lead_retrieval_test_lead.json",
            "a test lead without a mark: its placeholder text is for the provider's kind to know",
        ),
        row(
            "meta-leadgen/leadgen_batch_numeric_ids.json",
            JSON,
            META,
            vec![
                meta("s:submission:9007199254740993"),
                meta("s:submission:9007199254740992"),
                aside("quarantined", "nothing mapped and no submission id found: compare `map` and `identity` with the body"),
                meta("s:submission:9007199254740993").verdict("redelivery"),
            ],
        ),
        // Thin: the id is on record at once.
        row(
            "meta-leadgen/leadgen_notification.json",
            JSON,
            META,
            vec![lead("s:submission:233370042045345").channel("ads").at("1630087926", "2021-08-27T18:12:06Z")],
        ),
        none("meta-leadgen/leads_export.csv", "an export: import reads it"),
        none("meta-leadgen/x_hub_signature_256_vector.txt", "a signature vector"),
        row(
            "pipedrive/added_person.json",
            JSON,
            r#"
identity = { submission = ["/meta/object", "/meta/action", "/meta/id", "/meta/timestamp_micro"] }
volatile = ["/retry"]
map = { "contact.name" = "/current/name", "contact.email" = "/current/email/0/value", "contact.phone" = "/current/phone/0/value", "contact.company" = "/current/org_name", occurred_at = "/meta/timestamp_micro" }"#,
            vec![
                lead("s:submission:person,added,3,1680840511329055")
                    .name("Avery Sample")
                    .email("avery.sample@example.com")
                    .phone("+1434993473")
                    .company("NoCo Solutions")
                    .at("1680840511329055", "2023-04-07T04:08:31.329055Z"),
            ],
        ),
    ]
}

/// Mail that a provider has taken apart.
fn mailed() -> Vec<Row> {
    vec![
        row(
            "mailgun/inbound.multipart",
            BOUNDARY,
            r#"
channel = "email"
identity = { submission = "/message-headers/6/1" }
embedded = ["/message-headers"]
volatile = ["/token", "/timestamp", "/signature"]
map = { "contact.email" = "/from", message = "/body-plain", occurred_at = "/message-headers/5/1" }"#,
            vec![
                lead("s:submission:<CAEPk3R+4Zr@mail.example.org>")
                    .channel("email")
                    .email("from+test@example.org")
                    .message("Test body plain")
                    .at("Wed, 11 Oct 2017 18:31:04 -0700", "2017-10-12T01:31:04Z")
                    .file("forwarded.msg", "message/rfc822", 15, "b8d9965691893c58333414106c78136d94e87962486a38c1b17138b2cd95272b"),
            ],
        ),
        row(
            "mailgun/inbound_duplicate_json_keys.multipart",
            BOUNDARY,
            r#"
channel = "email"
volatile = ["/token", "/timestamp", "/signature"]
map = { attachment_count = "/attachment-count", occurred_at = "/timestamp" }"#,
            vec![
                lead("s:content:")
                    .channel("email")
                    .other("attachment_count", "4")
                    .at("1234567890", "2009-02-13T23:31:30Z")
                    .file("att1.txt", "text/plain", 4, "35143e7a5239313ee73b81f2f99b785aaed42d9572d1f797dc19fa14aa6b081f")
                    .file("att2.txt", "text/plain", 4, "dd86e2310bdf3ab45816029e264c4745a2a028961719031597877887a8f6f1df")
                    .file("att3.txt", "text/plain", 4, "0a8fa5eb1d151a6a7334b73d07ba6862eed38ab08316a6cd70599cefa545997b")
                    .file("att4.txt", "text/plain", 4, "34a27497008bd462223106acdc4a6c81b02f5002a49e825e68d77671b5474a68"),
            ],
        ),
        row(
            "postmark/inbound_with_raw.json",
            JSON,
            r#"
channel = "email"
identity = { submission = "/Headers/1/Value" }
volatile = ["/MessageID"]
map = { "contact.email" = "/From", "contact.name" = "/FromName", message = "/TextBody", attachments = "/Attachments", occurred_at = "/Date" }"#,
            vec![
                lead("s:submission:<CAEPk3R+4Zr@mail.example.org>")
                    .channel("email")
                    .name("Avery Sample")
                    .email("avery.sample@example.com")
                    .message("This is a test text body.")
                    .at("Fri, 5 May 2023 17:41:16 -0400", "2023-05-05T21:41:16Z")
                    .file("test.txt", "text/plain", 45, "39305aa9322e7fa1b77cbe753e0f3800481ece1b50321039895108feb53413a8"),
            ],
        ),
        // Its Message-ID stands inside a block of mail headers, which the mail reader will open: until then the content.
        row(
            "sendgrid-inbound/attachments.multipart",
            XYZZY,
            "channel = \"email\"\nmap = { \"contact.email\" = \"/from\", message = \"/text\" }",
            vec![
                lead("s:content:")
                    .channel("email")
                    .email("from+test@example.org")
                    .message("Test body plain")
                    .file("test.txt", "text/plain", 15, "b8d9965691893c58333414106c78136d94e87962486a38c1b17138b2cd95272b")
                    .file("image.png", "image/png", 18, "94ae760ac1ced49ee4979bc7a2ff7fe342db98b9ca8b72920d3e1e21d4c12f39")
                    .file("forwarded.msg", "message/rfc822", 51, "c63cf57ea46b71229ad35a8700a0d46afdfa2d51bb5c580f9d6c1830bf33fe78"),
            ],
        ),
        // The field `charsets` is SendGrid's own way: a generic source mends what is no UTF-8, and the raw bytes are kept.
        row(
            "sendgrid-inbound/charsets.multipart",
            XYZZY,
            "channel = \"email\"\nmap = { \"contact.email\" = \"/from\", message = \"/text\" }",
            vec![
                lead("s:content:")
                    .channel("email")
                    .email("sender@example.com")
                    .message("Test the ESP\u{FFFD}s inbound charset handling\u{FFFD}"),
            ],
        ),
        none("sendgrid-events/signed_batch.json", "what became of our own mail"),
        none("sendgrid-events/signed_single.json", "what became of our own mail"),
    ]
}

/// Chat and text messages.
fn messages() -> Vec<Row> {
    let first = "s:submission:wamid.HBgLMzM2MTIzNDU2NzgVAgASGBQzQUFERjg0NDEzNDdFODU3MUMxMAA=";
    let chat = |key: &'static str| lead(key).channel("chat").phone("33612345678");
    vec![
        row(
            "twilio/sms_with_media.urlencoded",
            FORM,
            r#"
channel = "sms"
identity = { submission = "/MessageSid" }
map = { "contact.phone" = "/From", message = "/Body", attachments = "/MediaUrl0" }"#,
            vec![
                lead("s:submission:SM5ab7891328b440f04b7c83b459fc85fd")
                    .channel("sms")
                    .phone("+17065550146")
                    .message("Need 40 chairs + 4 tables 🪑 & quick!")
                    .url("https://api.twilio.example/2010-04-01/Accounts/AC/Messages/MM/Media/ME1"),
            ],
        ),
        none("twilio/signature_vectors.json", "signature vectors"),
        row(
            "whatsapp-cloud/batch_three_messages.json",
            JSON,
            r#"
channel = "chat"
items = "/entry/*/changes/*/value/messages/*"
identity = { submission = "/id" }
map = { "contact.phone" = "/from", message = "/text/body", occurred_at = "/timestamp" }"#,
            vec![
                chat(first).message("Bonjour, un devis pour 40 chaises ? 🪑🇫🇷").at("1772442904", "2026-03-02T09:15:04Z"),
                chat("s:submission:wamid.SECOND==").message("et 4 tables").at("1772442906", "2026-03-02T09:15:06Z"),
                chat("s:submission:wamid.THIRD==").message("merci").at("1772442907", "2026-03-02T09:15:07Z"),
            ],
        ),
        row(
            "whatsapp-cloud/image_with_url.json",
            JSON,
            WHATSAPP,
            vec![{
                let mut item =
                    chat("s:submission:wamid.IMG==").name("Avery Sample").message("le salon").at("1772442950", "2026-03-02T09:15:50Z");
                item.fields["attachments"] = serde_json::json!([{
                    "content_type": "image/jpeg",
                    "url": "https://lookaside.example.com/whatsapp_business/attachments/?mid=65463453&source=webhook&ext=1772443250&hash=synthetic",
                    "fetched": false
                }]);
                item
            }],
        ),
        row(
            "whatsapp-cloud/text.json",
            JSON,
            WHATSAPP,
            vec![
                chat(first)
                    .name("Avery Sample")
                    .message("Bonjour, un devis pour 40 chaises ? 🪑🇫🇷")
                    .at("1772442904", "2026-03-02T09:15:04Z"),
            ],
        ),
        // Somebody wrote, and nothing of it can be read: an enquiry all the same.
        row(
            "whatsapp-cloud/unsupported.json",
            JSON,
            WHATSAPP,
            vec![chat("s:submission:wamid.UNS==").name("Avery Sample").at("1772443500", "2026-03-02T09:25:00Z")],
        ),
        none("whatsapp-cloud/number_changed.json", "a contact's new number"),
        none("whatsapp-cloud/reaction.json", "a reaction"),
        none("whatsapp-cloud/revoke.json", "a withdrawal"),
        none("whatsapp-cloud/status_sent.json", "what became of our own message"),
    ]
}

/// Shops, calendars and plain webhooks.
fn others() -> Vec<Row> {
    let calendly = |key: &'static str| {
        let item = lead(key).channel("calendar").name("Avery Sample").email("avery.sample@example.com").phone("+1 555 0100");
        item.company("Prospect & Co LLP").message("Full migration")
    };
    let shopify = |file: &'static str| Row {
        file,
        content_type: JSON,
        headers: SHOPIFY_HEADERS,
        source: SHOPIFY,
        expect: Expect::Items(vec![
            lead("s:submission:98880550-7158-44d4-b7cd-2c97c8a091b5")
                .channel("shop")
                .name("Avery Sample")
                .email("avery.sample@example.com")
                .message("This customer loves ice cream")
                .at("2024-08-07T22:51:14.136738016Z", "2024-08-07T22:51:14.136738016Z"),
        ]),
    };
    let standard = |file: &'static str| {
        let item = lead("s:submission:sub_8842").name("Avery Sample").email("avery.sample@example.com");
        let item = item.message("Need a quote for 40 chairs").at("2026-03-02T09:15:04.120000Z", "2026-03-02T09:15:04.12Z");
        row(file, JSON, STANDARD, vec![item])
    };
    let stripe = |file: &'static str| {
        let item = lead("s:submission:evt_1MhUT6E0b6fckueSlc4GyvIi").name("Avery Sample").email("avery.sample@example.com");
        row(file, "application/json; charset=utf-8", STRIPE, vec![item.message("40 chairs").at("1677834000", "2023-03-03T09:00:00Z")])
    };
    vec![
        row(
            "calendly/invitee_created.json",
            JSON,
            CALENDLY,
            vec![
                calendly("s:submission:https://api.calendly.com/scheduled_events/EVT123/invitees/INV456,invitee.created")
                    .at("2026-03-02T09:15:04.123456Z", "2026-03-02T09:15:04.123456Z"),
            ],
        ),
        none("calendly/resched_1_canceled.json", "an amendment: the meeting was moved"),
        // That it replaces another is the provider's kind to know; a generic source sees a new id.
        row(
            "calendly/resched_2_created.json",
            JSON,
            CALENDLY,
            vec![
                calendly("s:submission:https://api.calendly.com/scheduled_events/EVT999/invitees/INV777,invitee.created")
                    .at("2026-03-03T08:00:00.000000Z", "2026-03-03T08:00:00Z"),
            ],
        ),
        shopify("shopify/customers_create.json"),
        shopify("shopify/customers_create.second_subscription.json"),
        standard("standard-webhooks/retry_attempt1.json"),
        standard("standard-webhooks/retry_attempt2.json"),
        standard("standard-webhooks/retry_attempt3.json"),
        // Thin: an id and a time.
        Row {
            file: "standard-webhooks/spec_contact_created.json",
            content_type: JSON,
            headers: &[("webhook-id", "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W")],
            source: "identity = { submission = \"header:webhook-id\" }\nmap = { occurred_at = \"/timestamp\" }",
            expect: Expect::Items(vec![
                lead("s:submission:msg_2KWPBgLlAfxdpx2AI54pPJ85f4W").at("2022-11-03T20:26:10.344522Z", "2022-11-03T20:26:10.344522Z"),
            ]),
        },
        none("standard-webhooks/vector1.badsig.json", "a signature vector"),
        none("standard-webhooks/vector1.json", "a signature vector"),
        none("standard-webhooks/vector1.multisig.json", "a signature vector"),
        none("standard-webhooks/vector2.json", "a signature vector"),
        stripe("stripe/checkout_session_completed.json"),
        stripe("stripe/checkout_session_completed.retry.json"),
    ]
}
