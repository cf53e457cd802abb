//! Inside a worker: one job at a time, from standard input to standard output. The host's frames are trusted.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    io::{self, Read, Write},
    process::ExitCode,
    rc::Rc,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use flowmcp_plugin::{
    FetchRequest, FetchResult, Handlers, HookCall, LogLevel, Sandbox, SandboxError, SandboxHost,
    SandboxProgram, SandboxSource, Ticket,
};

use crate::{
    confine, frame,
    message::{Caps, FromWorker, ToWorker},
};

/// How many schemas' handlers a worker keeps. The host counts with it too (`host::Worker::programs`).
pub(crate) const PROGRAMS: usize = 4;
/// Longest log line that is passed on, in bytes.
pub(crate) const LOG_LINE: usize = 4096;
/// Longest frame from the host: a request's body of 10 MiB and room.
const LONGEST_FRAME: usize = 256 << 20;
/// Room for one read, in bytes: for a frame whose length is not known, and for the rest of a long one.
const LEAST_READ: usize = 16 << 10;
const MOST_READ: usize = 256 << 10;

/// Runs a worker on standard input and output until the host closes them: the whole of the hidden subcommand.
///
/// It confines the process before it runs anything, so nothing may be done after it.
pub fn run_worker(sandboxes: Vec<Box<dyn Sandbox>>) -> ExitCode {
    match serve(StandardInput, StandardOutput, &sandboxes, confine::confine) {
        // Nothing is taken down: a heap that a script left behind may be large, or damaged.
        Ok(()) => std::process::exit(0),
        Err(_) => std::process::exit(1),
    }
}

/// Serves a host that runs in the same process, unconfined.
pub(crate) fn serve_in_thread(
    input: io::PipeReader,
    output: io::PipeWriter,
    sandboxes: &[Box<dyn Sandbox>],
) -> io::Result<()> {
    serve(input, output, sandboxes, |_, _| Vec::new())
}

/// Standard input without a buffer in between.
struct StandardInput;

impl Read for StandardInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), &mut *into))?)
    }
}

/// Standard output without a buffer in between.
struct StandardOutput;

impl Write for StandardOutput {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| rustix::io::write(rustix::stdio::stdout(), from))?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Both directions of the pipe.
struct Link<R, W> {
    input: R,
    received: BytesMut,
    output: W,
    /// Frames that wait for the next flush.
    pending: Vec<u8>,
}

impl<R: Read, W: Write> Link<R, W> {
    /// The next frame; none when the host closed the pipe.
    fn read(&mut self) -> io::Result<Option<ToWorker>> {
        loop {
            let frame = frame::take(&mut self.received, LONGEST_FRAME)
                .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            if let Some(frame) = frame {
                return ToWorker::decode(frame).map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into());
            }
            let filled = self.received.len();
            let whole = self
                .received
                .first_chunk::<{ frame::HEADER }>()
                .map_or(0, |header| u32::from_be_bytes(*header) as usize + frame::HEADER);
            self.received.resize(filled + whole.saturating_sub(filled).clamp(LEAST_READ, MOST_READ), 0);
            let read = match self.received.get_mut(filled..) {
                Some(space) => self.input.read(space),
                None => Ok(0),
            };
            self.received.truncate(filled + *read.as_ref().unwrap_or(&0));
            if read? == 0 {
                return Ok(None);
            }
        }
    }

    fn send(&mut self, message: &FromWorker) {
        let mut frame = message.encode();
        if self.pending.is_empty() { self.pending = frame } else { self.pending.append(&mut frame) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        self.output.write_all(&pending)?;
        self.output.flush()
    }
}

/// The host as the running handler sees it.
struct WorkerHost<R, W> {
    link: RefCell<Link<R, W>>,
    caps: Cell<Caps>,
    /// Requests that the current call started, and how many of them are open.
    started: Cell<u32>,
    open: Cell<u32>,
    logged: Cell<u32>,
    /// What broke the pipe while a handler ran.
    broken: RefCell<Option<io::Error>>,
}

