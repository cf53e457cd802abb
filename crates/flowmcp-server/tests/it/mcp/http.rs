use std::{io, net::SocketAddr, time::Duration};

use flowmcp_engine::DEFAULT_VIEW;
use flowmcp_server::mcp::{HttpSettings, serve_http_on};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::world::{SOON, World, summary};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const FAST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"made__fast"}}"#;
const SLOW: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"made__slow"}}"#;
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

struct Server {
    world: World,
    address: SocketAddr,
    task: JoinHandle<io::Result<()>>,
    shutdown: CancellationToken,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Status and message in one line.
    fn summary(&self) -> String {
        match serde_json::from_str::<Value>(&self.body) {
            Ok(answer) => format!("{} {}", self.status, summary(&answer)),
            Err(_) => format!("{} {:?}", self.status, self.body),
        }
    }
}

impl Server {
    async fn start() -> Self {
        Server::with(HttpSettings::new(([127, 0, 0, 1], 0).into())).await
    }

    async fn with(settings: HttpSettings) -> Self {
        let world = World::new();
        let listener = TcpListener::bind(settings.address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let (engine, token) = (world.engine.clone(), shutdown.clone());
        let task =
            tokio::spawn(async move { serve_http_on(listener, engine, DEFAULT_VIEW, settings, token).await });
        Server { world, address, task, shutdown }
    }

    /// Sends a request and leaves its connection open.
    async fn open(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        let defaults = [
            ("Host", "localhost"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        for (key, value) in
            defaults.iter().filter(|(key, _)| !headers.iter().any(|(given, _)| given == key)).chain(headers)
        {
            head.push_str(&format!("{key}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        stream
    }

    async fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = self.open(method, path, headers, body).await;
        let mut bytes = Vec::new();
        timeout(SOON, stream.read_to_end(&mut bytes)).await.expect("an answer").unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("a response");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    async fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        self.request("POST", "/mcp", headers, body).await
    }

    /// Opens a session and returns its id.
    async fn session(&self) -> String {
        let answer = self.post(&[], INITIALIZE).await;
        assert_eq!(answer.summary(), "200 0 initialized 2025-06-18");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        answer.header("mcp-session-id").expect("a session").to_owned()
    }
}

/// A request of the 2026-07-28 revision, as a conforming client sends it.
fn modern(method: &str, name: Option<&str>) -> (Vec<(&'static str, String)>, String) {
    let mut headers =
        vec![("MCP-Protocol-Version", "2026-07-28".to_owned()), ("Mcp-Method", method.to_owned())];
    let mut params = META.to_owned();
    if let Some(name) = name {
        headers.push(("Mcp-Name", name.to_owned()));
        params = format!(r#""name":"{name}",{META}"#);
    }
    (headers, format!(r#"{{"jsonrpc":"2.0","id":5,"method":"{method}","params":{{{params}}}}}"#))
}

async fn post_modern(server: &Server, method: &str, name: Option<&str>) -> Answer {
    let (headers, body) = modern(method, name);
    let headers: Vec<_> = headers.iter().map(|(key, value)| (*key, value.as_str())).collect();
    server.post(&headers, &body).await
}

#[tokio::test]
async fn malformed_bodies_are_answered_as_json_rpc() {
    let server = Server::start().await;
    for (body, expected) in [
        ("not json", "400 - error -32700"),
        ("", "400 - error -32700"),
        ("[]", "400 - error -32600"),
        (&format!("[{LIST}]"), "400 - error -32600"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "400 - error -32600"),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}"#, "200 3 error -32602"),
    ] {
        assert_eq!(server.post(&[], body).await.summary(), expected, "{body}");
    }
    let answer = server.post(&[("Content-Type", "text/plain")], LIST).await;
    assert_eq!(answer.summary(), "415 - error -32600");
    assert_eq!(server.request("GET", "/", &[], "").await.status, 404);
    assert_eq!(server.request("PUT", "/mcp", &[], "").await.status, 405);
    assert_eq!(server.request("GET", "/health", &[], "").await.summary(), r#"200 "ok\n""#);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let settings = HttpSettings { request_bytes: 1000, ..HttpSettings::new(([127, 0, 0, 1], 0).into()) };
    let server = Server::with(settings).await;
    let answer = server.post(&[], &format!("{LIST}{}", " ".repeat(1000))).await;
    assert_eq!(answer.summary(), "413 - error -32600");
}

#[tokio::test]
async fn sessions_live_from_initialize_to_delete() {
    let mut server = Server::start().await;
    assert_eq!(server.post(&[], LIST).await.summary(), "400 1 error -32600");
    let session = server.session().await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(server.post(&headers, initialized).await.status, 202);
    assert_eq!(server.post(&headers, LIST).await.summary(), "200 1 5 tools");
    assert_eq!(server.post(&headers, FAST).await.summary(), r#"200 1 isError=false {"ok":1.10}"#);
    let bogus = [headers[0], ("MCP-Protocol-Version", "bogus")];
    assert_eq!(server.post(&bogus, LIST).await.summary(), "400 1 error -32600");

    // The stream for messages of the server comes and goes without the session.
    let mut stream = server.open("GET", "/mcp", &[headers[0], ("Accept", "text/event-stream")], "").await;
    let mut head = [0; 12];
    timeout(SOON, stream.read_exact(&mut head)).await.expect("a stream").unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    drop(stream);
    assert_eq!(server.post(&headers, LIST).await.summary(), "200 1 5 tools");
    assert_eq!(server.post(&headers, LIST).await.summary(), "200 1 5 tools");

    // A closed connection ends its call.
    let stream = server.open("POST", "/mcp", &headers, SLOW).await;
    server.world.expect_slow("started").await;
    drop(stream);
    server.world.expect_slow("dropped").await;

    assert_eq!(server.request("DELETE", "/mcp", &headers, "").await.status, 204);
    assert_eq!(server.post(&headers, LIST).await.summary(), "404 1 error -32001");
    assert_eq!(server.request("DELETE", "/mcp", &headers, "").await.summary(), "404 - error -32001");
    assert_eq!(server.request("DELETE", "/mcp", &[], "").await.summary(), "400 - error -32600");
    let get = [headers[0], ("Accept", "text/event-stream")];
    assert_eq!(server.request("GET", "/mcp", &get, "").await.summary(), "404 - error -32001");
}

#[tokio::test]
async fn too_many_sessions_end_the_one_unused_for_longest() {
    let settings = HttpSettings { sessions: 2, ..HttpSettings::new(([127, 0, 0, 1], 0).into()) };
    let server = Server::with(settings).await;
    let (first, second) = (server.session().await, server.session().await);
    assert_eq!(server.post(&[("Mcp-Session-Id", &first)], LIST).await.status, 200);
    let third = server.session().await;
    for (session, status) in [(first, 200), (second, 404), (third, 200)] {
        assert_eq!(server.post(&[("Mcp-Session-Id", &session)], LIST).await.status, status);
    }
}

#[tokio::test]
async fn the_revision_without_sessions_is_served_too() {
    let mut server = Server::start().await;
    assert_eq!(post_modern(&server, "server/discover", None).await.status, 200);
    let listed = post_modern(&server, "tools/list", None).await;
    assert_eq!(listed.summary(), "200 5 5 tools");
    assert_eq!(listed.header("content-type"), Some("application/json"));
    assert!(listed.body.contains("io.modelcontextprotocol/serverInfo"), "{}", listed.body);
    let called = post_modern(&server, "tools/call", Some("made__fast")).await;
    assert_eq!(called.summary(), r#"200 5 isError=false {"ok":1.10}"#);
    assert_eq!(post_modern(&server, "tools/call", Some("made__no")).await.summary(), "200 5 error -32602");

    let (headers, body) = modern("tools/call", Some("made__slow"));
    let headers: Vec<_> = headers.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let stream = server.open("POST", "/mcp", &headers, &body).await;
    server.world.expect_slow("started").await;
    drop(stream);
    server.world.expect_slow("dropped").await;
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused() {
    let mut settings = HttpSettings::new(([127, 0, 0, 1], 0).into());
    settings.allowed_hosts = vec!["mcp.example.test".to_owned()];
    settings.allowed_origins = vec!["https://app.example.test".to_owned()];
    let server = Server::with(settings).await;
    for (headers, status) in [
        (vec![("Host", "evil.test")], 403),
        (vec![("Host", "localhost:8080")], 200),
        (vec![("Host", "[::1]:8080")], 200),
        (vec![("Host", "mcp.example.test")], 200),
        (vec![("Origin", "https://evil.test")], 403),
        (vec![("Origin", "null")], 403),
        (vec![("Origin", "http://localhost:6274")], 200),
        (vec![("Origin", "https://app.example.test")], 200),
    ] {
        let answer = server.post(&headers, INITIALIZE).await;
        assert_eq!(answer.status, status, "{headers:?}");
        let allowed =
            headers.iter().find(|(key, _)| *key == "Origin" && status == 200).map(|(_, value)| *value);
        assert_eq!(answer.header("access-control-allow-origin"), allowed, "{headers:?}");
    }
    let preflight =
        [("Origin", "https://app.example.test"), ("Access-Control-Request-Headers", "mcp-method")];
    let answer = server.request("OPTIONS", "/mcp", &preflight, "").await;
    assert_eq!((answer.status, answer.header("access-control-allow-headers")), (204, Some("mcp-method")));
    assert_eq!(server.request("OPTIONS", "/mcp", &[("Origin", "https://evil.test")], "").await.status, 403);
}

#[tokio::test]
async fn shutdown_ends_streams_at_once_and_calls_after_the_drain() {
    let settings =
        HttpSettings { drain: Duration::from_millis(100), ..HttpSettings::new(([127, 0, 0, 1], 0).into()) };
    let mut server = Server::with(settings).await;
    let session = server.session().await;
    let headers = [("Mcp-Session-Id", session.as_str()), ("Accept", "application/json, text/event-stream")];
    let mut events = server.open("GET", "/mcp", &headers, "").await;
    let mut head = [0; 12];
    timeout(SOON, events.read_exact(&mut head)).await.expect("a stream").unwrap();
    let mut slow = server.open("POST", "/mcp", &headers, SLOW).await;
    server.world.expect_slow("started").await;
    server.shutdown.cancel();
    let mut rest = Vec::new();
    timeout(SOON, events.read_to_end(&mut rest)).await.expect("the end of the stream").unwrap();
    server.world.expect_slow("dropped").await;
    timeout(SOON, slow.read_to_end(&mut rest)).await.expect("the end of the call").unwrap();
    timeout(SOON, server.task).await.expect("the end").unwrap().unwrap();
}
