//! The tree that the first books had of a body which is read otherwise now: as what it is rather than what it is called, or
//! out of another encoding.
//!
//! Their keys and content digests rest on it (I8), so this reading never changes. It is for finding what they have, and for
//! nothing else; what it does not read they did not enter.

use domain::tree::Tree;

use super::repairs::Repairs;
use super::{MARK, urlencoded};

/// Strict UTF-8, the declared type believed, no encoding but UTF-8.
pub(super) fn read(essence: &str, bytes: &[u8]) -> Option<Tree> {
    let text = std::str::from_utf8(bytes.strip_prefix(MARK).unwrap_or(bytes)).ok()?;
    let looks_like_json = text.trim_ascii_start().starts_with(['{', '[']);
    match essence {
        "application/x-www-form-urlencoded" if looks_like_json => json(text).or_else(|| form(text)),
        "application/x-www-form-urlencoded" => form(text),
        "" | "text/plain" | "application/octet-stream" if looks_like_json => json(text),
        "application/json" | "text/json" => json(text),
        suffixed if suffixed.ends_with("+json") => json(text),
        _ => None,
    }
}

fn json(text: &str) -> Option<Tree> {
    Tree::from_json(text).ok().filter(|tree| matches!(tree, Tree::Map(_) | Tree::List(_)))
}

fn form(text: &str) -> Option<Tree> {
    let mut repairs = Repairs::default();
    // With UTF-8 declared, `_charset_` does not count.
    let tree = urlencoded::read(text, Some("utf-8"), &mut repairs).ok()?;
    (repairs == Repairs::default()).then_some(tree)
}