impl<R: Read, W: Write> WorkerHost<R, W> {
    fn begin_call(&self, caps: Caps) {
        self.caps.set(caps);
        self.started.set(0);
        self.open.set(0);
        self.logged.set(0);
    }

    fn exchange(&self, message: &FromWorker) -> io::Result<Option<ToWorker>> {
        let mut link = self.link.borrow_mut();
        link.send(message);
        link.flush()?;
        link.read()
    }
}

impl<R: Read, W: Write> SandboxHost for WorkerHost<R, W> {
    fn start(&self, request: FetchRequest) -> Result<Ticket, String> {
        let most = self.caps.get().fetches;
        if self.started.get() >= most {
            return Err(format!("more than {most} requests in one call"));
        }
        self.started.set(self.started.get() + 1);
        self.open.set(self.open.get() + 1);
        let ticket = u64::from(self.started.get());
        self.link.borrow_mut().send(&FromWorker::Fetch { ticket, request });
        Ok(Ticket(ticket))
    }

    fn wait(&self, until: Option<Instant>) -> Option<(Ticket, Result<FetchResult, String>)> {
        if self.open.get() == 0 && until.is_none() {
            return None;
        }
        let at_most = until.map(|until| until.saturating_duration_since(Instant::now()));
        match self.exchange(&FromWorker::Wait { at_most }) {
            Ok(Some(ToWorker::Answer { ticket, result })) => {
                self.open.set(self.open.get().saturating_sub(1));
                Some((Ticket(ticket), result))
            }
            Ok(Some(_)) => None,
            Ok(None) => {
                self.broken.replace(Some(io::ErrorKind::UnexpectedEof.into()));
                None
            }
            Err(error) => {
                self.broken.replace(Some(error));
                None
            }
        }
    }

    fn log(&self, level: LogLevel, line: &str) {
        let (logged, most) = (self.logged.get(), self.caps.get().log_lines);
        if logged > most {
            return;
        }
        self.logged.set(logged + 1);
        let message = if logged == most {
            FromWorker::Log {
                level: LogLevel::Warn,
                line: format!("further lines are dropped after {most} in one call"),
            }
        } else {
            FromWorker::Log { level, line: cut(line).to_owned() }
        };
        self.link.borrow_mut().send(&message);
    }
}

/// The start of a line, at most [`LOG_LINE`] bytes, cut between characters.
fn cut(line: &str) -> &str {
    let mut end = line.len().min(LOG_LINE);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(..end).unwrap_or_default()
}

/// Handlers that were loaded, or why they were not.
struct Loaded {
    program: u64,
    caps: Caps,
    handlers: Result<Box<dyn Handlers>, SandboxError>,
}

