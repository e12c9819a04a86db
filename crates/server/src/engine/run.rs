//! The workers: places for at most so much work at a time, filled by what arrives and by a dispatcher that leases due work from
//! the book, oldest first; and the deterministic way, one piece after the other.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::enquiry::Enquiry;
use domain::time::UtcMs;
use store::{Error, Lease, Leases};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::Engine;

/// Looks for work that nobody announced (a lease that ran out) at least this often.
const IDLE_MS: i64 = 5_000;
/// Waits after the book could not be read.
const RETRY_MS: i64 = 1_000;

/// Room for one piece of work, kept for what is about to arrive.
pub struct Place {
    engine: Arc<Engine>,
    permit: Option<OwnedSemaphorePermit>,
    /// Until it is used or given back, a stop waits for it.
    _awaited: TaskTrackerToken,
}

impl Place {
    /// Until when the work that is done here is to be leased.
    pub fn until(&self) -> UtcMs {
        self.engine.leased_until()
    }

    /// Works on an enquiry that was leased as it was entered.
    pub fn work(mut self, lease: Lease<Enquiry>) {
        let engine = Arc::clone(&self.engine);
        if let Some(permit) = self.permit.take() {
            self.engine.at(permit, async move { engine.process(lease).await });
        }
    }
}

/// What arrived was nothing new: the place is somebody else's.
impl Drop for Place {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take() {
            drop(permit);
            self.engine.parts.wake.notify_one();
        }
    }
}

impl Engine {
    /// A free place for what arrives, so that it need not be asked for in the book. `None` while older work waits there, or
    /// nobody works.
    pub fn place(self: &Arc<Self>) -> Option<Place> {
        // Before the look at `waits`: whoever stops sets that first, and then sees this.
        let awaited = self.tasks.token();
        if self.waits.load(Ordering::SeqCst) {
            return None;
        }
        let permit = Arc::clone(&self.places).try_acquire_owned().ok()?;
        Some(Place { engine: Arc::clone(self), permit: Some(permit), _awaited: awaited })
    }

    /// Works until it is told to stop; then what was begun is finished (bounded by the targets' timeouts) and nothing new
    /// is begun.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        if self.parts.settings.workers == 0 {
            return stop.cancelled().await;
        }
        while !stop.is_cancelled() {
            let now = self.now();
            let wait = match self.take_up().await {
                Ok(next_due) => next_due.map_or(IDLE_MS, |due| due.since(now)).clamp(1, IDLE_MS),
                Err(error) => {
                    tracing::warn!(%error, "no work could be leased");
                    RETRY_MS
                }
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = self.parts.wake.notified() => {}
                () = self.parts.clock.sleep_until(now.plus(wait)) => {}
            }
        }
        self.waits.store(true, Ordering::SeqCst);
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Fills the free places with the oldest due work. Also says when there will be more.
    async fn take_up(self: &Arc<Self>) -> Result<Option<UtcMs>, Error> {
        let mut permits: Vec<_> = std::iter::from_fn(|| Arc::clone(&self.places).try_acquire_owned().ok()).collect();
        if permits.is_empty() {
            // Whoever is done looks again, before anything newer takes the place.
            self.waits.store(true, Ordering::SeqCst);
            return Ok(None);
        }
        let leases = self.lease(permits.len()).await?;
        let is_full = leases.enquiries.len() + leases.effects.len() == permits.len();
        self.waits.store(is_full, Ordering::SeqCst);
        let (enquiries, effects) = (leases.enquiries.into_iter(), leases.effects.into_iter());
        for (lease, permit) in enquiries.zip(std::iter::from_fn(|| permits.pop())) {
            let engine = Arc::clone(self);
            self.at(permit, async move { engine.process(lease).await });
        }
        for (lease, permit) in effects.zip(std::iter::from_fn(|| permits.pop())) {
            let engine = Arc::clone(self);
            self.at(permit, async move { engine.perform(lease).await });
        }
        Ok(leases.next_due)
    }

    async fn lease(&self, limit: usize) -> Result<Leases, Error> {
        let now = self.now();
        let mut leases = self.parts.store.lease_within(now, now.plus(self.lease_ms()), limit, &self.rooms()).await?;
        // What is due for a target that lets nobody in now is not said to be due.
        leases.next_due = leases.next_due.into_iter().chain(self.opens_next()).min();
        Ok(leases)
    }

    /// Does the work in its place; then the place is free, and somebody looks for what comes next.
    fn at(&self, permit: OwnedSemaphorePermit, work: impl Future<Output = ()> + Send + 'static) {
        let wake = Arc::clone(&self.parts.wake);
        self.tasks.spawn(async move {
            work.await;
            drop(permit);
            wake.notify_one();
        });
    }

    /// Does one piece of due work, here and now. `false`: none was due. With one thread, a seeded chance and a clock moved
    /// by hand, the same seed gives the same journal head.
    pub async fn work_once(&self) -> Result<bool, Error> {
        let mut leases = self.lease(1).await?;
        if let Some(lease) = leases.enquiries.pop() {
            self.process(lease).await;
            return Ok(true);
        }
        let Some(lease) = leases.effects.pop() else { return Ok(false) };
        self.perform(lease).await;
        Ok(true)
    }

    /// Works on an enquiry that was leased as it was entered, here and now: what a [`Place`] does on a task of its own.
    pub async fn work_on(&self, lease: Lease<Enquiry>) {
        self.process(lease).await;
    }

    /// Until when work that is begun now is to be leased.
    pub fn leased_until(&self) -> UtcMs {
        self.now().plus(self.lease_ms())
    }

    /// When the earliest work that is not due yet will be.
    pub async fn next_due(&self) -> Result<Option<UtcMs>, Error> {
        Ok(self.lease(0).await?.next_due)
    }
}

#[cfg(test)]
mod tests;
