//! The streamable HTTP listener: MCP at `/mcp`, a liveness answer at `/health`.
//!
//! The order for each request: Host and Origin ([`access`]), then the body as a message ([`post`]), then rmcp. What rmcp
//! answers as bare text leaves as a JSON-RPC error ([`reply`]).

mod access;
mod post;
mod reply;
mod session_calls;
mod sessions;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::{any, get},
};
use flowmcp_engine::Engine;
use futures_util::StreamExt as _;
use http::{HeaderMap, Method, StatusCode, header};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use rmcp::transport::streamable_http_server::{
    SessionId, SessionManager as _, StreamableHttpServerConfig, StreamableHttpService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::sync::CancellationToken;

use self::{access::Access, sessions::Sessions};
use super::{DRAIN, REQUEST_BYTES, handler::Handler};

/// Header that names the session of an `initialize` revision.
const SESSION_HEADER: &str = "mcp-session-id";

/// A connection that sends no complete request head for this long is closed.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Requests at once on one HTTP/2 connection.
const STREAMS_PER_CONNECTION: u32 = 128;

/// Time for connections to close after calls were cancelled at the end of the drain.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Where and how the HTTP listener serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSettings {
    /// Address to bind.
    pub address: SocketAddr,
    /// Hosts that requests may name besides loopback ones: `name` (any port) or `name:port`.
    pub allowed_hosts: Vec<String>,
    /// Browser origins that may call besides loopback ones: `https://name[:port]`.
    pub allowed_origins: Vec<String>,
    /// Bytes of one request body.
    pub request_bytes: usize,
    /// Time that calls in flight get when the process is asked to stop.
    pub drain: Duration,
    /// Sessions of `initialize` revisions; the one unused for longest makes room for a new one.
    pub sessions: usize,
    /// Time after which an unused session ends.
    pub session_idle: Duration,
    /// Connections at once; more wait to be accepted.
    pub connections: usize,
}

impl HttpSettings {
    /// Loopback hosts and origins only, 4 MiB bodies, 10 s drain, 1024 sessions of 30 minutes, 1024 connections.
    pub fn new(address: SocketAddr) -> Self {
        HttpSettings {
            address,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            request_bytes: REQUEST_BYTES,
            drain: DRAIN,
            sessions: 1024,
            session_idle: Duration::from_secs(30 * 60),
            connections: 1024,
        }
    }
}

/// What all connections share.
struct Front {
    service: StreamableHttpService<Handler, Sessions>,
    sessions: Arc<Sessions>,
    handler: Handler,
    access: Access,
    request_bytes: usize,
    /// The process was asked to stop.
    shutdown: CancellationToken,
    /// The drain is over: every call ends.
    stop: CancellationToken,
}

/// Binds the address and serves a view until `shutdown` is cancelled and the calls in flight have finished or their time
/// is over.
///
/// # Errors
/// When the address cannot be bound, or an allowed host or origin cannot be read.
pub async fn serve_http(
    engine: Arc<Engine>,
    view: &str,
    settings: HttpSettings,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let listener = TcpListener::bind(settings.address).await.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot listen on {}: {error}", settings.address))
    })?;
    serve_http_on(listener, engine, view, settings, shutdown).await
}

