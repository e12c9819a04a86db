//! What went wrong, told by what the caller does next.

use domain::ids::EnquiryId;

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

/// What every engine says in the same words.
impl Error {
    pub(crate) const EXISTS: Self = Self::Conflict("a unique record exists");
    pub(crate) const ENQUIRY_CHANGED: Self = Self::Conflict("the enquiry has changed");
    pub(crate) const EFFECT_CHANGED: Self = Self::Conflict("the effect has changed");
    pub(crate) const KEPT_CHANGED: Self = Self::Conflict("what was kept under that name has changed");
    pub(crate) const REVIEW_TAKEN: Self = Self::Conflict("the review item is decided already, or another enquiry's");

    /// What belongs to an enquiry is filed under it: it must be in the book.
    pub(crate) fn no_such_enquiry(id: &EnquiryId) -> Self {
        Self::Refused(format!("no such enquiry: {id}"))
    }

    pub(crate) fn bad_cursor() -> Self {
        Self::Refused("this cursor is not one of this list".to_owned())
    }

    pub(crate) fn no_such_stream() -> Self {
        Self::Refused("no such stream".to_owned())
    }
}
