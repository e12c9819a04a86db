//! The effective configuration: what file and variables say, and the defaults, as one text that says the same when it is read.
//!
//! Values that were given stand as they were given, so secrets as their references. What is usual comes from the table of
//! keys, what follows from other keys from the configuration as it was read.

use std::fmt;

use serde_json::Value as Json;
use toml::{Table as Toml, Value};

use super::keys::{self, Key, Shape, Table, Usual};
use super::{Auth, Config, OnReview, StoreUrl};

/// What file and variables say.
#[derive(Clone, Default)]
pub(super) struct Written(Toml);

/// Everything that holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective(Vec<(&'static Key, Item)>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Item {
    Value(Value),
    Table(Vec<(&'static Key, Item)>),
    Tables(Vec<Vec<(&'static Key, Item)>>),
}

impl Written {
    /// Takes what stands at a top-level key.
    pub(super) fn extend(&mut self, key: &str, value: Option<Value>) {
        self.0.extend(value.map(|value| (key.to_owned(), value)));
    }

    /// Takes what a variable says, as the key's shape writes it.
    pub(super) fn override_with(&mut self, section: &str, key: &str, text: &str) {
        let Some(Shape::Table(table)) = keys::ROOT.keys.iter().find(|root| root.name == section).map(|root| root.shape) else { return };
        let shape = table.keys.iter().find(|own| own.name == key).map(|own| own.shape);
        let value = match shape {
            Some(Shape::Whole(..)) => text.parse().ok().map(Value::Integer),
            Some(Shape::Share) => text.parse().ok().map(Value::Float),
            Some(Shape::Flag) => text.parse().ok().map(Value::Boolean),
            _ => Some(Value::String(text.to_owned())),
        };
        let at = self.0.entry(section).or_insert_with(|| Value::Table(Toml::new()));
        if let (Some(at), Some(value)) = (at.as_table_mut(), value) {
            at.insert(key.to_owned(), value);
        }
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Written({})", self.0.len())
    }
}

impl Config {
    /// Everything that holds: given, usual, or following from other keys.
    pub fn effective(&self) -> Effective {
        let none = Toml::new();
        let item = |key: &'static Key| {
            let given = self.written.0.get(key.name);
            let tables = given.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table);
            match key.shape {
                Shape::Table(table) => Item::Table(self.table(table, given.and_then(Value::as_table).unwrap_or(&none), (key.name, 0), "")),
                Shape::Tables(table) => {
                    Item::Tables(tables.enumerate().map(|(n, given)| self.table(table, given, (key.name, n), "")).collect())
                }
                _ => Item::Value(Value::Boolean(false)),
            }
        };
        Effective(keys::ROOT.keys.iter().map(|key| (key, item(key))).collect())
    }

    /// What holds in a table, `at` that element of that list; `within` is the way from there, with a dot behind it.
    fn table(&self, table: &'static Table, given: &Toml, at: (&str, usize), within: &str) -> Vec<(&'static Key, Item)> {
        let mut items = Vec::new();
        for key in table.keys_for(table.word(given)) {
            let path = format!("{within}{}", key.name);
            let value = given.get(key.name).cloned().or_else(|| match key.usual {
                Usual::Is(text) => keys::value(text),
                Usual::Follows { .. } if matches!(key.shape, Shape::Table(_)) => Some(Value::Table(Toml::new())),
                Usual::Follows { .. } => self.following(at, &path),
                Usual::Needed { .. } | Usual::Nothing { .. } => None,
            });
            let item = match (key.shape, value) {
                (_, None) => continue,
                (Shape::Table(inner), Some(Value::Table(given))) => Item::Table(self.table(inner, &given, at, &format!("{path}."))),
                (_, Some(value)) => Item::Value(value),
            };
            items.push((key, item));
        }
        items
    }

    /// The value of a key that rests on others, as it was read.
    fn following(&self, (list, n): (&str, usize), path: &str) -> Option<Value> {
        let text = |text: &str| Some(Value::String(text.to_owned()));
        let said = |said: Option<&dyn fmt::Display>| said.map(|said| Value::String(said.to_string()));
        match list {
            "store" => {
                let StoreUrl::Sqlite(path) = &self.store.url;
                text(&format!("sqlite:{}", path.display()))
            }
            "source" => {
                let source = self.sources.get(n)?;
                match (path, &source.auth) {
                    ("id", _) => text(&source.id),
                    ("client", _) => source.client.as_deref().and_then(text),
                    ("auth.prefix", Auth::Bearer { prefix, .. }) => text(prefix),
                    ("identity.submission", _) => {
                        let places: Vec<Value> = source.identity.submission.iter().map(|place| Value::String(place.to_string())).collect();
                        (!places.is_empty()).then_some(Value::Array(places))
                    }
                    _ => None,
                }
            }
            "target" => self.targets.get(n)?.client.as_deref().and_then(text),
            "action" => {
                let action = self.actions.get(n)?;
                match path {
                    "client" => action.client.as_deref().and_then(text),
                    "when" => action.when.as_deref().and_then(text),
                    "review" => text(if action.review == OnReview::Hold { "hold" } else { "ignore" }),
                    "per_address" => said(action.per_address.as_ref().map(|per| -> &dyn fmt::Display { per })),
                    "not_after" => said(action.not_after.as_ref().map(|after| -> &dyn fmt::Display { after })),
                    "subject" => action.subject.as_deref().and_then(text),
                    // A file's text stays the file's.
                    "text" if self.written.names_template(n) => None,
                    "text" => action.text.as_deref().and_then(text),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

impl Written {
    fn names_template(&self, n: usize) -> bool {
        let action = self.0.get("action").and_then(Value::as_array).and_then(|actions| actions.get(n));
        action.and_then(Value::as_table).is_some_and(|action| action.contains_key("template"))
    }
}

impl Effective {
    /// As a configuration file.
    pub fn to_toml(&self) -> String {
        let mut lines = Vec::new();
        // A list that is empty on purpose: without it, the embedded work would hold. It stands before all tables.
        let works = ["source", "target", "action"];
        let is_idle = |(key, item): &(&Key, Item)| !works.contains(&key.name) || matches!(item, Item::Tables(tables) if tables.is_empty());
        if self.0.iter().all(is_idle) {
            lines.extend(["source = []".to_owned(), String::new()]);
        }
        for (key, item) in &self.0 {
            match item {
                Item::Table(items) => lines.extend(section(&format!("[{}]", key.name), items)),
                Item::Tables(tables) => lines.extend(tables.iter().flat_map(|items| section(&format!("[[{}]]", key.name), items))),
                Item::Value(_) => {}
            }
        }
        lines.join("\n")
    }

    /// As one JSON object.
    pub fn to_json(&self) -> Json {
        object(&self.0)
    }
}

fn section(head: &str, items: &[(&'static Key, Item)]) -> Vec<String> {
    let pairs = items.iter().map(|(key, item)| format!("{} = {}", key.name, inline(item)));
    [head.to_owned()].into_iter().chain(pairs).chain([String::new()]).collect()
}

fn inline(item: &Item) -> String {
    match item {
        Item::Value(value) => value.to_string(),
        Item::Table(items) if items.is_empty() => "{ }".to_owned(),
        Item::Table(items) => {
            let pairs: Vec<String> = items.iter().map(|(key, item)| format!("{} = {}", key.name, inline(item))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        // Lists of tables stand at the top only.
        Item::Tables(_) => String::new(),
    }
}

fn object(items: &[(&'static Key, Item)]) -> Json {
    items.iter().map(|(key, item)| (key.name.to_owned(), json(item))).collect()
}

fn json(item: &Item) -> Json {
    match item {
        // Dates, which JSON has not, stand nowhere in a configuration.
        Item::Value(value) => serde_json::to_value(value).unwrap_or_default(),
        Item::Table(items) => object(items),
        Item::Tables(tables) => tables.iter().map(|items| object(items)).collect(),
    }
}
