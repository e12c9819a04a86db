//! The composition root: from a configuration to a running server. The only module, beside `cli`, that sees all others.
//!
//! `ready` makes and checks everything before the book is opened; `sources` and `targets` turn configuration into what intake and engine take; `serve` listens; `ports` lets the API reach
//! the desk and the intake without knowing them.

mod door;
mod model;
mod ports;
mod ready;
mod rules;
mod serve;
mod sources;
mod targets;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use domain::gate::Policy;
use domain::ids::StreamId;
use domain::time::{Clock, Entropy};
use store::Store;
use store::sqlite::{Locked, Options, Sqlite};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

pub(crate) use self::ports::target_setups;
use self::ready::Made;
use crate::api::Bearer;
use crate::config::{Action, Config, ConfigError, Mode, OnReview, OnUnknown, Problem, Secret, SecretRef, StoreUrl};
use crate::effects::Target;
use crate::effects::desk::Desk;
use crate::engine::{self, Conditions, Engine, Parts, Settings};
use crate::intake::{Intake, Room};
use crate::stops::Stops;

pub use ready::Ready;
pub use rules::accept_rule;
pub use serve::{ADDRESS_FILE, Served, listen};

/// The environment, as a closure that the front door makes.
pub type Env = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What the front door hands in.
pub struct Outside {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
    /// The environment.
    pub env: Env,
    /// Places where a drill can hold it.
    pub stops: Arc<Stops>,
}

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration is wrong.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The configuration reads well, and cannot be used.
    #[error("{}", .0.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
    Unusable(Vec<Problem>),
    /// A source's identity rule is not the one that the book knows.
    #[error(
        "the identity rule of source '{0}' was changed: deliveries would get other keys.\n\
         Look at the change, then say: oncebook identity accept {0}"
    )]
    RuleChanged(String),
    /// A source that is not there.
    #[error("there is no source '{0}' in the configuration")]
    NoSource(String),
    /// Another server has the data directory.
    #[error("{0} is another server's data directory as long as that runs: name another one in server.data_dir")]
    DirHeld(String),
    /// The book cannot be opened.
    #[error("the book cannot be used: {0}")]
    Store(#[from] store::Error),
    /// A file or a socket.
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
}

/// Everything that runs, put together.
pub struct App {
    /// What it was made from.
    pub config: Config,
    /// The book.
    pub store: Arc<dyn Store>,
    /// The engine.
    pub engine: Arc<Engine>,
    /// The way in.
    pub intake: Arc<Intake>,
    /// The embedded CRM, where one is configured.
    pub desk: Option<Arc<Desk>>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
    /// Who may use API and console.
    bearers: Vec<Bearer>,
    /// The data directory is this process's alone: desks and outboxes have one owner, whatever book they are written from.
    _data_dir: File,
}

impl App {
    /// Checks everything, then opens the book and puts it all together over it.
    pub async fn open(config: Config, outside: Outside) -> Result<Self, StartError> {
        Ready::check(config, outside).await?.open().await
    }

    /// Puts everything together over a book that is open.
    pub async fn over(config: Config, outside: Outside, store: Arc<dyn Store>) -> Result<Self, StartError> {
        let made = Made::of(&config, &outside)?;
        Self::of(config, outside, made, store).await
    }

    async fn of(config: Config, outside: Outside, made: Made, store: Arc<dyn Store>) -> Result<Self, StartError> {
        let Outside { clock, entropy, stops, .. } = outside;
        let Made { mut sources, targets, conditions, bearers, qualifier, data_dir } = made;
        let wake = Arc::new(Notify::new());
        rules::settle(&config, &*store, &*clock, &mut sources).await?;
        let parts = Parts {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            entropy: Arc::clone(&entropy),
            targets: targets.targets,
            actions: config.actions.iter().map(|action| engine_action(&config, action)).collect(),
            qualifier,
            conditions,
            settings: settings(&config),
            wake: Arc::clone(&wake),
            stops,
        };
        let engine = Arc::new(Engine::new(parts).await?);
        let intake = Arc::new(Intake {
            sources,
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            entropy: Arc::clone(&entropy),
            accepted: wake,
            worker: Some(ports::worker(Arc::clone(&engine))),
            entering: TaskTracker::new(),
            room: Room::of(config.server.in_flight_max.bytes()),
            strangers: Room::of(config.server.in_flight_max.bytes() / 8),
            large: Room::turns(),
        });
        Ok(Self { config, store, engine, intake, desk: targets.desk, clock, entropy, bearers, _data_dir: data_dir })
    }
}

