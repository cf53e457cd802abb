//! What was read from a file: literal trees with spans, and facts about its code.

use std::{borrow::Cow, fmt::Write};

use crate::{HandlerFacts, Span};

/// A file after reading. Nothing of it has run.
#[derive(Debug, Clone)]
pub struct Document {
    /// What kind of file it is.
    pub kind: DocumentKind,
    /// The data that its kind is about: the value of `main`, `list`, `skill`, `prompt` or `agent`.
    pub root: Node,
    /// The `content` export of skills and prompts that keep their text apart.
    pub content: Option<Node>,
    /// Facts about the `handlers` export and all other code.
    pub code: HandlerFacts,
}

/// Kinds of file, told apart by their exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// `export const main` with endpoints, resources or skills.
    Schema,
    /// `export const list`.
    List,
    /// `export const skill`.
    Skill,
    /// `export const prompt`, or `export const content` alone.
    Prompt,
    /// `export const agent`, or a `main` with a system prompt.
    Agent,
    /// `export const schema`: format 1.2, not served.
    Legacy,
}

impl DocumentKind {
    /// Name of the export that holds its data.
    pub fn export(self) -> &'static str {
        match self {
            DocumentKind::Schema => "main",
            DocumentKind::List => "list",
            DocumentKind::Skill => "skill",
            DocumentKind::Prompt => "prompt",
            DocumentKind::Agent => "agent",
            DocumentKind::Legacy => "schema",
        }
    }
}

/// A literal value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it stands in the text.
    pub span: Span,
}

/// A literal value. Objects keep JavaScript's key order: integer-like keys first, then as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, and holes in arrays.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number; written out as JavaScript does.
    Number(f64),
    /// A string.
    String(Box<str>),
    /// An array.
    Array(Vec<Node>),
    /// An object.
    Object(Vec<Entry>),
}

/// One property of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Key.
    pub key: Box<str>,
    /// Where the key stands.
    pub key_span: Span,
    /// Value.
    pub node: Node,
}

impl Node {
    /// The value under a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|entry| &*entry.key == key).map(|entry| &entry.node)
    }

    /// The properties; empty unless this is an object.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Object(entries) => entries,
            _ => &[],
        }
    }

    /// The members; empty unless this is an array.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::Array(items) => items,
            _ => &[],
        }
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this is an object.
    pub fn is_object(&self) -> bool {
        matches!(self.value, Value::Object(_))
    }

    /// Whether this is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.value, Value::Array(_))
    }

    /// The type's name for messages: `a string`.
    pub fn type_name(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }

    /// The value for messages: short values as JSON, long ones cut, containers by type.
    pub fn shown(&self) -> Cow<'static, str> {
        const LONGEST: usize = 60;
        match &self.value {
            Value::Array(_) | Value::Object(_) | Value::Null => Cow::Borrowed(self.type_name()),
            Value::String(text) if text.chars().count() > LONGEST => {
                let cut: String = text.chars().take(LONGEST).collect();
                Cow::Owned(format!("{}…", quoted(&cut)))
            }
            _ => Cow::Owned(self.to_json()),
        }
    }

    /// The text that JavaScript's `JSON.stringify` gives.
    pub fn to_json(&self) -> String {
        // Most values are longer than a few words, and growing in steps copies.
        let mut out = String::with_capacity(if self.entries().is_empty() { 32 } else { 1 << 10 });
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut String) {
        match &self.value {
            Value::Null => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Number(value) if value.is_finite() => out.push_str(ryu_js::Buffer::new().format(*value)),
            Value::Number(_) => out.push_str("null"),
            Value::String(text) => write_quoted(text, out),
            Value::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Value::Object(entries) => {
                out.push('{');
                for (index, entry) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_quoted(&entry.key, out);
                    out.push(':');
                    entry.node.write_json(out);
                }
                out.push('}');
            }
        }
    }

    /// The value as `serde_json` holds it, numbers in JavaScript's form.
    pub fn to_value(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => serde_json::Value::Bool(*value),
            Value::Number(value) => serde_json::Value::Number(number(*value)),
            Value::String(text) => serde_json::Value::String(text.to_string()),
            Value::Array(items) => items.iter().map(Node::to_value).collect(),
            Value::Object(entries) => serde_json::Value::Object(
                entries.iter().map(|entry| (entry.key.to_string(), entry.node.to_value())).collect(),
            ),
        }
    }

    /// A tree without places, from a value that was never text (the library's `validate_schema`).
    pub fn from_value(value: &serde_json::Value) -> Node {
        let span = Span::default();
        let value = match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            serde_json::Value::String(text) => Value::String(text.as_str().into()),
            serde_json::Value::Array(items) => Value::Array(items.iter().map(Node::from_value).collect()),
            serde_json::Value::Object(map) => Value::Object(ordered(
                map.iter()
                    .map(|(key, value)| Entry {
                        key: key.as_str().into(),
                        key_span: span,
                        node: Node::from_value(value),
                    })
                    .collect(),
            )),
        };
        Node { value, span }
    }
}

