//! Attempts against servers that fail first.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use flowmcp_plugin::{Method, Request, RetryPolicy, Transport, TransportError};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use crate::server::{PATIENT, Server, answer, get, transport};

fn retried(method: Method, url: String) -> Request {
    Request { method, retry: RetryPolicy::default(), ..get(url) }
}

/// Sends one request and gives status or error, and how often the server was asked.
async fn outcome(method: Method, scripts: Vec<Vec<u8>>) -> (Result<u16, TransportError>, usize) {
    let server = Server::start(scripts).await;
    let response = transport().send(retried(method, server.url("/")), Instant::now() + PATIENT).await;
    (response.map(|response| response.status), server.requests().len())
}

#[tokio::test]
async fn statuses() {
    let fails_once = |status| vec![answer(status, &[], b"busy"), answer(200, &[], b"")];
    for (method, scripts, status, asked) in [
        (Method::Get, fails_once(429), 200, 2),
        (Method::Get, fails_once(502), 200, 2),
        (Method::Put, fails_once(503), 200, 2),
        (Method::Delete, fails_once(504), 200, 2),
        (Method::Post, fails_once(503), 503, 1),
        (Method::Get, fails_once(500), 500, 1),
        (Method::Get, fails_once(404), 404, 1),
        (Method::Get, vec![answer(503, &[], b"busy")], 503, 3),
        (Method::Get, vec![answer(503, &[("retry-after", "3600")], b"")], 503, 1),
        (Method::Get, vec![answer(429, &[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")], b"")], 429, 1),
        (Method::Get, vec![answer(503, &[("retry-after", "0")], b""), answer(200, &[], b"")], 200, 2),
    ] {
        assert_eq!(outcome(method, scripts).await, (Ok(status), asked), "{method} {status}");
    }
}

#[tokio::test]
async fn connections_that_break_before_the_response() {
    let closes_once = || vec![Vec::new(), answer(200, &[], b"")];
    for method in [Method::Get, Method::Put, Method::Delete] {
        assert_eq!(outcome(method, closes_once()).await, (Ok(200), 2), "{method}");
    }
    let (result, asked) = outcome(Method::Post, closes_once()).await;
    assert!(matches!(result, Err(TransportError::Broken { .. })), "{result:?}");
    assert_eq!(asked, 1, "what may have been sent is not sent again");
}

#[tokio::test]
async fn the_last_response_is_returned_with_its_body() {
    let server = MockServer::start().await;
    let busy = ResponseTemplate::new(503).set_body_string("busy");
    Mock::given(matchers::any()).respond_with(busy).expect(3).mount(&server).await;
    let response =
        transport().send(retried(Method::Get, server.uri()), Instant::now() + PATIENT).await.unwrap();
    assert_eq!((response.status, &response.body[..]), (503, &b"busy"[..]));
}

#[tokio::test]
async fn retry_after_beyond_the_deadline_returns_at_once() {
    let server = Server::start(vec![answer(503, &[("retry-after", "5")], b"busy")]).await;
    let started = Instant::now();
    let deadline = started + Duration::from_secs(4);
    let response = transport().send(retried(Method::Get, server.url("/")), deadline).await.unwrap();
    assert_eq!(response.status, 503);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_refused_connection_is_tried_again_for_post_too() {
    // A port that was just given back: nobody listens, so the waits between the attempts are what can be seen.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let started = Instant::now();
    let request = retried(Method::Post, format!("http://{address}/SECRET"));
    let error = transport().send(request, Instant::now() + PATIENT).await.unwrap_err();
    assert!(matches!(error, TransportError::Connect { .. }), "{error:?}");
    assert!(started.elapsed() >= Duration::from_millis(150), "two waits of at least 50 and 100 ms");
}

#[tokio::test]
async fn a_kept_connection_is_used_again() {
    let server = Server::start(vec![answer(200, &[], b"one"), answer(200, &[], b"two")]).await;
    let transport = transport();
    for expected in ["one", "two"] {
        let response = transport.send(get(server.url("/")), Instant::now() + PATIENT).await.unwrap();
        assert_eq!(response.body, expected);
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}