fn serve<R: Read + 'static, W: Write + 'static>(
    input: R,
    output: W,
    sandboxes: &[Box<dyn Sandbox>],
    confine: impl FnOnce(usize, confine::Layers) -> Vec<confine::Layer>,
) -> io::Result<()> {
    let mut link = Link { input, received: BytesMut::new(), output, pending: Vec::new() };
    let Some(ToWorker::Hello { memory_bytes, layers }) = link.read()? else { return Ok(()) };
    for sandbox in sandboxes {
        sandbox.warm_up();
    }
    let layers = confine(memory_bytes, layers);
    link.send(&FromWorker::Ready { layers });
    link.flush()?;
    let host = Rc::new(WorkerHost {
        link: RefCell::new(link),
        caps: Cell::new(Caps { log_lines: 0, fetches: 0 }),
        started: Cell::new(0),
        open: Cell::new(0),
        logged: Cell::new(0),
        broken: RefCell::new(None),
    });
    let mut programs: VecDeque<Loaded> = VecDeque::new();
    loop {
        let message = host.link.borrow_mut().read()?;
        let answer = match message {
            None => return Ok(()),
            Some(ToWorker::Load { program, extension, path, code, shared_lists, settings, caps }) => {
                let source = SandboxProgram { path: &path, code: &code, shared_lists: &shared_lists };
                let handlers = sandbox_for(sandboxes, &extension).and_then(|sandbox| {
                    sandbox.load(&source, settings, Rc::clone(&host) as Rc<dyn SandboxHost>)
                });
                programs.push_front(Loaded { program, caps, handlers });
                programs.truncate(PROGRAMS);
                continue;
            }
            Some(ToWorker::Call { program, tool, hook, left, tokens, input }) => {
                let input = std::str::from_utf8(&input).unwrap_or_default();
                let deadline = moment(left);
                answer(&host, &mut programs, program, |handlers| {
                    let call = HookCall { tool: &tool, hook, input, tokens: &tokens, deadline };
                    handlers.call(&call).map(|output| |retire| FromWorker::Output { output, retire })
                })
            }
            Some(ToWorker::Outline { program, left }) => {
                let deadline = moment(left);
                answer(&host, &mut programs, program, |handlers| {
                    handlers
                        .outline(deadline)
                        .map(|outline| |retire| FromWorker::Outlined { outline, retire })
                })
            }
            Some(ToWorker::Compile { extension, path, text, libraries, limits }) => {
                let text = std::str::from_utf8(&text).unwrap_or_default();
                let source = SandboxSource { path: &path, text, libraries: &libraries };
                match sandbox_for(sandboxes, &extension).and_then(|sandbox| sandbox.compile(&source, limits))
                {
                    Ok(code) => FromWorker::Compiled { code },
                    Err(error) => FromWorker::Failed { error, retire: true },
                }
            }
            Some(ToWorker::Probe(probe)) => {
                FromWorker::Probed { refusal: probe.attempt().err().map(|error| error.to_string()) }
            }
            Some(ToWorker::Hello { .. } | ToWorker::Answer { .. } | ToWorker::NoAnswer) => {
                return Err(io::ErrorKind::InvalidData.into());
            }
        };
        if let Some(error) = host.broken.take() {
            return Err(error);
        }
        let retire = matches!(
            answer,
            FromWorker::Output { retire: true, .. }
                | FromWorker::Outlined { retire: true, .. }
                | FromWorker::Failed { retire: true, .. }
        );
        let mut link = host.link.borrow_mut();
        link.send(&answer);
        link.flush()?;
        drop(link);
        drop(answer);
        if retire {
            return Ok(());
        }
        if let Some(Loaded { handlers: Ok(handlers), .. }) = programs.front_mut() {
            handlers.prepare();
        }
    }
}

/// Runs a job on loaded handlers, which come to the front.
fn answer<R: Read, W: Write, M: FnOnce(bool) -> FromWorker>(
    host: &WorkerHost<R, W>,
    programs: &mut VecDeque<Loaded>,
    program: u64,
    job: impl FnOnce(&mut dyn Handlers) -> Result<M, SandboxError>,
) -> FromWorker {
    let found =
        programs.iter().position(|loaded| loaded.program == program).and_then(|at| programs.remove(at));
    let Some(mut loaded) = found else {
        let error = SandboxError::Crashed { reason: "the handlers were not loaded".to_owned() };
        return FromWorker::Failed { error, retire: true };
    };
    host.begin_call(loaded.caps);
    let message = match &mut loaded.handlers {
        Ok(handlers) => match job(handlers.as_mut()) {
            Ok(message) => message(handlers.is_spent()),
            Err(error) => FromWorker::Failed { error, retire: handlers.is_spent() },
        },
        Err(error) => FromWorker::Failed { error: error.clone(), retire: false },
    };
    programs.push_front(loaded);
    message
}

fn sandbox_for<'a>(
    sandboxes: &'a [Box<dyn Sandbox>],
    extension: &str,
) -> Result<&'a dyn Sandbox, SandboxError> {
    sandboxes.iter().find(|sandbox| sandbox.extensions().contains(&extension)).map(AsRef::as_ref).ok_or_else(
        || SandboxError::Crashed { reason: format!("no sandbox runs files with the extension {extension}") },
    )
}

fn moment(left: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(left).unwrap_or(now)
}
