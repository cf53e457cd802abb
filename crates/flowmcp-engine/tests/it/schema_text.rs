//! Texts of schema files, short to write in a test.

use serde_json::Value;

/// A schema file. What a test does not care about is as in [`demo`].
#[derive(Clone)]
pub(crate) struct SchemaText {
    pub(crate) path: &'static str,
    pub(crate) namespace: String,
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) root: &'static str,
    pub(crate) server_params: &'static [&'static str],
    /// JavaScript of `headers`.
    pub(crate) headers: &'static str,
    /// JavaScript of `sharedLists`.
    pub(crate) lists: &'static str,
    /// Key and JavaScript of each tool.
    pub(crate) tools: Vec<(String, String)>,
    /// JavaScript behind `main`.
    pub(crate) handlers: &'static str,
}

/// A schema with one tool `get` under `https://api.example.test/v1`.
pub(crate) fn demo(tool: String) -> SchemaText {
    SchemaText {
        path: "providers/demo/demo.mjs",
        namespace: "demo".to_owned(),
        name: "Demo",
        version: "3.0.0",
        root: "https://api.example.test/v1",
        server_params: &[],
        headers: "{}",
        lists: "[]",
        tools: vec![("get".to_owned(), tool)],
        handlers: "",
    }
}

impl SchemaText {
    pub(crate) fn text(&self) -> String {
        let tools: String =
            self.tools.iter().map(|(key, tool)| format!("        {}: {tool},\n", quoted(key))).collect();
        format!(
            "export const main = {{\n    namespace: {}, name: {}, description: 'An example', version: {},\n    \
             root: {}, requiredServerParams: {}, requiredLibraries: [], headers: {}, sharedLists: {},\n    \
             tools: {{\n{tools}    }}\n}}\n{}",
            quoted(&self.namespace),
            quoted(self.name),
            quoted(self.version),
            quoted(self.root),
            Value::from(self.server_params),
            self.headers,
            self.lists,
            self.handlers
        )
    }
}

/// JavaScript of a tool.
pub(crate) fn tool(method: &str, path: &str, parameters: &[String]) -> String {
    tool_with(method, path, parameters, "")
}

/// JavaScript of a tool with more fields than those that every tool has.
pub(crate) fn tool_with(method: &str, path: &str, parameters: &[String], more: &str) -> String {
    format!(
        "{{ method: {}, path: {}, description: 'Gets it', parameters: [{}], {more} }}",
        quoted(method),
        quoted(path),
        parameters.join(", ")
    )
}

/// JavaScript of a parameter whose value a caller gives.
pub(crate) fn user(key: &str, location: &str, primitive: &str, options: &[&str]) -> String {
    valued(key, "{{USER_PARAM}}", location, primitive, options)
}

/// JavaScript of a parameter.
pub(crate) fn valued(key: &str, value: &str, location: &str, primitive: &str, options: &[&str]) -> String {
    format!(
        "{{ position: {{ key: {}, value: {}, location: {} }}, z: {{ primitive: {}, options: {} }} }}",
        quoted(key),
        quoted(value),
        quoted(location),
        quoted(primitive),
        Value::from(options)
    )
}

/// JavaScript of a shared list file.
pub(crate) fn list(name: &str, more: &str, entries: &str) -> String {
    format!("export const list = {{ meta: {{ name: {}, {more} }}, entries: {entries} }}", quoted(name))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
