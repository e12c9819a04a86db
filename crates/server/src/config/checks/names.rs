//! No two of a kind have one name, and no two sources one id.

use std::collections::BTreeMap;

use super::element;
use crate::config::Config;
use crate::config::reading::{Reading, Show};

pub(super) fn check(config: &Config, reading: &Reading<'_>) {
    distinct("source", "name", config.sources.iter().map(|s| s.name.as_str()), reading);
    distinct("source", "id", config.sources.iter().map(|s| s.id.as_str()), reading);
    distinct("target", "name", config.targets.iter().map(|t| t.name.as_str()), reading);
    distinct("action", "name", config.actions.iter().map(|a| a.name.as_str()), reading);
    distinct("token", "name", config.tokens.iter().map(|t| t.name.as_str()), reading);
}

/// An empty name stands for one that could not be read.
fn distinct<'a>(list: &str, key: &str, names: impl Iterator<Item = &'a str>, reading: &Reading<'_>) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
        match seen.get(name) {
            Some(first) => {
                let message = format!("the {key} `{name}` is taken by {list}[{first}]: give each {list} its own");
                reading.problem(element(list, index).key(key), message, Show::Value);
            }
            None => drop(seen.insert(name, index)),
        }
    }
}
