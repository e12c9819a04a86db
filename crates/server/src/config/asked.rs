//! What the reader takes a key to be, noted while it reads: the table of keys ([`super::keys`]) is held against it.

/// The way a key was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Whatever it is.
    Any,
    /// As a text, which may be read further.
    Text,
    /// As a name of ours.
    Name,
    /// As a text that this type reads.
    Parsed(&'static str),
    /// As one of these words.
    Word(Vec<String>),
    /// As a whole number within bounds.
    Whole(i64, i64),
    /// As a number from 0 to 1.
    Share,
    /// As true or false.
    Flag,
    /// As a reference to a secret.
    Secret,
    /// As one value or a list of them.
    Many,
    /// As a table whose keys are the user's own.
    Pairs,
    /// As a table of ours.
    Table,
}
