//! One clock for everything that a call does.

use std::{
    pin::{Pin, pin},
    task::Poll,
    time::{Duration, Instant},
};

use tokio::time::Sleep;

/// The deadline passed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed;

/// The deadline of one call; a single timer serves all its steps.
pub(crate) struct Deadline<'a> {
    at: Instant,
    clock: Pin<&'a mut Sleep>,
}

impl<'a> Deadline<'a> {
    /// `clock` must sleep until `at`; it lives on the caller's stack, since a future cannot point into itself.
    pub(crate) fn new(at: Instant, clock: Pin<&'a mut Sleep>) -> Self {
        Deadline { at, clock }
    }

    /// Time that is left.
    pub(crate) fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// Does some work unless the deadline passes first.
    pub(crate) async fn bound<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Passed> {
        let mut work = pin!(work);
        std::future::poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Ok(done)),
            Poll::Pending => self.clock.as_mut().poll(cx).map(|()| Err(Passed)),
        })
        .await
    }
}
