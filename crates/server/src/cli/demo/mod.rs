//! `oncebook demo`: the whole job in a temporary book. It starts the real server as a process of its own, plays sample
//! deliveries against it, and counts what stands in the desk, in a small HTTP CRM and in the outbox.

mod crm;
mod scenarios;
mod server;

use std::io::Write;
use std::net::SocketAddr;

use clap::Args;
use comfy_table::{Table, presets};

use self::crm::Crm;
use self::scenarios::{Row, Stage};
use self::server::Server;
use super::table::print_json;
use super::{CliError, Ended};

/// Options of `demo`.
#[derive(Args)]
pub(super) struct DemoArgs {
    /// End after the scenarios instead of keeping the console
    #[arg(long)]
    once: bool,
}

/// With `json`, `out` gets the rows as JSON and nothing else; what is told to a person then goes to `aside`.
pub(super) async fn run(args: &DemoArgs, json: bool, out: &mut dyn Write, aside: &mut dyn Write) -> Result<Ended, CliError> {
    let crm = Crm::open().await?;
    let server = Server::start(crm.address()).await?;
    if !json {
        writeln!(out, "A temporary book, a desk, an outbox and a small HTTP CRM that never dedupes.")?;
        writeln!(out, "Every enquiry should become one deal, one CRM record and one follow-up. Playing:\n")?;
        out.flush()?;
    }
    let mut stage = Stage::new(server, crm);
    let rows = scenarios::play_all(&mut stage, &mut |row| {
        if json {
            return Ok(());
        }
        writeln!(out, "  {} {}", if row.is_good() { "✓" } else { "✗" }, row.name)?;
        out.flush()
    })
    .await?;
    let all_good = rows.iter().all(Row::is_good);
    if json {
        print_json(out, &rows)?;
        out.flush()?;
    } else {
        writeln!(out, "\n{}\n", table(&rows))?;
        writeln!(out, "{}", if all_good { "Each once: nothing doubled, nothing lost." } else { "A scenario did not end as it should." })?;
    }
    if !args.once {
        invite(stage.server.address(), if json { aside } else { out })?;
        // Should the signal not be to be had, the demo ends.
        drop(tokio::signal::ctrl_c().await);
    }
    stage.server.end().await;
    Ok(if all_good { Ended::Well } else { Ended::Found })
}

/// Where the book can be looked at, and how an enquiry of one's own is posted.
fn invite(address: SocketAddr, out: &mut dyn Write) -> std::io::Result<()> {
    let body = r#"{"submission_id":"mine-1","email":"you@example.com","message":"A quote for two desks, please"}"#;
    writeln!(out, "\nThe book is open at http://{address}/console until you press Ctrl-C. Post an enquiry of your own:")?;
    writeln!(out, "  curl http://{address}/in/web -H 'content-type: application/json' \\\n    -d '{body}'")?;
    out.flush()
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(["", "what happened", "posts", "deals", "CRM records", "follow-ups", "and"]);
    for row in rows {
        let mark = if row.is_good() { "✓" } else { "✗" };
        let counted = |seen: usize, wanted: usize| if seen == wanted { seen.to_string() } else { format!("{seen}, not {wanted}") };
        table.add_row([
            mark.to_owned(),
            row.name.to_owned(),
            row.posts.to_string(),
            counted(row.seen.deals, row.wanted.deals),
            counted(row.seen.records, row.wanted.records),
            counted(row.seen.mails, row.wanted.mails),
            row.note.clone(),
        ]);
    }
    table
}
