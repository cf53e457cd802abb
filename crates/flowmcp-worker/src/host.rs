//! The host's side of one worker: its pipes, what it has loaded, and reading what it says with suspicion.

use std::{io, process::ExitStatus, sync::Arc, time::Duration};

use bytes::BytesMut;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
};

use crate::{
    confine::{Layer, Layers},
    frame,
    message::{FromWorker, ToWorker},
    process::{Body, Starter},
    worker::PROGRAMS,
};

/// How long a worker may take to get ready.
const READY_WITHIN: Duration = Duration::from_secs(10);
/// Longest frame of a worker that has run nothing.
const SHORT_FRAME: usize = 64 << 10;

/// A worker that the host may use for jobs of one pack.
pub(crate) struct Worker {
    input: pipe::Sender,
    output: pipe::Receiver,
    received: BytesMut,
    body: Option<Body>,
    starter: Starter,
    /// What the kernel enforces, as the worker said before it ran anything.
    pub(crate) layers: Vec<Layer>,
    /// The pack whose handlers it ran; none while it is new.
    pub(crate) pack: Option<Arc<str>>,
    /// Programs that it holds, the last used first; it forgets by the same rule.
    programs: Vec<u64>,
}

/// Why a worker is of no use any more.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The pipe closed: the worker died.
    Ended,
    /// The worker said something that it may not say.
    Violation(&'static str),
    /// The pipe failed.
    Io(io::Error),
}

impl Worker {
    /// Starts a worker and waits until it is confined.
    pub(crate) async fn start(starter: &Starter, memory_bytes: usize) -> io::Result<Worker> {
        Worker::start_with(starter, memory_bytes, Layers::All).await
    }

    /// As [`Worker::start`], with some of the layers only: for a worker that runs nothing of anybody.
    pub(crate) async fn start_with(
        starter: &Starter,
        memory_bytes: usize,
        layers: Layers,
    ) -> io::Result<Worker> {
        let started = starter.start().await?;
        let mut worker = Worker {
            input: pipe::Sender::from_owned_fd(started.input)?,
            output: pipe::Receiver::from_owned_fd(started.output)?,
            received: BytesMut::new(),
            body: Some(started.body),
            starter: starter.clone(),
            layers: Vec::new(),
            pack: None,
            programs: Vec::new(),
        };
        // A worker that is gone already cannot be written to; reading tells more.
        let greeted = worker.send(&ToWorker::Hello { memory_bytes, layers }.encode()).await;
        let ready = tokio::time::timeout(READY_WITHIN, worker.read(SHORT_FRAME)).await;
        match ready {
            Ok(Ok(FromWorker::Ready { layers })) => {
                greeted?;
                worker.layers = layers;
                Ok(worker)
            }
            Ok(Err(Broken::Ended)) => Err(io::Error::other(format!(
                "a worker ended before it was ready: {}",
                crate::process::describe(worker.end().await)
            ))),
            Ok(Err(Broken::Io(error))) => Err(error),
            Ok(Ok(_) | Err(Broken::Violation(_))) => {
                Err(io::Error::other("a worker began with a wrong message"))
            }
            Err(_) => Err(io::Error::other("a worker was not ready in time")),
        }
    }

    pub(crate) async fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.input.write_all(frame).await
    }

    /// The next message. Cancelling it loses nothing.
    pub(crate) async fn read(&mut self, longest: usize) -> Result<FromWorker, Broken> {
        loop {
            match frame::take(&mut self.received, longest) {
                Ok(Some(frame)) => {
                    return FromWorker::decode(frame).ok_or(Broken::Violation("a frame that is no message"));
                }
                Ok(None) => {}
                Err(frame::TooLong) => return Err(Broken::Violation("a frame that is too long")),
            }
            // Room grows with what arrives, whatever length was announced.
            self.received.reserve(32 << 10);
            match self.output.read_buf(&mut self.received).await {
                Ok(0) => return Err(Broken::Ended),
                Ok(_) => {}
                Err(error) => return Err(Broken::Io(error)),
            }
        }
    }

    /// True when the worker said something that nobody asked for.
    pub(crate) fn has_unread(&self) -> bool {
        !self.received.is_empty()
    }

    pub(crate) fn holds(&self, program: u64) -> bool {
        self.programs.contains(&program)
    }

    /// Notes that a program is used; false when it must be loaded first.
    pub(crate) fn use_program(&mut self, program: u64) -> bool {
        let found = self.programs.iter().position(|held| *held == program);
        if let Some(at) = found {
            self.programs.remove(at);
        }
        self.programs.insert(0, program);
        self.programs.truncate(PROGRAMS);
        found.is_some()
    }

    /// Process id, where it is a process.
    pub(crate) fn process_id(&self) -> Option<u32> {
        match &self.body {
            Some(Body::Process(child)) => Some(child.id()),
            _ => None,
        }
    }

    /// Kills the worker and tells how it ended.
    pub(crate) async fn end(mut self) -> Option<ExitStatus> {
        let body = self.body.take()?;
        self.starter.end(body).await.ok().flatten()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(body) = self.body.take() {
            drop(self.starter.end(body));
        }
    }
}
