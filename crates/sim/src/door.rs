//! The book as one life of a process sees it: the memory store, behind a door where calls take time, fail, lie, and where
//! the process may die before or after each.
//!
//! Several processes share one book: each has a stream's name of its own for its attempts, and nobody is known to be dead. A
//! process that is alone knows that the one before it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use domain::digest::{BookSecret, Digest};
use domain::gate::{Away, Effect};
use domain::ids::{EnquiryId, StreamId};
use domain::time::UtcMs;
use evidence::{Blob, Draft, Entry, Head};
use store::memory::Memory;
use store::{
    Arrival, Arrived, Ask, Case, Delivery, Dossier, EffectChange, Error, Leases, List, Page, Receipt, RuleVersion, Step, Store, TargetState,
};

use crate::chance::spread;
use crate::check::at_commit;
use crate::plan::AtCall;
use crate::world::{Life, World};

/// The door.
pub struct Door {
    /// The world.
    pub world: Arc<World>,
    /// Whose it is.
    pub of: Life,
    /// This process's name for its attempts.
    pub stream: StreamId,
    /// Whether it is alone at the book.
    pub is_alone: bool,
    /// The book.
    pub book: Arc<Memory>,
}

/// A call is made: its number, unless its process dies before.
pub async fn before_call(world: &World, of: Life) -> (u64, Option<AtCall>) {
    let (n, at) = world.call();
    let strikes = !world.state().is_calm && world.fate(&[9, n]) % 1_000 < world.plan.fates.crash;
    if at == Some(AtCall::CrashBefore) || strikes && n % 2 == 0 {
        die(world, of, n).await;
    }
    (n, if strikes { Some(AtCall::CrashAfter) } else { at })
}

/// A call was carried out: its process may die before it hears of it.
pub async fn after_call(world: &World, of: Life, n: u64, at: Option<AtCall>) {
    if at == Some(AtCall::CrashAfter) {
        die(world, of, n).await;
    }
    if !world.lives(of) {
        std::future::pending::<()>().await;
    }
}

async fn die(world: &World, of: Life, n: u64) {
    let down_ms = spread(world.fate(&[10, n]), 1, 5_000);
    if world.lives(of) {
        world.state().kill(of.node, down_ms);
    }
    std::future::pending::<()>().await;
}

impl Door {
    async fn pass<T: Send>(
        &self,
        verb: &'static str,
        writes: bool,
        act: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, Error> {
        let (n, at) = before_call(&self.world, self.of).await;
        let draw = |kind: u64| self.world.fate(&[11, n, kind]) % 1_000;
        let fates = &self.world.plan.fates;
        if draw(0) < fates.store_slow {
            self.linger(n, 0).await;
        }
        let (is_calm, is_full) = {
            let state = self.world.state();
            (state.is_calm, state.disk_full_until > state.now)
        };
        let full = || Error::Unavailable("the disk is full".to_owned());
        if writes && is_full || !is_calm && draw(1) < fates.store_fails {
            self.world.tell(|| format!("process {}: {verb} fails", self.of.node));
            return Err(full());
        }
        let done = act.await;
        if writes {
            self.world.tell(|| {
                format!("process {}: {verb} {}", self.of.node, done.as_ref().map_or_else(ToString::to_string, |_| "ok".to_owned()))
            });
        }
        after_call(&self.world, self.of, n, at).await;
        if done.is_ok() && writes {
            self.world.kick();
        }
        if draw(2) < fates.store_slow {
            self.linger(n, 1).await;
        }
        let lies = at == Some(AtCall::Repeat) || !is_calm && draw(3) < fates.store_lies;
        if writes && lies && done.is_ok() {
            self.world.tell(|| format!("process {}: {verb} is said to have failed", self.of.node));
            return Err(full());
        }
        done
    }

    async fn leased(&self, now: UtcMs, until: UtcMs, limit: usize, rooms: &BTreeMap<String, usize>) -> Result<Leases, Error> {
        let leases = self.book.lease_within(now, until, limit, rooms).await?;
        let enquiries = leases.enquiries.iter().map(|lease| (lease.what.id.as_str(), lease.fence));
        let effects = leases.effects.iter().map(|lease| (lease.what.id.as_str(), lease.fence));
        let mut state = self.world.state();
        enquiries.chain(effects).for_each(|(id, fence)| state.leased(id, fence));
        Ok(leases)
    }

    async fn committed(&self, step: Step) -> Result<(), Error> {
        let (changed, is_silent) = (changed(&step), step.entries.is_empty());
        let is_workers = |change: &&EffectChange| change.fence.is_some() || change.version.is_none();
        let effects: Vec<Effect> = step.effects.iter().filter(is_workers).map(|change| change.effect.clone()).collect();
        self.book.commit(step).await?;
        let mut state = self.world.state();
        for effect in &effects {
            at_commit(&mut state, effect);
            if is_silent {
                state.committed_silently(effect.id.as_str());
            }
        }
        for (id, version, fence) in changed {
            state.committed(&id, version, fence);
        }
        Ok(())
    }

    async fn accepted(&self, arrival: Arrival) -> Result<Receipt, Error> {
        let receipt = self.book.accept(arrival).await?;
        let mut state = self.world.state();
        receipt.taken.iter().for_each(|lease| state.leased(lease.what.id.as_str(), lease.fence));
        Ok(receipt)
    }

    /// A call takes its time; now and then a long one.
    async fn linger(&self, n: u64, kind: u64) {
        let draw = self.world.fate(&[12, n, kind]);
        let longest = match draw % 64 {
            0 => 100_000,
            1..4 => 3_000,
            _ => 10,
        };
        self.world.wait(Some(self.of), spread(draw, 0, longest)).await;
        if !self.world.lives(self.of) {
            std::future::pending::<()>().await;
        }
    }
}

/// What a step changes: the id, the version that it was decided on, and the fence that it was done under.
fn changed(step: &Step) -> Vec<(String, Option<u64>, Option<u64>)> {
    let enquiries = step.enquiries.iter().map(|change| (change.enquiry.id.to_string(), Some(change.version), change.fence));
    let effects = step.effects.iter().map(|change| (change.effect.id.to_string(), change.version, change.fence));
    enquiries.chain(effects).collect()
}

#[async_trait]
impl Store for Door {
    fn stream(&self) -> &StreamId {
        &self.stream
    }

