//! reqwest's errors become [`TransportError`] here and nowhere else.
//!
//! `reqwest::Error` prints the whole URL, query included. It loses it first, and of what is left only the innermost
//! cause is shown: those come from the system, TLS or the HTTP codec and know no URL.

use std::{error::Error, io};

use flowmcp_plugin::{Phase, TransportError};
use url::Url;

use crate::{resolve::RefusedAddress, target::authority};

/// Longest cause in bytes, since a certificate's names can be in it.
const LONGEST_CAUSE: usize = 300;

/// Says what went wrong with a request to `url` during `phase`.
pub(crate) fn convert(error: reqwest::Error, url: &Url, phase: Phase) -> TransportError {
    let error = error.without_url();
    let host = || url.host_str().unwrap_or("").to_owned();
    if let Some(RefusedAddress { address, kind }) = find::<RefusedAddress>(&error) {
        return TransportError::Address { host: host(), address: *address, kind };
    }
    if error.is_timeout() {
        return TransportError::Timeout { host: authority(url), phase };
    }
    if error.is_dns() {
        return TransportError::Resolve { host: host(), reason: cause(&error) };
    }
    if phase != Phase::Read && find::<rustls::Error>(&error).is_some() {
        return TransportError::Tls { host: authority(url), reason: cause(&error) };
    }
    if error.is_connect() {
        return TransportError::Connect { host: authority(url), reason: cause(&error) };
    }
    if error.is_builder() {
        return TransportError::Url { reason: cause(&error) };
    }
    TransportError::Broken { host: authority(url), phase, reason: cause(&error) }
}

/// The innermost cause, in its own words.
pub(crate) fn cause(error: &reqwest::Error) -> String {
    let mut text = match chain(error).last() {
        Some(cause) if !cause.is::<reqwest::Error>() => cause.to_string(),
        _ => error.to_string(),
    };
    if let Some((end, _)) = text.char_indices().find(|(at, _)| *at >= LONGEST_CAUSE) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn find<T: Error + 'static>(error: &reqwest::Error) -> Option<&T> {
    chain(error).find_map(|cause| cause.downcast_ref())
}

/// An error and its causes. An `io::Error` names the cause *of* what it wraps, so what it wraps is taken out by hand.
fn chain<'a>(error: &'a reqwest::Error) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let first: &'a (dyn Error + 'static) = error;
    std::iter::successors(Some(first), |&error| {
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}
