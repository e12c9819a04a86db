//! A body as a tree of its leaves, numbers kept as the text they were sent as.
//!
//! A 19-digit id must keep every digit, so numbers never pass through a float. Members keep their order and their
//! repetitions; `get` takes the last of several, as most readers do, and `Map` still shows that there were more.

mod embedded;
mod grow;
pub mod marks;
mod mend;
mod repeats;

use std::fmt;

pub use embedded::Opened;
pub use mend::Mended;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny};

/// How deep a body may nest. Deeper ones are refused before anything recurses into them.
pub const DEPTH_MAX: usize = 128;

/// One value of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as its text stood in the body.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// Members in the order they stood in, repetitions included.
    Map(Vec<(String, Tree)>),
}

/// Why a body could not be read as JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// Not JSON; the parser's words, with line and column.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// Nested deeper than [`DEPTH_MAX`].
    #[error("nested deeper than {DEPTH_MAX} levels")]
    TooDeep,
}

impl Tree {
    /// Reads JSON text.
    pub fn from_json(text: &str) -> Result<Self, TreeError> {
        if grow::is_too_deep(text) {
            return Err(TreeError::TooDeep);
        }
        let _: IgnoredAny = serde_json::from_str(text).map_err(|e| TreeError::Syntax(e.to_string()))?;
        grow::grow(text)
    }

    /// The member of that name (the last, where it stands more than once), or the list's element at that index.
    pub fn get(&self, token: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => members.iter().rev().find(|(name, _)| name == token).map(|(_, value)| value),
            Self::List(items) => items.get(token.parse::<usize>().ok()?),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => None,
        }
    }

    /// What the pointer leads to.
    pub fn at(&self, pointer: &Pointer) -> Option<&Self> {
        pointer.0.iter().try_fold(self, |tree, token| tree.get(token))
    }

    /// The text of a leaf: a text itself, a number as sent, `true` or `false`. `None` for null, lists and maps.
    pub fn leaf(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Bool(true) => Some("true"),
            Self::Bool(false) => Some("false"),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Everything below a pattern whose `*` stands for any member or element, in the body's order.
    pub fn matches(&self, pattern: &Pointer) -> Vec<&Self> {
        let mut found = vec![self];
        for token in &pattern.0 {
            found = found
                .into_iter()
                .flat_map(|tree| match (token.as_str(), tree) {
                    ("*", Self::List(items)) => items.iter().collect(),
                    ("*", Self::Map(members)) => members.iter().map(|(_, value)| value).collect(),
                    _ => tree.get(token).into_iter().collect::<Vec<_>>(),
                })
                .collect();
        }
        found
    }
}

/// A JSON Pointer (RFC 6901). In patterns a token `*` stands for any member or element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer(pub Vec<String>);

impl Pointer {
    /// Reads the text form: empty, or each token behind a `/`, with `~1` for `/` and `~0` for `~`.
    pub fn parse(text: &str) -> Result<Self, PointerError> {
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let rest = text.strip_prefix('/').ok_or_else(|| PointerError(text.to_owned()))?;
        Ok(Self(rest.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// Whether `path` is this pattern or stands below it.
    pub fn covers(&self, path: &[String]) -> bool {
        self.0.len() <= path.len() && self.0.iter().zip(path).all(|(token, name)| token == "*" || token == name)
    }
}

impl serde::Serialize for Pointer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|token| write!(f, "/{}", token.replace('~', "~0").replace('/', "~1")))
    }
}

/// A text that is no JSON Pointer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no JSON Pointer: it must be empty or begin with '/'")]
pub struct PointerError(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(body: &str, pointer: &str) -> Option<String> {
        Tree::from_json(body).unwrap().at(&Pointer::parse(pointer).unwrap()).and_then(Tree::leaf).map(str::to_owned)
    }

    #[test]
    fn numbers_keep_every_digit() {
        assert_eq!(at(r#"{"id":6084250982513018472}"#, "/id").as_deref(), Some("6084250982513018472"));
        assert_eq!(at(r#"{"id":12345678901234567890123}"#, "/id").as_deref(), Some("12345678901234567890123"));
        assert_eq!(at(r#"{"id":1.10}"#, "/id").as_deref(), Some("1.10"));
    }

    #[test]
    fn pointers_follow_members_elements_and_escapes() {
        let body = r#"{"a/b":{"~":[10,{"x":"y"}]},"n":null}"#;
        assert_eq!(at(body, "/a~1b/~0/1/x").as_deref(), Some("y"));
        assert_eq!(at(body, "/a~1b/~0/0").as_deref(), Some("10"));
        assert_eq!(at(body, "/n"), None);
        assert_eq!(at(body, "/missing/x"), None);
        assert!(Pointer::parse("a").is_err());
        assert_eq!(Pointer::parse("/a~1b/~0").unwrap().to_string(), "/a~1b/~0");
    }

    #[test]
    fn patterns_match_in_the_bodys_order() {
        let tree = Tree::from_json(r#"{"entry":[{"changes":[1,2]},{"changes":[3]}]}"#).unwrap();
        let found = tree.matches(&Pointer::parse("/entry/*/changes/*").unwrap());
        assert_eq!(found.iter().filter_map(|t| t.leaf()).collect::<Vec<_>>(), ["1", "2", "3"]);
        assert!(Pointer::parse("/entry/*").unwrap().covers(&["entry".into(), "0".into(), "x".into()]));
        assert!(!Pointer::parse("/entry/*").unwrap().covers(&["entry".into()]));
    }

    #[test]
    fn the_last_of_repeated_members_is_taken_and_the_others_still_show() {
        let tree = Tree::from_json(r#"{"a":1,"a":2}"#).unwrap();
        assert_eq!(tree.get("a").and_then(Tree::leaf), Some("2"));
        assert!(matches!(tree, Tree::Map(members) if members.len() == 2));
    }

    #[test]
    fn depth_is_bounded_and_broken_text_is_an_error() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(Tree::from_json(&deep), Err(TreeError::TooDeep));
        let fits = "[".repeat(DEPTH_MAX) + &"]".repeat(DEPTH_MAX);
        assert!(Tree::from_json(&fits).is_ok());
        assert!(matches!(Tree::from_json("{\"a\":"), Err(TreeError::Syntax(_))));
        assert!(matches!(Tree::from_json(""), Err(TreeError::Syntax(_))));
    }
}
