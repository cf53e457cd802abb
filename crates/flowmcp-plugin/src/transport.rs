//! The upstream side: a [`Request`] goes out, a [`Response`] comes back.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    str::FromStr,
    time::{Duration, Instant},
};

use bytes::Bytes;

use crate::Secret;

/// A boxed future that may be sent between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sends requests to upstream APIs. Implementations are shared by all calls at once.
pub trait Transport: Send + Sync {
    /// Sends one request and reads the whole response before `deadline`; retries and redirects count against it.
    ///
    /// Dropping the future cancels the request.
    ///
    /// # Errors
    /// [`TransportError`] when no response was received. A response with an error status is `Ok`.
    fn send(&self, request: Request, deadline: Instant) -> BoxFuture<'_, Result<Response, TransportError>>;
}

/// HTTP method of a schema's tool (FlowMCP specification 3.0.0, chapter 01).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Reads; may be retried.
    Get,
    /// Creates or queries with a body; retried only if nothing was sent.
    Post,
    /// Replaces; may be retried.
    Put,
    /// Removes; may be retried.
    Delete,
}

impl Method {
    /// The method as it stands in a request line.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        }
    }

    /// Whether requests of this method carry a body.
    pub fn has_body(self) -> bool {
        matches!(self, Method::Post | Method::Put)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Method {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "GET" => Ok(Method::Get),
            "POST" => Ok(Method::Post),
            "PUT" => Ok(Method::Put),
            "DELETE" => Ok(Method::Delete),
            _ => Err(()),
        }
    }
}

/// One request to an upstream.
#[derive(Clone)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Absolute URL in its final, encoded form. May hold server values: never log it as it is.
    pub url: String,
    /// Header names and values in sending order; names are compared without case.
    pub headers: Vec<(String, String)>,
    /// Body bytes; empty means none.
    pub body: Bytes,
    /// Which addresses may be reached.
    pub network: NetworkAccess,
    /// Size and hop limits.
    pub limits: RequestLimits,
    /// Whether and how often the transport may try again.
    pub retry: RetryPolicy,
    /// Server values that this request carries: none may travel to another origin.
    pub secrets: Vec<Secret>,
}

/// `Debug` shows neither the query, the header values nor the body, since all of them may hold server values.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.url.split_once("://").map_or("", |(_, rest)| rest);
        let host = host.split(['/', '?', '#']).next().unwrap_or("");
        let host = host.rsplit('@').next().unwrap_or("");
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("host", &host)
            .field("headers", &self.headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Which addresses a request may reach (checked on literals and after DNS, at every hop).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkAccess {
    /// Public addresses over https only.
    Public,
    /// Also `http://`, loopback and private addresses (`allow_local` of a pack).
    Local,
}

/// Limits of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// Most bytes of the decoded response body.
    pub response_bytes: usize,
    /// Most redirects followed.
    pub redirects: u8,
}

impl Default for RequestLimits {
    /// 10 MiB decoded, 5 redirects.
    fn default() -> Self {
        RequestLimits { response_bytes: 10 << 20, redirects: 5 }
    }
}

/// How a transport may repeat a request that got no usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub retries: u8,
    /// Longest wait that a `Retry-After` may ask for; a longer one ends the retries.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    /// Two retries, waits of at most 10 s.
    fn default() -> Self {
        RetryPolicy { retries: 2, longest_wait: Duration::from_secs(10) }
    }
}

/// What an upstream answered.
#[derive(Clone)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Header names (lower case) and values; a value that is not UTF-8 is decoded as Latin-1.
    pub headers: Vec<(String, String)>,
    /// Body after content decoding (gzip, br, zstd), byte-exact otherwise.
    pub body: Bytes,
}

/// `Debug` shows sizes, not contents: an upstream may echo server values.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl Response {
    /// The first header of this lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What a deadline or a failure interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Looking up the host name.
    Resolve,
    /// Opening the connection, TLS included.
    Connect,
    /// Sending the request and waiting for the response head.
    Respond,
    /// Reading the response body.
    Read,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Resolve => "looking up the host",
            Phase::Connect => "connecting",
            Phase::Respond => "waiting for the response",
            Phase::Read => "reading the response body",
        })
    }
}

/// Why there is no response. No text holds a URL's path, query or user info, so none holds a server value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The URL cannot be requested.
    #[error("the request URL is not usable: {reason}")]
    Url {
        /// What is wrong with it.
        reason: String,
    },
    /// A header name or value that HTTP does not allow.
    #[error("header {name:?} cannot be sent: {reason}")]
    Header {
        /// Name of the header.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The scheme is not allowed for this pack.
    #[error("{host}: only https is allowed here (a pack with allow_local may use http)")]
    Scheme {
        /// Host of the URL.
        host: String,
    },
    /// The host is, or resolves to, an address that is not public.
    #[error(
        "{host}: {address} is a {kind} address and is refused (config: allow_local of the pack, or http.private_hosts)"
    )]
    Address {
        /// Host of the URL.
        host: String,
        /// Address that was refused.
        address: std::net::IpAddr,
        /// Kind: `loopback`, `private`, `link-local`, …
        kind: &'static str,
    },
    /// The name could not be resolved.
    #[error("{host}: the host name could not be resolved: {reason}")]
    Resolve {
        /// Host of the URL.
        host: String,
        /// Cause.
        reason: String,
    },
    /// No connection.
    #[error("{host}: could not connect: {reason}")]
    Connect {
        /// Host and port.
        host: String,
        /// Cause.
        reason: String,
    },
    /// TLS handshake or certificate failure.
    #[error("{host}: TLS failed: {reason}")]
    Tls {
        /// Host and port.
        host: String,
        /// Cause.
        reason: String,
    },
    /// The call's deadline passed.
    #[error("{host}: timed out while {phase}")]
    Timeout {
        /// Host and port.
        host: String,
        /// What was going on.
        phase: Phase,
    },
    /// The decoded body is larger than the limit.
    #[error("{host}: the response is larger than the limit of {limit} bytes")]
    TooLarge {
        /// Host and port.
        host: String,
        /// Limit in bytes.
        limit: usize,
    },
    /// A redirect that is not followed.
    #[error("{host}: redirect refused: {reason}")]
    Redirect {
        /// Host that redirected.
        host: String,
        /// Cause.
        reason: String,
    },
    /// The upstream broke the protocol, or the connection ended early.
    #[error("{host}: {reason} while {phase}")]
    Broken {
        /// Host and port.
        host: String,
        /// What was going on.
        phase: Phase,
        /// Cause.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_of_a_request_shows_no_value_that_may_be_secret() {
        let request = Request {
            method: Method::Post,
            url: "https://user:pw@api.example.test/v1/KEY?k=KEY".into(),
            headers: vec![("X-Key".into(), "KEY".into())],
            body: Bytes::from_static(b"KEY"),
            network: NetworkAccess::Public,
            limits: RequestLimits::default(),
            retry: RetryPolicy::default(),
            secrets: vec![Secret::new("KEY")],
        };
        assert_eq!(
            format!("{request:?}"),
            r#"Request { method: Post, host: "api.example.test", headers: ["X-Key"], body_bytes: 3, .. }"#
        );
    }
}
