//! Listening: the door, the API, the console and the engine, until told to stop; then what was begun is finished.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{App, StartError, ports};
use crate::api::{self, Access, ApiState, Bearer};
use crate::console::{self, ConsoleState};
use crate::intake;
use crate::views::Reader;

/// Where a running server writes its address, in the data directory: for the commands that speak to it.
pub const ADDRESS_FILE: &str = "serve.address";

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
        let wanted = self.config.server.listen;
        let io = |what: String| move |e| StartError::Io(what, e);
        let listener = TcpListener::bind(wanted).await.map_err(io(format!("cannot listen on {wanted}")))?;
        let address = listener.local_addr().map_err(io("the listener has no address".to_owned()))?;
        let dir = &self.config.server.data_dir;
        std::fs::create_dir_all(dir).map_err(io(dir.display().to_string()))?;
        let note = dir.join(ADDRESS_FILE);
        std::fs::write(&note, address.to_string()).map_err(io(note.display().to_string()))?;
        Ok(Served { address, app: self, listener, note })
    }

    /// Everything that answers HTTP.
    pub fn router(self: &Arc<Self>) -> Result<Router, StartError> {
        let access = Access::new(self.config.server.is_private(), self.bearers()?);
        let reader = Reader::new(Arc::clone(&self.store));
        let targets = ports::target_setups(&self.config);
        let console = ConsoleState {
            reader: reader.clone(),
            engine: Arc::clone(&self.engine),
            clock: Arc::clone(&self.clock),
            targets: targets.clone(),
            sources: self.config.sources.iter().map(|source| source.id.clone()).collect(),
        };
        let console = api::guard(console::router(console), access.clone());
        let api = ApiState {
            reader,
            engine: Arc::clone(&self.engine),
            desk: self.desk.as_ref().map(|desk| ports::desk_book(Arc::clone(desk))),
            redeliver: ports::redeliver(Arc::clone(&self.intake)),
            clock: Arc::clone(&self.clock),
            targets,
            access,
        };
        Ok(intake::router(Arc::clone(&self.intake)).merge(api::router(api)).merge(console).fallback(api::no_route))
    }

    fn bearers(&self) -> Result<Vec<Bearer>, StartError> {
        let fetched = self.config.tokens.iter().map(|token| {
            let secret = super::secret(&token.secret, &*self.env).map_err(|why| format!("token '{}': {why}", token.name))?;
            Ok(Bearer::new(&token.name, token.client.clone(), &secret))
        });
        fetched.collect::<Result<_, String>>().map_err(|why| StartError::Unusable(vec![why]))
    }
}

impl Served {
    /// Serves until `stop`. Deliveries under way are answered, attempts under way are finished and committed.
    pub async fn run(self, stop: CancellationToken) -> Result<(), StartError> {
        let router = self.app.router()?;
        let engine = Arc::clone(&self.app.engine);
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        let door = axum::serve(self.listener, service).with_graceful_shutdown(stop.clone().cancelled_owned());
        let (served, ()) = tokio::join!(
            async {
                let served = door.await;
                stop.cancel();
                served
            },
            engine.run(stop.clone())
        );
        // The note names a server that is gone; that it could not be removed harms nobody, the lock says who lives.
        drop(std::fs::remove_file(&self.note));
        served.map_err(|e| StartError::Io("the listener failed".to_owned(), e))
    }
}
