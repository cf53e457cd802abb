//! An engine with a handful of tools and an upstream that does what a tool's path says.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use flowmcp_engine::{Engine, Entry, PackPolicy, Settings, Snapshot, params::ServerParams};
use flowmcp_plugin::{BoxFuture, Request, Response, Transport, TransportError};
use flowmcp_spec::SourceFile;
use serde_json::Value;
use tokio::sync::mpsc;

/// Longest that a test waits for something that has to happen.
pub(super) const SOON: Duration = Duration::from_secs(10);

pub(super) struct World {
    pub(super) engine: Arc<Engine>,
    /// `started` and `dropped` for requests to `/slow`, which is never answered.
    pub(super) slow: mpsc::UnboundedReceiver<&'static str>,
}

struct Upstream {
    slow: mpsc::UnboundedSender<&'static str>,
}

struct Dropped(mpsc::UnboundedSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

impl Transport for Upstream {
    fn send(&self, request: Request, _: Instant) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            if request.url.contains("/slow") {
                let _ = self.slow.send("started");
                let _dropped = Dropped(self.slow.clone());
                std::future::pending::<()>().await;
            }
            let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
            Ok(Response { status: 200, headers, body: Bytes::from_static(br#"{"ok":1.10}"#) })
        })
    }
}

impl World {
    pub(super) fn new() -> Self {
        let counted = "counted: { method: 'GET', path: '/counted', description: 'Takes a number', parameters: [ \
                       { position: { key: 'n', value: '{{USER_PARAM}}', location: 'query' }, \
                       z: { primitive: 'number()', options: [ 'min(1)' ] } } ] }";
        let tools =
            [tool("GET", "fast"), tool("GET", "slow"), tool("DELETE", "remove"), tool("POST", "order")];
        World::with(&(tools.concat() + counted))
    }

    pub(super) fn with(tools: &str) -> Self {
        let (sender, slow) = mpsc::unbounded_channel();
        let upstream = Arc::new(Upstream { slow: sender });
        let engine = Engine::new(snapshot(tools), upstream, ServerParams::default(), Settings::default());
        World { engine: Arc::new(engine), slow }
    }

    pub(super) async fn expect_slow(&mut self, event: &str) {
        let seen = tokio::time::timeout(SOON, self.slow.recv()).await.expect(event);
        assert_eq!(seen, Some(event));
    }
}

/// The tools of a schema with the given entries in `tools`.
pub(super) fn snapshot(tools: &str) -> Snapshot {
    let text = format!(
        "export const main = {{ namespace: 'made', name: 'Made', description: 'Made up', version: '3.0.0', \
         root: 'https://api.example.test', tags: [ 'test' ], tools: {{ {tools} }} }}"
    );
    let file = SourceFile::new("made.mjs", &text);
    let document = flowmcp_spec::read(&file).document.expect("a schema");
    let schema = flowmcp_spec::lower(&file, &document).schema.expect("a schema");
    let mut tools = flowmcp_engine::activate(schema, &Arc::new(PackPolicy::new("made")));
    flowmcp_engine::names::assign(&mut tools);
    Snapshot::new(tools.into_iter().map(|tool| Entry::Tool(Arc::new(tool))).collect())
}

pub(super) fn tool(method: &str, name: &str) -> String {
    format!("{name}: {{ method: '{method}', path: '/{name}', description: 'Does {name}', parameters: [] }},")
}

/// One line about an answer: its id, and its result's kind or its error's code.
pub(super) fn summary(answer: &Value) -> String {
    assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
    let id = answer.get("id").map_or("-".to_owned(), Value::to_string);
    if let Some(error) = answer.get("error") {
        return format!("{id} error {}", error["code"]);
    }
    let result = &answer["result"];
    if let Some(tools) = result["tools"].as_array() {
        return format!("{id} {} tools", tools.len());
    }
    if let Some(version) = result.get("protocolVersion") {
        return format!("{id} initialized {}", version.as_str().unwrap());
    }
    if let Some(content) = result.get("content") {
        return format!("{id} isError={} {}", result["isError"], content[0]["text"].as_str().unwrap());
    }
    format!("{id} {result}")
}
