//! What can be configured, and what is wrong with it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
    net::SocketAddr,
    time::Duration,
};

use url::{Host, Url};

/// Settings of an [`HttpTransport`](crate::HttpTransport); `HttpSettings::default()` suits a machine with direct
/// access to the internet.
#[derive(Clone)]
pub struct HttpSettings {
    /// Longest time for one connection: name lookup, TCP and TLS together.
    pub connect_timeout: Duration,
    /// URL of an `http` or `https` forward proxy; `None` connects directly. The environment is never asked.
    ///
    /// A proxy looks host names up itself, so which addresses a name leads to is then its decision; literal
    /// addresses are still checked here. Hosts in `resolve` and `private_hosts`, `localhost` and addresses that are
    /// not public are reached directly.
    pub proxy: Option<String>,
    /// Host names that are dialled at a fixed address, which then counts as permitted. A port that the URL spells
    /// out wins over the port given here.
    pub resolve: BTreeMap<String, SocketAddr>,
    /// PEM certificates that are trusted besides the bundled and the system's roots; empty for none.
    pub ca_pem: Vec<u8>,
    /// Host names or literal addresses that may be private, loopback or link-local. They still need https, unless
    /// the pack may use http.
    pub private_hosts: Vec<String>,
    /// Value of the `User-Agent` header for requests that do not set one.
    pub user_agent: String,
    /// Most requests in flight to one host and port, and most idle connections kept to it. Further requests wait
    /// within their deadline.
    pub connections_per_host: usize,
}

impl Default for HttpSettings {
    /// 5 s to connect, 32 requests per host (semantics.md, section 10), no proxy, nothing private.
    fn default() -> Self {
        HttpSettings {
            connect_timeout: Duration::from_secs(5),
            proxy: None,
            resolve: BTreeMap::new(),
            ca_pem: Vec::new(),
            private_hosts: Vec::new(),
            user_agent: concat!("flowmcp-server/", env!("CARGO_PKG_VERSION")).to_owned(),
            connections_per_host: 32,
        }
    }
}

/// `Debug` does not show the proxy's URL, which may hold a password.
impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("connect_timeout", &self.connect_timeout)
            .field("proxy", &self.proxy.as_ref().map(|_| "<set>"))
            .field("resolve", &self.resolve)
            .field("ca_pem_bytes", &self.ca_pem.len())
            .field("private_hosts", &self.private_hosts)
            .field("user_agent", &self.user_agent)
            .field("connections_per_host", &self.connections_per_host)
            .finish()
    }
}

/// Why a transport cannot be built from its settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpSettingsError {
    /// The proxy's URL; the text does not repeat it, since it may hold a password.
    #[error("proxy: must be an http:// or https:// URL with a host ({reason})")]
    Proxy {
        /// What is wrong with it.
        reason: String,
    },
    /// A key of `resolve`.
    #[error("resolve: must name a host, without scheme or port, that is not an IP address (found {host:?})")]
    ResolveHost {
        /// Key as configured.
        host: String,
    },
    /// An entry of `private_hosts`.
    #[error("private_hosts: must be a host name or an IP address, without scheme or port (found {host:?})")]
    PrivateHost {
        /// Entry as configured.
        host: String,
    },
    /// The extra roots.
    #[error("ca_pem: must hold at least one PEM certificate that can be a root ({reason})")]
    CaPem {
        /// What is wrong with it.
        reason: String,
    },
    /// The user agent.
    #[error("user_agent: must be printable ASCII (found {user_agent:?})")]
    UserAgent {
        /// Value as configured.
        user_agent: String,
    },
    /// `connections_per_host`.
    #[error("connections_per_host: must be 1 to 65536 (found {found})")]
    Connections {
        /// Value as configured.
        found: usize,
    },
    /// The TLS or HTTP stack refused its configuration.
    #[error("the HTTP client could not be set up: {reason}")]
    Client {
        /// Cause.
        reason: String,
    },
}

