//! Takes server values out of everything that leaves the process: results, errors and log lines.
//!
//! An upstream may echo a key as it is, in a link, inside JSON or as part of a basic-auth header. So every value is
//! searched for in all the forms of `redact/forms.rs`, in one Aho-Corasick pass (semantics.md, section 7).

mod forms;

use std::{borrow::Cow, collections::HashSet, fmt, sync::Arc};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Match, MatchKind};
use bytes::Bytes;
use flowmcp_plugin::Secret;

use forms::forms;

/// Shortest value that is replaced, in characters: shorter ones also occur by chance and would garble results.
pub const SHORTEST_REDACTED: usize = 8;

/// Below this sum of pattern bytes the faster automaton is affordable (about 0.5 KiB per byte).
const DENSE_AUTOMATON_BYTES: usize = 16 << 10;

/// Replaces server values by `<NAME>`. Cheap to clone.
#[derive(Clone, Default)]
pub struct Redactor {
    automaton: Option<AhoCorasick>,
    /// What replaces the pattern of the same index.
    replacements: Arc<[Arc<str>]>,
}

/// `Debug` shows how many forms are searched for, none of them.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("forms", &self.replacements.len()).finish()
    }
}

impl Redactor {
    /// Prepares the search for all values of at least [`SHORTEST_REDACTED`] characters; empty values do not count.
    /// Where two names have the same value, the first is shown.
    ///
    /// # Panics
    /// When the forms of all values together exceed 2 GiB.
    pub fn new<'a>(values: impl IntoIterator<Item = (&'a str, &'a Secret)>) -> Redactor {
        let mut patterns: Vec<String> = Vec::new();
        let mut replacements: Vec<Arc<str>> = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        for (name, secret) in values {
            // Header values lose surrounding space on the way, so an echo lacks it too.
            let value = secret.expose().trim();
            if value.is_empty() {
                continue;
            }
            if value.chars().count() < SHORTEST_REDACTED {
                continue;
            }
            let replacement: Arc<str> = format!("<{name}>").into();
            for form in forms(value) {
                if seen.insert(form.clone()) {
                    patterns.push(form);
                    replacements.push(Arc::clone(&replacement));
                }
            }
        }
        Redactor { automaton: automaton(&patterns), replacements: replacements.into() }
    }

    /// Whether no value is searched for.
    pub fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }

    /// The text with every known form of every value replaced; borrowed when there is none.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(matches) = self.matches(text.as_bytes()) else { return Cow::Borrowed(text) };
        let mut clean = String::with_capacity(text.len());
        let mut copied = 0;
        for found in matches {
            // Patterns are UTF-8 and so is the text: a match never starts or ends inside a character.
            clean.push_str(text.get(copied..found.start()).unwrap_or_default());
            clean.push_str(self.replacement(found));
            copied = found.end();
        }
        clean.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(clean)
    }

    /// Like [`Redactor::redact`] for a text that is owned already.
    pub fn redact_owned(&self, text: String) -> String {
        match self.redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        }
    }

    /// Like [`Redactor::redact`] for bytes of any kind; the same buffer when nothing matches.
    pub fn redact_bytes(&self, bytes: &Bytes) -> Bytes {
        let Some(matches) = self.matches(bytes) else { return bytes.clone() };
        let mut clean = Vec::with_capacity(bytes.len());
        let mut copied = 0;
        for found in matches {
            clean.extend_from_slice(bytes.get(copied..found.start()).unwrap_or_default());
            clean.extend_from_slice(self.replacement(found).as_bytes());
            copied = found.end();
        }
        clean.extend_from_slice(bytes.get(copied..).unwrap_or_default());
        clean.into()
    }

    /// All matches from left to right, or `None` when there is not even one.
    fn matches<'s>(&'s self, text: &'s [u8]) -> Option<impl Iterator<Item = Match> + 's> {
        let mut matches = self.automaton.as_ref()?.find_iter(text).peekable();
        matches.peek()?;
        Some(matches)
    }

    fn replacement(&self, found: Match) -> &str {
        self.replacements.get(found.pattern().as_usize()).map_or("<secret>", |name| name)
    }
}

