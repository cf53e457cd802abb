//! From the arguments of a call to values in their declared types.

use flowmcp_spec::{Primitive, schema::Input};
use serde_json::{Map, Value};

use crate::{ActiveTool, Settings, Types, UnknownArguments};

/// Arguments after binding: one value for each input of the tool, `None` where it was left out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arguments {
    pub(crate) values: Vec<Option<Value>>,
    /// What the client should know: conversions and dropped arguments.
    pub(crate) notes: Vec<String>,
}

/// Binds the arguments of a call.
///
/// # Errors
/// One line for every argument that does not fit.
pub(crate) fn bind(
    tool: &ActiveTool,
    mut arguments: Map<String, Value>,
    settings: &Settings,
) -> Result<Arguments, Vec<String>> {
    let inputs = &tool.plan.inputs;
    let mut faults = Vec::new();
    let mut notes = Vec::new();
    let limit = settings.limits.argument_depth;
    if arguments.values().any(|value| deeper_than(value, limit)) {
        return Err(vec![format!("arguments are nested more than {limit} levels deep")]);
    }
    let mut values = Vec::with_capacity(inputs.len());
    let mut left_out = Vec::with_capacity(inputs.len());
    for input in inputs {
        let given = take(&mut arguments, inputs, input).filter(|value| !counts_as_omitted(input, value));
        left_out.push(given.is_none());
        let Some(given) = given else {
            if input.z.is_required() {
                faults.push(format!("{}: is required", input.name));
            }
            values.push(input.z.default.clone());
            continue;
        };
        if input.placeless && !tool.plan.hooks.any() {
            notes.push(format!("{}: the schema's path has no place for it, so it is not sent", input.name));
        }
        let judged = match settings.types {
            Types::Coerce => input.z.coerce(&given),
            Types::Strict => input.z.accept(&given),
        };
        match judged {
            Ok(coerced) => {
                if let Some(from) = coerced.from {
                    notes.push(format!(
                        "{}: converted from a {from} to {}",
                        input.name,
                        kind(&input.z.primitive)
                    ));
                }
                values.push(Some(coerced.value));
            }
            Err(mismatch) => {
                faults.push(format!("{}: {mismatch}", input.name));
                values.push(None);
            }
        }
    }
    unknown(&arguments, inputs, &left_out, settings.unknown_arguments, &mut notes, &mut faults);
    if faults.is_empty() { Ok(Arguments { values, notes }) } else { Err(faults) }
}

/// The argument for an input, under its public name, its key in the schema, or its placeholder's name.
fn take(arguments: &mut Map<String, Value>, inputs: &[Input], input: &Input) -> Option<Value> {
    if let Some(value) = arguments.swap_remove(&*input.name) {
        return Some(value);
    }
    let is_name = |text: &str| inputs.iter().any(|other| &*other.name == text);
    if !is_name(&input.key)
        && let Some(value) = arguments.swap_remove(&*input.key)
    {
        return Some(value);
    }
    // Two inputs may share a placeholder's name; both get its value, so it stays in the map until all have looked.
    let alias = input.alias.as_deref().filter(|alias| !is_name(alias))?;
    arguments.get(alias).cloned()
}

/// `null` at the top level is the same as nothing, and so is `""` where no text is wanted.
fn counts_as_omitted(input: &Input, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => {
            text.is_empty()
                && !input.z.is_required()
                && matches!(input.z.primitive, Primitive::Number | Primitive::Boolean)
        }
        _ => false,
    }
}

/// Unknown arguments that are named one by one. A client may send any number, and each is compared with all inputs.
const MAX_UNKNOWN_SHOWN: usize = 20;

fn unknown(
    arguments: &Map<String, Value>,
    inputs: &[Input],
    left_out: &[bool],
    policy: UnknownArguments,
    notes: &mut Vec<String>,
    faults: &mut Vec<String>,
) {
    let is_alias = |name: &str| inputs.iter().any(|input| input.alias.as_deref() == Some(name));
    let unknown: Vec<&String> = arguments.keys().filter(|name| !is_alias(name)).collect();
    for name in unknown.iter().take(MAX_UNKNOWN_SHOWN) {
        let shown: String = name.chars().take(64).collect();
        let misspelt = inputs.iter().zip(left_out).find(|(input, left_out)| {
            **left_out && input.name.len() > 1 && strsim::osa_distance(&shown, &input.name) <= 1
        });
        let known = || inputs.iter().map(|input| &*input.name).collect::<Vec<_>>().join(", ");
        if let Some((input, _)) = misspelt {
            faults.push(format!("{shown}: is not known; did you mean {}? (known: {})", input.name, known()));
        } else if policy == UnknownArguments::Refuse {
            faults.push(format!("{shown}: is not known (known: {})", known()));
        } else {
            notes.push(format!("{shown}: is not known and was dropped"));
        }
    }
    let more = unknown.len().saturating_sub(MAX_UNKNOWN_SHOWN);
    match policy {
        _ if more == 0 => {}
        UnknownArguments::Refuse => faults.push(format!("{more} more arguments are not known")),
        UnknownArguments::Drop => notes.push(format!("{more} more arguments are not known and were dropped")),
    }
}

fn kind(primitive: &Primitive) -> &'static str {
    match primitive {
        Primitive::Number => "a number",
        Primitive::Boolean => "a boolean",
        Primitive::Array => "an array",
        Primitive::Object => "an object",
        Primitive::String | Primitive::Enum(_) => "a string",
    }
}

fn deeper_than(value: &Value, limit: usize) -> bool {
    match value {
        _ if limit == 0 => true,
        Value::Array(items) => items.iter().any(|item| deeper_than(item, limit - 1)),
        Value::Object(map) => map.values().any(|item| deeper_than(item, limit - 1)),
        _ => false,
    }
}
