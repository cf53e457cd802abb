//! What the configuration decides for every call: limits and argument handling.

use std::time::Duration;

use flowmcp_plugin::RetryPolicy;

/// Settings of the engine; the server fills them from its configuration.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Sizes and times.
    pub limits: Limits,
    /// What happens to arguments that a tool does not know.
    pub unknown_arguments: UnknownArguments,
    /// Whether arguments are converted to their declared type.
    pub types: Types,
    /// Retries of upstream requests.
    pub retry: RetryPolicy,
}

/// Limits of semantics.md, section 10, as far as the engine applies them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// One deadline per call: retries, handlers and plugins included.
    pub call_deadline: Duration,
    /// Bytes of a decoded upstream body.
    pub response_bytes: usize,
    /// Bytes of an upstream body that goes into a handler.
    pub handler_input_bytes: usize,
    /// Bytes of content that go to a client.
    pub content_bytes: usize,
    /// Nesting of a call's arguments.
    pub argument_depth: usize,
    /// Redirects followed.
    pub redirects: u8,
    /// Calls in flight.
    pub calls: usize,
    /// Calls in flight to one upstream host.
    pub calls_per_host: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            call_deadline: Duration::from_secs(30),
            response_bytes: 10 << 20,
            handler_input_bytes: 5 << 20,
            content_bytes: 100 << 10,
            argument_depth: 64,
            redirects: 5,
            calls: 256,
            calls_per_host: 32,
        }
    }
}

/// What happens to arguments that a tool does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownArguments {
    /// Dropped with a note, unless one looks like a misspelt known name.
    #[default]
    Drop,
    /// An argument error.
    Refuse,
}

/// Whether arguments are converted to their declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Types {
    /// `"10"` is accepted for a number, with a note.
    #[default]
    Coerce,
    /// The JSON type must match.
    Strict,
}
