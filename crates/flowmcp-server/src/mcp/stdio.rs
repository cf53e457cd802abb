//! The stdio listener.

use std::{io, sync::Arc, time::Duration};

use flowmcp_engine::Engine;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::{
    DRAIN, REQUEST_BYTES,
    handler::Handler,
    lines::{Ends, Lines, Outlet},
};

/// Limits of a session over lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSettings {
    /// Bytes of one message from the client.
    pub line_bytes: usize,
    /// Time that calls in flight get when the process is asked to stop.
    pub drain: Duration,
    /// Time that calls in flight get when input ends: enough for `printf … | flowmcp-server`, and still an exit within 2 s.
    pub grace: Duration,
}

impl Default for LineSettings {
    /// 4 MiB, 10 s, 1 s.
    fn default() -> Self {
        LineSettings { line_bytes: REQUEST_BYTES, drain: DRAIN, grace: Duration::from_secs(1) }
    }
}

/// Serves a view on standard input and output until input ends, output is closed, or `shutdown` is cancelled and the
/// calls in flight have finished or their time is over.
///
/// # Errors
/// When standard output cannot be written for another reason than that its reader has gone.
pub async fn serve_stdio(
    engine: Arc<Engine>,
    view: &str,
    settings: LineSettings,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let (reader, writer) = rmcp::transport::io::stdio_pipes();
    serve_streams(engine, view, reader, writer, settings, shutdown).await
}

/// Serves a view on any pair of byte streams, as [`serve_stdio`] does.
///
/// # Errors
/// When `writer` fails for another reason than that its reader has gone.
pub async fn serve_streams<R, W>(
    engine: Arc<Engine>,
    view: &str,
    reader: R,
    writer: W,
    settings: LineSettings,
    shutdown: CancellationToken,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let outlet = Arc::new(Outlet::new(writer));
    let service = CancellationToken::new();
    let ends = Ends { shutdown, drain: settings.drain, grace: settings.grace, service: service.clone() };
    let handler = Handler::new(engine, view);
    let lines = Lines::new(reader, Arc::clone(&outlet), settings.line_bytes, ends, handler.clone());
    // No handshake is waited for: rmcp's would end the session at a first message that it does not expect. The handler
    // takes each request by itself, with the revision that its `_meta` or an earlier `initialize` names.
    let session = rmcp::service::serve_directly_with_ct(handler, lines, None, service);
    session.waiting().await.map_err(io::Error::other)?;
    outlet.error().map_or(Ok(()), Err)
}
