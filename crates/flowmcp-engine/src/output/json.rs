//! JSON as text: checked and made compact without being parsed into values, so digits, key order and escapes stay.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// Checks that a text is one JSON value. Uses no stack for nesting, so any depth is safe here.
///
/// # Errors
/// What is wrong, with line and column.
pub(super) fn check(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<&RawValue>(text).map(drop)
}

/// Removes the space between tokens of a checked JSON text; borrowed when there is none.
pub(super) fn compact(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut kept = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b' ' | b'\t' | b'\n' | b'\r' => {
                if kept.capacity() == 0 {
                    kept.reserve(text.len());
                }
                kept.push_str(text.get(copied..at).unwrap_or_default());
                at += 1;
                while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
                    at += 1;
                }
                copied = at;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(kept)
}

/// As [`compact`], for a text of one's own.
pub(super) fn compacted(text: String) -> String {
    match compact(&text) {
        Cow::Owned(compact) => compact,
        Cow::Borrowed(_) => text,
    }
}

/// Index behind the string that starts at `start`.
pub(super) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(rest) = bytes.get(at..) {
        let Some(found) = memchr::memchr2(b'"', b'\\', rest) else { break };
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

/// Deepest nesting of a checked JSON text.
pub(super) fn depth(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut open, mut deepest, mut at) = (0usize, 0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'[' | b'{' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// The text with every surrogate escape that has no partner replaced by `\ufffd`: valid by the grammar of JSON, but most
/// parsers refuse it.
pub(super) fn paired_surrogates(text: &str) -> Cow<'_, str> {
    let mut fixed = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let Some(unit) = escaped_unit(text, at) else {
            at += 2;
            continue;
        };
        match unit {
            0xd800..=0xdbff if matches!(escaped_unit(text, at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            0xd800..=0xdfff => {
                fixed.push_str(text.get(copied..at).unwrap_or_default());
                fixed.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            _ => at += 6,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    fixed.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(fixed)
}

fn escaped_unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn compact_touches_space_between_tokens_only() {
        for (text, expected) in [
            (
                " { \"a b\" : [ 1.10 , 1e-7 ] ,\r\n\t\"c\\\" d\" : \"\\\\\" } \n",
                r#"{"a b":[1.10,1e-7],"c\" d":"\\"}"#,
            ),
            (r#"{"z":1,"a":725653563933458432}"#, r#"{"z":1,"a":725653563933458432}"#),
            (" 12 ", "12"),
            (r#"" x ""#, r#"" x ""#),
        ] {
            check(text).unwrap();
            assert_eq!(compact(text), expected);
        }
        assert!(matches!(compact(r#"{"a":" b "}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn deep_nesting_costs_no_stack() {
        let deep = "[".repeat(1 << 20);
        assert!(check(&deep).is_err());
        let closed = deep.clone() + &"]".repeat(1 << 20);
        check(&closed).unwrap();
        assert_eq!(depth(&closed), 1 << 20);
        assert_eq!(depth(r#"{"[[[":[1,{"a":"]"}]}"#), 3);
    }

    #[test]
    fn lone_surrogates() {
        for (text, expected) in [
            (r#"{"a":"\ud83d"}"#, r#"{"a":"\ufffd"}"#),
            (r#"["\ude00\ud83d\uD83D\uDE00\ud83dx"]"#, r#"["\ufffd\ufffd\uD83D\uDE00\ufffdx"]"#),
            (r#"["\\ud83d","\n\u00e9é"]"#, r#"["\\ud83d","\n\u00e9é"]"#),
        ] {
            check(text).unwrap();
            assert_eq!(paired_surrogates(text), expected);
            serde_json::from_str::<serde_json::Value>(expected).unwrap();
        }
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(serde_json::Value::from),
            any::<bool>().prop_map(serde_json::Value::from),
            "[ \\PC\"\\\\\n]{0,8}".prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                proptest::collection::vec(("[ \"\\\\a]{0,4}", inner), 0..4)
                    .prop_map(|pairs| { serde_json::Value::Object(pairs.into_iter().collect()) }),
            ]
        })
    }

    proptest! {
        #[test]
        fn pretty_text_becomes_what_a_writer_gives(value in value()) {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(compact(&pretty), serde_json::to_string(&value).unwrap());
        }

        #[test]
        fn any_text_is_handled(text in "[\\[\\]{}\"\\\\ua-f0-9 ,:é]{0,40}") {
            let _ = (check(&text).is_ok(), compact(&text), depth(&text), paired_surrogates(&text));
        }
    }
}
