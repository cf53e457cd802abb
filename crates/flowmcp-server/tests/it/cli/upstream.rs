//! An https API on the loopback interface that does what a request's path says.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, mpsc},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpListener,
    sync::Notify,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig, crypto,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

use super::project::{Project, SOON};

pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\xff not a picture";

/// Status, content type and body for the head of a request.
pub(crate) type Answer = fn(&str) -> (u16, &'static str, Vec<u8>);

pub(crate) struct Upstream {
    hosts: Vec<String>,
    pub(crate) address: SocketAddr,
    pub(crate) ca_pem: String,
    /// `GET /path?query` for each request, and `closed` when the other side of `/slow` goes away.
    events: mpsc::Receiver<String>,
    gate: Arc<Notify>,
    /// Ends with this struct, and with it every connection.
    _runtime: tokio::runtime::Runtime,
}

impl Upstream {
    pub(crate) fn start() -> Self {
        Self::of(&["api.example.test", "other.example.test"], None)
    }

    /// An upstream under other names that answers as it is told.
    pub(crate) fn answering(hosts: &[&str], answer: Answer) -> Self {
        Self::of(hosts, Some(answer))
    }

    fn of(hosts: &[&str], answer: Option<Answer>) -> Self {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let certified = rcgen::generate_simple_self_signed(hosts.clone()).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, events) = mpsc::channel();
        let gate = Arc::new(Notify::new());
        let open = Arc::clone(&gate);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, sender, open) = (acceptor.clone(), sender.clone(), Arc::clone(&open));
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        answer_all(stream, &sender, &open, answer).await;
                    }
                });
            }
        });
        Upstream { hosts, address, ca_pem: certified.cert.pem(), events, gate, _runtime: runtime }
    }

    /// Waits until a request or the end of one is seen.
    #[track_caller]
    pub(crate) fn expect(&self, event: &str) {
        loop {
            let seen = self.events.recv_timeout(SOON).unwrap_or_else(|_| panic!("{event} did not come"));
            if seen == event {
                return;
            }
        }
    }

    /// All requests so far.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.events.try_iter().collect()
    }

    /// Lets one request to `/gate` be answered.
    pub(crate) fn open_gate(&self) {
        self.gate.notify_one();
    }

    /// A project whose `config.toml` reaches this upstream, with a pack in `pack` and an empty `.env`.
    pub(crate) fn project(&self, more: &str) -> Project {
        let address = self.address;
        let resolve: Vec<String> =
            self.hosts.iter().map(|host| format!("\"{host}\" = \"{address}\"")).collect();
        let resolve = resolve.join(", ");
        let config = format!(
            "[http]\nretries = 0\nca_file = \"ca.pem\"\nresolve = {{ {resolve} }}\n\
             [params]\nenv_file = \".env\"\nfrom_env = [\"FROM_ENVIRONMENT\"]\n[[packs]]\npath = \"pack\"\n{more}"
        );
        Project::new().file("config.toml", config).file("ca.pem", &self.ca_pem).file(".env", "")
    }
}

async fn answer_all(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    events: &mpsc::Sender<String>,
    gate: &Notify,
    answer: Option<Answer>,
) {
    while let Some(head) = read_request(&mut stream).await {
        let line = head.lines().next().unwrap_or_default();
        let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let _ = events.send(line.trim_end_matches(" HTTP/1.1").to_owned());
        let json = "application/json";
        let told = answer.map(|answer| answer(&head));
        let (status, kind, body) = match target.split(['?', '/']).nth(1).unwrap_or_default() {
            _ if told.is_some() => told.unwrap_or_default(),
            "exact" => (200, json, br#"{"id":12345678901234567890,"price":0.10,"big":1e400}"#.to_vec()),
            "text" => (200, "text/plain; charset=iso-8859-1", b"gr\xfc\xdfe".to_vec()),
            "image" => (200, "image/png", PNG.to_vec()),
            "broken" => (200, json, format!("{{\"asked\":\"{target}\",").into_bytes()),
            "missing" => (404, json, format!("{{\"error\":\"nothing at {target}\"}}").into_bytes()),
            "echo" => (200, "text/plain", head.clone().into_bytes()),
            "empty" => (204, "", Vec::new()),
            "loop" => (302, "", Vec::new()),
            "slow" => {
                let _ = stream.read(&mut [0; 1]).await;
                let _ = events.send("closed".to_owned());
                return;
            }
            "gate" => {
                gate.notified().await;
                (200, json, br#"{"opened":true}"#.to_vec())
            }
            _ => (200, json, br#"{"ok":true}"#.to_vec()),
        };
        let location = if status == 302 { format!("Location: {target}\r\n") } else { String::new() };
        let kind = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
        let length =
            if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let answer = format!("HTTP/1.1 {status} Made\r\n{kind}{location}{length}\r\n");
        if stream.write_all(&[answer.as_bytes(), &body].concat()).await.is_err()
            || stream.flush().await.is_err()
        {
            return;
        }
    }
}

/// Head and body of one request as text; nothing at the end of the connection.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        let mut part = [0; 4096];
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&part[..read]),
        }
    }
}
