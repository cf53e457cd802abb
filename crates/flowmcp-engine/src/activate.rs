//! Makes tools that can be called out of lowered schemas: JSON Schema built, everything that a call needs in place.

mod json_schema;
mod queries;

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use flowmcp_plugin::Method;
use flowmcp_spec::{
    Schema,
    schema::{Field, Header, Hooks, Input, OutputDeclaration, Part, Root, Tool},
};
use flowmcp_worker::Program;
use serde_json::{Map, Value, value::RawValue};
use url::Url;

pub use queries::activate_queries;

use crate::{
    PackPolicy,
    local::LocalQuery,
    output::schema::OutputSchema,
    params::{BindError, ServerParams},
};

/// A tool as clients see it and as calls run it.
#[derive(Debug)]
pub struct ActiveTool {
    /// Public name, unique in the snapshot: matches `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: Arc<str>,
    /// Short text for people.
    pub title: String,
    /// Text for the client's model.
    pub description: Box<str>,
    /// JSON Schema of the arguments, a plain object, as JSON text; [`ActiveTool::input_schema`] has it as a value.
    pub input_json: Box<RawValue>,
    /// JSON Schema of the result, only where the pack publishes it.
    pub output_schema: Option<Arc<Map<String, Value>>>,
    /// Method of the request; GET reads, DELETE destroys.
    pub method: Method,
    /// Provider.
    pub namespace: Arc<str>,
    /// Name of the schema.
    pub schema: Arc<str>,
    /// Key in the schema.
    pub key: Box<str>,
    /// Path of the schema's file inside its pack.
    pub file: Arc<str>,
    /// Categories of the schema.
    pub tags: Arc<[Box<str>]>,
    /// Documentation of the API.
    pub docs: Arc<[Box<str>]>,
    /// Why clients do not see it.
    pub hidden: Option<Hidden>,
    pub(crate) plan: Plan,
}

/// What a call needs, resolved.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) root: Arc<Root>,
    pub(crate) path: Vec<Part>,
    pub(crate) path_query: Vec<Part>,
    pub(crate) query: Vec<Field>,
    pub(crate) body: Vec<Field>,
    pub(crate) headers: Vec<Header>,
    pub(crate) inputs: Vec<Input>,
    /// Server parameters that the request holds.
    pub(crate) server_params: Vec<Box<str>>,
    /// Server parameters that the schema declares; without one of them its tools are hidden.
    declared: Arc<[Box<str>]>,
    pub(crate) hooks: Hooks,
    /// The schema's handlers, only for a tool that has some.
    pub(crate) program: Option<Arc<Program>>,
    output: Option<OutputDeclaration>,
    input_schema: OnceLock<Arc<Map<String, Value>>>,
    output_schema: OnceLock<Option<OutputSchema>>,
    /// A query of a local database; then there is no request.
    pub(crate) local: Option<LocalQuery>,
    pub(crate) pack: Arc<PackPolicy>,
}

/// Why a tool is not offered to clients.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Hidden {
    /// It has handlers, and there is no sandbox to run them.
    #[error("needs the handler sandbox")]
    NeedsSandbox,
    /// Its handler stands under a resource, and those do not run yet.
    #[error("needs handlers of resources, which this version does not run")]
    QueryHandlers,
    /// Server parameters without a value.
    #[error("needs {}: set it in the env file, or in the environment with params.from_env", .keys.join(", "))]
    MissingParams {
        /// Their names.
        keys: Vec<String>,
    },
    /// A server parameter belongs to another domain.
    #[error(transparent)]
    Bound(#[from] BindError),
    /// Its schema has no endpoint to reach.
    #[error("the schema's root is no web address")]
    NoRoot,
}

impl ActiveTool {
    /// Canonical ID: `namespace/tool/name`.
    pub fn id(&self) -> String {
        format!("{}/tool/{}", self.namespace, self.key)
    }

    /// Where it comes from, for messages: `providers/x/y.mjs tool`.
    pub fn origin(&self) -> String {
        format!("{} ({})", self.file, self.key)
    }

    /// JSON Schema of the arguments, made at its first use.
    pub fn input_schema(&self) -> &Arc<Map<String, Value>> {
        // The text was written as JSON here, so it can be read.
        self.plan
            .input_schema
            .get_or_init(|| Arc::new(serde_json::from_str(self.input_json.get()).unwrap_or_default()))
    }

    /// The hooks that the tool's handlers have.
    pub fn hooks(&self) -> &Hooks {
        &self.plan.hooks
    }

    /// Hides the tool if a server parameter is missing or belongs elsewhere. Called in catalogue order, because the
    /// first schema that uses a key binds it to its domain.
    pub fn hide_without_params(&mut self, params: &mut ServerParams) {
        let mut keys: Vec<&str> = Vec::new();
        for key in self.plan.declared.iter().chain(&self.plan.server_params) {
            if !keys.contains(&&**key) {
                keys.push(key);
            }
        }
        if keys.is_empty() {
            return;
        }
        let missing: Vec<String> =
            keys.iter().filter(|key| params.get(key).is_none()).map(|key| (*key).to_owned()).collect();
        if !missing.is_empty() {
            self.hidden.get_or_insert(Hidden::MissingParams { keys: missing });
            return;
        }
        let Some(host) = host(&self.plan.root, params) else {
            self.hidden.get_or_insert(Hidden::NoRoot);
            return;
        };
        for key in keys {
            if let Err(error) = params.bind(key, &host) {
                self.hidden.get_or_insert(Hidden::Bound(error));
                return;
            }
        }
    }

