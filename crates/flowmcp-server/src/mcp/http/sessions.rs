//! Sessions of the `initialize` revisions, bounded in number and idle time.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_util::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::{
        SessionId, SessionManager,
        session::{
            ServerSseMessage,
            local::{LocalSessionManager, SessionConfig},
        },
    },
};

/// rmcp's sessions in memory, of which the one unused for longest makes room for a new one. Its client gets 404 and
/// initializes again; refusing new clients instead would let anyone lock all others out.
#[derive(Debug)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    used: Mutex<HashMap<SessionId, Instant>>,
    limit: usize,
}

impl Sessions {
    pub(super) fn new(limit: usize, idle: Duration) -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(idle);
        // Streams are not resumed, so no answer has to be kept.
        config.completed_cache_ttl = Duration::ZERO;
        config.sse_retry = None;
        let mut local = LocalSessionManager::default();
        local.session_config = config;
        Sessions { local, used: Mutex::default(), limit: limit.max(1) }
    }

    fn used(&self) -> MutexGuard<'_, HashMap<SessionId, Instant>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, id: &SessionId) {
        if let Some(used) = self.used().get_mut(id) {
            *used = Instant::now();
        }
    }

    /// Registers a session; returns those that have to go.
    fn register(&self, id: &SessionId) -> Vec<SessionId> {
        let mut used = self.used();
        let mut evicted = Vec::new();
        while used.len() >= self.limit {
            let Some(oldest) = used.iter().min_by_key(|(_, used)| **used).map(|(id, _)| SessionId::clone(id))
            else {
                break;
            };
            used.remove(&oldest);
            evicted.push(oldest);
        }
        used.insert(SessionId::clone(id), Instant::now());
        evicted
    }
}

impl SessionManager for Sessions {
    type Error = <LocalSessionManager as SessionManager>::Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.local.create_session().await?;
        for evicted in self.register(&id) {
            tracing::info!("too many sessions: the one unused for longest has ended");
            let _ = self.local.close_session(&evicted).await;
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.touch(id);
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.used().remove(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.resume(id, last_event_id).await
    }
}
