//! The identity rule of a source: where the key is read, and the reading itself.
//!
//! The strongest basis that the delivery can fill is taken; a missing or blank id is no id, never a value that others
//! share. What a key means for the book is [`mod@super::judge`]'s business, and so is flagging a weak one.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use unicode_normalization::UnicodeNormalization as _;

use super::content::{self, normal_form};
use super::event_time::{self, EventTime, Precision};
use super::key::{Basis, Key};
use crate::digest::{BookSecret, Digest};
use crate::enquiry::Fields;
use crate::tree::{Pointer, Tree};

/// Where a value stands in a delivery: a JSON Pointer into the body, or `header:NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the body.
    Body(Pointer),
    /// In a header, by its lower-case name.
    Header(String),
}

/// The headers of a delivery, names in lower case, in the order they came.
pub type Headers = [(String, String)];

/// The `time` basis: where the original event time stands, and what narrows it beside the contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeRule {
    /// Where the event time stands.
    pub at: Place,
    /// Further places whose values narrow it.
    pub with: Vec<Place>,
}

/// A source's identity rule, one version of it. Serialised, it is what the book keeps and compares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Where the provider's id of the event stands: one place or several.
    pub submission: Vec<Place>,
    /// The event time, where there is no id.
    pub time: Option<TimeRule>,
    /// IANA name of the zone of naive local times.
    pub timezone: Option<String>,
    /// Places that differ per attempt: not content.
    pub volatile: Vec<Pointer>,
    /// Where the contact's address stands: compared without case in the content.
    pub address: Option<Pointer>,
}

/// What a rule read out of one delivery (or one item of a batch).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The key, variant 1.
    pub key: Key,
    /// Keyed digest of the content.
    pub content: Digest,
    /// Keyed digest of the mapped fields, id and time aside; `None` where no message is mapped.
    pub look_alike: Option<Digest>,
    /// The local event time stands for two instants, or for none: a person should look.
    pub ambiguous_time: bool,
}

/// Why no identity could be read. The delivery is quarantined with these words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unidentified {
    /// The event time is local and the source names no zone.
    #[error("the event time '{0}' names no offset, and the source has no `timezone`")]
    NaiveTime(String),
    /// The event time is no time we read.
    #[error("the event time at {0} is in no form we read")]
    UnreadableTime(String),
}

/// A text that names no place in a delivery.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no place in a delivery: write a JSON Pointer such as '/id', or 'header:NAME'")]
pub struct PlaceError(pub String);

impl Place {
    /// Reads the text form: a JSON Pointer to a member, or `header:NAME`.
    ///
    /// The pointer to the whole body (an empty text) is refused: as a rule's place it is a slip, and would silently
    /// leave every delivery without an id.
    pub fn parse(text: &str) -> Result<Self, PlaceError> {
        let error = || PlaceError(text.to_owned());
        if let Some(name) = text.strip_prefix("header:") {
            let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
            return if !name.is_empty() && name.bytes().all(is_token) { Ok(Self::Header(name.to_ascii_lowercase())) } else { Err(error()) };
        }
        match Pointer::parse(text) {
            Ok(pointer) if !pointer.0.is_empty() => Ok(Self::Body(pointer)),
            Ok(_) | Err(_) => Err(error()),
        }
    }

    /// The text of the leaf here. A header that came several times with different values says nothing certain.
    fn leaf<'a>(&self, body: &'a Tree, headers: &'a Headers) -> Option<&'a str> {
        match self {
            Self::Body(pointer) => body.at(pointer)?.leaf(),
            Self::Header(wanted) => {
                let mut values = headers.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
                let first = values.next()?;
                values.all(|value| value == first).then_some(first)
            }
        }
    }

