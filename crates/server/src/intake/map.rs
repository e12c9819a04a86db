//! From a body and its headers to an enquiry's fields, and from a batch to its items.
//!
//! Leaves are taken as they were sent: a phone that came as a number keeps its digits. What normalising changes is
//! `domain`'s business and comes back as notes. Pointers of a source with `items` count from the item.

use std::collections::BTreeMap;

use domain::enquiry::{Fields, Note};
use domain::identity::{Headers, Place};
use domain::tree::{Pointer, Tree};

/// Where each field stands, by the field's name (`contact.email`).
pub type Mapping = BTreeMap<String, Place>;

/// Fills the fields of one enquiry, and says what was changed on the way.
pub fn fields(mapping: &Mapping, body: &Tree, headers: &Headers) -> (Fields, Vec<Note>) {
    let (mut fields, mut notes) = (Fields::default(), Vec::new());
    for (field, place) in mapping {
        let Some(text) = place.text(body, headers) else { continue };
        // A NUL ends the text in too many readers further on; the raw body still has it.
        let nuls = text.matches('\0').count();
        let text = if nuls == 0 { text } else { text.replace('\0', "\u{FFFD}") };
        notes.extend(fields.set(field, &text));
        notes.extend((nuls > 0).then(|| Note { field: field.clone(), how: format!("{nuls} NUL characters replaced") }));
    }
    (fields, notes)
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
