//! Where a delivery does not say for certain who or what it is: a value that stands twice and differently, a number that is
//! no exact id, a text of which something was lost.
//!
//! What is in doubt is still read, by a rule that never changes (the last of several, the text as it was sent), so that every
//! copy gets the same key. But nothing is done for it before a person has looked.

use serde::{Deserialize, Serialize};

use super::place::{Place, several};
use crate::tree::Tree;

/// Why a value is in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// It stands more than once, with different values: the last counts.
    Repeated,
    /// It is a number with a fraction or an exponent where an id or a phone is meant: its text counts as it was sent.
    Inexact,
    /// Something in it could not be read and was replaced.
    Damaged,
}

/// One place in doubt. Holds no value, so that the journal may carry it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ambiguity {
    /// What is read there: `submission`, `time`, `with`, or a mapped field such as `contact.email`.
    pub field: String,
    /// Why it is in doubt.
    pub why: Doubt,
}

impl Doubt {
    /// In words, behind the field's name.
    pub fn words(self) -> &'static str {
        match self {
            Self::Repeated => "stands more than once with different values",
            Self::Inexact => "is a number with a fraction or an exponent",
            Self::Damaged => "held characters that could not be read",
        }
    }
}

impl Ambiguity {
    /// The doubt about what is read at a place, if there is one. `is_damaged`: something in the body was replaced.
    /// `is_exact`: a number here must be whole. Headers are in no doubt: one that comes twice and differently is not read.
    pub fn at(field: &str, place: &Place, body: &Tree, is_damaged: bool, is_exact: bool) -> Option<Self> {
        let Place::Body(pointer) = place else { return None };
        let every = body.every(pointer);
        let said = |value: Option<&Tree>| value.filter(|value| **value != Tree::Null).cloned().map(comparable);
        let differs = |first: Option<&Tree>, others: &[Option<&Tree>]| {
            let first = said(first);
            others.iter().any(|value| said(*value) != first)
        };
        let why = if every.split_first().is_some_and(|(first, others)| !others.is_empty() && differs(*first, others)) {
            Doubt::Repeated
        } else {
            // Every way leads to the same, so one of them will do.
            let value = body.at(pointer)?;
            let differs = |(before, last): (&[Tree], &Tree)| before.iter().any(|item| item.leaf() != last.leaf());
            if several(value).is_some_and(differs) {
                Doubt::Repeated
            } else if is_exact && matches!(value, Tree::Number(text) if text.contains(['.', 'e', 'E'])) {
                Doubt::Inexact
            } else if is_damaged && value.has(char::REPLACEMENT_CHARACTER) {
                Doubt::Damaged
            } else {
                return None;
            }
        };
        Some(Self { field: field.to_owned(), why })
    }

    /// One sentence part, e.g. `contact.email stands more than once with different values`.
    pub fn words(&self) -> String {
        format!("{} {}", self.field, self.why.words())
    }
}

/// A number and a text of the same digits say the same.
fn comparable(value: Tree) -> Tree {
    match value {
        Tree::Number(text) => Tree::Text(text),
        other @ (Tree::Null | Tree::Bool(_) | Tree::Text(_) | Tree::List(_) | Tree::Map(_)) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(body: &str, is_damaged: bool) -> Option<Doubt> {
        let place = Place::parse("/c/id").unwrap();
        Ambiguity::at("submission", &place, &Tree::from_json(body).unwrap(), is_damaged, true).map(|found| found.why)
    }

    #[test]
    fn what_stands_twice_and_differently_is_in_doubt() {
        for body in [
            r#"{"c":{"id":"a","id":"b"}}"#,
            r#"{"c":{"id":"a"},"c":{"id":"b"}}"#,
            r#"{"c":{"id":"a"},"c":{}}"#,
            r#"{"c":{"id":"a","id":null}}"#,
            r#"{"c":{"id":["a","b"]}}"#,
        ] {
            assert_eq!(doubt(body, false), Some(Doubt::Repeated), "{body}");
        }
        for body in [
            r#"{"c":{"id":"a"}}"#,
            r#"{"c":{"id":"7","id":7}}"#,
            r#"{"c":{"id":"a","x":1},"c":{"id":"a","x":2}}"#,
            r#"{"c":{"id":["a","a"]}}"#,
            r#"{"c":{"x":1,"x":2}}"#,
            "{}",
            "[]",
        ] {
            assert_eq!(doubt(body, false), None, "{body}");
        }
    }

    #[test]
    fn a_number_that_is_not_whole_is_no_exact_id() {
        for number in ["1.0", "1e3", "1E3", "6.084250982513018e18", "0.5"] {
            assert_eq!(doubt(&format!(r#"{{"c":{{"id":{number}}}}}"#), false), Some(Doubt::Inexact), "{number}");
        }
        for whole in ["1", "-7", "6084250982513018472", "\"1.0\""] {
            assert_eq!(doubt(&format!(r#"{{"c":{{"id":{whole}}}}}"#), false), None, "{whole}");
        }
    }

    #[test]
    fn a_replaced_character_counts_only_where_something_was_replaced() {
        let body = "{\"c\":{\"id\":\"a\u{FFFD}\"}}";
        assert_eq!((doubt(body, true), doubt(body, false)), (Some(Doubt::Damaged), None));
    }
}
