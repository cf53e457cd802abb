//! What follows a redirect: the next request, or a refusal.
//!
//! Methods change as in the Fetch standard, section 4.4. Fragments are never sent; a `Location` without one would
//! inherit the request's (RFC 9110, section 10.2.2), which no server sees either, so they are dropped.

use bytes::Bytes;
use flowmcp_plugin::{NetworkAccess, Secret, TransportError};
use reqwest::{
    Method,
    header::{HeaderMap, HeaderValue},
};
use url::Url;

use crate::{headers, secrets, target::authority};

/// One request of a chain of redirects.
#[derive(Debug, Clone)]
pub(crate) struct Hop {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The request that a redirect asks for, or `None` if the response is no redirect.
///
/// # Errors
/// [`TransportError::Redirect`] when the redirect must not be followed. No text repeats the `Location`.
pub(crate) fn next(
    hop: &Hop,
    status: u16,
    location: Option<&HeaderValue>,
    network: NetworkAccess,
    secrets: &[Secret],
) -> Result<Option<Hop>, TransportError> {
    let (301 | 302 | 303 | 307 | 308, Some(location)) = (status, location) else { return Ok(None) };
    let refused =
        |reason: &str| TransportError::Redirect { host: authority(&hop.url), reason: reason.to_owned() };

    let location = headers::text(location);
    let mut url = hop.url.join(&location).map_err(|_| refused("its Location is not a URL"))?;
    url.set_fragment(None);
    match (url.scheme(), network) {
        ("https", _) | ("http", NetworkAccess::Local) => {}
        ("http", NetworkAccess::Public) => return Err(refused("it leads from https to http")),
        _ => return Err(refused("its Location is neither https nor http")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("its Location holds a user name or password"));
    }

    let mut next = Hop { url, ..hop.clone() };
    let becomes_get = match status {
        301 | 302 => hop.method == Method::POST,
        303 => hop.method != Method::GET,
        _ => false,
    };
    if becomes_get {
        next.method = Method::GET;
        next.body = Bytes::new();
        headers::drop_content(&mut next.headers);
    }
    if next.url.origin() != hop.url.origin() {
        // The parsed form too: parsing drops tabs and newlines, which could have cut a value in two.
        if secrets::carries(location.as_bytes(), secrets)
            || secrets::carries(next.url.as_str().as_bytes(), secrets)
        {
            return Err(refused("its Location would carry a server value to another origin"));
        }
        if secrets::carries(&next.body, secrets) {
            return Err(refused("the request body would carry a server value to another origin"));
        }
        headers::keep_safe(&mut next.headers);
        if next.body.is_empty() {
            headers::drop_content(&mut next.headers);
        }
    }
    Ok(Some(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [(&str, &str); 4] = [
        ("accept", "application/json"),
        ("content-type", "application/json"),
        ("authorization", "Bearer KEY-0001"),
        ("x-other", "1"),
    ];

    fn hop(method: &str, body: &str) -> Hop {
        Hop {
            method: method.parse().unwrap(),
            url: Url::parse("https://a.test/dir/page?q=1#frag").unwrap(),
            headers: headers::outgoing(FIELDS.map(|(n, v)| (n.to_owned(), v.to_owned())).to_vec()).unwrap(),
            body: Bytes::copy_from_slice(body.as_bytes()),
        }
    }

    /// Follows one redirect and shows the next request on one line.
    fn follow(method: &str, body: &str, status: u16, location: &str, network: NetworkAccess) -> String {
        let location = HeaderValue::from_bytes(location.as_bytes()).unwrap();
        let secrets = [Secret::new("KEY-0001")];
        match next(&hop(method, body), status, Some(&location), network, &secrets) {
            Ok(None) => "stays".to_owned(),
            Err(error) => error.to_string(),
            Ok(Some(next)) => {
                let mut names: Vec<&str> = next.headers.keys().map(|name| name.as_str()).collect();
                names.sort_unstable();
                let body = String::from_utf8_lossy(&next.body).into_owned();
                format!("{} {} [{}] {body}", next.method, next.url, names.join(" ")).trim_end().to_owned()
            }
        }
    }

    #[test]
    fn method_and_body() {
        let all = "accept authorization content-type x-other";
        let bodyless = "accept authorization x-other";
        for (method, status, expected) in [
            ("GET", 301, format!("GET https://a.test/n [{all}] body")),
            ("POST", 301, format!("GET https://a.test/n [{bodyless}]")),
            ("POST", 302, format!("GET https://a.test/n [{bodyless}]")),
            ("POST", 303, format!("GET https://a.test/n [{bodyless}]")),
            ("POST", 307, format!("POST https://a.test/n [{all}] body")),
            ("POST", 308, format!("POST https://a.test/n [{all}] body")),
            ("PUT", 301, format!("PUT https://a.test/n [{all}] body")),
            ("PUT", 302, format!("PUT https://a.test/n [{all}] body")),
            ("PUT", 303, format!("GET https://a.test/n [{bodyless}]")),
            ("PUT", 308, format!("PUT https://a.test/n [{all}] body")),
            ("DELETE", 302, format!("DELETE https://a.test/n [{all}] body")),
            ("DELETE", 303, format!("GET https://a.test/n [{bodyless}]")),
            ("GET", 300, "stays".to_owned()),
            ("GET", 304, "stays".to_owned()),
            ("GET", 305, "stays".to_owned()),
            ("GET", 201, "stays".to_owned()),
        ] {
            let found = follow(method, "body", status, "/n", NetworkAccess::Public);
            assert_eq!(found, expected, "{method} {status}");
        }
    }

    #[test]
    fn targets() {
        use NetworkAccess::{Local, Public};
        let refused = |reason: &str| format!("a.test:443: redirect refused: {reason}");
        for (location, network, expected) in [
            // Relative references, and no fragment either way.
            ("next", Public, "https://a.test/dir/next".to_owned()),
            ("?q=2", Public, "https://a.test/dir/page?q=2".to_owned()),
            ("#x", Public, "https://a.test/dir/page?q=1".to_owned()),
            ("/é?ü", Public, "https://a.test/%C3%A9?%C3%BC".to_owned()),
            ("//a.test:443/n", Public, "https://a.test/n".to_owned()),
            ("/n?k=KEY-0001", Public, "https://a.test/n?k=KEY-0001".to_owned()),
            ("https://b.test/n#KEY-0002", Public, "https://b.test/n".to_owned()),
            // Refused.
            ("http://a.test/n", Public, refused("it leads from https to http")),
            ("http://a.test/n", Local, "http://a.test/n".to_owned()),
            ("ftp://a.test/n", Public, refused("its Location is neither https nor http")),
            ("javascript:alert(1)", Local, refused("its Location is neither https nor http")),
            ("https://", Public, refused("its Location is not a URL")),
            ("https://a b.test/", Public, refused("its Location is not a URL")),
            ("https://u:p@b.test/", Public, refused("its Location holds a user name or password")),
            ("https://u@a.test/", Public, refused("its Location holds a user name or password")),
        ] {
            let found = follow("GET", "", 302, location, network);
            let url = found.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or(&found);
            assert_eq!(url, expected, "{location}");
        }
    }

    #[test]
    fn another_origin_gets_no_server_value() {
        let location =
            "a.test:443: redirect refused: its Location would carry a server value to another origin";
        let body =
            "a.test:443: redirect refused: the request body would carry a server value to another origin";
        for (method, sent, status, target, expected) in [
            ("GET", "", 302, "https://b.test/n", "GET https://b.test/n [accept]"),
            ("GET", "", 302, "https://a.test:8443/n", "GET https://a.test:8443/n [accept]"),
            ("POST", "{}", 307, "https://b.test/n", "POST https://b.test/n [accept content-type] {}"),
            ("POST", "{}", 303, "https://b.test/n", "GET https://b.test/n [accept]"),
            ("POST", r#"{"k":"KEY-0001"}"#, 303, "https://b.test/n", "GET https://b.test/n [accept]"),
            ("POST", r#"{"k":"KEY-0001"}"#, 307, "https://b.test/n", body),
            ("PUT", "k=KEY%2D0001", 308, "https://b.test/n", body),
            ("GET", "", 302, "https://b.test/?k=KEY-0001", location),
            ("GET", "", 302, "https://b.test/?k=KEY%2D0001", location),
            ("GET", "", 302, "https://b.test/?k=%4BEY%252D0001", location),
            ("GET", "", 302, "https://KEY-0001.b.test/", location),
            ("GET", "", 302, "https://b.test/n#KEY-0001", location),
            ("GET", "", 302, "https://b.test/?k=KEY\t-0001", location),
            ("GET", "", 302, "https://b.test/?k=S0VZLTAwMDE", location),
        ] {
            assert_eq!(
                follow(method, sent, status, target, NetworkAccess::Public),
                expected,
                "{method} {target}"
            );
        }
    }

    #[test]
    fn a_scheme_is_part_of_the_origin() {
        let found = follow("GET", "", 302, "http://a.test/n", NetworkAccess::Local);
        assert_eq!(found, "GET http://a.test/n [accept]");
    }
}
