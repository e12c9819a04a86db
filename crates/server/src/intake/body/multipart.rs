//! Multipart forms: split in memory by their boundary, fields and files told apart, within limits.
//!
//! The names of fields nest as in URL-encoded forms. A body that is cut, or whose boundary does not stand in it, is no form;
//! a form whose boundary was declared wrongly, or not at all, shows it in its first line.

use std::borrow::Cow;

use domain::tree::Tree;
use memchr::memmem::Finder;

use super::file::File;
use super::media::{BOUNDARY_MAX, Media, parameter, parameters};
use super::repairs::{Repair, Repairs};
use super::{Unreadable, charset, names};

/// More parts than any form has, more files than anybody attaches, and longer headers than any part needs.
const PARTS_MAX: usize = 1000;
const FILES_MAX: usize = 50;
const HEADERS_MAX: usize = 8 * 1024;

/// Reads a form into a map, and its files.
pub(super) fn read(declared: Option<&str>, bytes: &[u8], repairs: &mut Repairs) -> Result<(Tree, Vec<File>), Unreadable> {
    let own = || {
        let own = sniffed(bytes);
        repairs.add(Repair::Boundary, u32::from(own.is_some()));
        own
    };
    let declared = declared.filter(|boundary| Delimiters::new(boundary, bytes).next().is_some());
    let Some(boundary) = declared.map(Cow::Borrowed).or_else(own) else {
        return Err(Unreadable::because(format!(
            "the body is called multipart, and the boundary that is declared does not stand in it, or is longer than {BOUNDARY_MAX} bytes"
        )));
    };
    let parts = split(&boundary, bytes)?;
    let parts = parts.iter().enumerate().map(|(n, part)| Part::read(n + 1, part, repairs)).collect::<Result<Vec<_>, _>>()?;
    let default = parts.iter().find(|part| part.name == "_charset_").and_then(|part| std::str::from_utf8(&part.content).ok());
    let (mut members, mut files) = (Vec::new(), Vec::new());
    for (number, part) in (1..).zip(&parts) {
        let value = match &part.file_name {
            // A file input that was left alone.
            Some(name) if name.trim().is_empty() && part.content.is_empty() => continue,
            Some(name) => file(name, part, &mut files, repairs)?,
            None if part.is_binary() => file("", part, &mut files, repairs)?,
            None => Tree::Text(charset::of_field(&part.content, part.charset.as_deref().or(default), repairs).into_owned()),
        };
        names::put(&mut members, &part.name, value, number)?;
    }
    Ok((Tree::Map(members), files))
}

/// Whether a body that is called something else is a multipart form.
pub(super) fn is_plainly(bytes: &[u8]) -> bool {
    sniffed(bytes).is_some()
}

fn file(name: &str, part: &Part<'_>, files: &mut Vec<File>, repairs: &mut Repairs) -> Result<Tree, Unreadable> {
    if files.len() == FILES_MAX {
        return Err(Unreadable::because(format!("the form has more than {FILES_MAX} files")));
    }
    let (file, is_changed) = File::new(name, part.content_type.clone(), part.content.to_vec());
    repairs.add(Repair::FileName, u32::from(is_changed));
    let tree = file.in_tree(name);
    files.push(file);
    Ok(tree)
}

/// The boundary that the body itself begins with: a first line of two dashes and a word, and the header of a form's part
/// below. The parts of a mail have other headers.
fn sniffed(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let bytes = bytes.trim_ascii_start();
    let end = memchr::memchr(b'\n', bytes.get(..BOUNDARY_MAX + 8).unwrap_or(bytes))?;
    let boundary = std::str::from_utf8(bytes[..end].trim_ascii_end().strip_prefix(b"--")?).ok()?;
    let is_boundary = !boundary.is_empty() && boundary.len() <= BOUNDARY_MAX && boundary.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    let below = bytes.get(end + 1..)?;
    let (header, _) = header_and_content(below.get(..HEADERS_MAX).unwrap_or(below))?;
    let header = header.to_ascii_lowercase();
    let has = |what: &[u8]| memchr::memmem::find(&header, what).is_some();
    (is_boundary && has(b"content-disposition:") && has(b"form-data")).then_some(Cow::Borrowed(boundary))
}

/// Where the delimiter stands: the end of what is before it, the begin of what is behind, and whether it is the last.
struct Delimiters<'a> {
    bytes: &'a [u8],
    finder: Finder<'a>,
    marker: Vec<u8>,
    from: usize,
}

impl<'a> Delimiters<'a> {
    fn new(boundary: &str, bytes: &'a [u8]) -> Self {
        let marker = format!("--{boundary}").into_bytes();
        Self { bytes, finder: Finder::new(&marker).into_owned(), marker, from: 0 }
    }
}

impl Iterator for Delimiters<'_> {
    type Item = (usize, usize, bool);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let begin = self.from + self.finder.find(self.bytes.get(self.from..)?)?;
            let behind = begin + self.marker.len();
            self.from = begin + 1;
            let before = match &self.bytes[..begin] {
                [] => 0,
                [.., b'\r', b'\n'] => begin - 2,
                [.., b'\n'] => begin - 1,
                // Not at the begin of a line: the letters of some text.
                _ => continue,
            };
            let tail = &self.bytes[behind..];
            let blanks = tail.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let (after, is_last) = match &tail[blanks..] {
                [b'-', b'-', ..] if blanks == 0 => (behind + 2, true),
                [b'\r', b'\n', ..] => (behind + blanks + 2, false),
                [b'\n', ..] => (behind + blanks + 1, false),
                // A longer word that begins the same.
                _ => continue,
            };
            self.from = after;
            return Some((before, after, is_last));
        }
    }
}

