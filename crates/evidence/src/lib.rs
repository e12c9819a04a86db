//! Oncebook's evidence: the journal's entries, the hash chain they stand in, erasable blobs and the check of it all.
//!
//! Pure: entries are built, sealed and checked as values. Reading and writing them is the store's business, and saying
//! what happened is that of whoever decided it.
#![warn(missing_docs)]

pub mod blob;
pub mod chain;
pub mod entry;
pub mod facts;
pub mod verify;

pub use blob::Blob;
pub use chain::{Head, seal};
pub use entry::{Draft, Entry};
pub use facts::Facts;
pub use verify::{Fault, Report, Walk};
