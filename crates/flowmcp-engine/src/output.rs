//! What a call gives: content for the client, still free of MCP types.

use bytes::Bytes;
use serde_json::value::RawValue;

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