    /// All server parameters that the tool's request or handlers may use, some perhaps twice.
    pub(crate) fn server_params(&self) -> impl Iterator<Item = &str> {
        self.plan.declared.iter().chain(&self.plan.server_params).map(|key| &**key)
    }

    /// The server parameters whose values the request holds.
    pub(crate) fn used_params(&self) -> impl Iterator<Item = &str> {
        let root = &self.plan.root;
        let root = root.origin.iter().chain(&root.path).chain(&root.query).filter_map(|part| match part {
            Part::Server(key) => Some(&**key),
            Part::Text(_) | Part::Input(_) => None,
        });
        self.plan.server_params.iter().map(|key| &**key).chain(root)
    }

    /// The schema of the result, compiled at its first use.
    pub(crate) fn output_schema(&self) -> Option<&OutputSchema> {
        let compile = || {
            let text = self.plan.output.as_ref()?.schema.as_deref()?;
            serde_json::from_str(text).ok().map(|schema| OutputSchema::new(&schema))
        };
        self.plan.output_schema.get_or_init(compile).as_ref()
    }

    /// The declared MIME type of the result.
    pub(crate) fn declared_mime_type(&self) -> Option<&str> {
        self.plan.output.as_ref().and_then(|output| output.mime_type.as_deref())
    }
}

/// The host that requests reach, server parameters filled in. It is read from the parsed address: what a key is bound to
/// must be what is called, whatever the text looks like.
fn host(root: &Root, params: &ServerParams) -> Option<String> {
    let mut text = String::new();
    for part in &root.origin {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Server(key) => text.push_str(params.get(key)?.expose()),
            Part::Input(_) => {}
        }
    }
    Some(Url::parse(&text).ok()?.host_str()?.to_owned())
}

/// Makes the tools of a schema whose lists are resolved, where no handlers can run: tools with handlers are hidden. They
/// have no public names yet ([`crate::names::assign`]).
pub fn activate(schema: Schema, pack: &Arc<PackPolicy>) -> Vec<ActiveTool> {
    activate_with(schema, pack, None)
}

/// As [`activate`], with the schema's handlers ([`crate::program`]).
pub fn activate_with(
    schema: Schema,
    pack: &Arc<PackPolicy>,
    program: Option<Arc<Program>>,
) -> Vec<ActiveTool> {
    let namespace: Arc<str> = schema.namespace.into();
    let name: Arc<str> = schema.name.into();
    let tags: Arc<[Box<str>]> = schema.tags.into();
    let docs: Arc<[Box<str>]> = schema.docs.into();
    let mut declared = schema.server_params;
    let no_root = schema.root.is_none();
    let root = schema.root.unwrap_or(Root {
        origin: Vec::new(),
        path: Vec::new(),
        query: Vec::new(),
        marker: false,
    });
    for part in root.origin.iter().chain(&root.path).chain(&root.query) {
        if let Part::Server(key) = part
            && !declared.contains(key)
        {
            declared.push(key.clone());
        }
    }
    let (root, declared) = (Arc::new(root), Arc::<[Box<str>]>::from(declared));
    let make = |tool: Tool| {
        let output_schema = tool.output.as_ref().filter(|_| pack.publish_output_schema).and_then(published);
        let mut active = ActiveTool {
            name: Arc::from(""),
            title: format!("{name}: {}", tool.name),
            input_json: json_schema::of(&tool.inputs),
            output_schema,
            description: tool.description,
            method: method(tool.method),
            namespace: Arc::clone(&namespace),
            schema: Arc::clone(&name),
            key: tool.name,
            file: Arc::clone(&schema.path),
            tags: Arc::clone(&tags),
            docs: Arc::clone(&docs),
            hidden: None,
            plan: Plan {
                root: Arc::clone(&root),
                path: tool.path,
                path_query: tool.path_query,
                query: tool.query,
                body: tool.body,
                headers: tool.headers,
                inputs: tool.inputs,
                server_params: tool.server_params,
                declared: Arc::clone(&declared),
                program: program.clone().filter(|_| tool.hooks.any()),
                hooks: tool.hooks,
                output: tool.output,
                input_schema: OnceLock::new(),
                output_schema: OnceLock::new(),
                local: None,
                pack: Arc::clone(pack),
            },
        };
        if no_root {
            active.hidden = Some(Hidden::NoRoot);
        }
        if active.plan.hooks.any() && active.plan.program.is_none() {
            active.hidden = Some(Hidden::NeedsSandbox);
        }
        active
    };
    schema.tools.into_iter().map(make).collect()
}

fn method(method: flowmcp_spec::schema::Method) -> Method {
    match method {
        flowmcp_spec::schema::Method::Get => Method::Get,
        flowmcp_spec::schema::Method::Post => Method::Post,
        flowmcp_spec::schema::Method::Put => Method::Put,
        flowmcp_spec::schema::Method::Delete => Method::Delete,
    }
}

/// MCP allows output schemas of objects only.
fn published(output: &OutputDeclaration) -> Option<Arc<Map<String, Value>>> {
    let schema = serde_json::from_str(output.schema.as_deref()?).ok()?;
    let schema = OutputSchema::new(&schema);
    match schema.json_schema() {
        Value::Object(map) if schema.is_object() => Some(Arc::new(map)),
        _ => None,
    }
}

impl fmt::Display for ActiveTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
