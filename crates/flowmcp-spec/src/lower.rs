//! From a [`Document`] to a [`Schema`]: the one place where both dialects become one model.
//!
//! A tool whose shape is wrong is left out here without a word, since the rules of `flowmcp-validate` report shapes.
//! What has to be parsed to be judged (`z`, templates, placeholders) is reported here.

mod inputs;
mod lists;
mod path;
mod resources;
mod root;
mod template;

use serde_json::Map;

use crate::{
    Blocks, Code, Diagnostic, Document, Node, SourceFile, Span, Value,
    schema::{Field, FieldValue, Header, Hooks, Method, OutputDeclaration, Part, Schema, Test, Tool},
};
use inputs::Parameters;
use template::{Names, Placeholder, pieces};

pub use lists::{List, ListFault, lower_list};

/// What lowering gave.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// The schema, unless too little of it could be understood.
    pub schema: Option<Schema>,
    /// Findings of what was parsed.
    pub diagnostics: Vec<Diagnostic>,
}

/// `z.primitive` is no type.
pub const PRIMITIVE: Code = Code("VAL044");
/// `z.options` has what is no option.
pub const OPTIONS: Code = Code("VAL045");
/// An enum without members.
pub const EMPTY_ENUM: Code = Code("VAL046");
/// An insert parameter without a place in the path.
pub const INSERT_WITHOUT_PLACE: Code = Code("VAL050");
/// A placeholder that nothing fills.
pub const UNMATCHED_PLACEHOLDER: Code = Code("VAL051");
/// An optional insert in the middle of a path.
pub const OPTIONAL_INSERT: Code = Code("VAL052");
/// A default or fixed value that its own type does not accept.
pub const OWN_VALUE: Code = Code("VAL053");
/// An option without effect on its type.
pub const OPTION_WITHOUT_EFFECT: Code = Code("VAL054");
/// A pattern that cannot be used.
pub const PATTERN: Code = Code("VAL055");
/// Two parameters of one name.
pub const SAME_NAME: Code = Code("VAL056");
/// A body on a method that has none.
pub const BODY_WITHOUT_METHOD: Code = Code("VAL057");
/// A header that HTTP does not allow.
pub const BAD_HEADER: Code = Code("VAL058");
/// An invalid root.
pub const ROOT: Code = Code("VAL015");

/// Lowers a schema document.
pub fn lower(file: &SourceFile, document: &Document) -> Lowered {
    let main = &document.root;
    let mut diagnostics = Vec::new();
    let text = |key| main.get(key).and_then(Node::as_str);
    let (Some(namespace), Some(name)) = (text("namespace"), text("name")) else {
        return Lowered { schema: None, diagnostics };
    };
    let texts = |key| -> Vec<Box<str>> {
        main.get(key)
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .filter_map(Node::as_str)
            .map(Into::into)
            .collect()
    };
    let server_params: Vec<Box<str>> = texts("requiredServerParams")
        .iter()
        .map(|key| key.strip_prefix("SERVER_PARAM:").unwrap_or(key).trim().into())
        .collect();
    let root = main.get("root").and_then(|node| root::lower(node, &mut diagnostics));
    let mut schema = Schema {
        path: file.path.clone(),
        namespace: namespace.into(),
        name: name.into(),
        description: text("description").unwrap_or_default().into(),
        version: text("version").unwrap_or_default().into(),
        docs: texts("docs"),
        tags: texts("tags"),
        root,
        server_params,
        libraries: texts("requiredLibraries"),
        lists: lists::references(main),
        tools: Vec::new(),
        resources: resources::lower(main, document, &mut diagnostics),
    };
    let tools = main.get("tools").or_else(|| main.get("routes"));
    for entry in tools.map(Node::entries).unwrap_or_default() {
        let path = format!("main.tools.{}", entry.key);
        let scope = Scope { main, document, path: &path, name: &entry.key };
        if let Some(tool) = scope.tool(&entry.node, entry.key_span, &schema.server_params, &mut diagnostics) {
            schema.tools.push(tool);
        }
    }
    Lowered { schema: Some(schema), diagnostics }
}

/// What lowering one tool looks at.
struct Scope<'d> {
    main: &'d Node,
    document: &'d Document,
    path: &'d str,
    name: &'d str,
}

