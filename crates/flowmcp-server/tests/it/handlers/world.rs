//! A schema with handlers, the real workers that run them, and an upstream that is made up.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    sync::{Arc, Mutex},
    time::Instant,
};

use flowmcp_engine::{
    Caller, Content, DEFAULT_VIEW, Engine, Entry, Lists, Output, PackPolicy, Settings, Snapshot,
    activate_with, names, params::ServerParams, program,
};
use flowmcp_plugin::*;
use flowmcp_spec::{SourceFile, lower, lower_list, read};
use flowmcp_worker::{Pool, PoolSettings, WorkerCommand};
use serde_json::{Map, Value};

pub(super) type Answer = fn(&Request) -> (u16, &'static str);

pub(super) struct Upstream {
    sent: Mutex<Vec<Request>>,
    answer: Answer,
}

impl Transport for Upstream {
    fn send(&self, request: Request, _: Instant) -> BoxFuture<'_, Result<Response, TransportError>> {
        let (status, body) = (self.answer)(&request);
        self.sent.lock().unwrap().push(request);
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Box::pin(async move { Ok(Response { status, headers, body: body.into() }) })
    }
}

pub(super) struct World {
    pub(super) engine: Engine,
    pub(super) upstream: Arc<Upstream>,
    pub(super) pool: Arc<Pool>,
}

/// What is served, and how.
pub(super) struct Setting<'a> {
    pub(super) root: &'a str,
    /// `tools` of the schema, and what its factory returns.
    pub(super) tools: &'a str,
    pub(super) handlers: &'a str,
    pub(super) answer: Answer,
    pub(super) keys: &'a [(&'a str, &'a str)],
    pub(super) grants: &'a [&'a str],
    pub(super) hosts: &'a [&'a str],
    pub(super) sandbox: SandboxSettings,
    pub(super) settings: Settings,
}

pub(super) const TOOL: &str = "tool: { method: 'GET', path: '/x', description: 'd', parameters: [ { position: { key: 'q', \
                    value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'optional()' ] } } ] }";

impl Default for Setting<'_> {
    fn default() -> Self {
        Setting {
            root: "https://api.example.test/v1",
            tools: TOOL,
            handlers: "{}",
            answer: |_| (200, r#"{"ok":true}"#),
            keys: &[("DEMO_KEY", "s3 cr/t\"+key")],
            grants: &[],
            hosts: &[],
            sandbox: SandboxSettings::default(),
            settings: Settings::default(),
        }
    }
}

impl Setting<'_> {
    pub(super) fn world(&self) -> World {
        let keys: Vec<String> = self.keys.iter().map(|(key, _)| format!("'{key}'")).collect();
        let text = format!(
            "export const main = {{ namespace: 'demo', name: 'Demo', description: 'd', version: '3.0.0', root: '{}', \
             requiredServerParams: [ {} ], sharedLists: [ 'chains' ], tools: {{ {} }} }}\n\
             export const handlers = ( {{ sharedLists }} ) => ( {} )",
            self.root,
            keys.join(", "),
            self.tools,
            self.handlers,
        );
        self.serve(&[text])
    }

    pub(super) fn serve(&self, texts: &[String]) -> World {
        let list =
            "export const list = { meta: { name: 'chains', version: '1.0.0' }, entries: [ { id: 1 } ] }";
        let mut lists = Lists::default();
        let list = read(&SourceFile::new("_lists/chains.mjs", list)).document.unwrap();
        lists.add(lower_list(&list).unwrap()).unwrap();
        let policy = Arc::new(PackPolicy {
            grants: self.grants.iter().map(|grant| (*grant).to_owned()).collect(),
            hosts: self.hosts.iter().map(|host| (*host).to_owned()).collect(),
            ..PackPolicy::new("demo")
        });
        let mut tools = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let file = SourceFile::new(format!("demo/{index}.mjs"), text);
            let document = read(&file).document.unwrap();
            let mut schema = lower(&file, &document).schema.unwrap();
            assert_eq!(lists.resolve(&mut schema), []);
            let program = program(&schema, &file.text, &lists, "demo", self.sandbox);
            tools.extend(activate_with(schema, &policy, program));
        }
        names::assign(&mut tools);
        let values = self.keys.iter().map(|(key, value)| ((*key).to_owned(), Secret::new(*value)));
        let mut params = ServerParams::new(values.collect(), BTreeMap::new());
        tools.iter_mut().for_each(|tool| tool.hide_without_params(&mut params));
        let snapshot = Snapshot::new(tools.into_iter().map(|tool| Entry::Tool(Arc::new(tool))).collect());
        let upstream = Arc::new(Upstream { sent: Mutex::default(), answer: self.answer });
        let program = env!("CARGO_BIN_EXE_flowmcp-server").into();
        let command = WorkerCommand::Process { program, args: vec![OsString::from("worker")] };
        let pool = Arc::new(Pool::new(command, PoolSettings::default()).unwrap());
        let transport = Arc::clone(&upstream) as Arc<dyn Transport>;
        let engine =
            Engine::new(snapshot, transport, params, self.settings.clone()).with_pool(Arc::clone(&pool));
        World { engine, upstream, pool }
    }
}

