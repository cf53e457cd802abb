//! Where handlers run: a [`Sandbox`] loads a schema's handlers, [`Handlers`] calls one hook of one tool.
//!
//! The trait is synchronous and single-threaded, because a sandbox runs in a worker process that does one job at a
//! time; a `fetch` of a handler becomes a [`Ticket`] that the host answers, so several can be in flight.

use std::{
    fmt,
    time::{Duration, Instant},
};

use bytes::Bytes;

use crate::Method;

/// Runs handlers of one language. Implementations hold no state between two loads.
pub trait Sandbox {
    /// File extensions whose handlers it runs, without the dot (`mjs`).
    fn extensions(&self) -> &'static [&'static str];

    /// Compiles a schema's handlers and gives access to their hooks.
    ///
    /// # Errors
    /// [`SandboxError`] when the source does not compile or a limit was reached.
    fn load(
        &self,
        source: &SandboxSource<'_>,
        limits: SandboxLimits,
        host: std::rc::Rc<dyn SandboxHost>,
    ) -> Result<Box<dyn Handlers>, SandboxError>;
}

/// The handlers of one schema file.
pub trait Handlers {
    /// Calls one hook of one tool. Input and output are JSON text; the shapes are those of semantics.md, section 6.
    ///
    /// # Errors
    /// [`SandboxError`] when the hook threw, returned nothing that JSON can hold, or reached a limit.
    fn call(
        &mut self,
        tool: &str,
        hook: Hook,
        input: &str,
        deadline: Instant,
    ) -> Result<String, SandboxError>;
}

/// What a sandbox loads.
#[derive(Debug, Clone, Copy)]
pub struct SandboxSource<'a> {
    /// Path of the schema inside its pack, for error texts.
    pub path: &'a str,
    /// Whole text of the file.
    pub text: &'a str,
    /// Shared lists as one JSON object, keyed by list name; handlers see them frozen.
    pub shared_lists: &'a str,
}

/// What the host does for a running handler.
pub trait SandboxHost {
    /// Starts a request; refused unless the pack has the `fetch` grant.
    ///
    /// # Errors
    /// The refusal, in words for the handler's author.
    fn start(&self, request: FetchRequest) -> Result<Ticket, String>;

    /// Waits until one of the started requests has ended; `None` when none is outstanding.
    fn wait(&self) -> Option<(Ticket, Result<FetchResult, String>)>;

    /// Takes one line that the handler logged.
    fn log(&self, level: LogLevel, line: &str);
}

/// Names one started request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// A request that a handler makes itself.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// Method.
    pub method: Method,
    /// Absolute URL.
    pub url: String,
    /// Header names and values.
    pub headers: Vec<(String, String)>,
    /// Body bytes; empty means none.
    pub body: Bytes,
}

/// What a handler's request got.
#[derive(Debug, Clone)]
pub struct FetchResult {
    /// Status code.
    pub status: u16,
    /// Header names (lower case) and values.
    pub headers: Vec<(String, String)>,
    /// Decoded body.
    pub body: Bytes,
}

/// The moments at which a handler runs, in call order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hook {
    /// Edits the request.
    PreRequest,
    /// Makes the request itself.
    ExecuteRequest,
    /// Reshapes the response.
    PostRequest,
    /// Gives the result (dialect of seed 002).
    PostProcess,
}

impl Hook {
    /// All hooks in call order.
    pub const ALL: [Hook; 4] = [Hook::PreRequest, Hook::ExecuteRequest, Hook::PostRequest, Hook::PostProcess];

    /// The key under which a schema declares it.
    pub fn as_str(self) -> &'static str {
        match self {
            Hook::PreRequest => "preRequest",
            Hook::ExecuteRequest => "executeRequest",
            Hook::PostRequest => "postRequest",
            Hook::PostProcess => "postProcess",
        }
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How loud a handler's log line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// `console.debug`
    Debug,
    /// `console.log`, `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
}

/// Limits of one hook call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxLimits {
    /// CPU time.
    pub cpu: Duration,
    /// Bytes of script memory.
    pub memory_bytes: usize,
    /// Bytes of script stack.
    pub stack_bytes: usize,
    /// Bytes of the result's JSON text.
    pub output_bytes: usize,
}

impl Default for SandboxLimits {
    /// 2 s, 128 MiB, 512 KiB, 10 MiB (semantics.md, section 10).
    fn default() -> Self {
        SandboxLimits {
            cpu: Duration::from_secs(2),
            memory_bytes: 128 << 20,
            stack_bytes: 512 << 10,
            output_bytes: 10 << 20,
        }
    }
}

/// Why a handler gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The source does not compile.
    #[error("{path}:{line}:{column}: {reason}")]
    Compile {
        /// File inside the pack.
        path: String,
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
        /// Cause.
        reason: String,
    },
    /// The handler threw or its promise was rejected.
    #[error("{message}{}", .place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default())]
    Thrown {
        /// Text of what was thrown.
        message: String,
        /// `file:line:column` where known.
        place: Option<String>,
    },
    /// The result is not what the hook must return.
    #[error("returned {found}, expected {expected}")]
    Shape {
        /// What came back.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The result cannot be written as JSON (a cycle, a function).
    #[error("returned something that JSON cannot hold: {reason}")]
    NotJson {
        /// Cause.
        reason: String,
    },
    /// A promise that nothing can settle any more.
    #[error("never settles: a promise is pending and nothing is left to run")]
    NeverSettles,
    /// The time limit was reached.
    #[error("reached the time limit of {limit:?}")]
    Time {
        /// Limit.
        limit: Duration,
    },
    /// The memory limit was reached.
    #[error("reached the memory limit of {limit} bytes")]
    Memory {
        /// Limit in bytes.
        limit: usize,
    },
    /// The stack limit was reached.
    #[error("reached the stack limit of {limit} bytes")]
    Stack {
        /// Limit in bytes.
        limit: usize,
    },
    /// The result is larger than the limit.
    #[error("returned more than the limit of {limit} bytes")]
    Output {
        /// Limit in bytes.
        limit: usize,
    },
    /// The engine or its process ended.
    #[error("the sandbox ended unexpectedly: {reason}")]
    Crashed {
        /// Cause.
        reason: String,
    },
}
