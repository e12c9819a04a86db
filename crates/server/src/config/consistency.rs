//! What a target's look-up proves, or what its write promises by itself (DESIGN section 4, the table of `find`).

use std::str::FromStr;

use super::units::Period;

/// What may be relied on after an unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    /// The look-up shows every record at once.
    Strong,
    /// The look-up is behind by at most this.
    Lagging(Period),
    /// The target refuses a second record with our key.
    Unique,
    /// The write itself is keyed, and the target enforces that.
    Upsert,
    /// The target remembers our key for this long and repeats its answer.
    Window(Period),
}

impl Consistency {
    /// Whether the write itself is keyed, so that it helps even without a look-up.
    pub fn is_keyed_write(self) -> bool {
        matches!(self, Self::Upsert | Self::Window(_))
    }
}

impl FromStr for Consistency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "strong" => Ok(Self::Strong),
            None if text == "unique" => Ok(Self::Unique),
            None if text == "upsert" => Ok(Self::Upsert),
            Some(("lagging", max)) => max.parse().map(Self::Lagging),
            Some(("window", kept)) => kept.parse().map(Self::Window),
            _ => Err(format!("`{text}` is not one of strong, lagging:30s, unique, upsert, window:24h")),
        }
    }
}