impl Scope<'_> {
    fn tool(
        &self,
        node: &Node,
        span: Span,
        server_params: &[Box<str>],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Tool> {
        let method = node.get("method").and_then(Node::as_str)?;
        let method = Method::ALL.into_iter().find(|known| known.as_str() == method)?;
        let path = node.get("path").filter(|path| path.as_str().is_some_and(|text| text.starts_with('/')))?;
        let hooks = self.hooks();
        let mut faults = Vec::new();
        let parameters =
            Parameters::lower(self.path, node.get("parameters")?, server_params, hooks.any(), &mut faults);
        let mut parameters = match parameters {
            Some(parameters) => parameters,
            None => {
                diagnostics.extend(faults.into_iter().map(|fault| self.blocking(fault)));
                return None;
            }
        };
        let path_text = path.as_str().unwrap_or_default();
        // A fragment never reaches a server.
        let path_text = path_text.split('#').next().unwrap_or_default();
        let (path_text, query_text) = path_text.split_once('?').unwrap_or((path_text, ""));
        let place = path::Place { path: self.path, node: path, handled: hooks.any() };
        let path_parts = place.path(path_text, &mut parameters, &mut faults);
        let path_query = place.query(query_text, &mut parameters, &mut faults);
        place.unused_inserts(&parameters, &mut faults);
        parameters.mark_placeless();
        parameters.allow_segments(node.get("tests").map(Node::items).unwrap_or_default());
        let headers = self.headers(node, &parameters, &mut faults);
        let (query, body) = (parameters.fields("query"), parameters.fields("body"));
        if !body.is_empty() && matches!(method, Method::Get | Method::Delete) && !hooks.any() {
            faults.push(
                Diagnostic::error(
                    BODY_WITHOUT_METHOD,
                    format!("{}.parameters", self.path),
                    format!("{method} requests have no body, so body parameters cannot be sent"),
                )
                .at(span)
                .help("use the location query, or the method POST or PUT"),
            );
        }
        let blocked = faults.iter().any(|fault| fault.blocks != Blocks::Nothing);
        diagnostics.extend(faults.into_iter().map(|fault| self.blocking(fault)));
        if blocked {
            return None;
        }
        let mut tool = Tool {
            name: self.name.into(),
            span,
            method,
            description: node.get("description").and_then(Node::as_str).unwrap_or_default().into(),
            inputs: parameters.inputs,
            path: path_parts,
            path_query,
            query,
            body,
            headers,
            output: output(node),
            hooks,
            server_params: Vec::new(),
        };
        tool.server_params = used_server_params(&tool);
        Some(tool)
    }

    /// A finding that blocks the file, as builders make it, blocks only this tool.
    fn blocking(&self, mut fault: Diagnostic) -> Diagnostic {
        if fault.blocks == Blocks::File {
            fault.blocks = Blocks::Tool(self.name.into());
        }
        fault
    }

    fn hooks(&self) -> Hooks {
        let Some(handlers) = &self.document.code.handlers else { return Hooks::None };
        let Some(tools) = &handlers.tools else { return Hooks::Unknown };
        match tools.iter().find(|tool| &*tool.name == self.name) {
            None => Hooks::None,
            Some(tool) => match &tool.hooks {
                None => Hooks::Unknown,
                Some(hooks) => Hooks::Known(hooks.iter().map(|(name, _)| name.clone()).collect()),
            },
        }
    }

    /// The schema's headers, then the tool's; a later one of the same name, in any case, takes the place of the earlier.
    fn headers(&self, node: &Node, parameters: &Parameters, faults: &mut Vec<Diagnostic>) -> Vec<Header> {
        let mut headers: Vec<Header> = Vec::new();
        let own = node.get("headers").map(|own| (format!("{}.headers", self.path), own));
        let shared = self.main.get("headers").map(|shared| ("main.headers".to_owned(), shared));
        for (place, node) in shared.into_iter().chain(own) {
            for entry in node.entries() {
                let text = match &entry.node.value {
                    Value::String(text) => text.to_string(),
                    Value::Number(_) | Value::Bool(_) => entry.node.to_json(),
                    _ => continue,
                };
                if let Some(reason) = header_fault(&entry.key, &text) {
                    let path = format!("{place}.{}", entry.key);
                    faults.push(Diagnostic::error(BAD_HEADER, path, reason).at(entry.node.span));
                    continue;
                }
                let value = pieces(&text)
                    .map(|piece| match piece {
                        Placeholder::Text(text) => Part::Text(text.into()),
                        Placeholder::Name(name) => parameters.header_part(name),
                    })
                    .collect();
                headers.retain(|header| !header.name.eq_ignore_ascii_case(&entry.key));
                headers.push(Header { name: entry.key.clone(), value });
            }
        }
        headers
    }
}

fn output(node: &Node) -> Option<OutputDeclaration> {
    node.get("output").map(|output| OutputDeclaration {
        mime_type: output.get("mimeType").and_then(Node::as_str).map(Into::into),
        schema: output
            .get("schema")
            .filter(|schema| schema.is_object())
            .map(|schema| schema.to_json().into()),
    })
}

fn header_fault(name: &str, value: &str) -> Option<String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Some(format!("{name:?} is no header name"));
    }
    value.contains(['\r', '\n', '\0']).then(|| "must not contain a line break or NUL".to_owned())
}

/// The embedded tests of a tool; keys that begin with `_` describe the test.
pub fn tests_of(node: &Node) -> Vec<Test> {
    let tests = node.get("tests").map(Node::items).unwrap_or_default();
    tests
        .iter()
        .filter(|test| test.is_object())
        .map(|test| {
            let arguments: Map<String, serde_json::Value> = test
                .entries()
                .iter()
                .filter(|entry| !entry.key.starts_with('_'))
                .map(|entry| (entry.key.to_string(), entry.node.to_value()))
                .collect();
            Test { description: test.get("_description").and_then(Node::as_str).map(Into::into), arguments }
        })
        .collect()
}

fn used_server_params(tool: &Tool) -> Vec<Box<str>> {
    let fields = tool.query.iter().chain(&tool.body).filter_map(|Field { value, .. }| match value {
        FieldValue::Parts(parts) => Some(parts.as_slice()),
        FieldValue::Input(_) | FieldValue::Fixed(_) => None,
    });
    let templates = [tool.path.as_slice(), tool.path_query.as_slice()];
    let headers = tool.headers.iter().map(|header| header.value.as_slice());
    let mut keys: Vec<Box<str>> = Vec::new();
    for part in templates.into_iter().chain(fields).chain(headers).flatten() {
        if let Part::Server(key) = part
            && !keys.contains(key)
        {
            keys.push(key.clone());
        }
    }
    keys
}
