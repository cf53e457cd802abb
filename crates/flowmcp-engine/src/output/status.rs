//! What a client reads about a status that carries no result: failures, and successes without a body.

use std::borrow::Cow;

/// `404 Not Found`, or the bare number where it has no name.
pub(super) fn status_line(status: u16) -> String {
    match reason(status) {
        "" => status.to_string(),
        reason => format!("{status} {reason}"),
    }
}

/// Names of RFC 9110 (section 15) and of the later ones in use.
pub(super) fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        207 => "Multi-Status",
        208 => "Already Reported",
        226 => "IM Used",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        305 => "Use Proxy",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        506 => "Variant Also Negotiates",
        507 => "Insufficient Storage",
        508 => "Loop Detected",
        511 => "Network Authentication Required",
        _ => "",
    }
}

/// The words of an HTML page: without tags, comments, scripts and styles. Error pages are full of markup, and an excerpt
/// is short.
pub(super) fn page_words(html: &str) -> String {
    let mut words = String::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        words.push_str(rest.get(..open).unwrap_or_default());
        let tag = rest.get(open..).unwrap_or_default();
        let end = if tag.starts_with("<!--") {
            behind(tag, "-->")
        } else {
            let name: String = tag
                .chars()
                .skip(1)
                .take_while(char::is_ascii_alphanumeric)
                .map(|c| c.to_ascii_lowercase())
                .collect();
            match name.as_str() {
                "script" => behind(tag, "</script").or_else(|| behind(tag, "</SCRIPT")),
                "style" => behind(tag, "</style").or_else(|| behind(tag, "</STYLE")),
                _ => Some(0),
            }
            .and_then(|skipped| Some(skipped + behind(tag.get(skipped..)?, ">")?))
        };
        words.push(' ');
        rest = end.and_then(|end| tag.get(end..)).unwrap_or_default();
    }
    words.push_str(rest);
    match words.contains('&') {
        true => words
            .replace("&nbsp;", " ")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&"),
        false => words,
    }
}

fn behind(text: &str, what: &str) -> Option<usize> {
    text.find(what).map(|at| at + what.len())
}

/// A size for a person: exact up to 10 KiB, rounded above.
pub(super) fn size(bytes: usize) -> Cow<'static, str> {
    match bytes {
        1 => Cow::Borrowed("1 byte"),
        0..10_240 => Cow::Owned(format!("{bytes} bytes")),
        10_240..1_048_576 => Cow::Owned(format!("{} KiB", bytes / 1024)),
        _ => Cow::Owned(format!("{}.{} MiB", bytes >> 20, ((bytes % (1 << 20)) * 10) >> 20)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(status_line(404), "404 Not Found");
        assert_eq!(status_line(599), "599");
    }

    #[test]
    fn words_of_pages() {
        let words = |html: &str| page_words(html).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words(
                "<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>a>b{}</style>\
                 <script type=x>if (a<b) {}</script></head><!-- a > b --><body><h1>Oh&nbsp;no &amp;lt;</h1>nginx</body>"
            ),
            "502 Bad Gateway Oh no &lt; nginx"
        );
        assert_eq!(words("a < b"), "a");
        assert_eq!(words("<script>never closed"), "");
        assert_eq!(words("<"), "");
    }

    #[test]
    fn sizes() {
        assert_eq!(
            [0, 1, 10_239, 10_240, 3 << 19].map(|bytes| size(bytes).into_owned()),
            ["0 bytes", "1 byte", "10239 bytes", "10 KiB", "1.5 MiB"]
        );
    }
}
