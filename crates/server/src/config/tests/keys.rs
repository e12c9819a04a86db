//! The table of keys and the reader say the same, both ways: a key, a word, a bound or a default that one of them lacks is
//! named here. So is a key that the documentation leaves out, and a schema that takes what the reader refuses.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::*;
use crate::config::asked::Asked;
use crate::config::document::Document;
use crate::config::keys::{Key, ROOT, Shape, Table, Usual};
use crate::config::reading::Reading;
use crate::config::{path, schema, shown_parts};

/// What to write at a key: its path in the file, and the key.
type Choose<'a> = &'a dyn Fn(&str, &Key) -> Option<String>;

/// How many files it takes for every word of a section that there is only one of.
pub(super) fn turns() -> usize {
    let words = ROOT.keys.iter().map(|root| if let Shape::Table(table) = root.shape { table.words().len() } else { 1 });
    words.max().unwrap_or(1)
}

/// A file with a section of every kind: a source for each scheme, a target for each kind, an action on each target.
fn file(turn: usize, choose: Choose<'_>) -> String {
    let mut text = String::new();
    for root in ROOT.keys {
        match root.shape {
            Shape::Table(table) => {
                let words = table.words();
                let word = words.get(turn % words.len()).copied().flatten();
                text.push_str(&section(&format!("[{}]", root.name), table, root.name, word, "", choose));
            }
            Shape::Tables(table) => {
                // What a list's tables differ in may stand one table deeper, as a source's scheme does.
                let inner =
                    table.keys.iter().filter_map(|key| if let Shape::Table(inner) = key.shape { Some(inner.words()) } else { None });
                let words = if root.name == "action" { kinds() } else { inner.chain([table.words()]).max_by_key(Vec::len).unwrap() };
                for word in words {
                    text.push_str(&section(&format!("[[{}]]", root.name), table, root.name, word, word.unwrap_or("it"), choose));
                }
            }
            _ => panic!("{} is no section", root.name),
        }
    }
    text
}

fn kinds() -> Vec<Option<&'static str>> {
    let target = ROOT.keys.iter().find(|key| key.name == "target").unwrap();
    let Shape::Tables(target) = target.shape else { panic!() };
    target.words()
}

fn section(head: &str, table: &Table, at: &str, word: Option<&'static str>, name: &str, choose: Choose<'_>) -> String {
    let own = table.by.and(word);
    let mut lines = vec![head.to_owned()];
    for key in table.keys_for(own) {
        let path = format!("{at}.{}", key.name);
        let chosen = match (at, key.name) {
            (_, "name") | ("action", "target") => Some(format!("\"{name}\"")),
            ("action", "text" | "subject" | "template") if name != "outbox" => None,
            _ if Some(key.name) == table.by => own.map(|word| format!("\"{word}\"")),
            _ => match key.shape {
                Shape::Table(inner) => choose(&path, key).map(|_| inner_table(inner, &path, word, choose)),
                _ => choose(&path, key),
            },
        };
        lines.extend(chosen.map(|value| format!("{} = {value}", key.name)));
    }
    lines.join("\n") + "\n\n"
}

fn inner_table(table: &Table, at: &str, word: Option<&'static str>, choose: Choose<'_>) -> String {
    let mut pairs = Vec::new();
    for key in table.keys_for(word) {
        let value =
            if Some(key.name) == table.by { word.map(|word| format!("\"{word}\"")) } else { choose(&format!("{at}.{}", key.name), key) };
        pairs.extend(value.map(|value| format!("{} = {value}", key.name)));
    }
    format!("{{ {} }}", pairs.join(", "))
}

/// Every key, with its usual value or an example; where two exclude each other, one of them.
pub(super) fn everything(turn: usize) -> String {
    file(turn, &|path, key| match path {
        "source.auth.open" => Some("true".to_owned()),
        // One name each, as the keys are the same for all.
        "source.id" | "action.template" => None,
        _ => Some(key.example().to_owned()),
    })
}

/// Only what must be given.
pub(super) fn needed_only(turn: usize) -> String {
    file(turn, &|path, key| (key.is_needed() || is_written(path)).then(|| key.example().to_owned()))
}

