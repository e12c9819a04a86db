//! What was lost in reading, told by its place.
//!
//! A reader sees U+FFFD wherever something could not be read, and where a person wrote that character. So what was damaged is
//! read a second time with marks: each U+FFFD is followed by the hex digits of what stood there, none for the character
//! itself, and a full stop. Out of that reading comes a digest of what was lost where, which counts as content. A reading with
//! marks is never shown or mapped.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;

use super::{Pointer, Tree};
use crate::digest::Digest;

const SEEN: char = char::REPLACEMENT_CHARACTER;

/// The mark of bytes that could not be read; of none, it is the mark of the character itself.
pub fn mark(lost: &[u8]) -> String {
    format!("{SEEN}{}.", HEXLOWER.encode(lost))
}

/// A text without marks, marked.
pub fn marked(text: &str) -> String {
    text.replace(SEEN, &mark(b""))
}

/// A marked text in pieces: what stands before a mark, and the mark; behind the last there may be no mark.
pub fn pieces(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let begin = rest.find(SEEN).unwrap_or(rest.len());
        let (before, from) = rest.split_at(begin);
        let code = from.strip_prefix(SEEN).unwrap_or_default();
        let digits = code.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
        let is_whole = code.as_bytes().get(digits) == Some(&b'.');
        let length = if from.is_empty() { 0 } else { SEEN.len_utf8() + if is_whole { digits + 1 } else { 0 } };
        let (mark, behind) = from.split_at(length);
        rest = behind;
        Some((before, mark))
    })
}

impl Tree {
    /// A tree that was read without marks and without loss, marked.
    #[must_use]
    pub fn marked(&self) -> Self {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => self.clone(),
            Self::Text(text) => Self::Text(marked(text)),
            Self::List(items) => Self::List(items.iter().map(Self::marked).collect()),
            Self::Map(members) => Self::Map(members.iter().map(|(name, value)| (marked(name), value.marked())).collect()),
        }
    }

    /// Digest of what was lost in a marked tree and where; `None` if nothing was but below `except`. The order of members
    /// counts as little as in the content.
    pub fn lost(&self, except: &[Pointer]) -> Option<Digest> {
        let mut walk = Walk { except, path: Vec::new(), found: Vec::new() };
        walk.visit(self, Digest::ZERO);
        walk.found.sort();
        let found = walk.found.iter().map(|found| found.as_bytes().as_slice());
        (!walk.found.is_empty()).then(|| Digest::of_parts(found))
    }
}

struct Walk<'a> {
    except: &'a [Pointer],
    path: Vec<String>,
    found: Vec<Digest>,
}

impl Walk<'_> {
    fn visit(&mut self, tree: &Tree, place: Digest) {
        if self.except.iter().any(|pattern| pattern.covers(&self.path)) {
            return;
        }
        match tree {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
            Tree::Text(text) => self.note(text, b"text", place),
            Tree::List(items) => {
                for (index, item) in (0_u64..).zip(items) {
                    self.path.push(index.to_string());
                    self.visit(item, Digest::of_parts([place.as_bytes().as_slice(), b"element", &index.to_be_bytes()]));
                    self.path.pop();
                }
            }
            Tree::Map(members) => {
                let mut met: BTreeMap<String, u64> = BTreeMap::new();
                for (name, value) in members {
                    // Names that read alike are told apart as the content tells them apart: by which comes first.
                    let plain: String = pieces(name).flat_map(|(text, mark)| text.chars().chain(mark.chars().next())).collect();
                    let before = met.entry(plain.clone()).or_insert(0);
                    let step = Digest::of_parts([place.as_bytes().as_slice(), b"member", plain.as_bytes(), &before.to_be_bytes()]);
                    *before += 1;
                    self.path.push(plain);
                    if !self.except.iter().any(|pattern| pattern.covers(&self.path)) {
                        self.note(name, b"name", step);
                        self.visit(value, step);
                    }
                    self.path.pop();
                }
            }
        }
    }

    /// All marks of a text in their order, if one of them stands for something lost.
    fn note(&mut self, text: &str, kind: &[u8], place: Digest) {
        if !text.contains(SEEN) {
            return;
        }
        let marks: Vec<&str> = pieces(text).map(|(_, mark)| mark).filter(|mark| !mark.is_empty()).collect();
        if marks.iter().any(|mark| mark.len() > SEEN.len_utf8() + 1) {
            self.found.push(Digest::of_parts([place.as_bytes().as_slice(), kind, marks.concat().as_bytes()]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(text: &str) -> Option<Digest> {
        Tree::from_json_marked(&marked(text)).unwrap().lost(&[])
    }

    #[test]
    fn what_is_lost_counts_with_its_place() {
        let pairs = [
            (r#"{"x":"\ud800","y":"\ufffd"}"#, r#"{"x":"\ufffd","y":"\ud800"}"#),
            (r#"{"x":"\ud800","y":"\ufffd"}"#, r#"{"y":"\ud800","x":"\uFFFD"}"#),
            (r#"{"x":"\ud800","y":"\udc00"}"#, r#"{"y":"\ud800","x":"\udc00"}"#),
            (r#"{"x":"\ud800 \ufffd"}"#, r#"{"x":"\ufffd \ud800"}"#),
            (r#"{"x":"\ud800 �"}"#, r#"{"x":"� \ud800"}"#),
            (r#"{"\ud800":1,"\ufffd":2}"#, r#"{"\ufffd":1,"\ud800":2}"#),
            (r#"["\ud800","\ufffd"]"#, r#"["\ufffd","\ud800"]"#),
            (r#"{"x":"\ud800"}"#, r#"{"x":"\ufffd"}"#),
            (r#"{"x":"\ud800"}"#, r#"{"x":"\ufffdd800."}"#),
        ];
        for (one, other) in pairs {
            assert!(lost(one).is_some(), "{one}");
            assert_ne!(lost(one), lost(other), "{one} {other}");
        }
    }

    #[test]
    fn the_order_of_members_and_what_is_left_out_count_for_nothing() {
        assert_eq!(lost(r#"{"x":"\ud800","y":"\udc00"}"#), lost(r#"{ "y":"\uDC00", "x":"\uD800" }"#));
        assert_eq!(lost(r#"{"x":"� \ufffd \ud83d\ude00"}"#), None);
        let tree = Tree::from_json_marked(r#"{"t":{"x":"\ud800"},"y":"a"}"#).unwrap();
        assert_eq!(tree.lost(&[Pointer::parse("/t").unwrap()]), None);
    }

    #[test]
    fn pieces_are_a_texts_pieces() {
        let text = format!("a{}b{}{}c\u{FFFD}zz", mark(b""), mark(b"\xFF"), mark(b""));
        let read: Vec<_> = pieces(&text).collect();
        assert_eq!(read, [("a", "\u{FFFD}."), ("b", "\u{FFFD}ff."), ("", "\u{FFFD}."), ("c", "\u{FFFD}"), ("zz", "")]);
    }
}
