//! Random sequences of verbs on two engines side by side: equal answers, and in the end equal books with equal journals.

use std::fmt::Debug;

use domain::enquiry::Standing;
use domain::gate::Effect;
use domain::identity::{Basis, Key};
use domain::ids::EnquiryId;
use domain::time::UtcMs;
use proptest::collection::vec;
use proptest::prelude::*;

use super::fixture::{Post, T0, aside, assert_whole, blob, delivery, draft, effect, intended, key, moved, plan, post, review, verified};
use super::ops::{Op, op};
use super::{Dir, stream};
use crate::memory::Memory;
use crate::model::{Ask, EffectChange, EnquiryChange, Item, Lease, List, Step, TargetState, Verdict};
use crate::sqlite::Sqlite;
use crate::{Error, Store};

/// Two books, and what whoever uses them would remember.
struct Pair {
    dir: Dir,
    sqlite: Option<Sqlite>,
    memory: Memory,
    starts: u32,
    now: UtcMs,
    arrivals: u32,
    /// The last arrival that was partly set aside.
    aside: Option<crate::Arrival>,
    effects: Vec<Lease<Effect>>,
    enquiries: Vec<Lease<domain::enquiry::Enquiry>>,
    cursors: [Option<String>; 5],
}

impl Pair {
    fn new() -> Self {
        let dir = Dir::new();
        let sqlite = Some(Sqlite::open(dir.options(1, T0)).unwrap());
        let memory = Memory::new(T0, stream(1), [7; 32]);
        let (effects, enquiries, cursors) = (Vec::new(), Vec::new(), [const { None }; 5]);
        Self { dir, sqlite, memory, starts: 1, now: T0, arrivals: 0, aside: None, effects, enquiries, cursors }
    }

    /// Asks both, and takes the answer if it is one.
    async fn both<R: Debug>(&self, verb: impl AsyncFn(&dyn Store) -> Result<R, Error>) -> Result<R, Error> {
        let (one, other) = (verb(self.sqlite.as_ref().unwrap()).await, verb(&self.memory).await);
        assert_eq!(format!("{one:#?}"), format!("{other:#?}"));
        one
    }

    async fn commit(&self, step: Step) {
        drop(self.both(async |store| store.commit(step.clone()).await).await);
    }

    async fn run(&mut self, op: Op) {
        self.now = self.now.plus(70_000);
        match op {
            Op::Accept { id, body, kind, separate } => {
                let post = self.post(id, body, kind);
                let post = if separate { post.separate("ada") } else { post };
                let take_until = (body == 2).then_some(self.now.plus(100_000));
                let arrival = crate::Arrival { take_until, ..post.arrival() };
                let receipt = self.both(async |store| store.accept(arrival.clone()).await).await;
                self.enquiries.extend(receipt.into_iter().flat_map(|receipt| receipt.taken));
            }
            Op::Batch { items } => self.batch(&items).await,
            Op::Release { id, several } => self.release(id, several).await,
            Op::Repeat => {
                self.arrivals = self.arrivals.saturating_sub(1);
                let arrival = self.post(0, 0, 0).arrival();
                drop(self.both(async |store| store.accept(arrival.clone()).await).await);
            }
            Op::Refuse { source, keep, age } => self.refuse(source, keep, age).await,
            Op::Lease { limit, span } => {
                let (now, until) = (self.now, self.now.plus(span));
                let leases = self.both(async |store| store.lease(now, until, limit).await).await.unwrap();
                self.effects.extend(leases.effects);
                self.enquiries.extend(leases.enquiries);
            }
            Op::Attempt { pick, how, lock, keep } => self.attempt(pick, how, lock, keep).await,
            Op::Qualify { pick, due, fence, keep } => self.qualify(pick, due, fence, keep).await,
            Op::Plan { id, action, due } => {
                let effect = effect(&some_key(id), &format!("action {action}"), self.now.plus(due));
                let take_until = (due % 3 == 0).then_some(self.now.plus(due + 1));
                let change = EffectChange { take_until, ..plan(effect) };
                self.commit(Step { at: self.now, effects: vec![change], entries: self.drafts(1), ..Step::default() }).await;
            }
            Op::Stand { id, standing } => self.stand(id, standing).await,
            Op::Review { n, id, closes } => {
                let closed_at = closes.then_some(self.now);
                let review = crate::Review { closed_at, ..review(&n.to_string(), &some_key(id).enquiry_id()) };
                self.commit(Step { reviews: vec![review], entries: self.drafts(1), ..Step::default() }).await;
            }
            other => self.run_rest(other).await,
        }
    }

