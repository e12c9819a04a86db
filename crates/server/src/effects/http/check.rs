//! The headers, tried once before there is an enquiry: a secret that is not set is found at the start, not at the first write.
//!
//! Compiling shows nothing of that: secrets are fetched when a header is rendered, so that a rotated one is the present one.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Object, Serde};
use serde_json::json;

use super::Http;

impl Http {
    /// Renders every header of a sample enquiry, in which nothing is missing. Each problem names its header, and no value.
    pub fn check(&self) -> Result<(), Vec<String>> {
        let scene = sample();
        let tried = self.headers.iter().map(|(name, template)| Self::header(name, template, &scene));
        let problems: Vec<String> = tried.filter_map(Result::err).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// What the engine's scenes hold, all of it filled.
fn sample() -> Value {
    let fixed = json!({
        "id": "enq_sample", "key": "sample:submission:1", "source": "sample", "client": "sample",
        "accepted_at": "2026-01-01T00:00:00.000Z", "occurred_at": "2026-01-01T00:00:00Z",
        "summary": "sample", "message": "sample", "consent": "sample",
        "contact": {"email": "sample@example.com", "name": "sample", "phone": "sample", "company": "sample"},
    });
    let fixed = fixed.as_object().into_iter().flatten();
    let mut enquiry: BTreeMap<&str, Value> = fixed.map(|(name, value)| (name.as_str(), Value::from(Serde(value)))).collect();
    enquiry.insert("other", Value::from_object(AnyName));
    let qualification = json!({
        "request_type": "other", "priority": "normal", "summary": "sample", "qualified": true, "confidence": 1.0,
        "budget": "sample", "contact_facts": [], "reply_draft": "sample",
    });
    let names = [
        ("key", Value::from("sample:submission:1")),
        ("action", Value::from("sample")),
        ("ordinal", Value::from(0)),
        ("id", Value::from("sample")),
        ("enquiry", Value::from_pairs(enquiry)),
        ("qualification", Value::from(Serde(&qualification))),
    ];
    Value::from_pairs(names)
}

/// The further mapped fields: their names are the user's own.
#[derive(Debug)]
struct AnyName;

impl Object for AnyName {
    fn get_value(self: &Arc<Self>, _: &Value) -> Option<Value> {
        Some(Value::from("sample"))
    }
}
