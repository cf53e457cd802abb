//! Whether text that is about to reach another origin carries a server value.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use flowmcp_plugin::Secret;
use percent_encoding::percent_decode;

/// Shorter values are not looked for: `1` or `en` would be found in most texts and stop redirects that are harmless.
const SHORTEST: usize = 4;

/// Shorter values are not looked for in base64, for the same reason.
const SHORTEST_IN_BASE64: usize = 8;

/// How many layers of percent-encoding are taken off.
const DECODINGS: usize = 3;

/// Whether `text` holds one of `secrets`: as it is, percent- or form-encoded (also repeatedly), JSON-escaped, or in
/// base64 (both alphabets, at any offset).
pub(crate) fn carries(text: &[u8], secrets: &[Secret]) -> bool {
    let mut needles: Vec<Vec<u8>> = Vec::new();
    for secret in secrets.iter().map(|secret| secret.expose().as_bytes()) {
        if secret.len() >= SHORTEST {
            needles.push(secret.to_vec());
        }
        if secret.len() >= SHORTEST_IN_BASE64 {
            needles.extend((0..3).filter_map(|offset| in_base64(secret, offset)));
        }
    }
    if needles.is_empty() || text.is_empty() {
        return false;
    }
    let found = |view: &[u8]| needles.iter().any(|needle| holds(view, needle));
    // A plus is a space in forms; before and after decoding, since a form may stand inside a form.
    let with_spaces = replace(text, |byte| if byte == b'+' { b' ' } else { byte });
    let in_form =
        |view: &[u8]| found(view) || found(&replace(view, |byte| if byte == b'+' { b' ' } else { byte }));
    let in_standard_alphabet = replace(text, |byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    });
    decodings(text).any(|view| in_form(&view))
        || decodings(&with_spaces).any(|view| found(&view))
        || found(&in_standard_alphabet)
        || found(&without_json_escapes(text))
}

fn replace(text: &[u8], by: impl Fn(u8) -> u8) -> Vec<u8> {
    text.iter().copied().map(by).collect()
}

/// The text itself and what is left after each layer of percent-encoding.
fn decodings(text: &[u8]) -> impl Iterator<Item = Cow<'_, [u8]>> {
    std::iter::successors(Some(Cow::Borrowed(text)), |view| {
        match Cow::from(percent_decode(view)) {
            // Nothing was decoded.
            Cow::Borrowed(_) => None,
            Cow::Owned(decoded) => Some(Cow::Owned(decoded)),
        }
    })
    .take(DECODINGS + 1)
}

/// The base64 digits that depend on nothing but `secret` when it starts `offset` bytes into a group of three.
fn in_base64(secret: &[u8], offset: usize) -> Option<Vec<u8>> {
    let mut padded = vec![0; offset];
    padded.extend_from_slice(secret);
    let digits = STANDARD_NO_PAD.encode(&padded).into_bytes();
    let first = (offset * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    digits.get(first..end).map(<[u8]>::to_vec)
}

/// Undoes `\"`, `\\`, `\/`, `\n` and the like, and `\uXXXX`; everything else stays.
fn without_json_escapes(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        let Some((&escape, after)) = rest.split_first() else { break };
        rest = after;
        match escape {
            b'n' => plain.push(b'\n'),
            b'r' => plain.push(b'\r'),
            b't' => plain.push(b'\t'),
            b'b' => plain.push(8),
            b'f' => plain.push(12),
            b'u' => {
                let digits = rest.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
                let character = digits.and_then(|d| u32::from_str_radix(d, 16).ok()).and_then(char::from_u32);
                if let (Some(character), Some(after)) = (character, rest.get(4..)) {
                    plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    rest = after;
                }
            }
            other => plain.push(other),
        }
    }
    plain
}

fn holds(text: &[u8], needle: &[u8]) -> bool {
    let Some((&first, _)) = needle.split_first() else { return false };
    text.windows(needle.len()).any(|window| window.first() == Some(&first) && window == needle)
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(secret: &str, text: &str, expected: bool) {
        assert_eq!(carries(text.as_bytes(), &[Secret::new(secret)]), expected, "{secret:?} in {text:?}");
    }

    #[test]
    fn forms_of_a_secret() {
        for (secret, text, expected) in [
            ("abcd", "https://b.test/?k=abcd", true),
            ("abcd", "https://b.test/?k=abc", false),
            ("abc", "abc", false),
            ("", "abc", false),
            ("a+b/c==x", "?k=a%2Bb%2Fc%3D%3Dx", true),
            ("a+b/c==x", "?k=a%2bb%2fc%3d%3dx", true),
            ("a+b/c==x", "?k=a%252Bb%252Fc%253D%253Dx", true),
            ("a+b/c==x", "?k=a+b/c==x", true),
            ("two words", "?k=two+words", true),
            ("two words", "?k=two%20words", true),
            ("two words", "?next=%2F%3Fk%3Dtwo%2Bwords", true),
            (r#"q"u\o/te"#, r#"{"k":"q\"u\\o/te"}"#, true),
            (r#"q"u\o/te"#, r#"{"k":"q\u0022u\\o\/te"}"#, true),
            ("line1\nline2", r#"{"k":"line1\nline2"}"#, true),
            ("schlüssel", "?k=schl%C3%BCssel", true),
            ("schlüssel", r#"{"k":"schl\u00fcssel"}"#, true),
            ("abcd", r"\u12", false),
            ("abcd", r"\", false),
            ("abcd", "%", false),
        ] {
            check(secret, text, expected);
        }
    }

    #[test]
    fn base64_at_every_offset() {
        for prefix in ["", "u", "u:", "us:", "user:"] {
            let pair = format!("{prefix}s3cr3t?>~key:x");
            check("s3cr3t?>~key", &format!("Basic {}", STANDARD.encode(&pair)), true);
            check("s3cr3t?>~key", &format!("t={}", URL_SAFE_NO_PAD.encode(&pair)), true);
            check("another-key!", &format!("Basic {}", STANDARD.encode(&pair)), false);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_searched_without_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            carries(&text, &[Secret::new("12345678")]);
        }

        #[test]
        fn a_form_encoded_secret_is_found(secret in ".{4,20}", before in "[a-z=&]{0,9}") {
            let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            let text = format!("{before}{encoded}");
            prop_assert!(carries(text.as_bytes(), &[Secret::new(secret)]));
        }
    }
}
