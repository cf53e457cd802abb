//! Requests of the `initialize` revisions, which belong to a session.

use std::{convert::Infallible, sync::Arc};

use axum::response::{
    IntoResponse as _, Response,
    sse::{Event, KeepAlive, Sse},
};
use futures_util::{Stream, StreamExt as _};
use http::{HeaderValue, StatusCode};
use rmcp::{
    model::{
        CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
        ClientRequest, ErrorData, JsonRpcRequest, RequestId, ServerJsonRpcMessage,
    },
    service::serve_server_with_ct,
    transport::streamable_http_server::{SessionId, SessionManager as _, session::ServerSseMessage},
};

use super::{Front, SESSION_HEADER, reply, sessions::Sessions};

/// Opens a session and answers its `initialize`.
pub(super) async fn initialize(front: &Front, request: JsonRpcRequest<ClientRequest>) -> Response {
    let id = request.id.clone();
    match open(front, request).await {
        Ok((session, message)) => {
            let mut response = reply::json(StatusCode::OK, &message);
            if let Ok(value) = HeaderValue::from_str(&session) {
                response.headers_mut().insert(SESSION_HEADER, value);
            }
            response
        }
        Err(error) => {
            tracing::warn!(%error, "a session could not be opened");
            let error = ErrorData::internal_error("the session could not be opened", None);
            reply::error(StatusCode::INTERNAL_SERVER_ERROR, Some(id), error)
        }
    }
}

async fn open(
    front: &Front,
    request: JsonRpcRequest<ClientRequest>,
) -> Result<
    (SessionId, ServerJsonRpcMessage),
    <Sessions as rmcp::transport::streamable_http_server::SessionManager>::Error,
> {
    let (session, transport) = front.sessions.create_session().await?;
    let (sessions, handler, stop) =
        (Arc::clone(&front.sessions), front.handler.clone(), front.stop.child_token());
    let ended = Arc::clone(&session);
    tokio::spawn(async move {
        match serve_server_with_ct(handler, transport, stop).await {
            Ok(service) => {
                let _ = service.waiting().await;
            }
            Err(error) => tracing::debug!(%error, "the session ended while it was opened"),
        }
        let _ = sessions.close_session(&ended).await;
    });
    let message = front.sessions.initialize_session(&session, ClientJsonRpcMessage::Request(request)).await?;
    Ok((session, message))
}

/// Answers one request of a session: plain JSON, or an event stream where the handler has something to say before.
pub(super) async fn call(
    front: &Front,
    session: SessionId,
    request: JsonRpcRequest<ClientRequest>,
) -> Response {
    let id = request.id.clone();
    if !front.sessions.has_session(&session).await.unwrap_or(false) {
        return reply::session_unknown(Some(id));
    }
    let message = ClientJsonRpcMessage::Request(request);
    let stream = match front.sessions.create_stream(&session, message).await {
        Ok(stream) => stream,
        Err(error) => {
            tracing::debug!(%error, "the session ended before the request");
            return reply::session_unknown(Some(id));
        }
    };
    let guard = CancelOnDrop { sessions: Arc::clone(&front.sessions), session, request: Some(id.clone()) };
    let mut answers = Answers { stream: Box::pin(stream), guard };
    let first = tokio::select! {
        first = answers.next() => first,
        () = front.stop.cancelled() => None,
    };
    match first {
        Some(message) if is_final(&message) => reply::json(StatusCode::OK, &*message),
        Some(message) => Sse::new(answers.events(message)).keep_alive(KeepAlive::default()).into_response(),
        None => {
            let error = ErrorData::internal_error("the session ended before the answer", None);
            reply::error(StatusCode::INTERNAL_SERVER_ERROR, Some(id), error)
        }
    }
}

/// The messages that belong to one request.
struct Answers<S> {
    stream: std::pin::Pin<Box<S>>,
    guard: CancelOnDrop,
}

impl<S: Stream<Item = ServerSseMessage>> Answers<S> {
    async fn next(&mut self) -> Option<Arc<ServerJsonRpcMessage>> {
        loop {
            if let Some(message) = self.stream.next().await?.message {
                if is_final(&message) {
                    self.guard.request = None;
                }
                return Some(message);
            }
        }
    }

    fn events(self, first: Arc<ServerJsonRpcMessage>) -> impl Stream<Item = Result<Event, Infallible>> {
        futures_util::stream::unfold((Some(first), self), |(first, mut answers)| async move {
            let message = match first {
                Some(first) => first,
                None => answers.next().await?,
            };
            let event = Event::default().data(serde_json::to_string(&*message).unwrap_or_default());
            Some((Ok(event), (None, answers)))
        })
    }
}

fn is_final(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
}

/// Cancels the request when its connection is closed before the answer. The stream cannot be resumed, so nobody would
/// ever read it.
struct CancelOnDrop {
    sessions: Arc<Sessions>,
    session: SessionId,
    request: Option<RequestId>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else {
            return;
        };
        let (sessions, session) = (Arc::clone(&self.sessions), Arc::clone(&self.session));
        let reason = Some("the connection was closed".to_owned());
        let notification = CancelledNotification::new(CancelledNotificationParam::new(Some(request), reason));
        let notification = ClientNotification::CancelledNotification(notification);
        tokio::spawn(async move {
            let _ = sessions.accept_message(&session, ClientJsonRpcMessage::notification(notification)).await;
        });
    }
}
