//! A section of the file as `oncebook init` writes it: every key with what it does and what holds without it, those that are
//! not given commented out.
//!
//! What is prose begins with `# `, what is a key begins with `#` alone: taking that away makes it hold.

use super::keys::{self, Key, Shape, Table, Usual};

/// No comment is longer.
const WIDTH: usize = 110;

/// A section to write.
#[derive(Clone, Debug)]
pub struct Commented<'a> {
    /// The name of the section: `server`, `source`.
    pub section: &'a str,
    /// What is given, as written in a file.
    pub given: &'a [(&'a str, String)],
    /// Whether the keys are explained; a second section of a kind needs not say everything again.
    pub explained: bool,
    /// Whether the section as a whole is only a proposal.
    pub off: bool,
    /// Keys that have no place in this one.
    pub leaves_out: &'a [&'a str],
    /// What more there is to say before a key.
    pub notes: &'a [(&'a str, String)],
}

/// The lines of a section, with an empty one at the end. Nothing for a section that does not exist.
pub fn commented(wanted: &Commented<'_>) -> String {
    let Some(root) = keys::ROOT.keys.iter().find(|key| key.name == wanted.section) else { return String::new() };
    let (table, head) = match root.shape {
        Shape::Table(table) => (table, format!("[{}]", root.name)),
        Shape::Tables(table) => (table, format!("[[{}]]", root.name)),
        _ => return String::new(),
    };
    let mut lines = Vec::new();
    if wanted.explained {
        lines.extend(prose("", root.says));
    }
    let off = if wanted.off { "#" } else { "" };
    lines.push(format!("{off}{head}"));
    let given = |key: &Key| wanted.given.iter().find(|(name, _)| *name == key.name).map(|(_, text)| text.as_str());
    let as_table = wanted.given.iter().filter_map(|(name, text)| Some(((*name).to_owned(), keys::value(text)?))).collect();
    for key in table.keys_for(table.word(&as_table)).filter(|key| !wanted.leaves_out.contains(&key.name)) {
        if wanted.explained {
            lines.extend(explained(key, given(key).unwrap_or(key.example())));
        }
        for (_, note) in wanted.notes.iter().filter(|(name, _)| *name == key.name) {
            lines.push(format!("# {note}"));
        }
        match given(key) {
            Some(text) => lines.push(format!("{off}{} = {text}", key.name)),
            None if wanted.explained => lines.push(format!("#{} = {}", key.name, key.example())),
            None => {}
        }
    }
    lines.push(String::new());
    lines.join("\n") + "\n"
}

/// What a key does, and for a table, what its keys do.
fn explained(key: &Key, value: &str) -> Vec<String> {
    let mut lines = prose("", &sentence(key));
    if let Shape::Table(inner) = key.shape {
        let given = keys::value(value).and_then(|value| value.as_table().cloned()).unwrap_or_default();
        lines.extend(inner_keys(inner, &given));
    }
    lines
}

fn inner_keys(table: &Table, given: &toml::Table) -> Vec<String> {
    let keys: Vec<&Key> = table.keys_for(table.word(given)).collect();
    let width = keys.iter().map(|key| key.name.len()).max().unwrap_or_default();
    keys.iter().flat_map(|key| prose(&format!("  {:width$}  ", key.name), &sentence(key))).collect()
}

/// What a key does, what it may be, and what holds without it.
fn sentence(key: &Key) -> String {
    let may_be = match key.shape {
        Shape::Word(words) if words.len() > 1 && words.iter().any(|word| !key.says.contains(word)) => {
            format!(" One of {}.", words.join(", "))
        }
        Shape::Whole(from, to) => format!(" From {from} to {to}."),
        Shape::Share => " From 0 to 1.".to_owned(),
        _ => String::new(),
    };
    let without = match (key.usual, key.shape) {
        (Usual::Is("{ }"), Shape::Table(_)) | (Usual::Nothing { .. }, _) => String::new(),
        (Usual::Is(value), _) => format!(" Default: {value}."),
        (Usual::Follows { what, .. }, _) => format!(" Default: {what}."),
        (Usual::Needed { .. }, _) => " Needed.".to_owned(),
    };
    format!("{}{may_be}{without}", key.says)
}

/// A text as comment lines; those after the first stand under where it began.
fn prose(label: &str, text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = format!("# {label}");
    let indent = format!("# {}", " ".repeat(label.chars().count()));
    for word in text.split(' ') {
        if line.chars().count() + word.chars().count() > WIDTH && line.trim_end().len() > indent.trim_end().len() {
            lines.push(line.trim_end().to_owned());
            line.clone_from(&indent);
        }
        line.push_str(word);
        line.push(' ');
    }
    lines.push(line.trim_end().to_owned());
    lines
}
