//! Tiny servers and the requests sent to them.

use std::{
    io::Write as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use flowmcp_http::{HttpSettings, HttpTransport};
use flowmcp_plugin::{
    Method, NetworkAccess, Request, RequestLimits, Response, RetryPolicy, Transport, TransportError,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Long enough that only a test about time runs into it.
pub(crate) const PATIENT: Duration = Duration::from_secs(20);

/// A `GET` of a local pack that is not retried.
pub(crate) fn get(url: impl Into<String>) -> Request {
    Request {
        method: Method::Get,
        url: url.into(),
        headers: Vec::new(),
        body: Default::default(),
        network: NetworkAccess::Local,
        limits: RequestLimits::default(),
        retry: RetryPolicy { retries: 0, ..RetryPolicy::default() },
        secrets: Vec::new(),
    }
}

pub(crate) fn transport() -> HttpTransport {
    HttpTransport::new(HttpSettings::default()).unwrap()
}

/// Sends one request with a transport of its own.
pub(crate) async fn send(request: Request) -> Result<Response, TransportError> {
    transport().send(request, Instant::now() + PATIENT).await
}

/// Reads a request up to the end of its body; `None` at the end of the connection.
pub(crate) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text);
            }
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
}

/// A server that answers the n-th request with the n-th script, then repeats the last one.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    pub(crate) connections: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) async fn start(scripts: Vec<Vec<u8>>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server {
            port: listener.local_addr().unwrap().port(),
            requests: Arc::default(),
            connections: Arc::default(),
        };
        let (requests, connections) = (Arc::clone(&server.requests), Arc::clone(&server.connections));
        let scripts = Arc::new(scripts);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, Arc::clone(&requests), Arc::clone(&scripts)));
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, requests: Arc<Mutex<Vec<String>>>, scripts: Arc<Vec<Vec<u8>>>) {
    while let Some(request) = read_request(&mut stream).await {
        let index = {
            let mut requests = requests.lock().unwrap();
            requests.push(request);
            requests.len() - 1
        };
        let script = scripts.get(index).or(scripts.last()).cloned().unwrap_or_default();
        if script.is_empty() || stream.write_all(&script).await.is_err() {
            return;
        }
        // A script without a length ends with its connection.
        if !script.windows(15).any(|window| window.eq_ignore_ascii_case(b"content-length:")) {
            return;
        }
    }
}

/// A response of this status, with extra header lines and a body.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} Reason\r\ncontent-length: {}\r\n", body.len()).into_bytes();
    for (name, value) in headers {
        write!(bytes, "{name}: {value}\r\n").unwrap();
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// Serves one connection of a TLS listener: answers every request with `script` and records it.
pub(crate) async fn answer_all(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    requests: Arc<Mutex<Vec<String>>>,
    script: &[u8],
) {
    while let Some(request) = read_request(&mut stream).await {
        requests.lock().unwrap().push(request);
        if stream.write_all(script).await.is_err() {
            return;
        }
    }
}
