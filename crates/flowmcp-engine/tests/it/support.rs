//! The way of a schema through the crates, with a transport that records what it is given.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Instant,
};

use bytes::Bytes;
use flowmcp_engine::{
    ActiveTool, Caller, Content, DEFAULT_VIEW, DryRunError, Engine, Entry, Lists, Output, PackPolicy,
    ResourceBody, Settings, Snapshot, activate, dry_run, names, params::ServerParams,
};
use flowmcp_plugin::{BoxFuture, Request, Response, Secret, Transport, TransportError};
use flowmcp_spec::{Diagnostic, Severity, SourceFile, lower_list, read};
use flowmcp_validate::{Options, validate};
use serde_json::{Map, Value};

use crate::schema_text::SchemaText;

/// What the operator decides.
#[derive(Default)]
pub(crate) struct World {
    /// JavaScript of the pack's shared lists.
    pub(crate) lists: Vec<String>,
    /// Server parameters with their values.
    pub(crate) keys: Vec<(&'static str, &'static str)>,
    /// Domains that a key is configured for.
    pub(crate) bind: Vec<(&'static str, &'static [&'static str])>,
    pub(crate) settings: Settings,
    pub(crate) options: Options,
    pub(crate) publish_output_schema: bool,
}

/// What loading gives.
pub(crate) struct Catalogue {
    pub(crate) tools: Vec<ActiveTool>,
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) warnings: Vec<String>,
    params: ServerParams,
    settings: Settings,
}

impl World {
    pub(crate) fn with_keys(keys: &[(&'static str, &'static str)]) -> Self {
        World { keys: keys.to_vec(), ..World::default() }
    }

    pub(crate) fn lists(&self) -> Lists {
        let mut lists = Lists::default();
        for text in &self.lists {
            let document = read(&SourceFile::new("_lists/list.mjs", text)).document.unwrap();
            lists.add(lower_list(&document).unwrap()).unwrap();
        }
        lists
    }

    /// As the server loads a pack: all files in order, then names, then keys.
    pub(crate) fn load(&self, schemas: &[SchemaText]) -> Catalogue {
        let mut policy = PackPolicy::new("pack");
        policy.publish_output_schema = self.publish_output_schema;
        let policy = Arc::new(policy);
        let lists = self.lists();
        let (mut tools, mut findings) = (Vec::new(), Vec::new());
        for schema in schemas {
            let file = SourceFile::new(schema.path, &schema.text());
            let validated = validate(&file, read(&file), &self.options);
            findings.extend(validated.diagnostics);
            if let Some(mut schema) = validated.value {
                findings.extend(lists.resolve(&mut schema));
                tools.extend(activate(schema, &policy));
            }
        }
        let warnings = names::assign(&mut tools);
        let values = self.keys.iter().map(|(key, value)| ((*key).to_owned(), Secret::new(*value)));
        let bind = self.bind.iter().map(|(key, domains)| {
            ((*key).to_owned(), domains.iter().map(|domain| (*domain).to_owned()).collect())
        });
        let mut params = ServerParams::new(values.collect(), bind.collect());
        tools.iter_mut().for_each(|tool| tool.hide_without_params(&mut params));
        Catalogue { tools, findings, warnings, params, settings: self.settings.clone() }
    }

    /// The requests of calls of a schema's first tool. Each row has the arguments as JSON and what [`call`] shows; a dry
    /// run must show the same request.
    #[track_caller]
    pub(crate) fn check(&self, schema: &SchemaText, table: &[(&str, &str)]) {
        let catalogue = self.load(std::slice::from_ref(schema));
        assert_eq!(catalogue.errors(), [""; 0], "{}", schema.text());
        let (upstream, engine) = catalogue.serve(Upstream::default());
        let snapshot = engine.snapshot();
        let Some(Entry::Tool(tool)) = snapshot.entries().first() else { panic!("there is no tool") };
        for (arguments, expected) in table {
            let arguments = object(arguments);
            let shown = call(&engine, &upstream, &tool.name, arguments.clone());
            assert_eq!(shown, *expected, "of {}", Value::Object(arguments.clone()));
            let dry = match dry_run(tool, arguments, engine.settings()) {
                Ok(run) => {
                    request_text(run.method, &run.url, &run.headers, run.body.as_deref().unwrap_or(""))
                }
                Err(DryRunError::Arguments(faults)) => {
                    format!("! Bad arguments for {tool}:\n- {}", faults.join("\n- "))
                }
                Err(other) => panic!("{other}"),
            };
            let mut without_notes = shown.split("\n# ").next().unwrap().to_owned();
            for (key, value) in &self.keys {
                without_notes = without_notes.replace(value, &format!("<{key}>"));
            }
            assert_eq!(dry, without_notes, "a dry run shows the request of the call");
        }
    }

    /// The findings that are errors, one a line.
    #[track_caller]
    pub(crate) fn check_errors(&self, schema: &SchemaText, expected: &[&str]) {
        assert_eq!(self.load(std::slice::from_ref(schema)).errors(), expected, "{}", schema.text());
    }
}

/// [`World::check`] without anything configured.
#[track_caller]
pub(crate) fn check(schema: &SchemaText, table: &[(&str, &str)]) {
    World::default().check(schema, table);
}

impl Catalogue {
    pub(crate) fn errors(&self) -> Vec<String> {
        let errors = self.findings.iter().filter(|finding| finding.severity == Severity::Error);
        errors.map(|finding| format!("{} {finding}", finding.code)).collect()
    }

