//! Clients stay apart (I13): once there are two, everything says whose it is, and nothing crosses.

use super::element;
use crate::config::Config;
use crate::config::clients::named;
use crate::config::reading::{Reading, Show};

pub(super) fn check(config: &Config, reading: &Reading<'_>) {
    everything_says_whose_it_is(config, reading);
    no_action_crosses(config, reading);
    every_source_has_work(config, reading);
}

fn everything_says_whose_it_is(config: &Config, reading: &Reading<'_>) {
    let owned: [(&str, Vec<Option<&str>>); 3] = [
        ("source", config.sources.iter().map(|s| s.client.as_deref()).collect()),
        ("target", config.targets.iter().map(|t| t.client.as_deref()).collect()),
        ("action", config.actions.iter().map(|a| a.client.as_deref()).collect()),
    ];
    let clients = named(config);
    if clients.len() < 2 {
        return;
    }
    let clients = clients.into_iter().collect::<Vec<_>>().join(", ");
    for (list, owners) in owned {
        for (index, _) in owners.iter().enumerate().filter(|(_, owner)| owner.is_none()) {
            let message = format!("`client` is missing: there are several ({clients}), so say whose this {list} is");
            reading.problem(element(list, index).key("client"), message, Show::Value);
        }
    }
}

fn no_action_crosses(config: &Config, reading: &Reading<'_>) {
    for (index, action) in config.actions.iter().enumerate() {
        let Some(client) = action.client.as_deref() else { continue };
        if let Some(target) = config.target(&action.target)
            && target.client.as_deref() != Some(client)
        {
            let whose = target.client.as_deref().map_or("no client".to_owned(), |owner| format!("`{owner}`"));
            let message = format!(
                "an action of `{client}` cannot be done on `{}`, which belongs to {whose}: name a target of its own client",
                target.name
            );
            reading.problem(element("action", index).key("target"), message, Show::Value);
        }
        let earlier = action.after.iter().filter_map(|name| config.action(name));
        for other in earlier.filter(|other| other.client.as_deref().is_some_and(|owner| owner != client)) {
            let message = format!("an action of `{client}` cannot wait for `{}`, which is another client's", other.name);
            reading.problem(element("action", index).key("after"), message, Show::Value);
        }
    }
}

/// An enquiry is worked by its own client's actions only: without any it would be entered and left. A configuration with
/// no action at all is meant so (a note).
fn every_source_has_work(config: &Config, reading: &Reading<'_>) {
    let owners: Option<Vec<&str>> = config.actions.iter().map(|action| action.client.as_deref()).collect();
    let Some(owners) = owners.filter(|owners| !owners.is_empty()) else { return };
    for (index, source) in config.sources.iter().enumerate() {
        let Some(client) = source.client.as_deref().filter(|client| !owners.contains(client)) else { continue };
        let message = format!(
            "nothing would ever be done for the enquiries of `{}`: its client `{client}` has no action; give it one of client `{client}`",
            source.name
        );
        reading.problem(element("source", index).key("client"), message, Show::Value);
    }
}
