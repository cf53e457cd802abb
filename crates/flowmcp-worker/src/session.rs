//! One job on one worker: the state machine that a worker's messages must follow, and the clock that ends it.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use flowmcp_plugin::{
    BoxFuture, FetchRequest, FetchResult, HookOutput, LogLevel, NetworkGrant, Outline, SandboxError,
    SandboxSettings,
};
use futures_util::{FutureExt, StreamExt, future::poll_fn, stream::FuturesUnordered};

use crate::{
    host::{Broken, Worker},
    message::{Caps, FromWorker, ToWorker},
    process,
    schedule::Lease,
    worker::LOG_LINE,
};

/// What the host does for handlers of one call.
pub trait HostServices: Send + Sync {
    /// Makes a request for a handler whose pack has the grant; the address policy and all secrets are the host's. The
    /// error is shown to the handler.
    fn fetch(&self, request: FetchRequest, deadline: Instant) -> BoxFuture<'_, Result<FetchResult, String>>;

    /// Takes a line that a handler logged.
    fn log(&self, level: LogLevel, line: &str);
}

/// Which answer a job ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Output,
    Outline,
    Compiled,
}

/// What a job ended with.
pub(crate) enum Answer {
    Output(HookOutput),
    Outline(Outline),
    Compiled(bytes::Bytes),
}

/// A job's rules.
pub(crate) struct Rules {
    pub(crate) wanted: Wanted,
    pub(crate) settings: SandboxSettings,
    pub(crate) caps: Caps,
    /// End of the whole call.
    pub(crate) deadline: Instant,
    /// How long after its time the worker is killed.
    pub(crate) grace: Duration,
}

/// How a job failed.
pub(crate) enum Failure {
    /// The worker had died before it was given the job: another one can take it.
    NotBegun,
    Error(SandboxError),
}

type Open<'a> = FuturesUnordered<BoxFuture<'a, (u64, Result<FetchResult, String>)>>;

/// What happened next.
enum Event {
    Message(Result<FromWorker, Broken>),
    TimeUp,
}

/// Sends a job's frames and follows it to its end. The worker is given back only when all went by the rules.
pub(crate) async fn run(
    lease: &mut Lease,
    frames: &[u8],
    rules: &Rules,
    services: &dyn HostServices,
) -> Result<Answer, Failure> {
    let begun = Instant::now();
    let limits = rules.settings.limits;
    let limit = limits.cpu.min(rules.deadline.saturating_duration_since(begun));
    lease.begin();
    let mut cpu_left = limits.cpu;
    let mut running_since = begun;
    let end_of = |running_since: Instant, cpu_left: Duration| {
        let cpu_end = running_since.checked_add(cpu_left).unwrap_or(rules.deadline);
        cpu_end.min(rules.deadline) + rules.grace
    };

    let kill_at = end_of(running_since, cpu_left);
    let Some(worker) = lease.worker() else { return Err(Failure::NotBegun) };
    match tokio::time::timeout_at(kill_at.into(), worker.send(frames)).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => return Err(Failure::NotBegun),
        Err(_) => return Err(kill(lease, SandboxError::Time { limit }).await),
    }

    let longest = longest_frame(rules);
    let mut open: Open<'_> = FuturesUnordered::new();
    let mut ended: VecDeque<(u64, Result<FetchResult, String>)> = VecDeque::new();
    let (mut fetches, mut lines) = (0_u32, 0_u32);
    let mut untouched = true;
    loop {
        let kill_at = end_of(running_since, cpu_left);
        let Some(worker) = lease.worker() else { return Err(Failure::NotBegun) };
        let event = next_event(worker, longest, &mut open, &mut ended, kill_at).await;
        let message = match event {
            Event::Message(Ok(message)) => message,
            Event::Message(Err(Broken::Ended | Broken::Io(_))) if untouched => {
                // Either it died while idle, or the job itself kills it at once: the second try tells.
                return Err(Failure::NotBegun);
            }
            Event::Message(Err(broken)) => return Err(broken_worker(lease, broken).await),
            Event::TimeUp => return Err(kill(lease, SandboxError::Time { limit }).await),
        };
        untouched = false;
        match message {
            FromWorker::Log { level, line } if lines <= rules.caps.log_lines && line.len() <= LOG_LINE => {
                lines += 1;
                services.log(level, &line);
            }
            FromWorker::Fetch { ticket, request }
                if rules.settings.network == NetworkGrant::Granted
                    && fetches < rules.caps.fetches
                    && ticket == u64::from(fetches) + 1 =>
            {
                fetches += 1;
                let fetched = services.fetch(request, rules.deadline);
                open.push(fetched.map(move |result| (ticket, result)).boxed());
            }
            FromWorker::Wait { at_most }
                if rules.settings.network == NetworkGrant::Granted
                    && (at_most.is_some() || !open.is_empty() || !ended.is_empty()) =>
            {
                cpu_left = cpu_left.saturating_sub(running_since.elapsed());
                lease.pause();
                let answer = wait(&mut open, &mut ended, at_most, rules.deadline).await;
                // The deadline ends a wait for a slot too; the worker then has nothing to do until it is killed.
                if tokio::time::timeout_at(rules.deadline.into(), lease.resume()).await.is_err() {
                    return Err(kill(lease, SandboxError::Time { limit }).await);
                }
                running_since = Instant::now();
                let frame = match answer {
                    Some((ticket, result)) => ToWorker::Answer { ticket, result },
                    None => ToWorker::NoAnswer,
                }
                .encode();
                let kill_at = end_of(running_since, cpu_left);
                let Some(worker) = lease.worker() else { return Err(Failure::NotBegun) };
                match tokio::time::timeout_at(kill_at.into(), worker.send(&frame)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => return Err(broken_worker(lease, Broken::Io(error)).await),
                    Err(_) => return Err(kill(lease, SandboxError::Time { limit }).await),
                }
            }
            FromWorker::Output { output, retire } if rules.wanted == Wanted::Output => {
                return finish(lease, retire).await.map(|()| Answer::Output(output));
            }
            FromWorker::Outlined { outline, retire } if rules.wanted == Wanted::Outline => {
                return finish(lease, retire).await.map(|()| Answer::Outline(outline));
            }
            FromWorker::Compiled { code } if rules.wanted == Wanted::Compiled => {
                return finish(lease, false).await.map(|()| Answer::Compiled(code));
            }
            FromWorker::Failed { error, retire } => {
                finish(lease, retire).await?;
                return Err(Failure::Error(error));
            }
            _ => return Err(broken_worker(lease, Broken::Violation("a message out of turn")).await),
        }
    }
}

