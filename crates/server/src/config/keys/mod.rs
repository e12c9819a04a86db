//! Every key of the configuration in one table: its shape, what holds without it, what it does. The JSON Schema, the dump and
//! the commented file of `oncebook init` are made from it.
//!
//! Reading is not: each section reads its own keys, with sentences of its own for what is wrong. That reader and table say
//! the same is kept by `config/tests/keys.rs`, both ways, so a key that is added to one of them only fails there.

mod tables;

pub(super) use tables::ROOT;

/// A table of the file. Where `by` names a key, that key's word decides which of the others belong there.
pub(super) struct Table {
    pub(super) by: Option<&'static str>,
    pub(super) keys: &'static [Key],
}

/// One key.
#[derive(Clone, Copy)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) usual: Usual,
    /// What it does, for whoever writes the file.
    pub(super) says: &'static str,
    /// The words of the table's `by` that it belongs to; to all, where there are none.
    only: &'static [&'static str],
}

/// What a value looks like.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Any text.
    Text,
    /// A name of ours.
    Name,
    /// A span of time, `10m`.
    Span,
    /// A size, `1MiB`.
    Size,
    /// So many in a span, `3/24h`.
    Allowance,
    /// What a look-up proves.
    Consistency,
    /// `header:NAME`, or a pointer to one place.
    Place,
    /// A JSON Pointer to one place.
    Pointer,
    /// A JSON Pointer whose `*` stands for any member or element.
    Pattern,
    /// A reference to a secret.
    Secret,
    /// An http or https address.
    Address,
    /// One of these.
    Word(&'static [&'static str]),
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// A number from 0 to 1.
    Share,
    /// True or false.
    Flag,
    /// One text of that shape, or a list of them.
    Many(&'static Shape),
    /// One HTTP status that tells of an error, or a list of them.
    Statuses,
    /// A table whose keys are the user's own.
    Pairs(&'static Shape),
    /// A table.
    Table(&'static Table),
    /// Any number of tables.
    Tables(&'static Table),
}

/// What holds where a key is not given. Values and examples are written as in the file.
#[derive(Clone, Copy)]
pub(super) enum Usual {
    /// It must be given.
    Needed { example: &'static str },
    /// This value.
    Is(&'static str),
    /// What follows from other keys, in words.
    Follows { what: &'static str, example: &'static str },
    /// Nothing.
    Nothing { example: &'static str },
}

impl Table {
    /// The keys that belong in a table where `by` has that word, in the order that they are best written in.
    pub(super) fn keys_for(&self, word: Option<&str>) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().filter(move |key| key.only.is_empty() || word.is_some_and(|word| key.only.contains(&word)))
    }

    /// The word that decides, in a table that was given: the usual one, where it is not written.
    pub(super) fn word<'a>(&'a self, given: &'a toml::Table) -> Option<&'a str> {
        let by = self.by?;
        given.get(by).and_then(toml::Value::as_str).or_else(|| match self.key(by)?.usual {
            Usual::Is(text) => Some(text.trim_matches('"')),
            _ => None,
        })
    }

    /// The words that decide; one nameless where none does.
    pub(super) fn words(&self) -> Vec<Option<&'static str>> {
        match self.by.and_then(|by| self.key(by)).map(|key| key.shape) {
            Some(Shape::Word(words)) => words.iter().copied().map(Some).collect(),
            _ => vec![None],
        }
    }

    fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl Key {
    const fn new(name: &'static str, shape: Shape, usual: Usual, says: &'static str) -> Self {
        Self { name, shape, usual, says, only: &[] }
    }

    /// Belongs only where the table's `by` has one of these words.
    const fn only(self, only: &'static [&'static str]) -> Self {
        Self { only, ..self }
    }

    /// A value that it may have: the usual one, else an example.
    pub(super) fn example(&self) -> &'static str {
        match self.usual {
            Usual::Is(value) => value,
            Usual::Needed { example } | Usual::Follows { example, .. } | Usual::Nothing { example } => example,
        }
    }

    pub(super) fn is_needed(&self) -> bool {
        matches!(self.usual, Usual::Needed { .. })
    }
}

const fn needed(name: &'static str, shape: Shape, example: &'static str, says: &'static str) -> Key {
    Key::new(name, shape, Usual::Needed { example }, says)
}

const fn usual(name: &'static str, shape: Shape, value: &'static str, says: &'static str) -> Key {
    Key::new(name, shape, Usual::Is(value), says)
}

const fn follows(name: &'static str, shape: Shape, what: &'static str, example: &'static str, says: &'static str) -> Key {
    Key::new(name, shape, Usual::Follows { what, example }, says)
}

const fn optional(name: &'static str, shape: Shape, example: &'static str, says: &'static str) -> Key {
    Key::new(name, shape, Usual::Nothing { example }, says)
}

/// The value of a TOML text of the tables above.
pub(super) fn value(text: &str) -> Option<toml::Value> {
    format!("v = {text}").parse::<toml::Table>().ok()?.remove("v")
}

/// Whether a section's key has that word among its words.
pub fn takes_word(section: &str, key: &str, word: &str) -> bool {
    let root = ROOT.keys.iter().find(|root| root.name == section).map(|root| root.shape);
    let Some(Shape::Table(table) | Shape::Tables(table)) = root else { return false };
    matches!(table.key(key).map(|key| key.shape), Some(Shape::Word(words)) if words.contains(&word))
}
