//! `oncebook targets`: what is configured, and whether anything is sent to it.

use std::io::Write;

use super::read;
use super::table::{instant, print, print_json, table};
use super::{CliError, Common, Ended};
use crate::app::target_setups;
use crate::config::Config;
use crate::views::{PageView, Reader, TargetView};

pub(super) async fn run(common: &Common, out: &mut dyn Write) -> Result<Ended, CliError> {
    let config = common.config()?;
    let targets = of(&config, &Reader::new(read::book(&config)?)).await?;
    if common.json {
        print_json(out, &PageView { items: targets, next_cursor: None })?;
    } else {
        print(out, &listed(&targets, &common.program()))?;
    }
    Ok(Ended::Well)
}

/// Every configured target, as the book knows it.
pub(super) async fn of(config: &Config, reader: &Reader) -> Result<Vec<TargetView>, CliError> {
    Ok(reader.targets(&target_setups(config)).await?)
}

fn listed(targets: &[TargetView], program: &str) -> Vec<String> {
    let row = |target: &TargetView| {
        let since = target.paused_at.map(|at| format!("since {} UTC", instant(at)));
        let why = [since, target.why.clone()].into_iter().flatten().collect::<Vec<_>>().join(": ");
        vec![target.name.clone(), target.kind.clone(), target.mode.clone(), target.state.to_owned(), why]
    };
    let mut lines = table(0, 4, &["target", "kind", "mode", "state", "why"], targets.iter().map(row).collect());
    let paused = targets.iter().filter(|target| target.state == "paused");
    lines.extend(paused.map(|target| format!("To send to it again: {program} resume {}", target.name)));
    lines
}

#[cfg(test)]
mod tests {
    use domain::time::UtcMs;

    use super::*;
    use crate::views::At;

    #[test]
    fn a_paused_target_says_since_when_and_why_and_how_it_goes_on() {
        let open = TargetView {
            name: "mail".to_owned(),
            kind: "outbox".to_owned(),
            mode: "live".to_owned(),
            state: "open",
            paused_at: None,
            why: None,
        };
        let paused = TargetView {
            name: "crm".to_owned(),
            kind: "http".to_owned(),
            state: "paused",
            paused_at: Some(At(UtcMs(1_772_442_904_120))),
            why: Some("it answered 401".to_owned()),
            ..open.clone()
        };
        let lines = listed(&[paused, open], "oncebook");
        for part in ["crm", "http", "live", "paused", "since 2026-03-02 09:15:04.120 UTC: it answered 401"] {
            assert!(lines[2].contains(part), "{part} in {lines:#?}");
        }
        assert!(lines[3].contains("mail") && lines[3].contains("open"), "{lines:#?}");
        assert_eq!(lines[4..], ["To send to it again: oncebook resume crm"]);
    }
}
