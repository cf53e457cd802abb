//! The schema of a tool's result (FlowMCP specification 3.0.0, chapter 04): checked on JSON text, without building values.

use std::{borrow::Cow, fmt};

use serde_json::{Map, Value, json};

use super::json::string_end;

/// Most mismatches that are reported for one result.
const MISMATCHES: usize = 5;

/// Nesting that is checked; the specification allows 4.
const DEPTH: usize = 32;

/// Longest found value that a mismatch quotes, in bytes.
const QUOTED: usize = 40;

/// What a tool's result looks like. Properties may be absent unless `required`, and more may come.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSchema(Node);

#[derive(Debug, Clone, Default, PartialEq)]
struct Node {
    /// Allowed types; empty means any.
    types: Vec<Type>,
    nullable: bool,
    properties: Vec<(String, Node)>,
    required: Vec<String>,
    items: Option<Box<Node>>,
    /// Allowed values; empty means any.
    members: Vec<Value>,
    description: Option<String>,
    format: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    String,
    Number,
    Integer,
    Boolean,
    Object,
    Array,
    Null,
}

impl Type {
    fn named(name: &str) -> Option<Type> {
        Some(match name {
            "string" => Type::String,
            "number" => Type::Number,
            "integer" => Type::Integer,
            "boolean" => Type::Boolean,
            "object" => Type::Object,
            "array" => Type::Array,
            "null" => Type::Null,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Type::String => "string",
            Type::Number => "number",
            Type::Integer => "integer",
            Type::Boolean => "boolean",
            Type::Object => "object",
            Type::Array => "array",
            Type::Null => "null",
        }
    }
}

impl OutputSchema {
    /// Reads `output.schema`. What the form does not know is left out and allows anything; the validator reports it.
    pub fn new(schema: &Value) -> OutputSchema {
        OutputSchema(node(schema, DEPTH))
    }

    /// Whether results are JSON objects: the only ones that MCP can carry as structured content.
    pub fn is_object(&self) -> bool {
        self.0.types == [Type::Object]
    }

    /// Whether a result that is plain text or bytes can match.
    pub(super) fn allows_text(&self) -> bool {
        self.0.types.is_empty() || self.0.types.contains(&Type::String)
    }

    /// The same as JSON Schema, as MCP publishes it.
    pub fn json_schema(&self) -> Value {
        self.0.json_schema()
    }

    /// The first mismatches of a JSON text, such as `$.results[0].price: expected number, found string`; the text must
    /// have been checked before.
    pub(super) fn mismatches(&self, json: &str) -> Vec<String> {
        let mut walk = Walk { text: json, at: 0, found: Vec::new() };
        walk.value(&self.0, &Path::Root);
        walk.found
    }

    /// What the schema expects at the top.
    pub(super) fn expected(&self) -> String {
        self.0.expected()
    }
}

fn node(schema: &Value, depth: usize) -> Node {
    let Some(schema) = schema.as_object().filter(|_| depth > 0) else { return Node::default() };
    let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut types: Vec<Type> = match schema.get("type") {
        Some(Value::String(name)) => Type::named(name).into_iter().collect(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).filter_map(Type::named).collect(),
        _ => Vec::new(),
    };
    let nullable = schema.get("nullable") == Some(&Value::Bool(true)) || types.contains(&Type::Null);
    if types.len() > 1 {
        types.retain(|kind| *kind != Type::Null);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut required: Vec<String> = match schema.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    for (name, property) in properties.into_iter().flatten() {
        if property.get("required") == Some(&Value::Bool(true)) && !required.contains(name) {
            required.push(name.clone());
        }
    }
    Node {
        types,
        nullable,
        properties: properties
            .into_iter()
            .flatten()
            .map(|(name, property)| (name.clone(), node(property, depth - 1)))
            .collect(),
        required,
        items: schema
            .get("items")
            .filter(|items| items.is_object())
            .map(|items| Box::new(node(items, depth - 1))),
        members: schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
        description: text("description"),
        format: text("format"),
    }
}

impl Node {
    fn allows(&self, found: Type) -> bool {
        self.types.is_empty()
            || self.types.contains(&found)
            || (found == Type::Integer && self.types.contains(&Type::Number))
            || (found == Type::Null && self.nullable)
    }

    fn expected(&self) -> String {
        let mut names: Vec<_> = self.types.iter().map(|kind| kind.name()).collect();
        if self.nullable && !self.types.contains(&Type::Null) {
            names.push("null");
        }
        names.join(" or ")
    }

    fn json_schema(&self) -> Value {
        let mut schema = Map::new();
        let mut types: Vec<Value> = self.types.iter().map(|kind| kind.name().into()).collect();
        if self.nullable && !types.is_empty() && !self.types.contains(&Type::Null) {
            types.push("null".into());
        }
        match types.len() {
            0 => {}
            1 => drop(schema.insert("type".to_owned(), types.remove(0))),
            _ => drop(schema.insert("type".to_owned(), types.into())),
        }
        for (key, text) in [("description", &self.description), ("format", &self.format)] {
            if let Some(text) = text {
                schema.insert(key.to_owned(), text.as_str().into());
            }
        }
        if !self.members.is_empty() {
            let mut members = self.members.clone();
            if self.nullable && !members.contains(&Value::Null) {
                members.push(Value::Null);
            }
            schema.insert("enum".to_owned(), members.into());
        }
        if !self.properties.is_empty() {
            let properties: Map<_, _> = self
                .properties
                .iter()
                .map(|(name, property)| (name.clone(), property.json_schema()))
                .collect();
            schema.insert("properties".to_owned(), properties.into());
        }
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), json!(self.required));
        }
        if let Some(items) = &self.items {
            schema.insert("items".to_owned(), items.json_schema());
        }
        schema.into()
    }
}

