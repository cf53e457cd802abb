//! Who may run next: at most as many scripts as there are cores, at most so many workers, packs in turn.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use crate::{host::Worker, process::Starter};

/// What a job needs of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// One of its pack, best one that holds this program.
    Program(u64),
    /// One that has run nothing.
    Fresh,
}

/// Queues, workers and slots of a pool.
pub(crate) struct Schedule {
    state: Mutex<State>,
    pub(crate) starter: Starter,
    memory_bytes: usize,
    most_workers: usize,
    most_waiting: usize,
}

struct State {
    /// Scripts that may start now.
    free_slots: usize,
    /// Workers that do nothing, the last used at the end.
    idle: Vec<Worker>,
    /// Workers that exist or are being started.
    workers: usize,
    /// Jobs that wait for a worker, by pack.
    queues: HashMap<Arc<str>, VecDeque<Waiting>>,
    /// Packs with waiting jobs, the next one first.
    turns: VecDeque<Arc<str>>,
    waiting: usize,
    /// Jobs that have a worker and want to run on.
    resuming: VecDeque<oneshot::Sender<SlotGrant>>,
}

struct Waiting {
    need: Need,
    reply: oneshot::Sender<Lease>,
}

/// Why a job got no worker.
#[derive(Debug)]
pub(crate) enum NoLease {
    Full(usize),
    Start(io::Error),
}

impl Schedule {
    pub(crate) fn new(
        starter: Starter,
        cores: usize,
        most_workers: usize,
        most_waiting: usize,
        memory_bytes: usize,
    ) -> Arc<Schedule> {
        let state = State {
            free_slots: cores.max(1),
            idle: Vec::new(),
            workers: 0,
            queues: HashMap::new(),
            turns: VecDeque::new(),
            waiting: 0,
            resuming: VecDeque::new(),
        };
        Arc::new(Schedule {
            state: Mutex::new(state),
            starter,
            memory_bytes,
            most_workers: most_workers.max(1),
            most_waiting,
        })
    }

    /// Waits for a slot and a worker.
    pub(crate) async fn acquire(self: &Arc<Self>, pack: &Arc<str>, need: Need) -> Result<Lease, NoLease> {
        let (reply, answer) = oneshot::channel();
        {
            let mut state = self.lock();
            if state.waiting >= self.most_waiting {
                return Err(NoLease::Full(state.waiting));
            }
            state.waiting += 1;
            let queue = state.queues.entry(Arc::clone(pack)).or_default();
            queue.push_back(Waiting { need, reply });
            if queue.len() == 1 {
                state.turns.push_back(Arc::clone(pack));
            }
            self.dispatch(&mut state);
        }
        let gone = || NoLease::Start(io::Error::other("the pool has ended"));
        let mut lease = answer.await.map_err(|_| gone())?;
        if lease.worker.is_none() {
            let worker = Worker::start(&self.starter, self.memory_bytes).await.map_err(NoLease::Start)?;
            lease.worker = Some(worker);
        }
        if let Some(worker) = lease.worker.as_mut() {
            worker.pack = Some(Arc::clone(pack));
        }
        Ok(lease)
    }

    /// Starts a worker for the next job that needs a new one.
    pub(crate) async fn start_spare(self: Arc<Self>) {
        {
            let mut state = self.lock();
            if !state.idle.is_empty() || state.workers >= self.most_workers {
                return;
            }
            state.workers += 1;
        }
        let started = Worker::start(&self.starter, self.memory_bytes).await;
        let mut state = self.lock();
        match started {
            Ok(worker) => state.idle.insert(0, worker),
            Err(error) => {
                state.workers -= 1;
                tracing::warn!(%error, "no spare worker");
            }
        }
        self.dispatch(&mut state);
    }

