//! The binary as MCP clients meet it: on stdio and over HTTP, with an upstream of its own.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail like tests")]

mod http;
pub(crate) mod process;
mod stdio;
