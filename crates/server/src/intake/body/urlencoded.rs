//! URL-encoded forms: pairs, percent escapes, and bytes that are no UTF-8.

use std::borrow::Cow;

use data_encoding::HEXLOWER_PERMISSIVE;
use domain::tree::{Tree, marks};

use super::repairs::Repairs;
use super::{Unreadable, charset, names};

/// More pairs than any form has; finding a name among earlier ones is linear, so their number must be bounded.
const PAIRS_MAX: usize = 1000;

/// Reads a form into a map. A line end after the last pair is no part of its value. `_charset_` names the encoding of the
/// escapes where the header does not, as HTML has it.
pub(super) fn read(text: &str, declared: Option<&str>, repairs: &mut Repairs) -> Result<Tree, Unreadable> {
    let pairs = || text.trim_ascii().split('&').filter(|pair| !pair.is_empty());
    let own = pairs().find_map(|pair| pair.strip_prefix("_charset_="));
    let declared = declared.or(own);
    let mut members = Vec::new();
    for (number, pair) in (1..).zip(pairs()) {
        if number > PAIRS_MAX {
            return Err(Unreadable::because(format!("the form has more than {PAIRS_MAX} pairs")));
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (text_of(name, declared, repairs), text_of(value, declared, repairs));
        names::put(&mut members, &name, Tree::Text(value), number)?;
    }
    Ok(Tree::Map(members))
}

/// What an escaped text says. Marks in it stand for what was lost before the escapes were undone, and stay as they are.
fn text_of(escaped: &str, declared: Option<&str>, repairs: &mut Repairs) -> String {
    if !repairs.is_marking() {
        return charset::of_part(&decoded(escaped), declared, repairs).into_owned();
    }
    let mut text = String::new();
    for (before, mark) in marks::pieces(escaped) {
        text.push_str(&charset::of_part(&decoded(before), declared, repairs));
        text.push_str(mark);
    }
    text
}

/// Whether a text of another type, or of none, is a form all the same: names and values in the letters that escaping leaves,
/// and at least `pairs_min` of them.
pub(super) fn is_plainly(text: &str, pairs_min: usize) -> bool {
    let is_escaped = |b: u8| b.is_ascii_alphanumeric() || b"-._~*+%[]!'()@:,/$;".contains(&b);
    let mut pairs = 0;
    text.trim_ascii().split('&').all(|pair| {
        pairs += 1;
        let named = pair.split_once('=').filter(|(name, _)| !name.is_empty());
        named.is_some_and(|(name, value)| name.bytes().chain(value.bytes()).all(is_escaped))
    }) && pairs >= pairs_min
}

/// The bytes that an escaped text stands for; a lone `%` stands for itself.
pub(super) fn decoded(text: &str) -> Cow<'_, [u8]> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = after.get(..2).filter(|_| byte == b'%').and_then(hex);
        out.push(escaped.unwrap_or(if byte == b'+' { b' ' } else { byte }));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    Cow::Owned(out)
}

fn hex(digits: &[u8]) -> Option<u8> {
    let mut byte = [0];
    HEXLOWER_PERMISSIVE.decode_mut(digits, &mut byte).ok()?;
    Some(byte[0])
}
