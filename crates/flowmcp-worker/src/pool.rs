//! The pool that the host calls: jobs in, results out.

use std::{
    collections::HashMap,
    io,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use flowmcp_plugin::{Hook, HookOutput, Outline, SandboxError, SandboxSettings};
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;

use crate::{
    confine,
    message::{Caps, ToWorker, call_frame},
    process::{Starter, WorkerCommand},
    schedule::{Lease, Need, NoLease, Schedule},
    session::{self, Answer, Failure, HostServices, Rules, Wanted},
};

/// How strictly handlers are kept apart from the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Worker processes with every layer of confinement that the kernel offers.
    #[default]
    Process,
    /// Worker processes; handlers are refused where a layer is missing.
    Strict,
    /// Threads of this process, unconfined.
    Thread,
}

/// Sizes of a pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolSettings {
    /// How strictly handlers are kept apart from the host.
    pub isolation: Isolation,
    /// Most workers at once.
    pub workers: usize,
    /// Most handlers that compute at once; one that waits for its request is not counted.
    pub running: usize,
    /// Most calls that wait for a worker.
    pub waiting: usize,
    /// Most lines that one call logs.
    pub log_lines: u32,
    /// Most requests that one call makes.
    pub fetches: u32,
    /// How long after its time a worker is killed.
    pub grace: Duration,
    /// Largest script memory that any pack's settings allow, in bytes; a worker's own limits follow from it.
    pub memory_bytes: usize,
}

impl Default for PoolSettings {
    /// 16 workers, as many running as there are cores, 1024 waiting, 100 lines, 16 requests, 50 ms, 128 MiB.
    fn default() -> Self {
        PoolSettings {
            isolation: Isolation::Process,
            workers: 16,
            running: thread::available_parallelism().map_or(2, NonZeroUsize::get),
            waiting: 1024,
            log_lines: 100,
            fetches: 16,
            grace: Duration::from_millis(50),
            memory_bytes: 128 << 20,
        }
    }
}

/// A schema's handlers, as the host knows them: source only.
#[derive(Debug)]
pub struct Program {
    id: u64,
    /// The pack that the schema belongs to. A worker runs handlers of one pack only, and packs take turns.
    pub pack: Arc<str>,
    /// File extension, without the dot (`mjs`).
    pub extension: String,
    /// Path of the schema inside its pack, for error texts.
    pub path: String,
    /// Whole text of the file.
    pub text: Arc<str>,
    /// Libraries that the handlers may use: name and module text.
    pub libraries: Vec<(String, String)>,
    /// Shared lists as one JSON object, keyed by list name; empty text means none.
    pub shared_lists: String,
    /// What the pack allows.
    pub settings: SandboxSettings,
    /// SHA-256 of everything that compiling reads, from the first call on: a catalogue has many handlers, and few are
    /// called.
    hash: OnceLock<[u8; 32]>,
}

impl Program {
    /// Keeps a schema's handlers; nothing is compiled.
    pub fn new(
        pack: Arc<str>,
        path: String,
        text: Arc<str>,
        libraries: Vec<(String, String)>,
        shared_lists: String,
        settings: SandboxSettings,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_owned()).unwrap_or_default();
        Program {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            pack,
            extension,
            path,
            text,
            libraries,
            shared_lists,
            settings,
            hash: OnceLock::new(),
        }
    }

    fn hash(&self) -> [u8; 32] {
        *self.hash.get_or_init(|| {
            let mut hasher = Sha256::new();
            let of_libraries = self.libraries.iter().flat_map(|(name, text)| [name.as_str(), text.as_str()]);
            for part in [self.path.as_str(), &*self.text].into_iter().chain(of_libraries) {
                hasher.update(part.len().to_be_bytes());
                hasher.update(part.as_bytes());
            }
            hasher.finalize().into()
        })
    }
}

/// One call of one hook.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Whose handlers.
    pub program: &'a Program,
    /// Tool, as the schema names it.
    pub tool: &'a str,
    /// Hook.
    pub hook: Hook,
    /// The argument as one JSON object ([`flowmcp_plugin::HookCall::input`] says more).
    pub input: &'a str,
    /// Tokens that stand for secrets in `input`.
    pub tokens: &'a [String],
}

