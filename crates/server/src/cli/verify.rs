//! `oncebook evidence verify`: walks the chain and every digest of a book, also while a server writes it.

use std::io::Write;

use clap::Args;
use evidence::{Entry, Head, Report, Walk};
use serde_json::json;
use store::Store as _;
use store::sqlite::Sqlite;

use super::read;
use super::table::{print, print_json};
use super::{CliError, Common, Ended};

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
    let store = read::open(&config)?;
    let (report, head) = walk(&store, kept).await?;
    if common.json {
        let mut told = json!(report);
        told["head"] = json!(head);
        print_json(out, &told)?;
    } else {
        print(out, &said(&report, args.head.len(), head.as_ref(), &common.program()))?;
    }
    Ok(if report.is_whole() { Ended::Well } else { Ended::Found })
}

/// Walks the book; what was found, and the head to keep: the end of the stream that began last. Each stream names the head
/// of the one before, so this one stands for all of them.
async fn walk(store: &Sqlite, kept: Vec<Head>) -> Result<(Report, Option<Head>), CliError> {
    let mut walk = Walk::new(kept);
    let mut last: Option<Entry> = None;
    loop {
        let after = last.as_ref().map(|entry| (entry.stream.clone(), entry.seq));
        let mut entries = store.journal_after(after, PAGE).await?;
        for entry in &entries {
            walk.entry(entry);
            for digest in &entry.blobs {
                walk.blob(*digest, store.blob(digest, entry.enquiry.as_ref()).await?.as_ref());
            }
        }
        let Some(entry) = entries.pop() else { return Ok((walk.finish(), last.map(|entry| entry.head()))) };
        last = Some(entry);
    }
}

fn said(report: &Report, kept: usize, head: Option<&Head>, program: &str) -> Vec<String> {
    let Report { entries, streams, blobs_checked, blobs_erased, faults, .. } = report;
    let mut lines = vec![format!(
        "{} in {}, {} checked, {blobs_erased} erased on record",
        counted(*entries, "entry", "entries"),
        counted(*streams, "stream", "streams"),
        counted(*blobs_checked, "blob", "blobs")
    )];
    lines.extend(faults.iter().map(|fault| format!("FAULT  {fault}")));
    if let [_, ..] = faults.as_slice() {
        let count = counted(u64::try_from(faults.len()).unwrap_or(u64::MAX), "fault", "faults");
        lines.push(format!("{count}: restore the book from a backup, and keep this one as evidence"));
        return lines;
    }
    lines.push("The chain is whole.".to_owned());
    if kept > 0 {
        lines.push(format!("It holds {}: nothing up to there was changed or removed.", counted_heads(kept)));
    }
    if let Some(head) = head {
        lines.push("Keep this head where nobody who can write the book can write: it stands for every entry up to now.".to_owned());
        lines.push(format!("  {head}"));
        lines.push(format!("Later, `{program} evidence verify --head HEAD` shows whether any of them was changed or removed since."));
    }
    lines
}

fn counted_heads(kept: usize) -> String {
    if kept == 1 { "the head that was kept".to_owned() } else { format!("the {kept} heads that were kept") }
}

fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use domain::digest::Digest;
    use domain::ids::StreamId;
    use evidence::Fault;

    use super::*;

    fn report(faults: Vec<Fault>) -> Report {
        Report { entries: 1, streams: 1, blobs_checked: 1, blobs_erased: 0, heads: Vec::new(), faults }
    }

    #[test]
    fn one_head_is_to_be_kept_and_is_said_what_for() {
        let head = Head { stream: StreamId::parse("str_2").unwrap(), seq: 3, hash: Digest::ZERO };
        let lines = said(&report(Vec::new()), 0, Some(&head), "oncebook --config x.toml");
        assert_eq!(lines[0], "1 entry in 1 stream, 1 blob checked, 0 erased on record");
        assert_eq!(lines.iter().filter(|line| line.contains("str_2:3:")).count(), 1);
        assert!(lines[4].contains("`oncebook --config x.toml evidence verify --head HEAD`"), "{lines:#?}");
    }

    #[test]
    fn a_kept_head_that_still_stands_is_said_to() {
        let lines = said(&report(Vec::new()), 1, None, "oncebook");
        assert!(lines.iter().any(|line| line.starts_with("It holds the head that was kept")), "{lines:#?}");
        let fault = Fault { stream: StreamId::parse("str_2").unwrap(), seq: 3, what: "changed".to_owned() };
        assert!(!said(&report(vec![fault]), 1, None, "oncebook").iter().any(|line| line.starts_with("It holds")));
    }

    #[test]
    fn one_fault_is_one_and_no_head_is_to_be_kept() {
        let fault = Fault { stream: StreamId::parse("str_2").unwrap(), seq: 3, what: "changed".to_owned() };
        let lines = said(&report(vec![fault.clone()]), 0, None, "oncebook");
        assert!(lines[2].starts_with("1 fault: restore"), "{lines:#?}");
        assert!(said(&report(vec![fault.clone(), fault]), 0, None, "oncebook")[3].starts_with("2 faults: restore"));
    }
}
