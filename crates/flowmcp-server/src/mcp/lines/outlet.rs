//! Writes messages, one line each.

use std::{
    io,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rmcp::model::ServerJsonRpcMessage;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::Notify,
};
use tokio_util::sync::CancellationToken;

/// Bytes of unread answers above which no more requests are read.
const BACKLOG: usize = 8 << 20;

/// How long the end of a session waits for a client that does not read.
const FLUSH: Duration = Duration::from_millis(200);

/// The writing end. Messages that come while another is being written leave together with one write.
#[derive(Debug)]
pub(crate) struct Outlet<W> {
    queue: Mutex<Queue>,
    writer: tokio::sync::Mutex<W>,
    written: Notify,
    closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Queue {
    lines: Vec<u8>,
    /// Bytes taken out of `lines` that are being written.
    writing: usize,
    error: Option<io::Error>,
}

impl<W: AsyncWrite + Unpin> Outlet<W> {
    pub(crate) fn new(writer: W) -> Self {
        Outlet {
            queue: Mutex::default(),
            writer: tokio::sync::Mutex::new(writer),
            written: Notify::new(),
            closed: CancellationToken::new(),
        }
    }

    /// Writes one message. After a write error nothing is written any more.
    pub(super) async fn send(&self, message: &ServerJsonRpcMessage) {
        self.queue(message);
        self.write_out().await;
    }

    /// Takes one message for the next [`Outlet::write_out`].
    pub(super) fn queue(&self, message: &ServerJsonRpcMessage) {
        match serde_json::to_vec(message) {
            Ok(line) => self.queue_text(line),
            Err(error) => tracing::error!(%error, "a message could not be serialised"),
        }
    }

    /// Takes one message that is JSON text already.
    pub(super) fn queue_text(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        self.enqueue(line);
    }

    /// Writes what was taken and is not yet written.
    pub(super) async fn write_out(&self) {
        tokio::select! {
            biased;
            () = self.closed.cancelled() => {}
            () = self.write() => {}
        }
    }

    async fn write(&self) {
        let mut writer = self.writer.lock().await;
        let batch = self.dequeue();
        // Whoever held the writer before may have taken this line along.
        if batch.is_empty() {
            return;
        }
        let result = async {
            writer.write_all(&batch).await?;
            writer.flush().await
        };
        let result = result.await;
        let mut queue = self.lock();
        queue.writing = 0;
        if let Err(error) = result {
            queue.error.get_or_insert(error);
            self.closed.cancel();
        }
        self.written.notify_waiters();
    }

    /// Waits until the client reads its answers.
    pub(super) async fn has_room(&self) {
        loop {
            let written = self.written.notified();
            if self.backlog() < BACKLOG {
                return;
            }
            written.await;
        }
    }

    /// Waits for a write error, or for [`Outlet::close`].
    pub(super) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Writes what is left, if the client reads it, and nothing afterwards.
    pub(super) async fn close(&self) {
        if tokio::time::timeout(FLUSH, self.write_out()).await.is_err() {
            tracing::debug!("answers that the client did not read are lost");
        }
        self.closed.cancel();
    }

    /// The write error that ended the session, unless the reader has simply gone.
    pub(crate) fn error(&self) -> Option<io::Error> {
        self.lock().error.take().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }

    fn enqueue(&self, line: Vec<u8>) {
        let mut queue = self.lock();
        if queue.lines.is_empty() {
            queue.lines = line;
        } else {
            queue.lines.extend_from_slice(&line);
        }
    }

    fn dequeue(&self) -> Vec<u8> {
        let mut queue = self.lock();
        let batch = std::mem::take(&mut queue.lines);
        queue.writing = batch.len();
        batch
    }

    fn backlog(&self) -> usize {
        let queue = self.lock();
        queue.lines.len() + queue.writing
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
