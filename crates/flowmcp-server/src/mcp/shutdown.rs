//! Signals that end the process in order.

use std::io;

use tokio_util::sync::CancellationToken;

/// A token that is cancelled at the first SIGTERM or SIGINT (Ctrl-C elsewhere); listeners then drain.
///
/// A second signal ends the process at once, with exit code 130, for the person who does not want to wait.
///
/// # Errors
/// When the signal handlers cannot be installed.
pub fn shutdown_signal() -> io::Result<CancellationToken> {
    let shutdown = CancellationToken::new();
    let token = shutdown.clone();
    let mut signals = Signals::install()?;
    tokio::spawn(async move {
        signals.next().await;
        // First of all: nothing that goes wrong with a log line may keep the process up.
        token.cancel();
        tracing::info!("shutting down: calls in flight may finish; a second signal ends at once");
        signals.next().await;
        std::process::exit(130);
    });
    Ok(shutdown)
}

#[cfg(unix)]
struct Signals {
    term: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn install() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals { term: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn install() -> io::Result<Self> {
        Ok(Signals)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
