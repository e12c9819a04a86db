//! Reads a raw body into a tree: JSON, JSON line by line, forms of both kinds and plain text, whatever it is called.
//!
//! What cannot be read is never an HTTP error: the delivery is quarantined with the words of [`Unreadable`], which say what
//! is wrong and where, and never what the body holds (I12). What had to be mended is counted ([`Repairs`]); the raw bytes are
//! kept as they came. XML and mail are not read here yet.

mod before;
mod charset;
mod file;
mod json;
mod media;
mod multipart;
mod names;
mod repairs;
mod unpack;
mod urlencoded;

use domain::tree::Tree;

pub use file::File;
pub(super) use file::safe_name;
use media::Media;
pub use repairs::{Repair, Repairs};

/// Why a body could not be read. No value of the body is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub(super) String);

impl Unreadable {
    pub(super) fn because(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// What it says.
    pub content: Content,
    /// What had to be mended, over all of it.
    pub repairs: Repairs,
    /// The files that stood in it, in order.
    pub files: Vec<File>,
    /// What it said as it was read before, where that is something else: a book may have it so (I8).
    pub before: Option<Tree>,
    /// The same, read with marks where something was lost ([`domain::tree::marks`]); `None` if nothing was.
    pub marked: Option<Content>,
}

/// The lines of a body that is read line by line, each with what had to be mended in it.
pub type Lines = Vec<(Result<Tree, Unreadable>, Repairs)>;

/// What a body says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// One tree, a map or a list.
    One(Tree),
    /// A tree a line.
    Lines(Lines),
}

impl Body {
    /// The body as one tree; `None` where it is read line by line.
    pub fn tree(&self) -> Option<&Tree> {
        match &self.content {
            Content::One(tree) => Some(tree),
            Content::Lines(_) => None,
        }
    }
}

/// Reads a body that came under these declarations. `max`: the most bytes that a packed one may have unpacked.
pub fn read(content_type: Option<&str>, content_encoding: Option<&str>, bytes: &[u8], max: usize) -> Result<Body, Unreadable> {
    let mut repairs = Repairs::default();
    let bytes = unpack::unpack(content_encoding, bytes, max, &mut repairs)?;
    let media = Media::read(content_type.unwrap_or_default());
    let mut files = Vec::new();
    let content = content(&media, &bytes, &mut files, &mut repairs)?;
    // Names and texts keep their NULs; how many there are is told. Nothing is searched for where there can be none.
    if let Content::One(tree) = &content
        && may_hold_nul(&bytes)
    {
        repairs.add(Repair::Nul, nuls(tree));
    }
    if let Content::Lines(lines) = &content {
        for (_, line) in lines {
            repairs.join(line);
        }
    }
    // Where it is what it is called, in UTF-8, both readings are one.
    let is_read_otherwise = repairs.count(Repair::Type) + repairs.count(Repair::Transcoded) > 0;
    let before = is_read_otherwise.then(|| before::read(&media.essence, &bytes)).flatten();
    let before = before.filter(|before| !matches!(&content, Content::One(tree) if tree == before));
    let marked = || self::content(&media, &bytes, &mut Vec::new(), &mut Repairs::marking()).ok();
    let marked = repairs.is_lossy().then(marked).flatten();
    Ok(Body { content, repairs, files, before, marked })
}

/// Whether the body is packed, or says so: what it holds may be many times as long.
pub(super) fn is_packed(content_encoding: Option<&str>, bytes: &[u8]) -> bool {
    unpack::is_packed(content_encoding, bytes)
}

/// How many bytes a packed body holds: at most `max`, for of more nothing is kept.
pub(super) fn unpacked_len(content_encoding: Option<&str>, bytes: &[u8], max: usize) -> usize {
    unpack::unpack(content_encoding, bytes, max, &mut Repairs::default()).map_or(0, |unpacked| unpacked.len())
}

/// What a body is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Json,
    Lines,
    Form,
    Multipart,
    Text,
}

impl Kind {
    /// What the declared type says. `None`: nothing, or nothing that is read.
    fn declared(essence: &str) -> Option<Self> {
        match essence {
            "application/json" | "text/json" => Some(Self::Json),
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/json-lines"
            | "application/x-jsonlines"
            | "application/jsonlines"
            | "application/x-json-stream" => Some(Self::Lines),
            "application/x-www-form-urlencoded" => Some(Self::Form),
            "multipart/form-data" => Some(Self::Multipart),
            "text/plain" => Some(Self::Text),
            suffixed if suffixed.ends_with("+json") => Some(Self::Json),
            _ => None,
        }
    }
}

const MARK: &[u8] = b"\xEF\xBB\xBF";

