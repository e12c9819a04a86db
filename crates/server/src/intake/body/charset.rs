//! From bytes to text: UTF-8 as it is, UTF-16 and declared encodings brought into it, and what is no text replaced.
//!
//! Bytes that are valid UTF-8 are UTF-8, whatever is declared: a wrong label is common, and text in another encoding is
//! practically never valid UTF-8 by accident.

use std::borrow::Cow;

use domain::tree::marks;
use encoding_rs::{DecoderResult, Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};

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

/// The text of a field that may be in UTF-16 by itself, with its mark.
pub(super) fn of_field<'a>(bytes: &'a [u8], declared: Option<&str>, repairs: &mut Repairs) -> Cow<'a, str> {
    let is_wide = |encoding: &'static Encoding| encoding == UTF_16LE || encoding == UTF_16BE;
    let said = declared.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    match Encoding::for_bom(bytes).filter(|(encoding, _)| is_wide(encoding) && said.is_none_or(is_wide)) {
        Some((encoding, length)) => {
            repairs.one(Repair::ByteOrderMark);
            decoded(encoding, &bytes[length..], repairs)
        }
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
        (Ok(text), _) if repairs.is_marking() => Cow::Owned(marks::marked(text)),
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

/// Decodes step by step where the usual way cannot say what was lost.
fn decoded<'a>(encoding: &'static Encoding, bytes: &'a [u8], repairs: &mut Repairs) -> Cow<'a, str> {
    repairs.one(Repair::Transcoded);
    if !repairs.is_marking()
        && let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(bytes)
    {
        return text;
    }
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let (mut out, mut chunk, mut rest, mut at, mut count) = (String::new(), String::with_capacity(1024), bytes, 0, 0_u32);
    loop {
        let (result, read) = decoder.decode_to_string_without_replacement(rest, &mut chunk, true);
        at += read;
        rest = &rest[read..];
        push(&mut out, &chunk, repairs);
        chunk.clear();
        match result {
            DecoderResult::InputEmpty => break,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(length, behind) => {
                let end = at.saturating_sub(usize::from(behind));
                push_lost(&mut out, &bytes[end.saturating_sub(usize::from(length))..end], repairs);
                count = count.saturating_add(1);
            }
        }
    }
    repairs.lost(Repair::Undecodable, count);
    Cow::Owned(out)
}

fn replaced<'a>(bytes: &'a [u8], repairs: &mut Repairs) -> Cow<'a, str> {
    let (mut text, mut count) = (String::with_capacity(bytes.len()), 0_u32);
    for chunk in bytes.utf8_chunks() {
        push(&mut text, chunk.valid(), repairs);
        if !chunk.invalid().is_empty() {
            push_lost(&mut text, chunk.invalid(), repairs);
            count = count.saturating_add(1);
        }
    }
    repairs.lost(Repair::Undecodable, count);
    Cow::Owned(text)
}

fn push(out: &mut String, text: &str, repairs: &Repairs) {
    if repairs.is_marking() { out.push_str(&marks::marked(text)) } else { out.push_str(text) }
}

fn push_lost(out: &mut String, bytes: &[u8], repairs: &Repairs) {
    if repairs.is_marking() { out.push_str(&marks::mark(bytes)) } else { out.push(char::REPLACEMENT_CHARACTER) }
}
