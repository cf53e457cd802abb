//! What a call may still use: time and memory, shared by the interrupt handler and the allocator.
//!
//! QuickJS asks its interrupt handler once in 10,000 ticks only, and some native functions never tick. So the allocator
//! looks at the clock too and refuses memory once time is up, which ends most of those. The engine's error for refused
//! memory can be caught by a script, the one for an interrupt cannot; since making that error needs memory, the
//! interrupt handler switches the refusal off again.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// Allocations between two looks at the clock.
const ALLOCATIONS_PER_LOOK: u32 = 64;
/// An allocation of this many bytes looks at the clock by itself.
const LARGE_ALLOCATION: usize = 256 << 10;
/// What the engine may use beyond the limit to report that it was reached.
const REPORT_BYTES: usize = 256 << 10;
/// Smallest memory limit: less aborts the engine while it builds a context.
const LEAST_MEMORY: usize = 1 << 20;

/// How far the call's time has run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Time is left, or none is counted.
    Running,
    /// Time is up; memory is refused.
    Refusing,
    /// Time is up and the engine was told by an interrupt.
    Interrupted,
}

/// Time and memory of the current call.
#[derive(Debug)]
pub(crate) struct Budget {
    phase: Cell<Phase>,
    /// When to stop; `None` while nobody's code runs.
    stop: Cell<Option<Instant>>,
    /// The call's own end, whatever it used.
    deadline: Cell<Instant>,
    /// When CPU time is used up, moved on while the call waits.
    cpu_end: Cell<Instant>,
    limit: Cell<Duration>,
    looks: Cell<u32>,
    used: Cell<usize>,
    memory_limit: Cell<usize>,
    memory_refused: Cell<bool>,
}

impl Budget {
    /// A budget that counts but does not limit.
    pub(crate) fn unlimited() -> Self {
        let now = Instant::now();
        Budget {
            phase: Cell::new(Phase::Running),
            stop: Cell::new(None),
            deadline: Cell::new(now),
            cpu_end: Cell::new(now),
            limit: Cell::new(Duration::ZERO),
            looks: Cell::new(0),
            used: Cell::new(0),
            memory_limit: Cell::new(usize::MAX),
            memory_refused: Cell::new(false),
        }
    }

    /// Starts counting: `cpu` from now, never past `deadline`, and `memory` bytes in all.
    pub(crate) fn begin(&self, cpu: Duration, deadline: Instant, memory: usize) {
        let now = Instant::now();
        let cpu_end = now.checked_add(cpu).unwrap_or(deadline);
        self.phase.set(Phase::Running);
        self.deadline.set(deadline);
        self.cpu_end.set(cpu_end);
        self.limit.set(if cpu_end <= deadline { cpu } else { deadline.saturating_duration_since(now) });
        self.stop.set(Some(cpu_end.min(deadline)));
        self.looks.set(0);
        self.memory_refused.set(false);
        self.memory_limit.set(memory.max(LEAST_MEMORY));
    }

    /// Stops counting.
    pub(crate) fn end(&self) {
        self.stop.set(None);
        self.memory_limit.set(usize::MAX);
    }

    /// The call's own end.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline.get()
    }

    /// Gives back CPU time that was spent waiting.
    pub(crate) fn waited(&self, time: Duration) {
        let cpu_end = self.cpu_end.get().checked_add(time).unwrap_or_else(|| self.deadline.get());
        self.cpu_end.set(cpu_end);
        if self.stop.get().is_some() {
            self.stop.set(Some(cpu_end.min(self.deadline.get())));
        }
    }

    /// Asked by the engine while it runs a script; true ends the script for good.
    pub(crate) fn interrupt(&self) -> bool {
        let up =
            self.phase.get() != Phase::Running || self.stop.get().is_some_and(|stop| Instant::now() >= stop);
        if up {
            self.phase.set(Phase::Interrupted);
        }
        up
    }

    /// True when time is up, also if the script ended all the same.
    pub(crate) fn out_of_time(&self) -> bool {
        self.phase.get() != Phase::Running || self.interrupt()
    }

    /// The time limit that held, for error texts.
    pub(crate) fn time_limit(&self) -> Duration {
        self.limit.get()
    }

    /// True when memory was refused since [`Budget::begin`].
    pub(crate) fn memory_was_refused(&self) -> bool {
        self.memory_refused.get()
    }

    /// Whether the allocator may hand out `bytes` more.
    pub(crate) fn allows(&self, bytes: usize) -> bool {
        let phase = self.phase.get();
        if phase == Phase::Refusing {
            return false;
        }
        let looks = self.looks.get().wrapping_add(1);
        self.looks.set(looks);
        if phase == Phase::Running
            && (looks.is_multiple_of(ALLOCATIONS_PER_LOOK) || bytes >= LARGE_ALLOCATION)
            && self.stop.get().is_some_and(|stop| Instant::now() >= stop)
        {
            self.phase.set(Phase::Refusing);
            return false;
        }
        let slack = if phase == Phase::Interrupted { REPORT_BYTES } else { 0 };
        let fits = self
            .used
            .get()
            .checked_add(bytes)
            .is_some_and(|total| total <= self.memory_limit.get().saturating_add(slack));
        if !fits {
            self.memory_refused.set(true);
        }
        fits
    }

    /// Notes that there was no memory, whatever the limit says.
    pub(crate) fn refuse(&self) {
        self.memory_refused.set(true);
    }

    /// Bytes that are handed out.
    pub(crate) fn used(&self) -> usize {
        self.used.get()
    }

    /// Says how many bytes are handed out, after memory was put back.
    pub(crate) fn set_used(&self, bytes: usize) {
        self.used.set(bytes);
    }

    /// Counts bytes handed out.
    pub(crate) fn took(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_add(bytes));
    }

    /// Counts bytes given back.
    pub(crate) fn gave(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_sub(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_memory_when_time_is_up_until_the_engine_was_interrupted() {
        let budget = Budget::unlimited();
        budget.begin(Duration::ZERO, Instant::now() + Duration::from_secs(60), 2 << 20);
        assert!(!budget.allows(LARGE_ALLOCATION));
        assert!(!budget.allows(1), "refused until interrupted");
        assert!(budget.interrupt());
        assert!(budget.allows(1), "the interrupt's own error needs memory");
        assert!(budget.out_of_time());
    }

    #[test]
    fn memory_has_a_floor_and_a_limit() {
        let budget = Budget::unlimited();
        budget.begin(Duration::from_secs(60), Instant::now() + Duration::from_secs(60), 1);
        assert!(budget.allows(LEAST_MEMORY));
        budget.took(LEAST_MEMORY);
        assert!(!budget.allows(1));
        assert!(budget.memory_was_refused());
        budget.gave(8);
        assert!(budget.allows(8));
        assert!(!budget.out_of_time());
    }

    #[test]
    fn waiting_is_not_cpu_time() {
        let budget = Budget::unlimited();
        budget.begin(Duration::ZERO, Instant::now() + Duration::from_secs(60), 2 << 20);
        budget.waited(Duration::from_secs(30));
        assert!(!budget.interrupt());
    }
}
