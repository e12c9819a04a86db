//! The names of a scene: what templates and conditions may use.
//!
//! A scene has all of them, null where an enquiry has none (`engine::scene`), so a name that is not here is a slip, and is
//! told of when the configuration is read. What stands in a value, and the source's own fields under `enquiry.other`, are
//! not known here.

/// The names at the top.
pub const ROOTS: [&str; 6] = ["key", "action", "ordinal", "enquiry", "qualification", "id"];

/// What a qualification holds (`domain::enquiry::Qualification`).
pub const QUALIFICATION: [&str; 8] =
    ["request_type", "priority", "summary", "qualified", "confidence", "budget", "contact_facts", "reply_draft"];

/// What an enquiry holds.
const ENQUIRY: [&str; 14] = [
    "id",
    "key",
    "source",
    "client",
    "channel",
    "accepted_at",
    "timestamp",
    "occurred_at",
    "summary",
    "message",
    "attachments",
    "consent",
    "contact",
    "other",
];

/// What a contact holds.
const CONTACT: [&str; 4] = ["email", "name", "phone", "company"];

/// What is wrong with a dotted name under one of the roots.
pub fn slip(path: &str) -> Option<String> {
    let mut parts = path.split('.');
    let (group, members, name) = match (parts.next()?, parts.next()?, parts.next()) {
        ("enquiry", "contact", Some(name)) => ("enquiry.contact", CONTACT.as_slice(), name),
        ("enquiry", name, _) => ("enquiry", ENQUIRY.as_slice(), name),
        ("qualification", name, _) => ("qualification", QUALIFICATION.as_slice(), name),
        _ => return None,
    };
    if members.contains(&name) {
        return None;
    }
    let own = if group == "enquiry" { "; a field of your own is `enquiry.other.NAME`" } else { "" };
    Some(format!("there is no `{group}.{name}`: `{group}` has {}{own}", members.join(", ")))
}
