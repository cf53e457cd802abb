//! The hooks of a call, in the order of semantics.md, section 6: `preRequest`, then `executeRequest` or the host's own
//! request, then `postRequest`, then `postProcess`. For a tool without handlers nothing here does anything.
//!
//! Secrets never enter the sandbox: a request is rendered with tokens (`hooks/tokens.rs`), hooks see and move those, and
//! what is sent has them replaced, each for the place where it came to stand (`hooks/edits.rs`).

mod edits;
mod program;
mod services;
mod shape;
mod tokens;

use std::{collections::HashMap, time::Instant};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flowmcp_plugin::{Hook, HookOutput, HookValue, Response};
use flowmcp_worker::{Job, Pool, Program};
use serde_json::{Map, Value, value::RawValue};

pub use program::program;
pub(crate) use program::program_of;
pub(crate) use tokens::Tokens;

use crate::{
    ActiveTool, Engine, Output,
    bind::Arguments,
    output::{self, Body, OutputContext},
    params::ServerParams,
    render::{Rendered, ServerValues},
};
use services::Services;
use shape::State;
use tokens::Meaning;

/// The hooks of one call, and what they hand on to each other.
pub(crate) struct Hooks<'c> {
    tool: &'c ActiveTool,
    /// `None` where the tool has no handlers, or nothing runs them.
    running: Option<(&'c Pool, &'c Program)>,
    /// `None` in a dry run.
    engine: Option<&'c Engine>,
    deadline: Instant,
    tokens: Tokens,
    state: State,
    /// The request's URL as it was rendered: what the schema may reach is measured by it.
    root: String,
    notes: Vec<String>,
}

/// What a call got: from the upstream, or from `executeRequest`.
pub(crate) enum Reply {
    Upstream(Response),
    /// JSON text.
    Handler(String),
}

/// A call that ended early, with the reason for the client.
pub(crate) type Ended = Box<Output>;

impl<'c> Hooks<'c> {
    pub(crate) fn new(
        tool: &'c ActiveTool,
        pool: Option<&'c Pool>,
        engine: Option<&'c Engine>,
        deadline: Instant,
    ) -> Self {
        let running = pool.zip(tool.plan.program.as_deref());
        let tokens = if running.is_some() { Tokens::of(tool) } else { Tokens::default() };
        Hooks {
            tool,
            running,
            engine,
            deadline,
            tokens,
            state: State::default(),
            root: String::new(),
            notes: Vec::new(),
        }
    }

