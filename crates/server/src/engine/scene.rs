//! The scene: what templates and conditions see of an enquiry. Absent values are null, never missing, so that a template
//! that names one renders `null` and one that misspells a name fails.

use domain::enquiry::{Enquiry, Fields, Qualification};
use serde_json::{Value, json};

/// How long a summary that nobody wrote may be, in characters.
const SUMMARY_MAX: usize = 80;

/// What an action's templates see. `key` is the outgoing key.
pub(super) fn scene(enquiry: &Enquiry, key: &str, action: &str, ordinal: u32) -> Value {
    let empty = Fields::default();
    let fields = enquiry.fields.as_ref().unwrap_or(&empty);
    let contact = &fields.contact;
    json!({
        "key": key,
        "action": action,
        "ordinal": ordinal,
        "enquiry": {
            "id": enquiry.id.as_str(),
            "key": enquiry.key.to_string(),
            "source": enquiry.key.source,
            "client": enquiry.client,
            "accepted_at": enquiry.accepted_at.rfc3339(),
            "occurred_at": fields.occurred_at,
            "summary": summary(enquiry.qualification.as_ref(), fields, &enquiry.key.to_string()),
            "message": fields.message,
            "consent": fields.consent,
            "contact": {
                "email": contact.email,
                "name": contact.name,
                "phone": contact.phone,
                "company": contact.company,
            },
            "other": fields.other,
        },
        "qualification": enquiry.qualification,
    })
}

/// The model's line, else the message's first, else the key: a record always has a title.
fn summary(qualification: Option<&Qualification>, fields: &Fields, key: &str) -> String {
    if let Some(summary) = qualification.map(|q| q.summary.trim()).filter(|s| !s.is_empty()) {
        return summary.to_owned();
    }
    let line = fields.message.as_deref().and_then(|m| m.lines().find(|line| !line.trim().is_empty()));
    line.map_or_else(|| format!("Enquiry {key}"), |line| line.trim().chars().take(SUMMARY_MAX).collect())
}