    fn secret(&self) -> &BookSecret {
        self.book.secret()
    }

    fn dead_since(&self, process: &StreamId) -> Option<UtcMs> {
        if self.is_alone { self.book.dead_since(process) } else { None }
    }

    async fn accept(&self, arrival: Arrival) -> Result<Receipt, Error> {
        self.pass("accept", true, self.accepted(arrival)).await
    }

    async fn refuse(&self, delivery: Delivery, body: Blob, keep: u32, oldest: UtcMs) -> Result<(), Error> {
        self.pass("refuse", true, self.book.refuse(delivery, body, keep, oldest)).await
    }

    fn restored_at(&self) -> Option<UtcMs> {
        self.book.restored_at()
    }

    async fn lease(&self, now: UtcMs, until: UtcMs, limit: usize) -> Result<Leases, Error> {
        self.lease_within(now, until, limit, &BTreeMap::new()).await
    }

    async fn lease_within(&self, now: UtcMs, until: UtcMs, limit: usize, rooms: &BTreeMap<String, usize>) -> Result<Leases, Error> {
        let leases = self.pass("lease", false, self.leased(now, until, limit, rooms)).await?;
        if !leases.enquiries.is_empty() || !leases.effects.is_empty() {
            self.world.kick();
        }
        Ok(leases)
    }

    async fn away(&self) -> Result<BTreeMap<String, Away>, Error> {
        self.pass("away", false, self.book.away()).await
    }

    async fn kept(&self, name: &str) -> Result<Option<String>, Error> {
        self.pass("kept", false, self.book.kept(name)).await
    }

    async fn kept_under(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<(String, String)>, Error> {
        self.pass("kept_under", false, self.book.kept_under(prefix, after, limit)).await
    }

    async fn commit(&self, step: Step) -> Result<(), Error> {
        let words: Vec<&str> = step.entries.iter().map(|entry| entry.kind.as_str()).collect();
        self.world.tell(|| format!("process {}: commits {}", self.of.node, words.join(", ")));
        self.pass("commit", true, self.committed(step)).await
    }

    async fn case(&self, id: &EnquiryId) -> Result<Option<Case>, Error> {
        self.pass("case", false, self.book.case(id)).await
    }

    async fn dossier(&self, id: &EnquiryId) -> Result<Option<Dossier>, Error> {
        self.pass("dossier", false, self.book.dossier(id)).await
    }

    async fn resolve(&self, name: &str) -> Result<Vec<EnquiryId>, Error> {
        self.pass("resolve", false, self.book.resolve(name)).await
    }

    async fn page(&self, list: List, ask: Ask) -> Result<Page, Error> {
        self.pass("page", false, self.book.page(list, ask)).await
    }

    async fn blob(&self, digest: &Digest, of: Option<&EnquiryId>) -> Result<Option<Blob>, Error> {
        self.pass("blob", false, self.book.blob(digest, of)).await
    }

    async fn delivery(&self, id: &str) -> Result<Option<Arrived>, Error> {
        self.pass("delivery", false, self.book.delivery(id)).await
    }

    async fn journal_after(&self, after: Option<(StreamId, u64)>, limit: usize) -> Result<Vec<Entry>, Error> {
        self.pass("journal_after", false, self.book.journal_after(after, limit)).await
    }

    async fn note(&self, drafts: Vec<Draft>) -> Result<Head, Error> {
        self.pass("note", true, self.book.note(drafts)).await
    }

    async fn rules(&self, source: &str) -> Result<Vec<RuleVersion>, Error> {
        self.pass("rules", false, self.book.rules(source)).await
    }

    async fn adopt_rule(&self, source: &str, rule: String, draft: Draft) -> Result<(), Error> {
        self.pass("adopt_rule", true, self.book.adopt_rule(source, rule, draft)).await
    }

    async fn targets(&self) -> Result<Vec<TargetState>, Error> {
        self.pass("targets", false, self.book.targets()).await
    }

    async fn prune(&self, before: UtcMs, now: UtcMs) -> Result<u64, Error> {
        self.pass("prune", true, self.book.prune(before, now)).await
    }

    async fn ping(&self) -> Result<(), Error> {
        self.pass("ping", true, self.book.ping()).await
    }
}
