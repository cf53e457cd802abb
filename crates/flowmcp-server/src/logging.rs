//! Everything that is not a result: log lines and messages, on stderr.

use std::io::{self, Write};

use anyhow::Result;
use tracing_subscriber::filter::LevelFilter;

use crate::config::{Log, LogFormat, LogLevel};

/// Starts logging as the configuration says. Lines go to stderr: in stdio serving mode stdout is the protocol's.
///
/// # Errors
/// When logging was started before.
pub fn start(log: &Log) -> Result<()> {
    let level = match log.level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    // Libraries say little that a user can act on, and their debug lines may show requests with their keys.
    let filter = tracing_subscriber::filter::Targets::new()
        .with_default(level.min(LevelFilter::ERROR))
        .with_targets(OURS.map(|target| (target, level)));
    let subscriber = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        // A line that cannot be written is lost; complaining about it on the same closed stderr would panic.
        .log_internal_errors(false)
        .with_max_level(level);
    let result = match log.format {
        LogFormat::Text => {
            let subscriber = subscriber
                .with_target(false)
                .with_ansi(io::IsTerminal::is_terminal(&io::stderr()) && !no_colour());
            use tracing_subscriber::layer::SubscriberExt;
            tracing::subscriber::set_global_default(subscriber.finish().with(filter))
        }
        LogFormat::Json => {
            use tracing_subscriber::layer::SubscriberExt;
            tracing::subscriber::set_global_default(
                subscriber.json().flatten_event(true).finish().with(filter),
            )
        }
    };
    result.map_err(Into::into)
}

/// Crates whose debug lines are written here, and hold no server value.
const OURS: [&str; 5] =
    ["flowmcp_server", "flowmcp_engine", "flowmcp_http", "flowmcp_spec", "flowmcp_validate"];

/// Whether the user asked for text without colour (<https://no-color.org>).
pub(crate) fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// A message for the user of a command, on stderr. A closed stderr is no reason to fail.
pub fn say(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{message}");
}
