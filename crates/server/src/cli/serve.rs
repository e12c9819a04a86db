//! `oncebook serve`.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{CliError, Common, Ended, outside};
use crate::app::{self, App, Ready};

pub(super) async fn run(common: &Common, out: &mut dyn Write) -> Result<Ended, CliError> {
    let config = common.config()?;
    let ready = Ready::check(config, outside()?).await?;
    // Before the book is opened: an address that is not to be had is a failed start too.
    let listener = app::listen(ready.config()).await?;
    let app = Arc::new(ready.open().await?);
    let served = Arc::clone(&app).on(listener)?;
    let address = served.address;
    if let Err(error) = greet(&app, address, out) {
        // Whoever started it reads no further: that is no reason to take in no enquiry.
        tracing::warn!(%error, "standard output is closed");
    }
    let stop = CancellationToken::new();
    let told = stop.clone();
    let (served, ()) = tokio::join!(served.run(stop.clone()), async move {
        tokio::select! {
            () = until_told() => told.cancel(),
            () = told.cancelled() => {}
        }
    });
    served?;
    Ok(Ended::Well)
}

fn greet(app: &App, address: SocketAddr, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "oncebook listens on http://{address}")?;
    for source in &app.config.sources {
        writeln!(out, "  post enquiries to   http://{address}/in/{}", source.name)?;
    }
    writeln!(out, "  see what became     http://{address}/console")?;
    out.flush()
}

/// Until Ctrl-C or a termination signal.
async fn until_told() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        // Without the one signal, the other still ends it.
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
    tracing::info!("stopping: what was begun is finished first");
}
