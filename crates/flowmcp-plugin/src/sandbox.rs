//! Where handlers run: a [`Sandbox`] compiles and loads a schema's handlers, [`Handlers`] calls one hook of one tool.
//!
//! The traits are synchronous and single-threaded, because a sandbox runs in a worker process that does one job at a
//! time; a `fetch` of a handler becomes a [`Ticket`] that the host answers, so several can be in flight.
//!
//! Compiling and running are apart, because they happen in different processes: source text is compiled by a worker
//! that runs nothing else, and what it gives is kept by the host and loaded by others.

use std::{
    fmt,
    rc::Rc,
    time::{Duration, Instant},
};

use bytes::Bytes;

use crate::Method;

/// Runs handlers of one language. Implementations hold no state between two loads.
pub trait Sandbox {
    /// File extensions whose handlers it runs, without the dot (`mjs`).
    fn extensions(&self) -> &'static [&'static str];

    /// Touches whatever a confined process can no longer open (time zone, locale). Called once, before confinement.
    fn warm_up(&self) {}

    /// Compiles a schema's handlers without running any of them. What comes back is for [`Sandbox::load`] only.
    ///
    /// # Errors
    /// [`SandboxError::Compile`] when the source is wrong, others when a limit was reached.
    fn compile(&self, source: &SandboxSource<'_>, limits: SandboxLimits) -> Result<Bytes, SandboxError>;

    /// Gives access to compiled handlers; nothing of them runs before the first call.
    ///
    /// # Errors
    /// [`SandboxError`] when the code is not what [`Sandbox::compile`] gave.
    fn load(
        &self,
        program: &SandboxProgram<'_>,
        settings: SandboxSettings,
        host: Rc<dyn SandboxHost>,
    ) -> Result<Box<dyn Handlers>, SandboxError>;
}

/// The handlers of one schema file.
pub trait Handlers {
    /// Calls one hook of one tool.
    ///
    /// # Errors
    /// [`SandboxError`] when the hook threw, returned what JSON cannot hold, or reached a limit.
    fn call(&mut self, call: &HookCall<'_>) -> Result<HookOutput, SandboxError>;

    /// Runs the factory and tells what it gives.
    ///
    /// # Errors
    /// As for [`Handlers::call`].
    fn outline(&mut self, deadline: Instant) -> Result<Outline, SandboxError>;

    /// Does in advance, while nobody waits, what the next call would begin with. Runs nothing of the handlers.
    fn prepare(&mut self) {}

    /// True once a limit was reached: this value, and best its process, must not be used again.
    fn is_spent(&self) -> bool;
}

/// What a sandbox compiles.
#[derive(Debug, Clone, Copy)]
pub struct SandboxSource<'a> {
    /// Path of the schema inside its pack, for error texts.
    pub path: &'a str,
    /// Whole text of the file.
    pub text: &'a str,
    /// Libraries that the handlers may use: name and text of a module whose default export is the library.
    pub libraries: &'a [(String, String)],
}

/// What a sandbox loads.
#[derive(Debug, Clone, Copy)]
pub struct SandboxProgram<'a> {
    /// Path of the schema inside its pack, for error texts.
    pub path: &'a str,
    /// What [`Sandbox::compile`] gave. Nothing else is safe to load: compiled code is not verified.
    pub code: &'a [u8],
    /// Shared lists as one JSON object, keyed by list name; handlers see them frozen. Empty text means none.
    pub shared_lists: &'a str,
}

/// What a pack's handlers may do and use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SandboxSettings {
    /// Limits of each call.
    pub limits: SandboxLimits,
    /// Whether requests and timers exist.
    pub network: NetworkGrant,
    /// How long a context lives.
    pub context: ContextLife,
}

/// Whether handlers can make requests themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NetworkGrant {
    /// `fetch` and timers do not exist.
    #[default]
    Refused,
    /// `fetch` and timers exist; the host decides on each request.
    Granted,
}

/// How long a handler's global state lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextLife {
    /// A fresh context for each hook call.
    #[default]
    Call,
    /// One context with frozen intrinsics for all calls of a schema.
    Schema,
}

