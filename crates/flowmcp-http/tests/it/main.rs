//! The transport against real servers on 127.0.0.1.

mod access;
mod body;
mod cancel;
mod leaks;
mod redirect;
mod retry;
mod server;
mod tls;
