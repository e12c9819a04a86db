//! JSON that is nearly JSON: half an emoji, and control characters that a string may not hold as they are.
//!
//! A strict reader refuses the whole body over one of them. Here a copy is mended, only where the body was refused; what
//! was taken out of it is counted and kept, so that two bodies which differ only there are never taken for one.

use super::{Tree, TreeError};

/// What mending did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// Halves of a surrogate pair that were replaced by U+FFFD.
    pub surrogates: u32,
    /// Control characters that were escaped; they say what they said.
    pub controls: u32,
    /// What was replaced, in order.
    pub lost: Vec<u8>,
}

impl Mended {
    /// Takes what mending another text did in.
    pub(super) fn join(&mut self, other: Self) {
        self.surrogates = self.surrogates.saturating_add(other.surrogates);
        self.controls = self.controls.saturating_add(other.controls);
        self.lost.extend(other.lost);
    }
}

impl Tree {
    /// Reads JSON text, mended where it would be refused otherwise.
    pub fn from_json_mended(text: &str) -> Result<(Self, Mended), TreeError> {
        match Self::from_json(text) {
            Ok(tree) => Ok((tree, Mended::default())),
            Err(TreeError::TooDeep) => Err(TreeError::TooDeep),
            Err(refused) => {
                let (text, mended) = mend(text, false);
                if mended == Mended::default() { Err(refused) } else { Ok((Self::from_json(&text)?, mended)) }
            }
        }
    }

    /// Reads JSON text whose characters U+FFFD are marked already, so that those which are escaped and the halves that are
    /// replaced are marked too ([`super::marks`]).
    pub fn from_json_marked(text: &str) -> Result<Self, TreeError> {
        Self::from_json(&mend(text, true).0)
    }
}

/// The text with its strings mended, and marked if that is wanted. What stands outside of strings stays as it is.
fn mend(text: &str, is_marked: bool) -> (String, Mended) {
    let (mut out, mut mended) = (String::with_capacity(text.len() + 16), Mended::default());
    let bytes = text.as_bytes();
    let (mut at, mut copied, mut in_string) = (0, 0, false);
    while let Some(&byte) = bytes.get(at) {
        let step = match byte {
            b'"' => {
                in_string = !in_string;
                1
            }
            b'\\' if in_string => match half(&bytes[at..]) {
                // A pair: both halves are passed over together.
                Some(Half::Pair) => 12,
                Some(Half::Lone) => {
                    out.push_str(&text[copied..at]);
                    out.push_str("\\ufffd");
                    if is_marked {
                        out.extend(text[at + 2..at + 6].to_ascii_lowercase().chars().chain(['.']));
                    }
                    mended.surrogates = mended.surrogates.saturating_add(1);
                    mended.lost.extend(bytes[at..at + 6].to_ascii_lowercase());
                    copied = at + 6;
                    6
                }
                None if is_marked && unit(&bytes[at..]) == Some(0xFFFD) => {
                    out.push_str(&text[copied..at + 6]);
                    out.push('.');
                    copied = at + 6;
                    6
                }
                None => 2,
            },
            0..0x20 if in_string => {
                out.push_str(&text[copied..at]);
                out.extend(format!("\\u{byte:04x}").chars());
                mended.controls = mended.controls.saturating_add(1);
                copied = at + 1;
                1
            }
            _ => 1,
        };
        at += step;
    }
    out.push_str(&text[copied..]);
    (out, mended)
}

/// An escaped surrogate.
enum Half {
    /// A first half with its second.
    Pair,
    /// A half alone.
    Lone,
}

/// What half of a pair begins here, if one does.
fn half(bytes: &[u8]) -> Option<Half> {
    match unit(bytes)? {
        0xD800..=0xDBFF => match bytes.get(6..).and_then(unit) {
            Some(0xDC00..=0xDFFF) => Some(Half::Pair),
            _ => Some(Half::Lone),
        },
        0xDC00..=0xDFFF => Some(Half::Lone),
        _ => None,
    }
}

/// The UTF-16 unit that a `\uXXXX` at the beginning stands for.
fn unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit: u16, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(value).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Tree, Mended) {
        Tree::from_json_mended(text).unwrap()
    }

    #[test]
    fn half_an_emoji_is_replaced_wherever_it_stands() {
        for (text, halves, lost) in [
            (r#"{"a":"x\ud83d"}"#, 1, r"\ud83d"),
            (r#"{"a":"\uDC00x"}"#, 1, r"\udc00"),
            (r#"{"\ud83d":1}"#, 1, r"\ud83d"),
            (r#"{"a":"\ud83d\ud83d\ude00\ude00"}"#, 2, r"\ud83d\ude00"),
            (r#"["\ud83d\n"]"#, 1, r"\ud83d"),
        ] {
            let (_, mended) = read(text);
            assert_eq!((mended.surrogates, mended.controls), (halves, 0), "{text}");
            assert_eq!(mended.lost, lost.as_bytes(), "{text}");
        }
        let (tree, _) = read(r#"{"a":"40 \ud83d\ude00 \ud83d!"}"#);
        assert_eq!(tree.get("a").and_then(Tree::leaf), Some("40 😀 \u{FFFD}!"));
    }

    #[test]
    fn an_escaped_backslash_is_no_escape_of_what_follows() {
        let (tree, mended) = read(r#"{"a":"\\ud83d","b":"\ud83d"}"#);
        assert_eq!(tree.get("a").and_then(Tree::leaf), Some(r"\ud83d"));
        assert_eq!(mended.surrogates, 1);
    }

    #[test]
    fn control_characters_in_strings_are_escaped_and_say_the_same() {
        let (tree, mended) = read("{\"a\\u0000\":\"x\0y\nz\"}");
        assert_eq!(tree.get("a\0").and_then(Tree::leaf), Some("x\0y\nz"));
        assert_eq!((mended.controls, mended.surrogates, mended.lost.len()), (2, 0, 0));
    }

    #[test]
    fn what_is_well_formed_is_not_touched_and_what_is_broken_stays_broken() {
        assert_eq!(read(r#"{"a":"\ud83d\ude00","b":[1.10]}"#).1, Mended::default());
        for broken in ["{", r#"{"a":"\ud83d""#, r#"{"a":"\ud8"}"#, "\0{}", r#"{"a":"\x"}"#, "\"", "\"\\", "\"\\u", "\"\\ud83d\\u"] {
            assert!(Tree::from_json_mended(broken).is_err(), "{broken}");
        }
    }
}
