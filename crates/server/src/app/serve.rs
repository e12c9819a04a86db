//! Listening: the door, the API, the console and the engine, until told to stop; then what was begun is finished.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use store::sqlite::READERS;
use tokio::net::{TcpListener, TcpSocket};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::door::{self, Bounds};
use super::{App, StartError, ports, target_setups};
use crate::api::{self, Access, ApiState, Bearer, Turns};
use crate::config::{Config, Problem};
use crate::console::{self, ConsoleState};
use crate::intake;
use crate::views::Reader;

/// Where a running server writes its address, in the data directory: for the commands that speak to it.
pub const ADDRESS_FILE: &str = "serve.address";

/// How many connections may wait to be accepted: beyond it the system drops them without a word, and their senders see a
/// reset in the middle of what they say.
const BACKLOG: u32 = 1_024;

/// How long connections may take to end once the server is told to stop.
const DOOR_CLOSES_MS: i64 = 10_000;

/// Of the book's readers, people have one half between them: the engine and the door find the other one free of them.
const PEOPLES_READERS: usize = READERS / 2;

/// Binds the configured address. Who connects waits until something is served there.
pub async fn listen(config: &Config) -> Result<TcpListener, StartError> {
    let wanted = config.server.listen;
    let socket = if wanted.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let listening = socket.and_then(|socket| {
        // A restart need not wait until the last connections of the one before are forgotten.
        socket.set_reuseaddr(true)?;
        socket.bind(wanted)?;
        socket.listen(BACKLOG)
    });
    listening.map_err(|e| StartError::Io(format!("cannot listen on {wanted} (server.listen, or ONCEBOOK_LISTEN)"), e))
}

/// A server that listens.
pub struct Served {
    /// Where.
    pub address: SocketAddr,
    app: Arc<App>,
    listener: TcpListener,
    note: PathBuf,
}

impl App {
    /// Binds the configured address and notes where it listens. Nothing is served before [`Served::run`].
    pub async fn bind(self: Arc<Self>) -> Result<Served, StartError> {
        let listener = listen(&self.config).await?;
        self.on(listener)
    }

    /// The same where it is bound already.
    pub fn on(self: Arc<Self>, listener: TcpListener) -> Result<Served, StartError> {
        let io = |what: String| move |e| StartError::Io(what, e);
        let address = listener.local_addr().map_err(io("the listener has no address".to_owned()))?;
        let dir = &self.config.server.data_dir;
        std::fs::create_dir_all(dir).map_err(io(dir.display().to_string()))?;
        let note = dir.join(ADDRESS_FILE);
        std::fs::write(&note, address.to_string()).map_err(io(note.display().to_string()))?;
        Ok(Served { address, app: self, listener, note })
    }

    /// Everything that answers HTTP.
    pub fn router(self: &Arc<Self>) -> Router {
        let access = Access::new(self.config.server.is_private(), self.bearers.clone());
        let reader = Reader::new(Arc::clone(&self.store));
        let turns = Turns::new(Arc::clone(&self.clock), PEOPLES_READERS);
        let targets = target_setups(&self.config);
        let console = ConsoleState {
            reader: reader.clone(),
            engine: Arc::clone(&self.engine),
            redeliver: ports::redeliver(Arc::clone(&self.intake)),
            clock: Arc::clone(&self.clock),
            targets: targets.clone(),
            sources: self.config.sources.iter().map(|source| source.id.clone()).collect(),
        };
        let console = api::guard(api::in_turn(console::router(console), turns.clone()), access.clone());
        let api = ApiState {
            reader,
            engine: Arc::clone(&self.engine),
            desk: self.desk.as_ref().map(|desk| ports::desk_book(Arc::clone(desk))),
            redeliver: ports::redeliver(Arc::clone(&self.intake)),
            clock: Arc::clone(&self.clock),
            targets,
            sources: self.config.sources.iter().map(|source| source.id.clone()).collect(),
            access,
            turns,
        };
        intake::router(Arc::clone(&self.intake)).merge(api::router(api)).merge(console).fallback(api::no_route)
    }
}

/// Who has a token; one whose secret cannot be fetched is named in `wrong`.
pub(super) fn bearers(config: &Config, env: &dyn Fn(&str) -> Option<String>, wrong: &mut Vec<Problem>) -> Vec<Bearer> {
    let fetched = config.tokens.iter().enumerate().map(|(n, token)| {
        let secret = super::secret(&token.secret, env).map_err(|why| config.problem(&format!("token[{n}].secret"), why))?;
        Ok(Bearer::new(&token.name, token.client.clone(), &secret))
    });
    fetched.filter_map(|bearer: Result<Bearer, Problem>| bearer.map_err(|why| wrong.push(why)).ok()).collect()
}

impl Served {
    /// Serves until `stop`. Deliveries under way are answered, attempts under way are finished and committed.
    pub async fn run(self, stop: CancellationToken) -> Result<(), StartError> {
        let router = self.app.router();
        let engine = Arc::clone(&self.app.engine);
        let bounds = Bounds {
            connections_max: self.app.config.server.connections_max,
            head_timeout: Duration::from_millis(self.app.config.server.head_timeout.ms().unsigned_abs()),
            answer_timeout: Duration::from_millis(self.app.config.server.answer_timeout.ms().unsigned_abs()),
        };
        let clock = Arc::clone(&self.app.clock);
        let door = door::serve(self.listener, router, bounds, Arc::clone(&clock), stop.clone());
        let told = stop.clone();
        let late = async move {
            told.cancelled().await;
            clock.sleep_until(clock.now().plus(DOOR_CLOSES_MS)).await;
        };
        let door = async {
            // A sender that stopped in the middle of a request has no answer, and so will send again.
            tokio::select! {
                () = door => {}
                () = late => {}
            }
        };
        // Among the runtime's own threads: each arrival wakes it, and from this one that would be a switch each time.
        let working = TaskTracker::new().spawn(engine.run(stop.clone()));
        let working = async {
            let worked = working.await;
            // Should it have failed, nothing more is taken in that nobody would work on.
            stop.cancel();
            worked
        };
        let ((), worked) = tokio::join!(door, working);
        self.app.intake.entering.close();
        self.app.intake.entering.wait().await;
        // The note names a server that is gone; that it could not be removed harms nobody, the lock says who lives.
        drop(std::fs::remove_file(&self.note));
        worked.map_err(|e| StartError::Io("the engine failed".to_owned(), e.into()))
    }
}
