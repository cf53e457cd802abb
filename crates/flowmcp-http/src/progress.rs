//! What a request is doing right now, so that a timeout can say what it interrupted.
//!
//! reqwest looks names up and connects deep inside one future. That future runs in the caller's task, so a task-local
//! cell carries the phase out: the resolver and a layer around the connector write it, the deadline reads it. (When a
//! pooled connection becomes free while a new one is being opened, the phase stays `Connect`; only wording suffers.)

use std::{
    cell::Cell,
    pin::Pin,
    task::{Context, Poll},
};

use flowmcp_plugin::Phase;
use tower::{Layer, Service};

tokio::task_local! {
    static PHASE: Cell<Phase>;
}

/// Runs one call with a phase of its own.
pub(crate) async fn tracked<T>(call: impl Future<Output = T>) -> T {
    PHASE.scope(Cell::new(Phase::Connect), call).await
}

/// Notes the phase of the running call; outside a call (a connection finished in the background) it does nothing.
pub(crate) fn enter(phase: Phase) {
    // The error is "not inside a call".
    let _ = PHASE.try_with(|cell| cell.set(phase));
}

/// The phase of the running call.
pub(crate) fn current() -> Phase {
    PHASE.try_with(Cell::get).unwrap_or(Phase::Respond)
}

/// Connector layer that notes when a connection is being opened and when it is open.
#[derive(Debug, Clone)]
pub(crate) struct NoteConnecting;

impl<S> Layer<S> for NoteConnecting {
    type Service = Noted<S>;

    fn layer(&self, connector: S) -> Noted<S> {
        Noted(connector)
    }
}

/// A connector under [`NoteConnecting`].
#[derive(Debug, Clone)]
pub(crate) struct Noted<S>(S);

impl<S, R> Service<R> for Noted<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, destination: R) -> Self::Future {
        enter(Phase::Connect);
        let connecting = self.0.call(destination);
        Box::pin(async move {
            let connection = connecting.await?;
            enter(Phase::Respond);
            Ok(connection)
        })
    }
}
