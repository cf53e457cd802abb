//! Who may talk to the listener: the Host and Origin checks that keep web pages out (DNS rebinding), and CORS for the
//! pages that may come in.

use std::net::{IpAddr, SocketAddr};

use axum::{body::Body, response::Response};
use http::{
    HeaderMap, HeaderValue, Request, StatusCode, Uri,
    header::{self, HeaderName},
    uri::Authority,
};

use super::HttpSettings;

/// Methods of `/mcp`.
pub(super) const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE, OPTIONS");

/// Seconds for which a browser may remember the answer to a preflight.
const PREFLIGHT_SECONDS: HeaderValue = HeaderValue::from_static("600");

const EXPOSED: HeaderValue = HeaderValue::from_static("mcp-session-id, mcp-protocol-version");

/// The allowed hosts and origins, loopback ones always among them.
#[derive(Debug)]
pub(super) struct Access {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
}

#[derive(Debug, PartialEq, Eq)]
struct Host {
    name: String,
    /// None: any.
    port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
enum Origin {
    /// A page without an origin of its own: a file, a sandboxed frame.
    Opaque,
    Tuple {
        scheme: String,
        name: String,
        port: Option<u16>,
    },
}

/// A setting that cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum AccessError {
    /// In the list of hosts.
    #[error("allowed_hosts: {0:?} is not a host name with an optional port, such as \"mcp.example.com\"")]
    Host(String),
    /// In the list of origins.
    #[error("allowed_origins: {0:?} is not an origin, such as \"https://app.example.com\"")]
    Origin(String),
}

/// Why a request is refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No host at all.
    #[error("the request names no host")]
    NoHost,
    /// A host that is neither loopback nor configured.
    #[error("host {0:?} is not allowed (config: serve.allowed_hosts)")]
    Host(String),
    /// An origin that is neither loopback nor configured.
    #[error("origin {0:?} is not allowed (config: serve.allowed_origins)")]
    Origin(String),
}

impl Access {
    /// The configured hosts and origins, and the bound address where it is a definite one: no web page can make a browser
    /// send an IP address as Host for a name of its own.
    pub(super) fn new(settings: &HttpSettings, bound: SocketAddr) -> Result<Self, AccessError> {
        let mut hosts = settings
            .allowed_hosts
            .iter()
            .map(|host| Host::read(host).ok_or_else(|| AccessError::Host(host.clone())))
            .collect::<Result<Vec<_>, _>>()?;
        if !bound.ip().is_unspecified() {
            hosts.push(Host { name: bound.ip().to_string(), port: None });
        }
        let origins = settings
            .allowed_origins
            .iter()
            .map(|origin| Origin::read(origin).ok_or_else(|| AccessError::Origin(origin.clone())))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Access { hosts, origins })
    }

    /// Checks the target's authority (HTTP/2, absolute targets), every Host header, and every Origin header.
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<(), Refusal> {
        let mut named = false;
        if let Some(authority) = request.uri().authority() {
            self.check_host(authority.as_str())?;
            named = true;
        }
        for host in request.headers().get_all(header::HOST) {
            self.check_host(&String::from_utf8_lossy(host.as_bytes()))?;
            named = true;
        }
        if !named {
            return Err(Refusal::NoHost);
        }
        for origin in request.headers().get_all(header::ORIGIN) {
            self.check_origin(&String::from_utf8_lossy(origin.as_bytes()))?;
        }
        Ok(())
    }

    fn check_host(&self, text: &str) -> Result<(), Refusal> {
        let refused = || Refusal::Host(shown(text));
        let host = Host::read(text).ok_or_else(refused)?;
        let allowed = is_loopback(&host.name)
            || self
                .hosts
                .iter()
                .any(|rule| rule.name == host.name && rule.port.is_none_or(|port| host.port == Some(port)));
        if allowed { Ok(()) } else { Err(refused()) }
    }

    fn check_origin(&self, text: &str) -> Result<(), Refusal> {
        let refused = || Refusal::Origin(shown(text));
        let origin = Origin::read(text).ok_or_else(refused)?;
        let loopback = matches!(&origin, Origin::Tuple { name, .. } if is_loopback(name));
        if loopback || self.origins.contains(&origin) { Ok(()) } else { Err(refused()) }
    }
}

impl Host {
    fn read(text: &str) -> Option<Self> {
        let authority: Authority = text.trim().parse().ok()?;
        if authority.as_str().contains('@') {
            return None;
        }
        Some(Host { name: name(authority.host()), port: authority.port_u16() })
    }
}