/// Serves a view on a socket that is bound already, as [`serve_http`] does; `settings.address` is not used.
///
/// # Errors
/// When an allowed host or origin cannot be read.
pub async fn serve_http_on(
    listener: TcpListener,
    engine: Arc<Engine>,
    view: &str,
    settings: HttpSettings,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    let access = Access::new(&settings, address)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let stop = CancellationToken::new();
    let _ended = stop.clone().drop_guard();
    let handler = Handler::new(engine, view);
    let sessions = Arc::new(Sessions::new(settings.sessions, settings.session_idle));
    let front = Arc::new(Front {
        service: rmcp_service(&handler, &sessions, &settings, &stop),
        sessions,
        handler,
        access,
        request_bytes: settings.request_bytes,
        shutdown: shutdown.clone(),
        stop: stop.clone(),
    });
    let router = Router::new()
        .route("/mcp", any(mcp))
        .route("/health", get(async || "ok\n"))
        .with_state(Arc::clone(&front))
        .layer(from_fn_with_state(front, guard));
    tracing::info!(%address, "serving MCP over HTTP at /mcp");

    let connections = Arc::new(Semaphore::new(settings.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let open = GracefulShutdown::new();
    loop {
        let (stream, permit) = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        serve_connection(stream, permit, router.clone(), &open, stop.clone());
    }
    drop(listener);
    tokio::select! {
        () = open.shutdown() => return Ok(()),
        () = tokio::time::sleep(settings.drain) => {}
    }
    tracing::warn!("the time to finish is over: calls in flight are cancelled");
    stop.cancel();
    // The cancelled calls answer their clients meanwhile.
    tokio::time::sleep(LAST_WORDS.min(settings.drain)).await;
    Ok(())
}

fn rmcp_service(
    handler: &Handler,
    sessions: &Arc<Sessions>,
    settings: &HttpSettings,
    stop: &CancellationToken,
) -> StreamableHttpService<Handler, Sessions> {
    // `guard` has checked Host and Origin before anything reaches rmcp.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_sse_retry(None)
        .with_max_request_body_bytes(settings.request_bytes)
        .with_cancellation_token(stop.clone());
    let handler = handler.clone();
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(sessions), config)
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    let permit = Arc::clone(connections).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, permit),
            Err(error) => {
                // Mostly no file descriptors left: they come back when connections close.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn serve_connection(
    stream: TcpStream,
    permit: Option<OwnedSemaphorePermit>,
    router: Router,
    open: &GracefulShutdown,
    stop: CancellationToken,
) {
    // Without it each small reply waits about 40 ms for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(STREAMS_PER_CONNECTION);
    let connection =
        builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).into_owned();
    let connection = open.watch(connection);
    tokio::spawn(async move {
        let _permit = permit;
        let ended = async {
            stop.cancelled().await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            result = connection => {
                if let Err(error) = result {
                    tracing::debug!(%error, "connection ended");
                }
            }
            () = ended => {}
        }
    });
}

/// Lets only allowed hosts and origins through, and answers browsers' questions about origins.
async fn guard(State(front): State<Arc<Front>>, request: Request, next: Next) -> Response {
    if let Err(reason) = front.access.check(&request) {
        tracing::warn!(%reason, "request refused");
        return reply::error(StatusCode::FORBIDDEN, None, reply::invalid_request(reason.to_string()));
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = match request.method() {
        &Method::OPTIONS => access::preflight(request.headers()),
        _ => next.run(request).await,
    };
    if let Some(origin) = origin {
        access::allow_origin(response.headers_mut(), origin);
    }
    response
}

async fn mcp(State(front): State<Arc<Front>>, request: Request) -> Response {
    match *request.method() {
        Method::POST => post::post(&front, request).await,
        Method::GET => stream(&front, request).await,
        Method::DELETE => end_session(&front, request.headers()).await,
        _ => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            response.headers_mut().insert(header::ALLOW, access::METHODS);
            response
        }
    }
}

/// The stream of a session for messages that answer no request. It ends as soon as the process is asked to stop, since
/// nothing else would ever end it.
async fn stream(front: &Front, request: Request) -> Response {
    let response = reply::from_rmcp(front.service.handle(request).await, None).await;
    if !response.status().is_success() {
        return response;
    }
    let (parts, body) = response.into_parts();
    let events = body.into_data_stream().take_until(front.shutdown.clone().cancelled_owned());
    Response::from_parts(parts, Body::from_stream(events))
}

async fn end_session(front: &Front, headers: &HeaderMap) -> Response {
    let Some(session) = session_id(headers) else {
        return reply::session_required(None);
    };
    if !front.sessions.has_session(&session).await.unwrap_or(false) {
        return reply::session_unknown(None);
    }
    if let Err(error) = front.sessions.close_session(&session).await {
        tracing::debug!(%error, "the session had ended already");
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

fn session_id(headers: &HeaderMap) -> Option<SessionId> {
    headers.get(SESSION_HEADER)?.to_str().ok().map(SessionId::from)
}
