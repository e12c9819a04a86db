//! Reads a raw body into a tree: JSON and URL-encoded forms.
//!
//! What cannot be read is never an HTTP error: the delivery is quarantined with the words of [`Unreadable`], which say what
//! is wrong and where, and never what the body holds (I12). Multipart, XML and mail are not read here yet.

mod urlencoded;

use domain::tree::Tree;

/// Why a body could not be read. No value of the body is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub(super) String);

impl Unreadable {
    pub(super) fn because(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a body. The tree is a map or a list.
pub fn read(content_type: Option<&str>, bytes: &[u8]) -> Result<Tree, Unreadable> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let Some(first) = bytes.trim_ascii_start().first() else { return Err(Unreadable::because("the body is empty")) };
    let looks_like_json = matches!(first, b'{' | b'[');
    let essence = content_type.map(essence).unwrap_or_default();
    match essence.as_str() {
        "application/json" | "text/json" => json(bytes),
        suffixed if suffixed.ends_with("+json") => json(bytes),
        // `curl -d '{…}'`, and tools built on it, call everything a form.
        "application/x-www-form-urlencoded" if looks_like_json => json(bytes).or_else(|_| urlencoded::read(bytes)),
        "application/x-www-form-urlencoded" => urlencoded::read(bytes),
        "" | "text/plain" | "application/octet-stream" if looks_like_json => json(bytes),
        "" => Err(Unreadable::because("the body has no content type, and is no JSON object or list")),
        "text/plain" | "application/octet-stream" => {
            Err(Unreadable::because(format!("the body is {essence}, and is no JSON object or list")))
        }
        other => Err(Unreadable::because(format!("bodies of type {other} are not read yet: kept for later"))),
    }
}

/// The media type without its parameters, lower-cased, and nothing in it that could not stand in a media type.
fn essence(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "/+-._".contains(*c);
    essence.chars().filter(is_plain).take(80).collect::<String>().to_ascii_lowercase()
}

fn json(bytes: &[u8]) -> Result<Tree, Unreadable> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Unreadable::because(format!("the body is not UTF-8: broken at byte {}", e.valid_up_to() + 1)))?;
    let tree = Tree::from_json(text).map_err(|e| Unreadable::because(format!("the body is {e}")))?;
    match &tree {
        Tree::Map(_) | Tree::List(_) => Ok(tree),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => {
            Err(Unreadable::because("the body is a single JSON value, and neither an object nor a list"))
        }
    }
}

#[cfg(test)]
mod tests;
