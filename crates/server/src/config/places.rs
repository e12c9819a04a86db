//! Where each key stands, kept from loading: whoever finds a mistake later can say the line.

use std::collections::BTreeMap;
use std::fmt;

use super::{Config, Origin, Problem};

/// The place of every key, by its dotted path.
#[derive(Clone, Default)]
pub(super) struct Places(pub(super) BTreeMap<String, Origin>);

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Places({})", self.0.len())
    }
}

impl Config {
    /// Where a key stands, `FILE:LINE:COLUMN` or the variable that gave it: `source[0].auth.secret`. Where the file leaves
    /// the key out, what there is of the way to it.
    pub fn locate(&self, path: &str) -> Option<String> {
        self.origin(path).map(Origin::to_string)
    }

    /// A mistake that only use shows, with the place of the key that it is about.
    pub fn problem(&self, key: &str, message: impl Into<String>) -> Problem {
        let nowhere =
            || Origin::File { name: self.file.as_ref().map_or_else(String::new, |f| f.display().to_string()), line: 1, column: 1 };
        let origin = self.origin(key).cloned().unwrap_or_else(nowhere);
        Problem { origin, key: key.to_owned(), message: message.into(), excerpt: None }
    }

    /// The same, where the message begins with the part of the key that it is about, `headers.Authorization, line 1: …`.
    pub fn problem_below(&self, key: &str, message: &str) -> Problem {
        let part = message.split_once([':', ',']).map(|(part, _)| format!("{key}.{part}"));
        let whole = part.and_then(|part| self.places.0.keys().find(|known| known.eq_ignore_ascii_case(&part)));
        self.problem(whole.map_or(key, String::as_str), message)
    }

    fn origin(&self, path: &str) -> Option<&Origin> {
        let mut path = path;
        loop {
            if let Some(place) = self.places.0.get(path) {
                return Some(place);
            }
            path = &path[..path.rfind(['.', '['])?];
        }
    }
}
