//! One table of the configuration, read key by key: each with its type, and at the end the keys nobody asked for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use toml::de::{DeTable, DeValue};

use super::asked::Asked;
use super::nearest::nearest;
use super::path::Path;
use super::reading::{Reading, Show};
use super::secret::SecretRef;

/// A table while it is read. A key that is asked for is a known one.
pub(super) struct Section<'d> {
    pub(super) reading: &'d Reading<'d>,
    pub(super) path: Path,
    table: Option<&'d DeTable<'d>>,
    /// The name that variables call this section by, where they may override it.
    variables: Option<&'static str>,
    known: RefCell<Vec<&'static str>>,
    /// What the keys that were asked for are taken to be.
    asked: RefCell<BTreeMap<&'static str, Asked>>,
}

/// What stands at a key.
pub(super) enum Given<'d> {
    Toml(&'d DeValue<'d>),
    Variable(String),
}

impl<'d> Section<'d> {
    /// Reads a table, then names the keys that were not asked for.
    pub(super) fn read<T>(
        reading: &'d Reading<'d>,
        path: Path,
        table: Option<&'d DeTable<'d>>,
        variables: Option<&'static str>,
        read: impl FnOnce(&Self) -> T,
    ) -> T {
        let section = Self { reading, path, table, variables, known: RefCell::default(), asked: RefCell::default() };
        let value = read(&section);
        section.name_unknown_keys();
        reading.was_asked(&section.path, section.asked.take());
        value
    }

    fn name_unknown_keys(&self) {
        let known = self.known.borrow();
        for key in self.table.into_iter().flat_map(DeTable::keys).map(|key| key.get_ref().as_ref()) {
            if !known.contains(&key) {
                self.reading.problem(self.path.key(key), unknown(key, &known), Show::Key);
            }
        }
    }

    /// Notes a problem with the value of `key`.
    pub(super) fn problem(&self, key: &str, message: impl Into<String>) {
        self.reading.problem(self.path.key(key), message, Show::Value);
    }

    /// Notes a problem with a value further down.
    pub(super) fn problem_at(&self, path: Path, message: impl Into<String>) {
        self.reading.problem(path, message, Show::Value);
    }

    /// Notes a problem with a value that may hold a secret: nothing of the file is shown.
    pub(super) fn secret_problem(&self, path: Path, message: impl Into<String>) {
        self.reading.problem(path, message, Show::Nothing);
    }

    /// Calls keys known that nobody asks for.
    pub(super) fn knows(&self, keys: &[&'static str]) {
        self.known.borrow_mut().extend(keys);
    }

    /// Whether the file has the key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.is_some_and(|table| table.contains_key(key))
    }

    /// Notes a problem where the key is absent.
    pub(super) fn needs(&self, key: &str, why: &str) {
        if !self.has(key) {
            self.problem(key, format!("`{key}` is missing: {why}"));
        }
    }

