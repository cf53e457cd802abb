//! The server from outside: one module per part.

mod config;
mod mcp;
