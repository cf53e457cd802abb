//! Bodies: decoding, limits, truncation, deadlines.

use std::{
    io::Write as _,
    time::{Duration, Instant},
};

use flowmcp_http::{HttpSettings, HttpTransport};
use flowmcp_plugin::{Method, Phase, Request, RequestLimits, Response, Transport, TransportError};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
};

use crate::server::{PATIENT, Server, answer, get, read_request, send, transport};

const CODINGS: [&str; 3] = ["gzip", "br", "zstd"];

fn encode(coding: &str, plain: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut encoded = Vec::new();
            brotli::CompressorWriter::new(&mut encoded, 4096, 5, 22).write_all(plain).unwrap();
            encoded
        }
        "zstd" => zstd::encode_all(plain, 3).unwrap(),
        other => panic!("{other}"),
    }
}

fn limited(url: String, response_bytes: usize) -> Request {
    Request { limits: RequestLimits { response_bytes, ..RequestLimits::default() }, ..get(url) }
}

async fn fetch(script: Vec<u8>, limit: usize) -> Result<Response, TransportError> {
    let server = Server::start(vec![script]).await;
    send(limited(server.url("/"), limit)).await
}

#[tokio::test]
async fn decoded_bodies_are_byte_exact() {
    let plain: Vec<u8> = (0..200_000_u32).flat_map(|n| (n % 977).to_le_bytes()).collect();
    for coding in CODINGS {
        let script = answer(200, &[("content-encoding", coding)], &encode(coding, &plain));
        let response = fetch(script, plain.len()).await.unwrap();
        assert!(response.body == plain, "{coding}");
        assert_eq!(response.header("content-encoding"), None, "{coding}");
    }
    let response = fetch(answer(200, &[], &plain), plain.len()).await.unwrap();
    assert!(response.body == plain, "identity");
    assert_eq!(response.header("content-length"), Some("800000"));
}

#[tokio::test]
async fn an_empty_body_in_any_coding_is_empty() {
    for coding in CODINGS {
        let response = fetch(answer(200, &[("content-encoding", coding)], b""), 10).await.unwrap();
        assert_eq!(response.body, "", "{coding}");
    }
    let response = fetch(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(), 10).await.unwrap();
    assert_eq!((response.status, response.body.len()), (204, 0));
}

#[tokio::test]
async fn a_bomb_is_stopped_at_the_limit() {
    const LIMIT: usize = 100_000;
    let bomb = vec![0; 8 << 20];
    for coding in CODINGS {
        let encoded = encode(coding, &bomb);
        assert!(encoded.len() < LIMIT, "{coding}: the encoded size alone must not reach the limit");
        let error = fetch(answer(200, &[("content-encoding", coding)], &encoded), LIMIT).await.unwrap_err();
        assert!(matches!(error, TransportError::TooLarge { limit: LIMIT, .. }), "{coding}: {error:?}");
    }
}

#[tokio::test]
async fn the_limit_is_exact_without_coding_too() {
    let chunked =
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n";
    for script in [answer(200, &[], b"helloworld"), chunked.to_vec()] {
        assert_eq!(fetch(script.clone(), 10).await.unwrap().body, "helloworld");
        let error = fetch(script, 9).await.unwrap_err();
        assert!(matches!(error, TransportError::TooLarge { limit: 9, .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_endless_body_is_stopped_at_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let mut piece = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        while stream.write_all(&piece).await.is_ok() {
            piece = vec![b'x'; 4096];
        }
    });
    let error = send(limited(url, 1 << 20)).await.unwrap_err();
    assert!(matches!(error, TransportError::TooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn a_body_that_ends_early_is_broken() {
    let plain = vec![b'x'; 1000];
    let mut cases = vec![
        ("content-length", b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello".to_vec()),
        ("chunked", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n".to_vec()),
    ];
    for coding in CODINGS {
        let mut cut = encode(coding, &plain);
        cut.truncate(cut.len() - 3);
        cases.push((coding, answer(200, &[("content-encoding", coding)], &cut)));
    }
    for (case, mut script) in cases {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(&std::mem::take(&mut script)).await.unwrap();
            let _ = stream.shutdown().await;
        });
        match send(get(format!("http://{address}/SECRET"))).await {
            Err(TransportError::Broken { host, phase: Phase::Read, .. }) => {
                assert_eq!(host, address.to_string(), "{case}");
            }
            other => panic!("{case}: {other:?}"),
        }
    }
}

/// Accepts one connection and hands it over once the request has arrived.
async fn one_connection(answer: impl FnOnce(TcpStream) -> BoxedServer + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/SECRET", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        answer(stream).await;
    });
    url
}

type BoxedServer = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

#[tokio::test]
async fn the_deadline_says_what_it_interrupted() {
    let silent = one_connection(|stream| {
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(stream);
        })
    });
    let dripping = one_connection(|mut stream| {
        Box::pin(async move {
            let head: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";
            let mut piece = head;
            let mut clock = tokio::time::interval(Duration::from_millis(10));
            while stream.write_all(piece).await.is_ok() {
                piece = b"x";
                clock.tick().await;
            }
        })
    });
    let transport = transport();
    for (url, phase) in [(silent.await, Phase::Respond), (dripping.await, Phase::Read)] {
        let started = Instant::now();
        let error = transport.send(get(url), started + Duration::from_millis(200)).await.unwrap_err();
        let took = started.elapsed();
        assert!(matches!(error, TransportError::Timeout { phase: found, .. } if found == phase), "{error:?}");
        assert!(!error.to_string().contains("SECRET"), "{error}");
        assert!(took >= Duration::from_millis(200) && took < Duration::from_secs(5), "{phase}: {took:?}");
    }
}

#[tokio::test]
async fn a_passed_deadline_sends_nothing() {
    let server = Server::start(vec![answer(200, &[], b"")]).await;
    let error = transport().send(get(server.url("/")), Instant::now()).await.unwrap_err();
    assert!(matches!(error, TransportError::Timeout { phase: Phase::Connect, .. }), "{error:?}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn requests_to_one_host_wait_for_a_slot() {
    let silent = one_connection(|stream| {
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(stream);
        })
    });
    let url = silent.await;
    let settings = HttpSettings { connections_per_host: 1, ..HttpSettings::default() };
    let transport = HttpTransport::new(settings).unwrap();
    let soon = Instant::now() + Duration::from_millis(200);
    let (first, second) = tokio::join!(transport.send(get(&url), soon), transport.send(get(&url), soon));
    let phase = |result: Result<Response, TransportError>| match result {
        Err(TransportError::Timeout { phase, .. }) => phase,
        other => panic!("{other:?}"),
    };
    assert_eq!((phase(first), phase(second)), (Phase::Respond, Phase::Connect));
}

#[tokio::test]
async fn request_bodies_and_their_length() {
    let server = Server::start(vec![answer(200, &[], b"")]).await;
    for (method, body, expected) in [
        (Method::Post, "{\"a\":1}", Some("7")),
        (Method::Post, "", Some("0")),
        (Method::Put, "", Some("0")),
        (Method::Delete, "", None),
        (Method::Get, "", None),
    ] {
        let request = Request { method, body: body.into(), ..get(server.url("/")) };
        transport().send(request, Instant::now() + PATIENT).await.unwrap();
        let sent = server.requests().pop().unwrap();
        let length = sent.lines().find_map(|line| line.strip_prefix("content-length: ").map(str::to_owned));
        assert_eq!(length.as_deref(), expected, "{method}: {sent}");
        assert!(sent.starts_with(method.as_str()) && sent.ends_with(&format!("\r\n\r\n{body}")), "{sent}");
    }
}
