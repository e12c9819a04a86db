//! What a person orders: decisions, replays, pausing. Carried out here where the book is free, else by the server that
//! holds it, through its API. Here only the order itself is carried out; what follows from it is a server's work.

use std::io::Write;
use std::sync::Arc;

use clap::Args;
use domain::time::UtcMs;
use serde_json::{Value, json};
use store::Store;

use super::client::Server;
use super::names::{nothing_called, source_ids};
use super::order::{self, Order};
use super::review::not_open;
use super::table::{print, print_json};
use super::{CliError, Common, Ended, environment, outside, read};
use crate::app::{App, StartError};
use crate::config::Config;
use crate::engine::Refused;
use crate::views::{DossierView, Reader, Viewer};

/// Who orders it.
#[derive(Args)]
pub(super) struct By {
    /// Your name in the journal; the USER variable if it is not given
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

/// Options of `replay`.
#[derive(Args)]
pub(super) struct ReplayArgs {
    /// An enquiry by any of its names, or a delivery that was quarantined or refused
    name: String,
    #[command(flatten)]
    by: By,
}

/// Options of `pause`.
#[derive(Args)]
pub(super) struct PauseArgs {
    /// The target's name
    target: String,
    /// Why nothing is to be sent to it
    #[arg(long, value_name = "TEXT", default_value = "paused by a person")]
    reason: String,
    #[command(flatten)]
    by: By,
}

/// Options of `resume`.
#[derive(Args)]
pub(super) struct ResumeArgs {
    /// The target's name
    target: String,
    #[command(flatten)]
    by: By,
}

/// How an order was carried out.
struct Done {
    /// The server that did it; none if it was done here.
    server: Option<String>,
    /// What there is to say beside that it was done.
    answer: Value,
}

pub(super) async fn replay(common: &Common, args: &ReplayArgs, out: &mut dyn Write) -> Result<Ended, CliError> {
    let config = common.config()?;
    let store = read::book(&config)?;
    let order = what_to_replay(common, &config, &store, &args.name).await?;
    drop(store);
    carry_out(common, &order, &args.by, out).await
}

pub(super) async fn pause(common: &Common, args: &PauseArgs, out: &mut dyn Write) -> Result<Ended, CliError> {
    let order = Order::Pause { target: args.target.clone(), reason: args.reason.clone() };
    carry_out(common, &order, &args.by, out).await
}

pub(super) async fn resume(common: &Common, args: &ResumeArgs, out: &mut dyn Write) -> Result<Ended, CliError> {
    carry_out(common, &Order::Resume { target: args.target.clone() }, &args.by, out).await
}

/// Carries an order out and says what became of it.
pub(super) async fn carry_out(common: &Common, order: &Order, by: &By, out: &mut dyn Write) -> Result<Ended, CliError> {
    let config = common.config()?;
    let by = by.name()?;
    let outside = outside()?;
    refuse_unknown(&config, order, common, outside.clock.now()).await?;
    let done = match Box::pin(App::open(config.clone(), outside)).await {
        Ok(app) => Done { server: None, answer: here(&app, order, &by).await? },
        Err(StartError::Store(store::Error::Refused(held))) => {
            let server = Server::running(&config, &held)?;
            Done { answer: server.post(&order.path(), &order.body(&by)).await?, server: Some(server.url()) }
        }
        Err(error) => return Err(error.into()),
    };
    if common.json {
        let through = done.server.as_deref().unwrap_or("book");
        print_json(out, &json!({"done": order.done(&done.answer), "by": by, "through": through, "answer": done.answer}))?;
    } else {
        let mut lines: Vec<String> = order.done(&done.answer).lines().map(str::to_owned).collect();
        lines.extend(order.next(done.server.as_deref(), &done.answer, &common.program()));
        print(out, &lines)?;
    }
    // Read again and still not understood, be it one item of many: done as ordered, and there is something wrong to be found.
    Ok(if order::quarantined(&done.answer).0 > 0 { Ended::Found } else { Ended::Well })
}

/// An enquiry is replayed by any name; a delivery of which nothing was understood is read again.
async fn what_to_replay(common: &Common, config: &Config, store: &Arc<dyn Store>, name: &str) -> Result<Order, CliError> {
    let is_open = |item: &store::Delivery| matches!(item.verdict, store::Verdict::Quarantined | store::Verdict::Refused);
    let arrived = store.delivery(name).await?;
    if arrived.as_ref().is_some_and(|arrived| arrived.items.iter().any(is_open)) {
        return Ok(Order::ReadAgain { delivery: name.to_owned() });
    }
    let found = Reader::new(Arc::clone(store)).called(&source_ids(config), name, outside()?.clock.now()).await?;
    let found: Vec<&str> = found.iter().map(|dossier| dossier.enquiry.id.as_str()).collect();
    match (found.as_slice(), arrived.as_ref().and_then(|arrived| arrived.items.first())) {
        ([only], _) => Ok(Order::Replay { enquiry: (*only).to_owned() }),
        ([], Some(item)) => {
            let verdict = item.verdict.as_str();
            Err(CliError::Said(format!("{name} was taken as '{verdict}': there is no enquiry to replay, and nothing to read again")))
        }
        ([], None) => Err(nothing_called(config, name, &common.program())),
        (several, _) => {
            let ids = several.join(", ");
            Err(CliError::Said(format!("{name} leads to {} enquiries: replay the one that you mean ({ids})", several.len())))
        }
    }
}

/// Says what there is instead, before a book is opened or a server is asked: both only know that it is not there.
async fn refuse_unknown(config: &Config, order: &Order, common: &Common, now: UtcMs) -> Result<(), CliError> {
    match order {
        Order::Decide { item, .. } => {
            let found = Reader::new(read::book(config)?).show(item, now).await?;
            let found = found.iter().flat_map(|dossier| &dossier.reviews).find(|review| review.id == *item);
            match found {
                Some(open) if open.closed_at.is_none() => Ok(()),
                other => Err(not_open(item, other, &common.program())),
            }
        }
        Order::Pause { target, .. } | Order::Resume { target } if config.target(target).is_none() => {
            let known = config.targets.iter().map(|target| target.name.as_str()).collect::<Vec<_>>().join(", ");
            Err(CliError::Said(format!("there is no target '{target}': the configuration has {known}")))
        }
        _ => read::must_exist(config),
    }
}

/// Carries it out over the book that is open here, and answers what the API would: the record as the book then has it.
/// The engine does not run: nothing is sent.
async fn here(app: &App, order: &Order, by: &str) -> Result<Value, CliError> {
    let engine = &app.engine;
    match order {
        Order::Decide { item, decision } => {
            engine.decide(item, decision, by).await.map_err(refused)?;
            let reviews = dossier(app, item).await?.map(|dossier| dossier.reviews).unwrap_or_default();
            Ok(json!(reviews.into_iter().find(|review| review.id == *item)))
        }
        Order::Separate { delivery } => read_again(app, delivery, by, true).await,
        Order::ReadAgain { delivery } => read_again(app, delivery, by, false).await,
        Order::Replay { enquiry } => {
            let id = domain::ids::EnquiryId::parse(enquiry).ok_or_else(|| nothing_called(&app.config, enquiry, "oncebook"))?;
            engine.replay(&id, by).await.map_err(refused)?;
            Ok(json!(dossier(app, enquiry).await?.map(|dossier| dossier.enquiry)))
        }
        Order::Pause { target, reason } => {
            engine.set_paused(target, Some(reason.clone()), by).await.map_err(refused)?;
            Ok(json!({"name": target, "state": "paused", "why": reason}))
        }
        Order::Resume { target } => {
            engine.set_paused(target, None, by).await.map_err(refused)?;
            Ok(json!({"name": target, "state": "open", "why": null}))
        }
    }
}

async fn dossier(app: &App, name: &str) -> Result<Option<DossierView>, CliError> {
    Ok(Reader::new(Arc::clone(&app.store)).show(name, app.clock.now()).await?.into_iter().next())
}

async fn read_again(app: &App, delivery: &str, by: &str, as_separate: bool) -> Result<Value, CliError> {
    let answer = app.intake.replay(delivery, by, as_separate).await;
    Ok(answer.map_err(|why| CliError::Said(format!("{delivery}: {why}")))?.json())
}

fn refused(refused: Refused) -> CliError {
    match refused {
        Refused::Store(store::Error::Conflict(_)) => CliError::Said("somebody else was first: look again, then decide".to_owned()),
        Refused::Store(error) => error.into(),
        refused @ (Refused::Unknown(_) | Refused::DoesNotFit(_)) => CliError::Said(refused.to_string()),
    }
}

impl By {
    /// The name that the journal gets. It is kept for good, so an address is refused; a login that is one is not taken.
    fn name(&self) -> Result<String, CliError> {
        let named = |name: &str| Viewer::default().acting_as(Some(name));
        match &self.by {
            Some(name) => named(name).map_err(|why| CliError::Said(format!("--{why}"))),
            None => Ok(environment("USER")
                .filter(|user| !user.trim().is_empty())
                .and_then(|user| named(&user).ok())
                .unwrap_or("cli".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_the_journal_is_no_address() {
        assert_eq!(By { by: Some("jo".to_owned()) }.name().unwrap(), "jo");
        let refused = By { by: Some("jo@example.com".to_owned()) }.name().unwrap_err();
        assert!(refused.to_string().contains("by"), "{refused}");
        assert!(!By { by: None }.name().unwrap().is_empty());
    }

    #[test]
    fn a_lost_race_is_no_fault_of_the_book() {
        let said = refused(Refused::Store(store::Error::Conflict("the version"))).to_string();
        assert!(said.contains("look again"), "{said}");
    }
}