type Compiled = Arc<OnceCell<Result<Bytes, SandboxError>>>;

/// Most compiled programs that are kept.
const MOST_COMPILED: usize = 4096;

/// Worker processes that run handlers. They are started when they are needed and end with the pool.
pub struct Pool {
    schedule: Arc<Schedule>,
    settings: PoolSettings,
    compiled: Mutex<HashMap<[u8; 32], Compiled>>,
}

impl Pool {
    /// A pool without workers yet.
    ///
    /// # Errors
    /// When the thread that starts workers cannot be started.
    pub fn new(command: WorkerCommand, settings: PoolSettings) -> io::Result<Pool> {
        let starter = Starter::new(command)?;
        let schedule = Schedule::new(
            starter,
            settings.running,
            settings.workers,
            settings.waiting,
            settings.memory_bytes,
        );
        Ok(Pool { schedule, settings, compiled: Mutex::default() })
    }

    /// Calls one hook of one tool.
    ///
    /// Dropping the future ends the handler, and its worker with it.
    ///
    /// # Errors
    /// [`SandboxError`], whatever went wrong.
    pub async fn call(
        &self,
        job: Job<'_>,
        deadline: Instant,
        services: &dyn HostServices,
    ) -> Result<HookOutput, SandboxError> {
        let program = job.program;
        let code = self.code(program, deadline).await?;
        let frame = |left| call_frame(program.id, job.tool, job.hook, left, job.tokens, job.input.as_bytes());
        match self.run(program, &code, Wanted::Output, deadline, services, frame).await? {
            Answer::Output(output) => Ok(output),
            Answer::Outline(_) | Answer::Compiled(_) => Err(unexpected()),
        }
    }

    /// Compiles a schema's handlers, runs its factory, and tells what it gives.
    ///
    /// # Errors
    /// [`SandboxError`], whatever went wrong.
    pub async fn outline(
        &self,
        program: &Program,
        deadline: Instant,
        services: &dyn HostServices,
    ) -> Result<Outline, SandboxError> {
        let code = self.code(program, deadline).await?;
        let frame = |left| ToWorker::Outline { program: program.id, left }.encode();
        match self.run(program, &code, Wanted::Outline, deadline, services, frame).await? {
            Answer::Outline(outline) => Ok(outline),
            Answer::Output(_) | Answer::Compiled(_) => Err(unexpected()),
        }
    }

    /// How many workers exist, and how many of them do nothing.
    pub fn workers(&self) -> (usize, usize) {
        self.schedule.counts()
    }

    pub(crate) fn schedule(&self) -> &Arc<Schedule> {
        &self.schedule
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.settings.memory_bytes
    }

    async fn run(
        &self,
        program: &Program,
        code: &Bytes,
        wanted: Wanted,
        deadline: Instant,
        services: &dyn HostServices,
        frame: impl Fn(Duration) -> Vec<u8>,
    ) -> Result<Answer, SandboxError> {
        let caps = Caps { log_lines: self.settings.log_lines, fetches: self.settings.fetches };
        let rules = Rules { wanted, settings: program.settings, caps, deadline, grace: self.settings.grace };
        let mut lease = self.lease(&program.pack, Need::Program(program.id), deadline).await?;
        for last in [false, true] {
            let loaded = lease.worker().is_some_and(|worker| worker.use_program(program.id));
            let mut frames = if loaded { Vec::new() } else { load_frame(program, code, caps) };
            let job = frame(deadline.saturating_duration_since(Instant::now()));
            if frames.is_empty() {
                frames = job
            } else {
                frames.extend_from_slice(&job)
            }
            match session::run(&mut lease, &frames, &rules, services).await {
                Ok(answer) => return Ok(answer),
                Err(Failure::Error(error)) => return Err(error),
                Err(Failure::NotBegun) if last => break,
                Err(Failure::NotBegun) => lease.replace().await.map_err(|error| start_failed(&error))?,
            }
        }
        let status = match lease.take_worker() {
            Some(worker) => worker.end().await,
            None => None,
        };
        Err(SandboxError::Crashed { reason: crate::process::describe(status) })
    }

