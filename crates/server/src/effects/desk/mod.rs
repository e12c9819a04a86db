//! The target `desk`: the embedded CRM, reached through the same protocol as any other.
//!
//! It refuses a second deal with our key and a second contact with one address, so every step is *unique* and nothing has
//! to settle. Here are the steps, their rendering and their comparison; [`book`] is its `SQLite` file. An existing contact
//! is adopted: writing it is a conflict, and only the link step fills the fields that stand empty in it.

mod book;
mod records;
mod rendered;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use domain::enquiry::Fields;
use domain::gate::{Find, StepKind};
use domain::time::{Clock, UtcMs};
use serde_json::Value as Json;
use tokio::sync::Semaphore;

use self::book::{Book, Put};
use super::{Call, Found, Outcome, ReadBack, Report, Target};
use crate::stops::Stops;

pub use self::records::{Contact, Deal};
use self::rendered::Rendered;

/// A local file answers at once or not at all.
const TIMEOUT_MS: i64 = 5_000;

/// What a desk is made of.
pub struct DeskParams {
    /// Its `SQLite` file; made if it is not there.
    pub path: PathBuf,
    /// Deadlines are measured against it, and records are dated by it.
    pub clock: Arc<dyn Clock>,
    /// Places for drills: `desk.before-commit` and `desk.after-commit`, in the record step.
    pub stops: Arc<Stops>,
}

/// The embedded CRM. Clones share one connection.
#[derive(Clone)]
pub struct Desk {
    inner: Arc<Inner>,
}

struct Inner {
    book: Mutex<Book>,
    /// Who waits for the one connection holds no thread.
    place: Arc<Semaphore>,
    clock: Arc<dyn Clock>,
}

impl Desk {
    /// Opens the file, or makes it.
    pub fn open(params: DeskParams) -> Result<Self, String> {
        let book = Book::open(&params.path, params.stops)?;
        Ok(Self { inner: Arc::new(Inner { book: Mutex::new(book), place: Arc::new(Semaphore::new(1)), clock: params.clock }) })
    }

    /// The deals after this id, oldest first, at most `limit`; only that of one key, if one is given.
    pub async fn deals(&self, key: Option<&str>, after: i64, limit: u32) -> Result<Vec<Deal>, String> {
        let key = key.map(str::to_owned);
        self.ask(move |inner| inner.book(|book| book.deals(key.as_deref(), after, limit))).await
    }

    /// The contacts after this id, oldest first, at most `limit`.
    pub async fn contacts(&self, after: i64, limit: u32) -> Result<Vec<Contact>, String> {
        self.ask(move |inner| inner.book(|book| book.contacts(after, limit))).await
    }

    /// `SQLite` blocks, so it is asked off the runtime's threads.
    async fn ask<T: Send + 'static>(&self, work: impl FnOnce(&Inner) -> Result<T, String> + Send + 'static) -> Result<T, String> {
        let inner = Arc::clone(&self.inner);
        let place = Arc::clone(&inner.place).acquire_owned().await.map_err(|e| e.to_string())?;
        let asked = move || {
            let answer = work(&inner);
            drop(place);
            answer
        };
        tokio::task::spawn_blocking(asked).await.map_err(|e| format!("the desk's thread ended: {e}"))?
    }
}

#[async_trait]
impl Target for Desk {
    fn kind(&self) -> &'static str {
        "desk"
    }

    fn steps(&self, fields: &Fields) -> Vec<StepKind> {
        if fields.contact.email.is_some() || fields.contact.phone.is_some() {
            vec![StepKind::Contact, StepKind::Record, StepKind::Link]
        } else {
            vec![StepKind::Record]
        }
    }

    fn find(&self, _: StepKind) -> Find {
        Find::Unique
    }

    fn reads(&self, _: StepKind) -> bool {
        true
    }

    fn settle_ms(&self) -> i64 {
        0
    }

    fn timeout_ms(&self) -> i64 {
        TIMEOUT_MS
    }

    fn render(&self, key: &str, scene: &Json) -> Result<Vec<u8>, String> {
        serde_json::to_vec(&Rendered::of(key, scene)).map_err(|e| e.to_string())
    }

    async fn write(&self, call: &Call) -> Report<Outcome> {
        let call = call.clone();
        let put = self.ask(move |inner| inner.write(&call)).await;
        Report::bare(match put {
            Ok(Put::Made(id)) => Outcome::Applied(id),
            Ok(Put::Taken) => Outcome::Conflict,
            Ok(Put::NotDone(why)) => Outcome::NotSent { why, retry_after_ms: None },
            Err(why) => Outcome::Unknown(why),
        })
    }

    async fn look_up(&self, call: &Call) -> Report<Found> {
        let call = call.clone();
        Report::bare(match self.ask(move |inner| inner.look_up(&call)).await {
            Ok(Some(id)) => Found::Records(vec![id]),
            Ok(None) => Found::Absent,
            Err(why) => Found::Unanswered { why, retry_after_ms: None },
        })
    }

    async fn read_back(&self, call: &Call, id: &str) -> Report<ReadBack> {
        let (call, id) = (call.clone(), id.to_owned());
        Report::bare(self.ask(move |inner| inner.read_back(&call, &id)).await.unwrap_or_else(ReadBack::Failed))
    }
}

