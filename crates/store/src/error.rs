//! What went wrong, told by what the caller does next.

/// A store's error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Lost a race: read again, decide again.
    #[error("another writer was first: {0}")]
    Conflict(&'static str),
    /// Try later; whether this write happened is not known. Nothing half written.
    #[error("the book cannot be written now: {0}")]
    Unavailable(String),
    /// The book is damaged; the place is named.
    #[error("the book is damaged: {0}")]
    Corrupt(String),
    /// The book was made by a newer version, or belongs to another process.
    #[error("{0}")]
    Refused(String),
}