    async fn run_rest(&mut self, op: Op) {
        match op {
            Op::Rule { source } => {
                let (source, draft) = (if source { "web" } else { "ads" }, self.drafts(1).remove(0));
                self.both(async |store| store.adopt_rule(source, "a rule".to_owned(), draft.clone()).await).await.unwrap();
                self.both(async |store| store.rules(source).await).await.unwrap();
            }
            Op::Target { n } => {
                let target = TargetState { name: n.to_string(), paused: Some((self.now, "401".to_owned())) };
                self.commit(Step { targets: vec![target], ..Step::default() }).await;
            }
            Op::Note { count } => {
                let drafts = self.drafts(count);
                drop(self.both(async |store| store.note(drafts.clone()).await).await);
            }
            Op::Prune { age } => {
                let now = self.now;
                self.both(async |store| store.prune(now.plus(-age), now).await).await.unwrap();
            }
            Op::Page { list, limit, filter, onward } => self.page(list, limit, filter, onward).await,
            Op::Name { n } => self.name(n).await,
            Op::Restart => {
                self.starts += 1;
                self.sqlite = None;
                self.sqlite = Some(Sqlite::open(self.dir.options(self.starts, self.now)).unwrap());
                self.memory = self.memory.restart(self.now, stream(self.starts));
            }
            other => unreachable!("{other:?} is run above"),
        }
    }

    fn drafts(&self, count: u8) -> Vec<evidence::Draft> {
        (0..count).map(|n| evidence::Draft { at: self.now, ..draft("noted", (n > 0).then(|| key("0").enquiry_id()).as_ref()) }).collect()
    }

    /// The next delivery: plain, without an id, perhaps a look-alike, or with a key under an earlier rule too.
    fn post(&mut self, id: u8, body: u8, kind: u8) -> Post {
        self.arrivals += 1;
        let post = post(&self.arrivals.to_string(), &id.to_string(), &format!("body {body}")).at(self.now.since(T0));
        match kind {
            0 => post,
            1 => post.weak(),
            2 => post.alike(),
            _ => {
                let weak = post.clone().weak().proposal.candidate.keys.remove(0);
                post.once(weak)
            }
        }
    }

    async fn batch(&mut self, items: &[(u8, u8)]) {
        let whole = self.post(0, 0, 0);
        let mut all: Vec<Item> =
            items.iter().map(|(id, body)| post("in a batch", &id.to_string(), &format!("body {body}")).item()).collect();
        let verdict = if items.len() == 2 { Verdict::Quarantined } else { Verdict::Test };
        all.insert(items.len() / 2, aside(verdict, "why"));
        // The whole of it is one item in quarantine, or one of several is.
        let arrival = whole.batch(if items.len() == 1 { vec![aside(Verdict::Quarantined, "why")] } else { all });
        drop(self.both(async |store| store.accept(arrival.clone()).await).await);
        self.aside = Some(arrival);
    }

    /// A person lets in what was set aside, with the body that is kept.
    async fn release(&mut self, id: u8, several: bool) {
        let Some(kept) = self.aside.clone() else { return };
        let digest = kept.delivery.body;
        let post = self.post(id, 1, 0);
        if self.both(async |store| store.blob(&digest, None).await).await.unwrap().is_none() {
            return;
        }
        let mut items = vec![post.item()];
        if several {
            items.extend([aside(Verdict::Ignored, "read before"), aside(Verdict::Quarantined, "why")]);
        }
        let delivery = crate::Delivery { id: post.arrival().delivery.id, at: self.now, ..kept.delivery.clone() };
        let arrival = crate::Arrival { delivery, items, by: Some("ada".to_owned()), ..kept };
        drop(self.both(async |store| store.accept(arrival.clone()).await).await);
    }

    async fn refuse(&mut self, source: bool, keep: u32, age: i64) {
        self.arrivals += 1;
        let body = blob(&self.arrivals.to_string(), "refused");
        let source = if source { "web" } else { "ads" }.to_owned();
        let delivery = crate::Delivery { source, ..delivery(&format!("r{}", self.arrivals), self.now, &body) };
        let oldest = self.now.plus(-age);
        self.both(async |store| store.refuse(delivery.clone(), body.clone(), keep, oldest).await).await.unwrap();
        let id = format!("dlv_r{}", self.arrivals - 1);
        self.both(async |store| store.delivery(&id).await).await.unwrap();
    }

    /// A worker goes on under some lease that was once given, or a person acts (`how` 3).
    async fn attempt(&mut self, pick: u8, how: u8, lock: Option<u8>, keep_lease: bool) {
        if self.effects.is_empty() {
            return;
        }
        let lease = &self.effects[usize::from(pick) % self.effects.len()];
        let what = lease.what.clone();
        let effect = match how {
            0 => intended(what, lease.fence, self.memory.stream(), self.now),
            1 => verified(what, &format!("D-{}", pick % 3)),
            _ => effect(&some_key(pick % 4), &what.action, self.now.plus(i64::from(pick) * 1_000)),
        };
        let effect = Effect { id: lease.what.id.clone(), enquiry: lease.what.enquiry.clone(), ..effect };
        let lock = lock.map(|n| format!("crm/{n}"));
        let change = EffectChange { keep_lease, lock, ..moved(lease, effect) };
        let change = if how == 3 { EffectChange { fence: None, ..change } } else { change };
        let enquiry = Some(change.effect.enquiry.clone());
        let answer = blob(&format!("answer {:?}", self.now), "answer");
        let mut entries = self.drafts(2);
        entries[0].blobs.push(answer.digest());
        entries[0].enquiry.clone_from(&enquiry);
        let step = Step { at: self.now, effects: vec![change], blobs: vec![(enquiry, answer)], entries, ..Step::default() };
        self.commit(step).await;
    }

