//! The book cannot be written for a moment, or does not say whether it was: no answer of the model is lost or asked for
//! twice, and nothing is sent twice.
//!
//! The book is the one in memory, behind a door that fails as the test says. A book of `SQLite` that somebody else has locked
//! is `bad_input.rs`'s.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain::digest::{BookSecret, Digest};
use domain::ids::{EnquiryId, StreamId};
use domain::time::{SeededEntropy, UtcMs};
use evidence::{Blob, Draft, Entry, Head};
use serde_json::json;
use store::memory::Memory;
use store::{Arrival, Arrived, Ask, Case, Delivery, Dossier, Error, Leases, List, Page, Receipt, RuleVersion, Step, Store, TargetState};
use world::crm::{self, Crm};
use world::model::{Model, Say};
use world::{BEGIN, HOUR, World};

const KEY: &str = "web:submission:1";

/// What becomes of one commit that holds an answer of the model.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Nothing is written.
    Down,
    /// It is written, and nobody is told.
    Untold,
    /// Somebody else was first; nothing is written.
    Overtaken,
}
use Fault::{Down, Overtaken, Untold};

/// A book whose commits of a model's answer fail so, in this order; everything else goes well.
struct Door {
    book: Memory,
    faults: Mutex<Vec<Fault>>,
}

impl Door {
    fn new() -> Arc<Self> {
        let book = Memory::new(BEGIN, StreamId::draw(BEGIN, &SeededEntropy::new(7)), [7; 32]);
        Arc::new(Self { book, faults: Mutex::default() })
    }

    fn fail(&self, faults: &[Fault]) {
        *self.faults.lock().unwrap() = faults.iter().rev().copied().collect();
    }
}

#[async_trait]
impl Store for Door {
    fn stream(&self) -> &StreamId {
        self.book.stream()
    }
    fn secret(&self) -> &BookSecret {
        self.book.secret()
    }
    fn dead_since(&self, process: &StreamId) -> Option<UtcMs> {
        self.book.dead_since(process)
    }
    async fn accept(&self, arrival: Arrival) -> Result<Receipt, Error> {
        self.book.accept(arrival).await
    }
    async fn refuse(&self, delivery: Delivery, body: Blob, keep: u32, oldest: UtcMs) -> Result<(), Error> {
        self.book.refuse(delivery, body, keep, oldest).await
    }
    async fn lease(&self, now: UtcMs, until: UtcMs, limit: usize) -> Result<Leases, Error> {
        self.book.lease(now, until, limit).await
    }
    async fn commit(&self, step: Step) -> Result<(), Error> {
        let holds_answer = step.entries.iter().any(|entry| matches!(entry.kind.as_str(), "enquiry.qualified" | "enquiry.not_qualified"));
        let fault = if holds_answer { self.faults.lock().unwrap().pop() } else { None };
        match fault {
            None => return self.book.commit(step).await,
            Some(Overtaken) => return Err(Error::Conflict("somebody was first")),
            Some(Down) => {}
            Some(Untold) => drop(self.book.commit(step).await),
        }
        Err(Error::Unavailable("the disk is away".to_owned()))
    }
    async fn case(&self, id: &EnquiryId) -> Result<Option<Case>, Error> {
        self.book.case(id).await
    }
    async fn dossier(&self, id: &EnquiryId) -> Result<Option<Dossier>, Error> {
        self.book.dossier(id).await
    }
    async fn resolve(&self, name: &str) -> Result<Vec<EnquiryId>, Error> {
        self.book.resolve(name).await
    }
    async fn page(&self, list: List, ask: Ask) -> Result<Page, Error> {
        self.book.page(list, ask).await
    }
    async fn blob(&self, digest: &Digest, of: Option<&EnquiryId>) -> Result<Option<Blob>, Error> {
        self.book.blob(digest, of).await
    }
    async fn delivery(&self, id: &str) -> Result<Option<Arrived>, Error> {
        self.book.delivery(id).await
    }
    async fn journal_after(&self, after: Option<(StreamId, u64)>, limit: usize) -> Result<Vec<Entry>, Error> {
        self.book.journal_after(after, limit).await
    }
    async fn note(&self, drafts: Vec<Draft>) -> Result<Head, Error> {
        self.book.note(drafts).await
    }
    async fn rules(&self, source: &str) -> Result<Vec<RuleVersion>, Error> {
        self.book.rules(source).await
    }
    async fn adopt_rule(&self, source: &str, rule: String, draft: Draft) -> Result<(), Error> {
        self.book.adopt_rule(source, rule, draft).await
    }
    async fn targets(&self) -> Result<Vec<TargetState>, Error> {
        self.book.targets().await
    }
    async fn prune(&self, before: UtcMs, now: UtcMs) -> Result<u64, Error> {
        self.book.prune(before, now).await
    }
    async fn ping(&self) -> Result<(), Error> {
        self.book.ping().await
    }
}

fn answer(summary: &str) -> Say {
    let contact = json!({"email": null, "phone": null, "name": null, "company": null});
    let answer = json!({
        "request_type": "quote", "priority": "normal", "summary": summary, "qualified": true, "confidence": 0.82, "budget": null,
        "contact": contact, "reply_draft": null,
    });
    Say::Content(answer.to_string())
}

