//! Name lookup that drops addresses the request may not reach.
//!
//! The connector dials exactly what this returns, so a name cannot lead to one address when it is checked and to
//! another when it is dialled (DNS rebinding). Literal addresses never come here: see `target.rs`.

use std::{fmt, net::IpAddr, sync::Arc};

use flowmcp_plugin::{NetworkAccess, Phase};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::{address, progress, settings::Hosts};

/// Looks names up for requests with one kind of network access.
pub(crate) struct Lookup {
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) network: NetworkAccess,
}

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        if let Some(address) = self.hosts.fixed(name.as_str()) {
            return Box::pin(std::future::ready(Ok(Box::new(std::iter::once(address)) as Addrs)));
        }
        let network = if self.hosts.is_open(name.as_str()) { None } else { Some(self.network) };
        Box::pin(async move {
            progress::enter(Phase::Resolve);
            // Port 0 is replaced by the URL's port.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let mut refused = None;
            let mut permitted = Vec::new();
            for address in found {
                match network.and_then(|network| address::refusal(address.ip(), network)) {
                    Some(kind) => refused = Some(RefusedAddress { address: address.ip(), kind }),
                    None => permitted.push(address),
                }
            }
            progress::enter(Phase::Connect);
            if permitted.is_empty() {
                return Err(refused.map_or_else(|| "the name has no address".into(), Into::into));
            }
            Ok(Box::new(permitted.into_iter()) as Addrs)
        })
    }
}

/// All addresses of a name are refused; this is one of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefusedAddress {
    pub(crate) address: IpAddr,
    pub(crate) kind: &'static str,
}

impl fmt::Display for RefusedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is a {} address", self.address, self.kind)
    }
}

impl std::error::Error for RefusedAddress {}