    /// How many workers exist, and how many of them do nothing.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        (state.workers, state.idle.len())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent between any two statements below, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dispatch(self: &Arc<Self>, state: &mut State) {
        while state.free_slots > 0 {
            if let Some(job) = state.resuming.pop_front() {
                if job
                    .send(SlotGrant { schedule: Arc::clone(self), taken: false })
                    .map_err(SlotGrant::disarm)
                    .is_ok()
                {
                    state.free_slots -= 1;
                }
                continue;
            }
            let Some(pack) = state.turns.pop_front() else { return };
            let Some(waiting) = state.queues.get_mut(&pack).and_then(VecDeque::pop_front) else {
                state.queues.remove(&pack);
                continue;
            };
            if waiting.reply.is_closed() {
                state.waiting -= 1;
                self.requeue(state, pack);
                continue;
            }
            let Some(worker) = self.pick(state, &pack, waiting.need) else {
                // No worker for anybody else either: the longest waiting stays first.
                state.queues.entry(Arc::clone(&pack)).or_default().push_front(waiting);
                state.turns.push_front(pack);
                return;
            };
            state.waiting -= 1;
            state.free_slots -= 1;
            let lease =
                Lease { schedule: Arc::clone(self), worker, has_slot: true, dirty: false, settled: false };
            if let Err(lease) = waiting.reply.send(lease) {
                state.free_slots += 1;
                if let Some(worker) = lease.disarm() {
                    state.idle.push(worker);
                } else {
                    state.workers -= 1;
                }
            }
            self.requeue(state, pack);
        }
    }

    /// Puts a pack with more jobs at the end of the line.
    fn requeue(&self, state: &mut State, pack: Arc<str>) {
        match state.queues.get(&pack) {
            Some(queue) if !queue.is_empty() => state.turns.push_back(pack),
            _ => drop(state.queues.remove(&pack)),
        }
    }

    /// An idle worker, or the right to start one (`Some(None)`), or nothing.
    fn pick(&self, state: &mut State, pack: &Arc<str>, need: Need) -> Option<Option<Worker>> {
        let of_pack = |worker: &Worker| worker.pack.as_ref() == Some(pack);
        let found = match need {
            // Of those that hold the program the one that rested longest: the others still prepare their next context.
            Need::Program(program) => state
                .idle
                .iter()
                .position(|worker| of_pack(worker) && worker.holds(program))
                .or_else(|| state.idle.iter().rposition(of_pack))
                .or_else(|| state.idle.iter().rposition(|worker| worker.pack.is_none())),
            Need::Fresh => state.idle.iter().rposition(|worker| worker.pack.is_none()),
        };
        if let Some(at) = found {
            return Some(Some(state.idle.remove(at)));
        }
        if state.workers < self.most_workers {
            state.workers += 1;
            return Some(None);
        }
        if state.idle.is_empty() {
            return None;
        }
        // A worker serves one pack in its life: the one that waited longest makes room.
        drop(state.idle.remove(0));
        Some(None)
    }
}

/// A slot for a job that has its worker.
struct SlotGrant {
    schedule: Arc<Schedule>,
    taken: bool,
}

impl SlotGrant {
    fn disarm(mut self) {
        self.taken = true;
    }
}

impl Drop for SlotGrant {
    fn drop(&mut self) {
        // Granted, but the job was cancelled before it noticed.
        if !self.taken {
            let mut state = self.schedule.lock();
            state.free_slots += 1;
            self.schedule.dispatch(&mut state);
        }
    }
}

/// A slot and a worker, for one job.
pub(crate) struct Lease {
    schedule: Arc<Schedule>,
    worker: Option<Worker>,
    has_slot: bool,
    dirty: bool,
    /// True when nothing is left to give back.
    settled: bool,
}

impl Lease {
    /// The worker; none after it broke.
    pub(crate) fn worker(&mut self) -> Option<&mut Worker> {
        self.worker.as_mut()
    }

    /// From now on the worker is in the middle of something: if the lease is dropped, so is the worker.
    pub(crate) fn begin(&mut self) {
        self.dirty = true;
    }

    /// The worker is idle again.
    pub(crate) fn finish(&mut self) {
        self.dirty = false;
    }

    /// Takes the worker out, to be ended.
    pub(crate) fn take_worker(&mut self) -> Option<Worker> {
        self.dirty = true;
        self.worker.take()
    }

    /// Starts another worker in the place of one that is gone.
    pub(crate) async fn replace(&mut self) -> io::Result<()> {
        let pack = self.worker.take().and_then(|worker| worker.pack.clone());
        let mut worker = Worker::start(&self.schedule.starter, self.schedule.memory_bytes).await?;
        worker.pack = pack;
        self.worker = Some(worker);
        self.dirty = false;
        Ok(())
    }

    /// Gives the slot back while the handler waits for the network.
    pub(crate) fn pause(&mut self) {
        if std::mem::take(&mut self.has_slot) {
            let mut state = self.schedule.lock();
            state.free_slots += 1;
            self.schedule.dispatch(&mut state);
        }
    }

    /// Waits for a slot again, before all jobs that have not begun.
    pub(crate) async fn resume(&mut self) {
        if self.has_slot {
            return;
        }
        let (reply, answer) = oneshot::channel();
        {
            let mut state = self.schedule.lock();
            state.resuming.push_back(reply);
            self.schedule.dispatch(&mut state);
        }
        // The sender lives in the schedule, which this lease keeps alive.
        if let Ok(mut grant) = answer.await {
            grant.taken = true;
            self.has_slot = true;
        }
    }

    /// Ends the lease without giving anything back; used while the schedule is locked.
    fn disarm(mut self) -> Option<Worker> {
        self.settled = true;
        self.worker.take()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let mut state = self.schedule.lock();
        if self.has_slot {
            state.free_slots += 1;
        }
        let lost = match self.worker.take() {
            Some(worker) if !self.dirty => {
                state.idle.push(worker);
                false
            }
            other => {
                drop(other);
                state.workers -= 1;
                true
            }
        };
        self.schedule.dispatch(&mut state);
        drop(state);
        if lost && let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(Arc::clone(&self.schedule).start_spare());
        }
    }
}
