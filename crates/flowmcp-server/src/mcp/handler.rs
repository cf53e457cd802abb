//! Answers MCP requests for one view of an engine.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, OnceLock},
};

use flowmcp_engine::{Asks, CallError, Caller, Engine, Output, Progress};
use futures_util::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, ErrorCode, Implementation, InitializeRequestParams,
        InitializeResult, ListToolsResult, MetaObject, PaginatedRequestParams, ProgressNotificationParam,
        ProgressToken, ProtocolVersion, RequestId, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;
use tokio::sync::{Semaphore, mpsc};

use super::{
    result::call_result,
    tools::{self, describe},
};

/// Key under which results of the 2026-07-28 revision name the server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Progress reports of one call that wait to be sent; further ones are dropped, since only the newest counts.
const PROGRESS_QUEUE: usize = 16;

/// Calls admitted for each one that the engine runs at once; the others wait for their turn there.
const ADMITTED_PER_CALL: usize = 4;

/// JSON-RPC code of our own for a server that has too much to do.
const BUSY: ErrorCode = ErrorCode(-32000);

/// Serves one view. Clones share everything, since rmcp makes one for each session and stateless request.
#[derive(Clone)]
pub(crate) struct Handler {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Arc<Engine>,
    view: String,
    /// Calls that run or wait for their turn.
    admitted: Semaphore,
}

impl Handler {
    pub(crate) fn new(engine: Arc<Engine>, view: impl Into<String>) -> Self {
        let calls = engine.settings().limits.calls.clamp(1, Semaphore::MAX_PERMITS / ADMITTED_PER_CALL);
        Handler {
            shared: Arc::new(Shared {
                engine,
                view: view.into(),
                admitted: Semaphore::new(calls * ADMITTED_PER_CALL),
            }),
        }
    }

    /// The answer to a `tools/list` as text, as rmcp sends it to clients of a revision with `initialize`; `None` where it is
    /// an error.
    pub(crate) fn list_text(&self, id: &RequestId, cursor: Option<&str>) -> Option<Vec<u8>> {
        tools::page_text(&self.shared.engine, &self.shared.view, id, cursor).ok()
    }

    async fn call(&self, request: CallToolRequestParams, caller: &Caller) -> Result<Output, ErrorData> {
        let shared = &self.shared;
        let busy = || ErrorData::new(BUSY, "the server has too many calls waiting; try again later", None);
        let _admitted = shared.admitted.try_acquire().map_err(|_| busy())?;
        let call =
            shared.engine.call(&shared.view, &request.name, request.arguments.unwrap_or_default(), caller);
        // A panic would end the task without any answer, and the client would wait for ever.
        match AssertUnwindSafe(call).catch_unwind().await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(error)) => Err(call_error(error)),
            Err(_) => {
                tracing::error!(tool = %request.name, "the call panicked: this is a bug of the server");
                Err(ErrorData::internal_error("the call failed inside the server", None))
            }
        }
    }
}

fn call_error(error: CallError) -> ErrorData {
    match &error {
        CallError::UnknownTool { nearest, .. } => {
            let data = nearest.as_ref().map(|nearest| serde_json::json!({ "nearest": nearest }));
            ErrorData::invalid_params(error.to_string(), data)
        }
        CallError::Cancelled => cancelled(),
    }
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the call was cancelled before it finished", None)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        // `listChanged` stays out until something replaces a served snapshot.
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(implementation())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        let mut peer = request;
        peer.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(peer);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let mut result = tools::page(&self.shared.engine, &self.shared.view, cursor.as_deref())
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        name_server(&mut result.meta, &context);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.engine.snapshot().visible(&self.shared.view, name).map(|tool| describe(tool))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (caller, mut progress) = caller(&context);
        let token = context.meta.get_progress_token();
        // On the heap, because rmcp moves this future several times before it runs, and the call is kilobytes.
        let mut call = Box::pin(self.call(request, &caller));
        let output = loop {
            tokio::select! {
                biased;
                // Dropping the call drops its upstream request, whatever the engine is doing.
                () = context.ct.cancelled() => return Err(cancelled()),
                Some(report) = progress.recv() => {
                    if let Some(token) = &token {
                        send_progress(&context, token, report).await;
                    }
                }
                output = &mut call => break output?,
            }
        };
        let mut result = call_result(output);
        name_server(&mut result.meta, &context);
        Ok(result.into())
    }
}

/// What the engine learns about the client of a request, and the progress reports to pass on.
fn caller(context: &RequestContext<RoleServer>) -> (Caller, mpsc::Receiver<Progress>) {
    let (sender, receiver) = mpsc::channel(PROGRESS_QUEUE);
    let mut caller = Caller { cancellation: context.ct.clone(), ..Caller::default() };
    if context.meta.get_progress_token().is_some() {
        caller.progress = Some(Arc::new(move |report| {
            let _ = sender.try_send(report);
        }));
    }
    if let Some(capabilities) = context.client_capabilities() {
        let (elicitation, sampling) = (capabilities.elicitation.is_some(), capabilities.sampling.is_some());
        caller.asks = Asks { elicitation, sampling };
    }
    (caller, receiver)
}

async fn send_progress(context: &RequestContext<RoleServer>, token: &ProgressToken, report: Progress) {
    let mut notification = ProgressNotificationParam::new(token.clone(), report.done);
    notification.total = report.total;
    notification.message = report.message;
    if let Err(error) = context.peer.notify_progress(notification).await {
        tracing::debug!(%error, "progress could not be sent");
    }
}

/// The 2026-07-28 revision has no `initialize`, so its results say who answered.
fn name_server(meta: &mut Option<MetaObject>, context: &RequestContext<RoleServer>) {
    static INFO: OnceLock<Value> = OnceLock::new();
    let modern = context.protocol_version().is_some_and(|version| !version.has_initialize());
    if modern {
        let info = INFO.get_or_init(|| serde_json::to_value(implementation()).unwrap_or_default());
        meta.get_or_insert_default().insert(SERVER_INFO.to_owned(), info.clone());
    }
}

fn implementation() -> Implementation {
    Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")).with_title("FlowMCP")
}