    /// Keys that belong elsewhere: known, but refused with the reason.
    pub(super) fn misplaced(&self, keys: &[&'static str], why: &str) {
        self.knows(keys);
        for key in keys.iter().filter(|key| self.has(key)) {
            self.reading.problem(self.path.key(key), format!("`{key}` has no place here: {why}"), Show::Key);
        }
    }

    /// Says what a key is taken to be: the first to ask, who stands outermost, knows best.
    pub(super) fn takes(&self, key: &'static str, asked: Asked) {
        let mut known = self.asked.borrow_mut();
        if known.get(key).is_none_or(|before| *before == Asked::Any) {
            known.insert(key, asked);
        }
    }

    pub(super) fn given(&self, key: &'static str) -> Option<Given<'d>> {
        self.known.borrow_mut().push(key);
        self.takes(key, Asked::Any);
        if let Some((_, value)) = self.variables.and_then(|section| self.reading.variable(section, key)) {
            return Some(Given::Variable(value));
        }
        self.table.and_then(|table| table.get(key)).map(|value| Given::Toml(value.get_ref()))
    }

    /// Notes that the value is of another type than the key takes.
    pub(super) fn mistyped(&self, key: &str, takes: &str, value: &DeValue<'_>) {
        self.problem(key, format!("`{key}` takes {takes}, and this is of type {}", value.type_str()));
    }

    pub(super) fn text(&self, key: &'static str) -> Option<String> {
        self.takes(key, Asked::Text);
        match self.given(key)? {
            Given::Variable(text) => Some(text),
            Given::Toml(DeValue::String(text)) => Some(text.to_string()),
            Given::Toml(other) => {
                self.mistyped(key, "a text in quotes", other);
                None
            }
        }
    }

    /// A text, read further.
    pub(super) fn parsed_by<T, E: Display>(&self, key: &'static str, parse: impl Fn(&str) -> Result<T, E>) -> Option<T> {
        parse(&self.text(key)?).map_err(|e| self.problem(key, e.to_string())).ok()
    }

    pub(super) fn parsed<T: FromStr<Err: Display>>(&self, key: &'static str) -> Option<T> {
        self.takes(key, Asked::Parsed(std::any::type_name::<T>()));
        self.parsed_by(key, str::parse)
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&self, key: &'static str, choices: &[(&str, T)]) -> Option<T> {
        self.takes(key, Asked::Word(choices.iter().map(|(word, _)| (*word).to_owned()).collect()));
        self.parsed_by(key, |text| {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            let found = choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
            found.ok_or_else(|| format!("`{text}` is not one of {}", words.join(", ")))
        })
    }

    /// A whole number within bounds.
    pub(super) fn whole<T: TryFrom<i64>>(&self, key: &'static str, within: RangeInclusive<i64>) -> Option<T> {
        self.takes(key, Asked::Whole(*within.start(), *within.end()));
        let number = match self.given(key)? {
            Given::Variable(text) => text.parse::<i64>().ok(),
            Given::Toml(DeValue::Integer(number)) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            Given::Toml(other) => {
                self.mistyped(key, "a whole number", other);
                return None;
            }
        };
        let taken = number.filter(|number| within.contains(number)).and_then(|number| T::try_from(number).ok());
        if taken.is_none() {
            let upper = if *within.end() == i64::MAX { "up".to_owned() } else { format!("to {}", within.end()) };
            self.problem(key, format!("`{key}` takes a whole number from {} {upper}", within.start()));
        }
        taken
    }

    /// A share between 0 and 1.
    pub(super) fn share(&self, key: &'static str) -> Option<f64> {
        self.takes(key, Asked::Share);
        let text = match self.given(key)? {
            Given::Variable(text) => text,
            Given::Toml(DeValue::Float(number)) => number.as_str().to_owned(),
            Given::Toml(DeValue::Integer(number)) => number.as_str().to_owned(),
            Given::Toml(other) => {
                self.mistyped(key, "a number from 0 to 1", other);
                return None;
            }
        };
        let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        if share.is_none() {
            self.problem(key, format!("`{key}` takes a number from 0 to 1"));
        }
        share
    }

    pub(super) fn flag(&self, key: &'static str) -> Option<bool> {
        self.takes(key, Asked::Flag);
        match self.given(key)? {
            Given::Variable(text) => text.parse().map_err(|_| self.problem(key, format!("`{key}` takes true or false"))).ok(),
            Given::Toml(DeValue::Boolean(flag)) => Some(*flag),
            Given::Toml(other) => {
                self.mistyped(key, "true or false", other);
                None
            }
        }
    }

    /// A reference to a secret.
    pub(super) fn secret(&self, key: &'static str) -> Option<SecretRef> {
        self.takes(key, Asked::Secret);
        match self.given(key)? {
            Given::Variable(text) => self.secret_at(self.path.key(key), Some(&text)),
            Given::Toml(value) => self.secret_at(self.path.key(key), value.as_str()),
        }
    }

    /// Reads a reference; `None` is a value of another type, which may be a secret all the same.
    pub(super) fn secret_at(&self, path: Path, text: Option<&str>) -> Option<SecretRef> {
        let Some(text) = text else {
            self.secret_problem(path, "a secret is given as a reference in quotes: env:NAME or file:PATH");
            return None;
        };
        text.parse().map_err(|e: &str| self.secret_problem(path, e)).ok()
    }

    /// A table below this one.
    pub(super) fn table<T>(&self, key: &'static str, read: impl FnOnce(&Self) -> T) -> Option<T> {
        self.takes(key, Asked::Table);
        match self.given(key)? {
            Given::Toml(DeValue::Table(table)) => Some(Self::read(self.reading, self.path.key(key), Some(table), None, read)),
            Given::Toml(other) => {
                self.mistyped(key, "a table, such as { … = \"…\" }", other);
                None
            }
            Given::Variable(_) => None,
        }
    }
}

fn unknown(key: &str, known: &[&'static str]) -> String {
    match nearest(key, known.iter().copied()) {
        Some(near) => format!("there is no key `{key}` here: did you mean `{near}`?"),
        None => format!("there is no key `{key}` here: the keys are {}", known.join(", ")),
    }
}
