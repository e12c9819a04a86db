//! JSON, and JSON line by line.

use domain::tree::{Mended, Tree};

use super::repairs::{Repair, Repairs};
use super::{Lines, Unreadable, charset};

/// More lines than this are no batch that is split.
const LINES_MAX: usize = 100_000;

/// Reads one JSON object or list. NULs behind it are what a program left that ends its texts with one.
pub(super) fn read(text: &str, repairs: &mut Repairs) -> Result<Tree, Unreadable> {
    let body = text.trim_end_matches('\0');
    let body = if repairs.count(Repair::Transcoded) > 0 { without_stray(body) } else { body };
    let read = if repairs.is_marking() {
        Tree::from_json_marked(body).map(|tree| (tree, Mended::default()))
    } else {
        Tree::from_json_mended(body)
    };
    let (tree, mended) = read.map_err(|e| Unreadable::because(format!("the body is {e}")))?;
    match &tree {
        Tree::Map(_) | Tree::List(_) => {}
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => {
            return Err(Unreadable::because("the body is a single JSON value, and neither an object nor a list"));
        }
    }
    repairs.add(Repair::Nul, u32::try_from(text.len() - body.len()).unwrap_or(u32::MAX));
    repairs.add_mended(&mended);
    repairs.add(Repair::RepeatedName, tree.repeats());
    Ok(tree)
}

/// The text without what a stray last byte behind UTF-16 was replaced by; it was counted there.
fn without_stray(text: &str) -> &str {
    let Some((before, behind)) = text.rsplit_once(char::REPLACEMENT_CHARACTER) else { return text };
    let is_last = behind.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'.');
    if is_last && before.ends_with(['}', ']', '\r', '\n', ' ', '\t']) { before } else { text }
}

/// Whether a text that is not one JSON value is several, a line each: its first line is an object, and its second begins as
/// one.
pub(super) fn is_lines(text: &str) -> bool {
    let mut lines = lines(text);
    let first = lines.next().is_some_and(|line| line.starts_with('{') && Tree::from_json_mended(line).is_ok());
    first && lines.next().is_some_and(|line| line.starts_with('{'))
}

/// Reads a line each. A line that cannot be read does not spoil the others, and what is lost in one is its own.
pub(super) fn read_lines(text: &str, bytes: &[u8], repairs: &mut Repairs) -> Result<Lines, Unreadable> {
    let mut read = Vec::new();
    if repairs.count(Repair::Transcoded) > 0 {
        for line in lines(text) {
            let mut own = repairs.of_part();
            let tree = line_of(line, &mut own);
            push(&mut read, (tree, own))?;
        }
        return Ok(read);
    }
    repairs.forget_lost();
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    for line in bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        let mut own = repairs.of_part();
        let text = charset::of_part(line, None, &mut own);
        let tree = line_of(&text, &mut own);
        push(&mut read, (tree, own))?;
    }
    Ok(read)
}

fn line_of(line: &str, repairs: &mut Repairs) -> Result<Tree, Unreadable> {
    read(line, repairs).map_err(|e| Unreadable::because(e.to_string().replacen("the body", "the line", 1)))
}

fn push(read: &mut Lines, line: (Result<Tree, Unreadable>, Repairs)) -> Result<(), Unreadable> {
    if read.len() == LINES_MAX {
        return Err(Unreadable::because(format!("the body has more than {LINES_MAX} lines")));
    }
    read.push(line);
    Ok(())
}

/// The lines that say something.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(str::trim_ascii).filter(|line| !line.is_empty())
}
