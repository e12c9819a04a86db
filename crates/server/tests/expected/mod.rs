//! What every shared payload has to be read as: written down from its `.meta.md`, nothing computed.
//!
//! A generic source is set up for each as its provider's operator would do it. What only a provider's own kind can do (to
//! fetch a thin notification, to know a test lead by its placeholder, to decode `SendGrid`'s `charsets`) is marked as such.

#![allow(dead_code, unreachable_pub, reason = "the table is one binary's")]
#![allow(clippy::allow_attributes, clippy::too_many_lines, reason = "a table in a module of tests")]

mod providers;
mod quirks;

use serde_json::{Map, Value, json};

/// One payload.
pub struct Row {
    /// Its file, below the payloads' directory.
    pub file: &'static str,
    /// The declared type.
    pub content_type: &'static str,
    /// Further headers that the source reads.
    pub headers: &'static [(&'static str, &'static str)],
    /// The source's keys, as TOML.
    pub source: &'static str,
    /// What it is.
    pub expect: Expect,
}

/// What a payload is.
pub enum Expect {
    /// One item after the other.
    Items(Vec<Item>),
    /// It carries no enquiry, and why.
    NotAnEnquiry(&'static str),
}

/// What one item is the first time.
pub struct Item {
    pub verdict: &'static str,
    /// The key, or how it begins where it holds a digest.
    pub key: &'static str,
    /// Its fields, all of them.
    pub fields: Value,
    /// Why it is set aside.
    pub reason: &'static str,
}

impl Item {
    fn with(mut self, name: &str, value: Value) -> Self {
        let Some(members) = self.fields.as_object_mut() else { unreachable!("fields are an object") };
        members.insert(name.to_owned(), value);
        self
    }

    fn contact(mut self, name: &str, value: &str) -> Self {
        self.fields["contact"][name] = json!(value);
        self
    }

    pub fn email(self, value: &str) -> Self {
        self.contact("email", value)
    }

    pub fn name(self, value: &str) -> Self {
        self.contact("name", value)
    }

    pub fn phone(self, value: &str) -> Self {
        self.contact("phone", value)
    }

    pub fn company(self, value: &str) -> Self {
        self.contact("company", value)
    }

    pub fn message(self, value: &str) -> Self {
        self.with("message", json!(value))
    }

    pub fn channel(self, value: &str) -> Self {
        self.with("channel", json!(value))
    }

    /// The event time as it was sent, and in UTC.
    pub fn at(self, sent: &str, utc: &str) -> Self {
        self.with("occurred_at", json!(sent)).with("timestamp", json!(utc))
    }

    pub fn other(mut self, name: &str, value: &str) -> Self {
        self.fields["other"][name] = json!(value);
        self
    }

    /// A file that came.
    pub fn file(mut self, name: &str, kind: &str, length: u64, sha256: &str) -> Self {
        let file = json!({"name": name, "content_type": kind, "length": length, "sha256": sha256, "fetched": true});
        let Some(list) = self.fields["attachments"].as_array_mut() else { unreachable!("attachments are a list") };
        list.push(file);
        self
    }

    /// A file elsewhere.
    pub fn url(mut self, url: &str) -> Self {
        let Some(list) = self.fields["attachments"].as_array_mut() else { unreachable!("attachments are a list") };
        list.push(json!({"url": url, "fetched": false}));
        self
    }

    pub fn named_url(mut self, name: &str, kind: &str, url: &str) -> Self {
        let Some(list) = self.fields["attachments"].as_array_mut() else { unreachable!("attachments are a list") };
        list.push(json!({"name": name, "content_type": kind, "url": url, "fetched": false}));
        self
    }

    pub fn verdict(self, verdict: &'static str) -> Self {
        Self { verdict, ..self }
    }
}

/// An enquiry under a key.
pub fn lead(key: &'static str) -> Item {
    let contact = json!({"email": null, "name": null, "phone": null, "company": null});
    let mut fields = Map::new();
    fields.insert("contact".to_owned(), contact);
    fields.insert("channel".to_owned(), json!("form"));
    fields.insert("attachments".to_owned(), json!([]));
    fields.insert("other".to_owned(), json!({}));
    for name in ["message", "occurred_at", "timestamp"] {
        fields.insert(name.to_owned(), Value::Null);
    }
    Item { verdict: "accepted", key, fields: Value::Object(fields), reason: "" }
}

/// An item that is set aside, with these words.
pub fn aside(verdict: &'static str, reason: &'static str) -> Item {
    Item { verdict, key: "", fields: Value::Null, reason }
}

fn row(file: &'static str, content_type: &'static str, source: &'static str, items: Vec<Item>) -> Row {
    Row { file, content_type, headers: &[], source, expect: Expect::Items(items) }
}

fn none(file: &'static str, why: &'static str) -> Row {
    Row { file, content_type: "", headers: &[], source: "", expect: Expect::NotAnEnquiry(why) }
}

/// Directories whose files are not delivered by anybody who asks for something.
pub const NOT_DELIVERED: [(&str, &str); 3] = [
    ("crm-responses/", "a target's answers"),
    ("llm-outputs/", "a model's answers: the qualifier's tests read them"),
    ("n8n/", "another engine's export: import reads it"),
];

/// Every payload.
pub fn rows() -> Vec<Row> {
    providers::rows().into_iter().chain(quirks::rows()).collect()
}