impl Origin {
    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "null" {
            return Some(Origin::Opaque);
        }
        let uri: Uri = text.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let host = Host::read(uri.authority()?.as_str())?;
        // RFC 6454 leaves out the scheme's own port.
        let port = host.port.or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(Origin::Tuple { scheme, name: host.name, port })
    }
}

/// A host as it is compared: lower case, IPv6 without brackets.
fn name(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
}

fn is_loopback(name: &str) -> bool {
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn shown(text: &str) -> String {
    text.chars().take(100).collect()
}

/// The answer to a preflight from an allowed origin. The requested headers are echoed: there is no reason to refuse one.
pub(super) fn preflight(request: &HeaderMap) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ALLOW, METHODS);
    if request.contains_key(header::ORIGIN) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS);
        if let Some(wanted) = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        }
    }
    response
}

/// Lets a page of an allowed origin read the response.
pub(super) fn allow_origin(response: &mut HeaderMap, origin: HeaderValue) {
    const ORIGIN: HeaderValue = HeaderValue::from_static("origin");
    let pairs: [(HeaderName, HeaderValue); 3] = [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, origin),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED),
        (header::VARY, ORIGIN),
    ];
    response.extend(pairs);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(hosts: &[&str], origins: &[&str], bound: &str) -> Result<Access, AccessError> {
        let mut settings = HttpSettings::new("127.0.0.1:0".parse().unwrap());
        settings.allowed_hosts = hosts.iter().map(|&host| host.to_owned()).collect();
        settings.allowed_origins = origins.iter().map(|&origin| origin.to_owned()).collect();
        Access::new(&settings, bound.parse().unwrap())
    }

    fn check(access: &Access, uri: &str, host: Option<&str>, origin: Option<&str>) -> Result<(), Refusal> {
        let mut request = Request::builder().uri(uri);
        if let Some(host) = host {
            request = request.header(header::HOST, host);
        }
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        access.check(&request.body(()).unwrap())
    }

    #[test]
    fn hosts() {
        let access = access(&["mcp.example.test", "other.test:8443"], &[], "10.1.2.3:80").unwrap();
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]:8080",
            "[::1]",
            "mcp.example.test",
            "MCP.example.test:99",
            "other.test:8443",
            "10.1.2.3:80",
        ] {
            assert_eq!(check(&access, "/mcp", Some(host), None), Ok(()), "{host}");
        }
        for host in [
            "evil.test",
            "localhost.evil.test",
            "other.test",
            "other.test:1",
            "localhost@evil.test",
            "10.1.2.4",
            "",
            "a b",
        ] {
            assert_eq!(
                check(&access, "/mcp", Some(host), None),
                Err(Refusal::Host(host.to_owned())),
                "{host}"
            );
        }
        assert_eq!(check(&access, "/mcp", None, None), Err(Refusal::NoHost));
        assert_eq!(
            check(&access, "http://localhost/mcp", None, None),
            Ok(()),
            "HTTP/2 names it in the target only"
        );
        assert_eq!(
            check(&access, "http://evil.test/mcp", Some("localhost"), None),
            Err(Refusal::Host("evil.test".to_owned()))
        );
    }

    #[test]
    fn origins() {
        let access = access(&[], &["https://app.example.test", "http://b.test:3000"], "0.0.0.0:80").unwrap();
        for origin in [
            "http://localhost:6274",
            "https://127.0.0.1",
            "https://app.example.test",
            "https://app.example.test:443",
            "http://b.test:3000",
        ] {
            assert_eq!(check(&access, "/mcp", Some("localhost"), Some(origin)), Ok(()), "{origin}");
        }
        for origin in [
            "null",
            "https://evil.test",
            "http://app.example.test",
            "https://app.example.test:444",
            "http://b.test",
            "http://localhost.evil.test",
            "app.example.test",
        ] {
            let refused = Err(Refusal::Origin(origin.to_owned()));
            assert_eq!(check(&access, "/mcp", Some("localhost"), Some(origin)), refused, "{origin}");
        }
    }

    #[test]
    fn settings_that_cannot_be_read_are_named() {
        assert_eq!(
            access(&["https://a.test"], &[], "127.0.0.1:0").unwrap_err(),
            AccessError::Host("https://a.test".to_owned())
        );
        assert_eq!(
            access(&[], &["a.test"], "127.0.0.1:0").unwrap_err(),
            AccessError::Origin("a.test".to_owned())
        );
    }
}
