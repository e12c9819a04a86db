//! Whose everything is. With one client named anywhere, what names none is that client's; with several, each says so (a
//! check); with none, nothing is anybody's.
//!
//! The engine does an action for the enquiries of its own client only: a source of `acme` beside actions of nobody would
//! take enquiries for which nothing is ever done.

use std::collections::BTreeSet;

use super::Config;

/// The clients that sources, targets and actions name.
pub(super) fn named(config: &Config) -> BTreeSet<&str> {
    let sources = config.sources.iter().map(|source| &source.client);
    let targets = config.targets.iter().map(|target| &target.client);
    let actions = config.actions.iter().map(|action| &action.client);
    sources.chain(targets).chain(actions).flatten().map(String::as_str).collect()
}

/// Gives what names no client to the only one there is.
pub(super) fn resolve(config: &mut Config) {
    let clients: Vec<String> = named(config).into_iter().map(str::to_owned).collect();
    let [only] = clients.as_slice() else { return };
    let sources = config.sources.iter_mut().map(|source| &mut source.client);
    let targets = config.targets.iter_mut().map(|target| &mut target.client);
    let actions = config.actions.iter_mut().map(|action| &mut action.client);
    for client in sources.chain(targets).chain(actions) {
        client.get_or_insert_with(|| only.clone());
    }
}
