//! A book, a desk and an outbox in a directory of their own, under a clock that is moved by hand and a seeded chance.
//!
//! Deliveries go through the real intake; work is done one piece after the other, so a world with the same seed and the
//! same deliveries writes the same journal. Records are counted in the targets, never in our own log.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of the world")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::allow_attributes, reason = "a test that cannot go on has failed")]
#![allow(clippy::disallowed_methods, reason = "the outside, played by the test")]

pub mod crm;
pub mod model;
pub mod process;
pub mod sent;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use domain::time::{Clock, Later, SeededEntropy, UtcMs};
use serde_json::Value;
use server::app::{App, Outside};
use server::config::Config;
use server::effects::desk::{Contact, Deal};
use server::intake::Raw;
use server::stops::Stops;
use store::Dossier;

/// 2026-03-02T09:15:04Z: when worlds begin.
pub const BEGIN: UtcMs = UtcMs(1_772_442_904_000);
pub const MINUTE: i64 = 60_000;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

/// A form, the desk and a message that follows the deal. What is put behind it belongs to the message's action.
pub const DESK: &str = r#"
[[source]]
name = "web"
auth = { scheme = "none" }
identity = { submission = "/submission_id" }
map = { "contact.email" = "/email", message = "/message", subject = "/subject" }
[[target]]
name = "crm"
kind = "desk"
[[target]]
name = "mail"
kind = "outbox"
from = "desk@example.com"
[[action]]
name = "deal"
target = "crm"
[[action]]
name = "follow-up"
target = "mail"
after = ["deal"]
"#;

/// A clock that only moves when told, or when somebody sleeps.
pub struct HandClock(AtomicI64);

