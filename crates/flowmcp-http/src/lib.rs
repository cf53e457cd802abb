//! The upstream side over HTTP: [`HttpTransport`] is the built-in [`Transport`](flowmcp_plugin::Transport).
//!
//! # Sending a request
//!
//! Build one transport, share it, and give every call a deadline. The deadline covers everything: the wait for a free
//! connection, name lookup, TCP, TLS, retries, redirects and the body.
//!
//! ```
//! use std::{io::{Read, Write}, net::TcpListener, time::{Duration, Instant}};
//!
//! use flowmcp_http::{HttpSettings, HttpTransport};
//! use flowmcp_plugin::{Method, NetworkAccess, Request, RequestLimits, RetryPolicy, Transport};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // An upstream that answers one request.
//! let upstream = TcpListener::bind("127.0.0.1:0")?;
//! let address = upstream.local_addr()?;
//! std::thread::spawn(move || {
//!     let (mut connection, _) = upstream.accept()?;
//!     connection.read(&mut [0; 1024])?;
//!     connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\npong")
//! });
//!
//! let transport = HttpTransport::new(HttpSettings::default())?;
//! let request = Request {
//!     method: Method::Get,
//!     url: format!("http://{address}/ping"),
//!     headers: vec![("Accept".into(), "text/plain".into())],
//!     body: Default::default(),
//!     network: NetworkAccess::Local,
//!     limits: RequestLimits::default(),
//!     retry: RetryPolicy::default(),
//!     secrets: Vec::new(),
//! };
//! let response = transport.send(request, Instant::now() + Duration::from_secs(30)).await?;
//! assert_eq!((response.status, &response.body[..]), (200, &b"pong"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! A response with an error status is `Ok`: what it means is the caller's business. Dropping the future ends the
//! upstream request.
//!
//! # Which hosts may be reached
//!
//! With [`NetworkAccess::Public`](flowmcp_plugin::NetworkAccess) only https, and no address that is loopback, private,
//! link-local or otherwise special, in whatever spelling or IPv6 disguise. A literal address is checked on the parsed
//! URL; for a name, the resolver hands only permitted addresses to the connector, so a name cannot change its meaning
//! between check and use. Both happen at every hop. `NetworkAccess::Local` permits http and everything else but the
//! metadata services of clouds. Settings open single hosts:
//!
//! ```
//! use flowmcp_http::{HttpSettings, HttpTransport};
//! use flowmcp_plugin::{NetworkAccess, Request, TransportError};
//! # use flowmcp_plugin::{Method, Transport};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
//! # let request = |url: &str| Request {
//! #     method: Method::Get, url: url.into(), headers: Vec::new(), body: Default::default(),
//! #     network: NetworkAccess::Public, limits: Default::default(), retry: Default::default(), secrets: Vec::new(),
//! # };
//!
//! let settings = HttpSettings { private_hosts: vec!["nas.example.test".into()], ..HttpSettings::default() };
//! let transport = HttpTransport::new(settings)?;
//! let refused = transport.send(request("https://2130706433/"), deadline).await.unwrap_err();
//! assert!(matches!(refused, TransportError::Address { kind: "loopback", .. }));
//! # Ok(())
//! # }
//! ```
//!
//! TLS trusts Mozilla's roots, which are compiled in, the system's where it has a store (`SSL_CERT_FILE` and
//! `SSL_CERT_DIR` name another), and those in [`HttpSettings::ca_pem`]. Proxies come from the settings only.
//!
//! # Redirects and server values
//!
//! Redirects are followed here, not by the HTTP library. On the way to another origin (scheme, host or port) every
//! header is dropped except `Accept`, `Accept-Language`, `User-Agent` and the `Content-Type` of a body that goes on;
//! the hop is refused when the `Location` or that body carries one of the request's secrets, also percent-, form-,
//! JSON- or base64-encoded. Secrets of fewer than 4 bytes (8 in base64) are not looked for: they would be found by
//! accident. A public pack is never led from https to http.
//!
//! # Retries
//!
//! `GET`, `PUT` and `DELETE` are tried again when the connection fails or breaks before a response, and after 429,
//! 502, 503 and 504; `POST` only when no connection was made, so that nothing was sent. Name lookup, certificate and
//! timeout failures are final. A `Retry-After` that is longer than the policy or the deadline allows ends the retries
//! and its response is returned; so is the last response.
//!
//! # What no text shows
//!
//! Errors and log lines name host, port and cause, never a path, a query, user info, a header value or a body.

mod address;
mod body;
mod client;
mod deadline;
mod failure;
mod headers;
mod progress;
mod redirect;
mod resolve;
mod retry;
mod secrets;
mod settings;
mod slots;
mod target;
mod transport;

pub use settings::{HttpSettings, HttpSettingsError};
pub use transport::HttpTransport;
