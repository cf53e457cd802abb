//! What hooks get: `struct` and `payload`, with every name that schemas of the catalogue read.

use serde_json::{Map, Value, json};

use crate::{ActiveTool, bind::Arguments, params::ServerParams, render::Rendered};

use super::Tokens;

/// `struct` and `payload`, which carry a call's state from hook to hook.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) structure: Map<String, Value>,
    pub(super) payload: Map<String, Value>,
}

impl State {
    /// The state before the first hook.
    pub(super) fn new(
        tool: &ActiveTool,
        rendered: &Rendered,
        arguments: &Arguments,
        tokens: &Tokens,
        params: Option<&ServerParams>,
    ) -> State {
        let server = server_params(tool, tokens, params);
        let (url, method) = (rendered.url.as_str(), rendered.method.as_str());
        let (headers, body) = (headers(&rendered.headers), body(rendered.body.as_deref()));
        let structure = json!({
            "url": url,
            "method": method,
            "headers": &headers,
            "body": &body,
            "status": true,
            "messages": [],
            "queryParams": query(url),
            "requestBody": &body,
            "serverParams": &server,
        });
        let payload =
            json!({ "url": url, "method": method, "headers": headers, "body": body, "serverParams": server });
        let mut state = State { structure: object(structure), payload: object(payload) };
        let mut given = Map::new();
        for (input, value) in tool.plan.inputs.iter().zip(&arguments.values) {
            if let Some(value) = value {
                given.insert(input.key.to_string(), value.clone());
            }
        }
        let mut user = given.clone();
        user.entry("_allParams").or_insert_with(|| Value::Object(given.clone()));
        state.payload.insert("userParams".to_owned(), Value::Object(user));
        state.payload.insert("_allParams".to_owned(), Value::Object(given.clone()));
        for (key, value) in given {
            // A name of the payload itself wins; the argument is in `userParams` too.
            state.payload.entry(key).or_insert(value);
        }
        state
    }

    /// The argument of a hook: members given as JSON text, then `struct` and `payload`.
    pub(super) fn input(&self, members: &[(&str, &str)]) -> String {
        let size: usize = members.iter().map(|(_, json)| json.len() + 16).sum();
        let mut input = String::with_capacity(size + 1024);
        input.push('{');
        for (name, json) in members {
            input.push('"');
            input.push_str(name);
            input.push_str("\":");
            input.push_str(json);
            input.push(',');
        }
        for (name, map) in [("struct", &self.structure), ("payload", &self.payload)] {
            let json = serde_json::to_string(map).unwrap_or_else(|_| "{}".to_owned());
            input.push_str(&format!("\"{name}\":{json}"));
            input.push(if name == "struct" { ',' } else { '}' });
        }
        input
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn server_params(tool: &ActiveTool, tokens: &Tokens, params: Option<&ServerParams>) -> Map<String, Value> {
    let value = |key: &str| match (tokens.of_key(key), params.and_then(|params| params.get(key))) {
        (Some(token), _) => Value::from(token),
        (None, Some(real)) => Value::from(real.expose()),
        (None, None) => Value::from(format!("<{key}>")),
    };
    tool.server_params().map(|key| (key.to_owned(), value(key))).collect()
}

pub(super) fn headers(headers: &[(String, String)]) -> Value {
    Value::Object(headers.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect())
}

/// A JSON body as its value, any other as its text, none as null.
fn body(body: Option<&str>) -> Value {
    match body {
        None => Value::Null,
        Some(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
    }
}

/// The query's pairs; a key that occurs more than once has a list.
pub(super) fn query(url: &str) -> Value {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    let mut pairs: Map<String, Value> = Map::new();
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        match pairs.get_mut(&*key) {
            None => {
                pairs.insert(key.into_owned(), Value::from(value.into_owned()));
            }
            Some(Value::Array(values)) => values.push(Value::from(value.into_owned())),
            Some(one) => *one = Value::Array(vec![one.take(), Value::from(value.into_owned())]),
        }
    }
    Value::Object(pairs)
}