/// The hosts with a rule of their own, in the spelling that a parsed URL has.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    resolve: HashMap<String, SocketAddr>,
    private: HashSet<Host<String>>,
    /// Name of the proxy's host: dialled at whatever address it has.
    proxy: Option<String>,
}

impl Hosts {
    pub(crate) fn new(settings: &HttpSettings, proxy: Option<&Url>) -> Result<Self, HttpSettingsError> {
        let mut hosts = Hosts::default();
        for (host, address) in &settings.resolve {
            let Ok(Host::Domain(name)) = Host::parse(host) else {
                return Err(HttpSettingsError::ResolveHost { host: host.clone() });
            };
            hosts.resolve.insert(without_root_dot(&name).to_owned(), *address);
        }
        for host in &settings.private_hosts {
            // `Host::parse` wants brackets around IPv6; people write it both ways.
            let literal = host.parse().map(Host::Ipv6).or_else(|_| Host::parse(host));
            let parsed = match literal {
                Ok(Host::Domain(name)) => Host::Domain(without_root_dot(&name).to_owned()),
                Ok(literal) => literal,
                Err(_) => return Err(HttpSettingsError::PrivateHost { host: host.clone() }),
            };
            hosts.private.insert(parsed);
        }
        hosts.proxy = proxy.and_then(Url::host_str).map(|host| without_root_dot(host).to_owned());
        Ok(hosts)
    }

    /// The fixed address of a host name.
    pub(crate) fn fixed(&self, name: &str) -> Option<SocketAddr> {
        self.resolve.get(without_root_dot(name)).copied()
    }

    /// Whether this name may lead to any address.
    pub(crate) fn is_open(&self, name: &str) -> bool {
        let name = without_root_dot(name);
        self.proxy.as_deref() == Some(name) || self.is_private(&Host::Domain(name))
    }

    /// Whether `private_hosts` names this host.
    pub(crate) fn is_private(&self, host: &Host<&str>) -> bool {
        if self.private.is_empty() {
            return false;
        }
        self.private.contains(&match *host {
            Host::Domain(name) => Host::Domain(without_root_dot(name).to_owned()),
            Host::Ipv4(address) => Host::Ipv4(address),
            Host::Ipv6(address) => Host::Ipv6(address),
        })
    }
}

fn without_root_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_in_every_spelling() {
        let settings = HttpSettings {
            resolve: BTreeMap::from([("API.Example.test".into(), ([127, 0, 0, 1], 1).into())]),
            private_hosts: vec!["nas.local.".into(), "0x7f.1".into(), "::1".into(), "[fd00::1]".into()],
            ..HttpSettings::default()
        };
        let hosts = Hosts::new(&settings, None).unwrap();
        assert!(hosts.fixed("api.example.test").is_some() && hosts.fixed("api.example.test.").is_some());
        assert!(hosts.is_open("nas.local") && !hosts.is_open("sub.nas.local"));
        for (host, expected) in [
            ("https://127.0.0.1/", true),
            ("https://127.0.0.2/", false),
            ("https://[::1]/", true),
            ("https://[fd00:0::1]/", true),
            ("https://NAS.local./", true),
        ] {
            let url = Url::parse(host).unwrap();
            assert_eq!(hosts.is_private(&url.host().unwrap()), expected, "{host}");
        }
    }

    #[test]
    fn hosts_that_are_none() {
        for host in ["127.0.0.1", "[::1]", "https://a.test", "a b", ""] {
            let settings = HttpSettings {
                resolve: BTreeMap::from([(host.into(), ([127, 0, 0, 1], 1).into())]),
                ..HttpSettings::default()
            };
            assert_eq!(
                Hosts::new(&settings, None).unwrap_err(),
                HttpSettingsError::ResolveHost { host: host.into() }
            );
        }
        let settings = HttpSettings { private_hosts: vec!["a/b".into()], ..HttpSettings::default() };
        assert_eq!(
            Hosts::new(&settings, None).unwrap_err(),
            HttpSettingsError::PrivateHost { host: "a/b".into() }
        );
    }
}
