//! The text of a configuration: what was chosen is given, every other key stands beside it as a comment.

use super::SCHEMA_FILE;
use super::chosen::{AuthWord, Chosen, QualifierWord, Source, Target, TargetWord};
use crate::config::{Commented, commented, takes_word};

/// The template of a message, as a file.
pub(super) const LETTER: &str = "\
Subject: Your enquiry

Hello{% if enquiry.contact.name %} {{ enquiry.contact.name }}{% endif %},

thank you for your enquiry. We have it on record and will come back to you shortly.
";

/// Where the templates of messages stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    /// In files beside the configuration.
    Beside,
    /// In the configuration.
    Inside,
}

const HEAD: &str = "\
# What `oncebook init` wrote. Every key is here: with what it does, and what holds without it. A line like `#key = value`
# is only a proposal: take the `#` away and it holds. `oncebook config check` names every mistake; the file is read when
# the server starts. Secrets never stand here, only references: env:NAME or file:PATH.
";

type Given = Vec<(&'static str, String)>;

pub(super) fn of(chosen: &Chosen, letters: Letters) -> String {
    let mut text = String::new();
    if chosen.schema && letters == Letters::Beside {
        text.push_str("#:schema ./");
        text.push_str(SCHEMA_FILE);
        text.push('\n');
    }
    text.push_str(HEAD);
    text.push('\n');
    let none = Vec::new();
    let mut section = |name: &str, explained: bool, given: &Given, notes: &Given, leaves_out: &[&str]| {
        text.push_str(&commented(&Commented { section: name, given, explained, off: name == "token", leaves_out, notes }));
    };
    section("server", true, &vec![("listen", in_quotes(&chosen.listen)), ("data_dir", in_quotes("oncebook-data"))], &none, &[]);
    section("store", true, &none, &none, &[]);
    for (n, source) in chosen.sources.iter().enumerate() {
        section("source", n == 0, &of_source(chosen, source), &notes_of_source(chosen, source), &[]);
    }
    let (qualifier, notes) = of_qualifier(chosen);
    section("qualifier", true, &qualifier, &notes, &[]);
    section("engine", true, &none, &none, &[]);
    for (n, target) in chosen.targets.iter().enumerate() {
        let is_first = !chosen.targets[..n].iter().any(|other| other.kind == target.kind);
        section("target", is_first, &of_target(target), &notes_of_target(target), &[]);
    }
    for (n, target) in chosen.targets.iter().enumerate() {
        let is_message = |target: &Target| target.kind == TargetWord::Outbox;
        let is_first = !chosen.targets[..n].iter().any(|other| is_message(other) == is_message(target));
        // What is left out would be refused beside what is given.
        let leaves_out: &[&str] = match (is_message(target), letters) {
            (false, _) => &["subject", "template", "text"],
            (true, Letters::Beside) => &["text"],
            (true, Letters::Inside) => &["template"],
        };
        section("action", is_first, &of_action(chosen, target, letters), &none, leaves_out);
    }
    let token = vec![("name", in_quotes("n8n")), ("secret", in_quotes("env:N8N_TOKEN"))];
    section("token", true, &token, &none, &[]);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn of_source(chosen: &Chosen, source: &Source) -> Given {
    let variable = &source.variable;
    let auth = match chosen.auth {
        AuthWord::None => r#"{ scheme = "none" }"#.to_owned(),
        AuthWord::Bearer => format!(r#"{{ scheme = "bearer", secret = "env:{variable}" }}"#),
        AuthWord::Basic => format!(r#"{{ scheme = "basic", user = {}, password = "env:{variable}" }}"#, in_quotes(&source.name)),
        AuthWord::HmacSha256 => format!(r#"{{ scheme = "hmac-sha256", header = "X-Signature", secret = "env:{variable}" }}"#),
        AuthWord::StandardWebhooks => format!(r#"{{ scheme = "standard-webhooks", secret = "env:{variable}" }}"#),
    };
    let id = if chosen.auth == AuthWord::StandardWebhooks { "header:webhook-id" } else { "/submission_id" };
    let map = r#"{ "contact.email" = "/email", "contact.name" = "/name", "contact.phone" = "/phone", "contact.company" = "/company", message = "/message", occurred_at = "/submitted_at" }"#;
    vec![
        ("name", in_quotes(&source.name)),
        ("kind", in_quotes(&source.kind)),
        ("auth", auth),
        ("identity", format!(r#"{{ submission = "{id}" }}"#)),
        ("look_alike", r#"{ window = "10m", then = "hold" }"#.to_owned()),
        ("volatile", r#"["/sent_at", "/attempt"]"#.to_owned()),
        ("map", map.to_owned()),
    ]
}

fn notes_of_source(chosen: &Chosen, source: &Source) -> Given {
    let secret = chosen.secrets().into_iter().find(|secret| secret.variable == source.variable);
    let set = secret.map(|secret| {
        let set = format!("Set it with: export {}=\"{}\"", secret.variable, secret.made_by());
        ("auth", format!("{set} and give it to the sender."))
    });
    set.into_iter().collect()
}

fn of_qualifier(chosen: &Chosen) -> (Given, Given) {
    let rules = vec![("kind", in_quotes("rules"))];
    if chosen.qualifier == QualifierWord::Rules {
        return (rules, Vec::new());
    }
    let openai = vec![("kind", in_quotes("openai")), ("base_url", in_quotes("http://127.0.0.1:8080/v1")), ("model", in_quotes("local"))];
    if takes_word("qualifier", "kind", "openai") {
        let key = "Where the server wants a key: export MODEL_KEY=\"…\" and take the # away.";
        return (openai, vec![("api_key", key.to_owned())]);
    }
    let proposed: Vec<String> = openai.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    (rules, vec![("kind", format!("A model server is not in this version; once it is: {}", proposed.join(", ")))])
}

fn of_target(target: &Target) -> Given {
    let mut given = vec![("name", in_quotes(&target.name))];
    match target.kind {
        TargetWord::Desk => given.push(("kind", in_quotes("desk"))),
        TargetWord::Outbox => given.extend([("kind", in_quotes("outbox")), ("from", in_quotes("desk@example.com"))]),
        TargetWord::Http => given.extend([
            ("kind", in_quotes("http")),
            ("headers", format!("{{ Authorization = \"Bearer {{{{ secret('env:{}') }}}}\" }}", target.variable)),
            (
                "write",
                r#"{ method = "POST", url = "http://127.0.0.1:9901/deals", body = '{"external_key": {{ key|tojson }}, "title": {{ enquiry.summary|tojson }}, "email": {{ enquiry.contact.email|tojson }}}', id = "/id" }"#.to_owned(),
            ),
            (
                "find",
                r#"{ url = "http://127.0.0.1:9901/deals?external_key={{ key|urlencode }}", records = "/results", id = "/id", key = "/external_key", consistency = "strong" }"#.to_owned(),
            ),
            ("read", r#"{ url = "http://127.0.0.1:9901/deals/{{ id }}", key = "/external_key" }"#.to_owned()),
        ]),
    }
    given
}

fn notes_of_target(target: &Target) -> Given {
    match target.kind {
        TargetWord::Http => vec![
            ("headers", format!("Set it with: export {}=\"…\"", target.variable)),
            ("write", "CHANGE the addresses and fields of write, find and read to those of your API.".to_owned()),
        ],
        TargetWord::Outbox => vec![("from", "CHANGE it to yours.".to_owned())],
        TargetWord::Desk => Vec::new(),
    }
}

fn of_action(chosen: &Chosen, target: &Target, letters: Letters) -> Given {
    let mut given = vec![("name", in_quotes(&target.action)), ("target", in_quotes(&target.name))];
    if target.kind != TargetWord::Outbox {
        return given;
    }
    let records = chosen.targets.iter().filter(|other| other.kind != TargetWord::Outbox);
    let after: Vec<String> = records.map(|other| in_quotes(&other.action)).collect();
    if !after.is_empty() {
        given.push(("after", format!("[{}]", after.join(", "))));
    }
    match (letters, LETTER.split_once("\n\n")) {
        (Letters::Inside, Some((subject, text))) => {
            given.extend([("subject", in_quotes(subject.trim_start_matches("Subject: "))), ("text", format!("'''\n{text}'''"))]);
        }
        _ => given.push(("template", in_quotes(&target.letter()))),
    }
    given
}

/// A text as TOML writes it.
fn in_quotes(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
