//! From bytes to text: UTF-8 as it is, UTF-16 and declared encodings brought into it, and what is no text replaced.
//!
//! Bytes that are valid UTF-8 are UTF-8, whatever is declared: a wrong label is common, and text in another encoding is
//! practically never valid UTF-8 by accident.

use std::borrow::Cow;

use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};

use super::repairs::{Repair, Repairs};

/// The text of a whole body. A byte-order mark is no part of it.
pub(super) fn of_body<'a>(bytes: &'a [u8], declared: Option<&str>, repairs: &mut Repairs) -> Cow<'a, str> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        repairs.one(Repair::ByteOrderMark);
        let rest = &bytes[length..];
        return if encoding == UTF_8 { of_part(rest, declared, repairs) } else { decoded(encoding, rest, repairs) };
    }
    match utf_16(bytes) {
        Some(encoding) => decoded(encoding, bytes, repairs),
        None => of_part(bytes, declared, repairs),
    }
}

/// The text of a part of a body, e.g. of one field of a form.
pub(super) fn of_part<'a>(bytes: &'a [u8], declared: Option<&str>, repairs: &mut Repairs) -> Cow<'a, str> {
    // Of what is called by the names that stand for REPLACEMENT nothing would be left.
    let named = declared.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    let declared = named.filter(|encoding| *encoding != UTF_8 && *encoding != REPLACEMENT);
    let text = std::str::from_utf8(bytes);
    match (text, declared) {
        // The encoding of seven bits shows itself by its escapes.
        (Ok(_), Some(encoding)) if encoding == ISO_2022_JP && bytes.contains(&0x1B) => decoded(encoding, bytes, repairs),
        (Ok(text), _) => Cow::Borrowed(text),
        (Err(_), Some(encoding)) => decoded(encoding, bytes, repairs),
        (Err(_), None) => replaced(bytes, repairs),
    }
}

/// UTF-16 without a mark: every other of the first bytes is zero, as it is in markup and names in Latin letters.
fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let pairs: Vec<(bool, bool)> = bytes.chunks_exact(2).take(2).map(|pair| (pair[0] == 0, pair[1] == 0)).collect();
    if pairs.is_empty() {
        None
    } else if pairs.iter().all(|pair| *pair == (true, false)) {
        Some(UTF_16BE)
    } else if pairs.iter().all(|pair| *pair == (false, true)) {
        Some(UTF_16LE)
    } else {
        None
    }
}

fn decoded<'a>(encoding: &'static Encoding, bytes: &'a [u8], repairs: &mut Repairs) -> Cow<'a, str> {
    let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
    repairs.one(Repair::Transcoded);
    if had_errors {
        let count = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
        // Which bytes were replaced the decoder does not say: then all of them count.
        repairs.lost(Repair::Undecodable, u32::try_from(count).unwrap_or(u32::MAX).max(1), bytes);
    }
    text
}

fn replaced<'a>(bytes: &'a [u8], repairs: &mut Repairs) -> Cow<'a, str> {
    let (mut text, mut count, mut lost) = (String::with_capacity(bytes.len()), 0_u32, Vec::new());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            count = count.saturating_add(1);
            lost.extend_from_slice(chunk.invalid());
        }
    }
    repairs.lost(Repair::Undecodable, count, &lost);
    Cow::Owned(text)
}
