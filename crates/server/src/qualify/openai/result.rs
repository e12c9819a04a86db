//! The content of an answer: taken whole or not at all, checked against the schema, cleaned, its facts compared with the
//! enquiry.
//!
//! Typed reading with every member named replaces a JSON Schema library (ADR 0022). No part is ever cut out of a longer text.

use domain::enquiry::{Priority, Qualification};
use serde::{Deserialize, Deserializer};

use super::Refusal;
use super::request::REQUEST_TYPES;
use super::supported::{Kind, stands};
use super::text::{Given, line, visible};
use crate::qualify::Failure;

/// A longer summary is no line; a shorter one is cut to [`LINE_MAX`]. In characters.
const SUMMARY_MAX: usize = 2_000;
const LINE_MAX: usize = 160;
/// The longest fact, the longest amount, and the longest draft, in characters.
const FACT_MAX: usize = 300;
const AMOUNT_MAX: usize = 60;
const DRAFT_MAX: usize = 8_000;
/// What models write where there is nothing.
const NOTHING: [&str; 11] = ["", "n/a", "na", "none", "null", "unknown", "not specified", "not provided", "keine angabe", "-", "—"];

/// The content, as the schema has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    request_type: String,
    priority: Priority,
    summary: String,
    qualified: bool,
    confidence: f64,
    #[serde(deserialize_with = "present")]
    budget: Option<String>,
    #[serde(deserialize_with = "present")]
    contact: Option<Contact>,
    #[serde(deserialize_with = "present")]
    reply_draft: Option<String>,
}

/// A member that is left out says as much as null: servers that do not know `strict` leave them out.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Contact {
    email: Option<String>,
    phone: Option<String>,
    name: Option<String>,
    company: Option<String>,
}

/// Null is a value; a member that is not there is a mistake.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

/// Reads it whole, or says what does not fit, in words that repeat nothing of it.
pub(super) fn read(content: &str, given: &Given) -> Result<Qualification, Refusal> {
    let invalid = |why: String| Refusal::of(Failure::Invalid, why);
    let content: Content = serde_json::from_str(unfenced(content)).map_err(|e| invalid(misfit(&e)))?;
    if !REQUEST_TYPES.contains(&content.request_type.as_str()) {
        return Err(invalid("request_type is none of the schema's".to_owned()));
    }
    if !(0.0..=1.0).contains(&content.confidence) {
        return Err(invalid("confidence is not from 0 to 1".to_owned()));
    }
    let summary = line(&content.summary, LINE_MAX);
    if summary.is_empty() || content.summary.chars().count() > SUMMARY_MAX {
        return Err(invalid("summary is empty, or no line".to_owned()));
    }
    let contact = content.contact.unwrap_or_default();
    let draft = content.reply_draft.as_deref().map(|draft| visible(draft).0.trim().to_owned()).filter(|draft| !is_nothing(draft));
    let too_long = |text: &Option<String>, most: usize| text.as_ref().is_some_and(|text| text.chars().count() > most);
    let facts = [&content.budget, &contact.email, &contact.phone, &contact.name, &contact.company];
    if too_long(&draft, DRAFT_MAX) || facts.into_iter().any(|fact| too_long(fact, FACT_MAX)) {
        return Err(invalid("a text is longer than the schema's reader takes".to_owned()));
    }
    let mut unsupported = Vec::new();
    let own = &given.contact;
    let named = [
        ("email", Kind::Email, contact.email, &own.email),
        ("phone", Kind::Phone, contact.phone, &own.phone),
        ("name", Kind::Words, contact.name, &own.name),
        ("company", Kind::Words, contact.company, &own.company),
    ];
    let mut contact_facts = Vec::new();
    for (name, kind, fact, own) in named {
        let Some(fact) = said(fact) else { continue };
        let is_there = stands(kind, &fact, &given.whole) || own.as_ref().is_some_and(|own| stands(kind, &fact, own));
        if is_there { &mut contact_facts } else { &mut unsupported }.push(format!("{name}: {fact}"));
    }
    let budget = said(content.budget);
    let (budget, invented) = match budget {
        Some(amount) if !(is_amount(&amount) && stands(Kind::Words, &amount, &given.whole)) => (None, Some(amount)),
        budget => (budget, None),
    };
    unsupported.extend(invented.map(|amount| format!("budget: {amount}")));
    Ok(Qualification {
        request_type: content.request_type,
        priority: content.priority,
        summary,
        qualified: content.qualified,
        confidence: content.confidence,
        budget,
        contact_facts,
        unsupported,
        reply_draft: draft,
    })
}

/// A fact as one line; `None` where the model only says that there is none.
fn said(fact: Option<String>) -> Option<String> {
    fact.map(|fact| line(&fact, FACT_MAX)).filter(|fact| !is_nothing(fact))
}

/// A small model gave the whole message as the budget: what has no digit, or is a sentence, is no amount.
fn is_amount(text: &str) -> bool {
    text.chars().any(char::is_numeric) && text.chars().count() <= AMOUNT_MAX
}

fn is_nothing(text: &str) -> bool {
    NOTHING.contains(&text.to_lowercase().as_str())
}

/// The content of one code fence that surrounds everything, else the text itself. A fence with anything before or behind it
/// is not taken off: what stands there may say the opposite.
fn unfenced(text: &str) -> &str {
    let text = text.trim_start_matches('\u{FEFF}').trim();
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let Some((word, inner)) = inner.and_then(|inner| inner.split_once('\n')) else { return text };
    if word.trim().chars().all(|c| c.is_ascii_alphanumeric()) { inner.trim() } else { text }
}

/// The parser's words may repeat the answer, so only ours are taken: names of our own members, and places.
fn misfit(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let words = error.to_string();
    let own = ["missing field `", "duplicate field `"].iter().any(|begin| words.starts_with(begin));
    match (error.is_data(), own) {
        (true, true) => format!("the answer does not fit the schema: {}", words.split(" at line").next().unwrap_or_default()),
        (true, false) => format!("the answer does not fit the schema (line {line}, column {column})"),
        (false, _) => format!("the answer is not JSON, whole and by itself (line {line}, column {column})"),
    }
}
