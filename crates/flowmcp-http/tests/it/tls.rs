//! https with roots of our own, and what fails on the way.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use flowmcp_http::{HttpSettings, HttpSettingsError, HttpTransport};
use flowmcp_plugin::{NetworkAccess, Request, Transport, TransportError};
use tokio::net::TcpListener;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig, crypto,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

use crate::server::{PATIENT, Server, answer, answer_all, get};

/// An https server for `names`, and the settings that reach and trust it under the first name.
pub(crate) struct Secure {
    pub(crate) address: SocketAddr,
    pub(crate) settings: HttpSettings,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

impl Secure {
    pub(crate) async fn start(name: &str, script: Vec<u8>) -> Secure {
        let (acceptor, ca_pem) = acceptor(name, b"http/1.1");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let recorded = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, recorded, script) = (acceptor.clone(), Arc::clone(&recorded), script.clone());
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        answer_all(stream, recorded, &script).await;
                    }
                });
            }
        });
        let settings =
            HttpSettings { resolve: [(name.to_owned(), address)].into(), ca_pem, ..HttpSettings::default() };
        Secure { address, settings, requests }
    }
}

/// A TLS server side for `name` that speaks one protocol, and its certificate as PEM.
fn acceptor(name: &str, protocol: &[u8]) -> (TlsAcceptor, Vec<u8>) {
    let certified = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![protocol.to_vec()];
    (TlsAcceptor::from(Arc::new(config)), certified.cert.pem().into_bytes())
}

fn public(url: &str) -> Request {
    Request { network: NetworkAccess::Public, ..get(url) }
}

async fn send_with(settings: HttpSettings, request: Request) -> Result<String, TransportError> {
    let transport = HttpTransport::new(settings).unwrap();
    let response = transport.send(request, Instant::now() + PATIENT).await?;
    Ok(String::from_utf8(response.body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_public_pack_reaches_a_resolved_host_over_https() {
    let server = Secure::start("api.example.test", answer(200, &[], b"hello")).await;
    // Without a port in the URL, the configured address is dialled as it is.
    let body = send_with(server.settings.clone(), public("https://API.example.test/v1?q=1#frag")).await;
    assert_eq!(body.as_deref(), Ok("hello"));
    let requests = server.requests.lock().unwrap();
    assert!(requests[0].starts_with("GET /v1?q=1 HTTP/1.1\r\n"), "{requests:?}");
    assert!(requests[0].contains("\r\nhost: api.example.test\r\n"), "{requests:?}");
    assert!(requests[0].contains("\r\nuser-agent: flowmcp-server/"), "{requests:?}");
    assert!(requests[0].contains("\r\naccept-encoding: "), "{requests:?}");
}

#[tokio::test]
async fn http_2_is_negotiated_and_shares_one_connection() {
    let (acceptor, ca_pem) = acceptor("api.example.test", b"h2");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    // One connection is all that it accepts; each request is answered with its own first header and path.
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(acceptor.accept(stream).await.unwrap()).await.unwrap();
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            let key = request.headers().get("x-key").unwrap().to_str().unwrap();
            let text = format!("{key} {}", request.uri());
            let mut body = respond.send_response(Default::default(), false).unwrap();
            body.send_data(text.into(), true).unwrap();
        }
    });
    let settings = HttpSettings {
        resolve: [("api.example.test".to_owned(), address)].into(),
        ca_pem,
        ..Default::default()
    };
    let transport = HttpTransport::new(settings).unwrap();
    for path in ["/one", "/two"] {
        let headers = vec![("X-Key".to_owned(), "k".to_owned())];
        let request = Request { headers, ..public(&format!("https://api.example.test{path}")) };
        let response = transport.send(request, Instant::now() + PATIENT).await.unwrap();
        assert_eq!(response.body, format!("k https://api.example.test{path}"));
    }
}

#[tokio::test]
async fn an_unknown_ca_is_a_tls_failure() {
    let server = Secure::start("api.example.test", answer(200, &[], b"hello")).await;
    let settings = HttpSettings { ca_pem: Vec::new(), ..server.settings };
    let error = send_with(settings, public("https://api.example.test/?key=SECRET")).await.unwrap_err();
    let expected = TransportError::Tls {
        host: "api.example.test:443".into(),
        reason: "invalid peer certificate: UnknownIssuer".into(),
    };
    assert_eq!(error, expected);
    assert!(server.requests.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_certificate_for_another_name_is_a_tls_failure() {
    let server = Secure::start("api.example.test", answer(200, &[], b"hello")).await;
    let settings = HttpSettings {
        resolve: [("other.example.test".to_owned(), server.address)].into(),
        ..server.settings
    };
    let error = send_with(settings, public("https://other.example.test/SECRET")).await.unwrap_err();
    assert!(matches!(&error, TransportError::Tls { .. }), "{error}");
    assert!(!error.to_string().contains("SECRET"), "{error}");
}

#[tokio::test]
async fn a_server_that_never_answers_tls_is_a_connect_timeout() {
    let plain = Server::start(vec![answer(200, &[], b"")]).await;
    let settings = HttpSettings {
        resolve: [("api.example.test".to_owned(), ([127, 0, 0, 1], plain.port).into())].into(),
        ..HttpSettings::default()
    };
    // It waits for a plain request that never comes; the connect timeout, well before the deadline, ends the call.
    let transport =
        HttpTransport::new(HttpSettings { connect_timeout: Duration::from_millis(150), ..settings });
    let request = public("https://api.example.test/SECRET");
    let error = transport.unwrap().send(request, Instant::now() + PATIENT).await.unwrap_err();
    assert_eq!(error.to_string(), "api.example.test:443: timed out while connecting");
}

#[tokio::test]
async fn a_plain_text_answer_to_tls_is_a_tls_failure() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        let mut rest = Vec::new();
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut rest).await;
    });
    let settings = HttpSettings {
        resolve: [("api.example.test".to_owned(), address)].into(),
        ..HttpSettings::default()
    };
    let error = send_with(settings, public("https://api.example.test/")).await.unwrap_err();
    assert!(matches!(&error, TransportError::Tls { .. }), "{error}");
}

#[test]
fn settings_that_cannot_work() {
    let proxy = |url: &str| HttpSettings { proxy: Some(url.into()), ..HttpSettings::default() };
    for (settings, expected) in [
        (
            proxy("socks5://user:SECRET@proxy.test"),
            "proxy: must be an http:// or https:// URL with a host (another scheme)",
        ),
        (proxy("http://user:SECRET@"), "proxy: must be an http:// or https:// URL with a host (empty host)"),
        (
            HttpSettings { user_agent: "a\r\nb".into(), ..HttpSettings::default() },
            "user_agent: must be printable ASCII (found \"a\\r\\nb\")",
        ),
        (
            HttpSettings { connections_per_host: 0, ..HttpSettings::default() },
            "connections_per_host: must be 1 to 65536 (found 0)",
        ),
    ] {
        let error: HttpSettingsError = HttpTransport::new(settings).err().unwrap();
        assert_eq!(error.to_string(), expected);
    }
    let shown = format!("{:?}", proxy("http://user:SECRET@proxy.test"));
    assert!(!shown.contains("SECRET"), "{shown}");
}
