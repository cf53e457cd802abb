//! The workers that run handlers: this program again, as a hidden subcommand.

use std::{ffi::OsString, io, process::ExitCode, sync::Arc};

use flowmcp_plugin::Sandbox;
use flowmcp_sandbox_js::JsSandbox;
use flowmcp_worker::{Isolation, Pool, PoolSettings, WorkerCommand};

/// First argument of a worker process. It is no command for people, so the command line does not know it.
pub const WORKER: &str = "worker";

/// Runs a worker until its host closes the pipe: all that such a process does.
pub fn run_worker() -> ExitCode {
    flowmcp_worker::run_worker(sandboxes())
}

/// A pool of this program's workers; none of them starts before the first call of a handler.
///
/// # Errors
/// When this program's own path is not known, or no thread can be started.
pub fn pool(settings: PoolSettings) -> io::Result<Arc<Pool>> {
    let command = match settings.isolation {
        Isolation::Thread => WorkerCommand::Thread { sandboxes },
        Isolation::Process | Isolation::Strict => {
            WorkerCommand::Process { program: std::env::current_exe()?, args: vec![OsString::from(WORKER)] }
        }
    };
    Pool::new(command, settings).map(Arc::new)
}

fn sandboxes() -> Vec<Box<dyn Sandbox>> {
    vec![Box::new(JsSandbox::default())]
}
