//! Whether a URL may be requested at all: scheme, user info, literal address.

use std::net::IpAddr;

use flowmcp_plugin::{NetworkAccess, TransportError};
use url::{Host, Url};

use crate::{address, settings::Hosts};

/// Checks everything about a URL that can be known before a name lookup.
pub(crate) fn check(url: &Url, network: NetworkAccess, hosts: &Hosts) -> Result<(), TransportError> {
    let unusable = |reason: &str| TransportError::Url { reason: reason.to_owned() };
    let Some(host) = url.host() else { return Err(unusable("it has no host")) };
    match (url.scheme(), network) {
        ("https", _) | ("http", NetworkAccess::Local) => {}
        ("http", NetworkAccess::Public) => return Err(TransportError::Scheme { host: host.to_string() }),
        _ => return Err(unusable("its scheme is neither https nor http")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(unusable("it holds a user name or password (use an Authorization header)"));
    }
    if let Some((address, kind)) = refused(&host, network)
        && !hosts.is_private(&host)
    {
        return Err(TransportError::Address { host: host.to_string(), address, kind });
    }
    Ok(())
}

/// The refused address that a host stands for without any lookup.
fn refused(host: &Host<&str>, network: NetworkAccess) -> Option<(IpAddr, &'static str)> {
    let address = match *host {
        // RFC 6761: always this machine. Known here because behind a proxy no lookup would find out.
        Host::Domain(name) if is_localhost(name) => IpAddr::from([127, 0, 0, 1]),
        Host::Domain("metadata.google.internal") => IpAddr::from([169, 254, 169, 254]),
        Host::Domain(_) => return None,
        _ => literal(host)?,
    };
    address::refusal(address, network).map(|kind| (address, kind))
}

/// The address that a host is written as.
pub(crate) fn literal(host: &Host<&str>) -> Option<IpAddr> {
    match *host {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(IpAddr::V4(address)),
        Host::Ipv6(address) => Some(IpAddr::V6(address)),
    }
}

/// Whether a name is `localhost` or below it.
pub(crate) fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.strip_suffix("localhost").is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Host and port of a URL, for error texts.
pub(crate) fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or("");
    match url.port_or_known_default() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HttpSettings;

    #[track_caller]
    fn check_one(url: &str, network: NetworkAccess, expected: &str) {
        let settings = HttpSettings {
            private_hosts: vec!["10.0.0.5".into(), "open.localhost".into()],
            ..Default::default()
        };
        let hosts = Hosts::new(&settings, None).unwrap();
        let found = match check(&Url::parse(url).unwrap(), network, &hosts) {
            Ok(()) => "ok".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn urls_of_public_packs() {
        let address = |host: &str, address: &str, kind: &str| {
            format!(
                "{host}: {address} is a {kind} address and is refused (config: allow_local of the pack, or \
                 http.private_hosts)"
            )
        };
        for (url, expected) in [
            ("https://api.example.test/", "ok".to_owned()),
            ("https://8.8.8.8/", "ok".to_owned()),
            ("https://10.0.0.5/", "ok".to_owned()),
            ("https://open.localhost/", "ok".to_owned()),
            ("https://notlocalhost/", "ok".to_owned()),
            (
                "http://api.example.test/SECRET",
                "api.example.test: only https is allowed here (a pack with allow_local may use http)".to_owned(),
            ),
            (
                "ftp://api.example.test/",
                "the request URL is not usable: its scheme is neither https nor http".to_owned(),
            ),
            ("data:text/plain,x", "the request URL is not usable: it has no host".to_owned()),
            (
                "https://SECRET@api.example.test/",
                "the request URL is not usable: it holds a user name or password (use an Authorization header)"
                    .to_owned(),
            ),
            (
                "https://:SECRET@api.example.test/",
                "the request URL is not usable: it holds a user name or password (use an Authorization header)"
                    .to_owned(),
            ),
            ("https://0x7f.1/", address("127.0.0.1", "127.0.0.1", "loopback")),
            ("https://localhost/", address("localhost", "127.0.0.1", "loopback")),
            ("https://a.localhost./", address("a.localhost.", "127.0.0.1", "loopback")),
            ("https://[::ffff:10.0.0.1]/", address("[::ffff:a00:1]", "::ffff:10.0.0.1", "private")),
            (
                "https://metadata.google.internal/",
                address("metadata.google.internal", "169.254.169.254", "cloud metadata"),
            ),
        ] {
            check_one(url, NetworkAccess::Public, &expected);
        }
    }

    #[test]
    fn urls_of_local_packs() {
        for (url, expected) in [
            ("http://127.0.0.1:1/", "ok"),
            ("http://localhost/", "ok"),
            ("http://192.168.1.1/", "ok"),
            ("file:///etc/passwd", "the request URL is not usable: it has no host"),
            (
                "http://169.254.169.254/latest",
                "169.254.169.254: 169.254.169.254 is a cloud metadata address and is refused (config: allow_local \
                 of the pack, or http.private_hosts)",
            ),
        ] {
            check_one(url, NetworkAccess::Local, expected);
        }
    }
}
