//! The configuration as a whole. The environment is the test's own; nothing here reads the real one.

mod checks;
mod dump;
mod keys;
mod loading;
mod refusals;
mod secrecy;

use std::path::Path;

use super::{Config, ConfigError};

/// INTERFACE's example, with the qualifier this build has, and the template in place.
const EXAMPLE: &str = include_str!("tests/example.toml");

fn no_env(_: &str) -> Option<String> {
    None
}

fn read(text: &str) -> Result<Config, ConfigError> {
    Config::from_text(Path::new("oncebook.toml"), text, &no_env)
}

fn read_with(text: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let env = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
    Config::from_text(Path::new("oncebook.toml"), text, &env)
}

/// Every problem's first line.
fn problems(text: &str) -> Vec<String> {
    let error = read(text).expect_err("the text is wrong");
    error.problems().iter().map(|problem| format!("{} ({}): {}", problem.origin, problem.key, problem.message)).collect()
}

/// Asserts that the text has just one problem, at that place and key, whose sentence holds `says`.
#[track_caller]
fn assert_problem(text: &str, place: &str, key: &str, says: &str) {
    let found = problems(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    let begin = format!("oncebook.toml:{place} ({key}): ");
    assert!(found[0].starts_with(&begin) && found[0].contains(says), "expected {begin}…{says}…\n   found {}", found[0]);
}
