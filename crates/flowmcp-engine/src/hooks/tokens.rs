//! Tokens that stand for server values while a handler runs, and what they become afterwards.
//!
//! A token is letters only, so no encoding that a handler applies changes it, and each is random per call. It is lower
//! case, because a host is; and it is made of letters that neither words nor numbers nor hexadecimal text put in a row, so
//! that a piece of one is known for what it is. A piece of up to four letters could still be anything: it goes unnoticed,
//! and says nothing about the value.

use std::{
    borrow::Cow,
    hash::{BuildHasher, RandomState},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use flowmcp_plugin::{DerivedEncoding, DerivedToken};

use crate::{
    ActiveTool,
    params::ServerParams,
    render::{Place, place_secret},
};

/// Length of every token in characters.
const LENGTH: usize = 26;
/// What tokens are made of: three random bits each.
const LETTERS: [u8; 8] = *b"bjkqvwxz";
/// A piece of a token that is as long as this did not get into any text by chance, whatever its case.
const TELLING_PIECE: usize = 8;
/// Nor did one of this length into a text up to so many bytes, as it is.
const SHORT_PIECE: usize = 5;
const SHORT_TEXT: usize = 4096;
/// Shortest derived token: a shorter one would stand for text that a request holds anyway.
const SHORTEST_DERIVED: usize = 32;

/// The tokens of one call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tokens {
    /// Server parameters that have a token, in the order of `texts`.
    keys: Vec<Box<str>>,
    texts: Vec<String>,
    derived: Vec<DerivedToken>,
}

/// What a token becomes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meaning<'p> {
    /// The value.
    Real(&'p ServerParams),
    /// `<KEY>`.
    Shown,
}

/// A token that came out of a handler in pieces.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenError {
    /// It was cut or changed.
    #[error(
        "it changed the placeholder of the server parameter {key}, so the value cannot be put in; \
         a pack with grants = [\"secret:{key}\"] gives its handlers the value itself"
    )]
    Changed { key: String },
    /// The host of the request holds one that only its path, query, headers and body may hold.
    #[error("it put encoded text with a server parameter into the address's host")]
    Host,
}

impl Tokens {
    /// Makes a token for every server parameter of a tool that its pack does not grant to handlers.
    pub(crate) fn of(tool: &ActiveTool) -> Tokens {
        let mut tokens = Tokens::default();
        for key in tool.server_params() {
            let granted =
                tool.plan.pack.grants.iter().any(|grant| grant.strip_prefix("secret:") == Some(key));
            if !granted && !tokens.keys.iter().any(|known| &**known == key) {
                tokens.keys.push(key.into());
                tokens.texts.push(random());
            }
        }
        tokens
    }

    /// The token of a server parameter, if it has one.
    pub(crate) fn of_key(&self, key: &str) -> Option<&str> {
        let index = self.keys.iter().position(|known| &**known == key)?;
        self.texts.get(index).map(String::as_str)
    }

