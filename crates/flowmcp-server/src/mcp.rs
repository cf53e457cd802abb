//! The side that clients see: MCP over stdio and over streamable HTTP.
//!
//! [`serve_stdio`] and [`serve_http`] serve one view of an engine. Both speak the `initialize` revisions 2024-11-05 to
//! 2025-11-25 and the 2026-07-28 one. Only this module builds MCP messages; the engine does not know them.
//!
//! A message goes through `message` (is it a request at all, and a well-formed one), rmcp's service loop, and the
//! handler, which turns tools into rmcp's [`Tool`](rmcp::model::Tool)s and outputs into results.

mod handler;
mod http;
mod lines;
mod message;
mod result;
mod shutdown;
mod stdio;
mod tools;

pub use http::{HttpSettings, serve_http, serve_http_on};
pub use shutdown::shutdown_signal;
pub use stdio::{LineSettings, serve_stdio, serve_streams};

use std::time::Duration;

/// Time that calls in flight get at SIGTERM before they are cancelled (semantics.md, section 10).
pub const DRAIN: Duration = Duration::from_secs(10);

/// Bytes of one message from a client (semantics.md, section 10).
pub const REQUEST_BYTES: usize = 4 << 20;
