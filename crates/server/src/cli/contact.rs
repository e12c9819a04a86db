//! `oncebook do-not-contact`: addresses that no message goes to. The book has their digests only.

use std::io::Write;

use clap::{Args, Subcommand};
use serde_json::json;

use super::order::Order;
use super::table::{instant, print, print_json, table};
use super::work::{By, carry_out};
use super::{CliError, Common, Ended, read};
use crate::engine::Listed;
use crate::views::At;

/// More than this no list has that a person reads.
const SHOWN: usize = 10_000;

#[derive(Args)]
pub(super) struct ContactArgs {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Subcommand)]
enum Act {
    /// Put an address on the list: messages to it are held for a person
    Add {
        /// The e-mail address
        address: String,
        /// Why; kept with the digest, so name nobody
        #[arg(long, value_name = "TEXT", default_value = "no reason given")]
        reason: String,
        #[command(flatten)]
        by: By,
    },
    /// Take an address off the list
    Remove {
        /// The e-mail address
        address: String,
        #[command(flatten)]
        by: By,
    },
}

pub(super) async fn run(common: &Common, args: &ContactArgs, out: &mut dyn Write) -> Result<Ended, CliError> {
    match &args.act {
        Some(Act::Add { address, reason, by }) => {
            let order = Order::List { address: address.clone(), reason: reason.clone() };
            carry_out(common, &order, by, out).await
        }
        Some(Act::Remove { address, by }) => carry_out(common, &Order::Unlist { address: address.clone() }, by, out).await,
        None => list(common, out).await,
    }
}

async fn list(common: &Common, out: &mut dyn Write) -> Result<Ended, CliError> {
    let store = read::book(&common.config()?)?;
    let listed = Listed::page(&*store, None, SHOWN).await?;
    if common.json {
        let item = |one: &Listed| json!({"digest": one.digest, "at": one.at.rfc3339(), "by": one.by, "why": one.why});
        print_json(out, &json!({"items": listed.iter().map(item).collect::<Vec<_>>(), "next_cursor": null}))?;
    } else if listed.is_empty() {
        print(out, &["Nobody is on the do-not-contact list.".to_owned()])?;
    } else {
        let row = |one: &Listed| vec![instant(At(one.at)), one.by.clone(), one.why.clone(), one.digest.chars().take(16).collect()];
        print(out, &table(0, 3, &["since (UTC)", "by", "why", "digest"], listed.iter().map(row).collect()))?;
    }
    Ok(Ended::Well)
}