impl World {
    pub(super) async fn output(&self, name: &str, arguments: &str) -> Output {
        let arguments: Map<String, Value> = serde_json::from_str(arguments).unwrap();
        self.engine.call(DEFAULT_VIEW, name, arguments, &Caller::default()).await.unwrap()
    }

    /// The text of a result; one of a failed call after `!`.
    pub(super) async fn call(&self, name: &str, arguments: &str) -> String {
        let output = self.output(name, arguments).await;
        let Some(Content::Text(text)) = output.content.first() else { panic!("{output:?}") };
        if output.is_error { format!("! {text}") } else { text.clone() }
    }

    /// The requests since the last time: method and URL, headers, body.
    pub(super) fn sent(&self) -> Vec<String> {
        let show = |request: Request| {
            let headers: String =
                request.headers.iter().map(|(name, value)| format!("\n{name}: {value}")).collect();
            let body = String::from_utf8(request.body.to_vec()).unwrap();
            let body = if body.is_empty() { body } else { format!("\n\n{body}") };
            format!("{} {}{headers}{body}", request.method, request.url)
        };
        std::mem::take(&mut *self.upstream.sent.lock().unwrap()).into_iter().map(show).collect()
    }
}

pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
}

/// A `preRequest` of the tool, and the request that it makes of a call with `q: a b`; `!` and the reason where none is
/// sent.
#[track_caller]
pub(super) fn check_request(setting: &Setting<'_>, body: &str, expected: &str) {
    let handlers = format!("{{ tool: {{ preRequest: async ( {{ struct, payload }} ) => {{ {body} }} }} }}");
    let world = Setting { handlers: &handlers, ..Setting { tools: setting.tools, ..copy(setting) } }.world();
    let text = block_on(world.call("demo__tool", r#"{"q":"a b"}"#));
    let sent = world.sent();
    match sent.as_slice() {
        [] => assert_eq!(text, expected, "{body}"),
        requests => assert_eq!(requests, [expected], "{body}: {text}"),
    }
}

pub(super) fn copy<'a>(setting: &Setting<'a>) -> Setting<'a> {
    Setting { settings: setting.settings.clone(), ..*setting }
}

/// A hook of the tool, and the result of a call.
#[track_caller]
pub(super) fn check_result(answer: Answer, hook: &str, expected: &str) {
    let handlers = format!("{{ tool: {{ {hook} }} }}");
    let world = Setting { handlers: &handlers, answer, ..Setting::default() }.world();
    assert_eq!(block_on(world.call("demo__tool", "{}")), expected, "{hook}");
}