    fn params(&self) -> Option<&'c ServerParams> {
        self.engine.map(Engine::params)
    }

    /// What stands for server parameters while the request is rendered.
    pub(crate) fn server_values(&self) -> ServerValues<'_> {
        match (self.running, self.params()) {
            (None, Some(params)) => ServerValues::Real(params),
            (None, None) => ServerValues::Shown,
            (Some(_), params) => ServerValues::Tokens { tokens: &self.tokens, params },
        }
    }

    /// Runs `preRequest`: the request as the handler wants it, still with tokens.
    pub(crate) async fn pre_request(
        &mut self,
        rendered: Rendered,
        arguments: &Arguments,
    ) -> Result<Rendered, Ended> {
        if self.running.is_none() {
            return Ok(rendered);
        }
        self.state = State::new(self.tool, &rendered, arguments, &self.tokens, self.params());
        self.root.clone_from(&rendered.url);
        if !self.has(Hook::PreRequest) {
            return Ok(rendered);
        }
        let Some(output) = self.call(Hook::PreRequest, &[]).await? else { return Ok(rendered) };
        let before = self.state.structure.clone();
        let returned = self.take_state(&output);
        let found = match returned {
            Returned::Nothing => Some("nothing; what it changed in place was taken"),
            Returned::Neither => {
                Some("something else than { struct, payload }; what it changed in place was taken")
            }
            // Of use to an author, who asks for it with a dry run, and to no client.
            Returned::Struct if self.engine.is_none() => {
                Some("{ struct }; the seeds ask for { struct, payload }")
            }
            Returned::Payload if self.engine.is_none() => {
                Some("{ payload }; the seeds ask for { struct, payload }")
            }
            Returned::Struct | Returned::Payload | Returned::Both => None,
        };
        self.notes.extend(found.map(|found| format!("{}: preRequest returned {found}", self.tool.key)));
        let edited = edits::apply(self.tool, &rendered, &before, &self.state.structure);
        edited.map_err(|error| self.failed(Hook::PreRequest, &error.to_string()))
    }

    /// The request with tokens replaced by server values, as it is sent.
    pub(crate) fn ready(&self, rendered: Rendered) -> Result<Rendered, Ended> {
        match (self.running, self.params()) {
            (None, _) => Ok(rendered),
            (Some(_), params) => {
                let none = ServerParams::default();
                let meaning = params.map_or(Meaning::Shown, Meaning::Real);
                let params = params.unwrap_or(&none);
                edits::expand(rendered, &self.root, &self.tokens, params, meaning)
                    .map_err(|error| self.failed(Hook::PreRequest, &error.to_string()))
            }
        }
    }

    /// Runs `executeRequest`, which takes the place of the host's own request: its data as JSON text.
    pub(crate) async fn execute_request(&mut self) -> Result<Option<String>, Ended> {
        const HOOK: Hook = Hook::ExecuteRequest;
        if !self.has(HOOK) {
            return Ok(None);
        }
        let Some(output) = self.call(HOOK, &[]).await? else { return Ok(None) };
        if let HookValue::Json(json) = &output.value
            && let Some(response) = member(json, "response")
        {
            return Ok(Some(response.to_owned()));
        }
        self.take_state(&output);
        let structure = &self.state.structure;
        if structure.get("status") == Some(&Value::Bool(false)) {
            let reasons: Vec<&str> = structure
                .get("messages")
                .and_then(Value::as_array)
                .map(|messages| messages.iter().filter_map(Value::as_str).collect())
                .unwrap_or_default();
            let reasons =
                if reasons.is_empty() { "it set status to false".to_owned() } else { reasons.join("; ") };
            return Err(self.failed(HOOK, &reasons));
        }
        match self.state.structure.remove("data") {
            Some(data) => Ok(Some(data.to_string())),
            None => Err(self.failed(HOOK, "returned neither { response } nor { struct } with struct.data")),
        }
    }

    /// Runs `postRequest` and `postProcess` on what the call got, and makes the output of it.
    pub(crate) async fn result(
        &mut self,
        reply: Reply,
        context: &OutputContext<'_>,
    ) -> Result<Output, Ended> {
        let shapes = self.has(Hook::PostRequest) || self.has(Hook::PostProcess);
        let (data, response) = match &reply {
            Reply::Handler(json) => (json.clone(), None),
            // What a handler shapes is success only.
            Reply::Upstream(response) if !shapes || !(200..300).contains(&response.status) => {
                return Ok(self.finish(output::from_response(response, context)));
            }
            Reply::Upstream(response) => (self.data(response, context)?, Some(response)),
        };
        if let Some(response) = response {
            self.describe(response, &data);
        }
        let mut shaped = None;
        if self.has(Hook::PostRequest)
            && let Some(output) = self.call(Hook::PostRequest, &[("response", &data)]).await?
        {
            shaped = Some(self.response_of(output)?);
        }
        if self.has(Hook::PostProcess) {
            let response = shaped.as_deref();
            let mut members = vec![("data", data.as_str())];
            members.extend(response.map(|response| ("response", response)));
            if let Some(output) = self.call(Hook::PostProcess, &members).await? {
                shaped = match output.value {
                    HookValue::Json(json) => Some(json),
                    HookValue::Absent => shaped,
                    HookValue::Undefined => {
                        return Err(self.failed(Hook::PostProcess, "returned nothing, expected the result"));
                    }
                };
            }
        }
        let output = match (shaped, response) {
            (Some(json), _) => output::from_handler_result(&self.tokens.show(json), context),
            (None, Some(response)) => output::from_response(response, context),
            (None, None) => output::from_handler_result(&self.tokens.show(data), context),
        };
        Ok(self.finish(output))
    }

    fn finish(&mut self, mut output: Output) -> Output {
        output.notes.append(&mut self.notes);
        output
    }

    fn has(&self, hook: Hook) -> bool {
        self.running.is_some() && self.tool.plan.hooks.has(hook.as_str())
    }

    /// Calls a hook; `None` when there is none of that name after all.
    async fn call(&mut self, hook: Hook, members: &[(&str, &str)]) -> Result<Option<HookOutput>, Ended> {
        let Some((pool, program)) = self.running else { return Ok(None) };
        let input = self.state.input(members);
        let services =
            Services { engine: self.engine, tool: self.tool, tokens: &self.tokens, root: &self.root };
        let tokens = self.tokens.texts();
        let job = Job { program, tool: &self.tool.key, hook, input: &input, tokens: &tokens };
        match pool.call(job, self.deadline, &services).await {
            Ok(HookOutput { value: HookValue::Absent, .. }) => Ok(None),
            Ok(mut output) => {
                self.tokens.derive(std::mem::take(&mut output.derived));
                Ok(Some(output))
            }
            Err(error) => Err(self.failed(hook, &error.to_string())),
        }
    }

    fn failed(&self, hook: Hook, reason: &str) -> Ended {
        let text = format!("{}: the handler {hook} failed: {reason}", self.tool.name);
        let text = self.tokens.show(text);
        let text = match self.engine {
            Some(engine) => engine.redactor().redact_owned(text),
            None => text,
        };
        tracing::debug!(tool = %self.tool.name, "{text}");
        Box::new(Output::error(text))
    }

    /// The notes of a call that ends before it has a result.
    pub(crate) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    /// Takes `struct` and `payload` as a hook left them.
    fn take_state(&mut self, output: &HookOutput) -> Returned {
        let parsed = |json: &str| match serde_json::from_str(json) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let mut edited = output.edited.as_deref().map(parsed).unwrap_or_default();
        let (mut returned, any) = match &output.value {
            HookValue::Json(json) => (parsed(json), true),
            HookValue::Undefined | HookValue::Absent => (Map::new(), false),
        };
        let kind = match (any, returned.contains_key("struct"), returned.contains_key("payload")) {
            (false, ..) => Returned::Nothing,
            (true, true, true) => Returned::Both,
            (true, true, false) => Returned::Struct,
            (true, false, true) => Returned::Payload,
            (true, false, false) => Returned::Neither,
        };
        let mut take = |name: &str, into: &mut Map<String, Value>| {
            if let Some(Value::Object(map)) = returned.remove(name).or_else(|| edited.remove(name)) {
                *into = map;
            }
        };
        take("struct", &mut self.state.structure);
        take("payload", &mut self.state.payload);
        kind
    }

    /// The upstream's data as the JSON text that hooks get: server values taken out, no body as null, text as a string,
    /// bytes as base64.
    fn data(&mut self, response: &Response, context: &OutputContext<'_>) -> Result<String, Ended> {
        let limit = context.limits.handler_input_bytes;
        if response.body.len() > limit {
            let reason = format!(
                "{}: the response has {} bytes, above the limit of {limit} for handlers (config: limits.handler_input)",
                self.tool.name,
                response.body.len()
            );
            return Err(Box::new(Output::error(reason)));
        }
        let reading = output::body::read(response, context.redactor, context.declared_mime_type);
        self.notes.extend(reading.notes);
        self.notes.extend(reading.not_json.map(|reason| format!("the response is {reason}")));
        Ok(match reading.body {
            Body::Empty => "null".to_owned(),
            Body::Json(json) => json,
            Body::Text(text) => Value::String(text).to_string(),
            Body::Binary { data, mime_type } => {
                serde_json::json!({ "base64": BASE64_STANDARD.encode(data), "mimeType": mime_type })
                    .to_string()
            }
        })
    }

    /// What `struct` says of the response. Its text is put in only where the handlers read it: it would be sent twice.
    fn describe(&mut self, response: &Response, data: &str) {
        let redact = |value: &str| match self.engine {
            Some(engine) => engine.redactor().redact(value).into_owned(),
            None => value.to_owned(),
        };
        let headers: Vec<(String, String)> =
            response.headers.iter().map(|(name, value)| (name.clone(), redact(value))).collect();
        let structure = &mut self.state.structure;
        structure.insert("httpStatus".to_owned(), response.status.into());
        structure.insert("responseHeaders".to_owned(), shape::headers(&headers));
        structure.remove("data");
        if self.running.is_some_and(|(_, program)| program.text.contains("dataAsString")) {
            let text = match serde_json::from_str(data) {
                Ok(Value::String(text)) => text,
                _ => data.to_owned(),
            };
            structure.insert("dataAsString".to_owned(), text.into());
        }
    }

    /// The `response` of what `postRequest` returned.
    fn response_of(&mut self, output: HookOutput) -> Result<String, Ended> {
        let HookValue::Json(json) = output.value else {
            return Err(self.failed(Hook::PostRequest, "returned nothing, expected { response }"));
        };
        if let Some(response) = member(&json, "response") {
            return Ok(response.to_owned());
        }
        // What `{ response: undefined }` is as JSON.
        if json.trim() == "{}" {
            return Err(self.failed(Hook::PostRequest, "returned no response, expected { response }"));
        }
        self.notes.push(format!(
            "{}: postRequest returned something else than {{ response }}; it was taken as the result",
            self.tool.key
        ));
        let data = member(&json, "struct").and_then(|structure| member(structure, "data").map(str::to_owned));
        Ok(data.unwrap_or(json))
    }
}

/// What a hook returned of what carries a call's state.
enum Returned {
    Both,
    Struct,
    Payload,
    Neither,
    Nothing,
}

/// A member of a JSON object, as it is written.
fn member<'j>(json: &'j str, name: &str) -> Option<&'j str> {
    if !json.trim_start().starts_with('{') {
        return None;
    }
    let members: HashMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    members.get(name).map(|value| value.get())
}
