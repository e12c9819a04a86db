//! `oncebook config check`, `oncebook config dump` and `oncebook identity accept`.

use std::io::Write;

use serde_json::{Value, json};

use super::table::print_json;
use super::{CliError, Common, Ended, outside};
use crate::app::{self, StartError};
use crate::config::{Config, ConfigError, Origin, Problem};

/// Names every mistake; what is read but not acted on yet is said as a note.
pub(super) fn check(common: &Common, out: &mut dyn Write) -> Result<Ended, CliError> {
    match checked(common)? {
        Ok(config) => {
            let (sources, targets, actions) = (config.sources.len(), config.targets.len(), config.actions.len());
            let file = config.file.as_ref().map_or_else(|| "the defaults".to_owned(), |file| file.display().to_string());
            if common.json {
                let counts = json!({"sources": sources, "targets": targets, "actions": actions});
                print_json(out, &json!({"good": true, "file": config.file, "counts": counts, "problems": [], "notes": config.notes()}))?;
                return Ok(Ended::Well);
            }
            writeln!(out, "{file}: good ({sources} sources, {targets} targets, {actions} actions)")?;
            for note in config.notes() {
                writeln!(out, "note: {note}")?;
            }
            Ok(Ended::Well)
        }
        Err(error) => {
            if common.json {
                print_json(out, &json!({"good": false, "file": common.config, "problems": problems(&error), "notes": []}))?;
            } else {
                writeln!(out, "{error}")?;
            }
            Ok(Ended::Found)
        }
    }
}

/// The configuration, if everything in it holds and can be used.
fn checked(common: &Common) -> Result<Result<Config, StartError>, CliError> {
    match common.config() {
        Ok(config) => Ok(app::check(&config, &outside()?).map(|()| config)),
        Err(CliError::Start(error)) => Ok(Err(error)),
        Err(other) => Err(other),
    }
}

fn problems(error: &StartError) -> Vec<Value> {
    match error {
        StartError::Config(ConfigError::Invalid(problems)) | StartError::Unusable(problems) => problems.iter().map(problem).collect(),
        other => vec![json!({"file": null, "line": null, "column": null, "variable": null, "key": "", "message": other.to_string()})],
    }
}

fn problem(problem: &Problem) -> Value {
    let (file, line, column, variable) = match &problem.origin {
        Origin::File { name, line, column } => (Some(name), Some(line), Some(column), None),
        Origin::Variable(name) => (None, None, None, Some(name)),
    };
    json!({"file": file, "line": line, "column": column, "variable": variable, "key": problem.key, "message": problem.message})
}

/// Prints everything that holds, as a file that says the same.
pub(super) fn dump(common: &Common, out: &mut dyn Write) -> Result<Ended, CliError> {
    let effective = common.config()?.effective();
    if common.json {
        print_json(out, &effective.to_json())?;
    } else {
        out.write_all(effective.to_toml().as_bytes())?;
    }
    Ok(Ended::Well)
}

pub(super) async fn accept_rule(common: &Common, source: &str, out: &mut dyn Write) -> Result<Ended, CliError> {
    let config = common.config()?;
    let outside = outside()?;
    if config.source(source).is_none() {
        return Err(StartError::NoSource(source.to_owned()).into());
    }
    let store = app::open_book(&config, &outside)?;
    let changed = app::accept_rule(&config, &store, &*outside.clock, source, "cli").await?;
    let words = if changed { "accepted as the next version; earlier versions are still read" } else { "nothing to accept: unchanged" };
    writeln!(out, "{source}: {words}")?;
    Ok(Ended::Well)
}
