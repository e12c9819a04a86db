//! What one section alone cannot know to be wrong: names, references, clients, horizons, who can reach us.
//!
//! Each check notes its problems with the reading; none stops the next.

mod actions;
mod clients;
mod names;

use super::Config;
use super::auth::Auth;
use super::consistency::Consistency;
use super::path::Path;
use super::reading::{Reading, Show};
use super::target::TargetKind;
use super::units::Period;

/// Runs every check.
pub(super) fn check(config: &Config, reading: &Reading<'_>) {
    names::check(config, reading);
    actions::check(config, reading);
    clients::check(config, reading);
    exposure(config, reading);
    horizons(config, reading);
}

/// The path of an element of a `[[list]]`.
fn element(list: &str, index: usize) -> Path {
    Path::default().key(list).index(index)
}

/// An open source that others than this machine can reach must say that it is meant.
fn exposure(config: &Config, reading: &Reading<'_>) {
    if config.server.is_private() {
        return;
    }
    for (index, source) in config.sources.iter().enumerate() {
        if source.auth == (Auth::None { open: false }) {
            let message = format!(
                "anybody can post to `{}`, for the server can be reached from outside (`listen` or `public_url`): \
                 give it an `auth`, or say that it is meant with auth = {{ scheme = \"none\", open = true }}",
                source.name
            );
            reading.problem(element("source", index).key("auth"), message, Show::Key);
        }
    }
}

/// A provider that forgets our key while we still retry would make a second record.
fn horizons(config: &Config, reading: &Reading<'_>) {
    for (index, target) in config.targets.iter().enumerate() {
        let TargetKind::Http(http) = &target.kind else { continue };
        let Some(Consistency::Window(window)) = http.find.as_ref().map(|find| find.consistency) else { continue };
        let one_try = Period::from_ms(target.timeout.ms() + config.engine.pause_max.ms() + target.settle.ms());
        let message = if window < one_try {
            format!(
                "a key kept for {window} ends before one try does ({one_try}: timeout, pause_max and settle): \
                 shorten those, or rest on a look-up"
            )
        } else if window < config.engine.give_up_after {
            format!(
                "a key kept for {window} ends before the retries do ({}): \
                 set engine.give_up_after to at most {window}, or rest on a look-up",
                config.engine.give_up_after
            )
        } else {
            continue;
        };
        reading.problem(element("target", index).key("find").key("consistency"), message, Show::Value);
    }
}
