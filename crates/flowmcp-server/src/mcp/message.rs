//! Reads one JSON-RPC message from a client and tells what is wrong with it.
//!
//! rmcp reads messages through untagged enums, so a malformed request looks like an unknown method and a `tools/call`
//! costs a trial of every request type. Here the envelope is scanned once without copying; then only the matching type
//! is read. Error replies without a readable id leave the member out, as the MCP schema (2025-11-25, 2026-07-28) says.

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData,
    JsonRpcError, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, RequestId,
};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json, value::RawValue};

/// Methods that rmcp reads and this server answers: their parameters are wrong rather than the method unknown.
const SERVED: [&str; 2] = ["ping", "server/discover"];

/// What a client sent.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message for the service.
    Message(Box<ClientJsonRpcMessage>),
    /// A request that cannot be served, with the answer to it.
    Refused(JsonRpcError),
    /// Not JSON at all. Never answered on stdio: two peers could bounce parse errors for ever.
    NotJson(String),
    /// JSON that wants no answer and cannot be used: a malformed notification or reply.
    Ignored(String),
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// Keeps an explicit `null` apart from an absent member.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl Envelope<'_> {
    fn is_reply(&self) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some())
    }
}

/// Reads one message: a line without its end, or a request body.
pub(crate) fn read(bytes: &[u8]) -> Incoming {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{feff}').trim(),
        Err(error) => return Incoming::NotJson(format!("not UTF-8: {error}")),
    };
    if !text.starts_with('{') {
        return read_other(text);
    }
    match serde_json::from_str::<Envelope<'_>>(text) {
        Ok(envelope) => read_object(text, &envelope),
        Err(error) if error.is_data() => {
            refused(None, invalid_request(format!("not a JSON-RPC message: {error}")))
        }
        Err(error) => Incoming::NotJson(error.to_string()),
    }
}

/// JSON that is no object: a batch, or a bare value.
fn read_other(text: &str) -> Incoming {
    if text.starts_with('[') {
        return match serde_json::from_str::<Vec<&RawValue>>(text) {
            Err(error) => Incoming::NotJson(error.to_string()),
            Ok(items) if !items.is_empty() && items.iter().all(|item| is_reply(item.get())) => {
                Incoming::Ignored("a batch of replies".to_owned())
            }
            Ok(_) => refused(
                None,
                invalid_request("batches are not supported: send one message at a time".to_owned()),
            ),
        };
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => refused(None, invalid_request("a JSON-RPC message is a JSON object".to_owned())),
        Err(error) => Incoming::NotJson(error.to_string()),
    }
}

fn is_reply(text: &str) -> bool {
    serde_json::from_str::<Envelope<'_>>(text).is_ok_and(|envelope| envelope.is_reply())
}