/// The parts, headers and all.
fn split<'a>(boundary: &str, bytes: &'a [u8]) -> Result<Vec<&'a [u8]>, Unreadable> {
    let (mut parts, mut begin) = (Vec::new(), None);
    for (before, after, is_last) in Delimiters::new(boundary, bytes) {
        if let Some(begin) = begin {
            if parts.len() == PARTS_MAX {
                return Err(Unreadable::because(format!("the form has more than {PARTS_MAX} parts")));
            }
            // An empty part's line end is the delimiter's own.
            parts.push(bytes.get(begin..before).unwrap_or_default());
        }
        if is_last {
            return Ok(parts);
        }
        begin = Some(after);
    }
    Err(Unreadable::because(format!("the multipart body breaks off in part {}", parts.len() + 1)))
}

/// One part.
struct Part<'a> {
    name: String,
    file_name: Option<String>,
    content_type: Option<String>,
    charset: Option<String>,
    content: Cow<'a, [u8]>,
}

impl<'a> Part<'a> {
    fn read(number: usize, bytes: &'a [u8], repairs: &mut Repairs) -> Result<Self, Unreadable> {
        let (header, content) = header_and_content(bytes).filter(|(header, _)| header.len() <= HEADERS_MAX).ok_or_else(|| {
            Unreadable::because(format!("part {number} of the form has no header, or one longer than {HEADERS_MAX} bytes"))
        })?;
        let header = charset::of_part(header, None, repairs);
        // A folded header goes on in the next line.
        let header = header.replace("\r\n", "\n").replace("\n ", " ").replace("\n\t", " ");
        let value = |wanted: &str| {
            let lines = header.lines().filter_map(|line| line.split_once(':'));
            lines.filter(|(name, _)| name.trim().eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim()).next()
        };
        let disposition = value("content-disposition").unwrap_or_default();
        let content_type = value("content-type").filter(|declared| !declared.is_empty());
        let decoded = value("content-transfer-encoding").and_then(|encoding| decoded(encoding, content));
        repairs.add(Repair::PartEncoding, u32::from(decoded.is_some()));
        let again = parameters(disposition, "name").skip(1).count();
        repairs.add(Repair::RepeatedName, u32::try_from(again).unwrap_or(u32::MAX));
        Ok(Self {
            name: parameter(disposition, "name").unwrap_or_default(),
            file_name: parameter(disposition, "filename*").and_then(|text| extended(&text)).or_else(|| parameter(disposition, "filename")),
            charset: content_type.and_then(|declared| Media::read(declared).charset),
            content_type: content_type.map(|declared| Media::read(declared).essence),
            content: decoded.map_or(Cow::Borrowed(content), Cow::Owned),
        })
    }

    /// What is declared as no text and is none is a file, also without a name.
    fn is_binary(&self) -> bool {
        let is_text =
            |kind: &str| kind.starts_with("text/") || kind.contains("json") || kind.contains("urlencoded") || kind.contains("xml");
        self.content_type.as_deref().is_some_and(|kind| !is_text(kind)) && std::str::from_utf8(&self.content).is_err()
    }
}

/// The bytes of a part as they were before they were encoded for old mail servers; `None` where they were not, or are not what
/// is said.
fn decoded(encoding: &str, content: &[u8]) -> Option<Vec<u8>> {
    match encoding.to_ascii_lowercase().as_str() {
        "base64" => {
            let letters: Vec<u8> = content.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            let end = letters.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
            data_encoding::BASE64_NOPAD.decode(&letters[..end]).ok()
        }
        "quoted-printable" => quoted_printable(content),
        _ => None,
    }
}

fn quoted_printable(content: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut rest) = (Vec::with_capacity(content.len()), content);
    while let Some((&byte, after)) = rest.split_first() {
        rest = match (byte, after) {
            // A line that goes on.
            (b'=', [b'\r', b'\n', behind @ ..] | [b'\n', behind @ ..]) => behind,
            (b'=', [high, low, behind @ ..]) => {
                out.extend(data_encoding::HEXLOWER_PERMISSIVE.decode(&[*high, *low]).ok()?);
                behind
            }
            (b'=', _) => return None,
            (other, behind) => {
                out.push(other);
                behind
            }
        };
    }
    Some(out)
}

/// The two sides of the first empty line.
fn header_and_content(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut line = 0;
    loop {
        let end = line + memchr::memchr(b'\n', &bytes[line..])?;
        if matches!(&bytes[line..end], [] | [b'\r']) {
            return Some((&bytes[..line], &bytes[end + 1..]));
        }
        line = end + 1;
    }
}

/// `UTF-8''na%20me` as RFC 5987 has it; other encodings are left to the plain name.
fn extended(text: &str) -> Option<String> {
    let (charset, rest) = text.split_once('\'')?;
    let (_, escaped) = rest.split_once('\'')?;
    // A `+` is itself here.
    let bytes = super::urlencoded::decoded(&escaped.replace('+', "%2B")).into_owned();
    charset.eq_ignore_ascii_case("utf-8").then(|| String::from_utf8(bytes).ok()).flatten()
}

#[cfg(test)]
mod tests;
