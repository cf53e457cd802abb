//! Which hosts a request may reach.

use std::time::Instant;

use flowmcp_http::{HttpSettings, HttpTransport};
use flowmcp_plugin::{NetworkAccess, Request, Transport, TransportError};

use crate::{
    server::{PATIENT, Server, answer, get, send},
    tls::Secure,
};

fn public(url: &str) -> Request {
    Request { network: NetworkAccess::Public, ..get(url) }
}

#[tokio::test]
async fn public_packs_do_not_reach_private_literals() {
    for (url, kind) in [
        ("https://127.0.0.1:1/SECRET", "loopback"),
        ("https://2130706433/SECRET", "loopback"),
        ("https://[::ffff:10.0.0.1]/SECRET", "private"),
        ("https://169.254.169.254/SECRET", "cloud metadata"),
    ] {
        match send(public(url)).await {
            Err(TransportError::Address { kind: found, .. }) => assert_eq!(found, kind, "{url}"),
            other => panic!("{url}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn private_hosts_opens_exactly_what_it_names() {
    let server = Server::start(vec![answer(200, &[], b"")]).await;
    let settings = HttpSettings { private_hosts: vec!["127.0.0.1".into()], ..HttpSettings::default() };
    let transport = HttpTransport::new(settings).unwrap();
    // The server speaks no TLS, so a failed handshake shows that the connection was made.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || listener.accept().map(drop));
    let reached =
        transport.send(public(&format!("https://127.0.0.1:{port}/")), Instant::now() + PATIENT).await;
    assert!(
        matches!(reached, Err(TransportError::Connect { .. } | TransportError::Tls { .. })),
        "{reached:?}"
    );
    let other = transport.send(public("https://127.0.0.2/"), Instant::now() + PATIENT).await;
    assert!(matches!(other, Err(TransportError::Address { .. })), "{other:?}");
    // It opens an address, not http.
    let plain = transport.send(public(&server.url("/")), Instant::now() + PATIENT).await;
    assert!(matches!(plain, Err(TransportError::Scheme { .. })), "{plain:?}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_local_connection_is_not_reused_by_a_public_pack() {
    let server = Secure::start("localhost", answer(200, &[], b"hello")).await;
    let settings = HttpSettings { resolve: Default::default(), ..server.settings };
    let transport = HttpTransport::new(settings).unwrap();
    let url = format!("https://localhost:{}/", server.address.port());
    assert!(transport.send(get(&url), Instant::now() + PATIENT).await.is_ok());
    let refused = transport.send(public(&url), Instant::now() + PATIENT).await;
    assert!(matches!(refused, Err(TransportError::Address { .. })), "{refused:?}");
    assert_eq!(server.requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_name_without_address_is_a_resolve_failure() {
    let error = send(get("http://no-such-host.invalid/SECRET")).await.unwrap_err();
    match &error {
        TransportError::Resolve { host, .. } => assert_eq!(host, "no-such-host.invalid"),
        other => panic!("{other:?}"),
    }
    assert!(!error.to_string().contains("SECRET"), "{error}");
}

#[tokio::test]
async fn a_refused_connection_names_host_and_port() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = send(get(format!("http://{free}/SECRET"))).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{free}: could not connect: Connection refused (os error 111)"));
}

#[tokio::test]
async fn a_proxy_gets_what_is_not_local() {
    let proxy = Server::start(vec![answer(200, &[], b"by proxy")]).await;
    let origin = Server::start(vec![answer(200, &[], b"direct")]).await;
    let settings = HttpSettings {
        proxy: Some(format!("http://user:pass@127.0.0.1:{}", proxy.port)),
        ..HttpSettings::default()
    };
    let transport = HttpTransport::new(settings).unwrap();
    let deadline = Instant::now() + PATIENT;
    let far = transport.send(get("http://api.example.test/v1"), deadline).await.unwrap();
    assert_eq!(far.body, "by proxy");
    assert!(
        proxy.requests()[0].starts_with("GET http://api.example.test/v1 HTTP/1.1\r\n"),
        "{:?}",
        proxy.requests()
    );
    assert!(proxy.requests()[0].contains("\r\nproxy-authorization: Basic dXNlcjpwYXNz\r\n"));
    let near = transport.send(get(origin.url("/")), deadline).await.unwrap();
    assert_eq!(near.body, "direct");
    for url in ["https://localhost/", "https://10.0.0.1/"] {
        let refused = transport.send(public(url), deadline).await;
        assert!(matches!(refused, Err(TransportError::Address { .. })), "{url}: {refused:?}");
    }
    assert_eq!(proxy.requests().len(), 1);
}