/// A finite double in JavaScript's shortest form; what is not finite becomes 0 and never reaches here from a file.
pub(crate) fn number(value: f64) -> serde_json::Number {
    let mut buffer = ryu_js::Buffer::new();
    let text = if value.is_finite() { buffer.format_finite(value) } else { "0" };
    // JavaScript writes 1e+21 where JSON also allows it; serde_json keeps the text with arbitrary precision.
    serde_json::from_str(text).unwrap_or_else(|_| serde_json::Number::from(0))
}

/// JavaScript's property order: integer-like keys ascending, then the others as written; a repeated key keeps its
/// first place and its last value.
pub(crate) fn ordered(entries: Vec<Entry>) -> Vec<Entry> {
    // Nearly all objects are small and have neither: comparing them all is cheaper than a map.
    const SMALL: usize = 16;
    let repeated = |(index, entry): (usize, &Entry)| {
        entries.get(..index).unwrap_or_default().iter().any(|earlier| earlier.key == entry.key)
    };
    let mut unique = if entries.len() <= SMALL && !entries.iter().enumerate().any(repeated) {
        entries
    } else {
        last_of_each(entries)
    };
    if unique.iter().any(|entry| array_index(&entry.key).is_some()) {
        unique.sort_by_key(|entry| array_index(&entry.key).map_or((1, 0), |index| (0, index)));
    }
    unique
}

fn last_of_each(entries: Vec<Entry>) -> Vec<Entry> {
    let mut places = std::collections::HashMap::with_capacity(entries.len());
    let mut unique: Vec<Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        match places.entry(entry.key.clone()) {
            std::collections::hash_map::Entry::Occupied(place) => {
                if let Some(earlier) = unique.get_mut(*place.get()) {
                    *earlier = entry;
                }
            }
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(unique.len());
                unique.push(entry);
            }
        }
    }
    unique
}

/// The number that a key stands for if JavaScript treats it as an array index.
fn array_index(key: &str) -> Option<u32> {
    key.bytes().next().filter(u8::is_ascii_digit)?;
    let index: u32 = key.parse().ok()?;
    (index != u32::MAX && index.to_string() == key).then_some(index)
}

/// A JSON string as JavaScript writes it.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_quoted(text, &mut out);
    out
}

fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        // Only ASCII is escaped, so both sides of it are whole characters.
        out.push_str(text.get(copied..at).unwrap_or_default());
        copied = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            control => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{control:04x}");
            }
        }
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_what_javascript_writes() {
        let value: serde_json::Value =
            serde_json::from_str(r#"{"b":1.0,"2":1e21,"1":-0.5,"a":"é\u0001\"\\\n/","n":[null,true,1e-7]}"#)
                .unwrap();
        assert_eq!(
            Node::from_value(&value).to_json(),
            r#"{"1":-0.5,"2":1e+21,"b":1,"a":"é\u0001\"\\\n/","n":[null,true,1e-7]}"#
        );
    }

    #[test]
    fn a_long_value_is_cut_in_messages() {
        let node = Node { value: Value::String("x".repeat(70).into()), span: Span::default() };
        assert_eq!(node.shown(), format!("\"{}\"…", "x".repeat(60)));
    }
}