    async fn qualify(&mut self, pick: u8, due: Option<i64>, fence: bool, keep_lease: bool) {
        if self.enquiries.is_empty() {
            return;
        }
        let lease = &self.enquiries[usize::from(pick) % self.enquiries.len()];
        let enquiry = domain::enquiry::Enquiry { standing: Standing::Working, ..lease.what.clone() };
        let due = due.map(|ms| self.now.plus(ms));
        let change = EnquiryChange { enquiry, version: lease.version, fence: fence.then_some(lease.fence), due, keep_lease };
        self.commit(Step { at: self.now, enquiries: vec![change], entries: self.drafts(2), ..Step::default() }).await;
    }

    async fn stand(&mut self, id: u8, standing: u8) {
        let id = some_key(id).enquiry_id();
        let dossier = self.both(async |store| store.dossier(&id).await).await.unwrap();
        let Some(dossier) = dossier else { return };
        let mut enquiry = dossier.enquiry;
        enquiry.standing = [Standing::Settled, Standing::Merged, Standing::Review, Standing::Working][usize::from(standing)];
        let change = EnquiryChange { enquiry, version: dossier.version, fence: None, due: None, keep_lease: false };
        self.commit(Step { enquiries: vec![change], ..Step::default() }).await;
    }

    async fn page(&mut self, list: u8, limit: usize, filter: u8, onward: bool) {
        let n = usize::from(list);
        let list = LISTS[n];
        let mut ask = Ask { limit, ..Ask::default() };
        match filter {
            0 => ask.source = Some("web".to_owned()),
            1 => ask.state = Some(["accepted", "redelivery", "planned", "closed", "x"][n].to_owned()),
            2 => ask.enquiry = Some(key("0").enquiry_id()),
            _ => {}
        }
        ask.cursor = self.cursors[n].clone().filter(|_| onward);
        self.cursors[n] = self.both(async |store| store.page(list, ask.clone()).await).await.unwrap().next;
    }

    async fn name(&mut self, n: u8) {
        let key = some_key(n % 4).with_variant(u32::from(n / 12) + 1);
        let name = match n % 8 {
            0 => key.to_string(),
            1 => key.outgoing(2),
            2 => key.enquiry_id().as_str().to_owned(),
            3 => format!("dlv_{n}"),
            4 => format!("rev_{n}"),
            5 => key.effect_id("action 0", 0).as_str().to_owned(),
            6 => format!("D-{}", n % 3),
            _ => "nothing".to_owned(),
        };
        self.both(async |store| store.resolve(&name).await).await.unwrap();
        self.both(async |store| store.delivery(&name).await).await.unwrap();
    }

    /// Everything there is, in both.
    async fn compare(&self) {
        for list in LISTS {
            self.both(async |store| store.page(list, Ask { limit: 1000, ..Ask::default() }).await).await.unwrap();
        }
        let entries = self.both(async |store| store.journal_after(None, 10_000).await).await.unwrap();
        for (digest, of) in entries.iter().flat_map(|entry| entry.blobs.iter().map(|digest| (digest, entry.enquiry.as_ref()))) {
            self.both(async |store| store.blob(digest, of).await).await.unwrap();
            self.both(async |store| store.blob(digest, None).await).await.unwrap();
            self.both(async |store| store.blob(digest, Some(&key("1").enquiry_id())).await).await.unwrap();
        }
        let mut ids: Vec<EnquiryId> = entries.into_iter().filter_map(|entry| entry.enquiry).collect();
        ids.sort();
        ids.dedup();
        for id in ids {
            self.both(async |store| store.dossier(&id).await).await.unwrap();
        }
        self.both(async |store| store.targets().await).await.unwrap();
        self.both(async |store| store.note(vec![]).await).await.unwrap();
        assert_whole(&self.memory).await;
        assert_whole(self.sqlite.as_ref().unwrap()).await;
    }
}

const LISTS: [List; 5] = [List::Enquiries, List::Deliveries, List::Effects, List::Reviews, List::Journal];

/// Keys with an id, and one without.
fn some_key(n: u8) -> Key {
    if n == 3 {
        post("-", "-", "body 0").weak().proposal.candidate.keys.remove(0)
    } else {
        Key::new("web", Basis::Submission, vec![n.to_string()])
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sqlite_answers_what_the_oracle_answers(ops in vec(op(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut pair = Pair::new();
            // Much of what follows is filed under this one.
            pair.run(Op::Accept { id: 0, body: 0, kind: 0, separate: false }).await;
            for op in ops {
                pair.run(op).await;
            }
            pair.compare().await;
        });
    }
}
