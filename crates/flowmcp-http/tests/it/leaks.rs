//! Case sec-01: no error and no log line, at any level, holds a URL's path, query or user info.

use std::{
    io,
    sync::{Arc, LazyLock, Mutex},
    time::{Duration, Instant},
};

use flowmcp_http::{HttpSettings, HttpTransport};
use flowmcp_plugin::{Method, NetworkAccess, Request, RetryPolicy, Secret, Transport};
use tracing_subscriber::{fmt::MakeWriter, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{
    server::{PATIENT, Server, answer, get},
    tls::Secure,
};

const KEY: &str = "SECRET123-leak";

/// Everything logged in this process: `tracing` and, through it, `log`.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

static LOG: LazyLock<Log> = LazyLock::new(|| {
    let log = Log::default();
    let layer = tracing_subscriber::fmt::layer().with_writer(log.clone()).with_ansi(false);
    tracing_subscriber::registry().with(tracing_subscriber::filter::LevelFilter::TRACE).with(layer).init();
    log
});

fn keyed(method: Method, network: NetworkAccess, base: &str) -> Request {
    Request {
        method,
        network,
        headers: vec![("X-Key".into(), KEY.into())],
        body: if method.has_body() { KEY.into() } else { Default::default() },
        retry: RetryPolicy { retries: 1, ..RetryPolicy::default() },
        secrets: vec![Secret::new(KEY)],
        ..get(format!("{base}/{KEY}/q?apikey={KEY}#{KEY}"))
    }
}

#[tokio::test]
async fn no_error_and_no_log_line_holds_the_key() {
    let log = LOG.clone();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let looping = Server::start(vec![answer(302, &[("location", &format!("/{KEY}"))], b"")]).await;
    let away = answer(307, &[("location", &format!("https://other.example.test/{KEY}"))], b"");
    let leading_away = Server::start(vec![away]).await;
    let broken =
        Server::start(vec![b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nx".to_vec()]).await;
    let garbled = Server::start(vec![b"\x01\x02 garbage\r\n\r\n".to_vec()]).await;
    let busy = Server::start(vec![answer(503, &[], b"")]).await;
    let large = Server::start(vec![answer(200, &[], &vec![b'x'; 20 << 20])]).await;
    let secure = Secure::start("api.example.test", answer(200, &[], b"")).await;
    let untrusted =
        HttpTransport::new(HttpSettings { ca_pem: Vec::new(), ..secure.settings.clone() }).unwrap();
    let trusted = HttpTransport::new(secure.settings.clone()).unwrap();
    let (local, public) = (NetworkAccess::Local, NetworkAccess::Public);

    let mut texts = Vec::new();
    for (transport, network, base, patience) in [
        (&trusted, local, format!("http://{free}"), PATIENT),
        (&trusted, public, format!("https://{free}"), PATIENT),
        (&trusted, public, format!("http://{free}"), PATIENT),
        (&trusted, local, "http://no-such-host.invalid".into(), PATIENT),
        (&trusted, local, format!("http://{KEY}:{KEY}@{free}"), PATIENT),
        (&trusted, local, "http://[".into(), PATIENT),
        (&trusted, local, format!("gopher://{free}"), PATIENT),
        (&trusted, local, looping.url(""), PATIENT),
        (&trusted, local, leading_away.url(""), PATIENT),
        (&trusted, local, broken.url(""), PATIENT),
        (&trusted, local, garbled.url(""), PATIENT),
        (&trusted, local, large.url(""), PATIENT),
        (&trusted, local, looping.url(&format!("/{}", "x".repeat(70_000))), PATIENT),
        (&trusted, local, busy.url(""), Duration::ZERO),
        (&untrusted, public, "https://api.example.test".into(), PATIENT),
    ] {
        for method in [Method::Get, Method::Post] {
            let request = keyed(method, network, &base);
            texts.push(format!("{request:?}"));
            let error = transport.send(request, Instant::now() + patience).await.unwrap_err();
            texts.push(format!("{error} {error:?}"));
        }
    }
    let mut header = keyed(Method::Get, local, &busy.url(""));
    header.headers.push(("X-Bad".into(), format!("{KEY}\r\n")));
    let error = trusted.send(header, Instant::now() + PATIENT).await.unwrap_err();
    texts.push(format!("{error} {error:?}"));
    // Calls that succeed, with and without TLS.
    for (network, base) in [(public, "https://api.example.test".to_owned()), (local, busy.url(""))] {
        let response =
            trusted.send(keyed(Method::Put, network, &base), Instant::now() + PATIENT).await.unwrap();
        texts.push(format!("{response:?}"));
    }

    for text in &texts {
        assert!(!text.contains("SECRET123"), "{text}");
    }
    let logged = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    let leak = logged.lines().find(|line| line.contains("SECRET123"));
    assert_eq!(leak, None, "a log line holds the key");
    assert!(
        logged.contains("trying again") && logged.contains("starting new connection"),
        "the log is recorded"
    );
}
