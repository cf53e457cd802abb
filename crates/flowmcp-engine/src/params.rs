//! Server parameters: the keys that the operator gives, and where each may be sent.
//!
//! A schema names the keys it wants, so without a binding any schema could ask for another provider's key and send it to
//! its own host. A key therefore belongs to one registrable domain (semantics.md, section 6).

use std::{
    collections::{BTreeMap, btree_map::Entry},
    net::IpAddr,
};

use flowmcp_plugin::Secret;

use crate::redact::{self, Redactor};

/// Values of server parameters and the domains they are bound to. `Debug` shows no value.
#[derive(Debug, Clone, Default)]
pub struct ServerParams {
    values: BTreeMap<String, Secret>,
    /// Domains from the configuration; they replace the rule of the first use.
    configured: BTreeMap<String, Vec<String>>,
    first_use: BTreeMap<String, String>,
}

/// Why a key may not be sent to a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// The key belongs to another domain.
    #[error(
        "server parameter {key} is bound to {bound_to} and is not sent to {host_domain}; \
         to allow it, list both domains for {key} in the configuration"
    )]
    BoundElsewhere {
        /// Name of the server parameter.
        key: String,
        /// Registrable domain of the host that asked for it.
        host_domain: String,
        /// Domains that it may be sent to, joined with commas.
        bound_to: String,
    },
    /// A placeholder decides which domain is reached, so whoever fills it could have the key.
    #[error("server parameter {key} is not sent to {host}: a placeholder decides its domain")]
    OpenDomain {
        /// Name of the server parameter.
        key: String,
        /// The host as the schema writes it.
        host: String,
    },
}

impl ServerParams {
    /// Takes the values and the configured domains of some keys (`example.com`, which includes its subdomains).
    pub fn new(values: BTreeMap<String, Secret>, bind: BTreeMap<String, Vec<String>>) -> Self {
        let configured = bind
            .into_iter()
            .map(|(key, domains)| (key, domains.iter().map(|domain| configured_domain(domain)).collect()))
            .collect();
        ServerParams { values, configured, first_use: BTreeMap::new() }
    }

    /// The value of a key; an empty one counts as missing.
    pub fn get(&self, key: &str) -> Option<&Secret> {
        self.values.get(key).filter(|value| !value.is_empty())
    }

    /// Names whose values are too short to be redacted without garbling results.
    pub fn short(&self) -> impl Iterator<Item = &str> {
        let is_short =
            |value: &Secret| !value.is_empty() && value.expose().chars().count() < redact::SHORTEST_REDACTED;
        self.values.iter().filter(move |(_, value)| is_short(value)).map(|(name, _)| name.as_str())
    }

    /// Binds a key to the domain of `host`, or checks that it already is. The host comes without a port, and with its
    /// server parameters filled in; what is still a placeholder (`--marker--`, `{{X}}`) is open to callers.
    ///
    /// # Errors
    /// [`BindError`] when the key belongs to another domain, or when the host's domain is not fixed.
    pub fn bind(&mut self, key: &str, host: &str) -> Result<(), BindError> {
        let host = normal(host);
        let Some(domain) = binding_domain(&host) else {
            return Err(BindError::OpenDomain { key: key.to_owned(), host });
        };
        let bound_to = if let Some(domains) = self.configured.get(key) {
            if domains.iter().any(|allowed| within(&host, allowed)) {
                return Ok(());
            }
            domains.join(", ")
        } else {
            match self.first_use.entry(key.to_owned()) {
                Entry::Vacant(free) => {
                    free.insert(domain);
                    return Ok(());
                }
                Entry::Occupied(bound) if *bound.get() == domain => return Ok(()),
                Entry::Occupied(bound) => bound.get().clone(),
            }
        };
        Err(BindError::BoundElsewhere { key: key.to_owned(), host_domain: domain, bound_to })
    }

    /// Whether a key may go to a host, by what it is bound to already. Nothing is bound by asking.
    pub(crate) fn may_go_to(&self, key: &str, host: &str) -> bool {
        let host = normal(host);
        if let Some(domains) = self.configured.get(key) {
            return domains.iter().any(|allowed| within(&host, allowed));
        }
        binding_domain(&host).is_some_and(|domain| self.first_use.get(key) == Some(&domain))
    }

    /// Takes the values out of texts.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(self.values.iter().map(|(name, secret)| (name.as_str(), secret)))
    }
}

/// Lower case, without the root's dot and the brackets of an IPv6 literal.
fn normal(host: &str) -> String {
    host.trim_end_matches('.').trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
}

/// People write `*.example.com`, `.example.com` or a URL for "this domain and below".
fn configured_domain(text: &str) -> String {
    let text = text.trim();
    let host = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    normal(host.trim_start_matches("*.").trim_start_matches('.'))
}

