//! A book that answers every write with "not now", and a clock that stands: what intake does is all there is to see.

use std::sync::Mutex;

use async_trait::async_trait;
use domain::digest::{BookSecret, Digest};
use domain::ids::{EnquiryId, StreamId};
use domain::time::{Clock, Later, UtcMs};
use evidence::{Blob, Draft, Entry, Head};
use store::{Arrival, Arrived, Ask, Delivery, Dossier, Error, Leases, List, Page, Receipt, RuleVersion, Step, Store, TargetState};

use super::NOW;

/// A book that is shut. What it kept before can still be read.
pub(in super::super) struct Shut {
    pub(super) stream: StreamId,
    pub(super) secret: BookSecret,
    pub(super) kept: Option<Arrived>,
    /// What it was asked to enter.
    pub(super) asked: Mutex<Vec<Arrival>>,
    /// What it was asked to keep in a ring.
    pub(super) refused: Mutex<Vec<(Delivery, Blob)>>,
}

fn shut<T>() -> Result<T, Error> {
    Err(Error::Unavailable("shut".to_owned()))
}

#[async_trait]
impl Store for Shut {
    fn stream(&self) -> &StreamId {
        &self.stream
    }
    fn secret(&self) -> &BookSecret {
        &self.secret
    }
    fn dead_since(&self, _: &StreamId) -> Option<UtcMs> {
        None
    }
    async fn accept(&self, arrival: Arrival) -> Result<Receipt, Error> {
        self.asked.lock().unwrap().push(arrival);
        shut()
    }
    async fn refuse(&self, delivery: Delivery, body: Blob, keep: u32, oldest: UtcMs) -> Result<(), Error> {
        assert_eq!((keep, oldest), (100, NOW.plus(-7 * 86_400_000)));
        self.refused.lock().unwrap().push((delivery, body));
        shut()
    }
    async fn lease(&self, _: UtcMs, _: UtcMs, _: usize) -> Result<Leases, Error> {
        shut()
    }
    async fn commit(&self, _: Step) -> Result<(), Error> {
        shut()
    }
    async fn case(&self, _: &EnquiryId) -> Result<Option<store::Case>, Error> {
        shut()
    }

    async fn dossier(&self, _: &EnquiryId) -> Result<Option<Dossier>, Error> {
        shut()
    }
    async fn resolve(&self, _: &str) -> Result<Vec<EnquiryId>, Error> {
        shut()
    }
    async fn page(&self, _: List, _: Ask) -> Result<Page, Error> {
        shut()
    }
    async fn blob(&self, _: &Digest, _: Option<&EnquiryId>) -> Result<Option<Blob>, Error> {
        shut()
    }
    async fn delivery(&self, id: &str) -> Result<Option<Arrived>, Error> {
        Ok(self.kept.clone().filter(|kept| kept.items.iter().any(|item| item.id.as_str() == id)))
    }
    async fn journal_after(&self, _: Option<(StreamId, u64)>, _: usize) -> Result<Vec<Entry>, Error> {
        shut()
    }
    async fn note(&self, _: Vec<Draft>) -> Result<Head, Error> {
        shut()
    }
    async fn rules(&self, _: &str) -> Result<Vec<RuleVersion>, Error> {
        shut()
    }
    async fn adopt_rule(&self, _: &str, _: String, _: Draft) -> Result<(), Error> {
        shut()
    }
    async fn targets(&self) -> Result<Vec<TargetState>, Error> {
        shut()
    }
    async fn prune(&self, _: UtcMs, _: UtcMs) -> Result<u64, Error> {
        shut()
    }
    async fn ping(&self) -> Result<(), Error> {
        shut()
    }
}

/// A clock that stands.
pub(super) struct At(pub(super) UtcMs);

impl Clock for At {
    fn now(&self) -> UtcMs {
        self.0
    }
    fn sleep_until(&self, _: UtcMs) -> Later<'_> {
        Box::pin(std::future::pending())
    }
}
