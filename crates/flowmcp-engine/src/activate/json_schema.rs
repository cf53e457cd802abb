//! JSON Schema of a tool's arguments, in the plain form that every client and model API takes: no unions, no
//! references, no null defaults (semantics.md, section 4).

use flowmcp_spec::{Member, Primitive, ZType, schema::Input, ztype::Pattern};
use serde_json::{Map, Number, Value, json};

/// More members than this, or more bytes of them, become a plain string with a hint.
const MAX_MEMBERS: usize = 200;
const MAX_MEMBER_BYTES: usize = 4 << 10;

/// The schema of all inputs of a tool.
pub(super) fn of(inputs: &[Input]) -> Map<String, Value> {
    let mut properties = Map::with_capacity(inputs.len());
    let mut required = Vec::new();
    for input in inputs {
        properties.insert(input.name.to_string(), Value::Object(property(input)));
        if input.z.is_required() {
            required.push(Value::String(input.name.to_string()));
        }
    }
    let mut schema = Map::with_capacity(4);
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
    schema.insert("additionalProperties".into(), Value::Bool(false));
    schema
}

fn property(input: &Input) -> Map<String, Value> {
    let z = &input.z;
    let mut property = Map::with_capacity(4);
    let kind = match &z.primitive {
        Primitive::String | Primitive::Enum(_) => "string",
        Primitive::Number => "number",
        Primitive::Boolean => "boolean",
        Primitive::Array => "array",
        Primitive::Object => "object",
    };
    property.insert("type".into(), kind.into());
    property.insert("description".into(), Value::String(description(input)));
    match &z.primitive {
        Primitive::Enum(members) if is_short(members) => {
            property.insert("enum".into(), members.iter().map(member).collect());
        }
        Primitive::Array => {
            property.insert("items".into(), json!({}));
        }
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
            property.insert(key.into(), Value::Number(bound));
        }
    }
    if let Some(pattern) = z.pattern.as_ref().filter(|pattern| is_json_pattern(pattern))
        && matches!(z.primitive, Primitive::String)
    {
        property.insert("pattern".into(), pattern.source().into());
    }
    if let Some(default) = &z.default {
        property.insert("default".into(), default.clone());
    }
    property
}

/// With flags or in slashes the text is not what JSON Schema calls a pattern.
fn is_json_pattern(pattern: &Pattern) -> bool {
    !pattern.source().starts_with('/')
}

fn member(member: &Member) -> Value {
    match member {
        Member::Value(value) => Value::String(value.to_string()),
        Member::List { list, .. } => Value::String(list.to_string()),
    }
}

fn is_short(members: &[Member]) -> bool {
    let bytes = |member: &Member| match member {
        Member::Value(value) => value.len(),
        Member::List { list, .. } => list.len(),
    };
    members.len() <= MAX_MEMBERS && members.iter().map(bytes).sum::<usize>() <= MAX_MEMBER_BYTES
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
        let some: Vec<String> =
            members.iter().take(10).filter_map(|m| member(m).as_str().map(str::to_owned)).collect();
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
