//! The path of one call.

use std::sync::Arc;

use arc_swap::ArcSwap;
use flowmcp_plugin::Transport;
use serde_json::{Map, Value};

use crate::{Caller, Output, Settings, catalogue::Snapshot};

/// Serves calls on the current snapshot. Shared by all listeners.
pub struct Engine {
    snapshot: ArcSwap<Snapshot>,
    transport: Arc<dyn Transport>,
    settings: Settings,
}

/// A call that has no tool result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No visible tool has this name.
    #[error("unknown tool {name:?}")]
    UnknownTool {
        /// Name asked for.
        name: String,
        /// The closest known name.
        nearest: Option<String>,
    },
    /// The client gave up.
    #[error("cancelled by the client")]
    Cancelled,
}

impl Engine {
    /// An engine that starts with a snapshot.
    pub fn new(snapshot: Snapshot, transport: Arc<dyn Transport>, settings: Settings) -> Self {
        Engine { snapshot: ArcSwap::from_pointee(snapshot), transport, settings }
    }

    /// The snapshot that new calls use.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Puts a new snapshot in place; calls in flight finish on the old one.
    pub fn replace(&self, snapshot: Snapshot) {
        self.snapshot.store(Arc::new(snapshot));
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Calls one visible tool of a view. Bad arguments and upstream failures are outputs with `is_error`.
    ///
    /// # Errors
    /// [`CallError`] when there is no such tool or the client gave up.
    pub async fn call(
        &self,
        _view: &str,
        name: &str,
        _arguments: Map<String, Value>,
        _caller: &Caller,
    ) -> Result<Output, CallError> {
        let _ = &self.transport;
        Err(CallError::UnknownTool { name: name.to_owned(), nearest: None })
    }
}
