//! The forms that text values must have.

use std::net::{Ipv6Addr, SocketAddr};

use url::{Host, Url};

/// A form of text.
pub(super) struct Format {
    /// How a message names it, with an example where the name alone does not say enough.
    pub(super) expected: &'static str,
    /// Whether a text has it.
    pub(super) holds: fn(&str) -> bool,
    /// Whether a value may hold a password and so stays out of messages.
    pub(super) private: bool,
}

pub(super) static ANY_TEXT: Format =
    Format { expected: "a text", holds: |text| !text.is_empty(), private: false };

pub(super) static ADDRESS: Format = Format {
    expected: r#"an IP address with a port such as "127.0.0.1:8080" or "[::1]:8080""#,
    holds: |text| text.parse::<SocketAddr>().is_ok(),
    private: false,
};

pub(super) static HOST: Format = Format {
    expected: r#"a host name, with a port where it matters, such as "mcp.example.org" or "localhost:8080""#,
    holds: is_host,
    private: false,
};

pub(super) static HOST_NAME: Format = Format {
    expected: r#"a host name without a port such as "api.example.org""#,
    holds: |text| matches!(Host::parse(text), Ok(Host::Domain(_))),
    private: false,
};

pub(super) static BARE_HOST: Format = Format {
    expected: r#"a host name or IP address without a port such as "nas.local" or "10.0.0.5""#,
    // IPv6 is written with and without brackets.
    holds: |text| text.parse::<Ipv6Addr>().is_ok() || Host::parse(text).is_ok(),
    private: false,
};

pub(super) static ORIGIN: Format = Format {
    expected: r#"an origin without a path such as "https://app.example.org""#,
    holds: is_origin,
    private: false,
};

pub(super) static PROXY: Format = Format {
    expected: r#"an http or https URL of a proxy such as "http://proxy.example.org:3128""#,
    holds: |text| {
        Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
    },
    private: true,
};

pub(super) static NAME: Format = Format {
    expected: r#"the name of an environment variable such as "ETHERSCAN_API_KEY""#,
    holds: |text| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
    },
    private: false,
};

pub(super) static GRANT: Format = Format {
    expected: r#""fetch", or "secret:" and the name of a server parameter"#,
    holds: |text| text == "fetch" || text.strip_prefix("secret:").is_some_and(|name| !name.is_empty()),
    private: false,
};

/// A grant of the command line.
///
/// # Errors
/// In words, when it is none.
pub(crate) fn grant(text: &str) -> Result<String, String> {
    if (GRANT.holds)(text) { Ok(text.to_owned()) } else { Err(format!("expected {}", GRANT.expected)) }
}

pub(super) static VERSION: Format = Format {
    expected: r#"a major version such as "4""#,
    holds: |text| !text.is_empty() && text.len() < 4 && text.bytes().all(|byte| byte.is_ascii_digit()),
    private: false,
};

pub(super) static SHA256: Format = Format {
    expected: "the SHA-256 of the file as 64 hexadecimal digits",
    holds: |text| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
    private: false,
};

fn is_host(text: &str) -> bool {
    // The URL parser knows host names, IPv6 literals and ports; what it would take as another part is refused first.
    !text.contains(['/', '@', '?', '#', '\\', ' '])
        && Url::parse(&format!("http://{text}/")).is_ok_and(|url| url.host_str().is_some())
}

fn is_origin(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, host)| {
        !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
            && is_host(host)
    })
}

/// A URL or any text without what stands between `://` and `@`, which may be a password.
pub(super) fn hide_user_info(text: &str) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        hidden.push_str(before);
        hidden.push_str("://");
        let end = after.find(['/', '?', '#', ' ']).unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        match authority.rsplit_once('@') {
            Some((_, host)) => {
                hidden.push_str("***@");
                hidden.push_str(host);
            }
            None => hidden.push_str(authority),
        }
        rest = tail;
    }
    hidden.push_str(rest);
    hidden
}

/// Whether a name says that its value is a secret. Errs on the side of hiding.
pub(super) fn names_a_secret(name: &str) -> bool {
    const WORDS: [&str; 9] =
        ["key", "token", "secret", "passw", "passphrase", "credential", "auth", "cookie", "private"];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &Format, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!((format.holds)(text), "{text:?} is {}", format.expected);
        }
        for text in bad {
            assert!(!(format.holds)(text), "{text:?} is not {}", format.expected);
        }
    }

    #[test]
    fn each_format_takes_what_it_names() {
        check(
            &ADDRESS,
            &["127.0.0.1:80", "[::1]:8080"],
            &["localhost:80", "127.0.0.1", ":80", "1.2.3.4:99999"],
        );
        check(
            &HOST,
            &["example.org", "localhost:8080", "[::1]", "127.0.0.1:1"],
            &["", "https://x", "a/b", "u@h", "a b", "a:port", "*.x.org:1:2"],
        );
        check(&HOST_NAME, &["example.org", "localhost"], &["", "1.2.3.4", "[::1]", "a:1", "a/b"]);
        check(&BARE_HOST, &["nas.local", "10.0.0.5", "::1", "[fd00::1]"], &["", "a:1", "a/b", "https://a"]);
        check(
            &ORIGIN,
            &["https://a.org", "http://localhost:3000", "vscode-webview://abc"],
            &["a.org", "https://a.org/", "https://", "*", "://a"],
        );
        check(&PROXY, &["http://u:p@h:1", "https://h"], &["h:1", "socks5://h:1", "ftp://h", ""]);
        check(&NAME, &["A", "a_1", "_X"], &["", "1A", "A-B", "A=B"]);
        check(&GRANT, &["fetch", "secret:K"], &["fetc", "secret:", "secret"]);
        check(&VERSION, &["4"], &["", "4.x", "v4", "10000"]);
        check(&SHA256, &[&"0aF".repeat(22)[..64]], &["", "0a", &"g".repeat(64)]);
    }

    #[test]
    fn user_info_is_hidden_wherever_it_stands() {
        let cases = [
            ("http://u:p@proxy:3128/", "http://***@proxy:3128/"),
            ("http://a@b@h/x@y", "http://***@h/x@y"),
            ("http://proxy:3128", "http://proxy:3128"),
            ("plain u:p@h", "plain u:p@h"),
            ("a://x:y@h b://q@i?r=s@t", "a://***@h b://***@i?r=s@t"),
        ];
        for (text, expected) in cases {
            assert_eq!(hide_user_info(text), expected);
        }
    }
}
