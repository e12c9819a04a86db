//! Every action has a target, waits only for actions that end before it, and writes records no other action keys alike.

use super::element;
use crate::config::Config;
use crate::config::nearest::nearest;
use crate::config::reading::{Reading, Show};
use crate::config::target::Target;

pub(super) fn check(config: &Config, reading: &Reading<'_>) {
    for (index, action) in config.actions.iter().enumerate() {
        if !action.target.is_empty() && config.target(&action.target).is_none() {
            let message = absent("target", &action.target, config.targets.iter().map(|t| t.name.as_str()));
            reading.problem(element("action", index).key("target"), message, Show::Value);
        }
        for name in action.after.iter().filter(|name| config.action(name).is_none()) {
            let message = absent("action", name, config.actions.iter().map(|a| a.name.as_str()));
            reading.problem(element("action", index).key("after"), message, Show::Value);
        }
        if let Some(circle) = circle_from(config, index) {
            let message = format!("`after` goes in a circle, so none of these could begin: {}; take one step out", circle.join(" after "));
            reading.problem(element("action", index).key("after"), message, Show::Value);
        }
    }
    one_record_a_key(config, reading);
}

fn absent<'a>(what: &str, name: &str, existing: impl Iterator<Item = &'a str>) -> String {
    let existing: Vec<&str> = existing.filter(|name| !name.is_empty()).collect();
    match nearest(name, existing.iter().copied()) {
        Some(near) => format!("there is no {what} `{name}`: did you mean `{near}`?"),
        None if existing.is_empty() => format!("there is no {what} `{name}`: write a [[{what}]] of that name"),
        None => format!("there is no {what} `{name}`: there are {}", existing.join(", ")),
    }
}

/// The way from the action back to itself, if it is the first action of the circle: each circle is named once.
fn circle_from(config: &Config, start: usize) -> Option<Vec<&str>> {
    let index_of = |name: &String| config.actions.iter().position(|action| action.name == *name);
    let mut ways = vec![vec![start]];
    let mut visited = vec![false; config.actions.len()];
    while let Some(way) = ways.pop() {
        let next = way.last().map(|&last| config.actions[last].after.iter().filter_map(index_of)).into_iter().flatten();
        for index in next {
            if index == start {
                let names = way.iter().chain([&start]).map(|&i| config.actions[i].name.as_str());
                return Some(names.collect());
            }
            // A way over an earlier action is that action's circle, if it is one.
            if index > start && !std::mem::replace(&mut visited[index], true) {
                ways.push(way.iter().copied().chain([index]).collect());
            }
        }
    }
    None
}

/// Two actions that write records on one target would send them under one outgoing key (I7).
fn one_record_a_key(config: &Config, reading: &Reading<'_>) {
    let is_record = |target: &Target| target.is_readable && !target.is_outward();
    for (index, action) in config.actions.iter().enumerate() {
        if !config.target(&action.target).is_some_and(is_record) {
            continue;
        }
        if let Some(first) = config.actions[..index].iter().find(|other| other.target == action.target) {
            let message = format!(
                "`{}` writes its record on `{}` already, and both would carry one key: \
                 give this action a target of its own (another [[target]] may name the same system)",
                first.name, action.target
            );
            reading.problem(element("action", index).key("target"), message, Show::Value);
        }
    }
}
