//! The server from outside: one module per part.

mod architecture;
mod cli;
mod config;
mod mcp;
mod readme;
mod serve;
