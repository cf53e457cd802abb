//! A call from its request to its response: attempts inside hops, all under one deadline.

use std::{
    pin::pin,
    sync::Arc,
    time::{Instant, SystemTime},
};

use flowmcp_plugin::{
    BoxFuture, Method, NetworkAccess, Phase, Request, Response, RetryPolicy, Transport, TransportError,
};
use reqwest::header::{CONTENT_LENGTH, HeaderValue, LOCATION, RETRY_AFTER};
use tokio::sync::Semaphore;
use url::Url;

use crate::{
    HttpSettings, HttpSettingsError, body,
    client::{self, LazyClients},
    deadline::{Deadline, Passed},
    failure, headers, progress,
    redirect::{self, Hop},
    retry::{self, Ending},
    settings::Hosts,
    slots::{Slot, Slots},
    target::{self, authority},
};

/// The transport over HTTP/1.1 and HTTP/2. Build one and share it: it holds the connection pools.
pub struct HttpTransport {
    clients: LazyClients,
    hosts: Arc<Hosts>,
    slots: Slots,
}

impl HttpTransport {
    /// Builds a transport: checks the settings, and reads the root certificates on a thread of its own, which the first
    /// request waits for. Opens no connection.
    ///
    /// # Errors
    /// [`HttpSettingsError`] names the setting and what it must be.
    pub fn new(settings: HttpSettings) -> Result<HttpTransport, HttpSettingsError> {
        if !(1..=Semaphore::MAX_PERMITS.min(1 << 16)).contains(&settings.connections_per_host) {
            return Err(HttpSettingsError::Connections { found: settings.connections_per_host });
        }
        if HeaderValue::from_str(&settings.user_agent).is_err() {
            return Err(HttpSettingsError::UserAgent { user_agent: settings.user_agent });
        }
        let proxy = client::proxy(&settings)?;
        let hosts = Arc::new(Hosts::new(&settings, proxy.as_ref())?);
        let slots = Slots::new(settings.connections_per_host);
        let clients = LazyClients::new(settings, proxy, Arc::clone(&hosts))?;
        Ok(HttpTransport { clients, hosts, slots })
    }

    async fn call(&self, request: Request, at: Instant) -> Result<Response, TransportError> {
        let Request { method, url, headers, body, network, limits, retry, secrets } = request;
        let mut url = Url::parse(&url).map_err(|error| TransportError::Url { reason: error.to_string() })?;
        url.set_fragment(None);
        let mut hop = Hop { method: wire_method(method), url, headers: headers::outgoing(headers)?, body };
        let mut clock = pin!(tokio::time::sleep_until(at.into()));
        let mut deadline = Deadline::new(at, clock.as_mut());
        let mut attempts = 0;
        let mut redirects = 0;
        loop {
            target::check(&hop.url, network, &self.hosts)?;
            let (mut response, slot) =
                self.answer(&hop, network, retry, &mut attempts, &mut deadline).await?;
            let status = response.status().as_u16();
            let Some(next) =
                redirect::next(&hop, status, response.headers().get(LOCATION), network, &secrets)?
            else {
                let body = body::read(&mut response, &hop.url, limits.response_bytes, &mut deadline).await?;
                drop(slot);
                return Ok(Response { status, headers: headers::incoming(response.headers()), body });
            };
            if redirects == limits.redirects {
                let reason = format!("more than {redirects} redirects");
                return Err(TransportError::Redirect { host: authority(&hop.url), reason });
            }
            redirects += 1;
            hop = next;
        }
    }

    /// The head of the first response that is final for this hop. Attempts count over all hops.
    async fn answer(
        &self,
        hop: &Hop,
        network: NetworkAccess,
        retry: RetryPolicy,
        attempts: &mut u8,
        deadline: &mut Deadline<'_>,
    ) -> Result<(reqwest::Response, Slot), TransportError> {
        loop {
            let outcome = self.attempt(hop, network, deadline).await;
            let ending = match &outcome {
                Ok((response, _)) => {
                    let retry_after = response.headers().get(RETRY_AFTER);
                    Ending::Status(response.status().as_u16(), retry_after.and_then(|v| v.to_str().ok()))
                }
                Err(TransportError::Connect { .. }) => Ending::NotSent,
                Err(TransportError::Broken { .. }) => Ending::Broken,
                Err(_) => Ending::Final,
            };
            let now = SystemTime::now();
            let Some(wait) = retry::wait(&hop.method, ending, retry, *attempts, deadline.left(), now) else {
                return outcome;
            };
            *attempts += 1;
            tracing::debug!(host = authority(&hop.url), attempt = *attempts, ?wait, "trying again");
            // Gives the slot back while waiting.
            drop(outcome);
            deadline.bound(tokio::time::sleep(wait)).await.map_err(|Passed| timeout(&hop.url))?;
        }
    }

    /// Sends the request of a hop once and waits for the head of the response.
    async fn attempt(
        &self,
        hop: &Hop,
        network: NetworkAccess,
        deadline: &mut Deadline<'_>,
    ) -> Result<(reqwest::Response, Slot), TransportError> {
        progress::enter(Phase::Connect);
        if deadline.left().is_zero() {
            return Err(timeout(&hop.url));
        }
        let tls = |reason: &str| TransportError::Tls { host: authority(&hop.url), reason: reason.to_owned() };
        let client = self.clients.get().map_err(tls)?.of(network);
        let slot = deadline.bound(self.slots.take(&hop.url)).await.map_err(|Passed| timeout(&hop.url))?;
        progress::enter(Phase::Respond);
        match deadline.bound(client.execute(wire_request(hop))).await {
            Ok(Ok(response)) => Ok((response, slot)),
            Ok(Err(error)) => Err(failure::convert(error, &hop.url, progress::current())),
            Err(Passed) => Err(timeout(&hop.url)),
        }
    }
}

impl Transport for HttpTransport {
    fn send(&self, request: Request, deadline: Instant) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(progress::tracked(self.call(request, deadline)))
    }
}

fn timeout(url: &Url) -> TransportError {
    TransportError::Timeout { host: authority(url), phase: progress::current() }
}

fn wire_method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Delete => reqwest::Method::DELETE,
    }
}

fn wire_request(hop: &Hop) -> reqwest::Request {
    let mut request = reqwest::Request::new(hop.method.clone(), hop.url.clone());
    *request.headers_mut() = hop.headers.clone();
    if !hop.body.is_empty() {
        *request.body_mut() = Some(hop.body.clone().into());
    } else if matches!(hop.method, reqwest::Method::POST | reqwest::Method::PUT) {
        // Some servers answer 411 without it (RFC 9110, section 8.6).
        request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    request
}
