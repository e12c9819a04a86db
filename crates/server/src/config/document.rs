//! One TOML text: its tree with spans, where a path stands in it, and the line to show for it.
//!
//! A line is shown with the value that the problem is about and masked where a neighbour may be a secret, if only under a
//! misspelt key ([`shown`]).

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::path::{Path, Seg};
use super::shown;

/// A line longer than this is not shown.
const SHOWN_MAX: usize = 200;

/// A text and what was read from it.
pub(super) struct Document<'t> {
    /// What messages call it.
    pub(super) name: String,
    text: &'t str,
    root: Spanned<DeTable<'t>>,
}

/// Something wrong with the syntax, and where.
pub(super) struct SyntaxError {
    pub(super) message: String,
    pub(super) position: (usize, usize),
}

impl<'t> Document<'t> {
    /// Reads a text; every syntax error of it, if there are any.
    pub(super) fn parse(name: &str, text: &'t str) -> Result<Self, Vec<SyntaxError>> {
        let (root, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            return Ok(Self { name: name.to_owned(), text, root });
        }
        let error = |e: toml::de::Error| SyntaxError {
            message: e.message().to_owned(),
            position: position(text, e.span().map_or(text.len(), |span| span.start)),
        };
        let mut errors: Vec<_> = errors.into_iter().map(error).collect();
        errors.sort_by_key(|error| error.position);
        Err(errors)
    }

    pub(super) fn root(&self) -> &DeTable<'t> {
        self.root.get_ref()
    }

    /// What stands at a top-level key, without the places.
    pub(super) fn value(&self, key: &str) -> Option<toml::Value> {
        self.text.parse::<toml::Table>().ok()?.remove(key)
    }

    /// Where the path's value stands (its key, if `on_key`), or what there is of the way to it.
    pub(super) fn span(&self, path: &Path, on_key: bool) -> Range<usize> {
        let mut span = 0..0;
        let mut table = Some(self.root());
        let mut list = None;
        for (position, seg) in path.0.iter().enumerate() {
            let found = match (seg, table, list) {
                (Seg::Key(key), Some(table), _) => table.get_key_value(key.as_str()).map(|(key, value)| (Some(key.span()), value)),
                (Seg::Index(index), _, Some(list)) => DeValue::get(list, *index).map(|value| (None, value)),
                _ => None,
            };
            let Some((key_span, value)) = found else { break };
            let is_last = position + 1 == path.0.len();
            span = key_span.filter(|_| on_key && is_last).unwrap_or_else(|| value.span());
            table = value.get_ref().as_table();
            list = Some(value.get_ref()).filter(|value| value.is_array());
        }
        span
    }

    /// Every path below a top-level key, and where its value begins.
    pub(super) fn paths(&self, key: &str) -> Vec<(Path, usize)> {
        let mut paths = Vec::new();
        self.root().get(key).into_iter().for_each(|value| below(&Path::default().key(key), value, &mut paths));
        paths
    }

    /// Line and column, both from 1.
    pub(super) fn position(&self, offset: usize) -> (usize, usize) {
        position(self.text, offset)
    }

    /// The line that `span` begins on, other values masked where they may be secrets, and carets under the span.
    pub(super) fn excerpt(&self, span: &Range<usize>) -> Option<String> {
        // The address of a service may carry a password.
        let own = &self.text[span.clone()];
        if own.contains("://") && own.contains('@') {
            return None;
        }
        let start = self.text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[start..].lines().next().filter(|line| !line.trim().is_empty() && line.len() <= SHOWN_MAX)?;
        let mut masked = shown::masked(self.root());
        masked.retain(|value| value != span);
        let shown: String =
            line.char_indices().map(|(at, c)| if masked.iter().any(|range| range.contains(&(start + at))) { '*' } else { c }).collect();
        let before = self.text[start..span.start].chars().map(|c| if c == '\t' { c } else { ' ' }).collect::<String>();
        let end = span.end.min(start + line.len()).max(span.start);
        let carets = "^".repeat(self.text[span.start..end].chars().count().max(1));
        Some(format!("    {shown}\n    {before}{carets}"))
    }
}

/// Every path below a value, and where it stands.
fn below(path: &Path, value: &Spanned<DeValue<'_>>, out: &mut Vec<(Path, usize)>) {
    out.push((path.clone(), value.span().start));
    match value.get_ref() {
        DeValue::Table(table) => table.iter().for_each(|(key, value)| below(&path.key(key.get_ref()), value, out)),
        DeValue::Array(list) => list.iter().enumerate().for_each(|(index, value)| below(&path.index(index), value, out)),
        _ => {}
    }
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
