//! Starting and ending workers. One long-lived thread starts all of them, because a worker dies with the thread that
//! started it.

use std::{
    io,
    os::fd::OwnedFd,
    os::unix::process::ExitStatusExt,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, mpsc},
    thread,
};

use flowmcp_plugin::Sandbox;
use tokio::sync::oneshot;

use crate::worker;

/// How to get a worker.
#[derive(Clone)]
pub enum WorkerCommand {
    /// A program that calls [`run_worker`](crate::run_worker), usually this one with a hidden subcommand.
    Process {
        /// Path of the program.
        program: std::path::PathBuf,
        /// Its arguments.
        args: Vec<std::ffi::OsString>,
    },
    /// A thread of this process, unconfined: for trusted packs and embedding. A hung handler keeps its thread.
    Thread {
        /// Makes the sandboxes of one thread.
        sandboxes: fn() -> Vec<Box<dyn Sandbox>>,
    },
}

/// A started worker: the host's ends of its pipes, and the process to kill.
pub(crate) struct Started {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) body: Body,
}

/// What runs a worker.
pub(crate) enum Body {
    Process(Child),
    Thread,
}

/// What the starting thread is asked for.
enum Order {
    Start(oneshot::Sender<io::Result<Started>>),
    End(Body, oneshot::Sender<Option<ExitStatus>>),
}

/// A handle to the starting thread. When the last one is dropped the thread ends, and all its workers with it.
#[derive(Clone)]
pub(crate) struct Starter {
    orders: Arc<mpsc::Sender<Order>>,
}

/// Stack of a worker that is a thread: the script's own limit and room for native frames.
const THREAD_STACK: usize = 8 << 20;
/// Room in a worker's pipes, so that most frames need one write.
const PIPE_BYTES: usize = 256 << 10;

impl Starter {
    /// Starts the thread.
    pub(crate) fn new(command: WorkerCommand) -> io::Result<Starter> {
        let (orders, received) = mpsc::channel();
        thread::Builder::new().name("flowmcp-workers".to_owned()).spawn(move || {
            for order in received {
                match order {
                    Order::Start(reply) => {
                        // If nobody waits any more, dropping the pipes ends the worker; a process is also reaped.
                        if let Err(Ok(unwanted)) = reply.send(start(&command)) {
                            end(unwanted.body);
                        }
                    }
                    Order::End(body, reply) => drop(reply.send(end(body))),
                }
            }
        })?;
        Ok(Starter { orders: Arc::new(orders) })
    }

    pub(crate) async fn start(&self) -> io::Result<Started> {
        let (reply, answer) = oneshot::channel();
        self.orders.send(Order::Start(reply)).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Kills and reaps a worker; the receiver gets how it ended, if it was a process.
    pub(crate) fn end(&self, body: Body) -> oneshot::Receiver<Option<ExitStatus>> {
        let (reply, answer) = oneshot::channel();
        if let Err(mpsc::SendError(Order::End(body, _))) = self.orders.send(Order::End(body, reply)) {
            end(body);
        }
        answer
    }
}

fn gone() -> io::Error {
    io::Error::other("the thread that starts workers has ended")
}

fn start(command: &WorkerCommand) -> io::Result<Started> {
    match command {
        WorkerCommand::Process { program, args } => {
            let mut child = Command::new(program)
                .args(args)
                .env_clear()
                // The only variable: without it the C library would look for the time zone in files.
                .env("TZ", "UTC")
                .current_dir("/")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()?;
            match (child.stdin.take(), child.stdout.take()) {
                (Some(input), Some(output)) => {
                    let (input, output) = (OwnedFd::from(input), OwnedFd::from(output));
                    for pipe in [&input, &output] {
                        enlarge(pipe);
                    }
                    Ok(Started { input, output, body: Body::Process(child) })
                }
                _ => {
                    end(Body::Process(child));
                    Err(io::Error::other("a worker has no pipes"))
                }
            }
        }
        WorkerCommand::Thread { sandboxes } => {
            let sandboxes = *sandboxes;
            let (its_input, input) = io::pipe()?;
            let (output, its_output) = io::pipe()?;
            thread::Builder::new().name("flowmcp-worker".to_owned()).stack_size(THREAD_STACK).spawn(
                move || {
                    if let Err(error) = worker::serve_in_thread(its_input, its_output, &sandboxes()) {
                        tracing::debug!(%error, "a worker thread ended");
                    }
                },
            )?;
            Ok(Started { input: input.into(), output: output.into(), body: Body::Thread })
        }
    }
}

/// Best effort: a small pipe works too.
fn enlarge(pipe: &OwnedFd) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES) {
        tracing::debug!(%error, "a worker's pipe keeps its size");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (pipe, PIPE_BYTES);
}

fn end(body: Body) -> Option<ExitStatus> {
    match body {
        Body::Process(mut child) => {
            // Fails only for a process that has ended already.
            if let Err(error) = child.kill() {
                tracing::debug!(%error, "a worker had ended");
            }
            child.wait().ok()
        }
        Body::Thread => None,
    }
}

/// How a worker ended, for people.
pub(crate) fn describe(status: Option<ExitStatus>) -> String {
    // A system call of the fatal list.
    const SIGSYS: i32 = 31;
    const SIGKILL: i32 = 9;
    match status.map(|status| (status.signal(), status.code())) {
        Some((Some(SIGSYS), _)) => {
            "the worker process made a forbidden system call and was killed".to_owned()
        }
        Some((Some(SIGKILL), _)) => "the worker process was killed".to_owned(),
        Some((Some(signal), _)) => format!("the worker process crashed with signal {signal}"),
        Some((None, Some(code))) => format!("the worker process ended with exit code {code}"),
        _ => "the worker ended".to_owned(),
    }
}
