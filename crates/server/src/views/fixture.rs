//! A real book in a directory of its own, and a clock that stands: what the tests of views, API and console are built on.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::digest::Digest;
use domain::enquiry::Fields;
use domain::identity::{Basis, Candidate, Key};
use domain::ids::{DeliveryId, RunId, StreamId};
use domain::time::{Clock, Entropy as _, Later, SeededEntropy, UtcMs};
use evidence::Blob;
use store::sqlite::{Options, Sqlite};
use store::{Arrival, Delivery, Item, Proposal, Store, Verdict};

/// When the tests play: 2026-03-02T09:15:04.120Z.
pub(crate) const NOW: UtcMs = UtcMs(1_772_442_904_120);

static BOOKS: AtomicU32 = AtomicU32::new(0);

/// A clock that stands at [`NOW`]; whoever sleeps wakes at once.
pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> UtcMs {
        NOW
    }

    fn sleep_until(&self, _: UtcMs) -> Later<'_> {
        Box::pin(std::future::ready(()))
    }
}

/// A book, removed with its directory when it is dropped.
pub(crate) struct Book {
    pub(crate) store: Arc<dyn Store>,
    entropy: SeededEntropy,
    dir: PathBuf,
}

impl Drop for Book {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.dir));
    }
}

impl Book {
    pub(crate) fn open() -> Self {
        let number = BOOKS.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("oncebook-views-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let entropy = SeededEntropy::new(u64::from(number));
        let options = Options {
            path: dir.join("book.db"),
            now: NOW,
            stream: StreamId::draw(NOW, &entropy),
            new_secret: [7; 32],
            batch_max: 1,
            program: "oncebook test".to_owned(),
        };
        Self { store: Arc::new(Sqlite::open(options).unwrap()), entropy, dir }
    }

    /// Delivers an enquiry of `source` under that submission id, from this person, with that message.
    pub(crate) async fn deliver(&self, source: &str, submission: &str, name: &str, message: &str) -> Delivery {
        let mut fields = Fields::default();
        for (field, value) in [("contact.name", name), ("contact.email", "a@example.com"), ("message", message)] {
            fields.set(field, value);
        }
        let candidate = Candidate {
            keys: vec![Key::new(source, Basis::Submission, vec![submission.to_owned()])],
            contents: vec![Digest::sha256(message.as_bytes())],
            look_alike: None,
            at: NOW,
            content_window_ms: 0,
            look_alike_window_ms: 0,
        };
        let proposal = Proposal {
            candidate,
            fields,
            notes: Vec::new(),
            client: None,
            ambiguous_time: message.contains("ambiguous"),
            ambiguous: vec![],
            hold_look_alikes: true,
            run: RunId::draw(NOW, &self.entropy),
            separate: false,
        };
        let mut nonce = [0; 32];
        self.entropy.fill(&mut nonce);
        let body = Blob { nonce, bytes: message.as_bytes().to_vec() };
        let delivery = delivery(DeliveryId::draw(NOW, &self.entropy), source, &body);
        let items = vec![Item::Enquiry(Box::new(proposal))];
        let receipt =
            self.store.accept(Arrival { delivery, body, files: vec![], items, by: None, undoes: None, take_until: None }).await.unwrap();
        receipt.items.into_iter().next().unwrap()
    }
}

impl Book {
    /// Delivers a body that nobody understands; the id of the delivery.
    pub(crate) async fn quarantine(&self, source: &str, body: &[u8]) -> String {
        let items = vec![Item::Aside { verdict: Verdict::Quarantined, reason: "the body is no JSON".to_owned() }];
        let (delivery, body) = self.arriving(source, body);
        let arrival = Arrival { delivery, body, files: vec![], items, by: None, undoes: None, take_until: None };
        self.store.accept(arrival).await.unwrap().items[0].id.to_string()
    }

    /// Delivers a body that is not authentic; the id of the delivery.
    pub(crate) async fn refuse(&self, source: &str, body: &[u8]) -> String {
        let (delivery, body) = self.arriving(source, body);
        let id = delivery.id.to_string();
        self.store.refuse(delivery, body, 100, UtcMs(0)).await.unwrap();
        id
    }

    fn arriving(&self, source: &str, body: &[u8]) -> (Delivery, Blob) {
        let mut nonce = [0; 32];
        self.entropy.fill(&mut nonce);
        let body = Blob { nonce, bytes: body.to_vec() };
        (delivery(DeliveryId::draw(NOW, &self.entropy), source, &body), body)
    }
}

/// A delivery as intake hands it to the store.
pub(crate) fn delivery(id: DeliveryId, source: &str, body: &Blob) -> Delivery {
    Delivery {
        id,
        item: 0,
        source: source.to_owned(),
        at: NOW,
        remote: Some("192.0.2.7".to_owned()),
        request_id: Some("req-1".to_owned()),
        attempt: None,
        content_type: Some("application/json".to_owned()),
        content_encoding: None,
        header_digest: Digest::sha256(b"headers"),
        body_sha256: Digest::sha256(&body.bytes),
        body: body.digest(),
        body_len: u64::try_from(body.bytes.len()).unwrap(),
        repairs: std::collections::BTreeMap::new(),
        verdict: Verdict::Quarantined,
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