impl HandClock {
    pub fn at(now: UtcMs) -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(now.0)))
    }

    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> UtcMs {
        UtcMs(self.0.load(Ordering::SeqCst))
    }

    fn sleep_until(&self, at: UtcMs) -> Later<'_> {
        self.0.fetch_max(at.0, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

/// A directory that is removed with the world.
pub struct Dir(pub PathBuf);

impl Dir {
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("oncebook-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

pub struct World {
    pub dir: Arc<Dir>,
    pub clock: Arc<HandClock>,
    pub app: App,
    config: String,
    seed: u64,
}

impl World {
    /// The defaults of `oncebook serve`.
    pub async fn new() -> Self {
        Self::with("").await
    }

    /// A configuration; its data directory is the world's.
    pub async fn with(config: &str) -> Self {
        Self::seeded(config, 1).await
    }

    pub async fn seeded(config: &str, seed: u64) -> Self {
        let dir = Arc::new(Dir::new());
        let clock = HandClock::at(BEGIN);
        let app = open(&dir.0, config, &clock, seed).await;
        Self { dir, clock, app, config: config.to_owned(), seed }
    }

    /// A world over a book of the test's own.
    pub async fn over(config: &str, store: Arc<dyn store::Store>) -> Self {
        let (dir, clock) = (Arc::new(Dir::new()), HandClock::at(BEGIN));
        let (document, outside) = made(&dir.0, config, &clock, 1);
        let app = App::over(document, outside, store).await.unwrap_or_else(|e| panic!("{e}"));
        Self { dir, clock, app, config: config.to_owned(), seed: 1 }
    }

    /// The process ends and another one begins on the same book.
    pub async fn restart(self) -> Self {
        let config = self.config.clone();
        self.restart_with(&config).await
    }

    /// The same, with another configuration.
    pub async fn restart_with(self, config: &str) -> Self {
        let Self { dir, clock, app, seed, .. } = self;
        drop(app);
        let seed = seed + 1;
        let app = open(&dir.0, config, &clock, seed).await;
        Self { dir, clock, app, config: config.to_owned(), seed }
    }

    /// Posts a JSON body to a source; the answer's JSON.
    pub async fn post(&self, source: &str, body: &str) -> Value {
        self.deliver(source, &[("content-type", "application/json")], body.as_bytes()).await
    }

    pub async fn deliver(&self, source: &str, headers: &[(&str, &str)], body: &[u8]) -> Value {
        self.app.intake.deliver(source, raw(headers, body)).await.unwrap().json()
    }

    /// Does all work that is due, and all that becomes due within `ms`, moving the clock.
    pub async fn work_for(&self, ms: i64) {
        let end = self.clock.now().plus(ms);
        loop {
            while Box::pin(self.app.engine.work_once()).await.unwrap() {}
            match self.app.engine.next_due().await.unwrap() {
                Some(due) if due <= end => drop(self.clock.sleep_until(due)),
                _ => return,
            }
        }
    }

    pub async fn deals(&self) -> Vec<Deal> {
        self.app.desk.as_ref().unwrap().deals(None, 0, 10_000).await.unwrap()
    }

    pub async fn contacts(&self) -> Vec<Contact> {
        self.app.desk.as_ref().unwrap().contacts(0, 10_000).await.unwrap()
    }

    /// The messages in the outbox, as text.
    pub fn mails(&self) -> Vec<String> {
        mails(&self.dir.0)
    }

    /// What the book knows of the enquiry of that name.
    pub async fn dossier(&self, name: &str) -> Dossier {
        let id = self.app.store.resolve(name).await.unwrap().into_iter().next().unwrap_or_else(|| panic!("nothing is called {name}"));
        self.app.store.dossier(&id).await.unwrap().unwrap()
    }

    /// The states of an enquiry's effects: `action=state`.
    pub async fn states(&self, name: &str) -> Vec<String> {
        self.dossier(name).await.effects.iter().map(|(e, _)| format!("{}={}", e.action, e.state())).collect()
    }

    /// Walks the whole journal; panics with what is wrong.
    pub async fn verify(&self) -> evidence::Report {
        let mut walk = evidence::Walk::new(Vec::new());
        let mut after = None;
        loop {
            let entries = self.app.store.journal_after(after.clone(), 500).await.unwrap();
            let Some(last) = entries.last() else { break };
            after = Some((last.stream.clone(), last.seq));
            for entry in &entries {
                walk.entry(entry);
                for digest in &entry.blobs {
                    walk.blob(*digest, self.app.store.blob(digest, entry.enquiry.as_ref()).await.unwrap().as_ref());
                }
            }
        }
        let report = walk.finish();
        assert!(report.is_whole(), "{:?}", report.faults);
        report
    }
}

pub fn raw(headers: &[(&str, &str)], body: &[u8]) -> Raw {
    Raw {
        headers: headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
        body: body.to_vec().into(),
        remote: Some("127.0.0.1:1".to_owned()),
    }
}

/// The messages under a data directory's outboxes.
pub fn mails(data_dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for outbox in std::fs::read_dir(data_dir).unwrap().flatten().filter(|e| e.file_name().to_string_lossy().ends_with(".outbox")) {
        for part in ["new", "cur"] {
            let Ok(entries) = std::fs::read_dir(outbox.path().join(part)) else { continue };
            found.extend(entries.flatten().map(|e| std::fs::read_to_string(e.path()).unwrap()));
        }
    }
    found.sort();
    found
}

/// The process's TLS provider, which the binary's `main` installs.
pub fn install_tls() {
    drop(rustls::crypto::ring::default_provider().install_default());
}

async fn open(dir: &Path, config: &str, clock: &Arc<HandClock>, seed: u64) -> App {
    let (config, outside) = made(dir, config, clock, seed);
    App::open(config, outside).await.unwrap_or_else(|e| panic!("{e}"))
}

fn made(dir: &Path, config: &str, clock: &Arc<HandClock>, seed: u64) -> (Config, Outside) {
    install_tls();
    let config = Config::from_text(&dir.join("oncebook.toml"), &placed(dir, config), &|_| None).unwrap_or_else(|e| panic!("{e}"));
    let clock: Arc<dyn Clock> = Arc::<HandClock>::clone(clock);
    let outside = Outside { clock, entropy: Arc::new(SeededEntropy::new(seed)), env: Arc::new(|_| None), stops: Arc::new(Stops::none()) };
    (config, outside)
}

/// The configuration with this data directory.
pub fn placed(dir: &Path, config: &str) -> String {
    format!("[server]\nlisten = \"127.0.0.1:0\"\ndata_dir = \"{}\"\n{config}", dir.display())
}
