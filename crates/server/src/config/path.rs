//! The dotted path of a key, as problems name it: `source[0].identity.submission`.

use std::fmt;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seg {
    /// A table's key.
    Key(String),
    /// A list's element.
    Index(usize),
}

/// A way from the root of the file to one value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path(pub(super) Vec<Seg>);

impl Path {
    /// The path of `key` below this one.
    pub(super) fn key(&self, key: &str) -> Self {
        self.with(Seg::Key(key.to_owned()))
    }

    /// The path of the element at `index` below this one.
    pub(super) fn index(&self, index: usize) -> Self {
        self.with(Seg::Index(index))
    }

    fn with(&self, seg: Seg) -> Self {
        Self(self.0.iter().cloned().chain([seg]).collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, seg) in self.0.iter().enumerate() {
            let dot = if position == 0 { "" } else { "." };
            match seg {
                Seg::Index(index) => write!(f, "[{index}]")?,
                Seg::Key(key) if is_bare(key) => write!(f, "{dot}{key}")?,
                Seg::Key(key) => write!(f, "{dot}{key:?}")?,
            }
        }
        Ok(())
    }
}

/// Whether TOML takes the key without quotes.
fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
}