/// One enquiry whose commits fail so from here on, with a CRM where every POST makes a record.
async fn one(model: &Model, crm: &Crm, faults: &[Fault]) -> (World, Arc<Door>) {
    let door = Door::new();
    let config = format!("{}{}", crm::config(crm.address, Some("strong"), ""), model.config(""));
    let world = World::over(&config, Arc::<Door>::clone(&door)).await;
    door.fail(faults);
    world.post("web", &json!({"submission_id": "1", "email": "avery@example.com", "message": "We need 40 chairs"}).to_string()).await;
    world.work_for(HOUR).await;
    (world, door)
}

/// The kinds of the entries about the model's answers, in order; what each speaks of is in the book.
async fn answers(world: &World) -> Vec<String> {
    world.verify().await;
    let entries = world.dossier(KEY).await.entries.into_iter();
    entries.map(|entry| entry.kind).filter(|kind| kind.starts_with("enquiry.") && kind.ends_with("qualified")).collect()
}

#[tokio::test]
async fn a_moments_outage_loses_no_answer_of_the_model_and_sends_nothing_twice() {
    for faults in [vec![], vec![Down], vec![Untold], vec![Down, Untold], vec![Down, Down, Down], vec![Down; 20]] {
        let (model, crm) = (Model::open(vec![], answer("40 chairs")).await, Crm::open().await);
        let (world, door) = one(&model, &crm, &faults).await;
        assert!(door.faults.lock().unwrap().is_empty(), "{faults:?}: all of it was met");
        assert_eq!((model.asked().len(), answers(&world).await), (1, vec!["enquiry.qualified".to_owned()]), "{faults:?}");
        assert_eq!((crm.posts(), crm.records().len(), world.states(KEY).await), (1, 1, vec!["deal=verified".to_owned()]), "{faults:?}");
        assert_eq!(world.app.engine.next_due().await.unwrap(), None, "{faults:?}");
    }
}

/// The same for a try that failed, whose next one is in the book.
#[tokio::test]
async fn a_moments_outage_counts_no_try_twice() {
    for faults in [vec![Down], vec![Untold], vec![Untold, Down], vec![Down, Untold, Down]] {
        let script = vec![Say::Status(503, "", "{}".to_owned())];
        let (model, crm) = (Model::open(script, answer("40 chairs")).await, Crm::open().await);
        let (world, _) = one(&model, &crm, &faults).await;
        let both = ["enquiry.not_qualified".to_owned(), "enquiry.qualified".to_owned()];
        assert_eq!((model.asked().len(), answers(&world).await), (2, both.to_vec()), "{faults:?}");
        assert_eq!((crm.posts(), world.states(KEY).await), (1, vec!["deal=verified".to_owned()]), "{faults:?}");
    }
}

/// A book that stays away for longer costs a question, and never a second record.
#[tokio::test]
async fn a_long_outage_is_waited_out_by_the_lease() {
    let (model, crm) = (Model::open(vec![], answer("40 chairs")).await, Crm::open().await);
    let (world, _) = one(&model, &crm, &[Down; 30]).await;
    assert_eq!((model.asked().len(), answers(&world).await.len()), (2, 1));
    assert_eq!((crm.posts(), world.states(KEY).await), (1, vec!["deal=verified".to_owned()]));
}

/// A plan that was overtaken is made anew, and what its answer was is on record beside the new one.
#[tokio::test]
async fn an_overtaken_plans_answer_is_kept_as_evidence() {
    for faults in [vec![Overtaken], vec![Down, Overtaken], vec![Overtaken, Down], vec![Overtaken, Untold]] {
        let (model, crm) = (Model::open(vec![], answer("40 chairs")).await, Crm::open().await);
        let (world, _) = one(&model, &crm, &faults).await;
        assert_eq!((model.asked().len(), answers(&world).await.len()), (2, 2), "{faults:?}");
        assert_eq!((crm.posts(), world.states(KEY).await), (1, vec!["deal=verified".to_owned()]), "{faults:?}");
    }
}

/// A later run's answer is decided on the enquiry as it stands: if that says that it was overtaken, it may be by itself.
#[tokio::test]
async fn a_later_runs_answer_is_kept_once_though_its_commit_is_not_told() {
    for faults in [vec![Down], vec![Untold], vec![Down, Untold]] {
        let (model, crm) = (Model::open(vec![answer("40 chairs")], answer("forty chairs")).await, Crm::open().await);
        let (world, door) = one(&model, &crm, &[]).await;
        door.fail(&faults);
        world.app.engine.replay(&world.dossier(KEY).await.enquiry.id, "anna").await.unwrap();
        world.work_for(HOUR).await;
        assert_eq!((model.asked().len(), answers(&world).await.len()), (2, 2), "{faults:?}");
        assert_eq!(world.dossier(KEY).await.enquiry.qualification.unwrap().summary, "forty chairs");
        assert_eq!((crm.posts(), crm.records().len()), (1, 1));
    }
}
