//! Encodings, each for one place of a request.

use std::borrow::Cow;

use flowmcp_spec::ztype::js_number;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::Place;

/// Everything but `pchar` of RFC 3986, section 3.3; `%` is encoded too, so nothing is decoded twice.
const NOT_PCHAR: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// As [`NOT_PCHAR`], and the comma that joins the items of a list.
const NOT_ITEM: &AsciiSet = &NOT_PCHAR.add(b',');

/// Everything that JavaScript's `encodeURIComponent` encodes.
const NOT_COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// The text of a value outside JSON: strings as they are, numbers as JavaScript writes them, lists joined with commas,
/// objects as compact JSON.
pub(crate) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Number(number) => js_number(number),
        Value::Bool(flag) => Cow::Borrowed(if *flag { "true" } else { "false" }),
        Value::Null => Cow::Borrowed("null"),
        Value::Array(items) => {
            let mut joined = String::new();
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    joined.push(',');
                }
                match item {
                    // A list inside a list would not be told apart from it by its commas.
                    Value::Array(_) => joined.push_str(&item.to_string()),
                    item => joined.push_str(&text(item)),
                }
            }
            Cow::Owned(joined)
        }
        Value::Object(_) => Cow::Owned(value.to_string()),
    }
}

/// One path segment.
pub(super) fn segment(text: &str, out: &mut String) {
    out.extend(utf8_percent_encode(text, NOT_PCHAR));
}

/// One item of a list in a path segment: its own commas are encoded, so that those between items stand out.
pub(super) fn item_segment(text: &str, out: &mut String) {
    out.extend(utf8_percent_encode(text, NOT_ITEM));
}

/// As `encodeURIComponent` does.
pub(super) fn component(text: &str, out: &mut String) {
    out.extend(utf8_percent_encode(text, NOT_COMPONENT));
}

/// As `URLSearchParams` does (WHATWG form encoding: a space becomes `+`).
pub(crate) fn form(text: &str, out: &mut String) {
    out.extend(form_urlencoded::byte_serialize(text.as_bytes()));
}

/// The inside of a JSON string.
pub(super) fn json_string(text: &str, out: &mut String) {
    let quoted = Value::String(text.to_owned()).to_string();
    out.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
}

/// A server value, encoded for where it stands.
pub(crate) fn place_secret(value: &str, place: Place, out: &mut String) {
    match place {
        Place::Path => segment(value, out),
        Place::Query => form(value, out),
        Place::PathQuery => component(value, out),
        Place::Json => json_string(value, out),
        Place::Header | Place::Origin => out.push_str(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each expected text is what Node gives for the same value.
    #[test]
    fn encodings_are_those_of_javascript() {
        let all = "aZ09 -._~!*'()&=+,;:@/?#[]%\\\"<>^`{|}é€😀";
        let run = |encode: fn(&str, &mut String)| {
            let mut out = String::new();
            encode(all, &mut out);
            out
        };
        assert_eq!(
            run(form),
            "aZ09+-._%7E%21*%27%28%29%26%3D%2B%2C%3B%3A%40%2F%3F%23%5B%5D%25%5C%22%3C%3E%5E%60%7B%7C%7D%C3%A9%E2%82%AC%F0%9F%98%80"
        );
        assert_eq!(
            run(component),
            "aZ09%20-._~!*'()%26%3D%2B%2C%3B%3A%40%2F%3F%23%5B%5D%25%5C%22%3C%3E%5E%60%7B%7C%7D%C3%A9%E2%82%AC%F0%9F%98%80"
        );
        assert_eq!(
            run(segment),
            "aZ09%20-._~!*'()&=+,;:@%2F%3F%23%5B%5D%25%5C%22%3C%3E%5E%60%7B%7C%7D%C3%A9%E2%82%AC%F0%9F%98%80"
        );
    }

    proptest::proptest! {
        #[test]
        fn a_server_that_decodes_gets_the_input_back(value in "\\PC*") {
            let mut query = String::from("k=");
            form(&value, &mut query);
            let back: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
            proptest::prop_assert_eq!(back, vec![("k".to_owned(), value.clone())]);
            let mut path = String::new();
            segment(&value, &mut path);
            proptest::prop_assert!(!path.contains(['/', '?', '#', '\\']));
            let back = percent_encoding::percent_decode_str(&path).decode_utf8_lossy().into_owned();
            proptest::prop_assert_eq!(back, value);
        }
    }
}
