//! The identity rule of a source: where the key is read, and the reading itself.
//!
//! The strongest basis that the delivery can fill is taken; a missing or blank id is no id, never a value that others
//! share. What a key means for the book is [`mod@super::judge`]'s business, and so is flagging a weak one.

use serde::{Deserialize, Serialize};

use super::content::{self, composed, normal_form};
use super::doubt::Ambiguity;
use super::event_time::{self, EventTime, Precision};
use super::key::{Basis, Key};
use super::place::{Headers, Place, is_blank};
use crate::digest::{BookSecret, Digest};
use crate::enquiry::Fields;
use crate::tree::{Pointer, Tree};

/// The `time` basis: where the original event time stands, and what narrows it beside the contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeRule {
    /// Where the event time stands.
    pub at: Place,
    /// Further places whose values narrow it.
    pub with: Vec<Place>,
}

/// Where the parts of the contact's handle stand: the address, else the phone, else the name narrows a `time` key.
///
/// The mapping names the same places, but it is not versioned: a rule that read the handle through it would give other
/// keys once the mapping changes (I8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContactPlaces {
    /// The address.
    pub email: Option<Place>,
    /// The phone number.
    pub phone: Option<Place>,
    /// The name.
    pub name: Option<Place>,
}

/// A source's identity rule, one version of it. Serialised, it is what the book keeps; compared as values, so that a
/// field which a later release adds is no change of the rule.
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
    /// Where the contact's handle stands. `None` where no `time` is read, and in versions from before it was part of the
    /// rule: those take it from the mapped fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<ContactPlaces>,
    /// Places whose text is JSON itself, and is read as part of the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub embedded: Vec<Pointer>,
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
    /// Where the key may not be the event's: a person should look.
    pub ambiguous: Vec<Ambiguity>,
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

/// A body as it was read. `lost`: digest of what had to be replaced in it for it to be read at all.
///
/// That counts as content: two bodies that differ only there are two, although they read alike (I3).
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// What was read.
    pub body: &'a Tree,
    /// What is not to be seen in it any more.
    pub lost: Option<&'a Digest>,
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
    /// Reads the identity of one delivery whose body came undamaged.
    pub fn read(
        &self,
        source: &str,
        body: &Tree,
        headers: &Headers,
        fields: &Fields,
        secret: &BookSecret,
    ) -> Result<Identity, Unidentified> {
        self.read_mended(source, Sent { body, lost: None }, headers, fields, secret)
    }

    /// Reads the identity of one delivery.
    pub fn read_mended(
        &self,
        source: &str,
        sent: Sent<'_>,
        headers: &Headers,
        fields: &Fields,
        secret: &BookSecret,
    ) -> Result<Identity, Unidentified> {
        let (body, lost_inside) = sent.body.opened(&self.embedded);
        let body = &*body;
        let mut content = content::digest(body, &self.volatile, self.address.as_ref(), secret);
        let is_damaged = sent.lost.is_some() || !lost_inside.is_empty();
        if is_damaged {
            let lost = sent.lost.map_or(&[][..], |lost| lost.as_bytes());
            content = secret.fingerprint("content-mended", [content.as_bytes().as_slice(), lost, &lost_inside]);
        }
        let ambiguous = self.ambiguous(body, is_damaged);
        let reading = Reading { body, headers, fields, secret, content };
        let (basis, value, ambiguous_time) = if let Some(ids) = self.submission(&reading) {
            (Basis::Submission, ids, false)
        } else if let Some((value, ambiguous_time)) = self.event_time(&reading)? {
            (Basis::Time, value, ambiguous_time)
        } else {
            (Basis::Content, vec![short(&content)], false)
        };
        let key = Key::new(source, basis, value);
        Ok(Identity { key, content, look_alike: look_alike(fields, secret), ambiguous_time, ambiguous })
    }

    /// Every place that this rule reads a key from.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        let of_time = self.time.iter().flat_map(|time| std::iter::once(&time.at).chain(&time.with));
        self.submission.iter().chain(of_time).chain(self.contact.iter().flat_map(ContactPlaces::named))
    }

    /// The UTC instant that a written time stands for in this rule's zone; `None` where it is none, or stands for several.
    pub fn instant(&self, sent: &str) -> Option<jiff::Timestamp> {
        match EventTime::read(sent) {
            EventTime::Instant { at, .. } => Some(at),
            EventTime::Local { precision: Precision::Day, .. } | EventTime::Unreadable => None,
            EventTime::Local { at, .. } => {
                let zone = self.timezone.as_deref().and_then(event_time::zone)?;
                zone.to_ambiguous_timestamp(at).unambiguous().ok()
            }
        }
    }

    /// Where what the key is read from may be something else. An event time counts where there is no id.
    fn ambiguous(&self, body: &Tree, is_damaged: bool) -> Vec<Ambiguity> {
        let ids = self.submission.iter().map(|place| ("submission", place, true));
        let has_id = !self.submission.is_empty() && self.submission.iter().all(|place| place.id(body, &[]).is_some());
        let time = self.time.iter().filter(|_| !has_id);
        let times =
            time.flat_map(|time| std::iter::once(("time", &time.at, false)).chain(time.with.iter().map(|with| ("with", with, false))));
        ids.chain(times).filter_map(|(field, place, is_id)| Ambiguity::at(field, place, body, is_damaged, is_id)).collect()
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
        let mut value = vec![instant, self.contact_part(reading)];
        value.extend(
            rule.with
                .iter()
                .map(|place| place.leaf(reading.body, reading.headers).map(|text| composed(text).into_owned()).unwrap_or_default()),
        );
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

    /// The contact's part of a `time` key: a keyed fingerprint, so that a key tells nobody an address (I12).
    fn contact_part(&self, reading: &Reading<'_>) -> String {
        let read_here = self.contact.as_ref().map(|places| places.fields(reading.body, reading.headers));
        read_here.as_ref().unwrap_or(reading.fields).contact_handle().map_or_else(
            || "-".to_owned(),
            |(field, value)| short(&reading.secret.fingerprint("contact", [field.as_bytes(), value.as_bytes()])),
        )
    }
}

impl ContactPlaces {
    /// The fields that stand at these places, in the form that a mapping would give them.
    fn fields(&self, body: &Tree, headers: &Headers) -> Fields {
        let mut fields = Fields::default();
        for (field, place) in [("contact.email", &self.email), ("contact.phone", &self.phone), ("contact.name", &self.name)] {
            let Some(text) = place.as_ref().and_then(|place| place.text(body, headers)) else { continue };
            // What normalising changed is told of the mapped fields.
            drop(fields.set(field, &text.replace('\0', "\u{FFFD}")));
        }
        fields
    }

    /// The places that are named.
    fn named(&self) -> impl Iterator<Item = &Place> {
        [&self.email, &self.phone, &self.name].into_iter().flatten()
    }
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

#[cfg(test)]
mod tests;
