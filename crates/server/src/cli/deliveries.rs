//! `oncebook deliveries`: what arrived and what was made of it, those of which nothing came included.

use std::io::Write;

use clap::Args;

use super::first;
use super::paging::{PageArgs, States};
use super::read;
use super::table::{clipped, minute, print, print_json, table};
use super::{CliError, Common, Ended};
use crate::views::{DeliveryView, Reader, SetAside, VERDICTS};

/// How much of a reason a row shows; `show` has all of it.
const REASON_MAX: usize = 90;

/// Options of `deliveries`.
#[derive(Args)]
pub(super) struct DeliveriesArgs {
    /// Only those with this verdict
    #[arg(long, value_parser = States(&VERDICTS))]
    state: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

pub(super) async fn run(common: &Common, args: &DeliveriesArgs, out: &mut dyn Write) -> Result<Ended, CliError> {
    let config = common.config()?;
    let reader = Reader::new(read::book(&config)?);
    let page = reader.deliveries(&args.page.query(&config, args.state.as_ref())).await?;
    if common.json {
        print_json(out, &page)?;
        return Ok(Ended::Well);
    }
    let aside = reader.set_aside().await?;
    let mut lines = match (page.items.is_empty(), args.state.is_none() && args.page.asks_for_all()) {
        (true, true) => first::how_to_post(&config),
        (true, false) => vec![format!("No delivery matches. `{} deliveries` lists them all.", common.program())],
        (false, _) => listed(&page.items, &aside, &common.program()),
    };
    let next = args.page.next_command(common, "deliveries", args.state.as_ref(), page.next_cursor.as_deref());
    lines.extend(next.map(|command| format!("\u{2026} and earlier ones: {command}")));
    // They stand in a list of their own, which nobody finds who does not know of it.
    if args.state.is_none() && aside.refused > 0 {
        lines.push(format!("Those that were refused as not authentic stand apart: {} deliveries --state refused", common.program()));
    }
    print(out, &lines)?;
    Ok(Ended::Well)
}

fn listed(items: &[DeliveryView], aside: &SetAside, program: &str) -> Vec<String> {
    let row = |delivery: &DeliveryView| {
        let item = if delivery.item > 0 { format!(" item {}", delivery.item) } else { String::new() };
        let mut became = vec![delivery.key.clone().or_else(|| delivery.reason.as_deref().map(|why| clipped(why, REASON_MAX)))];
        became.push(aside.came_again.get(&delivery.id).map(|later| format!("came again as\n{later}")));
        let became: Vec<String> = became.into_iter().flatten().collect();
        let verdict = delivery.verdict.replace('_', "-");
        vec![minute(delivery.arrived_at), format!("{}{item}", delivery.id), delivery.source.clone(), verdict, became.join("\n")]
    };
    let mut lines =
        table(0, 2, &["when (UTC)", "delivery", "source", "verdict", "key, or why there is none"], items.iter().map(row).collect());
    if items.iter().any(|delivery| matches!(delivery.verdict, "quarantined" | "refused")) {
        lines.push(format!("Look at one: {program} show ID --body   Read it again: {program} replay ID"));
    }
    lines
}

/// What stands at the end of a person's queue: that something arrived of which nothing came, and what lists it.
pub(super) fn set_aside(aside: &SetAside, program: &str) -> Vec<String> {
    let states = [(aside.quarantined, "quarantined"), (aside.refused, "refused")];
    let commands = states.iter().filter(|(count, _)| *count > 0).map(|(_, state)| format!("{program} deliveries --state {state}"));
    let commands: Vec<String> = commands.collect();
    if commands.is_empty() {
        return Vec::new();
    }
    vec![format!("Nothing came of: {}. To see them: {}", aside.says(), commands.join(", "))]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::Parser as _;

    use super::super::table::WIDTH;
    use super::super::{Cli, Command};
    use super::*;

    #[test]
    fn the_queue_ends_with_what_nothing_came_of() {
        assert_eq!(set_aside(&SetAside::default(), "oncebook"), [""; 0]);
        let aside = SetAside { quarantined: 2, refused: 1, more: false, came_again: BTreeMap::new() };
        assert_eq!(
            set_aside(&aside, "oncebook"),
            ["Nothing came of: 2 deliveries quarantined, 1 delivery refused as not authentic. \
              To see them: oncebook deliveries --state quarantined, oncebook deliveries --state refused"]
        );
        let only = SetAside { quarantined: 1000, refused: 0, more: true, came_again: BTreeMap::new() };
        assert!(
            set_aside(&only, "oncebook")[0].contains("1000 or more deliveries quarantined. To see them: oncebook deliveries --state q")
        );
    }

    #[test]
    fn a_verdict_that_there_is_none_of_is_refused_as_it_is_typed() {
        let parse = |state: &str| Cli::try_parse_from(["oncebook", "deliveries", "--state", state]);
        for name in ["look_alike", "look-alike"] {
            let Command::Deliveries(args) = parse(name).unwrap().command else { panic!("{name}") };
            assert_eq!(args.state.as_deref(), Some("look_alike"));
        }
        let refused = parse("held").err().unwrap().to_string();
        assert!(VERDICTS.iter().all(|verdict| refused.contains(verdict)), "{refused}");
        assert!(usize::from(WIDTH) >= REASON_MAX);
    }
}
