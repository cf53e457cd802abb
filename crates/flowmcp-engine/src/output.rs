//! What a call gives: content for the client, still free of MCP types.
//!
//! [`from_response`] makes it of an upstream's response, [`from_handler_result`] of what a handler gave. Both follow
//! semantics.md, section 7: JSON stays the upstream's text, bytes stay bytes, and success is decided by the status alone.

pub mod body;
mod charset;
mod json;
mod limit;
mod media;
pub mod schema;
mod status;

use std::borrow::Cow;

use base64::{
    Engine,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bytes::Bytes;
use flowmcp_plugin::Response;
use serde_json::{Value, value::RawValue};

pub use body::{Body, Reading};
pub use schema::OutputSchema;

use crate::{redact::Redactor, settings::Limits};
use status::{page_words, reason, size, status_line};

/// Result of one call. Bad arguments and upstream failures are outputs too, with [`Output::is_error`] set.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// Content items in order; never empty.
    pub content: Vec<Content>,
    /// The result as checked JSON text, only where the pack publishes its output schema.
    pub structured: Option<Box<RawValue>>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// What the client should know besides the content: conversions, dropped arguments, schema mismatches, cuts.
    pub notes: Vec<String>,
}

/// One content item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text, JSON included.
    Text(String),
    /// An image.
    Image {
        /// Bytes as the upstream sent them.
        data: Bytes,
        /// MIME type without parameters.
        mime_type: String,
    },
    /// Sound.
    Audio {
        /// Bytes as the upstream sent them.
        data: Bytes,
        /// MIME type without parameters.
        mime_type: String,
    },
    /// A resource inside the result.
    Resource {
        /// URI that names it.
        uri: String,
        /// MIME type, where known.
        mime_type: Option<String>,
        /// Its contents.
        body: ResourceBody,
    },
    /// A resource that the client may read later.
    Link {
        /// URI that names it.
        uri: String,
        /// Short name.
        name: String,
        /// MIME type, where known.
        mime_type: Option<String>,
    },
}

/// Contents of an embedded resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Bytes),
}

impl Output {
    /// A successful text result.
    pub fn text(text: impl Into<String>) -> Self {
        Output { content: vec![Content::Text(text.into())], ..Output::default() }
    }

    /// A failed call with its reason.
    pub fn error(text: impl Into<String>) -> Self {
        Output { content: vec![Content::Text(text.into())], is_error: true, ..Output::default() }
    }
}

/// What the tool and the configuration say about its results.
#[derive(Debug, Clone, Copy)]
pub struct OutputContext<'a> {
    /// Takes server values out of everything.
    pub redactor: &'a Redactor,
    /// Size limits.
    pub limits: &'a Limits,
    /// `output.mimeType` of the tool; counts only where a response has no `Content-Type`.
    pub declared_mime_type: Option<&'a str>,
    /// URI that names a result which is embedded as a resource.
    pub uri: &'a str,
    /// `output.schema` of the tool, and what hangs on it.
    pub schema: SchemaUse<'a>,
}

