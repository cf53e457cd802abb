//! Turns an engine's [`Output`] into the result of `tools/call`: the only place that builds one.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flowmcp_engine::{Content, Output, ResourceBody};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource, ResourceContents};
use serde_json::{Map, Value, json};

/// Bytes of an error text that `_meta.flowmcp.messages` repeats; the content has all of it.
const MESSAGE_BYTES: usize = 1024;

/// The MCP form of an output.
pub(crate) fn call_result(output: Output) -> CallToolResult {
    let envelope = envelope(&output);
    let structured = match output.structured {
        // Clients check structured content against the published schema, so errors carry none.
        Some(json) if !output.is_error => serde_json::from_str::<Value>(json.get()).ok(),
        _ => None,
    };
    let content = output.content.into_iter().map(content_block).collect();
    let mut result =
        if output.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = structured;
    result.meta = Some(MetaObject(Map::from_iter([("flowmcp".to_owned(), envelope)])));
    result
}

/// The FlowMCP envelope without its data, which is the content.
fn envelope(output: &Output) -> Value {
    let messages: Vec<&str> = match output.content.first() {
        Some(Content::Text(text)) if output.is_error => vec![cut(text)],
        _ => Vec::new(),
    };
    json!({ "status": !output.is_error, "messages": messages, "notes": output.notes })
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MESSAGE_BYTES)).unwrap_or(text)
}

fn content_block(content: Content) -> ContentBlock {
    match content {
        Content::Text(text) => ContentBlock::text(text),
        Content::Image { data, mime_type } => ContentBlock::image(BASE64_STANDARD.encode(data), mime_type),
        Content::Audio { data, mime_type } => ContentBlock::audio(BASE64_STANDARD.encode(data), mime_type),
        Content::Resource { uri, mime_type, body } => ContentBlock::resource(match body {
            ResourceBody::Text(text) => {
                ResourceContents::TextResourceContents { uri, mime_type, text, meta: None }
            }
            ResourceBody::Blob(data) => ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob: BASE64_STANDARD.encode(data),
                meta: None,
            },
        }),
        Content::Link { uri, name, mime_type } => {
            let mut resource = Resource::new(uri, name);
            resource.mime_type = mime_type;
            ContentBlock::resource_link(resource)
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::value::RawValue;

    use super::*;

    fn check(output: Output, expected: &str) {
        assert_eq!(serde_json::to_string(&call_result(output)).unwrap(), expected);
    }

    #[test]
    fn every_kind_of_content_has_its_block() {
        let png = || Bytes::from_static(b"\x89PNG");
        check(
            Output {
                content: vec![
                    Content::Text("a".into()),
                    Content::Image { data: png(), mime_type: "image/png".into() },
                    Content::Audio { data: png(), mime_type: "audio/wav".into() },
                    Content::Resource {
                        uri: "flowmcp://a/b".into(),
                        mime_type: None,
                        body: ResourceBody::Text("t".into()),
                    },
                    Content::Resource {
                        uri: "flowmcp://a/c".into(),
                        mime_type: Some("application/pdf".into()),
                        body: ResourceBody::Blob(png()),
                    },
                    Content::Link { uri: "flowmcp://a/d".into(), name: "d".into(), mime_type: None },
                ],
                notes: vec!["n".into()],
                ..Output::default()
            },
            concat!(
                r#"{"resultType":"complete","content":[{"type":"text","text":"a"},"#,
                r#"{"type":"image","data":"iVBORw==","mimeType":"image/png"},"#,
                r#"{"type":"audio","data":"iVBORw==","mimeType":"audio/wav"},"#,
                r#"{"type":"resource","resource":{"uri":"flowmcp://a/b","text":"t"}},"#,
                r#"{"type":"resource","resource":{"uri":"flowmcp://a/c","mimeType":"application/pdf","blob":"iVBORw=="}},"#,
                r#"{"type":"resource_link","uri":"flowmcp://a/d","name":"d"}],"#,
                r#""isError":false,"_meta":{"flowmcp":{"status":true,"messages":[],"notes":["n"]}}}"#
            ),
        );
    }

    #[test]
    fn structured_content_keeps_digits_and_order_and_never_stands_in_an_error() {
        let json = || RawValue::from_string(r#"{"z":1.10,"a":12345678901234567890}"#.into()).unwrap();
        check(
            Output { structured: Some(json()), ..Output::text("ok") },
            r#"{"resultType":"complete","content":[{"type":"text","text":"ok"}],"structuredContent":{"z":1.10,"a":12345678901234567890},"isError":false,"_meta":{"flowmcp":{"status":true,"messages":[],"notes":[]}}}"#,
        );
        check(
            Output { structured: Some(json()), ..Output::error("HTTP 404: Not Found") },
            r#"{"resultType":"complete","content":[{"type":"text","text":"HTTP 404: Not Found"}],"isError":true,"_meta":{"flowmcp":{"status":false,"messages":["HTTP 404: Not Found"],"notes":[]}}}"#,
        );
    }
}
