//! JSON-RPC over a pair of byte streams, one message a line: the layer between stdio and rmcp's service loop.
//!
//! It keeps the session up where rmcp's own transport ends it or stays silent: byte order marks, CRLF, garbage, batches,
//! malformed requests and repeated ids. It also bounds a line's length and the requests in flight, and lets calls finish
//! for a limited time when input ends or the process shuts down.

mod in_flight;
mod input;
mod outlet;

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, GetExtensions as _,
        JsonRpcError, RequestId, RequestMetaObject, ServerJsonRpcMessage, ServerResult,
    },
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use self::{
    in_flight::{Admission, InFlight},
    input::{Input, Line},
};
use super::{
    handler::Handler,
    message::{self, Incoming},
};

pub(crate) use self::outlet::Outlet;

/// Requests that one client may have in flight; far above the calls that run at once, far below what memory holds.
const REQUESTS_IN_FLIGHT: usize = 4096;

/// JSON-RPC code of our own for a client that sends too much.
const BUSY: ErrorCode = ErrorCode(-32000);

/// How a session over lines ends.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    /// Cancelled when the process is asked to stop.
    pub(crate) shutdown: CancellationToken,
    /// Time that calls in flight get then.
    pub(crate) drain: Duration,
    /// Time that calls in flight get at end of input.
    pub(crate) grace: Duration,
    /// Cancels the service and with it all calls.
    pub(crate) service: CancellationToken,
}

/// The server's end of a session over lines.
pub(crate) struct Lines<R, W> {
    input: Input<R>,
    outlet: Arc<Outlet<W>>,
    in_flight: Arc<InFlight>,
    ends: Ends,
    phase: Phase,
    handler: Handler,
    /// An `initialize` was answered, so requests without `_meta` are of a revision that has it.
    initialized: Arc<AtomicBool>,
}

enum Phase {
    Reading,
    /// No more is read; calls in flight may finish until then.
    Ending(Instant),
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Lines longer than `line_bytes` are refused.
    pub(crate) fn new(
        reader: R,
        outlet: Arc<Outlet<W>>,
        line_bytes: usize,
        ends: Ends,
        handler: Handler,
    ) -> Self {
        Lines {
            input: Input::new(reader, line_bytes),
            outlet,
            in_flight: Arc::default(),
            ends,
            phase: Phase::Reading,
            handler,
            initialized: Arc::default(),
        }
    }

    fn end_within(&mut self, time: Duration) {
        self.phase = Phase::Ending(Instant::now() + time);
    }

    fn refuse(&mut self, error: JsonRpcError) {
        tracing::debug!(code = error.error.code.0, message = %error.error.message, "request refused");
        self.outlet.queue(&ServerJsonRpcMessage::Error(error));
        self.write_out(None);
    }

    /// Answers a `tools/list`, the one request with a large answer, without rmcp, which would take it apart and put it
    /// together again. Errors, and requests whose revision or progress token stand in `_meta`, stay with rmcp.
    fn answer_list(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        let ClientJsonRpcMessage::Request(request) = &message else { return Some(message) };
        let ClientRequest::ListToolsRequest(list) = &request.request else { return Some(message) };
        if !self.initialized.load(Ordering::Acquire) || list.extensions.get::<RequestMetaObject>().is_some() {
            return Some(message);
        }
        let cursor = list.params.as_ref().and_then(|params| params.cursor.as_deref());
        let Some(text) = self.handler.list_text(&request.id, cursor) else { return Some(message) };
        self.outlet.queue_text(text);
        self.write_out(Some(request.id.clone()));
        None
    }

    /// Writes an answer of this layer's own that was queued. `receive` is dropped and called again at any time, and goes on
    /// reading while a client is slow to read, so the writing is a task of its own; `has_room` bounds what can wait.
    fn write_out(&self, answered: Option<RequestId>) {
        let (outlet, in_flight) = (Arc::clone(&self.outlet), Arc::clone(&self.in_flight));
        tokio::spawn(async move {
            outlet.write_out().await;
            if let Some(id) = answered {
                in_flight.answered(&id);
            }
        });
    }

    /// Passes a message on, unless it has to be refused.
    fn admit(&mut self, mut message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &mut message {
            ClientJsonRpcMessage::Request(request) => match InFlight::admit(&self.in_flight, &request.id) {
                Admission::Ticket(ticket) => {
                    request.request.extensions_mut().insert(ticket);
                }
                Admission::Repeated => {
                    let error = ErrorData::invalid_request("a request with this id is still in flight", None);
                    self.refuse(JsonRpcError::new(Some(request.id.clone()), error));
                    return None;
                }
                Admission::Full => {
                    let error = ErrorData::new(BUSY, "too many requests in flight: wait for answers", None);
                    self.refuse(JsonRpcError::new(Some(request.id.clone()), error));
                    return None;
                }
            },
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.in_flight.cancelled(id);
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }

    fn take(&mut self, line: Line) -> Option<ClientJsonRpcMessage> {
        let bytes = match line {
            Line::Text(bytes) => bytes,
            Line::TooLong { limit } => {
                let error =
                    ErrorData::invalid_request(format!("a message may have {limit} bytes at most"), None);
                self.refuse(JsonRpcError::new(None, error));
                return None;
            }
            Line::End => {
                tracing::debug!("end of input");
                self.end_within(self.ends.grace);
                return None;
            }
        };
        if bytes.trim_ascii().is_empty() {
            return None;
        }
        match message::read(&bytes) {
            Incoming::Message(message) => {
                let admitted = self.admit(*message)?;
                self.answer_list(admitted)
            }
            Incoming::Refused(error) => {
                self.refuse(error);
                None
            }
            Incoming::NotJson(reason) => {
                tracing::debug!(%reason, "skipped a line that is not JSON");
                None
            }
            Incoming::Ignored(reason) => {
                tracing::debug!(%reason, "skipped a message");
                None
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Write errors end the session by way of the outlet; rmcp would only log each.
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let outlet = Arc::clone(&self.outlet);
        let in_flight = Arc::clone(&self.in_flight);
        let initialized = Arc::clone(&self.initialized);
        async move {
            outlet.send(&message).await;
            match &message {
                ServerJsonRpcMessage::Response(response) => {
                    if matches!(response.result, ServerResult::InitializeResult(_)) {
                        initialized.store(true, Ordering::Release);
                    }
                    in_flight.answered(&response.id);
                }
                ServerJsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }) => in_flight.answered(id),
                _ => {}
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            match self.phase {
                Phase::Reading => {
                    let line = tokio::select! {
                        biased;
                        () = self.outlet.closed() => {
                            self.end_within(Duration::ZERO);
                            continue;
                        }
                        () = self.ends.shutdown.cancelled() => {
                            self.end_within(self.ends.drain);
                            continue;
                        }
                        // Answers that the client does not read must not pile up.
                        line = async { self.outlet.has_room().await; self.input.next().await } => line,
                    };
                    if let Some(message) = self.take(line) {
                        return Some(message);
                    }
                }
                Phase::Ending(deadline) => {
                    tokio::select! {
                        () = self.in_flight.idle() => {}
                        () = self.outlet.closed() => {}
                        () = tokio::time::sleep_until(deadline) => {
                            tracing::debug!("calls in flight are cancelled");
                        }
                    }
                    self.outlet.close().await;
                    self.ends.service.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.outlet.close().await;
        Ok(())
    }
}
