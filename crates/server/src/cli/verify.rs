//! `oncebook evidence verify`: walks the chain and every digest of a book, also while a server writes it.

use std::io::Write;

use clap::Args;
use evidence::{Head, Report, Walk};
use serde_json::json;
use store::Store as _;
use store::sqlite::Sqlite;

use super::{CliError, Common, Ended};
use crate::app;

/// Entries read at a time.
const PAGE: usize = 1_000;

/// Options of `evidence verify`.
#[derive(Args)]
pub(super) struct VerifyArgs {
    /// A head that was kept elsewhere (STREAM:SEQ:HASH): the journal must still hold it
    #[arg(long, value_name = "HEAD")]
    head: Vec<String>,
}

pub(super) async fn run(common: &Common, args: &VerifyArgs, out: &mut dyn Write) -> Result<Ended, CliError> {
    let kept = args.head.iter().map(|text| Head::parse(text).ok_or_else(|| format!("'{text}' is no head: write STREAM:SEQ:HASH")));
    let kept = kept.collect::<Result<Vec<_>, _>>().map_err(CliError::Said)?;
    let config = common.config()?;
    let store = Sqlite::open_to_read(app::book_path(&config))?;
    let report = walk(&store, kept).await?;
    if common.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!(report)).unwrap_or_default())?;
    } else {
        print(&report, out)?;
    }
    Ok(if report.is_whole() { Ended::Well } else { Ended::Found })
}

async fn walk(store: &Sqlite, kept: Vec<Head>) -> Result<Report, CliError> {
    let mut walk = Walk::new(kept);
    let mut after = None;
    loop {
        let entries = store.journal_after(after.clone(), PAGE).await?;
        let Some(last) = entries.last() else { return Ok(walk.finish()) };
        after = Some((last.stream.clone(), last.seq));
        for entry in &entries {
            walk.entry(entry);
            for digest in &entry.blobs {
                walk.blob(*digest, store.blob(digest).await?.as_ref());
            }
        }
    }
}

fn print(report: &Report, out: &mut dyn Write) -> Result<(), CliError> {
    let Report { entries, streams, blobs_checked, blobs_erased, heads, faults } = report;
    writeln!(out, "{entries} entries in {streams} streams, {blobs_checked} blobs checked, {blobs_erased} erased on record")?;
    for fault in faults {
        writeln!(out, "FAULT  {fault}")?;
    }
    if faults.is_empty() {
        writeln!(out, "The chain is whole. Keep the heads elsewhere: they show any later change or removal.")?;
        for head in heads {
            writeln!(out, "  {head}")?;
        }
    } else {
        writeln!(out, "{} faults: restore the book from a backup, and keep this one as evidence", faults.len())?;
    }
    Ok(())
}
