//! An instant as people and programs read it.

use std::fmt;

use domain::time::UtcMs;
use serde::{Serialize, Serializer};

/// An instant; as text and JSON RFC 3339, UTC, with milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At(pub UtcMs);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.rfc3339())
    }
}

impl Serialize for At {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