    /// The id here: a text or a number as it was sent, composed (NFC) but not trimmed. `true` is a switch, no id.
    fn id(&self, body: &Tree, headers: &Headers) -> Option<String> {
        if let Self::Body(pointer) = self
            && let Some(Tree::Bool(_)) = body.at(pointer)
        {
            return None;
        }
        self.leaf(body, headers).filter(|text| !is_blank(text)).map(composed)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(pointer) => pointer.fmt(f),
            Self::Header(name) => write!(f, "header:{name}"),
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// What the bases are read from, with the content digest that two of them need.
struct Reading<'a> {
    body: &'a Tree,
    headers: &'a Headers,
    fields: &'a Fields,
    secret: &'a BookSecret,
    content: Digest,
}

impl Rule {
    /// Reads the identity of one delivery.
    pub fn read(
        &self,
        source: &str,
        body: &Tree,
        headers: &Headers,
        fields: &Fields,
        secret: &BookSecret,
    ) -> Result<Identity, Unidentified> {
        let content = content::digest(body, &self.volatile, self.address.as_ref(), secret);
        let reading = Reading { body, headers, fields, secret, content };
        let (basis, value, ambiguous_time) = if let Some(ids) = self.submission(&reading) {
            (Basis::Submission, ids, false)
        } else if let Some((value, ambiguous_time)) = self.event_time(&reading)? {
            (Basis::Time, value, ambiguous_time)
        } else {
            (Basis::Content, vec![short(&content)], false)
        };
        let key = Key::new(source, basis, value);
        Ok(Identity { key, content, look_alike: look_alike(fields, secret), ambiguous_time })
    }

    /// The ids, if the rule names places and every one of them holds an id. Half an id would be shared by others.
    fn submission(&self, reading: &Reading<'_>) -> Option<Vec<String>> {
        let ids = self.submission.iter().map(|place| place.id(reading.body, reading.headers)).collect::<Option<Vec<_>>>();
        ids.filter(|ids| !ids.is_empty())
    }

    /// The parts of a `time` key and whether its time is ambiguous; `None` where no time was sent.
    fn event_time(&self, reading: &Reading<'_>) -> Result<Option<(Vec<String>, bool)>, Unidentified> {
        let Some(rule) = &self.time else { return Ok(None) };
        let Some(sent) = rule.at.leaf(reading.body, reading.headers).filter(|text| !is_blank(text)) else { return Ok(None) };
        let (instant, precision, is_ambiguous) = match EventTime::read(sent) {
            EventTime::Instant { at, precision } => (event_time::instant_text(at), precision, false),
            EventTime::Local { at, precision } => {
                let (text, is_ambiguous) = self.local_text(at, precision)?;
                (text, precision, is_ambiguous)
            }
            EventTime::Unreadable => return Err(Unidentified::UnreadableTime(rule.at.to_string())),
        };
        let mut value = vec![instant, contact_part(reading)];
        value.extend(rule.with.iter().map(|place| place.leaf(reading.body, reading.headers).map(composed).unwrap_or_default()));
        // Two events of one person may share a minute: identical content is a redelivery, other content another event.
        if precision.is_coarse() {
            value.push(short(&reading.content));
        }
        Ok(Some((value, is_ambiguous)))
    }

    /// A local time in the source's zone. A zone that does not exist (`config check` refuses it) is like none: falling
    /// back on UTC would give keys that change once the name is mended.
    fn local_text(&self, at: jiff::civil::DateTime, precision: Precision) -> Result<(String, bool), Unidentified> {
        match self.timezone.as_deref().and_then(event_time::zone) {
            Some(zone) => Ok(event_time::local_text(at, precision, &zone)),
            None => Err(Unidentified::NaiveTime(at.to_string())),
        }
    }
}

/// The contact's part of a `time` key: a keyed fingerprint, so that a key tells nobody an address (I12).
fn contact_part(reading: &Reading<'_>) -> String {
    reading.fields.contact_handle().map_or_else(
        || "-".to_owned(),
        |(field, value)| short(&reading.secret.fingerprint("contact", [field.as_bytes(), value.as_bytes()])),
    )
}

/// What two enquiries that look alike have in common: the mapped fields but the time and the consent.
fn look_alike(fields: &Fields, secret: &BookSecret) -> Option<Digest> {
    let (contact, message) = (&fields.contact, fields.message.as_deref()?);
    let fixed = [("email", &contact.email), ("name", &contact.name), ("phone", &contact.phone), ("company", &contact.company)];
    let mut parts = vec![normal_form(message)];
    for (field, value) in fixed {
        parts.extend(value.iter().flat_map(|value| ["contact".to_owned(), field.to_owned(), normal_form(value)]));
    }
    for (name, value) in &fields.other {
        parts.extend(["other".to_owned(), name.clone(), normal_form(value)]);
    }
    Some(secret.fingerprint("look-alike", parts.iter().map(String::as_bytes)))
}

/// Half of a digest's hex digits: 128 bits, which no two events meet on by chance, and short enough for a target's field.
fn short(digest: &Digest) -> String {
    digest.to_string().chars().take(32).collect()
}

fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// Whether a text says nothing: white space and control characters only.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests;