/// The worker's next message, while requests go on and the clock runs.
async fn next_event(
    worker: &mut Worker,
    longest: usize,
    open: &mut Open<'_>,
    ended: &mut VecDeque<(u64, Result<FetchResult, String>)>,
    kill_at: Instant,
) -> Event {
    let reading = async {
        if open.is_empty() {
            return worker.read(longest).await;
        }
        let mut reading = std::pin::pin!(worker.read(longest));
        poll_fn(|context| {
            while let std::task::Poll::Ready(Some(done)) = open.poll_next_unpin(context) {
                ended.push_back(done);
            }
            reading.poll_unpin(context)
        })
        .await
    };
    match tokio::time::timeout_at(kill_at.into(), reading).await {
        Ok(message) => Event::Message(message),
        Err(_) => Event::TimeUp,
    }
}

/// Waits for a request to end; none when the time or the call's deadline came first.
async fn wait(
    open: &mut Open<'_>,
    ended: &mut VecDeque<(u64, Result<FetchResult, String>)>,
    at_most: Option<Duration>,
    deadline: Instant,
) -> Option<(u64, Result<FetchResult, String>)> {
    if let Some(done) = ended.pop_front() {
        return Some(done);
    }
    let until = at_most
        .and_then(|time| Instant::now().checked_add(time))
        .map_or(deadline, |until| until.min(deadline));
    let next = async {
        match open.next().await {
            Some(done) => done,
            None => std::future::pending().await,
        }
    };
    tokio::time::timeout_at(until.into(), next).await.ok()
}

/// Nothing that a worker says is longer: two texts of a result, a request's body, or compiled handlers.
fn longest_frame(rules: &Rules) -> usize {
    const ROOM: usize = 1 << 20;
    const COMPILED: usize = 64 << 20;
    match rules.wanted {
        Wanted::Compiled => COMPILED,
        Wanted::Output | Wanted::Outline => {
            rules.settings.limits.output_bytes.saturating_mul(2).saturating_add(ROOM)
        }
    }
}

async fn finish(lease: &mut Lease, retire: bool) -> Result<(), Failure> {
    let unread = lease.worker().is_some_and(|worker| worker.has_unread());
    if unread {
        return Err(broken_worker(lease, Broken::Violation("more than its answer")).await);
    }
    if !retire {
        lease.finish();
    }
    Ok(())
}

/// Ends a worker that hangs; the job's error is known.
async fn kill(lease: &mut Lease, error: SandboxError) -> Failure {
    drop(lease.take_worker());
    Failure::Error(error)
}

/// Ends a worker that died or broke the protocol, and says how.
async fn broken_worker(lease: &mut Lease, broken: Broken) -> Failure {
    let Some(worker) = lease.take_worker() else { return Failure::NotBegun };
    let reason = match broken {
        Broken::Violation(what) => {
            tracing::warn!(what, "a worker broke the protocol and was killed");
            drop(worker);
            format!("the worker broke the protocol: it sent {what}")
        }
        Broken::Ended => process::describe(worker.end().await),
        Broken::Io(error) => format!("the pipe to the worker failed: {error}"),
    };
    Failure::Error(SandboxError::Crashed { reason })
}
