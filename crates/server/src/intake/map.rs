//! From a body and its headers to an enquiry's fields, and from a batch to its items.
//!
//! Leaves are taken as they were sent: a phone that came as a number keeps its digits. What normalising changes is
//! `domain`'s business and comes back as notes. Pointers of a source with `items` count from the item.

use std::collections::BTreeMap;

use domain::enquiry::{Fields, Note};
use domain::identity::{Ambiguity, Headers, Place};
use domain::tree::{Pointer, Tree};

use super::attach::Found;

/// Where each field stands, by the field's name (`contact.email`). What stands at several places is put together.
pub type Mapping = BTreeMap<String, Vec<Place>>;

/// The field that lists files and addresses of files.
pub(super) const ATTACHMENTS: &str = "attachments";

/// What a mapping takes out of one body.
#[derive(Debug, Default)]
pub(super) struct Mapped {
    pub(super) fields: Fields,
    /// What was changed on the way.
    pub(super) notes: Vec<Note>,
    /// Where the contact or the event time does not stand for certain.
    pub(super) ambiguous: Vec<Ambiguity>,
    /// Attachments that the mapping found.
    pub(super) attached: Found,
}

/// Fills the fields of one enquiry. `is_damaged`: something in the body could not be read and was replaced.
pub(super) fn fields(mapping: &Mapping, body: &Tree, headers: &Headers, is_damaged: bool) -> Mapped {
    let mut mapped = Mapped::default();
    for (field, places) in mapping {
        if field == ATTACHMENTS {
            places.iter().filter_map(|place| value(place, body)).for_each(|found| mapped.attached.add(found));
            continue;
        }
        let is_certain = field == "occurred_at" || field.starts_with("contact.");
        let is_number = field == "contact.phone";
        let doubts = places.iter().filter(|_| is_certain).filter_map(|place| Ambiguity::at(field, place, body, is_damaged, is_number));
        mapped.ambiguous.extend(doubts);
        let texts: Vec<String> = places.iter().filter_map(|place| text(field, place, body, headers, &mut mapped.notes)).collect();
        if texts.is_empty() {
            continue;
        }
        let sent = texts.join(if field == "message" { "\n" } else { " " });
        let (clean, cleaned) = cleaned(field, &sent);
        mapped.notes.extend(mapped.fields.set_cleaned(field, &sent, clean.as_deref().unwrap_or(&sent)));
        mapped.notes.extend(cleaned);
    }
    mapped.ambiguous.sort();
    mapped.ambiguous.dedup();
    mapped
}

/// The contact's handle as the mapping gave it first: what stands at a field's first place, and nothing taken off but NULs.
///
/// Versions of a rule that name no places of the contact have their keys of it (I8), so this reading never changes.
pub(super) fn handle_before(mapping: &Mapping, body: &Tree, headers: &Headers) -> Fields {
    let mut fields = Fields::default();
    for field in ["contact.email", "contact.phone", "contact.name"] {
        let place = mapping.get(field).and_then(|places| places.first());
        if let Some(text) = place.and_then(|place| place.text(body, headers)) {
            drop(fields.set(field, &text.replace('\0', "\u{FFFD}")));
        }
    }
    fields
}

/// The text of a field at one place. An address, a number and a time are one: of several that were sent the last counts.
fn text(field: &str, place: &Place, body: &Tree, headers: &Headers, notes: &mut Vec<Note>) -> Option<String> {
    let is_one = matches!(field, "contact.email" | "contact.phone" | "occurred_at");
    if is_one
        && let Some(Tree::List(items)) = value(place, body)
        && items.len() > 1
        && let Some(last) = items.iter().map(Tree::leaf).collect::<Option<Vec<_>>>().and_then(|leaves| leaves.last().copied())
    {
        notes.push(Note { field: field.to_owned(), how: format!("the last of {} values taken", items.len()) });
        return Some(last.to_owned());
    }
    let text = place.text(body, headers)?;
    if field == "contact.email"
        && let Some(address) = bare(&text)
    {
        notes.push(Note { field: field.to_owned(), how: "address taken out of its angle brackets".to_owned() });
        return Some(address.to_owned());
    }
    Some(text)
}

/// The address in a mailbox as mail writes it, `"Avery" <avery@example.com>`.
fn bare(text: &str) -> Option<&str> {
    let (_, address) = text.trim().strip_suffix('>')?.rsplit_once('<')?;
    address.contains('@').then_some(address)
}

fn value<'a>(place: &Place, body: &'a Tree) -> Option<&'a Tree> {
    match place {
        Place::Body(pointer) => body.at(pointer),
        Place::Header(_) => None,
    }
}

/// The text without what no field may hold, if anything is: a NUL ends the text in too many readers further on and becomes
/// U+FFFD, other control characters but line ends and tabs are taken out. The raw body still has them.
fn cleaned(field: &str, sent: &str) -> (Option<String>, Vec<Note>) {
    let is_control = |c: &char| c.is_control() && !matches!(c, '\0' | '\n' | '\r' | '\t');
    let (nuls, controls) = (sent.matches('\0').count(), sent.chars().filter(is_control).count());
    if nuls + controls == 0 {
        return (None, Vec::new());
    }
    let kept = sent.chars().filter(|c| !is_control(c)).map(|c| if c == '\0' { char::REPLACEMENT_CHARACTER } else { c });
    let note = |count: usize, how: &str| (count > 0).then(|| Note { field: field.to_owned(), how: format!("{count} {how}") });
    let notes = note(nuls, "NUL characters replaced").into_iter().chain(note(controls, "control characters taken out"));
    (Some(kept.collect()), notes.collect())
}

/// Whether something true stands at a place: `true`, a number but zero, a text but a word for no.
pub fn is_true(place: &Place, body: &Tree, headers: &Headers) -> bool {
    let text = place.text(body, headers).unwrap_or_default();
    let is_zero = text.parse::<f64>().is_ok_and(|number| number == 0.0);
    !is_zero && !["", "false", "no", "off", "null"].contains(&text.trim().to_ascii_lowercase().as_str())
}

/// The items of a batch, in the body's order.
///
/// `Err` names a place where the body is not what the pattern expects, so that a part of it that cannot be reached is
/// quarantined and not passed over. An empty list has no items, and no error.
pub fn split<'a>(body: &'a Tree, pattern: &Pointer) -> Vec<Result<&'a Tree, String>> {
    let mut found = vec![Ok((String::new(), body))];
    for token in &pattern.0 {
        found = found
            .into_iter()
            .flat_map(|part| match part {
                Ok((path, tree)) => below(&path, tree, token),
                Err(path) => vec![Err(path)],
            })
            .collect();
    }
    found.into_iter().map(|part| part.map(|(_, tree)| tree)).collect()
}

/// A part of a body and where it stands, or a place where nothing does.
type Part<'a> = Result<(String, &'a Tree), String>;

fn below<'a>(path: &str, tree: &'a Tree, token: &str) -> Vec<Part<'a>> {
    match (token, tree) {
        ("*", Tree::List(items)) => items.iter().enumerate().map(|(index, item)| Ok((format!("{path}/{index}"), item))).collect(),
        // The names of members may be anything a person typed: the path does not repeat them.
        ("*", Tree::Map(members)) => members.iter().map(|(_, value)| Ok((format!("{path}/*"), value))).collect(),
        _ => {
            let path = format!("{path}/{}", token.replace('~', "~0").replace('/', "~1"));
            vec![tree.get(token).map(|value| (path.clone(), value)).ok_or(path)]
        }
    }
}

#[cfg(test)]
mod tests;
