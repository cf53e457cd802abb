//! The server from outside: one module per part.

mod architecture;
// Processes, signals, pipes and links as Unix has them.
#[cfg(unix)]
mod cli;
mod config;
mod handlers;
#[cfg(target_os = "linux")]
mod hostile;
mod mcp;
mod readme;
#[cfg(unix)]
mod serve;