fn read_object(text: &str, envelope: &Envelope<'_>) -> Incoming {
    if envelope.is_reply() {
        return match serde_json::from_str(text) {
            Ok(message) => Incoming::Message(Box::new(message)),
            Err(error) => Incoming::Ignored(format!("a reply that cannot be read: {error}")),
        };
    }
    let id = match envelope.id.map(|id| serde_json::from_str::<RequestId>(id.get())) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => {
            return refused(None, invalid_request("id must be a string or an integer".to_owned()));
        }
    };
    let Some(method) =
        envelope.method.and_then(|method| serde_json::from_str::<Cow<'_, str>>(method.get()).ok())
    else {
        return refused(id, invalid_request("method must be a string".to_owned()));
    };
    if envelope.jsonrpc.map(RawValue::get) != Some(r#""2.0""#) {
        return refused(id, invalid_request(r#"jsonrpc must be "2.0""#.to_owned()));
    }
    match id {
        Some(id) => read_request(text, &method, id, envelope.params),
        None => match serde_json::from_str(text) {
            Ok(message) => Incoming::Message(Box::new(message)),
            Err(error) => Incoming::Ignored(format!("notification {method} cannot be read: {error}")),
        },
    }
}

fn read_request(text: &str, method: &str, id: RequestId, params: Option<&RawValue>) -> Incoming {
    let request = match method {
        "tools/call" => read_call(params),
        "tools/list" => read_list(params),
        "initialize" => read_initialize(params),
        _ => return read_plain(text, method, id),
    };
    match request {
        Ok(request) => Incoming::Message(Box::new(ClientJsonRpcMessage::request(request, id))),
        Err(reason) => refused(Some(id), invalid_params(method, &reason)),
    }
}

/// The frequent request, read straight into its type.
fn read_call(params: Option<&RawValue>) -> Result<ClientRequest, String> {
    let params = params.ok_or("missing, expected {\"name\": …, \"arguments\": {…}}")?;
    let mut params: CallToolRequestParams =
        serde_json::from_str(params.get()).map_err(|error| without_position(&error))?;
    let meta = params.meta.take();
    let mut request = CallToolRequest::new(params);
    if let Some(meta) = meta {
        // rmcp's handlers look for `_meta` here, where its own deserialiser puts it.
        request.extensions.insert(meta);
    }
    Ok(request.into())
}

/// rmcp would take a cursor that is no text for none, and a client would list the first page for ever.
fn read_list(params: Option<&RawValue>) -> Result<ClientRequest, String> {
    let mut request = ListToolsRequest::default();
    if let Some(params) = params {
        let mut params: PaginatedRequestParams =
            serde_json::from_str(params.get()).map_err(|error| without_position(&error))?;
        if let Some(meta) = params.meta.take() {
            request.extensions.insert(meta);
        }
        request.params = Some(params);
    }
    Ok(request.into())
}

/// An `initialize` with what a client may have left out: a server answers with a version of its own then.
fn read_initialize(params: Option<&RawValue>) -> Result<ClientRequest, String> {
    let mut params: Map<String, Value> = match params {
        None => Map::new(),
        Some(params) => serde_json::from_str(params.get()).map_err(|error| without_position(&error))?,
    };
    let newest = json!(ProtocolVersion::LATEST_WITH_INITIALIZE);
    params.entry("protocolVersion").or_insert(newest);
    params.entry("capabilities").or_insert_with(|| json!({}));
    params.entry("clientInfo").or_insert_with(|| json!({ "name": "unknown", "version": "0" }));
    let request = json!({ "method": "initialize", "params": params });
    let request: rmcp::model::InitializeRequest =
        serde_json::from_value(request).map_err(|error| without_position(&error))?;
    Ok(request.into())
}

fn read_plain(text: &str, method: &str, id: RequestId) -> Incoming {
    let served = SERVED.contains(&method);
    match serde_json::from_str::<ClientJsonRpcMessage>(text) {
        // rmcp reads a request with unusable parameters as one of an unknown method.
        Ok(ClientJsonRpcMessage::Request(request))
            if served && matches!(request.request, ClientRequest::CustomRequest(_)) =>
        {
            refused(Some(id), invalid_params(method, "not of the expected shape"))
        }
        Ok(message) => Incoming::Message(Box::new(message)),
        Err(error) if served => refused(Some(id), invalid_params(method, &without_position(&error))),
        Err(_) => refused(Some(id), ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None)),
    }
}

fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

fn invalid_request(message: String) -> ErrorData {
    ErrorData::invalid_request(message, None)
}

fn invalid_params(method: &str, reason: &str) -> ErrorData {
    ErrorData::invalid_params(format!("params of {method}: {reason}"), None)
}

fn refused(id: Option<RequestId>, error: ErrorData) -> Incoming {
    Incoming::Refused(JsonRpcError::new(id, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line about what was read.
    fn summary(text: &str) -> String {
        match read(text.as_bytes()) {
            Incoming::Message(message) => format!("message {}", serde_json::to_string(&message).unwrap()),
            Incoming::Refused(error) => serde_json::to_string(&error).unwrap(),
            Incoming::NotJson(_) => "not JSON".to_owned(),
            Incoming::Ignored(reason) => format!("ignored: {reason}"),
        }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(summary(text), expected, "{text}");
    }

    #[test]
    fn requests_are_read_as_they_are() {
        check(
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"t","arguments":{"n":12345678901234567890.10,"z":1,"a":2},"_meta":{"progressToken":1}}}"#,
            r#"message {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"_meta":{"progressToken":1},"name":"t","arguments":{"n":12345678901234567890.10,"z":1,"a":2}}}"#,
        );
        check(
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r",
            r#"message {"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#,
            r#"message {"jsonrpc":"2.0","id":1,"method":"no/such","params":null}"#,
        );
    }

    #[test]
    fn an_initialize_is_completed() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
            r#"message {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"unknown","version":"0"}}}"#,
        );
    }

    #[test]
    fn malformed_requests_are_refused_with_the_fitting_code() {
        for (text, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":null}"#,
                r#"{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"params of tools/call: missing, expected {\"name\": …, \"arguments\": {…}}"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"arguments":{}}}"#,
                r#"{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"params of tools/call: missing field `name`"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"t","arguments":"x"}}"#,
                r#"{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"params of tools/call: invalid type: string \"x\", expected a map"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"cursor":5}}"#,
                r#"{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"params of tools/list: invalid type: integer `5`, expected a string"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"id must be a string or an integer"}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"id must be a string or an integer"}}"#,
            ),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"jsonrpc must be \"2.0\""}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"method must be a string"}}"#,
            ),
            (
                "[]",
                r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"batches are not supported: send one message at a time"}}"#,
            ),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"batches are not supported: send one message at a time"}}"#,
            ),
            (
                "7",
                r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"a JSON-RPC message is a JSON object"}}"#,
            ),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn a_deeply_nested_call_still_gets_its_answer() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"t","arguments":{{"a":{}{}}}}}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        check(
            &deep,
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"params of tools/call: recursion limit exceeded"}}"#,
        );
    }

    #[test]
    fn replies_are_never_replied_to() {
        check("not json", "not JSON");
        check(r#"{"jsonrpc":"2.0","id":1,"met"#, "not JSON");
        check(r#"[{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}}]"#, "ignored: a batch of replies");
        check(
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
            r#"message {"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
        );
    }
}
