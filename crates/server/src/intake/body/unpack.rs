//! Packed bodies: gzip and deflate, unpacked up to the length that a body may have. A few bytes may stand for more than any
//! memory holds.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::Unreadable;
use super::repairs::{Repair, Repairs};

/// How often a body may be packed.
const LAYERS_MAX: usize = 2;

/// The packings that may be named in a reason: a header's own words never are (I12).
const KNOWN: [&str; 8] = ["br", "zstd", "compress", "x-compress", "exi", "pack200-gzip", "dcb", "dcz"];

const GZIP: &[u8] = b"\x1F\x8B\x08";

/// The body as it was before it was packed; `declared` is its `Content-Encoding`, and `max` the most bytes that are read.
/// What is packed and does not say so is unpacked too; what says so and is not stays as it is.
pub(super) fn unpack<'a>(declared: Option<&str>, bytes: &'a [u8], max: usize, repairs: &mut Repairs) -> Result<Cow<'a, [u8]>, Unreadable> {
    let layers = layers(declared);
    if layers.len() > LAYERS_MAX && !is_readable(bytes) {
        return Err(Unreadable::because(format!("the body is packed more than {LAYERS_MAX} times")));
    }
    let mut body = Cow::Borrowed(bytes);
    for layer in layers.iter().rev() {
        let unpacked = match layer.as_str() {
            "gzip" | "x-gzip" if body.starts_with(GZIP) => whole(MultiGzDecoder::new(&*body), max)?,
            "deflate" if is_zlib(&body) => whole(ZlibDecoder::new(&*body), max)?,
            // Some send the bare stream by that name, which has no mark of its own.
            "deflate" if !is_text(&body) => whole(DeflateDecoder::new(&*body), max)?,
            "gzip" | "x-gzip" | "deflate" => {
                repairs.one(Repair::Encoding);
                continue;
            }
            // What can be read as it stands was not packed, whatever it is called; nor was what is no packing's name.
            _ if is_readable(&body) => {
                repairs.one(Repair::Encoding);
                continue;
            }
            other => {
                let name = if KNOWN.contains(&other) { other } else { "something unknown" };
                return Err(Unreadable::because(format!("the body is compressed with {name}, which is not read: kept for later")));
            }
        };
        body = Cow::Owned(unpacked);
    }
    if layers.is_empty() && body.starts_with(GZIP) {
        repairs.one(Repair::Encoding);
        body = Cow::Owned(whole(MultiGzDecoder::new(bytes), max)?);
    }
    Ok(body)
}

/// Whether anything would be unpacked, or tried to be.
pub(super) fn is_packed(declared: Option<&str>, bytes: &[u8]) -> bool {
    bytes.starts_with(GZIP) || !layers(declared).is_empty()
}

/// What the body says it was packed with, in the order in which that was done.
fn layers(declared: Option<&str>) -> Vec<String> {
    let named = declared.unwrap_or_default().split(',').map(|layer| layer.trim().to_ascii_lowercase());
    named.filter(|layer| !layer.is_empty() && layer != "identity").collect()
}

/// Packed bytes are practically never text.
fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(|c: char| c.is_control() && !c.is_whitespace()))
}

/// Nor do those of other packings begin as JSON does, with broken characters in it or in UTF-16.
fn is_readable(bytes: &[u8]) -> bool {
    let begins = matches!(bytes.trim_ascii_start(), [b'{' | b'[', b'"' | b'{' | b'[' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n', ..]);
    let is_wide = matches!(bytes, [0xFF, 0xFE, _, 0, ..] | [0xFE, 0xFF, 0, ..] | [b'{' | b'[', 0, _, 0, ..] | [0, b'{' | b'[', 0, ..]);
    begins || is_wide || is_text(bytes)
}

fn is_zlib(bytes: &[u8]) -> bool {
    matches!(bytes, [cmf, flg, ..] if cmf & 0x0F == 8 && (u16::from(*cmf) << 8 | u16::from(*flg)) % 31 == 0)
}

/// Everything that the reader gives, if that is not too much.
fn whole(reader: impl Read, max: usize) -> Result<Vec<u8>, Unreadable> {
    let mut unpacked = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    let read = reader.take(limit).read_to_end(&mut unpacked);
    if unpacked.len() > max {
        return Err(beyond(max));
    }
    read.map_err(|_| Unreadable::because("the body is compressed, and breaks off or is damaged"))?;
    Ok(unpacked)
}

fn beyond(max: usize) -> Unreadable {
    Unreadable::because(format!("the body is compressed, and unpacked it is longer than {max} bytes"))
}
