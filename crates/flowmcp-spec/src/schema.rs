//! The typed model of a schema: both dialects as one, placeholders resolved, nothing looked up again per call.

mod resources;

use std::{fmt, sync::Arc};

use serde_json::Value;

use crate::{Member, Primitive, Span, ZType};

pub use resources::{
    Author, DatabaseMode, FREE_QUERY, FREE_QUERY_MOST_ROWS, FREE_QUERY_ROWS, GET_SCHEMA, Origin, Query,
    RUN_SQL, Resource, ResourceFile, ResourceSource, Sql,
};

/// A schema file's endpoints, ready to be activated.
#[derive(Debug, Clone)]
pub struct Schema {
    /// Path of its file inside the pack.
    pub path: Arc<str>,
    /// Provider.
    pub namespace: Box<str>,
    /// Name in PascalCase.
    pub name: Box<str>,
    /// What it does.
    pub description: Box<str>,
    /// Version of the format it is written in.
    pub version: Box<str>,
    /// Documentation of the API.
    pub docs: Vec<Box<str>>,
    /// Categories.
    pub tags: Vec<Box<str>>,
    /// Where its requests go; `None` for schemas without endpoints.
    pub root: Option<Root>,
    /// Declared server parameters, without any `SERVER_PARAM:` prefix.
    pub server_params: Vec<Box<str>>,
    /// Declared libraries.
    pub libraries: Vec<Box<str>>,
    /// Declared shared lists.
    pub lists: Vec<ListReference>,
    /// Endpoints in order.
    pub tools: Vec<Tool>,
    /// Local resources in order.
    pub resources: Vec<Resource>,
}

/// One endpoint.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Key in `main.tools`.
    pub name: Box<str>,
    /// Where the key stands.
    pub span: Span,
    /// Method.
    pub method: Method,
    /// What it does.
    pub description: Box<str>,
    /// What a caller gives.
    pub inputs: Vec<Input>,
    /// The path behind the root's, without its query.
    pub path: Vec<Part>,
    /// Query that stands in the path itself.
    pub path_query: Vec<Part>,
    /// Query fields in order.
    pub query: Vec<Field>,
    /// Body fields in order.
    pub body: Vec<Field>,
    /// The schema's headers, then the tool's; one name once.
    pub headers: Vec<Header>,
    /// Declared result.
    pub output: Option<OutputDeclaration>,
    /// Which hooks it has.
    pub hooks: Hooks,
    /// Server parameters that its request holds.
    pub server_params: Vec<Box<str>>,
}

impl Tool {
    /// Whether a parameter takes its values from this list; asked before lists are resolved.
    pub fn takes_values_from(&self, list: &str) -> bool {
        let names = |member: &Member| matches!(member, Member::List { list: named, .. } if **named == *list);
        self.inputs.iter().any(|input| match &input.z.primitive {
            Primitive::Enum(members) => members.iter().any(names),
            _ => false,
        })
    }
}

/// HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `DELETE`
    Delete,
}

impl Method {
    /// All methods of the format.
    pub const ALL: [Method; 4] = [Method::Get, Method::Post, Method::Put, Method::Delete];

    /// As it stands in a request line.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where requests go: scheme and host, path and query of `main.root`, without a trailing slash.
#[derive(Debug, Clone, PartialEq)]
pub struct Root {
    /// `https://host:port`
    pub origin: Vec<Part>,
    /// Path, empty or with a leading slash.
    pub path: Vec<Part>,
    /// Query without `?`.
    pub query: Vec<Part>,
    /// The host has a `--marker--` label that a handler replaces.
    pub marker: bool,
}

/// A piece of a compiled template. Callers' values are put in once and never scanned again.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text as the schema has it.
    Text(Box<str>),
    /// The value of an input, by its index in [`Tool::inputs`].
    Input(usize),
    /// A server parameter.
    Server(Box<str>),
}

/// One field of a query or body.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Key as the API wants it.
    pub key: Box<str>,
    /// Value.
    pub value: FieldValue,
}

/// Value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// An input with its type; left out where the caller left it out.
    Input(usize),
    /// Text with values in it; left out where one of its inputs was left out.
    Parts(Vec<Part>),
    /// A fixed value of a body, in its declared type.
    Fixed(Value),
}

/// One header.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// Name as written.
    pub name: Box<str>,
    /// Value.
    pub value: Vec<Part>,
}

/// What a caller gives: one property of the tool's JSON Schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Name for clients: `^[a-zA-Z0-9_.-]{1,64}$`, unique in the tool.
    pub name: Box<str>,
    /// Key in the schema, accepted as well.
    pub key: Box<str>,
    /// Placeholder name, accepted as well.
    pub alias: Option<Box<str>>,
    /// Type.
    pub z: ZType,
    /// Description, where the schema has one.
    pub description: Option<Box<str>>,
    /// Index of its parameter in `parameters`.
    pub parameter: usize,
    /// Its location is insert, but the path has no place for it: only a handler can use it.
    pub placeless: bool,
}

/// What the schema says of a tool's result.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputDeclaration {
    /// MIME type.
    pub mime_type: Option<Box<str>>,
    /// `output.schema` as JSON text.
    pub schema: Option<Box<str>>,
}

/// One embedded test.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// `_description`.
    pub description: Option<Box<str>>,
    /// Arguments.
    pub arguments: serde_json::Map<String, Value>,
}

/// Which hooks a tool has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hooks {
    /// None.
    None,
    /// These, by their keys.
    Known(Vec<Box<str>>),
    /// Some code that could not be followed decides.
    Unknown,
}

impl Hooks {
    /// Whether any code may run for the tool.
    pub fn any(&self) -> bool {
        !matches!(self, Hooks::None)
    }

    /// Whether a hook may exist.
    pub fn has(&self, hook: &str) -> bool {
        match self {
            Hooks::None => false,
            Hooks::Known(hooks) => hooks.iter().any(|known| &**known == hook),
            Hooks::Unknown => true,
        }
    }
}

/// One entry of `main.sharedLists`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListReference {
    /// Name of the list.
    pub name: Box<str>,
    /// Version asked for.
    pub version: Option<Box<str>>,
    /// Which entries count.
    pub filter: Option<ListFilter>,
    /// Where it stands.
    pub span: Span,
}

/// Which entries of a list count.
#[derive(Debug, Clone, PartialEq)]
pub struct ListFilter {
    /// Field that is looked at.
    pub key: Box<str>,
    /// What it must be.
    pub test: ListTest,
}

/// What a filtered field must be.
#[derive(Debug, Clone, PartialEq)]
pub enum ListTest {
    /// Present (and not null), or absent.
    Exists(bool),
    /// This value.
    Equals(Value),
    /// One of these values.
    In(Vec<Value>),
}
