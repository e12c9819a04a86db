//! `oncebook enquiries`, and opening a book to read it, which works while a server writes it.

use std::io::Write;
use std::sync::Arc;

use clap::Args;
use store::Store;
use store::sqlite::Sqlite;

use super::first;
use super::paging::{PageArgs, States};
use super::table::{WHOLE_MAX, WIDTH, clipped, minute, print, print_json, table};
use super::{CliError, Common, Ended};
use crate::app;
use crate::config::Config;
use crate::views::{EffectView, EnquiryView, FlagsView, PageView, Query, Reader, STANDINGS};

/// Options of `enquiries`.
#[derive(Args)]
pub(super) struct EnquiriesArgs {
    /// Only those that stand there
    #[arg(long, value_parser = States(&STANDINGS))]
    state: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

pub(super) async fn enquiries(common: &Common, args: &EnquiriesArgs, out: &mut dyn Write) -> Result<Ended, CliError> {
    let config = common.config()?;
    let reader = Reader::new(book(&config)?);
    let page = reader.enquiries(&args.page.query(&config, args.state.as_ref())).await?;
    if common.json {
        print_json(out, &page)?;
        return Ok(Ended::Well);
    }
    let effects = effects_of(&reader, &page.items).await?;
    let next = args.page.next_command(common, "enquiries", args.state.as_ref(), page.next_cursor.as_deref());
    let lines = match (page.items.is_empty(), args.state.is_none() && args.page.asks_for_all()) {
        (true, true) => first::how_to_post(&config),
        (true, false) => vec!["No enquiry matches. `oncebook enquiries` lists them all.".to_owned()],
        (false, _) => listed(&page, &effects, next.as_deref()),
    };
    print(out, &lines)?;
    Ok(Ended::Well)
}

/// Opens the configured book to read it.
pub(super) fn book(config: &Config) -> Result<Arc<dyn Store>, CliError> {
    Ok(Arc::new(open(config)?))
}

/// The same, for who walks it. Nothing is made by looking: a book that is not there is said.
pub(super) fn open(config: &Config) -> Result<Sqlite, CliError> {
    let path = app::book_path(config);
    match Sqlite::open_to_read(path) {
        Err(store::Error::Unavailable(_)) if !path.exists() => {
            Err(CliError::Said(format!("there is no book at {} yet: `oncebook serve` makes it", path.display())))
        }
        opened => Ok(opened?),
    }
}

/// What a command that writes asks first: it makes no book, and begins none where only the log of one lies.
pub(super) fn must_exist(config: &Config) -> Result<(), CliError> {
    let is_there = std::fs::metadata(app::book_path(config)).is_ok_and(|file| file.len() > 0);
    if is_there { Ok(()) } else { open(config).map(drop) }
}

impl Common {
    /// How this program is called so that it reads the same configuration: for the commands that we tell a person to type.
    pub(super) fn program(&self) -> String {
        match &self.config {
            Some(file) => format!("oncebook --config {}", first::word(file)),
            None => "oncebook".to_owned(),
        }
    }
}

/// The effects of each enquiry, in the order they were planned.
async fn effects_of(reader: &Reader, enquiries: &[EnquiryView]) -> Result<Vec<Vec<EffectView>>, CliError> {
    let mut all = Vec::new();
    for enquiry in enquiries {
        let query = Query { limit: 1000, enquiry: Some(enquiry.id.clone()), ..Query::default() };
        let mut effects = reader.effects(&query).await?.items;
        effects.reverse();
        all.push(effects);
    }
    Ok(all)
}

fn listed(page: &PageView<EnquiryView>, effects: &[Vec<EffectView>], next: Option<&str>) -> Vec<String> {
    let room = room_for_contact(&page.items);
    let row = |(enquiry, effects): (&EnquiryView, &Vec<EffectView>)| {
        let mut became = vec![effects.iter().map(mark).collect::<Vec<_>>().join("  "), flags(&enquiry.flags).join(", ")];
        became.retain(|line| !line.is_empty());
        vec![minute(enquiry.accepted_at), enquiry.key.clone(), clipped(&who(enquiry), room), enquiry.state.to_owned(), became.join("\n")]
    };
    let header = ["when (UTC)", "key", "contact", "state", "what became of it"];
    let mut lines = table(0, 3, &header, page.items.iter().zip(effects).map(row).collect());
    lines.extend(next.map(|command| format!("\u{2026} and earlier ones: {command}")));
    lines
}

/// How wide the contact may be. An address that is broken in the middle reads as another one: it is cut, where the rest of
/// the page needs the room.
fn room_for_contact(items: &[EnquiryView]) -> usize {
    /// The instant, a state, two effects, and what stands between columns.
    const OTHERS: usize = 16 + 8 + 20 + 8;
    let key = items.iter().map(|enquiry| enquiry.key.chars().count()).max().unwrap_or_default();
    usize::from(WIDTH).saturating_sub(OTHERS + key.min(WHOLE_MAX)).clamp(12, 32)
}

/// The shortest that tells people apart.
fn who(enquiry: &EnquiryView) -> String {
    let contact = &enquiry.contact;
    let known = [&contact.email, &contact.phone, &contact.name, &contact.company].into_iter().find_map(Option::as_ref);
    known.cloned().unwrap_or_else(|| if enquiry.erased { "(erased)".to_owned() } else { "\u{2013}".to_owned() })
}

/// `deal ✓`; where it is not simply done, its state in a word.
pub(super) fn mark(effect: &EffectView) -> String {
    let again = if effect.ordinal == 0 { String::new() } else { format!("#{}", effect.ordinal) };
    let state = match effect.state {
        "done" | "verified" => "\u{2713}".to_owned(),
        "unverified" => "\u{2713} unverified".to_owned(),
        other => other.replace('_', "-"),
    };
    format!("{}{again} {state}", effect.action)
}

/// What a person should know about how it came in, a word each. Being held is told by the state and the effects, which
/// also tell when it is over.
pub(super) fn flags(flags: &FlagsView) -> Vec<&'static str> {
    let words = [
        (flags.look_alike_of.is_some(), "look-alike"),
        (flags.conflict_with.is_some(), "conflict"),
        (flags.ambiguous_time, "ambiguous time"),
        (!flags.ambiguous.is_empty(), "ambiguous"),
        (flags.weak_key, "weak key"),
        (flags.separated_from.is_some(), "separated"),
    ];
    words.into_iter().filter_map(|(holds, word)| holds.then_some(word)).collect()
}

#[cfg(test)]
mod tests;
