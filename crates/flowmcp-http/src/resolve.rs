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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HttpSettings;

    /// Looks `localhost` up: the one name that leads to a refused address on every machine. (`target.rs` refuses it
    /// before any lookup; here it stands for a public name that somebody points at a private address.)
    async fn look_up(
        name: &str,
        network: NetworkAccess,
        settings: HttpSettings,
    ) -> Result<Vec<IpAddr>, String> {
        let hosts = Arc::new(Hosts::new(&settings, None).unwrap());
        match (Lookup { hosts, network }).resolve(name.parse().unwrap()).await {
            Ok(found) => Ok(found.map(|address| address.ip()).collect()),
            Err(error) => {
                assert!(error.is::<RefusedAddress>(), "{error}");
                Err(error.downcast_ref::<RefusedAddress>().unwrap().kind.to_owned())
            }
        }
    }

    #[tokio::test]
    async fn a_name_is_judged_by_the_addresses_it_leads_to() {
        let none = HttpSettings::default;
        let open = HttpSettings { private_hosts: vec!["localhost".into()], ..none() };
        let fixed =
            HttpSettings { resolve: [("a.test".to_owned(), ([10, 0, 0, 1], 0).into())].into(), ..none() };
        let refused = look_up("localhost", NetworkAccess::Public, none()).await;
        assert_eq!(refused, Err("loopback".to_owned()));
        for (name, network, settings) in [
            ("localhost", NetworkAccess::Local, none()),
            ("localhost", NetworkAccess::Public, open),
            ("a.test", NetworkAccess::Public, fixed),
        ] {
            let found = look_up(name, network, settings).await.unwrap();
            assert!(
                !found.is_empty() && found.iter().all(|a| address::special_kind(*a).is_some()),
                "{found:?}"
            );
        }
    }
}
