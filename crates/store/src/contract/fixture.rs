//! What cases are made of: arrivals, effects and steps, with ids and times that a reader can follow.

use domain::digest::Digest;
use domain::enquiry::{Fields, Note, Standing};
use domain::gate::{Attempt, Attempted, Effect, Phase, StepKind};
use domain::identity::{Basis, Candidate, Key};
use domain::ids::{DeliveryId, EnquiryId, ReviewId, RunId, StreamId};
use domain::time::UtcMs;
use evidence::{Blob, Draft, Facts, Report, Walk};

use crate::model::{Arrival, Delivery, EffectChange, EnquiryChange, Item, Lease, Leases, Proposal, Review, ReviewKind, Step, Verdict};
use crate::{Error, Store};

/// The time of the first process start.
pub(crate) const T0: UtcMs = UtcMs(1_772_442_904_120);
/// The windows of weak keys and of look-alikes.
pub(crate) const WINDOW: i64 = 600_000;

pub(crate) fn at(ms: i64) -> UtcMs {
    T0.plus(ms)
}

pub(crate) fn key(id: &str) -> Key {
    Key::new("web", Basis::Submission, vec![id.to_owned()])
}

pub(crate) fn blob(name: &str, text: &str) -> Blob {
    Blob { nonce: *Digest::sha256(name.as_bytes()).as_bytes(), bytes: text.as_bytes().to_vec() }
}

/// One delivery to be, told step by step.
#[derive(Clone)]
pub(crate) struct Post {
    delivery: String,
    body: String,
    at: UtcMs,
    by: Option<String>,
    pub(crate) proposal: Proposal,
}

/// Delivery `dlv_{delivery}` brings `body` under the submission id `id`, at `T0`.
pub(crate) fn post(delivery: &str, id: &str, body: &str) -> Post {
    let mut fields = Fields::default();
    fields.set("message", body);
    let candidate = Candidate {
        keys: vec![key(id)],
        contents: vec![Digest::sha256(body.as_bytes())],
        look_alike: None,
        at: T0,
        content_window_ms: WINDOW,
        look_alike_window_ms: WINDOW,
    };
    let proposal = Proposal {
        candidate,
        fields,
        notes: vec![],
        client: None,
        ambiguous_time: false,
        ambiguous: vec![],
        hold_look_alikes: true,
        run: RunId::parse(&format!("run_{delivery}")).unwrap(),
        separate: false,
    };
    Post { delivery: delivery.to_owned(), body: body.to_owned(), at: T0, by: None, proposal }
}

impl Post {
    pub(crate) fn at(mut self, ms: i64) -> Self {
        self.at = at(ms);
        self.proposal.candidate.at = self.at;
        self
    }

    /// It has no id: its key is its content.
    pub(crate) fn weak(mut self) -> Self {
        let content = self.proposal.candidate.contents[0].to_string();
        self.proposal.candidate.keys = vec![Key::new("web", Basis::Content, vec![content])];
        self
    }

    /// It may be a look-alike of others with the same body.
    pub(crate) fn alike(mut self) -> Self {
        self.proposal.candidate.look_alike = Some(Digest::sha256(format!("alike {}", self.body).as_bytes()));
        self
    }

    /// An earlier rule gives it this key.
    pub(crate) fn once(mut self, key: Key) -> Self {
        self.proposal.candidate.keys.push(key);
        self
    }

    pub(crate) fn separate(mut self, by: &str) -> Self {
        self.proposal.separate = true;
        self.by = Some(by.to_owned());
        self
    }

    pub(crate) fn noted(mut self) -> Self {
        self.proposal.notes.push(Note { field: "contact.email".to_owned(), how: "lower-cased".to_owned() });
        self
    }

    pub(crate) fn item(&self) -> Item {
        Item::Enquiry(Box::new(self.proposal.clone()))
    }

    pub(crate) fn arrival(&self) -> Arrival {
        let body = blob(&self.delivery, &self.body);
        let delivery = delivery(&self.delivery, self.at, &body);
        Arrival { delivery, body, files: vec![], items: vec![self.item()], by: self.by.clone(), undoes: None, take_until: None }
    }

    /// The same delivery with other items.
    pub(crate) fn batch(&self, items: Vec<Item>) -> Arrival {
        Arrival { items, ..self.arrival() }
    }
}

pub(crate) fn aside(verdict: Verdict, reason: &str) -> Item {
    Item::Aside { verdict, reason: reason.to_owned() }
}

