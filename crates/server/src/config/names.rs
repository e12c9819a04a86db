//! What names and ids look like: they stand in addresses, keys and logs, so they are plain.

use super::asked::Asked;
use super::section::Section;

impl Section<'_> {
    /// A name of the form `[a-z0-9][a-z0-9_-]*`.
    pub(super) fn name(&self, key: &'static str) -> Option<String> {
        self.takes(key, Asked::Name);
        self.parsed_by(key, name)
    }
}

fn name(text: &str) -> Result<String, String> {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let begins = text.bytes().next().is_some_and(is_plain);
    if begins && text.bytes().all(|b| is_plain(b) || b == b'_' || b == b'-') {
        Ok(text.to_owned())
    } else {
        Err(format!("`{text}` is no name: use small letters, digits, `-` and `_`, and begin with a letter or digit"))
    }
}
