//! The places of a delivery that a rule or a mapping names, and what is read there.
//!
//! An id is a leaf as it was sent; a field's text may be a list joined. Neither reading may ever change: keys rest on them.

use std::fmt;

use super::content::composed;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

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

    /// The text of the leaf here; of a value that was sent several times (a form's repeated name) the last, as of a member
    /// that stands several times. A header that came several times with different values says nothing certain.
    pub(super) fn leaf<'a>(&self, body: &'a Tree, headers: &'a Headers) -> Option<&'a str> {
        match self {
            Self::Body(pointer) => {
                let value = body.at(pointer)?;
                several(value).map_or(value, |(_, last)| last).leaf()
            }
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
    pub(super) fn id(&self, body: &Tree, headers: &Headers) -> Option<String> {
        if let Self::Body(pointer) = self
            && let Some(value) = body.at(pointer)
            && let Tree::Bool(_) = several(value).map_or(value, |(_, last)| last)
        {
            return None;
        }
        self.leaf(body, headers).filter(|text| !is_blank(text)).map(|text| composed(text).into_owned())
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
