//! A journal entry as an operator sees it: as it is, since its hash covers every field of it.

use evidence::Entry;
use serde::Serialize;

/// One entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct EntryView(pub Entry);
