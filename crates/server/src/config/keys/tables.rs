//! The tables themselves. A line a key: `needed`, `usual` (with its default), `follows` (a default that rests on other keys) or
//! `optional`; the name, the shape, the default or an example as written in the file, what it does.

use super::Shape::{
    Address, Allowance, Consistency, Flag, Many, Name, Pairs, Pattern, Place, Pointer, Secret, Share, Size, Span, Statuses, Tables, Text,
    Whole, Word,
};
use super::{Shape, Table, follows, needed, optional, usual};

/// The file.
pub(in crate::config) const ROOT: Table = Table {
    by: None,
    keys: &[
        optional("server", Shape::Table(&SERVER), "{ }", "Where this server listens, what the outside calls it, where its files are."),
        optional("store", Shape::Table(&STORE), "{ }", "The book."),
        optional("source", Tables(&SOURCE), "[]", "Where enquiries come from: a form, a webhook, a partner."),
        optional("qualifier", Shape::Table(&QUALIFIER), "{ }", "Who turns an enquiry's text into a request type, a priority, a summary."),
        optional("engine", Shape::Table(&ENGINE), "{ }", "How what follows from an enquiry is carried out."),
        optional("target", Tables(&TARGET), "[]", "Where something is done: a CRM, an outbox, any HTTP API."),
        optional("action", Tables(&ACTION), "[]", "What is done for an enquiry, and on which target."),
        optional("token", Tables(&TOKEN), "[]", "Who may use API and console from elsewhere than this machine."),
    ],
};