/// Where in a result a mismatch is.
enum Path<'p> {
    Root,
    Property(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => f.write_str("$"),
            Path::Property(parent, name) => {
                let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                if plain { write!(f, "{parent}.{name}") } else { write!(f, "{parent}[{name:?}]") }
            }
            Path::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// One walk over a checked JSON text. Recursion follows the schema, so its depth is bounded; the rest is skipped in a
/// loop.
struct Walk<'t> {
    text: &'t str,
    at: usize,
    found: Vec<String>,
}

impl Walk<'_> {
    fn value(&mut self, node: &Node, path: &Path<'_>) {
        self.space();
        let start = self.at;
        let kind = self.kind();
        if !node.allows(kind) {
            // An integer is told apart only where the schema does it.
            let found = if kind == Type::Integer { Type::Number } else { kind };
            self.mismatch(path, format_args!("expected {}, found {}", node.expected(), found.name()));
            self.skip();
            return;
        }
        match kind {
            Type::Object if !node.properties.is_empty() || !node.required.is_empty() => {
                self.object(node, path)
            }
            Type::Array if node.items.is_some() => self.array(node, path),
            Type::Object | Type::Array => self.skip(),
            Type::Null if node.nullable => self.skip(),
            _ => {
                self.skip();
                if !node.members.is_empty() {
                    self.member(node, path, start);
                }
            }
        }
    }

    fn object(&mut self, node: &Node, path: &Path<'_>) {
        self.at += 1;
        let mut missing: Vec<&str> = node.required.iter().map(String::as_str).collect();
        while !self.full() {
            self.space();
            if self.peek() != Some(b'"') {
                self.at += 1;
                break;
            }
            let start = self.at;
            self.skip();
            let name = unescaped(self.text.get(start..self.at).unwrap_or_default());
            missing.retain(|required| *required != name);
            self.space();
            self.at += 1; // the colon
            match node.properties.iter().find(|(known, _)| *known == name) {
                Some((known, property)) => self.value(property, &Path::Property(path, known)),
                None => {
                    self.space();
                    self.skip();
                }
            }
            self.separator();
        }
        for name in missing {
            self.mismatch(path, format_args!("the required property {name:?} is missing"));
        }
    }

    fn array(&mut self, node: &Node, path: &Path<'_>) {
        let Some(items) = &node.items else { return };
        self.at += 1;
        let mut index = 0;
        while !self.full() {
            self.space();
            if matches!(self.peek(), None | Some(b']')) {
                self.at += 1;
                break;
            }
            let start = self.at;
            self.value(items, &Path::Item(path, index));
            self.separator();
            if self.at == start {
                break;
            }
            index += 1;
        }
    }

    fn member(&mut self, node: &Node, path: &Path<'_>, start: usize) {
        let raw = self.text.get(start..self.at).unwrap_or_default();
        let value = if raw.starts_with('"') {
            Value::from(unescaped(raw))
        } else {
            serde_json::from_str(raw).unwrap_or_default()
        };
        if !node.members.contains(&value) {
            let quoted = raw.get(..raw.floor_char_boundary(QUOTED)).unwrap_or_default();
            let more = if quoted.len() < raw.len() { "…" } else { "" };
            self.mismatch(path, format_args!("{quoted}{more} is not one of {}", json!(node.members)));
        }
    }

    fn mismatch(&mut self, path: &Path<'_>, what: fmt::Arguments<'_>) {
        match self.found.len() {
            0..MISMATCHES => self.found.push(format!("{path}: {what}")),
            MISMATCHES => self.found.push("and more".to_owned()),
            _ => {}
        }
    }

    /// Whether looking further cannot change the report.
    fn full(&self) -> bool {
        self.found.len() > MISMATCHES || self.at >= self.text.len()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn separator(&mut self) {
        self.space();
        if self.peek() == Some(b',') {
            self.at += 1;
        }
    }

    fn kind(&self) -> Type {
        match self.peek() {
            Some(b'"') => Type::String,
            Some(b'{') => Type::Object,
            Some(b'[') => Type::Array,
            Some(b't' | b'f') => Type::Boolean,
            Some(b'n') | None => Type::Null,
            Some(_) => {
                let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
                let mut digits =
                    rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
                if digits.any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
                    Type::Number
                } else {
                    Type::Integer
                }
            }
        }
    }

    /// Moves behind the value that starts here.
    fn skip(&mut self) {
        let bytes = self.text.as_bytes();
        let mut open = 0usize;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at = string_end(bytes, self.at);
                    if open == 0 {
                        return;
                    }
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => {
                    open = open.saturating_sub(1);
                    self.at += 1;
                    if open == 0 {
                        return;
                    }
                    continue;
                }
                _ if open == 0 => {
                    while self
                        .peek()
                        .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
                    {
                        self.at += 1;
                    }
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

/// The text of a checked JSON string; an escape that stands for no character keeps its spelling.
fn unescaped(raw: &str) -> Cow<'_, str> {
    let inside = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    if !inside.contains('\\') {
        return Cow::Borrowed(inside);
    }
    serde_json::from_str(raw).map_or(Cow::Borrowed(inside), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> OutputSchema {
        OutputSchema::new(&json!({
            "type": "object",
            "properties": {
                "total": { "type": "number", "description": "Count" },
                "state": { "type": "string", "enum": ["open", "closed"] },
                "note": { "type": "string", "nullable": true },
                "page size": { "type": "integer" },
                "results": {
                    "type": "array",
                    "items": { "type": "object", "properties": { "price": { "type": "number" }, "ok": { "type": "boolean" } } }
                },
            },
        }))
    }

    #[track_caller]
    fn check(schema: &OutputSchema, json: &str, expected: &[&str]) {
        super::super::json::check(json).unwrap();
        assert_eq!(schema.mismatches(json), expected, "{json}");
    }

    #[test]
    fn matches() {
        let schema = schema();
        check(&schema, r#"{"total":1.5,"state":"open","note":null,"more":[{"x":"]}"}],"results":[]}"#, &[]);
        check(
            &schema,
            r#" { "results" : [ { "price" : 1e9 , "ok" : true } , { } ] , "\u0074otal" : 1 } "#,
            &[],
        );
        check(&schema, "{}", &[]);
    }

    #[test]
    fn mismatches_name_place_expectation_and_finding() {
        let schema = schema();
        check(&schema, "[]", &["$: expected object, found array"]);
        check(
            &schema,
            r#"{"results":[{"price":"1"}]}"#,
            &["$.results[0].price: expected number, found string"],
        );
        check(
            &schema,
            r#"{"results":[{},{"ok":null,"price":false}]}"#,
            &[
                "$.results[1].ok: expected boolean, found null",
                "$.results[1].price: expected number, found boolean",
            ],
        );
        check(
            &schema,
            r#"{"note":5,"total":null}"#,
            &["$.note: expected string or null, found number", "$.total: expected number, found null"],
        );
        check(&schema, r#"{"state":"half"}"#, &[r#"$.state: "half" is not one of ["open","closed"]"#]);
        check(&schema, r#"{"page size":1.5}"#, &[r#"$["page size"]: expected integer, found number"#]);
        check(&schema, r#"{"\u0074otal":"\ud83d","a\"b":1}"#, &["$.total: expected number, found string"]);
    }

    #[test]
    fn required_properties() {
        let schema = OutputSchema::new(&json!({
            "type": "object",
            "required": ["a"],
            "properties": { "a": {}, "b": { "type": "string", "required": true } },
        }));
        check(&schema, r#"{"a":null,"b":"x"}"#, &[]);
        check(
            &schema,
            "{}",
            &[r#"$: the required property "a" is missing"#, r#"$: the required property "b" is missing"#],
        );
    }

    #[test]
    fn the_report_is_bounded() {
        let schema = OutputSchema::new(&json!({ "type": "array", "items": { "type": "string" } }));
        let found = schema.mismatches(&format!("[{}0]", "0,".repeat(10_000)));
        assert_eq!((found.len(), found.last().map(String::as_str)), (6, Some("and more")));
        assert_eq!(schema.mismatches("[0,0,0,0,0]").len(), 5);
    }

    #[test]
    fn deep_schemas_and_results_cost_no_stack() {
        let mut deep = json!({ "type": "string" });
        for _ in 0..100 {
            deep = json!({ "type": "array", "items": deep });
        }
        let schema = OutputSchema::new(&deep);
        check(&schema, &("[".repeat(200_000) + &"]".repeat(200_000)), &[]);
    }

    #[test]
    fn published_form() {
        let schema = OutputSchema::new(&json!({
            "type": "object",
            "properties": {
                "cap": { "type": "number", "nullable": true, "description": "Cap" },
                "kind": { "type": "string", "enum": ["a"], "nullable": true },
                "list": { "type": "array", "items": { "type": "string", "format": "uri" } },
                "odd": { "type": "anything" },
            },
        }));
        assert!(schema.is_object());
        assert_eq!(
            schema.json_schema(),
            json!({
                "type": "object",
                "properties": {
                    "cap": { "type": ["number", "null"], "description": "Cap" },
                    "kind": { "type": ["string", "null"], "enum": ["a", null] },
                    "list": { "type": "array", "items": { "type": "string", "format": "uri" } },
                    "odd": {},
                },
            })
        );
    }
}
