//! What the model is asked: the versioned prompt, the schema, and the enquiry as data.
//!
//! The enquiry stands in one JSON string of the user message and nowhere else, so no fence, verdict or role that it holds
//! can end the place it stands in.

use serde_json::{Value, json};

use super::OpenAiParams;
use super::text::Given;

/// The system message. A change of it is a new file with a new number; an answer's evidence names the one it was made with.
pub const PROMPT: &str = include_str!("prompts/qualify.v1.txt");
/// Its name in the journal.
pub const PROMPT_NAME: &str = "qualify.v1";

/// Every type of request that a model may name: those of the rules, and what a reader can tell beside them.
pub(super) const REQUEST_TYPES: [&str; 10] =
    ["quote", "sales", "booking", "question", "support", "complaint", "job", "partnership", "spam", "other"];

/// The request's body.
pub(super) fn body(params: &OpenAiParams, given: &Given) -> Vec<u8> {
    let enquiry = json!({"message": given.message, "fields": given.fields, "cut": given.cut_at.is_some()});
    let mut body = json!({
        "model": params.model,
        "stream": false,
        "messages": [
            {"role": "system", "content": PROMPT},
            {"role": "user", "content": enquiry.to_string()},
        ],
        // The nested form: llama.cpp ignores the flat one silently.
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "qualification", "strict": true, "schema": schema()},
        },
    });
    // OpenAI's newer models refuse `max_tokens` and any temperature of ours; those that imitate its API may not know the other.
    if params.is_openais_own {
        body["max_completion_tokens"] = json!(params.max_tokens);
    } else {
        body["max_tokens"] = json!(params.max_tokens);
        body["temperature"] = json!(0);
    }
    body.to_string().into_bytes()
}

/// The subset of JSON Schema that strict mode takes everywhere: every member required, none besides, nullable by a list of
/// types, and no bounds of lengths or numbers, which some servers refuse; those are checked when the answer is read.
pub(super) fn schema() -> Value {
    let fact = || json!({"type": ["string", "null"]});
    json!({
        "type": "object",
        "properties": {
            "request_type": {"type": "string", "enum": REQUEST_TYPES},
            "priority": {"type": "string", "enum": ["low", "normal", "high"]},
            "summary": {"type": "string"},
            "qualified": {"type": "boolean"},
            "confidence": {"type": "number"},
            "budget": fact(),
            "contact": {
                "type": ["object", "null"],
                "properties": {"email": fact(), "phone": fact(), "name": fact(), "company": fact()},
                "required": ["email", "phone", "name", "company"],
                "additionalProperties": false,
            },
            "reply_draft": fact(),
        },
        "required": ["request_type", "priority", "summary", "qualified", "confidence", "budget", "contact", "reply_draft"],
        "additionalProperties": false,
    })
}
