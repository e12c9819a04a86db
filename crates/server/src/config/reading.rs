//! One reading of a configuration: the documents, the environment, and the problems met on the way.
//!
//! Problems are gathered, not returned, so that one run names every mistake. Each carries the path of its key; where
//! that stands is worked out at the end.

use std::cell::RefCell;
use std::collections::BTreeMap;

use toml::de::DeValue;

use super::asked::Asked;
use super::document::Document;
use super::dump::Written;
use super::keys;
use super::path::{Path, Seg};
use super::places::Places;
use super::problem::{Origin, Problem};
use super::section::Section;

/// Looks a variable up. The front door hands in the real environment, tests their own.
pub(super) type Env<'e> = &'e dyn Fn(&str) -> Option<String>;

/// The state of one reading.
pub(super) struct Reading<'d> {
    /// The first that has a top-level key is the one it is read from.
    documents: &'d [Document<'d>],
    env: Env<'d>,
    found: RefCell<Vec<Found>>,
    /// Keys that a variable gave, with its name.
    overridden: RefCell<BTreeMap<String, String>>,
    /// Which keys each table was asked for.
    asked: RefCell<Vec<(Path, BTreeMap<&'static str, Asked>)>>,
}

struct Found {
    path: Path,
    message: String,
    show: Show,
}

/// What of the file a problem may show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    /// The value.
    Value,
    /// The key: the value is beside the point.
    Key,
    /// Nothing: the value may be a secret.
    Nothing,
}

impl<'d> Reading<'d> {
    pub(super) fn new(documents: &'d [Document<'d>], env: Env<'d>) -> Self {
        Self { documents, env, found: RefCell::default(), overridden: RefCell::default(), asked: RefCell::default() }
    }

    /// Reads the table of that name, there or not; variables of its name override it.
    pub(super) fn section<T>(&'d self, name: &'static str, read: impl FnOnce(&Section<'d>) -> T) -> T {
        let value = self.value(name);
        let table = value.and_then(DeValue::as_table);
        if table.is_none() && value.is_some() {
            self.problem(Path::default().key(name), format!("`{name}` is a table: write [{name}]"), Show::Key);
        }
        Section::read(self, Path::default().key(name), table, Some(name), read)
    }

    /// Reads every `[[name]]`.
    pub(super) fn sections<T>(&'d self, name: &'static str, mut read: impl FnMut(&Section<'d>) -> T) -> Vec<T> {
        let path = Path::default().key(name);
        let Some(value) = self.value(name) else { return Vec::new() };
        let tables: Option<Vec<_>> = value.as_array().and_then(|list| list.iter().map(|item| item.get_ref().as_table()).collect());
        let Some(tables) = tables else {
            self.problem(path, format!("there may be several: write [[{name}]], with two brackets"), Show::Key);
            return Vec::new();
        };
        tables.into_iter().enumerate().map(|(index, table)| Section::read(self, path.index(index), Some(table), None, &mut read)).collect()
    }

    /// Names the top-level keys that nobody asked for.
    pub(super) fn name_unknown_sections(&'d self) {
        Section::read(self, Path::default(), Some(self.documents[0].root()), None, |root| {
            root.knows(&keys::ROOT.keys.iter().map(|key| key.name).collect::<Vec<_>>());
        });
    }

    fn value(&self, name: &str) -> Option<&'d DeValue<'d>> {
        self.documents.iter().find_map(|document| document.root().get(name)).map(toml::Spanned::get_ref)
    }

    /// Notes a problem.
    pub(super) fn problem(&self, path: Path, message: impl Into<String>, show: Show) {
        self.found.borrow_mut().push(Found { path, message: message.into(), show });
    }

    /// The variable that overrides the key, if it is set to anything. Compose files leave variables set but empty.
    pub(super) fn variable(&self, section: &str, key: &str) -> Option<(String, String)> {
        let short = matches!((section, key), ("server", "listen" | "data_dir")).then(|| format!("ONCEBOOK_{key}"));
        let names = short.into_iter().chain([format!("ONCEBOOK_{section}_{key}")]).map(|name| name.to_uppercase());
        let (name, value) = names.into_iter().find_map(|name| (self.env)(&name).filter(|v| !v.is_empty()).map(|v| (name, v)))?;
        self.overridden.borrow_mut().insert(format!("{section}.{key}"), name.clone());
        Some((name, value))
    }

    /// Notes which keys a table was asked for.
    pub(super) fn was_asked(&self, table: &Path, keys: BTreeMap<&'static str, Asked>) {
        self.asked.borrow_mut().push((table.clone(), keys));
    }

    /// Which keys each table was asked for.
    #[cfg(test)]
    pub(super) fn asked(&self) -> Vec<(Path, BTreeMap<&'static str, Asked>)> {
        self.asked.borrow().clone()
    }

    /// What documents and variables say, before anything is made of it.
    pub(super) fn written(&self) -> Written {
        let mut written = Written::default();
        for key in keys::ROOT.keys {
            let value = self.documents.iter().find_map(|document| document.value(key.name));
            written.extend(key.name, value);
        }
        for (path, variable) in self.overridden.borrow().iter() {
            if let Some((section, key)) = path.split_once('.') {
                written.override_with(section, key, &(self.env)(variable).unwrap_or_default());
            }
        }
        written
    }

    /// All problems, in the order of the file.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = self.found.borrow().iter().map(|found| self.located(found)).collect();
        problems.sort_by(|a, b| a.origin.cmp(&b.origin));
        problems.dedup();
        problems
    }

    /// Where every key stands, for whoever finds a mistake later. What a variable gave stands in its name.
    pub(super) fn places(&self) -> Places {
        let mut places = BTreeMap::new();
        for document in self.documents.iter().rev() {
            for key in document.root().keys() {
                for (path, start) in document.paths(key.get_ref()) {
                    let (line, column) = document.position(start);
                    places.insert(path.to_string(), Origin::File { name: document.name.clone(), line, column });
                }
            }
        }
        places.extend(self.overridden.borrow().iter().map(|(key, name)| (key.clone(), Origin::Variable(name.clone()))));
        Places(places)
    }

    fn located(&self, found: &Found) -> Problem {
        let (key, message) = (found.path.to_string(), found.message.clone());
        if let Some(variable) = self.overridden.borrow().get(&key) {
            return Problem { origin: Origin::Variable(variable.clone()), key, message, excerpt: None };
        }
        let has_it = |document: &&Document<'_>| match found.path.0.first() {
            Some(Seg::Key(name)) => document.root().contains_key(name.as_str()),
            _ => false,
        };
        let document = self.documents.iter().find(has_it).unwrap_or(&self.documents[0]);
        let span = document.span(&found.path, found.show == Show::Key);
        let (line, column) = document.position(span.start);
        let excerpt = if found.show == Show::Nothing { None } else { document.excerpt(&span) };
        Problem { origin: Origin::File { name: document.name.clone(), line, column }, key, message, excerpt }
    }
}
