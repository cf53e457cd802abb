//! Who calls, and how the call can be ended or answered while it runs.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

/// The other end of one call. Every call has one, also those of the command line.
#[derive(Clone, Default)]
pub struct Caller {
    /// Who calls, where the listener knows it.
    pub principal: Option<Arc<str>>,
    /// Cancelled when the client gives up; the upstream request is then dropped.
    pub cancellation: CancellationToken,
    /// Takes progress reports, where the client asked for them.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    /// What the client can be asked during a call.
    pub asks: Asks,
}

/// One progress report.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Work done so far, in the unit of `total`.
    pub done: f64,
    /// All work, where known.
    pub total: Option<f64>,
    /// Text for a person.
    pub message: Option<String>,
}

/// What a client said it can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asks {
    /// Questions to its user (MCP elicitation).
    pub elicitation: bool,
    /// Completions by its model (MCP sampling).
    pub sampling: bool,
}
