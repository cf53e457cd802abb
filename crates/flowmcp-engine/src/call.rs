//! The path of one call: bind the arguments, render the request, let hooks edit it, send it, shape the result.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use flowmcp_plugin::{Request, RequestLimits, Response, Secret, Transport, TransportError};
use flowmcp_worker::Pool;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::{
    ActiveTool, Caller, Output, Settings,
    bind::{Arguments, bind},
    catalogue::Snapshot,
    hooks::{Ended, Hooks, Reply},
    output::{OutputContext, SchemaUse},
    params::ServerParams,
    redact::Redactor,
    render::{Rendered, render},
};

/// Serves calls on the current snapshot. Shared by all listeners.
pub struct Engine {
    snapshot: ArcSwap<Snapshot>,
    transport: Arc<dyn Transport>,
    params: ServerParams,
    /// Built at its first use: with a hundred keys it takes longer than everything else at start.
    redactor: OnceLock<Redactor>,
    settings: Settings,
    /// Runs handlers; without one, tools with handlers are hidden.
    pool: Option<Arc<Pool>>,
    calls: Semaphore,
    hosts: Mutex<HashMap<Box<str>, Arc<Semaphore>>>,
}

/// Upstream hosts whose calls in flight are counted.
const MAX_HOSTS: usize = 10_000;

/// A call that has no tool result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No visible tool has this name.
    #[error("unknown tool {name:?}{}", .nearest.as_ref().map(|name| format!("; did you mean {name:?}?")).unwrap_or_default())]
    UnknownTool {
        /// Name asked for.
        name: String,
        /// The closest known name.
        nearest: Option<String>,
    },
    /// The client gave up.
    #[error("cancelled by the client")]
    Cancelled,
}

impl Engine {
    /// An engine that starts with a snapshot.
    pub fn new(
        snapshot: Snapshot,
        transport: Arc<dyn Transport>,
        params: ServerParams,
        settings: Settings,
    ) -> Self {
        let calls = Semaphore::new(settings.limits.calls);
        Engine {
            snapshot: ArcSwap::from_pointee(snapshot),
            transport,
            params,
            redactor: OnceLock::new(),
            settings,
            pool: None,
            calls,
            hosts: Mutex::default(),
        }
    }

    /// The engine with workers for its tools' handlers.
    #[must_use]
    pub fn with_pool(mut self, pool: Arc<Pool>) -> Self {
        self.pool = Some(pool);
        self
    }

    /// What runs its tools' handlers, if anything does.
    pub fn pool(&self) -> Option<&Arc<Pool>> {
        self.pool.as_ref()
    }

    /// The snapshot that new calls use.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Puts a new snapshot in place; calls in flight finish on the old one.
    pub fn replace(&self, snapshot: Snapshot) {
        self.snapshot.store(Arc::new(snapshot));
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn params(&self) -> &ServerParams {
        &self.params
    }

    /// Takes server values out of texts: results, errors and log lines.
    pub fn redactor(&self) -> &Redactor {
        self.redactor.get_or_init(|| self.params.redactor())
    }

    /// Calls one visible tool of a view. Bad arguments and upstream failures are outputs with `is_error`.
    ///
    /// # Errors
    /// [`CallError`] when there is no such tool or the client gave up.
    pub async fn call(
        &self,
        view: &str,
        name: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Output, CallError> {
        let deadline = Instant::now() + self.settings.limits.call_deadline;
        let snapshot = self.snapshot.load_full();
        let Some(tool) = snapshot.visible(view, name) else {
            return Err(CallError::UnknownTool {
                name: name.to_owned(),
                nearest: snapshot.nearest(view, name),
            });
        };
        let run = self.run(tool, arguments, deadline);
        tokio::select! {
            biased;
            // First, so that a call that was given up while it waited sends nothing.
            () = caller.cancellation.cancelled() => Err(CallError::Cancelled),
            output = run => Ok(output),
        }
    }

    /// The steps of a call, in order.
    async fn run(&self, tool: &ActiveTool, arguments: Map<String, Value>, deadline: Instant) -> Output {
        let arguments = match bind(tool, arguments, &self.settings) {
            Ok(arguments) => arguments,
            Err(faults) => return bad_arguments(tool, &faults),
        };
        let mut output = match self.steps(tool, &arguments, deadline).await {
            Ok(output) => output,
            Err(ended) => *ended,
        };
        output.notes.splice(0..0, arguments.notes);
        output
    }

    /// The steps after the arguments are bound; hooks do nothing for a tool without handlers.
    async fn steps(
        &self,
        tool: &ActiveTool,
        arguments: &Arguments,
        deadline: Instant,
    ) -> Result<Output, Ended> {
        if tool.plan.program.is_some() && self.pool.is_none() {
            return Err(Box::new(Output::error(format!(
                "{}: its handlers have no pool to run them",
                tool.name
            ))));
        }
        let uri = format!("flowmcp://{}/tool/{}/result", tool.namespace, tool.key);
        let context = self.output_context(tool, &uri);
        if let Some(local) = &tool.plan.local {
            return local.run(arguments, &context, deadline).await;
        }
        let mut hooks = Hooks::new(tool, self.pool.as_deref(), Some(self), deadline);
        let rendered = render(tool, arguments, hooks.server_values())
            .map_err(|error| Box::new(bad_arguments(tool, &[error.to_string()])))?;
        let rendered = hooks.pre_request(rendered, arguments).await?;
        let reply = match hooks.execute_request().await? {
            Some(json) => Reply::Handler(json),
            None => {
                let rendered = hooks.ready(rendered)?;
                let sent = self.send(tool, rendered, deadline).await;
                Reply::Upstream(sent.map_err(|reason| Box::new(Output::error(reason)))?)
            }
        };
        hooks.result(reply, &context).await
    }

    /// What the tool and the configuration say about its results.
    fn output_context<'c>(&'c self, tool: &'c ActiveTool, uri: &'c str) -> OutputContext<'c> {
        OutputContext {
            redactor: self.redactor(),
            limits: &self.settings.limits,
            declared_mime_type: tool.declared_mime_type(),
            uri,
            schema: match tool.output_schema() {
                Some(schema) if tool.plan.pack.publish_output_schema => SchemaUse::Published(schema),
                Some(schema) => SchemaUse::Note(schema),
                None => SchemaUse::None,
            },
        }
    }

