//! `oncebook config check` and `oncebook identity accept`.

use std::io::Write;

use super::{CliError, Common, Ended, outside};
use crate::app;

/// Names every mistake; what is read but not acted on yet is said as a note.
pub(super) fn check(common: &Common, out: &mut dyn Write) -> Result<Ended, CliError> {
    let config = match common.config() {
        Ok(config) => config,
        Err(error) => {
            writeln!(out, "{error}")?;
            return Ok(Ended::Found);
        }
    };
    if let Err(error) = app::check(&config, &outside()?) {
        writeln!(out, "{error}")?;
        return Ok(Ended::Found);
    }
    let (sources, targets, actions) = (config.sources.len(), config.targets.len(), config.actions.len());
    let file = config.file.as_ref().map_or_else(|| "the defaults".to_owned(), |file| file.display().to_string());
    writeln!(out, "{file}: good ({sources} sources, {targets} targets, {actions} actions)")?;
    for note in config.notes() {
        writeln!(out, "note: {note}")?;
    }
    Ok(Ended::Well)
}

pub(super) async fn accept_rule(common: &Common, source: &str, out: &mut dyn Write) -> Result<Ended, CliError> {
    let config = common.config()?;
    let outside = outside()?;
    let store = app::open_book(&config, &outside)?;
    let changed = app::accept_rule(&config, &store, &*outside.clock, source, "cli").await?;
    let words = if changed { "accepted as the next version; earlier versions are still read" } else { "nothing to accept: unchanged" };
    writeln!(out, "{source}: {words}")?;
    Ok(Ended::Well)
}
