//! From what the engine throws to a [`SandboxError`] that names file, line and column of the handler.

use flowmcp_plugin::{SandboxError, SandboxLimits};
use rquickjs::{Coerced, Ctx, Error, Value};

use crate::budget::Budget;

/// Longest text of a thrown error that is passed on, in characters.
const LONGEST_MESSAGE: usize = 2000;

/// What the engine says when its stack is used up.
const STACK_OVERFLOW: &str = "Maximum call stack size exceeded";

/// What a failure of the engine means. Takes the pending exception, if there is one.
pub(crate) fn failure(
    ctx: &Ctx<'_>,
    error: Error,
    path: &str,
    limits: SandboxLimits,
    budget: &Budget,
) -> SandboxError {
    let thrown = match error {
        Error::Exception => Some(ctx.catch()),
        _ => None,
    };
    // Nothing of the thrown value is looked at once time is up: its getters are the script's.
    if budget.out_of_time() {
        return SandboxError::Time { limit: budget.time_limit() };
    }
    let refused = budget.memory_was_refused();
    match thrown {
        Some(value) => {
            let (message, place) = describe(&value, path);
            if budget.out_of_time() {
                SandboxError::Time { limit: budget.time_limit() }
            } else if refused && (message.contains("out of memory") || value.is_null()) {
                SandboxError::Memory { limit: limits.memory_bytes }
            } else if message.contains(STACK_OVERFLOW) {
                SandboxError::Stack { limit: limits.stack_bytes }
            } else {
                SandboxError::Thrown { message, place }
            }
        }
        None if refused || matches!(error, Error::Allocation) => {
            SandboxError::Memory { limit: limits.memory_bytes }
        }
        None => SandboxError::Crashed { reason: error.to_string() },
    }
}

/// A compile error with its place.
pub(crate) fn compile_failure(
    ctx: &Ctx<'_>,
    error: Error,
    path: &str,
    limits: SandboxLimits,
    budget: &Budget,
) -> SandboxError {
    match failure(ctx, error, path, limits, budget) {
        SandboxError::Thrown { message, place } => {
            let (line, column) =
                place.as_deref().and_then(|place| line_and_column(place, path)).unwrap_or((1, 1));
            SandboxError::Compile { path: path.to_owned(), line, column, reason: message }
        }
        SandboxError::Crashed { reason } => {
            SandboxError::Compile { path: path.to_owned(), line: 1, column: 1, reason }
        }
        other => other,
    }
}

/// Text and place of a thrown value.
fn describe(value: &Value<'_>, path: &str) -> (String, Option<String>) {
    let text_of = |value: &Value<'_>| {
        let ctx = value.ctx().clone();
        value.get::<Coerced<String>>().map(|text| text.0).unwrap_or_else(|_| {
            ctx.catch();
            String::new()
        })
    };
    let Some(object) = value.as_object().filter(|_| value.is_error()) else {
        let shown = match value.type_name() {
            "string" => text_of(value),
            "object" => {
                let ctx = value.ctx();
                let json =
                    ctx.json_stringify(value.clone()).ok().flatten().and_then(|json| json.to_string().ok());
                if json.is_none() {
                    ctx.catch();
                }
                json.unwrap_or_else(|| "an object".to_owned())
            }
            "symbol" | "function" | "constructor" => format!("a {}", value.type_name()),
            _ => text_of(value),
        };
        return (cut(format!("threw {shown}")), None);
    };
    let field = |name: &str| match object.get::<_, Value<'_>>(name) {
        Ok(value) if !value.is_undefined() => text_of(&value),
        Ok(_) => String::new(),
        Err(_) => {
            value.ctx().catch();
            String::new()
        }
    };
    let (name, message, stack) = (field("name"), field("message"), field("stack"));
    let text = match (name.as_str(), message.as_str()) {
        ("", message) => message.to_owned(),
        (name, "") => name.to_owned(),
        (name, message) => format!("{name}: {message}"),
    };
    (cut(text), place_in(&stack, path))
}

fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// The topmost frame of a stack that lies in the handler's file, as `file:line:column`.
fn place_in(stack: &str, path: &str) -> Option<String> {
    stack.lines().find_map(|line| {
        let (line_number, column) =
            line.match_indices(path).find_map(|(at, _)| line_and_column(line.get(at..)?, path))?;
        Some(format!("{path}:{line_number}:{column}"))
    })
}

/// Reads `path:12:7…`.
fn line_and_column(text: &str, path: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix(path)?.strip_prefix(':')?.splitn(3, |c: char| !c.is_ascii_digit());
    let line = numbers.next()?.parse().ok()?;
    let column = numbers.next()?.parse().unwrap_or(1);
    Some((line, column))
}