    /// Public names of all tools, each with the reason why it is hidden.
    pub(crate) fn shown(&self) -> Vec<String> {
        let shown = |tool: &ActiveTool| match &tool.hidden {
            None => tool.name.to_string(),
            Some(hidden) => format!("{} hidden: {hidden}", tool.name),
        };
        self.tools.iter().map(shown).collect()
    }

    pub(crate) fn snapshot(self) -> Snapshot {
        Snapshot::new(self.tools.into_iter().map(|tool| Entry::Tool(Arc::new(tool))).collect())
    }

    pub(crate) fn serve<T: Transport + 'static>(mut self, transport: T) -> (Arc<T>, Engine) {
        let transport = Arc::new(transport);
        let params = std::mem::take(&mut self.params);
        let settings = std::mem::take(&mut self.settings);
        let engine =
            Engine::new(self.snapshot(), Arc::clone(&transport) as Arc<dyn Transport>, params, settings);
        (transport, engine)
    }
}

type Answer = Box<dyn Fn(&Request) -> Result<Response, TransportError> + Send + Sync>;

/// A transport that records requests and answers them at once.
pub(crate) struct Upstream {
    sent: Mutex<Vec<(Request, Instant)>>,
    answer: Answer,
}

impl Default for Upstream {
    fn default() -> Self {
        Upstream::new(|_| Ok(response(200, "application/json", "{}")))
    }
}

impl Upstream {
    pub(crate) fn new(
        answer: impl Fn(&Request) -> Result<Response, TransportError> + Send + Sync + 'static,
    ) -> Self {
        Upstream { sent: Mutex::default(), answer: Box::new(answer) }
    }

    /// The requests since the last time, with their deadlines.
    pub(crate) fn take(&self) -> Vec<(Request, Instant)> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }
}

impl Transport for Upstream {
    fn send(&self, request: Request, deadline: Instant) -> BoxFuture<'_, Result<Response, TransportError>> {
        let answer = (self.answer)(&request);
        self.sent.lock().unwrap().push((request, deadline));
        Box::pin(async move { answer })
    }
}

pub(crate) fn response(status: u16, content_type: &str, body: impl Into<Bytes>) -> Response {
    let content_type = ("content-type".to_owned(), content_type.to_owned());
    let headers = if content_type.1.is_empty() { Vec::new() } else { vec![content_type] };
    Response { status, headers, body: body.into() }
}

pub(crate) fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Calls a tool: its output, and the requests that it sent.
pub(crate) fn output(
    engine: &Engine,
    upstream: &Upstream,
    name: &str,
    arguments: Map<String, Value>,
) -> (Output, Vec<Request>) {
    let caller = Caller::default();
    let output = block_on(engine.call(DEFAULT_VIEW, name, arguments, &caller)).unwrap();
    (output, upstream.take().into_iter().map(|(request, _)| request).collect())
}

/// Calls a tool and shows the one request that it sent, and its notes after `#`; what was not sent is shown by the
/// result after `!`.
pub(crate) fn call(
    engine: &Engine,
    upstream: &Upstream,
    name: &str,
    arguments: Map<String, Value>,
) -> String {
    let (output, requests) = output(engine, upstream, name, arguments);
    let mut shown = match requests.as_slice() {
        [] => {
            assert!(output.is_error, "nothing was sent: {output:?}");
            format!("! {}", content_text(&output))
        }
        [request] => {
            let body = std::str::from_utf8(&request.body).unwrap();
            request_text(request.method.as_str(), &request.url, &request.headers, body)
        }
        more => panic!("{} requests", more.len()),
    };
    for note in &output.notes {
        shown.push_str("\n# ");
        shown.push_str(note);
    }
    shown
}

/// A request as it goes over the wire, in few lines.
fn request_text(method: &str, url: &str, headers: &[(String, String)], body: &str) -> String {
    let mut text = format!("{method} {url}");
    for (name, value) in headers {
        text.push_str(&format!("\n{name}: {value}"));
    }
    if !body.is_empty() {
        text.push_str(&format!("\n\n{body}"));
    }
    text
}

/// The content items of an output, one after the other.
pub(crate) fn content_text(output: &Output) -> String {
    let item = |content: &Content| match content {
        Content::Text(text) => text.clone(),
        Content::Image { data, mime_type } => format!("<image {mime_type} {data:?}>"),
        Content::Audio { data, mime_type } => format!("<audio {mime_type} {data:?}>"),
        Content::Resource { uri, mime_type, body } => {
            let body = match body {
                ResourceBody::Text(text) => text.clone(),
                ResourceBody::Blob(data) => format!("{data:?}"),
            };
            format!("<resource {uri} {} {body}>", mime_type.as_deref().unwrap_or("-"))
        }
        Content::Link { uri, .. } => format!("<link {uri}>"),
    };
    output.content.iter().map(item).collect::<Vec<_>>().join("\n")
}
