//! Header fields on their way out and in.

use flowmcp_plugin::TransportError;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONNECTION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH,
    CONTENT_LOCATION, CONTENT_TYPE, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION,
    TE, TRAILER, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};

/// Fields that frame the message or steer the connection. A schema that sets one could smuggle a second request.
const OWN: [HeaderName; 9] =
    [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, UPGRADE, TE, TRAILER, EXPECT, PROXY_AUTHORIZATION];
const OWN_WITHOUT_CONSTANT: [&str; 2] = ["keep-alive", "proxy-connection"];

/// Fields that say nothing about the caller: all that another origin gets to see.
const SAFE: [HeaderName; 3] = [ACCEPT, ACCEPT_LANGUAGE, USER_AGENT];

/// Checks the fields of a request. `Accept-Encoding` is left out: the transport sends what it can decode.
pub(crate) fn outgoing(fields: Vec<(String, String)>) -> Result<HeaderMap, TransportError> {
    let mut headers = HeaderMap::with_capacity(fields.len() + 4);
    for (name, value) in fields {
        let refused = |reason: &str| TransportError::Header { name: name.clone(), reason: reason.to_owned() };
        let Ok(parsed) = HeaderName::from_bytes(name.as_bytes()) else {
            return Err(refused("the name is not an HTTP token"));
        };
        if OWN.contains(&parsed) || OWN_WITHOUT_CONSTANT.contains(&parsed.as_str()) {
            return Err(refused("the transport sets it itself"));
        }
        if parsed == ACCEPT_ENCODING {
            continue;
        }
        let Ok(mut value) = HeaderValue::from_maybe_shared(bytes::Bytes::from(value)) else {
            return Err(refused("the value holds a control character such as CR, LF or NUL"));
        };
        // Keeps it out of Debug texts and of HTTP/2 compression tables.
        value.set_sensitive(!SAFE.contains(&parsed));
        headers.append(parsed, value);
    }
    Ok(headers)
}

/// Drops every field that another origin must not see.
pub(crate) fn keep_safe(headers: &mut HeaderMap) {
    keep_only(headers, |name| SAFE.contains(name) || *name == CONTENT_TYPE);
}

/// Drops the fields that describe a body which is no longer sent.
pub(crate) fn drop_content(headers: &mut HeaderMap) {
    for name in [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION] {
        headers.remove(name);
    }
}

fn keep_only(headers: &mut HeaderMap, keep: impl Fn(&HeaderName) -> bool) {
    let dropped: Vec<HeaderName> = headers.keys().filter(|name| !keep(name)).cloned().collect();
    for name in dropped {
        headers.remove(name);
    }
}

/// The fields of a response; a value that is not UTF-8 is read as Latin-1.
pub(crate) fn incoming(headers: &HeaderMap) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

/// A field value as text.
pub(crate) fn text(value: &HeaderValue) -> String {
    match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => value.as_bytes().iter().copied().map(char::from).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, value: &str, expected: Result<Option<&[u8]>, &str>) {
        let found = outgoing(vec![(name.to_owned(), value.to_owned())]);
        match expected {
            Ok(sent) => {
                let headers = found.unwrap();
                assert_eq!(headers.values().next().map(HeaderValue::as_bytes), sent, "{name:?}: {value:?}");
            }
            Err(reason) => {
                let expected = TransportError::Header { name: name.to_owned(), reason: reason.to_owned() };
                assert_eq!(found.unwrap_err(), expected, "{name:?}: {value:?}");
            }
        }
    }

    #[test]
    fn what_goes_out() {
        let control = "the value holds a control character such as CR, LF or NUL";
        let own = "the transport sets it itself";
        let token = "the name is not an HTTP token";
        check("X-Key", "v", Ok(Some(b"v")));
        check("x-key", "tab\tand ünïcode", Ok(Some("tab\tand ünïcode".as_bytes())));
        check("x-key", "", Ok(Some(b"")));
        check("Accept-Encoding", "deflate", Ok(None));
        for value in ["a\r\nx: y", "a\rb", "a\nb", "a\0b", "\u{7f}"] {
            check("x-key", value, Err(control));
        }
        for name in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "CONNECTION",
            "Upgrade",
            "TE",
            "Trailer",
            "Expect",
            "Proxy-Authorization",
            "Keep-Alive",
            "Proxy-Connection",
        ] {
            check(name, "1", Err(own));
        }
        for name in ["", "a b", "a:", "a\r\nb", "ä"] {
            check(name, "1", Err(token));
        }
    }

    #[test]
    fn a_repeated_field_stays_repeated() {
        let headers = outgoing(vec![("A".into(), "1".into()), ("a".into(), "2".into())]).unwrap();
        assert_eq!(headers.get_all("a").iter().collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn another_origin_sees_the_safe_fields_only() {
        let fields =
            ["Accept", "Accept-Language", "User-Agent", "Content-Type", "Authorization", "Cookie", "X-Key"];
        let mut headers = outgoing(fields.map(|name| (name.to_owned(), "v".to_owned())).to_vec()).unwrap();
        keep_safe(&mut headers);
        let mut kept: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        kept.sort_unstable();
        assert_eq!(kept, ["accept", "accept-language", "content-type", "user-agent"]);
    }

    #[test]
    fn latin_1_comes_in() {
        let mut headers = HeaderMap::new();
        headers.append("x", HeaderValue::from_bytes(b"caf\xe9").unwrap());
        headers.append("x", HeaderValue::from_bytes("café".as_bytes()).unwrap());
        assert_eq!(incoming(&headers), [("x".into(), "café".into()), ("x".into(), "café".into())]);
    }
}
