//! `oncebook show`: everything about the enquiry behind a name, on one page. What its records look like is in [`page`].

mod body;
mod page;

use std::io::Write;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use super::names::{nothing_called, source_ids};
use super::table::{print, print_json};
use super::{CliError, Common, Ended, outside, read, targets};
use crate::views::{ArrivalView, DossierView, Reader, TargetView};

/// Options of `show`.
#[derive(Args)]
pub(super) struct ShowArgs {
    /// An enquiry's id, a key or the submission's id in it, a delivery's, effect's or review item's id, or a record's id in a target
    name: String,
    /// Only the raw body of a delivery; with --json as base64, and as text where it is UTF-8
    #[arg(long)]
    body: bool,
}

/// What a name leads to.
#[derive(Serialize)]
struct Shown {
    /// Every enquiry that it leads to.
    items: Vec<DossierView>,
    /// The delivery of that id, where not all of it became enquiries: these items are in no dossier.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<ArrivalView>,
}

pub(super) async fn run(common: &Common, args: &ShowArgs, out: &mut dyn Write) -> Result<Ended, CliError> {
    let config = common.config()?;
    let store = read::book(&config)?;
    if args.body {
        body::print(common, &*store, &args.name, out).await?;
        return Ok(Ended::Well);
    }
    let reader = Reader::new(Arc::clone(&store));
    let delivery = reader.delivery(&args.name).await?.filter(|arrival| arrival.items.iter().any(|item| item.enquiry.is_none()));
    let items = reader.called(&source_ids(&config), &args.name, outside()?.clock.now()).await?;
    if items.is_empty() && delivery.is_none() {
        return Err(nothing_called(&config, &args.name, &common.program()));
    }
    let targets = targets::of(&config, &reader).await?;
    let shown = Shown { items, delivery };
    if common.json {
        print_json(out, &shown)?;
    } else {
        print(out, &shown.lines(&args.name, &common.program(), &targets))?;
    }
    Ok(Ended::Well)
}

impl Shown {
    fn lines(&self, name: &str, program: &str, targets: &[TargetView]) -> Vec<String> {
        let mut lines = Vec::new();
        if self.items.len() > 1 {
            lines.extend([format!("{name} leads to {} enquiries:", self.items.len()), String::new()]);
        }
        for (index, dossier) in self.items.iter().enumerate() {
            if index > 0 {
                lines.extend([String::new(), "\u{2500}".repeat(60), String::new()]);
            }
            lines.extend(page::of_enquiry(dossier, program, targets));
        }
        if let Some(arrival) = &self.delivery {
            if !self.items.is_empty() {
                lines.push(String::new());
            }
            lines.extend(page::of_arrival(arrival, program));
        }
        lines
    }
}
