//! `oncebook show`: everything about the enquiry behind a name, on one page. What its records look like is in [`page`].

mod page;

use std::io::Write;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use super::read;
use super::table::{print, print_json};
use super::{CliError, Common, Ended, outside};
use crate::views::{ArrivalView, DossierView, Reader};

/// Options of `show`.
#[derive(Args)]
pub(super) struct ShowArgs {
    /// An enquiry's id, a key, a delivery's, effect's or review item's id, or a record's id in a target
    name: String,
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
    let reader = Reader::new(Arc::clone(&store));
    let items = reader.show(&args.name, outside()?.clock.now()).await?;
    let delivery = reader.delivery(&args.name).await?.filter(|arrival| arrival.items.iter().any(|item| item.enquiry.is_none()));
    if items.is_empty() && delivery.is_none() {
        return Err(nothing_called(&args.name));
    }
    let shown = Shown { items, delivery };
    if common.json {
        print_json(out, &shown)?;
    } else {
        print(out, &shown.lines(&args.name, &common.program()))?;
    }
    Ok(Ended::Well)
}

impl Shown {
    fn lines(&self, name: &str, program: &str) -> Vec<String> {
        let mut lines = Vec::new();
        if self.items.len() > 1 {
            lines.extend([format!("{name} leads to {} enquiries:", self.items.len()), String::new()]);
        }
        for (index, dossier) in self.items.iter().enumerate() {
            if index > 0 {
                lines.extend([String::new(), "\u{2500}".repeat(60), String::new()]);
            }
            lines.extend(page::of_enquiry(dossier, program));
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

/// A name that leads nowhere, and which names lead somewhere.
pub(super) fn nothing_called(name: &str) -> CliError {
    CliError::Said(format!(
        "nothing in the book is called '{name}'. Names are an enquiry's id (enq_…), a key (web:submission:lead_77), the id of a \
         delivery (dlv_…), an effect (eff_…) or a review item (rev_…), or a record's id in a target (deal-7).\n\
         `oncebook enquiries` lists the keys"
    ))
}
