//! The places of a delivery that a rule or a mapping names, and what is read there.
//!
//! An id is a leaf as it was sent, and of several that were sent the last; a field's text may be a list joined. Keys rest on
//! both readings, so neither may change without the one before it being kept ([`Several`]): what a book has under a key of
//! the former reading must still be found there (I8).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::content::composed;
use crate::tree::{Pointer, Tree};

/// What a value says that was sent several times (a list of two and more leaves), where one is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Several {
    /// What its last one says, as of a member that stands several times.
    Last,
    /// Nothing: the reading of books from before the last counted. Only for finding what they have.
    Nothing,
}

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
    pub(super) fn leaf<'a>(&self, body: &'a Tree, headers: &'a Headers, of_several: Several) -> Option<&'a str> {
        match self {
            Self::Body(pointer) => one(body.at(pointer)?, of_several).leaf(),
            Self::Header(wanted) => {
                let mut values = headers.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
                let first = values.next()?;
                values.all(|value| value == first).then_some(first)
            }
        }
    }

    /// The text of a field here: a leaf, or a list of leaves joined with `, `; a header's values joined the same way.
    pub fn text(&self, body: &Tree, headers: &Headers) -> Option<String> {
        let pointer = match self {
            Self::Body(pointer) => pointer,
            Self::Header(wanted) => {
                let values: Vec<&str> = headers.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_str()).collect();
                return (!values.is_empty()).then(|| values.join(", "));
            }
        };
        match body.at(pointer)? {
            // An unticked choice comes as null; a list or a map among the leaves is no text.
            Tree::List(items) => {
                let present = items.iter().filter(|item| **item != Tree::Null);
                let leaves = present.map(Tree::leaf).collect::<Option<Vec<_>>>()?;
                (!leaves.is_empty()).then(|| leaves.join(", "))
            }
            leaf @ (Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) | Tree::Map(_)) => leaf.leaf().map(str::to_owned),
        }
    }

    /// The id here: a text or a number as it was sent, composed (NFC) but not trimmed. `true` is a switch, no id.
    pub(super) fn id(&self, body: &Tree, headers: &Headers, of_several: Several) -> Option<String> {
        if let Self::Body(pointer) = self
            && let Some(value) = body.at(pointer)
            && let Tree::Bool(_) = one(value, of_several)
        {
            return None;
        }
        self.leaf(body, headers, of_several).filter(|text| !is_blank(text)).map(|text| composed(text).into_owned())
    }

    /// Whether a value stands here that was sent several times.
    pub(super) fn has_several(&self, body: &Tree) -> bool {
        matches!(self, Self::Body(pointer) if body.at(pointer).is_some_and(|value| several(value).is_some()))
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

/// The value, or the one of several that counts.
fn one(value: &Tree, of_several: Several) -> &Tree {
    match of_several {
        Several::Last => several(value).map_or(value, |(_, last)| last),
        Several::Nothing => value,
    }
}

/// A list of two and more leaves: those before the last, and the last.
pub(super) fn several(value: &Tree) -> Option<(&[Tree], &Tree)> {
    let Tree::List(items) = value else { return None };
    let (last, before) = items.split_last()?;
    (!before.is_empty() && items.iter().all(|item| item.leaf().is_some())).then_some((before, last))
}

/// Whether a text says nothing: white space and control characters only.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control())
}
