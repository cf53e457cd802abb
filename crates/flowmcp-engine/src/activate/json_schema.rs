//! JSON Schema of a tool's arguments, in the plain form that every client and model API takes: no unions, no
//! references, no null defaults (semantics.md, section 4).
//!
//! It is written as text at once: a catalogue has thousands, and nearly all are only ever sent on.

use flowmcp_spec::{Member, Primitive, ZType, schema::Input, ztype::Pattern};
use serde::Serialize;
use serde_json::{Number, value::RawValue};

/// More members than this, or more bytes of them, become a plain string with a hint.
const MAX_MEMBERS: usize = 200;
const MAX_MEMBER_BYTES: usize = 4 << 10;

/// The schema of all inputs of a tool, as JSON text.
pub(super) fn of(inputs: &[Input]) -> Box<RawValue> {
    let mut out = Text(Vec::with_capacity(128 + 128 * inputs.len()));
    out.raw(r#"{"type":"object","properties":{"#);
    for (index, input) in inputs.iter().enumerate() {
        if index > 0 {
            out.raw(",");
        }
        out.json(&input.name);
        out.raw(":");
        property(input, &mut out);
    }
    out.raw("}");
    let mut required = inputs.iter().filter(|input| input.z.is_required()).map(|input| &input.name);
    if let Some(first) = required.next() {
        out.raw(r#","required":["#);
        out.json(first);
        for name in required {
            out.raw(",");
            out.json(name);
        }
        out.raw("]");
    }
    out.raw(r#","additionalProperties":false}"#);
    // Only JSON was written.
    let text = String::from_utf8(out.0).unwrap_or_default();
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// JSON being written.
struct Text(Vec<u8>);

impl Text {
    fn raw(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        // Texts, numbers and JSON values always have a JSON form, and a Vec takes all of it.
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    /// A further member of an object.
    fn member(&mut self, key: &str, value: &(impl Serialize + ?Sized)) {
        self.raw(",\"");
        self.raw(key);
        self.raw("\":");
        self.json(value);
    }
}

fn property(input: &Input, out: &mut Text) {
    let z = &input.z;
    let kind = match &z.primitive {
        Primitive::String | Primitive::Enum(_) => "string",
        Primitive::Number => "number",
        Primitive::Boolean => "boolean",
        Primitive::Array => "array",
        Primitive::Object => "object",
    };
    out.raw(r#"{"type":""#);
    out.raw(kind);
    out.raw("\"");
    out.member("description", &description(input));
    match &z.primitive {
        Primitive::Enum(members) if is_short(members) => {
            out.raw(r#","enum":["#);
            for (index, member) in members.iter().enumerate() {
                if index > 0 {
                    out.raw(",");
                }
                out.json(text(member));
            }
            out.raw("]");
        }
        Primitive::Array => out.raw(r#","items":{}"#),
        _ => {}
    }
    let (min, max) = match &z.primitive {
        Primitive::Number => ("minimum", "maximum"),
        Primitive::String => ("minLength", "maxLength"),
        Primitive::Array => ("minItems", "maxItems"),
        Primitive::Boolean | Primitive::Object | Primitive::Enum(_) => ("", ""),
    };
    // Characters and items are counted, so their bounds are whole numbers from zero.
    let counts = !matches!(z.primitive, Primitive::Number);
    let (lower, upper) = match counts {
        true => {
            (z.min.map(f64::ceil).filter(|min| *min >= 0.0), z.max.map(f64::floor).filter(|max| *max >= 0.0))
        }
        false => (z.min, z.max),
    };
    for (key, bound) in [(min, lower), (max, upper)] {
        if let Some(bound) = bound.filter(|_| !key.is_empty()).and_then(plain) {
            out.member(key, &bound);
        }
    }
    if let Some(pattern) = z.pattern.as_ref().filter(|pattern| is_json_pattern(pattern))
        && matches!(z.primitive, Primitive::String)
    {
        out.member("pattern", pattern.source());
    }
    if let Some(default) = &z.default {
        out.member("default", default);
    }
    out.raw("}");
}

/// With flags or in slashes the text is not what JSON Schema calls a pattern.
fn is_json_pattern(pattern: &Pattern) -> bool {
    !pattern.source().starts_with('/')
}

fn text(member: &Member) -> &str {
    match member {
        Member::Value(value) => value,
        Member::List { list, .. } => list,
    }
}

fn is_short(members: &[Member]) -> bool {
    let bytes = || members.iter().map(|member| text(member).len()).sum::<usize>();
    members.len() <= MAX_MEMBERS && bytes() <= MAX_MEMBER_BYTES
}

/// A bound as a number without a useless fraction.
fn plain(bound: f64) -> Option<Number> {
    if bound.fract() == 0.0 && bound.abs() < 9e15 {
        // In range and whole, so nothing is cut.
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
        return Some(Number::from(bound as i64));
    }
    Number::from_f64(bound)
}

/// The schema's description, or one made from the constraints.
fn description(input: &Input) -> String {
    let mut text = match &input.description {
        Some(text) => text.to_string(),
        None => synthesised(&input.z),
    };
    if let Primitive::Enum(members) = &input.z.primitive
        && !is_short(members)
    {
        let some: Vec<&str> = members.iter().take(10).map(self::text).collect();
        text.push_str(&format!(" One of {} values, such as {}.", members.len(), some.join(", ")));
    }
    if input.name != input.key {
        text.push_str(&format!(" Sent as {}.", input.key));
    }
    text
}

fn synthesised(z: &ZType) -> String {
    let kind = match &z.primitive {
        Primitive::String => "Text",
        Primitive::Number => "Number",
        Primitive::Boolean => "True or false",
        Primitive::Array => "List",
        Primitive::Object => "Object",
        Primitive::Enum(members) if is_short(members) => "One of the listed values",
        Primitive::Enum(_) => "Text",
    };
    let unit = match &z.primitive {
        Primitive::String => " characters",
        Primitive::Array => " items",
        _ => "",
    };
    let range = match (z.min, z.max) {
        (Some(min), Some(max)) if min == max && !unit.is_empty() => format!(" of {min}{unit}"),
        (Some(min), Some(max)) => format!(" from {min} to {max}{unit}"),
        (Some(min), None) => format!(" of at least {min}{unit}"),
        (None, Some(max)) => format!(" of at most {max}{unit}"),
        (None, None) => String::new(),
    };
    let pattern = match &z.pattern {
        Some(pattern) if !is_json_pattern(pattern) => format!(" that matches {}", pattern.source()),
        _ => String::new(),
    };
    let need = if z.is_required() { "required" } else { "optional" };
    format!("{kind}{range}{pattern}, {need}.")
}
