//! The binary: reads the process's arguments and environment once, and runs.

use std::{collections::BTreeMap, process::ExitCode};

use clap::Parser;
use flowmcp_server::{cli::Cli, commands, handlers};

fn main() -> ExitCode {
    // A worker confines itself and reads no environment, so it must come before everything else.
    if std::env::args_os().nth(1).is_some_and(|first| first == handlers::WORKER) {
        return handlers::run_worker();
    }
    // What is not UTF-8 in the environment cannot be a setting or a key of ours.
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    commands::run(Cli::parse(), &environment)
}
