//! The content of a body: a keyed digest of every leaf that does not differ per attempt, in a normal form.
//!
//! Two deliveries have equal content when they say the same, however a proxy, an exporter or a retry wrote it down.
//! Headers are never content. Which places are volatile is the source's knowledge; this file only leaves them out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;

use crate::digest::{BookSecret, Digest};
use crate::tree::{Pointer, Tree};

/// The keyed digest of the body's content.
///
/// `volatile` are patterns: what they cover, and all below, is as if absent. The leaf at `address` is compared without
/// case.
pub fn digest(body: &Tree, volatile: &[Pointer], address: Option<&Pointer>, secret: &BookSecret) -> Digest {
    let mut walk = Walk { volatile, address, path: Vec::new(), leaves: Vec::new() };
    if walk.counts(body) {
        walk.visit(body, Digest::ZERO);
    }
    walk.leaves.sort_unstable();
    let parts = walk.leaves.iter().flat_map(|leaf| [leaf.place.as_bytes().as_slice(), leaf.kind, leaf.value.as_bytes()]);
    secret.fingerprint("content", parts)
}

/// The normal form of a text: NFC, line ends as LF, runs of spaces and tabs as one space, nothing at the end of lines
/// and nothing around the whole.
pub fn normal_form(text: &str) -> String {
    let composed = composed(text);
    let trimmed = composed.trim();
    let lines = if trimmed.contains('\r') { Cow::Owned(trimmed.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(trimmed) };
    let mut out = String::with_capacity(lines.len());
    for (n, line) in lines.split('\n').enumerate() {
        if n > 0 {
            out.push('\n');
        }
        collapse(line.trim_end(), &mut out);
    }
    out
}

/// NFC; most texts are ASCII, which is composed as it stands.
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// Appends a line, each run of spaces and tabs as one space.
fn collapse(line: &str, out: &mut String) {
    if !line.contains('\t') && !line.contains("  ") {
        out.push_str(line);
        return;
    }
    let mut after_space = false;
    for c in line.chars() {
        let is_space = matches!(c, ' ' | '\t');
        if !(is_space && after_space) {
            out.push(if is_space { ' ' } else { c });
        }
        after_space = is_space;
    }
}

/// One thing that counts: where it stands, what it is, what it says.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Leaf<'a> {
    /// The path, as the digest of its last step upon the digest of the path before it. A written-out path would be
    /// copied into every leaf, and a body of one long name above many leaves would fill the memory.
    place: Digest,
    kind: &'static [u8],
    value: Cow<'a, str>,
}

/// What a leaf is: an empty container must not read like an empty text.
const VALUE: &[u8] = b"value";
const EMPTY_LIST: &[u8] = b"list";
const EMPTY_MAP: &[u8] = b"map";

struct Walk<'a> {
    volatile: &'a [Pointer],
    address: Option<&'a Pointer>,
    /// Names and indices down to where the walk stands, as patterns see them.
    path: Vec<String>,
    leaves: Vec<Leaf<'a>>,
}

impl<'a> Walk<'a> {
    /// Whether the tree at the present path is content at all: null is like absent, and so is what is volatile.
    fn counts(&self, tree: &Tree) -> bool {
        *tree != Tree::Null && !self.volatile.iter().any(|pattern| pattern.covers(&self.path))
    }

    fn visit(&mut self, tree: &'a Tree, place: Digest) {
        match tree {
            Tree::Null => {}
            Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => {
                let value = self.value(tree.leaf().unwrap_or_default());
                self.leaves.push(Leaf { place, kind: VALUE, value });
            }
            Tree::List(items) => self.visit_items(items, place),
            Tree::Map(members) => self.visit_members(members, place),
        }
    }

    /// Elements are told apart by their index: the order of a list is content.
    fn visit_items(&mut self, items: &'a [Tree], place: Digest) {
        let mut is_empty = true;
        for (index, item) in (0_u64..).zip(items) {
            self.path.push(index.to_string());
            if self.counts(item) {
                is_empty = false;
                self.visit(item, Digest::of_parts([place.as_bytes().as_slice(), b"element", &index.to_be_bytes()]));
            }
            self.path.pop();
        }
        if is_empty {
            self.leaves.push(Leaf { place, kind: EMPTY_LIST, value: Cow::Borrowed("") });
        }
    }

    /// Members are told apart by name, and among equal names by how often the name was met before: the order of names
    /// is not content, a repeated member is.
    fn visit_members(&mut self, members: &'a [(String, Tree)], place: Digest) {
        let mut met: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, value) in members {
            self.path.push(name.clone());
            if self.counts(value) {
                let before = met.entry(name).or_insert(0);
                let step = [place.as_bytes().as_slice(), b"member", name.as_bytes(), &before.to_be_bytes()];
                *before += 1;
                self.visit(value, Digest::of_parts(step));
            }
            self.path.pop();
        }
        if met.is_empty() {
            self.leaves.push(Leaf { place, kind: EMPTY_MAP, value: Cow::Borrowed("") });
        }
    }

    fn value(&self, sent: &'a str) -> Cow<'a, str> {
        // Most leaves of a large body are numbers and short words, in their normal form as they stand.
        let is_normal = sent.bytes().all(|byte| byte.is_ascii_graphic());
        let value = if is_normal { Cow::Borrowed(sent) } else { Cow::Owned(normal_form(sent)) };
        if self.address.is_some_and(|address| address.0 == self.path) { Cow::Owned(value.to_lowercase()) } else { value }
    }
}

#[cfg(test)]
mod tests;