/// What must be given, and every default written out.
fn defaults_written(turn: usize) -> String {
    file(turn, &|path, key| match key.usual {
        Usual::Is(value) => Some(value.to_owned()),
        _ => (key.is_needed() || is_written(path)).then(|| key.example().to_owned()),
    })
}

/// One of two secrets is needed; an identity that is given at all says its own place.
fn is_written(path: &str) -> bool {
    ["source.auth", "source.auth.secret", "source.auth.password", "source.identity", "source.identity.submission"].contains(&path)
}

#[test]
fn what_the_table_has_the_reader_reads_and_the_other_way_round() {
    (0..turns()).for_each(holds_both_ways);
}

fn holds_both_ways(turn: usize) {
    let text = everything(turn);
    let document = [Document::parse("oncebook.toml", &text).unwrap_or_else(|_| panic!("no TOML:\n{text}"))];
    let reading = Reading::new(&document, &no_env);
    Config::read(&reading, None);
    assert!(reading.problems().is_empty(), "{:#?}\n{text}", reading.problems());
    let given: toml::Table = text.parse().unwrap();
    let mut seen = 0;
    for (at, asked) in reading.asked().into_iter().filter(|(at, _)| !at.0.is_empty()) {
        let (table, given) = found(&at, &given);
        let word = table.word(given);
        let keys: BTreeMap<&str, &Key> = table.keys_for(word).map(|key| (key.name, key)).collect();
        let own: BTreeSet<&str> = keys.keys().copied().collect();
        let read: BTreeSet<&str> = asked.keys().copied().collect();
        assert_eq!(own, read, "{at} ({word:?}): the table of keys (left) and the reader (right) differ");
        for (name, asked) in asked {
            let key = keys[name];
            assert!(fits(key.shape, &asked), "{at}.{name}: in the table of keys it is another thing than {asked:?}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

/// The table of keys and the given table at a path.
fn found<'a>(at: &path::Path, given: &'a toml::Table) -> (&'static Table, &'a toml::Table) {
    let (mut table, mut value) = (&ROOT, None::<&toml::Value>);
    for seg in &at.0 {
        match seg {
            path::Seg::Index(index) => value = value.and_then(|value| value.get(index)),
            path::Seg::Key(name) => {
                let key = table.keys.iter().find(|key| key.name == *name).unwrap_or_else(|| panic!("the table of keys has no {at}"));
                let (Shape::Table(inner) | Shape::Tables(inner)) = key.shape else { panic!("{at} is no table in the table of keys") };
                value = value.map_or_else(|| given.get(name), |value| value.get(name));
                table = inner;
            }
        }
    }
    (table, value.and_then(toml::Value::as_table).unwrap())
}

/// Whether the reader takes a key to be what the table says. What a text is read as further is shown by its examples.
fn fits(shape: Shape, asked: &Asked) -> bool {
    let parsed = |name: &str| matches!(asked, Asked::Parsed(of) if of.ends_with(name));
    match shape {
        Shape::Text | Shape::Place | Shape::Pointer | Shape::Pattern | Shape::Address => *asked == Asked::Text,
        Shape::Name => *asked == Asked::Name,
        Shape::Span => parsed("::Period"),
        Shape::Size => parsed("::Size"),
        Shape::Allowance => parsed("::Allowance"),
        Shape::Consistency => parsed("::Consistency"),
        Shape::Secret => *asked == Asked::Secret,
        // A word that is read by hand is asked for as a text: its refusal names the words, see below.
        Shape::Word(words) => *asked == Asked::Text || matches!(asked, Asked::Word(own) if own == words),
        Shape::Whole(from, to) => *asked == Asked::Whole(from, to),
        Shape::Share => *asked == Asked::Share,
        Shape::Flag => *asked == Asked::Flag,
        Shape::Many(_) | Shape::Statuses => *asked == Asked::Many,
        Shape::Pairs(_) => *asked == Asked::Pairs,
        Shape::Table(_) => *asked == Asked::Table,
        Shape::Tables(_) => false,
    }
}

/// The refusal of a word that cannot be names those that can.
#[test]
fn the_words_of_the_table_are_those_that_a_refusal_names() {
    let mut seen = 0;
    each_key("", &ROOT, &mut |path, key| {
        let Shape::Word(words) = key.shape else { return };
        // What decides over its neighbours stands alone.
        let text = match path {
            "source.auth.scheme" => "[[source]]\nname = \"a\"\nauth = { scheme = \"zzz\" }\n".to_owned(),
            "target.kind" => "[[target]]\nname = \"a\"\nkind = \"zzz\"\n".to_owned(),
            "qualifier.kind" => "[qualifier]\nkind = \"zzz\"\n".to_owned(),
            _ => everything_but(path, "\"zzz\""),
        };
        let found = problems(&text);
        let said = found.iter().find(|line| line.contains("`zzz`")).unwrap_or_else(|| panic!("{path}: {found:#?}"));
        let list = said.split("not one of ").nth(1).or_else(|| said.split("; use ").nth(1)).unwrap_or_else(|| panic!("{said}"));
        let named: BTreeSet<&str> = list.split([',', ' ']).filter(|word| !word.is_empty() && *word != "or" && *word != "and").collect();
        assert_eq!(named, words.iter().copied().collect(), "{path}: the refusal (left) and the table of keys (right) differ");
        seen += 1;
    });
    assert!(seen > 8, "{seen}");
}

fn everything_but(path: &str, value: &str) -> String {
    file(0, &|at, key| match at {
        _ if at == path => Some(value.to_owned()),
        "source.auth.open" => Some("true".to_owned()),
        "source.id" | "action.template" => None,
        _ => Some(key.example().to_owned()),
    })
}

fn each_key(at: &str, table: &Table, say: &mut dyn FnMut(&str, &Key)) {
    for key in table.keys {
        let path = if at.is_empty() { key.name.to_owned() } else { format!("{at}.{}", key.name) };
        say(&path, key);
        if let Shape::Table(inner) | Shape::Tables(inner) = key.shape {
            each_key(&path, inner, say);
        }
    }
}

#[test]
fn the_defaults_of_the_table_are_the_readers() {
    for turn in 0..turns() {
        let (bare, written) = (needed_only(turn), defaults_written(turn));
        assert!(written.len() > bare.len());
        let parts = |text: &str| shown_parts(&read(text).unwrap_or_else(|e| panic!("{e}\n{text}")));
        let (bare, written) = (parts(&bare), parts(&written));
        let differs = bare.lines().zip(written.lines()).find(|(left, right)| left != right);
        assert!(bare == written, "the reader's default (left) and the table's (right) differ: {differs:?}");
    }
}

#[test]
fn the_documentation_has_every_key() {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md")).unwrap();
    each_key("", &ROOT, &mut |path, key| {
        let names = [format!("`{}`", key.name), format!(".{}`", key.name), format!("[{}]", key.name), format!("{} = ", key.name)];
        assert!(names.iter().any(|name| document.contains(name)), "docs/configuration.md has no {path}");
    });
}

#[test]
fn the_schema_takes_what_is_right() {
    let schema = schema();
    let made = (0..turns()).flat_map(|turn| [everything(turn), needed_only(turn), defaults_written(turn)]);
    for text in [crate::config::DEFAULTS, EXAMPLE, ""].map(str::to_owned).into_iter().chain(made) {
        assert!(read(&text).is_ok(), "{text}");
        let found = against(&schema, &in_json(&text));
        assert!(found.is_empty(), "{found:#?}\n{text}");
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let schema = schema();
    let source = |lines: &str| format!("[[source]]\nname = \"a\"\n{lines}\n");
    for text in [
        "[sever]\n".to_owned(),
        "[server]\nlisten = 8484\n".to_owned(),
        "[server]\nbody_max = \"1MB\"\n".to_owned(),
        "[server]\nbody_mx = \"1MiB\"\n".to_owned(),
        "[server]\npublic_url = \"intake.example.com\"\n".to_owned(),
        "[store]\nbatch_max = 0\n".to_owned(),
        "[engine]\nworkers = 1025\n".to_owned(),
        "[engine]\npause_max = \"10\"\n".to_owned(),
        "[qualifier]\nmin_confidence = 1.5\n".to_owned(),
        "[qualifier]\nkind = \"fax\"\n".to_owned(),
        "[qualifier]\napi_key = \"hunter2\"\n".to_owned(),
        "[source]\nname = \"a\"\n".to_owned(),
        "[[source]]\nkind = \"generic\"\n".to_owned(),
        source("kind = \"fax\""),
        source("volatile = [\"/a\", 3]"),
        source("items = \"entries\""),
        source("map = { message = \"message\" }"),
        source("auth = { scheme = \"none\", header = \"X\" }"),
        source("auth = { scheme = \"hmac-sha256\", secret = \"env:S\" }"),
        source("auth = { scheme = \"basic\", password = \"env:S\" }"),
        source("auth = { scheme = \"bearer\", secret = \"hunter2\" }"),
        source("auth = { secret = \"env:S\" }"),
        "[[target]]\nname = \"crm\"\nkind = \"desk\"\nfrom = \"a@b\"\n".to_owned(),
        "[[target]]\nname = \"m\"\nkind = \"outbox\"\n".to_owned(),
        "[[target]]\nname = \"crm\"\nkind = \"http\"\n".to_owned(),
        "[[target]]\nname = \"crm\"\nkind = \"http\"\nwrite = { url = \"http://crm/\" }\nnot_executed = [200]\n".to_owned(),
        "[[target]]\nname = \"crm\"\nkind = \"http\"\nwrite = { url = \"http://crm/\" }\nfind = { consistency = \"soon\" }\n".to_owned(),
        "[[token]]\nname = \"n8n\"\nsecret = \"env:T\"\nclient = \"acme\"\n".to_owned(),
    ] {
        assert!(read(&text).is_err(), "the reader takes\n{text}");
        assert!(!against(&schema, &in_json(&text)).is_empty(), "the schema takes\n{text}");
    }
}

fn in_json(text: &str) -> Json {
    serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap()
}

/// Holds a value against a schema, as far as ours go: a word of JSON Schema that is not known here is a mistake of the test.
pub(super) fn against(schema: &Json, value: &Json) -> Vec<String> {
    let mut wrong = Vec::new();
    for (word, says) in schema.as_object().unwrap() {
        let holds = match word.as_str() {
            "$schema" | "title" | "description" | "default" => true,
            "type" => match says.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "number" => value.is_number(),
                "integer" => value.is_i64(),
                other => panic!("type {other}"),
            },
            "enum" => says.as_array().unwrap().contains(value),
            "const" => says == value,
            "pattern" => value.as_str().is_none_or(|text| regex::Regex::new(says.as_str().unwrap()).unwrap().is_match(text)),
            "minimum" => value.as_f64().is_none_or(|number| number >= says.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= says.as_f64().unwrap()),
            "required" => says.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
            "properties" => {
                for (key, schema) in says.as_object().unwrap() {
                    wrong.extend(value.get(key).into_iter().flat_map(|value| against(schema, value)).map(|why| format!("{key}: {why}")));
                }
                true
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Json::as_object);
                let others = value.as_object().into_iter().flatten().filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)));
                others.into_iter().all(|(_, value)| *says != json!(false) && against(says, value).is_empty())
            }
            "items" => value.as_array().into_iter().flatten().all(|item| against(says, item).is_empty()),
            "oneOf" => says.as_array().unwrap().iter().filter(|form| against(form, value).is_empty()).count() == 1,
            "anyOf" => says.as_array().unwrap().iter().any(|form| against(form, value).is_empty()),
            other => panic!("the walker does not know `{other}`: teach it"),
        };
        if !holds {
            wrong.push(format!("{word} {says} does not hold of {value}"));
        }
    }
    wrong
}

/// Every key whose default rests on other keys.
pub(super) fn each_following(say: &mut dyn FnMut(&str)) {
    each_key("", &ROOT, &mut |path, key| {
        if matches!(key.usual, Usual::Follows { .. }) {
            say(path);
        }
    });
}