fn automaton(patterns: &[String]) -> Option<AhoCorasick> {
    if patterns.is_empty() {
        return None;
    }
    let dense = patterns.iter().map(String::len).sum::<usize>() <= DENSE_AUTOMATON_BYTES;
    let kind = if dense { AhoCorasickKind::DFA } else { AhoCorasickKind::ContiguousNFA };
    let built =
        AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).kind(Some(kind)).build(patterns);
    Some(built.expect(
        "an automaton only fails above 2^31 states, and values come from an environment or an env file",
    ))
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose as base64_engine};
    use percent_encoding::percent_decode_str;
    use proptest::prelude::*;

    use super::*;

    fn redactor(values: &[(&str, &str)]) -> Redactor {
        let secrets: Vec<_> = values.iter().map(|(name, value)| (*name, Secret::new(*value))).collect();
        Redactor::new(secrets.iter().map(|(name, secret)| (*name, secret)))
    }

    fn check(secret: &str, text: &str, expected: &str) {
        let redactor = redactor(&[("KEY", secret)]);
        assert_eq!(redactor.redact(text), expected, "{secret:?} in {text:?}");
        assert_eq!(redactor.redact_bytes(&Bytes::from(text.to_owned())), expected.as_bytes());
    }

    #[test]
    fn every_form_of_a_value_is_replaced() {
        let key = "a+b/c==é";
        check(key, "raw a+b/c==é.", "raw <KEY>.");
        check(key, "/q?k=a%2Bb%2Fc%3D%3D%C3%A9&x=1", "/q?k=<KEY>&x=1");
        check(key, "/q?k=a%2bb%2fc%3d%3d%c3%a9&x=1", "/q?k=<KEY>&x=1");
        check(key, "/p/a+b%2Fc==%C3%A9/x", "/p/<KEY>/x");
        check(key, "?u=%2Fq%3Fk%3Da%252Bb%252Fc%253D%253D%25C3%25A9", "?u=%2Fq%3Fk%3D<KEY>");
        check(key, r#"{"k":"a+b\/c==\u00e9"}"#, r#"{"k":"<KEY>"}"#);
        check(key, r#"{"k":"a\u002Bb/c==\u00E9"}"#, r#"{"k":"<KEY>"}"#);
        check("pass word!'x", "q=pass+word%21%27x", "q=<KEY>");
        check("pass word!'x", "q=pass%20word!'x", "q=<KEY>");
        check("a\"b\\cdefg", r#"{"k":"a\"b\\cdefg"}"#, r#"{"k":"<KEY>"}"#);
        check("a&b<c>'d'", "<p>a&amp;b&lt;c&gt;&#39;d&#39;</p>", "<p><KEY></p>");
    }

    #[test]
    fn base64_is_found_alone_and_at_all_three_alignments() {
        let key = "s3cr3t-k3y";
        for prefix in ["", "u", "us", "usr:"] {
            for suffix in ["", "x", "xy", "xyz"] {
                let encoded = base64_engine::STANDARD.encode(format!("{prefix}{key}{suffix}"));
                let clean = redactor(&[("KEY", key)]).redact(&encoded).into_owned();
                assert!(clean.contains("<KEY>"), "{prefix}{key}{suffix}: {encoded} became {clean}");
                assert!(
                    clean.len() <= prefix.len() * 2 + suffix.len() * 2 + 9,
                    "much of {encoded} is left: {clean}"
                );
            }
        }
        check(key, "Basic czNjcjN0LWszeQ==", "Basic <KEY>");
        check("??>>??>>??", r#"{"a":"Pz8+Pj8\/Pj4\/Pw=="}"#, r#"{"a":"<KEY>"}"#);
    }

    #[test]
    fn the_longest_value_wins_and_short_ones_stay() {
        let redactor = redactor(&[
            ("SHORT", "1234567"),
            ("EMPTY", ""),
            ("A", "abcdefgh"),
            ("B", "abcdefgh-2"),
            ("C", "abcdefgh"),
        ]);
        assert_eq!(redactor.redact("abcdefgh abcdefgh-2 1234567"), "<A> <B> 1234567");
        assert!(!format!("{redactor:?}").contains("abcdefgh"));
    }

    #[test]
    fn nothing_is_copied_where_nothing_matches() {
        let body = Bytes::from_static(b"\x89PNG\0 nothing here");
        for redactor in [redactor(&[]), redactor(&[("KEY", "s3cr3t-k3y")])] {
            assert_eq!(redactor.redact_bytes(&body).as_ptr(), body.as_ptr());
            assert!(matches!(redactor.redact("plain text"), Cow::Borrowed("plain text")));
        }
        assert!(redactor(&[("SHORT", "1234567")]).is_empty());
    }

    /// Surrounding space is not part of a value that is searched for.
    #[test]
    fn surrounding_space_does_not_hide_a_value() {
        check(" s3cr3t-k3y\n", "key=s3cr3t-k3y", "key=<KEY>");
    }

    /// Whether base64 that stands anywhere in the text decodes to something that holds the secret.
    fn decodes_to(text: &str, secret: &str) -> bool {
        let lenient = base64_engine::GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent);
        [base64::alphabet::STANDARD, base64::alphabet::URL_SAFE].into_iter().any(|alphabet| {
            let engine = base64_engine::GeneralPurpose::new(&alphabet, lenient);
            text.split(|c| !alphabet.as_str().contains(c)).any(|run| {
                (0..4.min(run.len())).any(|skip| {
                    let run = &run[skip..];
                    let whole = if run.len() % 4 == 1 { &run[..run.len() - 1] } else { run };
                    engine.decode(whole).is_ok_and(|bytes| {
                        bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
                    })
                })
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn no_form_of_a_random_secret_survives(
            secret in r#"[!-~]{8,24}|[ -~é€😀"\\/+&<>']{8,24}"#,
            before in r"\PC{0,12}",
            after in r"\PC{0,12}",
        ) {
            let secret = secret.trim();
            prop_assume!(secret.chars().count() >= SHORTEST_REDACTED);
            let component = forms::percent_component(secret);
            let form: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            let json = serde_json::to_string(secret).unwrap();
            let whole = format!("{before}{secret}{after}");
            let encoded = [
                secret.to_owned(),
                component.clone(),
                forms::lower_hex(&component),
                form.clone(),
                forms::lower_hex(&form),
                json[1..json.len() - 1].to_owned(),
                base64_engine::STANDARD.encode(secret),
                base64_engine::URL_SAFE_NO_PAD.encode(secret),
                base64_engine::STANDARD.encode(&whole),
                base64_engine::URL_SAFE.encode(&whole),
            ];
            let redactor = redactor(&[("KEY", secret), ("OTHER", "unrelated-value")]);
            for encoded in encoded {
                let text = format!("{before} {encoded} {after}");
                let clean = redactor.redact(&text);
                prop_assert!(clean.contains("<KEY>"), "{text:?} stayed {clean:?}");
                prop_assert!(!clean.contains(&encoded), "{encoded:?} is left in {clean:?}");
                prop_assert!(!decodes_to(&clean, secret), "{clean:?} still decodes to {secret:?}");
                let decoded = percent_decode_str(&clean).decode_utf8_lossy();
                prop_assert!(!decoded.contains(secret), "{clean:?} still decodes to {secret:?}");
                prop_assert_eq!(redactor.redact_bytes(&Bytes::from(text.clone())), clean.as_bytes());
            }
        }
    }
}