pub(crate) fn delivery(id: &str, at: UtcMs, body: &Blob) -> Delivery {
    Delivery {
        id: DeliveryId::parse(&format!("dlv_{id}")).unwrap(),
        item: 0,
        source: "web".to_owned(),
        at,
        remote: Some("192.0.2.1".to_owned()),
        request_id: Some(format!("req-{id}")),
        attempt: None,
        content_type: Some("application/json".to_owned()),
        content_encoding: None,
        header_digest: Digest::sha256(b"headers"),
        body_sha256: Digest::sha256(&body.bytes),
        body: body.digest(),
        body_len: u64::try_from(body.bytes.len()).unwrap(),
        repairs: std::collections::BTreeMap::new(),
        verdict: Verdict::Ignored,
        reason: None,
        enquiry: None,
        key: None,
        duplicate_suppressed: false,
        weak: false,
        first_run: None,
        first_delivery: None,
        first_at: None,
    }
}

/// Delivers it; the record of its only item.
pub(crate) async fn accept(store: &dyn Store, post: Post) -> Delivery {
    let mut items = store.accept(post.arrival()).await.unwrap().items;
    assert_eq!(items.len(), 1);
    items.remove(0)
}

/// Enters an enquiry; its id.
pub(crate) async fn enter(store: &dyn Store, post: Post) -> EnquiryId {
    accept(store, post).await.enquiry.unwrap()
}

pub(crate) async fn lease(store: &dyn Store, ms: i64, limit: usize) -> Leases {
    store.lease(at(ms), at(ms + 1_000), limit).await.unwrap()
}

pub(crate) fn effect(key: &Key, action: &str, due: UtcMs) -> Effect {
    Effect::planned(key, action, "crm", 0, &[StepKind::Record], due)
}

pub(crate) fn intended(mut effect: Effect, fence: u64, process: &StreamId, now: UtcMs) -> Effect {
    let step = &mut effect.steps[0];
    let n = step.latest() + 1;
    let process = process.clone();
    step.attempts.push(Attempt { n, begun_at: now, deadline: now.plus(5_000), fence, process, outcome: Attempted::Open });
    step.phase = Phase::Intended;
    effect
}

pub(crate) fn verified(mut effect: Effect, id: &str) -> Effect {
    effect.steps[0].phase = Phase::Verified { id: id.to_owned(), audit_due: None };
    effect
}

pub(crate) fn plan(effect: Effect) -> EffectChange {
    EffectChange { effect, version: None, fence: None, keep_lease: false, take_until: None, lock: None }
}

/// A change under a lease, which ends with it.
pub(crate) fn moved(lease: &Lease<Effect>, effect: Effect) -> EffectChange {
    EffectChange { effect, version: Some(lease.version), fence: Some(lease.fence), keep_lease: false, take_until: None, lock: None }
}

pub(crate) fn effects(effects: Vec<EffectChange>) -> Step {
    Step { at: T0, effects, ..Step::default() }
}

pub(crate) fn draft(kind: &str, enquiry: Option<&EnquiryId>) -> Draft {
    Draft { at: T0, enquiry: enquiry.cloned(), kind: kind.to_owned(), actor: "test".to_owned(), facts: Facts::new(), blobs: vec![] }
}

pub(crate) fn review(id: &str, enquiry: &EnquiryId) -> Review {
    Review {
        id: ReviewId::parse(&format!("rev_{id}")).unwrap(),
        enquiry: enquiry.clone(),
        effect: None,
        kind: ReviewKind::Qualification,
        holds: true,
        why: "because".to_owned(),
        attempt: 0,
        opened_at: T0,
        closed_at: None,
        decision: None,
    }
}

/// Gives an enquiry another standing, as a person would.
pub(crate) async fn stand(store: &dyn Store, id: &EnquiryId, standing: Standing) -> Result<(), Error> {
    let dossier = store.dossier(id).await.unwrap().unwrap();
    let mut enquiry = dossier.enquiry;
    enquiry.standing = standing;
    let change = EnquiryChange { enquiry, version: dossier.version, fence: None, due: None, keep_lease: false };
    store.commit(Step { at: T0, enquiries: vec![change], ..Step::default() }).await
}

/// The journal, walked in small pieces with every blob that it names.
pub(crate) async fn walk(store: &dyn Store) -> Report {
    let mut walk = Walk::new(vec![]);
    let mut after = None;
    loop {
        let entries = store.journal_after(after, 3).await.unwrap();
        let Some(last) = entries.last() else { return walk.finish() };
        after = Some((last.stream.clone(), last.seq));
        for entry in &entries {
            walk.entry(entry);
            for digest in &entry.blobs {
                walk.blob(*digest, store.blob(digest, entry.enquiry.as_ref()).await.unwrap().as_ref());
            }
        }
    }
}

pub(crate) async fn assert_whole(store: &dyn Store) -> Report {
    let report = walk(store).await;
    assert!(report.is_whole(), "{:?}", report.faults);
    report
}
