//! Worker processes for handlers: a pool that grows with need, frames over pipes, confinement by the kernel, and
//! deadlines that hold whatever a handler does.
//!
//! The host makes a [`Pool`] and calls it; the program that the pool starts calls [`run_worker`] and nothing else. One
//! worker does one job at a time and serves one pack in its life. What a worker says is bounded and checked against the
//! state of its job; a violation, like a limit, ends the worker, never the host.
//!
//! ```no_run
//! # use std::{ffi::OsString, sync::Arc, time::{Duration, Instant}};
//! # use flowmcp_plugin::*;
//! # use flowmcp_worker::*;
//! # struct Services;
//! # impl HostServices for Services {
//! #     fn fetch(&self, _: FetchRequest, _: Instant) -> BoxFuture<'_, Result<FetchResult, String>> { Box::pin(async { Err(String::new()) }) }
//! #     fn log(&self, _: LogLevel, _: &str) {}
//! # }
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let command = WorkerCommand::Process { program: std::env::current_exe()?, args: vec![OsString::from("worker")] };
//! let pool = Pool::new(command, PoolSettings::default())?;
//! let text = "export const handlers = () => ( { ping: { postRequest: ( { response } ) => ( { response } ) } } )";
//! let program = Program::new(Arc::from("demo"), "ping.mjs".into(), text.into(), vec![], "{}".into(), SandboxSettings::default());
//! let job = Job { program: &program, tool: "ping", hook: Hook::PostRequest, input: r#"{"response":1}"#, tokens: &[] };
//! let output = pool.call(job, Instant::now() + Duration::from_secs(30), &Services).await?;
//! # Ok(())
//! # }
//! ```

mod confine;
mod frame;
mod host;
mod message;
mod pool;
mod probe;
mod process;
mod report;
mod schedule;
mod session;
mod worker;

pub use confine::{Layer, LayerState, Layers, missing};
pub use pool::{Isolation, Job, Pool, PoolSettings, Program};
pub use process::WorkerCommand;
pub use report::{Attempt, ConfinementReport, Outcome};
pub use session::HostServices;
pub use worker::run_worker;
