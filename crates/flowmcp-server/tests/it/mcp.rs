//! MCP sessions against an engine whose upstream is made up.

mod http;
mod stdio;
mod world;