fn content(media: &Media, bytes: &[u8], files: &mut Vec<File>, repairs: &mut Repairs) -> Result<Content, Unreadable> {
    let declared = Kind::declared(&media.essence);
    let form = bytes.strip_prefix(MARK).unwrap_or(bytes);
    if declared == Some(Kind::Multipart) || multipart::is_plainly(form) {
        let is_called_otherwise = declared != Some(Kind::Multipart);
        let mut own = repairs.of_part();
        match multipart::read(media.boundary.as_deref().filter(|_| !is_called_otherwise), form, &mut own) {
            Ok((tree, read)) => {
                repairs.add(Repair::Type, u32::from(is_called_otherwise));
                repairs.add(Repair::ByteOrderMark, u32::from(form.len() < bytes.len()));
                repairs.join(&own);
                *files = read;
                return Ok(Content::One(tree));
            }
            // Called multipart, and perhaps something else.
            Err(why) if !bytes.trim_ascii().is_empty() => {
                let text = charset::of_body(bytes, None, repairs);
                return other(declared, &text, bytes, repairs).unwrap_or(Err(why));
            }
            Err(_) => {}
        }
    }
    let text = charset::of_body(bytes, media.charset.as_deref(), repairs);
    if text.trim_ascii().is_empty() {
        return Err(Unreadable::because("the body is empty"));
    }
    let form = |repairs: &mut Repairs| urlencoded::read(&text, media.charset.as_deref(), repairs).map(Content::One);
    let looks_like_json = text.trim_ascii_start().starts_with(['{', '[']);
    let as_declared = match declared {
        Some(Kind::Json) => json::read(&text, repairs).map(Content::One),
        Some(Kind::Lines) => lines(&text, bytes, repairs),
        Some(Kind::Form) if !looks_like_json => return form(repairs),
        Some(Kind::Text) if !looks_like_json && !urlencoded::is_plainly(&text, 2) => return Ok(Content::One(plain(&text))),
        Some(Kind::Form | Kind::Text | Kind::Multipart) | None => Err(not_read(&media.essence)),
    };
    match as_declared {
        Ok(read) => Ok(read),
        Err(why) => other(declared, &text, bytes, repairs).unwrap_or_else(|| match declared {
            // They only looked like something else.
            Some(Kind::Form) => form(repairs),
            Some(Kind::Text) => Ok(Content::One(plain(&text))),
            Some(Kind::Json | Kind::Lines | Kind::Multipart) | None => Err(why),
        }),
    }
}

/// What the body is instead, if that is plain. A body that looks like JSON and is not says where it breaks, unless it is
/// something else by its declaration.
fn other(declared: Option<Kind>, text: &str, bytes: &[u8], repairs: &mut Repairs) -> Option<Result<Content, Unreadable>> {
    let looks_like_json = text.trim_ascii_start().starts_with(['{', '[']);
    if looks_like_json && !matches!(declared, Some(Kind::Lines)) && json::is_lines(text) && Tree::from_json(text).is_err() {
        repairs.one(Repair::Type);
        return Some(json::read_lines(text, bytes, repairs).map(Content::Lines));
    }
    if looks_like_json && !matches!(declared, Some(Kind::Json | Kind::Lines)) {
        let mut own = repairs.of_part();
        return match json::read(text, &mut own) {
            Ok(tree) => {
                repairs.one(Repair::Type);
                repairs.join(&own);
                Some(Ok(Content::One(tree)))
            }
            Err(_) if matches!(declared, Some(Kind::Form | Kind::Text)) => None,
            Err(why) => Some(Err(why)),
        };
    }
    let pairs_min = if declared == Some(Kind::Text) { 2 } else { 1 };
    if declared != Some(Kind::Form) && urlencoded::is_plainly(text, pairs_min) {
        repairs.one(Repair::Type);
        return Some(urlencoded::read(text, None, repairs).map(Content::One));
    }
    None
}

/// Lines; one JSON value that is written over several lines is no batch.
fn lines(text: &str, bytes: &[u8], repairs: &mut Repairs) -> Result<Content, Unreadable> {
    let is_one_line = !text.trim_ascii().contains('\n');
    if !is_one_line || text.trim_ascii_start().starts_with('[') {
        let mut own = repairs.of_part();
        if let Ok(tree) = json::read(text, &mut own) {
            repairs.one(Repair::Type);
            repairs.join(&own);
            return Ok(Content::One(tree));
        }
    }
    // What is plainly a form has no line that could be read.
    if urlencoded::is_plainly(text, 1) {
        return Err(not_read(""));
    }
    json::read_lines(text, bytes, repairs).map(Content::Lines)
}

fn plain(text: &str) -> Tree {
    Tree::Map(vec![("text".to_owned(), Tree::Text(text.to_owned()))])
}

fn not_read(essence: &str) -> Unreadable {
    Unreadable::because(match essence {
        "" => "the body has no content type, and is no JSON object or list".to_owned(),
        "application/octet-stream" => format!("the body is {essence}, and is no JSON object or list"),
        known if NAMED.contains(&known) => format!("bodies of type {known} are not read yet: kept for later"),
        _ => "bodies of an unknown type are not read: kept for later".to_owned(),
    })
}

/// The types that a reason may name. A header's own words may be anything, and a reason is never erased (I12).
const NAMED: [&str; 15] = [
    "application/xml",
    "text/xml",
    "application/soap+xml",
    "application/atom+xml",
    "application/rss+xml",
    "text/html",
    "application/xhtml+xml",
    "text/csv",
    "message/rfc822",
    "multipart/mixed",
    "multipart/alternative",
    "multipart/related",
    "application/pdf",
    "application/zip",
    "application/msgpack",
];

/// Whether a NUL may stand in what was read: as a byte, or escaped in one of the ways that are undone.
fn may_hold_nul(bytes: &[u8]) -> bool {
    let has = |what: &[u8]| memchr::memmem::find(bytes, what).is_some();
    memchr::memchr(0, bytes).is_some() || has(b"\\u0000") || has(b"%00")
}

fn nuls(tree: &Tree) -> u32 {
    let count = |text: &str| u32::try_from(text.matches('\0').count()).unwrap_or(u32::MAX);
    match tree {
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => 0,
        Tree::Text(text) => count(text),
        Tree::List(items) => items.iter().map(nuls).fold(0, u32::saturating_add),
        Tree::Map(members) => members.iter().map(|(name, value)| count(name).saturating_add(nuls(value))).fold(0, u32::saturating_add),
    }
}

#[cfg(test)]
mod tests;