    /// Sends one request of a tool, its own or one that its handler makes. The error is free of server values.
    pub(crate) async fn send(
        &self,
        tool: &ActiveTool,
        rendered: Rendered,
        deadline: Instant,
    ) -> Result<Response, String> {
        let _permits = self.permits(&rendered, deadline).await?;
        let sent = self.transport.send(self.request(tool, rendered), deadline).await;
        sent.map_err(|error| self.failed(tool, &error))
    }

    fn request(&self, tool: &ActiveTool, rendered: Rendered) -> Request {
        Request {
            method: rendered.method,
            url: rendered.url,
            headers: rendered.headers,
            body: rendered.body.map(Bytes::from).unwrap_or_default(),
            network: tool.plan.pack.network,
            limits: RequestLimits {
                response_bytes: self.settings.limits.response_bytes,
                redirects: self.settings.limits.redirects,
            },
            retry: self.settings.retry,
            secrets: self.secrets(tool),
        }
    }

    fn secrets(&self, tool: &ActiveTool) -> Vec<Secret> {
        // A handler can move any of the schema's server parameters into its request.
        let by_handlers = tool.server_params().filter(|_| tool.plan.program.is_some());
        tool.used_params().chain(by_handlers).filter_map(|key| self.params.get(key).cloned()).collect()
    }

    fn failed(&self, tool: &ActiveTool, error: &TransportError) -> String {
        tracing::debug!(tool = %tool.name, %error, "no response");
        self.redactor().redact(&error.to_string()).into_owned()
    }

    /// A place among the calls in flight, over all and to this host. Waiting counts against the deadline.
    async fn permits(
        &self,
        rendered: &Rendered,
        deadline: Instant,
    ) -> Result<(tokio::sync::SemaphorePermit<'_>, tokio::sync::OwnedSemaphorePermit), String> {
        let host = self.host(&rendered.url);
        // The host's first: calls that wait for a slow host must not take the places of calls to others.
        let both = async { (host.acquire_owned().await, self.calls.acquire().await) };
        match tokio::time::timeout_at(deadline.into(), both).await {
            Ok((Ok(host), Ok(call))) => Ok((call, host)),
            Ok(_) => Err("the server is shutting down".to_owned()),
            Err(_) => Err("too many calls are in flight: try again later".to_owned()),
        }
    }

    fn host(&self, url: &str) -> Arc<Semaphore> {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = hosts.get(host) {
            return Arc::clone(known);
        }
        if hosts.len() >= MAX_HOSTS {
            // Those without a call in flight can be made again.
            hosts.retain(|_, places| Arc::strong_count(places) > 1);
        }
        let new = Arc::new(Semaphore::new(self.settings.limits.calls_per_host));
        hosts.insert(host.into(), Arc::clone(&new));
        new
    }
}

fn bad_arguments(tool: &ActiveTool, faults: &[String]) -> Output {
    Output::error(format!("Bad arguments for {}:\n- {}", tool.name, faults.join("\n- ")))
}
