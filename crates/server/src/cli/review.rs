//! `oncebook review`: what waits for a person, and the exact commands that decide it; deciding is [`super::work`]'s.

use std::io::Write;

use clap::{Args, ValueEnum};

use super::deliveries::set_aside;
use super::order::Order;
use super::read;
use super::table::{instant, print, print_json, span};
use super::work::{self, By};
use super::{CliError, Common, Ended, outside};
use crate::engine::Decision;
use crate::views::{PageView, Reader, ReviewView};

/// How many a person is shown at a time; all of them are in the JSON.
const SHOWN: usize = 25;

/// Options of `review`.
#[derive(Args)]
pub(super) struct ReviewArgs {
    /// The item; a delivery's id with `separate`, where it was suppressed under a weak key
    #[arg(value_name = "ID")]
    item: Option<String>,
    /// What is decided; without it the item is shown
    decision: Option<Word>,
    /// Why it is dismissed
    #[arg(long, value_name = "TEXT", required_if_eq("decision", "dismiss"))]
    reason: Option<String>,
    /// The record's id in the target, for `it-is`
    #[arg(long = "id", value_name = "EXTERNAL", required_if_eq("decision", "it-is"))]
    external: Option<String>,
    #[command(flatten)]
    by: By,
}

/// A decision as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Word {
    /// What is held may go on
    Approve,
    /// What is held is not to be done
    Dismiss,
    /// A conflict's content is a revision of the same enquiry
    Same,
    /// It is an enquiry of its own
    Separate,
    /// The record is not in the target
    NotThere,
    /// The record is in the target, under --id
    ItIs,
    /// Look again, and go on from what is found
    Again,
}

pub(super) async fn run(common: &Common, args: &ReviewArgs, out: &mut dyn Write) -> Result<Ended, CliError> {
    match args.order()? {
        Some(order) => work::carry_out(common, &order, &args.by, out).await,
        None => list(common, args.item.as_deref(), out).await,
    }
}

impl ReviewArgs {
    /// What is to be carried out; none if there is only to be looked at.
    fn order(&self) -> Result<Option<Order>, CliError> {
        let (Some(item), Some(word)) = (self.item.clone(), self.decision) else { return Ok(None) };
        if self.reason.is_some() && word != Word::Dismiss {
            return Err(CliError::Said("--reason goes with `dismiss`: other decisions speak for themselves".to_owned()));
        }
        if self.reason.as_ref().is_some_and(|why| why.trim().is_empty()) {
            return Err(CliError::Said("--reason says why it is dismissed: the journal keeps it".to_owned()));
        }
        if self.external.is_some() && word != Word::ItIs {
            return Err(CliError::Said("--id goes with `it-is`: it names the record that stands in the target".to_owned()));
        }
        if item.starts_with("dlv_") {
            let only = "a delivery takes only `separate`: `oncebook review` lists the items that take other decisions";
            return if word == Word::Separate {
                Ok(Some(Order::Separate { delivery: item }))
            } else {
                Err(CliError::Said(only.to_owned()))
            };
        }
        // What clap has required is there.
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let decision = match word {
            Word::Approve => Decision::Approve,
            Word::Dismiss => Decision::Dismiss(text(&self.reason)),
            Word::Same => Decision::Same,
            Word::Separate => Decision::Separate,
            Word::NotThere => Decision::NotThere,
            Word::ItIs => Decision::ItIs(text(&self.external)),
            Word::Again => Decision::Again,
        };
        Ok(Some(Order::Decide { item, decision }))
    }
}

/// The open items, oldest first; with an id only that one.
async fn list(common: &Common, only: Option<&str>, out: &mut dyn Write) -> Result<Ended, CliError> {
    let config = common.config()?;
    let reader = Reader::new(read::book(&config)?);
    let now = outside()?.clock.now();
    let mut open = reader.open_items(usize::MAX, now).await?.oldest;
    if let Some(id) = only {
        open.retain(|review| review.id == id);
        if open.is_empty() {
            let found = reader.show(id, now).await?;
            let closed = found.iter().flat_map(|dossier| &dossier.reviews).find(|review| review.id == id);
            return Err(not_open(id, closed, &common.program()));
        }
    }
    if common.json {
        print_json(out, &PageView { items: open, next_cursor: None })?;
    } else {
        let mut lines = listed(&open, &common.program());
        if only.is_none() {
            lines.extend(set_aside(&reader.set_aside().await?, &common.program()));
        }
        print(out, &lines)?;
    }
    Ok(Ended::Well)
}

/// Why an item cannot be decided: there is none, or it was decided before: how, by whom and when.
pub(super) fn not_open(id: &str, closed: Option<&ReviewView>, program: &str) -> CliError {
    let list = format!("`{program} review` lists the open ones");
    let Some(closed) = closed else { return CliError::Said(format!("there is no review item '{id}': {list}")) };
    let how = closed.decision.as_deref().unwrap_or("no decision was needed");
    // A person's decision names the person; the engine closes what nobody need decide any more.
    let what = if how.contains("(by ") { "was decided" } else { "is closed" };
    let at = closed.closed_at.map(|at| format!(" at {} UTC", instant(at))).unwrap_or_default();
    CliError::Said(format!("{id} {what}{at}: {how}. {list}"))
}

fn listed(open: &[ReviewView], program: &str) -> Vec<String> {
    if open.is_empty() {
        return vec!["Nothing waits for a person.".to_owned()];
    }
    let mut lines = Vec::new();
    for review in open.iter().take(SHOWN) {
        lines.extend(to_decide(review, program));
        lines.push(format!("  look first: {program} show {}", review.enquiry));
        lines.push(String::new());
    }
    lines.push(match open.len() {
        1 => "1 item is open.".to_owned(),
        count if count > SHOWN => format!("{count} items are open; these {SHOWN} have waited longest."),
        count => format!("{count} items are open, oldest first."),
    });
    lines
}

/// An open item: how long, why, and the commands that decide it.
pub(super) fn to_decide(review: &ReviewView, program: &str) -> Vec<String> {
    let kind = review.kind.replace('_', "-");
    let holds = if review.holds { "something waits for it" } else { "for your information" };
    let age = span(review.age_s.saturating_mul(1000));
    let mut lines = vec![format!("{}  {kind}, open for {age}, {holds}", review.id), format!("  {}", review.why)];
    for fitting in &review.decisions {
        let words = match fitting.decision {
            "dismiss" => "dismiss --reason \"WHY\"".to_owned(),
            "it_is" => "it-is --id RECORD".to_owned(),
            plain => plain.replace('_', "-"),
        };
        let from = fitting.not_before.map(|at| format!("   (taken from {} UTC on)", instant(at))).unwrap_or_default();
        lines.push(format!("  {program} review {} {words}{from}", review.id));
    }
    lines
}

#[cfg(test)]
mod tests;