const SERVER: Table = Table {
    by: None,
    keys: &[
        usual(
            "listen",
            Text,
            r#""127.0.0.1:8484""#,
            "IP address and port. On loopback, without public_url and tokens, API and console are open to this machine; otherwise they need a [[token]].",
        ),
        optional(
            "public_url",
            Address,
            r#""https://intake.example.com""#,
            "What the outside calls this server. With it, a source without auth must say open = true.",
        ),
        usual("data_dir", Text, r#""oncebook-data""#, "Where book, desk and outbox are; relative to the working directory."),
        usual("body_max", Size, r#""1MiB""#, "The longest body that a source takes; a longer one is answered 413."),
        usual(
            "in_flight_max",
            Size,
            r#""16MiB""#,
            "The most bytes of bodies that are held at once; what comes beyond is asked to wait, and then to come again (503). Memory is a few times as much.",
        ),
        usual(
            "connections_max",
            Whole(1, 65_536),
            "1024",
            "The most connections at once; one more takes the place of the one that has idled longest, or is told to come again (503).",
        ),
        usual(
            "head_timeout",
            Span,
            r#""30s""#,
            "The longest that a connection may take to say the head of its next request; then it is closed.",
        ),
        usual(
            "answer_timeout",
            Span,
            r#""30s""#,
            "The longest that an answer may wait for its reader to take any of it; then the connection is closed.",
        ),
    ],
};

const STORE: Table = Table {
    by: None,
    keys: &[
        follows("url", Text, "sqlite: and book.db in data_dir", r#""sqlite:oncebook-data/book.db""#, "Where the book is: sqlite:PATH."),
        usual("batch_max", Whole(1, 10_000), "256", "The most deliveries that share one commit."),
    ],
};

const SOURCE: Table = Table {
    by: None,
    keys: &[
        needed("name", Name, r#""website""#, "Part of the address, /in/NAME."),
        follows("id", Name, "the name", r#""website""#, "What keys carry. Write it down before you rename a source, and its keys stay."),
        follows(
            "client",
            Name,
            "the only one named anywhere",
            r#""acme""#,
            "Whose enquiries these are; needed once there are two clients.",
        ),
        usual(
            "kind",
            Word(&["generic"]),
            r#""generic""#,
            "How bodies are read: JSON, JSON lines, forms with their files, text; packed or not (docs/connectors.md).",
        ),
        usual("auth", Shape::Table(&AUTH), r#"{ scheme = "none" }"#, "How a delivery proves where it comes from."),
        follows(
            "identity",
            Shape::Table(&IDENTITY),
            "the content; header:webhook-id under Standard Webhooks",
            r#"{ submission = "/submission_id" }"#,
            "Where the key of the original event is read: its id, else its time, else its content.",
        ),
        usual(
            "look_alike",
            Shape::Table(&LOOK_ALIKE),
            "{ }",
            "What becomes of an enquiry under a new key that repeats the fields of a recent one.",
        ),
        optional(
            "timezone",
            Text,
            r#""Europe/Berlin""#,
            "IANA name of the zone of event times without an offset; without it a delivery whose key rests on its time is quarantined, and another has no timestamp.",
        ),
        usual(
            "volatile",
            Many(&Pattern),
            "[]",
            "Pointers to what differs with each attempt, and so is not content; * stands for any member or element.",
        ),
        optional(
            "items",
            Pattern,
            r#""/entries/*""#,
            "Where the items stand, if one body carries several; other pointers then count from the item.",
        ),
        usual("channel", Text, r#""form""#, "The way its enquiries come by, a word."),
        usual("embedded", Many(&Pointer), "[]", "Places (at most 8) whose text is JSON itself: other pointers lead on into it."),
        usual(
            "map",
            Pairs(&Many(&Place)),
            "{ }",
            "Where each field stands: contact.email, contact.name, contact.phone, contact.company, message, occurred_at, consent, channel, attachments. A list of places is put together. Any other name becomes a field of that name, enquiry.other.NAME.",
        ),
        optional(
            "test",
            Place,
            r#""/is_test""#,
            "A place that holds something true in a provider's test delivery: nothing is done for it.",
        ),
        optional("request_id", Place, r#""header:X-Request-Id""#, "A place of the provider's id of the request: evidence, never identity."),
        optional("attempt", Place, r#""header:X-Attempt""#, "A place of the attempt counter: evidence, never identity."),
    ],
};

const SIGNED: &[&str] = &["bearer", "hmac-sha256", "standard-webhooks"];

const AUTH: Table = Table {
    by: Some("scheme"),
    keys: &[
        needed(
            "scheme",
            Word(&["none", "bearer", "basic", "hmac-sha256", "standard-webhooks"]),
            r#""hmac-sha256""#,
            "none; bearer: the secret in a header; basic: name and password; hmac-sha256: a signature over the raw body; standard-webhooks: the scheme of that name.",
        ),
        usual("open", Flag, "false", "True where it is meant that anybody who reaches the server can post.").only(&["none"]),
        usual("header", Text, r#""authorization""#, "The header that holds the secret.").only(&["bearer"]),
        needed("header", Text, r#""X-Signature""#, "The header that holds the signature.").only(&["hmac-sha256"]),
        follows("prefix", Text, "\"Bearer \" in authorization, else nothing", r#""Bearer ""#, "What stands before the secret.")
            .only(&["bearer"]),
        usual("prefix", Text, r#""""#, "What stands before the signature; sha256= is always taken.").only(&["hmac-sha256"]),
        optional("encoding", Word(&["hex", "base64"]), r#""hex""#, "How the signature is written; either, if not said.")
            .only(&["hmac-sha256"]),
        optional("secret", Secret, r#""env:WEBSITE_SECRET""#, "The secret, by reference: env:NAME or file:PATH.").only(SIGNED),
        optional("secrets", Many(&Secret), r#"["env:NEW", "env:OLD"]"#, "Several of them, any of which will do: while it is rotated.")
            .only(SIGNED),
        needed("user", Text, r#""form""#, "The name.").only(&["basic"]),
        optional("password", Secret, r#""env:WEBSITE_PASSWORD""#, "The password, by reference: env:NAME or file:PATH.").only(&["basic"]),
        optional("passwords", Many(&Secret), r#"["env:NEW", "env:OLD"]"#, "Several of them, any of which will do: while it is rotated.")
            .only(&["basic"]),
    ],
};

const IDENTITY: Table = Table {
    by: None,
    keys: &[
        follows(
            "submission",
            Many(&Place),
            "none; header:webhook-id under Standard Webhooks, if there is no identity at all",
            r#""/submission_id""#,
            "The place of the provider's id of the submission, or several that make one together. It stays the same when the provider sends again.",
        ),
        optional("time", Place, r#""/submitted_at""#, "The place of the original event time, narrowed by the contact."),
        optional("with", Many(&Place), r#"["/form_id"]"#, "Further places that narrow the time."),
        usual("content", Span, r#""10m""#, "How long a copy counts as the same event where there is neither id nor time."),
    ],
};

const LOOK_ALIKE: Table = Table {
    by: None,
    keys: &[
        usual("window", Span, r#""10m""#, "How recent the other one is."),
        usual("then", Word(&["hold", "proceed"]), r#""hold""#, "Hold its effects for a person, or proceed."),
    ],
};

const QUALIFIER: Table = Table {
    by: Some("kind"),
    keys: &[
        usual(
            "kind",
            Word(&["rules", "openai"]),
            r#""rules""#,
            "rules: embedded; openai: a server that speaks that API, here or elsewhere.",
        ),
        needed("base_url", Address, r#""http://127.0.0.1:8080/v1""#, "The model server's address.").only(&["openai"]),
        needed("model", Text, r#""local""#, "The model's name there.").only(&["openai"]),
        optional("base_url", Address, r#""http://127.0.0.1:8080/v1""#, "A model server's address; unused by the rules.").only(&["rules"]),
        optional("model", Text, r#""local""#, "The model's name; unused by the rules.").only(&["rules"]),
        optional("api_key", Secret, r#""env:MODEL_KEY""#, "The model server's key, by reference; unused by the rules."),
        usual("max_tokens", Whole(16, 65_536), "1024", "The most tokens that a model's answer may have; unused by the rules."),
        usual("attempts", Whole(1, 20), "3", "How often it is tried before the enquiry goes on without."),
        usual("backoff", Span, r#""1s""#, "The wait after the first failure; doubled after each."),
        usual("timeout", Span, r#""30s""#, "The longest that one try may take."),
        usual("min_confidence", Share, "0.7", "A less certain result goes to review."),
    ],
};

const ENGINE: Table = Table {
    by: None,
    keys: &[
        usual("pause_max", Span, r#""10s""#, "The longest that a stalled process may sit between its deadline check and the send."),
        usual("workers", Whole(0, 1_024), "32", "How much is worked on at once; 0 enters and answers deliveries, and works on nothing."),
        usual("backoff", Span, r#""1s""#, "The wait after an effect's first failure; doubled after each."),
        usual("backoff_max", Span, r#""60s""#, "The longest such wait."),
        usual("attempts", Whole(1, 100), "5", "How many attempts at one effect may reach the target before a person looks."),
        usual("give_up_after", Span, r#""7d""#, "How long an effect is tried at all."),
    ],
};

const TARGET: Table = Table {
    by: Some("kind"),
    keys: &[
        needed("name", Name, r#""crm""#, "Actions, pause and resume call it by it."),
        needed(
            "kind",
            Word(&["desk", "outbox", "http"]),
            r#""desk""#,
            "desk: the embedded CRM; outbox: a Maildir, NAME.outbox in data_dir; http: any API.",
        ),
        follows("client", Name, "the only one named anywhere", r#""acme""#, "Whose it is; needed once there are two clients."),
        usual("timeout", Span, r#""5s""#, "The longest that one call may take."),
        usual("settle", Span, r#""30s""#, "The longest that a request may still take effect after it was sent.").only(&["http"]),
        usual("settle", Span, r#""0s""#, "The longest that a request may still take effect after it was sent.").only(&["desk", "outbox"]),
        usual("mode", Word(&["live", "shadow"]), r#""live""#, "shadow: it is never called; it is paused, and its effects wait."),
        usual("sandbox", Flag, "false", "Marks a target for acceptance runs, which come later."),
        usual(
            "on_unknown",
            Word(&["review", "at-least-once", "at-most-once"]),
            r#""review""#,
            "After an outcome that no look-up can clear: a person decides, or it is sent again, or it is given up.",
        ),
        needed("from", Text, r#""desk@example.com""#, "The sender's address.").only(&["outbox"]),
        usual(
            "headers",
            Pairs(&Text),
            "{ }",
            "Headers of every request: templates, the only ones that may say {{ secret('env:NAME') }}.",
        )
        .only(&["http"]),
        needed(
            "write",
            Shape::Table(&WRITE),
            r#"{ url = "http://127.0.0.1:9901/deals", body = '{"external_key": {{ key|tojson }}}' }"#,
            "How a record is written. It must carry our key, {{ key }}.",
        )
        .only(&["http"]),
        optional(
            "find",
            Shape::Table(&FIND),
            r#"{ url = "http://127.0.0.1:9901/deals?external_key={{ key|urlencode }}", records = "/results", id = "/id", key = "/external_key", consistency = "strong" }"#,
            "How it is found by our key. Without it an unknown outcome is a person's to decide.",
        )
        .only(&["http"]),
        optional(
            "read",
            Shape::Table(&READ),
            r#"{ url = "http://127.0.0.1:9901/deals/{{ id }}", key = "/external_key" }"#,
            "How it is read back. Without it the look-up reads back.",
        )
        .only(&["http"]),
        usual("not_executed", Statuses, "[]", "Statuses from 400 to 599 that the API documents as \"not done\".").only(&["http"]),
    ],
};

const WRITE: Table = Table {
    by: None,
    keys: &[
        usual("method", Word(&["POST", "PUT", "PATCH"]), r#""POST""#, "The method."),
        needed("url", Text, r#""http://127.0.0.1:9901/deals""#, "Template of the address; the host stands in clear."),
        optional("body", Text, r#"'{"external_key": {{ key|tojson }}}'"#, "Template of the body."),
        usual("content_type", Text, r#""application/json""#, "What the body is; decides how values in it are escaped."),
        usual("id", Pointer, r#""/id""#, "Where the record's id stands in the answer; a 2xx without it is unknown."),
    ],
};

const FIND: Table = Table {
    by: None,
    keys: &[
        needed(
            "consistency",
            Consistency,
            r#""strong""#,
            "What a look-up proves: strong, lagging:30s, unique; or what the write promises by itself: upsert, window:24h.",
        ),
        usual("method", Word(&["GET"]), r#""GET""#, "The method."),
        optional(
            "url",
            Text,
            r#""http://127.0.0.1:9901/deals?external_key={{ key|urlencode }}""#,
            "Template of the address that lists the records with our key; needed but for upsert and window.",
        ),
        optional("records", Pointer, r#""/results""#, "Where the records stand in the answer; needed with url."),
        optional("id", Pointer, r#""/id""#, "Where the id stands in a record; needed with url."),
        optional("key", Pointer, r#""/external_key""#, "Where our key stands in a record; needed with url."),
        optional("next", Pointer, r#""/next""#, "Where the address of the next page stands."),
    ],
};

const READ: Table = Table {
    by: None,
    keys: &[
        usual("method", Word(&["GET"]), r#""GET""#, "The method."),
        needed("url", Text, r#""http://127.0.0.1:9901/deals/{{ id }}""#, "Template of the record's address."),
        needed("key", Pointer, r#""/external_key""#, "Where our key stands in the record."),
        usual("expect", Pairs(&Text), "{ }", "Further places, and the template of what must stand there."),
    ],
};

const ACTION: Table = Table {
    by: None,
    keys: &[
        needed("name", Name, r#""deal""#, "Part of every effect's identity."),
        needed("target", Text, r#""crm""#, "Where it is done."),
        follows("client", Name, "its target's", r#""acme""#, "Whose it is; it is done for that client's enquiries only."),
        usual("after", Many(&Text), "[]", "Actions that must be done first."),
        follows(
            "when",
            Text,
            "always; for messages qualification.qualified && enquiry.contact.email != null",
            r#""qualification.priority == \"high\"""#,
            "A condition in CEL over enquiry and qualification, evaluated once and stored.",
        ),
        follows(
            "review",
            Word(&["hold", "ignore"]),
            "ignore; for messages hold",
            r#""hold""#,
            "What a qualification that waits for a person does to it.",
        ),
        follows(
            "per_address",
            Allowance,
            "none; for messages 3/24h",
            r#""3/24h""#,
            "The most per address; read, and not enforced in this version.",
        ),
        follows(
            "not_after",
            Span,
            "none; for messages 24h",
            r#""24h""#,
            "How long after the original event it may still be done; later it is held.",
        ),
        follows(
            "subject",
            Text,
            "the template file's own, else \"Your enquiry\"",
            r#""Your enquiry""#,
            "Messages: template of the subject.",
        ),
        optional(
            "template",
            Text,
            r#""templates/follow-up.txt""#,
            "Messages: a file beside this one with the template of the text; it may begin with a line Subject: … and an empty line.",
        ),
        follows(
            "text",
            Text,
            "a short acknowledgement",
            r#""Thank you, {{ enquiry.contact.name }}.""#,
            "Messages: the template itself, instead of a file.",
        ),
    ],
};

const TOKEN: Table = Table {
    by: None,
    keys: &[
        needed("name", Name, r#""n8n""#, "What the journal calls its bearer."),
        needed("secret", Secret, r#""env:N8N_TOKEN""#, "The token, by reference; sent as Authorization: Bearer …."),
    ],
};