impl Inner {
    fn book<T>(&self, work: impl FnOnce(&mut Book) -> Result<T, String>) -> Result<T, String> {
        // A panic within left no open transaction: rusqlite rolls back when one is dropped.
        work(&mut self.book.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, call: &Call) -> Result<Put, String> {
        let rendered = match (rendered(call), self.in_time(call.deadline)) {
            (Ok(rendered), Ok(())) => rendered,
            (Err(why), _) | (_, Err(why)) => return Ok(Put::NotDone(why)),
        };
        // Asked again once the file is ours to write: another process may have held it.
        let in_time = || self.in_time(call.deadline);
        let now = self.clock.now();
        self.book(|book| match (call.step, &rendered.contact) {
            (StepKind::Record, _) => book.put_deal(&call.key, &rendered.deal, call.contact_id.as_deref(), now, in_time),
            (StepKind::Contact, Some(person)) => book.put_contact(person, now, in_time),
            (StepKind::Link, Some(person)) => match (&call.record_id, &call.contact_id) {
                (Some(deal), Some(contact)) => book.put_link(deal, contact, person, in_time),
                _ => Ok(Put::NotDone("a link needs a deal and a contact".to_owned())),
            },
            (StepKind::Contact | StepKind::Link, None) => Ok(Put::NotDone("the enquiry names no contact".to_owned())),
            (StepKind::Message, _) => Ok(Put::NotDone("the desk sends no messages".to_owned())),
        })
    }

    fn look_up(&self, call: &Call) -> Result<Option<String>, String> {
        let rendered = rendered(call)?;
        self.book(|book| match (call.step, &rendered.contact) {
            (StepKind::Record, _) => book.deal_of(&call.key),
            (StepKind::Contact, Some(person)) => book.contact_of(&person.address),
            (StepKind::Link, Some(person)) => book.link_of(&call.key, &person.address),
            (StepKind::Contact | StepKind::Link, None) => Err("the enquiry names no contact".to_owned()),
            (StepKind::Message, _) => Err("the desk sends no messages".to_owned()),
        })
    }

    fn read_back(&self, call: &Call, id: &str) -> Result<ReadBack, String> {
        let rendered = rendered(call)?;
        let found = match call.step {
            StepKind::Record => {
                let Some(deal) = self.book(|book| book.deal(id))? else { return Ok(ReadBack::Gone) };
                return Ok(compared(&[
                    ("key", deal.key == call.key),
                    ("title", deal.title == rendered.deal.title),
                    ("message", deal.message == rendered.deal.message),
                ]));
            }
            StepKind::Contact => {
                let Some(contact) = self.book(|book| book.contact(id))? else { return Ok(ReadBack::Gone) };
                return Ok(compared(&[("address", rendered.contact.is_some_and(|person| person.address == contact.address))]));
            }
            StepKind::Link | StepKind::Message => self.look_up(call)?,
        };
        Ok(match found {
            Some(found) => compared(&[("id", found == id)]),
            None => ReadBack::Gone,
        })
    }

    fn in_time(&self, deadline: UtcMs) -> Result<(), String> {
        if self.clock.now() < deadline { Ok(()) } else { Err("the deadline had passed before the write".to_owned()) }
    }
}

fn rendered(call: &Call) -> Result<Rendered, String> {
    serde_json::from_slice(&call.rendered).map_err(|_| "what was rendered is no deal of the desk".to_owned())
}

/// Names of what differs, no values.
fn compared(fields: &[(&str, bool)]) -> ReadBack {
    let names: Vec<&str> = fields.iter().filter(|(_, equal)| !equal).map(|&(name, _)| name).collect();
    if names.is_empty() { ReadBack::Same } else { ReadBack::Differs(names.join(", ")) }
}