    async fn lease(&self, pack: &Arc<str>, need: Need, deadline: Instant) -> Result<Lease, SandboxError> {
        let waiting = tokio::time::timeout_at(deadline.into(), self.schedule.acquire(pack, need)).await;
        let mut lease = match waiting {
            Ok(Ok(lease)) => lease,
            Ok(Err(NoLease::Full(waiting))) => {
                return Err(SandboxError::Busy { reason: format!("{waiting} calls are waiting already") });
            }
            Ok(Err(NoLease::Start(error))) => return Err(start_failed(&error)),
            Err(_) => return Err(SandboxError::Busy { reason: "the call's deadline came first".to_owned() }),
        };
        if self.settings.isolation == Isolation::Strict
            && let Some(missing) = lease.worker().and_then(|worker| confine::missing(&worker.layers))
        {
            return Err(SandboxError::Unconfined { missing });
        }
        Ok(lease)
    }

    /// The compiled handlers, from a worker that does nothing else; a source that does not compile is not tried again.
    async fn code(&self, program: &Program, deadline: Instant) -> Result<Bytes, SandboxError> {
        let cell = {
            let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
            if compiled.len() >= MOST_COMPILED && !compiled.contains_key(&program.hash()) {
                compiled.clear();
            }
            Arc::clone(compiled.entry(program.hash()).or_default())
        };
        let compiling = async {
            match self.compile(program, deadline).await {
                Err(error) if !matches!(error, SandboxError::Compile { .. }) => Err(error),
                known => Ok(known),
            }
        };
        cell.get_or_try_init(|| compiling).await?.clone()
    }

    async fn compile(&self, program: &Program, deadline: Instant) -> Result<Bytes, SandboxError> {
        let mut lease = self.lease(&program.pack, Need::Fresh, deadline).await?;
        let caps = Caps { log_lines: 0, fetches: 0 };
        let settings = SandboxSettings { limits: program.settings.limits, ..SandboxSettings::default() };
        let rules = Rules { wanted: Wanted::Compiled, settings, caps, deadline, grace: self.settings.grace };
        let frames = ToWorker::Compile {
            extension: program.extension.clone(),
            path: program.path.clone(),
            text: Bytes::copy_from_slice(program.text.as_bytes()),
            libraries: program.libraries.clone(),
            limits: settings.limits,
        }
        .encode();
        let answer = session::run(&mut lease, &frames, &rules, &NoServices).await;
        // It parsed one pack's text: it must not run or compile anything else.
        let worker = lease.take_worker();
        match answer {
            Ok(Answer::Compiled(code)) => Ok(code),
            Ok(Answer::Output(_) | Answer::Outline(_)) => Err(unexpected()),
            Err(Failure::Error(error)) => Err(error),
            Err(Failure::NotBegun) => {
                let status = match worker {
                    Some(worker) => worker.end().await,
                    None => None,
                };
                Err(SandboxError::Crashed { reason: crate::process::describe(status) })
            }
        }
    }
}

fn load_frame(program: &Program, code: &Bytes, caps: Caps) -> Vec<u8> {
    ToWorker::Load {
        program: program.id,
        extension: program.extension.clone(),
        path: program.path.clone(),
        code: code.clone(),
        shared_lists: program.shared_lists.clone(),
        settings: program.settings,
        caps,
    }
    .encode()
}

fn start_failed(error: &io::Error) -> SandboxError {
    SandboxError::Crashed { reason: format!("no worker could be started: {error}") }
}

fn unexpected() -> SandboxError {
    SandboxError::Crashed { reason: "the worker answered another question".to_owned() }
}

/// For jobs that run nobody's code.
struct NoServices;

impl HostServices for NoServices {
    fn fetch(
        &self,
        _request: flowmcp_plugin::FetchRequest,
        _deadline: Instant,
    ) -> flowmcp_plugin::BoxFuture<'_, Result<flowmcp_plugin::FetchResult, String>> {
        Box::pin(async { Err("not granted".to_owned()) })
    }

    fn log(&self, _level: flowmcp_plugin::LogLevel, _line: &str) {}
}