fn within(host: &str, domain: &str) -> bool {
    !domain.is_empty()
        && host.strip_suffix(domain).is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

/// What a key is bound to: the registrable domain, or the whole host where there is none (IP literals, single labels,
/// public suffixes). `None` when a placeholder reaches into it.
fn binding_domain(host: &str) -> Option<String> {
    let whole = || (!is_open(host)).then(|| host.to_owned());
    if host.parse::<IpAddr>().is_ok() || !host.contains('.') {
        return whole();
    }
    // A placeholder may hold a dot, so its label is only cut off behind it.
    let literal = match host.rfind("}}") {
        Some(end) => host.get(end + 2..).unwrap_or_default(),
        None => host,
    };
    let Some(registrable) = psl::domain_str(host) else { return whole() };
    let fixed = !is_open(registrable)
        && (literal.len() == host.len()
            || literal.strip_suffix(registrable).is_some_and(|front| front.contains('.')));
    fixed.then(|| registrable.to_owned())
}

fn is_open(host: &str) -> bool {
    host.contains("{{") || host.contains("}}") || host.split("--").count() > 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(bind: &[(&str, &[&str])]) -> ServerParams {
        let values = [("KEY", "s3cr3t-k3y"), ("EMPTY", "")];
        ServerParams::new(
            values.into_iter().map(|(key, value)| (key.to_owned(), Secret::new(value))).collect(),
            bind.iter()
                .map(|(key, domains)| {
                    ((*key).to_owned(), domains.iter().map(|domain| (*domain).to_owned()).collect())
                })
                .collect(),
        )
    }

    #[test]
    fn short_values_are_named_and_missing_ones_are_not() {
        let values = [("SHORT", "1234567"), ("LONG", "12345678"), ("EMPTY", "")];
        let values = values.map(|(name, value)| (name.to_owned(), Secret::new(value)));
        let params = ServerParams::new(values.into_iter().collect(), BTreeMap::new());
        assert_eq!(params.short().collect::<Vec<_>>(), ["SHORT"]);
    }

    #[test]
    fn an_empty_value_is_missing() {
        let params = params(&[]);
        assert_eq!(params.get("KEY").unwrap().expose(), "s3cr3t-k3y");
        assert_eq!((params.get("EMPTY"), params.get("OTHER")), (None, None));
        assert_eq!(params.redactor().redact("s3cr3t-k3y"), "<KEY>");
    }

    #[test]
    fn domains_of_hosts() {
        for (host, expected) in [
            ("api.example.com", Some("example.com")),
            ("EXAMPLE.com.", Some("example.com")),
            ("a.b.example.co.uk", Some("example.co.uk")),
            ("someone.github.io", Some("someone.github.io")),
            ("github.io", Some("github.io")),
            ("api.example.test", Some("example.test")),
            ("localhost", Some("localhost")),
            ("127.0.0.1", Some("127.0.0.1")),
            ("[2001:DB8::1]", Some("2001:db8::1")),
            ("--chain--.api.example.com", Some("example.com")),
            ("{{chain}}.example.com", Some("example.com")),
            ("x-{{CHAIN}}.example.com", Some("example.com")),
            ("{{a.b}}.example.com", Some("example.com")),
            ("xn--bcher-kva.example", Some("xn--bcher-kva.example")),
            ("{{CHAIN}}.com", None),
            ("--chain--.com", None),
            ("api.{{X}}example.com", None),
            ("{{X}}example.com", None),
            ("{{HOST}}", None),
            ("{{CHAIN}}.github.io", None),
        ] {
            assert_eq!(binding_domain(&normal(host)).as_deref(), expected, "{host}");
        }
    }

    #[test]
    fn the_first_domain_keeps_the_key() {
        let mut params = params(&[]);
        assert_eq!(params.bind("KEY", "api.example.com"), Ok(()));
        assert_eq!(params.bind("KEY", "www.example.com"), Ok(()));
        assert_eq!(
            params.bind("KEY", "evil.test").unwrap_err().to_string(),
            "server parameter KEY is bound to example.com and is not sent to evil.test; \
             to allow it, list both domains for KEY in the configuration"
        );
        assert_eq!(params.bind("OTHER", "evil.test"), Ok(()));
        assert!(params.bind("KEY", "10.0.0.1").is_err());
        assert!(matches!(params.bind("NEW", "{{X}}.com"), Err(BindError::OpenDomain { .. })));
    }

    #[test]
    fn configured_domains_replace_the_first_use() {
        let mut params = params(&[("KEY", &["example.com", "*.other.test", "https://[::1]/"])]);
        for host in ["evil.test", "notexample.com", "example.com.evil.test"] {
            let error = params.bind("KEY", host).unwrap_err();
            assert!(error.to_string().contains("bound to example.com, other.test, ::1 and"), "{error}");
        }
        for host in ["example.com", "a.b.example.com", "other.test", "x.other.test", "[::1]"] {
            assert_eq!(params.bind("KEY", host), Ok(()), "{host}");
        }
    }
}
