//! The fields that a source's mapping fills, normalised, with what was sent kept beside them.

use std::collections::BTreeMap;

use crate::identity::content::composed;
use serde::{Deserialize, Serialize};

use super::Attachment;

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Contact {
    /// E-mail address, lower-cased and trimmed. No dot or plus tricks: those are other addresses.
    pub email: Option<String>,
    /// The person's name.
    pub name: Option<String>,
    /// Phone number, as written.
    pub phone: Option<String>,
    /// The company.
    pub company: Option<String>,
}

/// An enquiry's mapped fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fields {
    /// Who asks.
    pub contact: Contact,
    /// What is asked.
    pub message: Option<String>,
    /// The original event time, as the provider wrote it.
    pub occurred_at: Option<String>,
    /// The original event time in UTC (RFC 3339), where what the provider wrote stands for one instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The way it came by, e.g. `form`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// What came with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Consent, as the form said it: kept as evidence, never judged.
    pub consent: Option<String>,
    /// Any further mapped field, by the name the mapping gives it.
    pub other: BTreeMap<String, String>,
    /// What was sent, where normalising changed it, by field.
    pub original: BTreeMap<String, String>,
}

/// One normalisation that was carried out: which field, and how. Holds no value, so the journal may carry it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The field, e.g. `contact.email`.
    pub field: String,
    /// What was done, e.g. `lower-cased`.
    pub how: String,
}

impl Fields {
    /// Sets the field of that name; unknown names go to `other`. Returns what normalising changed.
    pub fn set(&mut self, field: &str, sent: &str) -> Option<Note> {
        self.set_cleaned(field, sent, sent)
    }

    /// The same, where `clean` is what was sent without what no field may hold. Whatever changed, `sent` is kept beside it.
    pub fn set_cleaned(&mut self, field: &str, sent: &str, clean: &str) -> Option<Note> {
        let (value, how) = normalised(field, clean);
        if value != sent {
            self.original.insert(field.to_owned(), sent.to_owned());
        }
        let slot = match field {
            "contact.email" => &mut self.contact.email,
            "contact.name" => &mut self.contact.name,
            "contact.phone" => &mut self.contact.phone,
            "contact.company" => &mut self.contact.company,
            "message" => &mut self.message,
            "occurred_at" => &mut self.occurred_at,
            "consent" => &mut self.consent,
            "channel" => &mut self.channel,
            other => {
                if !value.is_empty() {
                    self.other.insert(other.to_owned(), value);
                }
                return how.map(|how| Note { field: field.to_owned(), how: how.to_owned() });
            }
        };
        *slot = (!value.is_empty()).then_some(value);
        how.map(|how| Note { field: field.to_owned(), how: how.to_owned() })
    }

    /// Whether the mapping found nothing at all that an enquiry is made of.
    pub fn is_empty(&self) -> bool {
        self.contact == Contact::default() && self.message.is_none() && self.other.is_empty()
    }

    /// What identifies the contact: the address, else the phone, else the name, with the name of the field.
    pub fn contact_handle(&self) -> Option<(&'static str, &str)> {
        let contact = &self.contact;
        [("email", &contact.email), ("phone", &contact.phone), ("name", &contact.name)]
            .into_iter()
            .find_map(|(field, value)| value.as_deref().map(|v| (field, v)))
    }
}

/// The normal form of a field's text, and the name of what was changed if anything a reader would see was.
fn normalised(field: &str, sent: &str) -> (String, Option<&'static str>) {
    let composed = composed(sent);
    let (value, how) = match field {
        "contact.email" => (composed.trim().to_lowercase(), "trimmed and lower-cased"),
        "contact.company" | "contact.name" => (composed.split_whitespace().collect::<Vec<_>>().join(" "), "white space collapsed"),
        "message" => (composed.replace("\r\n", "\n").trim().to_owned(), "line ends and outer white space"),
        _ => (composed.trim().to_owned(), "outer white space trimmed"),
    };
    let changed = value != sent;
    (value, changed.then_some(how))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_lower_cased_and_trimmed_and_the_original_is_kept() {
        let mut fields = Fields::default();
        let note = fields.set("contact.email", " Avery@Example.com ");
        assert_eq!(fields.contact.email.as_deref(), Some("avery@example.com"));
        assert_eq!(fields.original["contact.email"], " Avery@Example.com ");
        assert_eq!(note.unwrap().field, "contact.email");
        assert_eq!(fields.set("contact.email", "a.b+c@example.com"), None);
        assert_eq!(fields.contact.email.as_deref(), Some("a.b+c@example.com"));
    }

    #[test]
    fn a_company_is_normalised() {
        let mut fields = Fields::default();
        assert!(fields.set("contact.company", "  Sample \t GmbH ").is_some());
        assert_eq!(fields.contact.company.as_deref(), Some("Sample GmbH"));
    }

    #[test]
    fn blank_fields_are_no_fields_and_unmapped_names_are_kept() {
        let mut fields = Fields::default();
        fields.set("message", "  \r\n ");
        assert!(fields.is_empty());
        fields.set("budget", "500");
        assert_eq!(fields.other["budget"], "500");
        assert!(!fields.is_empty());
    }

    #[test]
    fn the_strongest_handle_names_the_contact() {
        let mut fields = Fields::default();
        assert_eq!(fields.contact_handle(), None);
        fields.set("contact.name", "Avery");
        fields.set("contact.phone", "+49 30 1");
        assert_eq!(fields.contact_handle(), Some(("phone", "+49 30 1")));
        fields.set("contact.email", "a@example.com");
        assert_eq!(fields.contact_handle(), Some(("email", "a@example.com")));
    }
}
