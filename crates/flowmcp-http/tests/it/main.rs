//! The transport against real servers on 127.0.0.1.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test ends where something is missing")]

mod access;
mod body;
mod cancel;
mod leaks;
mod redirect;
mod retry;
mod server;
mod tls;
