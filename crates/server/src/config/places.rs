//! Where each key stands, kept from loading: whoever finds a mistake later can say the line.

use std::collections::BTreeMap;
use std::fmt;

use super::Config;

/// The place of every key, by its dotted path.
#[derive(Clone, Default)]
pub(super) struct Places(pub(super) BTreeMap<String, String>);

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Places({})", self.0.len())
    }
}

impl Config {
    /// Where a key stands, `FILE:LINE:COLUMN` or the variable that gave it: `source[0].auth.secret`. Where the file leaves
    /// the key out, what there is of the way to it.
    pub fn locate(&self, path: &str) -> Option<String> {
        let mut path = path;
        loop {
            if let Some(place) = self.places.0.get(path) {
                return Some(place.clone());
            }
            path = &path[..path.rfind(['.', '['])?];
        }
    }
}
