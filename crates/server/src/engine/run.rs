//! The workers: a dispatcher that leases due work and hands it to at most so many at a time; and the deterministic way, one
//! piece after the other.

use std::sync::Arc;

use store::{Error, Leases};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Engine;

/// Looks for work that nobody announced (a lease that ran out) at least this often.
const IDLE_MS: i64 = 5_000;
/// Waits after the book could not be read.
const RETRY_MS: i64 = 1_000;

impl Engine {
    /// Works until it is told to stop; then what was begun is finished (bounded by the targets' timeouts) and nothing new
    /// is begun.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        if self.parts.settings.workers == 0 {
            return stop.cancelled().await;
        }
        let tasks = TaskTracker::new();
        let places = Arc::new(Semaphore::new(self.parts.settings.workers));
        while !stop.is_cancelled() {
            let free = places.available_permits();
            let now = self.now();
            let wait = match self.lease(free).await {
                Ok(leases) => {
                    let next_due = leases.next_due;
                    self.hand_out(leases, &tasks, &places);
                    next_due.map_or(IDLE_MS, |due| due.since(now)).clamp(1, IDLE_MS)
                }
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
        tasks.close();
        tasks.wait().await;
    }

    async fn lease(&self, limit: usize) -> Result<Leases, Error> {
        if limit == 0 {
            return Ok(Leases::default());
        }
        let now = self.now();
        self.parts.store.lease(now, now.plus(self.lease_ms()), limit).await
    }

    fn hand_out(self: &Arc<Self>, leases: Leases, tasks: &TaskTracker, places: &Arc<Semaphore>) {
        for lease in leases.enquiries {
            let engine = Arc::clone(self);
            self.hand_out_one(tasks, places, async move { engine.process(lease).await });
        }
        for lease in leases.effects {
            let engine = Arc::clone(self);
            self.hand_out_one(tasks, places, async move { engine.perform(lease).await });
        }
    }

    fn hand_out_one(&self, tasks: &TaskTracker, places: &Arc<Semaphore>, work: impl Future<Output = ()> + Send + 'static) {
        // No more was leased than places were free, and only this loop takes them.
        let Ok(place) = Arc::clone(places).try_acquire_owned() else { unreachable!("a place was counted free") };
        let wake = Arc::clone(&self.parts.wake);
        tasks.spawn(async move {
            work.await;
            drop(place);
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

    /// When the earliest work that is not due yet will be.
    pub async fn next_due(&self) -> Result<Option<domain::time::UtcMs>, Error> {
        let now = self.now();
        Ok(self.parts.store.lease(now, now.plus(1), 0).await?.next_due)
    }
}
