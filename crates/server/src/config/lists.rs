//! The parts of a table that hold several values: one text or a list of them, and tables of the user's own keys.

use toml::de::DeValue;

use super::asked::Asked;
use super::path::Path;
use super::section::{Given, Section};

/// A key of the user's own: where it stands, its name, and its texts, each with its path.
pub(super) type Named = (Path, String, Vec<(Path, String)>);

impl Section<'_> {
    /// One value, or a list of them, each with its path. Where it is absent: none.
    pub(super) fn values(&self, key: &'static str) -> Vec<(Path, &DeValue<'_>)> {
        self.takes(key, Asked::Many);
        let path = self.path.key(key);
        match self.given(key) {
            Some(Given::Toml(DeValue::Array(list))) => {
                list.iter().enumerate().map(|(index, value)| (path.index(index), value.get_ref())).collect()
            }
            Some(Given::Toml(value)) => vec![(path, value)],
            _ => Vec::new(),
        }
    }

    /// One text, or a list of them, each read further; what cannot be read is named and left out.
    pub(super) fn each<T>(&self, key: &'static str, parse: impl Fn(&str) -> Result<T, String>) -> Vec<T> {
        let read = |(path, value): (Path, &DeValue<'_>)| {
            let mistyped = || format!("`{key}` takes texts in quotes, and this is of type {}", value.type_str());
            value.as_str().ok_or_else(mistyped).and_then(&parse).map_err(|e| self.problem_at(path, e)).ok()
        };
        self.values(key).into_iter().filter_map(read).collect()
    }

    /// A table whose keys are the user's own, its values texts.
    pub(super) fn pairs(&self, key: &'static str) -> Vec<(Path, String, String)> {
        let one = |(at, name, mut texts): Named| texts.pop().map(|(_, text)| (at, name, text));
        self.groups(key, false).into_iter().filter_map(one).collect()
    }

    /// A table whose keys are the user's own, its values a text or a list of texts, each with its path.
    pub(super) fn lists(&self, key: &'static str) -> Vec<Named> {
        self.groups(key, true)
    }

    fn groups(&self, key: &'static str, with_lists: bool) -> Vec<Named> {
        self.takes(key, Asked::Pairs);
        let path = self.path.key(key);
        let table = match self.given(key) {
            Some(Given::Toml(DeValue::Table(table))) => table,
            Some(Given::Toml(other)) => {
                self.mistyped(key, "a table, such as { … = \"…\" }", other);
                return Vec::new();
            }
            _ => return Vec::new(),
        };
        let mut pairs = Vec::new();
        for (name, value) in table {
            let (name, at) = (name.get_ref().as_ref(), path.key(name.get_ref()));
            let texts: Option<Vec<_>> = match value.get_ref() {
                DeValue::String(text) => Some(vec![(at.clone(), text.to_string())]),
                DeValue::Array(list) if with_lists => {
                    let items = list.iter().enumerate();
                    items.map(|(index, item)| item.get_ref().as_str().map(|text| (at.index(index), text.to_owned()))).collect()
                }
                _ => None,
            };
            match texts {
                Some(texts) => pairs.push((at, name.to_owned(), texts)),
                // Nothing is shown: a header may hold a credential, whatever its type.
                None if with_lists => self.secret_problem(at, format!("`{name}` takes a text in quotes, or a list of them")),
                None => self.secret_problem(at, format!("`{name}` takes a text in quotes")),
            }
        }
        pairs
    }
}