    /// The tokens, for the sandbox.
    pub(crate) fn texts(&self) -> Cow<'_, [String]> {
        if self.derived.is_empty() {
            return Cow::Borrowed(&self.texts);
        }
        self.texts.iter().chain(self.derived.iter().map(|made| &made.token)).cloned().collect()
    }

    /// Takes the tokens that a hook made of these. They come from the handler: what is no token is left out.
    pub(crate) fn derive(&mut self, derived: Vec<DerivedToken>) {
        let is_token = |token: &DerivedToken| {
            token.token.len() >= SHORTEST_DERIVED
                && token.token.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        for token in derived.into_iter().filter(is_token) {
            if !self.derived.iter().any(|known| known.token == token.token) {
                self.derived.push(token);
            }
        }
    }

    /// The server parameters whose values a text stands for, through derived tokens too.
    pub(crate) fn keys_in(&self, text: &str) -> Vec<&str> {
        let shown = self.expand(text, Place::Header, Meaning::Shown).unwrap_or_default();
        self.keys.iter().map(|key| &**key).filter(|key| shown.contains(&format!("<{key}>"))).collect()
    }

    /// A text with its tokens replaced for the place where it stands.
    ///
    /// # Errors
    /// [`TokenError`] when a token came out in pieces.
    pub(crate) fn expand(
        &self,
        text: &str,
        place: Place,
        meaning: Meaning<'_>,
    ) -> Result<String, TokenError> {
        self.expand_up_to(text, place, meaning, self.derived.len())
    }

    /// A derived token may hold only those made before it, so this ends.
    fn expand_up_to(
        &self,
        text: &str,
        place: Place,
        meaning: Meaning<'_>,
        derived: usize,
    ) -> Result<String, TokenError> {
        if self.texts.is_empty() {
            return Ok(text.to_owned());
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((at, token)) = self.next(rest, derived) {
            let before = rest.get(..at).unwrap_or_default();
            self.check_whole(before)?;
            out.push_str(before);
            let length = match token {
                Found::Key(index) => {
                    self.put(index, place, meaning, &mut out);
                    self.texts.get(index).map_or(0, String::len)
                }
                Found::Derived(_) if place == Place::Origin => return Err(TokenError::Host),
                Found::Derived(index) => match self.derived.get(index) {
                    Some(made) => {
                        self.put_derived(made, index, place, meaning, &mut out)?;
                        made.token.len()
                    }
                    None => 0,
                },
            };
            rest = rest.get(at + length..).unwrap_or_default();
        }
        self.check_whole(rest)?;
        out.push_str(rest);
        Ok(out)
    }

    fn put(&self, index: usize, place: Place, meaning: Meaning<'_>, out: &mut String) {
        let key = self.keys.get(index).map(|key| &**key).unwrap_or_default();
        match meaning {
            Meaning::Real(params) => {
                if let Some(value) = params.get(key) {
                    place_secret(value.expose(), place, out);
                }
            }
            Meaning::Shown => {
                out.push('<');
                out.push_str(key);
                out.push('>');
            }
        }
    }

    fn put_derived(
        &self,
        made: &DerivedToken,
        index: usize,
        place: Place,
        meaning: Meaning<'_>,
        out: &mut String,
    ) -> Result<(), TokenError> {
        let text = String::from_utf8_lossy(&made.text);
        let inner = self.expand_up_to(&text, Place::Header, meaning, index)?;
        match meaning {
            Meaning::Shown => {
                out.push_str("<base64 of ");
                out.push_str(&inner);
                out.push('>');
            }
            Meaning::Real(_) => {
                let encoded = match made.encoding {
                    DerivedEncoding::Base64 => BASE64_STANDARD.encode(inner),
                    DerivedEncoding::Base64Url => BASE64_URL_SAFE_NO_PAD.encode(inner),
                };
                place_secret(&encoded, place, out);
            }
        }
        Ok(())
    }

    /// A text for people: tokens as `<KEY>`, pieces of tokens left as they are.
    pub(crate) fn show(&self, text: String) -> String {
        if self.texts.is_empty() || self.next(&text, self.derived.len()).is_none() {
            return text;
        }
        let mut shown = text;
        for made in &self.derived {
            shown = shown.replace(&made.token, "<base64 of a server parameter>");
        }
        for (key, token) in self.keys.iter().zip(&self.texts) {
            shown = shown.replace(token.as_str(), &format!("<{key}>"));
        }
        shown
    }

    /// The first token in a text.
    fn next(&self, text: &str, derived: usize) -> Option<(usize, Found)> {
        let keys = self.texts.iter().enumerate().map(|(index, token)| (token, Found::Key(index)));
        let made = self.derived.iter().take(derived).enumerate();
        let made = made.map(|(index, made)| (&made.token, Found::Derived(index)));
        keys.chain(made)
            .filter_map(|(token, found)| Some((text.find(token.as_str())?, found)))
            .min_by_key(|(at, _)| *at)
    }

    /// No piece of a token may stand in a text without tokens.
    fn check_whole(&self, text: &str) -> Result<(), TokenError> {
        if text.len() < SHORT_PIECE {
            return Ok(());
        }
        let folded = text.to_ascii_lowercase();
        for (key, token) in self.keys.iter().zip(&self.texts) {
            let holds = |text: &str, length: usize| {
                let pieces = token.as_bytes().windows(length);
                pieces.filter_map(|piece| std::str::from_utf8(piece).ok()).any(|piece| text.contains(piece))
            };
            if holds(&folded, TELLING_PIECE) || (text.len() <= SHORT_TEXT && holds(text, SHORT_PIECE)) {
                return Err(TokenError::Changed { key: key.to_string() });
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
enum Found {
    Key(usize),
    Derived(usize),
}

/// The hasher's keys come from the system's random numbers, once in a process; what it makes of a counter cannot be told
/// in advance.
fn random() -> String {
    static KEYS: OnceLock<RandomState> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let keys = KEYS.get_or_init(RandomState::new);
    let mut text = String::with_capacity(LENGTH);
    while text.len() < LENGTH {
        let mut bits = keys.hash_one(NEXT.fetch_add(1, Ordering::Relaxed));
        for _ in 0..u64::BITS / 3 {
            let letter = usize::try_from(bits % 8).ok().and_then(|index| LETTERS.get(index));
            text.extend(letter.copied().map(char::from));
            bits /= 8;
        }
    }
    text.truncate(LENGTH);
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bytes::Bytes;
    use flowmcp_plugin::Secret;

    use super::*;

    fn tokens() -> Tokens {
        Tokens { keys: vec!["KEY".into()], texts: vec![random()], derived: Vec::new() }
    }

    fn params() -> ServerParams {
        ServerParams::new(BTreeMap::from([("KEY".to_owned(), Secret::new("a b/\"+é"))]), BTreeMap::new())
    }

    #[test]
    fn a_token_becomes_its_value_for_the_place() {
        let (tokens, params) = (tokens(), params());
        let token = tokens.texts()[0].clone();
        for (place, expected) in [
            (Place::Path, "x/a%20b%2F%22+%C3%A9/y"),
            (Place::Query, "x/a+b%2F%22%2B%C3%A9/y"),
            (Place::Header, "x/a b/\"+é/y"),
            (Place::Json, "x/a b/\\\"+é/y"),
        ] {
            let text = format!("x/{token}/y");
            assert_eq!(
                tokens.expand(&text, place, Meaning::Real(&params)).as_deref(),
                Ok(expected),
                "{place:?}"
            );
            assert_eq!(tokens.expand(&text, place, Meaning::Shown).as_deref(), Ok("x/<KEY>/y"));
        }
    }

    #[test]
    fn a_cut_or_changed_token_is_an_error() {
        let (tokens, params) = (tokens(), params());
        let token = tokens.texts()[0].clone();
        for text in [
            token[..20].to_owned(),
            token[..5].to_owned(),
            format!("https://api.example.test/{}/x", &token[11..17]),
            token[4..].to_owned(),
            token.to_ascii_uppercase(),
            format!("{token}-{}", &token[..10]),
        ] {
            let error = tokens.expand(&text, Place::Query, Meaning::Real(&params)).unwrap_err();
            assert!(error.to_string().contains("secret:KEY"), "{error}");
        }
    }

    #[test]
    fn derived_tokens_are_encoded_after_the_value_is_put_in() {
        let (mut tokens, params) = (tokens(), params());
        let made = "0123456789abcdef0123456789abcdef".to_owned();
        tokens.derive(vec![
            DerivedToken {
                token: made.clone(),
                encoding: DerivedEncoding::Base64,
                text: Bytes::from(format!("u:{}", tokens.texts()[0])),
            },
            DerivedToken { token: "https".to_owned(), encoding: DerivedEncoding::Base64, text: Bytes::new() },
        ]);
        let text = format!("Basic {made} https");
        let expected = format!("Basic {} https", BASE64_STANDARD.encode("u:a b/\"+é"));
        assert_eq!(tokens.expand(&text, Place::Header, Meaning::Real(&params)), Ok(expected));
        assert_eq!(tokens.keys_in(&text), ["KEY"]);
        assert_eq!(tokens.expand(&text, Place::Origin, Meaning::Real(&params)), Err(TokenError::Host));
    }

    #[test]
    fn text_of_the_handlers_own_is_no_piece() {
        let (tokens, params) = (tokens(), params());
        let token = tokens.texts()[0].clone();
        for text in [
            "https://api.example.test/v1?www=xxl&q=jazz&id=725653563933458432",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            &token[..4],
        ] {
            assert_eq!(tokens.expand(text, Place::Query, Meaning::Real(&params)).as_deref(), Ok(text));
        }
    }

    #[test]
    fn tokens_are_letters_and_digits_and_never_the_same() {
        let all: std::collections::HashSet<String> = (0..1000).map(|_| random()).collect();
        assert_eq!(all.len(), 1000);
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        assert!(all.iter().all(|token| token.len() == LENGTH && token.chars().all(is_plain)));
    }
}
