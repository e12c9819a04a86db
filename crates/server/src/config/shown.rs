//! Which values a line of the file may be shown with.
//!
//! Only what is known to hold no secret: a plain value under a key of ours. A key nobody knows may be a misspelt
//! `password`, and its neighbour another, so texts there stay masked whatever they look like.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::nearest::nearest;

/// A text longer than this (in bytes) is not shown.
const TEXT_MAX: usize = 24;

/// Keys under which secrets stand, with all that is below them.
const SECRET: [&str; 7] = ["secret", "secrets", "password", "passwords", "token", "api_key", "headers"];
/// What makes an unknown key one of them.
const SECRETIVE: [&str; 6] = ["secret", "passw", "token", "api_key", "api-key", "apikey"];
/// Keys whose values are names, words of ours, places and amounts.
const PLAIN: [&str; 49] = [
    "after",
    "attempt",
    "attempts",
    "backoff",
    "backoff_max",
    "batch_max",
    "body_max",
    "client",
    "concurrency",
    "consistency",
    "content",
    "data_dir",
    "encoding",
    "give_up_after",
    "header",
    "id",
    "items",
    "key",
    "kind",
    "listen",
    "method",
    "min_confidence",
    "mode",
    "name",
    "next",
    "not_after",
    "not_executed",
    "on_unknown",
    "open",
    "pause_max",
    "per_address",
    "rate",
    "records",
    "request_id",
    "review",
    "sandbox",
    "scheme",
    "settle",
    "submission",
    "target",
    "test",
    "then",
    "time",
    "timeout",
    "timezone",
    "volatile",
    "window",
    "with",
    "workers",
];

/// What is known of a part of the file by the tables it stands in.
#[derive(Clone, Copy)]
enum Within {
    /// Nothing in particular: a number under an unknown key is shown.
    Settings,
    /// An unknown key may be anything.
    Proof,
    /// The keys are the user's, and the values places.
    Map,
    /// Nothing of it is shown.
    Secret,
}

/// The spans of all values that must not be shown.
pub(super) fn masked(root: &DeTable<'_>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    for (key, value) in root {
        let key = key.get_ref();
        // `[[token]]` itself is a list of tables, which have names too.
        let within = if key == "token" { Within::Proof } else { Within::Settings.below(key) };
        mask(within, key, value, &mut out);
    }
    out
}

fn mask(within: Within, key: &str, value: &Spanned<DeValue<'_>>, out: &mut Vec<Range<usize>>) {
    match value.get_ref() {
        DeValue::Table(table) => {
            table.iter().for_each(|(key, value)| mask(within.below(key.get_ref()), key.get_ref(), value, out));
        }
        DeValue::Array(list) => list.iter().for_each(|value| mask(within, key, value, out)),
        scalar if within.may_show(key, scalar) => {}
        _ => out.push(value.span()),
    }
}

impl Within {
    /// What holds below a key.
    fn below(self, key: &str) -> Self {
        match (self, key) {
            (Self::Secret, _) => Self::Secret,
            _ if is_secretive(key) => Self::Secret,
            (_, "auth") => Self::Proof,
            (_, "map") => Self::Map,
            (within, _) => within,
        }
    }

    fn may_show(self, key: &str, value: &DeValue<'_>) -> bool {
        let is_plain = PLAIN.contains(&key);
        match (self, value.as_str()) {
            (Self::Secret, _) => false,
            (Self::Map, Some(text)) => is_short_word(text),
            (Self::Settings | Self::Proof, Some(text)) => is_plain && is_short_word(text),
            (Self::Settings | Self::Map, None) => true,
            (Self::Proof, None) => is_plain,
        }
    }
}

fn is_secretive(key: &str) -> bool {
    if PLAIN.contains(&key) {
        return false;
    }
    let key = key.to_lowercase();
    SECRETIVE.iter().any(|part| key.contains(part)) || nearest(&key, SECRET).is_some()
}

fn is_short_word(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_./:-".contains(&b);
    (1..=TEXT_MAX).contains(&text.len()) && text.bytes().all(is_plain)
}
