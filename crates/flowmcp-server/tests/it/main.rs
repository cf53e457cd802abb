//! The server from outside: one module per part.

mod architecture;
// Processes, signals, pipes and links as Unix has them.
#[cfg(unix)]
mod cli;
mod config;
mod handlers;
mod mcp;
mod readme;
#[cfg(unix)]
mod serve;
