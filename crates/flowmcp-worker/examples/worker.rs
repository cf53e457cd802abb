//! A worker's program for this crate's own tests; the server has a hidden subcommand that does the same.

use std::process::ExitCode;

fn main() -> ExitCode {
    flowmcp_worker::run_worker(vec![Box::new(flowmcp_sandbox_js::JsSandbox::default())])
}
