//! A few threads that do blocking work for tasks: bounded in number, in waiting work and in time.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

/// How long a thread without work stays, and with it what it holds open.
const IDLE: Duration = Duration::from_secs(30);

/// Bounds of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSize {
    /// Most threads; at least one.
    pub threads: usize,
    /// Most pieces of work that wait for a thread.
    pub waiting: usize,
}

impl Default for PoolSize {
    fn default() -> Self {
        PoolSize { threads: 4, waiting: 256 }
    }
}

/// Which work goes first, and what it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Known beforehand: takes a thread when one is free.
    Known,
    /// Of unknown cost: leaves one thread to the others, where there are several.
    Unknown,
}

/// Work that came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// Too much waits already.
    #[error("too many queries are waiting: try again later")]
    Full,
    /// Its time is over.
    #[error("took longer than the call may take")]
    Deadline,
    /// The system gives no thread, or the work ended without a result.
    #[error("could not be done by this server at the moment: try again later")]
    Lost,
}

/// Whether a piece of work should still go on.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    pub(crate) deadline: Instant,
    dropped: Arc<AtomicBool>,
}

impl Ticket {
    /// Its time is over, or nobody waits for it.
    pub(crate) fn is_over(&self) -> bool {
        self.dropped.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}

/// Threads that share a queue. Each has a state of its own, made by the first work that it gets.
pub(crate) struct Pool<S> {
    shared: Arc<Shared<S>>,
}

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

struct Shared<S> {
    size: PoolSize,
    name: &'static str,
    queues: Mutex<Queues<S>>,
    changed: Condvar,
    state: Box<dyn Fn() -> S + Send + Sync>,
}

struct Queues<S> {
    known: VecDeque<Job<S>>,
    unknown: VecDeque<Job<S>>,
    unknown_running: usize,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl<S: 'static> Pool<S> {
    pub(crate) fn new(
        name: &'static str,
        size: PoolSize,
        state: impl Fn() -> S + Send + Sync + 'static,
    ) -> Self {
        let queues = Queues {
            known: VecDeque::new(),
            unknown: VecDeque::new(),
            unknown_running: 0,
            threads: 0,
            idle: 0,
            closed: false,
        };
        let size = PoolSize { threads: size.threads.max(1), ..size };
        let shared = Shared {
            size,
            name,
            queues: Mutex::new(queues),
            changed: Condvar::new(),
            state: Box::new(state),
        };
        Pool { shared: Arc::new(shared) }
    }

    /// Does a piece of work on one of the threads. When the future is dropped, the work is told to end.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        class: Class,
        deadline: Instant,
        work: impl FnOnce(&mut S, &Ticket) -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let ticket = Ticket { deadline, dropped: Arc::new(AtomicBool::new(false)) };
        let _told = TellOnDrop(Arc::clone(&ticket.dropped));
        let (sender, receiver) = oneshot::channel();
        let job = Box::new(move |state: &mut S| {
            if !ticket.is_over() {
                // Nobody may be waiting any more.
                let _ = sender.send(work(state, &ticket));
            }
        });
        self.submit(class, job)?;
        match tokio::time::timeout_at(deadline.into(), receiver).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(_)) if Instant::now() < deadline => Err(WorkError::Lost),
            Ok(Err(_)) | Err(_) => Err(WorkError::Deadline),
        }
    }

    fn submit(&self, class: Class, job: Job<S>) -> Result<(), WorkError> {
        let shared = &self.shared;
        let mut queues = shared.lock();
        if queues.known.len() + queues.unknown.len() >= shared.size.waiting {
            return Err(WorkError::Full);
        }
        match class {
            Class::Known => queues.known.push_back(job),
            Class::Unknown => queues.unknown.push_back(job),
        }
        let waiting = queues.known.len() + queues.unknown.len();
        if queues.idle < waiting && queues.threads < shared.size.threads {
            queues.threads += 1;
            let own = Arc::clone(shared);
            let started = thread::Builder::new().name(shared.name.to_owned()).spawn(move || own.work());
            if let Err(error) = started {
                queues.threads -= 1;
                tracing::warn!(%error, "no thread for a query");
                if queues.threads == 0 {
                    queues.known.clear();
                    queues.unknown.clear();
                    return Err(WorkError::Lost);
                }
            }
        }
        drop(queues);
        shared.changed.notify_one();
        Ok(())
    }
}

impl<S> Drop for Pool<S> {
    fn drop(&mut self) {
        let mut queues = self.shared.lock();
        queues.closed = true;
        queues.known.clear();
        queues.unknown.clear();
        drop(queues);
        self.shared.changed.notify_all();
    }
}

impl<S> Shared<S> {
    fn lock(&self) -> MutexGuard<'_, Queues<S>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each thread does until it has had nothing to do for a while.
    fn work(&self) {
        let mut state = None;
        while let Some((class, job)) = self.next() {
            let state_now = state.get_or_insert_with(&self.state);
            if catch_unwind(AssertUnwindSafe(|| job(state_now))).is_err() {
                // What a panic left behind is not used again.
                state = None;
            }
            if class == Class::Unknown {
                self.lock().unknown_running -= 1;
                self.changed.notify_one();
            }
        }
    }

    /// The next job, or `None` when the thread is to end.
    fn next(&self) -> Option<(Class, Job<S>)> {
        let most_unknown = (self.size.threads - 1).max(1);
        let mut queues = self.lock();
        let end = Instant::now() + IDLE;
        loop {
            if let Some(job) = queues.known.pop_front() {
                return Some((Class::Known, job));
            }
            if queues.unknown_running < most_unknown
                && let Some(job) = queues.unknown.pop_front()
            {
                queues.unknown_running += 1;
                return Some((Class::Unknown, job));
            }
            let left = end.saturating_duration_since(Instant::now());
            if queues.closed || left.is_zero() {
                queues.threads -= 1;
                return None;
            }
            queues.idle += 1;
            queues = self.changed.wait_timeout(queues, left).unwrap_or_else(PoisonError::into_inner).0;
            queues.idle -= 1;
        }
    }
}

struct TellOnDrop(Arc<AtomicBool>);

impl Drop for TellOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
