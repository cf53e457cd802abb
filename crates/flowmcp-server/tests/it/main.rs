//! The server from outside: one module per part.

mod architecture;
mod config;
mod mcp;
mod readme;
