//! The reqwest clients: TLS roots, proxy, pools.
//!
//! There are two, because a resolver sees only a name: one client looks names up for packs that may reach public
//! addresses only, the other for packs with `allow_local`. Their pools are apart, so no request reuses a connection
//! that its own pack could not have opened.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use flowmcp_plugin::NetworkAccess;
use reqwest::{Client, Proxy, redirect};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use url::{Host, Url};

use crate::{
    HttpSettings, HttpSettingsError, address,
    progress::NoteConnecting,
    resolve::Lookup,
    settings::Hosts,
    target::{self, is_localhost},
};

/// Below the 60 to 75 s after which common servers and load balancers close, so that they rarely close first.
const IDLE: Duration = Duration::from_secs(50);

/// The clients of a transport.
pub(crate) struct Clients {
    public: Client,
    local: Client,
}

/// The clients, once they are made.
pub(crate) struct LazyClients(Arc<Lazy>);

type Lazy = LazyLock<Made, Box<dyn FnOnce() -> Made + Send>>;
/// Or why not, in a form that every call can have.
type Made = Result<Clients, String>;

impl LazyClients {
    /// Checks the settings and begins to make the clients on a thread of its own: a system may keep each of its root
    /// certificates in a file, and nobody should wait for hundreds of files before the first request.
    pub(crate) fn new(
        settings: HttpSettings,
        proxy: Option<Url>,
        hosts: Arc<Hosts>,
    ) -> Result<Self, HttpSettingsError> {
        add_configured(&mut RootCertStore::empty(), &settings.ca_pem)?;
        let make = move || Clients::new(&settings, proxy, &hosts).map_err(|error| error.to_string());
        let lazy: Arc<Lazy> = Arc::new(LazyLock::new(Box::new(make)));
        let ahead = Arc::clone(&lazy);
        let thread = std::thread::Builder::new().name("roots".into());
        if let Err(error) = thread.spawn(move || LazyLock::force(&ahead).is_ok()) {
            tracing::debug!(%error, "root certificates are read at the first request");
        }
        Ok(LazyClients(lazy))
    }

    /// Waits until the clients are made; that is a matter of milliseconds after the start.
    pub(crate) fn get(&self) -> Result<&Clients, &str> {
        LazyLock::force(&self.0).as_ref().map_err(String::as_str)
    }
}

impl Clients {
    fn new(
        settings: &HttpSettings,
        proxy: Option<Url>,
        hosts: &Arc<Hosts>,
    ) -> Result<Self, HttpSettingsError> {
        let tls = tls(&settings.ca_pem)?;
        let client = |network| {
            let mut builder = Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .dns_resolver(Arc::new(Lookup { hosts: Arc::clone(hosts), network }))
                .connector_layer(NoteConnecting)
                .connect_timeout(settings.connect_timeout)
                .redirect(redirect::Policy::none())
                .referer(false)
                .https_only(network == NetworkAccess::Public)
                .user_agent(settings.user_agent.as_str())
                .tcp_nodelay(true)
                .pool_idle_timeout(IDLE)
                .pool_max_idle_per_host(settings.connections_per_host)
                .no_proxy();
            if let Some(url) = &proxy {
                let (url, hosts) = (url.clone(), Arc::clone(hosts));
                builder = builder
                    .proxy(Proxy::custom(move |target| (!is_direct(target, &hosts)).then(|| url.clone())));
            }
            builder.build().map_err(|error| HttpSettingsError::Client {
                reason: crate::failure::cause(&error.without_url()),
            })
        };
        Ok(Clients { public: client(NetworkAccess::Public)?, local: client(NetworkAccess::Local)? })
    }

    pub(crate) fn of(&self, network: NetworkAccess) -> &Client {
        match network {
            NetworkAccess::Public => &self.public,
            NetworkAccess::Local => &self.local,
        }
    }
}

/// Parses the proxy's URL.
pub(crate) fn proxy(settings: &HttpSettings) -> Result<Option<Url>, HttpSettingsError> {
    let Some(text) = &settings.proxy else { return Ok(None) };
    let wrong = |reason: &str| HttpSettingsError::Proxy { reason: reason.to_owned() };
    let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
    match url.scheme() {
        "http" | "https" => Ok(Some(url)),
        _ => Err(wrong("another scheme")),
    }
}

/// Whether a target is reached without the proxy.
fn is_direct(target: &Url, hosts: &Hosts) -> bool {
    match target.host() {
        Some(Host::Domain(name)) => {
            is_localhost(name) || hosts.fixed(name).is_some() || hosts.is_private(&Host::Domain(name))
        }
        Some(host) => target::literal(&host).and_then(address::special_kind).is_some(),
        None => false,
    }
}

/// TLS with the bundled Mozilla roots, the system's where it has a store, and the configured ones.
///
/// The provider is passed explicitly: a process-wide one would be a hidden dependency between crates.
fn tls(ca_pem: &[u8]) -> Result<ClientConfig, HttpSettingsError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let system = rustls_native_certs::load_native_certs();
    for error in &system.errors {
        tracing::debug!(%error, "a system root certificate could not be read");
    }
    roots.add_parsable_certificates(system.certs);
    add_configured(&mut roots, ca_pem)?;

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpSettingsError::Client { reason: error.to_string() })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(tls)
}

fn add_configured(roots: &mut RootCertStore, ca_pem: &[u8]) -> Result<(), HttpSettingsError> {
    if ca_pem.is_empty() {
        return Ok(());
    }
    let wrong = |reason: String| HttpSettingsError::CaPem { reason };
    let mut count = 0;
    for certificate in CertificateDer::pem_slice_iter(ca_pem) {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        count += 1;
    }
    if count == 0 { Err(wrong("no certificate found".to_owned())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_proxy_is_not_asked_for() {
        let settings = HttpSettings {
            resolve: [("fixed.test".to_owned(), ([127, 0, 0, 1], 1).into())].into(),
            private_hosts: vec!["nas.lan".into()],
            ..HttpSettings::default()
        };
        let hosts = Hosts::new(&settings, None).unwrap();
        for (url, direct) in [
            ("https://api.example.test/", false),
            ("https://8.8.8.8/", false),
            ("https://fixed.test/", true),
            ("https://nas.lan/", true),
            ("http://localhost:1/", true),
            ("http://127.0.0.1/", true),
            ("http://[fd00::1]/", true),
        ] {
            assert_eq!(is_direct(&Url::parse(url).unwrap(), &hosts), direct, "{url}");
        }
    }

    #[test]
    fn roots_that_are_none() {
        for pem in [
            "no pem at all",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\n",
        ] {
            let error = tls(pem.as_bytes()).err();
            assert!(matches!(error, Some(HttpSettingsError::CaPem { .. })), "{pem:?}: {error:?}");
        }
    }
}