/// What a mismatch with the tool's output schema means.
#[derive(Debug, Clone, Copy, Default)]
pub enum SchemaUse<'a> {
    /// There is no schema.
    #[default]
    None,
    /// A note.
    Note(&'a OutputSchema),
    /// A failed call: clients know the schema and check the structured content themselves.
    Published(&'a OutputSchema),
}

/// Deepest nesting of structured content: parsers of clients and of this server stop at 128, and the result is wrapped.
const STRUCTURED_DEPTH: usize = 100;

/// Base64 of handlers is read with or without padding.
const LENIENT_BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The output of a tool without a result-shaping handler, or of a failed request of any tool.
pub fn from_response(response: &Response, context: &OutputContext<'_>) -> Output {
    let reading = body::read(response, context.redactor, context.declared_mime_type);
    if !(200..300).contains(&response.status) {
        return failure(response.status, reading.body, context);
    }
    let mut output = match reading.body {
        Body::Empty => {
            let text = format!("HTTP {}, no body", status_line(response.status));
            unstructured(Output::text(text), "nothing", context)
        }
        Body::Json(json) => from_json(json::compacted(json), context),
        Body::Text(text) => from_text(text, context),
        Body::Binary { data, mime_type } => from_bytes(data, mime_type, context),
    };
    output.notes.extend(reading.notes);
    if let Some(not_json) = reading.not_json {
        // In the content too: a model that was promised JSON must know why it reads something else.
        output
            .content
            .push(Content::Text(format!("[Note: this response is {not_json}. It is shown as text.]")));
        output.notes.push(format!("the response is {not_json}"));
    }
    redact_notes(output, context.redactor)
}

/// The output of what a handler returned, as JSON text: a string as it is, `{ base64, mimeType }` as bytes, anything else
/// as compact JSON. An empty text stands for a result that is undefined.
pub fn from_handler_result(json_text: &str, context: &OutputContext<'_>) -> Output {
    let json_text = json_text.trim();
    if matches!(json_text, "" | "null") {
        let output = Output::text("No data: the handler's result is null");
        return unstructured(output, "null", context);
    }
    if let Err(error) = json::check(json_text) {
        return Output::error(format!(
            "the handler's result is not valid JSON ({}; {error})",
            size(json_text.len())
        ));
    }
    let output = if json_text.starts_with('"') {
        match serde_json::from_str::<String>(&json::paired_surrogates(json_text)) {
            Ok(text) if text.is_empty() => {
                unstructured(Output::text("No data: the handler's result is an empty text"), "text", context)
            }
            Ok(text) => from_text(context.redactor.redact_owned(text), context),
            Err(error) => Output::error(format!("the handler's result cannot be read: {error}")),
        }
    } else if let Some(encoded) = EncodedBytes::find(json_text) {
        match encoded.decode() {
            Ok(data) => {
                let mime_type = context.redactor.redact_owned(encoded.mime_type);
                from_bytes(context.redactor.redact_bytes(&data), mime_type, context)
            }
            Err(error) => {
                Output::error(format!("the handler's result has a base64 that cannot be decoded: {error}"))
            }
        }
    } else {
        match context.redactor.redact(json_text) {
            Cow::Borrowed(text) => from_json(json::compact(text).into_owned(), context),
            // A value of digits only may have been a number: then the text is no JSON any more.
            Cow::Owned(text) if json::check(&text).is_ok() => {
                from_json(json::compact(&text).into_owned(), context)
            }
            Cow::Owned(text) => from_text(text, context),
        }
    };
    redact_notes(output, context.redactor)
}

/// A checked, compact JSON text without server values.
fn from_json(json: String, context: &OutputContext<'_>) -> Output {
    match context.schema {
        SchemaUse::None => cut_text(json, context),
        SchemaUse::Note(schema) => {
            let mismatches = schema.mismatches(&json);
            let mut output = cut_text(json, context);
            output.notes.extend(mismatches.into_iter().map(|mismatch| format!("output.schema: {mismatch}")));
            output
        }
        SchemaUse::Published(schema) => published(json, schema, context),
    }
}

/// The result in both forms, or a failed call: a client refuses a result that lacks its structured form.
fn published(json: String, schema: &OutputSchema, context: &OutputContext<'_>) -> Output {
    let limit = context.limits.content_bytes;
    let mismatches = schema.mismatches(&json);
    let reason = if !mismatches.is_empty() {
        format!("The result does not match the output schema of this tool:\n{}", mismatches.join("\n"))
    } else if !json.starts_with('{') {
        "The result is not a JSON object, but this tool publishes an output schema, which requires one."
            .to_owned()
    } else if json.len() > limit {
        format!(
            "The result of {} is above the limit of {}, so it has no structured form. Ask for less with narrower \
             parameters, or raise limits.content in the server's configuration.",
            size(json.len()),
            size(limit)
        )
    } else if json::depth(&json) > STRUCTURED_DEPTH {
        format!("The result is nested deeper than {STRUCTURED_DEPTH} levels, so it has no structured form.")
    } else {
        let paired = json::paired_surrogates(&json);
        let mut output = Output::default();
        if let Cow::Owned(_) = paired {
            output.notes.push("the structured content has U+FFFD for halves of surrogate pairs".to_owned());
        }
        match RawValue::from_string(paired.into_owned()) {
            Ok(structured) => {
                output.structured = Some(structured);
                output.content.push(Content::Text(json));
                return output;
            }
            Err(error) => format!("The result has no structured form: {error}"),
        }
    };
    failed_with(reason, cut_text(json, context))
}

fn from_text(text: String, context: &OutputContext<'_>) -> Output {
    unstructured(cut_text(text, context), "text", context)
}

fn from_bytes(data: Bytes, mime_type: String, context: &OutputContext<'_>) -> Output {
    let limit = context.limits.content_bytes;
    if data.len() > limit {
        return Output::error(format!(
            "The result is {mime_type} of {}, above the limit of {}, and cannot be cut. Ask for a smaller one, or \
             raise limits.content in the server's configuration.",
            size(data.len()),
            size(limit)
        ));
    }
    let found = mime_type.clone();
    let content = if mime_type.starts_with("image/") {
        Content::Image { data, mime_type }
    } else if mime_type.starts_with("audio/") {
        Content::Audio { data, mime_type }
    } else {
        Content::Resource {
            uri: context.uri.to_owned(),
            mime_type: Some(mime_type),
            body: ResourceBody::Blob(data),
        }
    };
    unstructured(Output { content: vec![content], ..Output::default() }, &found, context)
}

/// A result that is not JSON, held against the schema.
fn unstructured(mut output: Output, found: &str, context: &OutputContext<'_>) -> Output {
    match context.schema {
        SchemaUse::Note(schema) if !schema.allows_text() && found != "nothing" && found != "null" => {
            output.notes.push(format!("output.schema: $: expected {}, found {found}", schema.expected()));
            output
        }
        SchemaUse::None | SchemaUse::Note(_) => output,
        SchemaUse::Published(schema) => {
            let expected = schema.expected();
            failed_with(
                format!(
                    "The request succeeded, but its result does not match the output schema of this tool: \
                     expected {expected}, found {found}."
                ),
                output,
            )
        }
    }
}

/// The reason first, then what there is.
fn failed_with(reason: String, mut output: Output) -> Output {
    output.content.insert(0, Content::Text(reason));
    output.is_error = true;
    output.structured = None;
    output
}

fn cut_text(mut text: String, context: &OutputContext<'_>) -> Output {
    let note = limit::cut(&mut text, context.limits.content_bytes);
    Output { content: vec![Content::Text(text)], notes: note.into_iter().collect(), ..Output::default() }
}

/// A status that is no success: its name and the start of the body, never a header.
fn failure(status: u16, body: Body, context: &OutputContext<'_>) -> Output {
    let mut text = format!("HTTP {status}");
    let name = reason(status);
    if !name.is_empty() {
        text.push_str(": ");
        text.push_str(name);
    }
    if (300..400).contains(&status) {
        text.push_str(" (a redirect that was not followed)");
    }
    let words = match body {
        Body::Empty => {
            text.push_str(", no body");
            return Output::error(text);
        }
        Body::Binary { data, mime_type } => {
            text.push_str(&format!(", body: {mime_type} of {}", size(data.len())));
            return Output::error(text);
        }
        // Markup that falls away, and entities that are resolved, may bring a value together only now.
        Body::Text(page) if is_page(&page) => context.redactor.redact_owned(page_words(&page)),
        Body::Text(words) => words,
        Body::Json(words) => json::compacted(words),
    };
    text.push('\n');
    text.push_str(&limit::excerpt(&words, limit::EXCERPT_BYTES));
    Output::error(text)
}

fn is_page(text: &str) -> bool {
    let start = text.trim_start();
    let start = start.get(..start.floor_char_boundary(100)).unwrap_or_default().to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.contains("<html") || start.starts_with("<head")
}

fn redact_notes(mut output: Output, redactor: &Redactor) -> Output {
    for note in &mut output.notes {
        if let Cow::Owned(clean) = redactor.redact(note) {
            *note = clean;
        }
    }
    output
}

/// `{ base64, mimeType }`, how a handler returns bytes.
struct EncodedBytes {
    base64: String,
    mime_type: String,
}

impl EncodedBytes {
    /// Both keys and no other: an API's own object with such keys stays JSON.
    fn find(json: &str) -> Option<EncodedBytes> {
        if !(json.starts_with('{') && json.contains("\"base64\"") && json.contains("\"mimeType\"")) {
            return None;
        }
        let mut object: serde_json::Map<String, Value> = serde_json::from_str(json).ok()?;
        let (Some(Value::String(base64)), Some(Value::String(mime_type)), true) =
            (object.remove("base64"), object.remove("mimeType"), object.is_empty())
        else {
            return None;
        };
        let mime_type = media::parse(&mime_type)?.essence.into_owned();
        Some(EncodedBytes { base64, mime_type })
    }

    /// A `data:` prefix and line breaks are common in what handlers pass on.
    fn decode(&self) -> Result<Bytes, base64::DecodeError> {
        let text = match self.base64.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
            Some((_, encoded)) => encoded,
            None => &self.base64,
        };
        let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        LENIENT_BASE64.decode(text).map(Bytes::from)
    }
}

#[cfg(test)]
mod tests;
