//! The oracle: the same contract on ordered maps behind one mutex. What it answers is what every engine has to answer.
//!
//! Here is a process's hold on a book: [`Memory::restart`] begins the next process over the same book, and the one before
//! is dead from then on. `book`, `commit` and `read` are what the book does.

mod book;
mod commit;
mod read;
mod table;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use domain::digest::{BookSecret, Digest};
use domain::gate::Away;
use domain::ids::{EnquiryId, StreamId};
use domain::time::UtcMs;
use evidence::{Blob, Draft, Entry, Head};

use self::book::Book;
use crate::error::Error;
use crate::model::{Arrival, Arrived, Ask, Case, Delivery, Dossier, Leases, List, Page, Receipt, RuleVersion, Step, TargetState};
use crate::sound;

/// A book in memory, as one process start holds it.
pub struct Memory {
    book: Arc<Mutex<Book>>,
    stream: StreamId,
    started_at: UtcMs,
    secret: BookSecret,
}

impl Memory {
    /// An empty book, and its first process start.
    pub fn new(now: UtcMs, stream: StreamId, secret: [u8; 32]) -> Self {
        Self::begin(Arc::default(), now, stream, BookSecret::new(secret))
    }

    /// A new process start over the same book: every lease is over, and a new stream begins with the last one's head. This
    /// process is dead: what it still asks for is answered [`Error::Unavailable`].
    #[must_use]
    pub fn restart(&self, now: UtcMs, stream: StreamId) -> Self {
        Self::begin(Arc::clone(&self.book), now, stream, self.secret.clone())
    }

    fn begin(book: Arc<Mutex<Book>>, now: UtcMs, stream: StreamId, secret: BookSecret) -> Self {
        book.lock().unwrap_or_else(PoisonError::into_inner).begin(now, stream.clone());
        Self { book, stream, started_at: now, secret }
    }

    fn with<R>(&self, verb: impl FnOnce(&mut Book) -> Result<R, Error>) -> Result<R, Error> {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        if book.streams.last() != Some(&self.stream) {
            return Err(Error::Unavailable("this process is dead".to_owned()));
        }
        verb(&mut book)
    }
}

#[async_trait]
impl crate::Store for Memory {
    fn stream(&self) -> &StreamId {
        &self.stream
    }

    fn secret(&self) -> &BookSecret {
        &self.secret
    }

    fn dead_since(&self, process: &StreamId) -> Option<UtcMs> {
        (*process != self.stream).then_some(self.started_at)
    }

    async fn accept(&self, arrival: Arrival) -> Result<Receipt, Error> {
        let files = sound::arrival(&arrival);
        self.with(|book| book.accept(arrival, &files))
    }

    async fn refuse(&self, delivery: Delivery, body: Blob, keep: u32, oldest: UtcMs) -> Result<(), Error> {
        self.with(|book| book.refuse(delivery, body, keep, oldest))
    }

    async fn lease(&self, now: UtcMs, until: UtcMs, limit: usize) -> Result<Leases, Error> {
        sound::lease(now, until);
        self.with(|book| Ok(book.lease(now, until, limit, &BTreeMap::new())))
    }

    async fn lease_within(&self, now: UtcMs, until: UtcMs, limit: usize, rooms: &BTreeMap<String, usize>) -> Result<Leases, Error> {
        sound::lease(now, until);
        self.with(|book| Ok(book.lease(now, until, limit, rooms)))
    }

    async fn away(&self) -> Result<BTreeMap<String, Away>, Error> {
        self.with(|book| Ok(book.away.clone()))
    }

    async fn kept(&self, name: &str) -> Result<Option<String>, Error> {
        self.with(|book| Ok(book.kept.get(name).cloned()))
    }

    async fn kept_under(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<(String, String)>, Error> {
        self.with(|book| {
            let fits = |(name, _): &(&String, &String)| name.starts_with(prefix) && after.is_none_or(|after| name.as_str() > after);
            Ok(book.kept.iter().filter(fits).take(limit).map(|(name, what)| (name.clone(), what.clone())).collect())
        })
    }

    async fn commit(&self, step: Step) -> Result<(), Error> {
        sound::step(&step);
        self.with(|book| book.commit(step))
    }

    async fn case(&self, id: &EnquiryId) -> Result<Option<Case>, Error> {
        self.with(|book| Ok(book.case(id)))
    }

    async fn dossier(&self, id: &EnquiryId) -> Result<Option<Dossier>, Error> {
        self.with(|book| Ok(book.dossier(id)))
    }

    async fn resolve(&self, name: &str) -> Result<Vec<EnquiryId>, Error> {
        self.with(|book| Ok(book.resolve(name)))
    }

    async fn page(&self, list: List, ask: Ask) -> Result<Page, Error> {
        self.with(|book| book.page(list, &ask))
    }

    async fn blob(&self, digest: &Digest, of: Option<&EnquiryId>) -> Result<Option<Blob>, Error> {
        self.with(|book| Ok(book.blob(digest, of)))
    }

    async fn delivery(&self, id: &str) -> Result<Option<Arrived>, Error> {
        self.with(|book| Ok(book.delivery(id)))
    }

    async fn journal_after(&self, after: Option<(StreamId, u64)>, limit: usize) -> Result<Vec<Entry>, Error> {
        self.with(|book| book.journal_after(after.as_ref(), limit))
    }

    async fn note(&self, drafts: Vec<Draft>) -> Result<Head, Error> {
        self.with(|book| {
            drafts.iter().filter_map(|draft| draft.enquiry.as_ref()).try_for_each(|id| book.find(id))?;
            for draft in drafts {
                book.append(draft);
            }
            let Some(head) = &book.head else { unreachable!("a book has begun its stream before anything else") };
            Ok(head.clone())
        })
    }

    async fn rules(&self, source: &str) -> Result<Vec<RuleVersion>, Error> {
        self.with(|book| Ok(book.rules.get(source).cloned().unwrap_or_default()))
    }

    async fn adopt_rule(&self, source: &str, rule: String, draft: Draft) -> Result<(), Error> {
        self.with(|book| {
            book.adopt_rule(source, rule, draft);
            Ok(())
        })
    }

    async fn targets(&self) -> Result<Vec<TargetState>, Error> {
        self.with(|book| Ok(book.targets.values().cloned().collect()))
    }

    async fn prune(&self, before: UtcMs, now: UtcMs) -> Result<u64, Error> {
        self.with(|book| Ok(book.prune(before, now)))
    }

    async fn ping(&self) -> Result<(), Error> {
        self.with(|_| Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store as _;

    #[tokio::test]
    async fn a_dead_process_neither_reads_nor_writes() {
        let stream = |name| StreamId::parse(name).unwrap();
        let dead = Memory::new(UtcMs(0), stream("str_1"), [7; 32]);
        let alive = dead.restart(UtcMs(1), stream("str_2"));
        assert!(matches!(dead.note(vec![]).await, Err(Error::Unavailable(_))));
        assert!(matches!(dead.targets().await, Err(Error::Unavailable(_))));
        assert_eq!(alive.note(vec![]).await.unwrap().seq, 1);
    }
}
