//! MCP sessions against an engine whose upstream is made up.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail like tests")]

mod http;
mod stdio;
mod world;