/// One call of one hook. Input shapes are those of semantics.md, section 6, with what the host need not say twice left out.
#[derive(Debug, Clone, Copy)]
pub struct HookCall<'a> {
    /// Tool, as the schema names it.
    pub tool: &'a str,
    /// Hook.
    pub hook: Hook,
    /// The argument as one JSON object. For `postRequest`, a `struct` without `data` gets `response` as its `data`; for
    /// `postProcess`, `data` is the upstream's JSON (or a string with its raw text), and a missing `response` is `data`.
    pub input: &'a str,
    /// Tokens that stand for secrets in `input`, derived ones of earlier hooks too; base64 of text that holds one becomes
    /// a [`DerivedToken`].
    pub tokens: &'a [String],
    /// When the whole call must have ended.
    pub deadline: Instant,
}

/// What a factory gave: names and kinds, no values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outline {
    /// A function.
    Function,
    /// An object with its own members in their order, at most [`Outline::MEMBERS`].
    Object(Vec<(String, Outline)>),
    /// Something else, or an object deeper than [`Outline::DEPTH`], as a word: `number`, `null`.
    Other(String),
}

impl Outline {
    /// Most levels that are looked at: tools, their hooks (of resources: their queries), the hooks of those.
    pub const DEPTH: usize = 3;
    /// Most members of one object.
    pub const MEMBERS: usize = 256;

    /// What it is, as a word.
    pub fn kind(&self) -> &str {
        match self {
            Outline::Function => "function",
            Outline::Object(_) => "object",
            Outline::Other(kind) => kind,
        }
    }
}

/// What a hook gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookOutput {
    /// The result.
    pub value: HookValue,
    /// The input object's state after the call, as JSON, when the hook returned nothing (it may have edited in place).
    pub edited: Option<String>,
    /// Tokens that the hook made out of those in its input.
    pub derived: Vec<DerivedToken>,
}

/// A hook's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookValue {
    /// The handlers have no such tool or hook.
    Absent,
    /// The hook returned nothing.
    Undefined,
    /// JSON text.
    Json(String),
}

/// A token that stands for the base64 form of text with another token in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedToken {
    /// The new token: letters and digits.
    pub token: String,
    /// The encoding it stands for.
    pub encoding: DerivedEncoding,
    /// The bytes to encode, once the tokens in them are replaced.
    pub text: Bytes,
}

/// How a derived token's text is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DerivedEncoding {
    /// Base64 with padding (RFC 4648, section 4).
    Base64,
    /// Base64 for URLs, without padding (RFC 4648, section 5).
    Base64Url,
}

/// What the host does for a running handler.
pub trait SandboxHost {
    /// Starts a request; refused unless the pack has the `fetch` grant.
    ///
    /// # Errors
    /// The refusal, in words for the handler's author.
    fn start(&self, request: FetchRequest) -> Result<Ticket, String>;

    /// Waits until one of the started requests has ended, or until the given moment; `None` when that came first or
    /// none is outstanding. Time spent here is not the handler's CPU time.
    fn wait(&self, until: Option<Instant>) -> Option<(Ticket, Result<FetchResult, String>)>;

    /// Takes one line that the handler logged.
    fn log(&self, level: LogLevel, line: &str);
}

/// Names one started request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// A request that a handler makes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchRequest {
    /// Method.
    pub method: Method,
    /// Absolute URL.
    pub url: String,
    /// Header names and values.
    pub headers: Vec<(String, String)>,
    /// Body bytes; empty means none.
    pub body: Bytes,
    /// Tokens that the running hook has made so far out of those in its input: the request may hold them.
    pub derived: Vec<DerivedToken>,
}

/// What a handler's request got.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// A layer of confinement is missing and the host insists on all of them.
    #[error("handlers are refused: this system lacks {missing}, and isolation is strict")]
    Unconfined {
        /// The missing layers.
        missing: String,
    },
    /// No worker became free in time.
    #[error("no worker became free: {reason}")]
    Busy {
        /// Cause.
        reason: String,
    },
    /// The engine or its process ended.
    #[error("the sandbox ended unexpectedly: {reason}")]
    Crashed {
        /// Cause.
        reason: String,
    },
}