/// Makes a directory for its owner alone, for people's data will stand in it. One that is there stays as it is.
fn make_private(dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Checks what only using a configuration shows: secrets, templates, conditions. Opens and writes nothing.
pub fn check(config: &Config, outside: &Outside) -> Result<(), StartError> {
    let mut wrong = Vec::new();
    drop(sources::setups(config, &*outside.env, &mut wrong));
    targets::check(config, &outside.clock, &outside.env, &mut wrong);
    drop(conditions(config, &mut wrong));
    drop(serve::bearers(config, &*outside.env, &mut wrong));
    drop(model::qualifier(config, &outside.clock, &*outside.env, &mut wrong));
    if wrong.is_empty() { Ok(()) } else { Err(StartError::Unusable(wrong)) }
}

/// Every configured target, by name: for whoever puts an engine of his own over them.
pub fn targets_of(config: &Config, outside: &Outside) -> Result<BTreeMap<String, Arc<dyn Target>>, StartError> {
    let mut wrong = Vec::new();
    let made = targets::make(config, &outside.clock, &outside.env, &outside.stops, &mut wrong);
    if wrong.is_empty() { Ok(made.targets) } else { Err(StartError::Unusable(wrong)) }
}

/// The path of the configured book.
pub fn book_path(config: &Config) -> &Path {
    let StoreUrl::Sqlite(path) = &config.store.url;
    path
}

/// Opens the configured book for writing, making its directory and itself if they are not there.
pub fn open_book(config: &Config, outside: &Outside) -> Result<Sqlite, StartError> {
    open_locked(lock_book(config)?, config, outside)
}

/// Takes the lock of the configured book, making its directory if it is not there.
fn lock_book(config: &Config) -> Result<Locked, StartError> {
    let path = book_path(config);
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        make_private(dir).map_err(|e| StartError::Io(dir.display().to_string(), e))?;
    }
    Ok(Locked::take(path)?)
}

fn open_locked(locked: Locked, config: &Config, outside: &Outside) -> Result<Sqlite, StartError> {
    let now = outside.clock.now();
    let mut new_secret = [0_u8; 32];
    outside.entropy.fill(&mut new_secret);
    let stream = StreamId::draw(now, &*outside.entropy);
    let program = concat!("oncebook ", env!("CARGO_PKG_VERSION")).to_owned();
    let path = book_path(config).to_owned();
    Ok(Sqlite::open_locked(locked, Options { path, now, stream, new_secret, batch_max: config.store.batch_max, program })?)
}

fn conditions(config: &Config, wrong: &mut Vec<Problem>) -> Option<Conditions> {
    let sources = config.actions.iter().filter_map(|action| Some((action.name.clone(), action.when.clone()?))).collect();
    match Conditions::compile(sources) {
        Ok(conditions) => Some(conditions),
        Err(miswritten) => {
            wrong.extend(miswritten.into_iter().map(|m| {
                let n = config.actions.iter().position(|action| action.name == m.action);
                config.problem(&n.map_or_else(|| "action".to_owned(), |n| format!("action[{n}].when")), m.why)
            }));
            None
        }
    }
}

fn engine_action(config: &Config, action: &Action) -> engine::Action {
    let target = config.target(&action.target);
    let policy = match target.map(|t| t.on_unknown) {
        Some(OnUnknown::AtLeastOnce) => Policy::AtLeastOnce,
        Some(OnUnknown::AtMostOnce) => Policy::AtMostOnce,
        Some(OnUnknown::Review) | None => Policy::Review,
    };
    engine::Action {
        name: action.name.clone(),
        target: action.target.clone(),
        after: action.after.clone(),
        conditional: action.when.is_some(),
        outward: target.is_some_and(crate::config::Target::is_outward),
        shadow: target.is_some_and(|t| t.mode == Mode::Shadow),
        held_by_review: action.review == OnReview::Hold,
        sends_draft: [&action.subject, &action.text].into_iter().flatten().any(|text| model::may_hold_a_draft(text)),
        not_after_ms: action.not_after.map(crate::config::Period::ms),
        policy,
        client: action.client.clone(),
    }
}

fn settings(config: &Config) -> Settings {
    let engine = &config.engine;
    let qualify_backoff =
        domain::retry::Backoff { first_ms: config.qualifier.backoff.ms(), max_ms: config.qualifier.backoff.ms().saturating_mul(8) };
    Settings {
        other_names: config.sources.iter().flat_map(crate::config::Source::own_fields).map(str::to_owned).collect(),
        workers: engine.workers,
        pause_max_ms: engine.pause_max.ms(),
        attempts_max: engine.attempts,
        give_up_ms: engine.give_up_after.ms(),
        backoff: engine.waits(),
        qualify_attempts: config.qualifier.attempts,
        qualify_backoff,
        min_confidence: config.qualifier.min_confidence,
    }
}

/// Fetches a secret; one that is not there is named, never its value.
fn secret(secret: &SecretRef, env: &dyn Fn(&str) -> Option<String>) -> Result<Secret, String> {
    secret.resolve(env, &|path| std::fs::read_to_string(path)).map_err(|e| e.to_string())
}

/// By name, for what is configured by name.
type ByName<T> = BTreeMap<String, T>;
