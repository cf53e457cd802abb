//! The forms in which a value comes back from an upstream.

use std::collections::BTreeSet;

use base64::{
    Engine,
    engine::{GeneralPurpose, general_purpose},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What RFC 3986 (section 2.3) leaves alone everywhere.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Like [`UNRESERVED`] with slashes kept, the default of several libraries.
const SLASH_KEPT: &AsciiSet = &UNRESERVED.remove(b'/');
/// JavaScript's encodeURIComponent.
const COMPONENT: &AsciiSet = &UNRESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
/// `pchar` of RFC 3986: how path inserts are rendered.
const PATH: &AsciiSet = &COMPONENT
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// All texts that stand for the value; none is shorter than it, except for the cut edges of base64.
pub(super) fn forms(value: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([value.to_owned()]);
    for encoded in percent_forms(value) {
        forms.insert(utf8_percent_encode(&encoded, UNRESERVED).to_string());
        forms.insert(lower_hex(&encoded));
        forms.insert(encoded);
    }
    forms.extend(json_forms(value));
    forms.extend(html_forms(value));
    for engine in [&general_purpose::STANDARD, &general_purpose::URL_SAFE] {
        for encoded in base64_forms(value.as_bytes(), engine) {
            // Only the standard alphabet has characters that links and JSON escape.
            let in_link = percent_component(&encoded);
            forms.insert(lower_hex(&in_link));
            forms.insert(in_link);
            forms.extend(json_forms(&encoded));
            forms.insert(encoded);
        }
    }
    forms
}

/// encodeURIComponent.
pub(super) fn percent_component(value: &str) -> String {
    utf8_percent_encode(value, COMPONENT).to_string()
}

/// The same text with the hex digits of its percent escapes in lower case.
pub(super) fn lower_hex(encoded: &str) -> String {
    let mut left = 0;
    encoded
        .chars()
        .map(|c| {
            if c == '%' {
                left = 2;
                c
            } else if left > 0 {
                left -= 1;
                c.to_ascii_lowercase()
            } else {
                c
            }
        })
        .collect()
}

fn percent_forms(value: &str) -> Vec<String> {
    let mut forms: Vec<String> = [UNRESERVED, SLASH_KEPT, COMPONENT, PATH]
        .into_iter()
        .map(|set| utf8_percent_encode(value, set).to_string())
        .collect();
    forms.push(form_urlencoded::byte_serialize(value.as_bytes()).collect());
    forms
}

/// How the JSON writers in wide use escape a text: nothing more than needed, slashes (PHP), everything beyond ASCII
/// (Python), what matters in HTML (Go, Rails), and more than that (.NET).
fn json_forms(value: &str) -> [String; 7] {
    let beyond_ascii = |c: char| !c.is_ascii();
    let html = |c: char| matches!(c, '<' | '>' | '&');
    [
        json_escaped(value, |_| false),
        json_escaped(value, |_| false).replace('/', "\\/"),
        json_escaped(value, beyond_ascii),
        json_escaped(value, beyond_ascii).replace('/', "\\/"),
        json_escaped(value, html),
        json_escaped(value, |c| beyond_ascii(c) || matches!(c, '<' | '>' | '&' | '\'' | '"' | '+' | '`')),
        upper_escapes(&json_escaped(value, |c| {
            beyond_ascii(c) || matches!(c, '<' | '>' | '&' | '\'' | '"' | '+' | '`')
        })),
    ]
}

/// The inside of a JSON string; characters of `unicode` become `\u` escapes with lower-case digits.
fn json_escaped(value: &str, unicode: impl Fn(char) -> bool) -> String {
    use std::fmt::Write;

    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        let short = match c {
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\u{8}' => 'b',
            '\u{c}' => 'f',
            '"' | '\\' if !unicode(c) => c,
            c if c < ' ' || unicode(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(escaped, "\\u{unit:04x}");
                }
                continue;
            }
            c => {
                escaped.push(c);
                continue;
            }
        };
        escaped.push('\\');
        escaped.push(short);
    }
    escaped
}

/// The same text with the digits of its `\u` escapes in upper case.
fn upper_escapes(escaped: &str) -> String {
    let mut parts = escaped.split("\\u");
    let mut upper = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(4).unwrap_or((part, ""));
        upper.push_str("\\u");
        upper.push_str(&digits.to_ascii_uppercase());
        upper.push_str(rest);
    }
    upper
}

fn html_forms(value: &str) -> [String; 3] {
    let text = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let quoted = text.replace('"', "&quot;");
    [quoted.replace('\'', "&#39;"), quoted.replace('\'', "&#x27;"), text]
}

/// The characters of base64 that depend on the value alone, for the three places at which it can start inside a longer
/// text. A character that also holds bits of a neighbour is left out, unless the value ends the text.
fn base64_forms(value: &[u8], engine: &GeneralPurpose) -> Vec<String> {
    let mut forms = Vec::with_capacity(9);
    for shift in 0..3 {
        let mut shifted = vec![0; shift];
        shifted.extend_from_slice(value);
        let encoded = engine.encode(&shifted);
        let first_own = (shift * 8).div_ceil(6);
        let end_own = shifted.len() * 8 / 6;
        let last = encoded.get(first_own..).unwrap_or_default();
        forms.push(encoded.get(first_own..end_own).unwrap_or_default().to_owned());
        forms.push(last.trim_end_matches('=').to_owned());
        forms.push(last.to_owned());
    }
    forms
}
