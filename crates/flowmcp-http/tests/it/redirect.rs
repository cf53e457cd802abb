//! Redirects over the wire; which one is followed how is tabled in `src/redirect.rs`.

use flowmcp_plugin::{Method, NetworkAccess, Request, RequestLimits, Secret, Transport, TransportError};
use std::time::Instant;

use crate::{
    server::{PATIENT, Server, answer, get, send},
    tls::Secure,
};

const KEY: &str = "SECRET-KEY-0001";

fn with_key(method: Method, url: String, body: &str) -> Request {
    Request {
        method,
        headers: vec![
            ("Authorization".into(), format!("Bearer {KEY}")),
            ("Accept".into(), "application/json".into()),
            ("Content-Type".into(), "application/json".into()),
        ],
        body: body.to_owned().into(),
        secrets: vec![Secret::new(KEY)],
        ..get(url)
    }
}

#[tokio::test]
async fn the_same_origin_gets_everything() {
    let server =
        Server::start(vec![answer(307, &[("location", "/next?a=1")], b"moved"), answer(200, &[], b"there")])
            .await;
    let response = send(with_key(Method::Post, server.url("/first"), "{}")).await.unwrap();
    assert_eq!(response.body, "there");
    let requests = server.requests();
    assert!(requests[1].starts_with("POST /next?a=1 HTTP/1.1\r\n"), "{requests:?}");
    assert!(requests[1].contains(KEY) && requests[1].ends_with("\r\n\r\n{}"), "{requests:?}");
}

#[tokio::test]
async fn another_origin_gets_no_server_value() {
    let other = Server::start(vec![answer(200, &[], b"there")]).await;
    let first = Server::start(vec![answer(307, &[("location", &other.url("/next"))], b"")]).await;
    send(with_key(Method::Post, first.url("/"), "{}")).await.unwrap();
    let seen = other.requests().concat();
    assert!(seen.starts_with("POST /next HTTP/1.1\r\n"), "{seen}");
    assert!(
        seen.contains("accept: application/json") && seen.contains("content-type: application/json"),
        "{seen}"
    );
    assert!(!seen.contains(KEY) && !seen.contains("authorization"), "{seen}");
}

#[tokio::test]
async fn hops_that_would_carry_a_server_value_are_refused() {
    let other = Server::start(vec![answer(200, &[], b"")]).await;
    for (path, body) in
        [(format!("/?k={KEY}"), "{}"), ("/?k=SECRET%2DKEY-0001".into(), "{}"), ("/".into(), KEY)]
    {
        let first = Server::start(vec![answer(307, &[("location", &other.url(&path))], b"")]).await;
        let error = send(with_key(Method::Post, first.url("/"), body)).await.unwrap_err();
        assert!(matches!(error, TransportError::Redirect { .. }), "{error:?}");
        assert!(!error.to_string().contains("KEY"), "{error}");
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_loop_ends_at_the_limit() {
    let server = Server::start(vec![answer(302, &[("location", "/SECRET")], b"")]).await;
    for redirects in [0, 1, 5] {
        let limits = RequestLimits { redirects, ..RequestLimits::default() };
        let before = server.requests().len();
        let error = send(Request { limits, ..get(server.url("/")) }).await.unwrap_err();
        let host = format!("127.0.0.1:{}", server.port);
        let expected = TransportError::Redirect { host, reason: format!("more than {redirects} redirects") };
        assert_eq!(error, expected);
        assert_eq!(server.requests().len() - before, usize::from(redirects) + 1);
    }
}

#[tokio::test]
async fn a_redirect_without_location_is_a_response() {
    let server = Server::start(vec![answer(302, &[], b"no location"), answer(304, &[], b"")]).await;
    assert_eq!(send(get(server.url("/"))).await.unwrap().body, "no location");
}

#[tokio::test]
async fn every_hop_is_checked() {
    for (location, network) in [
        ("https://169.254.169.254/latest/SECRET", NetworkAccess::Public),
        ("https://127.0.0.1/SECRET", NetworkAccess::Public),
        ("https://0x7f000001/SECRET", NetworkAccess::Public),
        ("https://localhost/SECRET", NetworkAccess::Public),
        ("http://169.254.169.254/latest/SECRET", NetworkAccess::Local),
    ] {
        let error = redirected_from_https(location, network).await;
        assert!(matches!(error, TransportError::Address { .. }), "{location}: {error:?}");
        assert!(!error.to_string().contains("SECRET"), "{error}");
    }
    for location in ["http://169.254.169.254/latest/SECRET", "http://api.example.test/SECRET"] {
        let error = redirected_from_https(location, NetworkAccess::Public).await;
        let reason = "it leads from https to http".to_owned();
        assert_eq!(error, TransportError::Redirect { host: "api.example.test:443".into(), reason });
    }
}

async fn redirected_from_https(location: &str, network: NetworkAccess) -> TransportError {
    let script = answer(302, &[("location", location)], b"");
    let server = Secure::start("api.example.test", script).await;
    let transport = flowmcp_http::HttpTransport::new(server.settings.clone()).unwrap();
    let request = Request { network, ..get("https://api.example.test/") };
    transport.send(request, Instant::now() + PATIENT).await.unwrap_err()
}
