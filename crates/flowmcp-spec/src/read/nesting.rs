//! Refuses text whose nesting would overflow the parser's stack. The parser recurses once for each open bracket and
//! once for each token of an unbroken expression (`!!!!x`, `a=>a=>a`, `1+1+1`), so both are counted before it runs.
//!
//! The count must never be too low, so strings, templates, comments and regular expressions are told apart exactly;
//! where that takes a full parser (a `/` behind a `}`), the text is refused.

use memchr::{memchr, memchr3, memmem};

use crate::{Diagnostic, Span, read::SYNTAX};

/// Open brackets at one place. Ordinary files stay below 40.
const MAX_BRACKETS: usize = 1_000;

/// Tokens since the last `,` or `;` of their bracket, summed over all open brackets. Ordinary files stay below 2,000.
const MAX_TOKENS: usize = 20_000;

/// Characters of the longest word with a meaning here, `instanceof`.
const LONGEST_WORD: usize = 10;

/// What the last token says about a following `/`.
#[derive(Clone, Copy, PartialEq)]
enum Slash {
    Divides,
    OpensRegex,
    Ambiguous,
}

/// One open bracket, or the file itself.
struct Level {
    /// Tokens since the last `,` or `;`.
    tokens: usize,
    /// `else` nests the statements on both sides of a `;`, so these are never forgotten.
    elses: usize,
    kind: Opened,
}

#[derive(Clone, Copy, PartialEq)]
enum Opened {
    Bracket,
    Condition,
    Brace,
    Placeholder,
}

pub(super) fn check(text: &str) -> Result<(), Box<Diagnostic>> {
    // Most files are too small to be dangerous, whatever their bytes mean: a token has one byte at least.
    if text.len() <= MAX_TOKENS && opening_brackets(text) < MAX_BRACKETS {
        return Ok(());
    }
    let mut scan = Scan {
        bytes: text.as_bytes(),
        at: 0,
        top: Level { tokens: 0, elses: 0, kind: Opened::Brace },
        below: Vec::new(),
        tokens: 0,
        slash: Slash::OpensRegex,
        condition: false,
    };
    if text.starts_with("#!") {
        scan.skip_past(b"\n");
    }
    while scan.at < scan.bytes.len() {
        let start = scan.at;
        let refused = if let Err(reason) = scan.token() {
            Some(reason)
        } else if scan.below.len() >= MAX_BRACKETS {
            Some("nests brackets too deeply to be read safely")
        } else if scan.tokens > MAX_TOKENS {
            Some("has an expression too long to be read safely")
        } else {
            None
        };
        if let Some(reason) = refused {
            let start = u32::try_from(start).unwrap_or(u32::MAX);
            let span = Span { start, end: start.saturating_add(1) };
            return Err(Box::new(Diagnostic::error(SYNTAX, "file", reason).at(span)));
        }
    }
    Ok(())
}

/// Counted in bytes, so that many are compared at once; a byte holds what a chunk can have.
fn opening_brackets(text: &str) -> usize {
    let opens = |byte: &u8| u8::from(*byte == b'(') | u8::from(*byte == b'[') | u8::from(*byte == b'{');
    let chunks = text.as_bytes().chunks(usize::from(u8::MAX));
    chunks.map(|chunk| usize::from(chunk.iter().map(opens).fold(0, u8::wrapping_add))).sum()
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    /// The innermost open bracket, or the file.
    top: Level,
    below: Vec<Level>,
    /// Sum of all levels' counters.
    tokens: usize,
    slash: Slash,
    /// Behind the last word comes a condition.
    condition: bool,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Takes one token, or one stretch of space or comment.
    fn token(&mut self) -> Result<(), &'static str> {
        let Some(byte) = self.peek(0) else { return Ok(()) };
        if byte.is_ascii_whitespace() {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
            return Ok(());
        }
        if byte == b'/' {
            match self.peek(1) {
                Some(b'/') => {
                    self.skip_past(b"\n");
                    return Ok(());
                }
                Some(b'*') => {
                    self.at += 2;
                    self.skip_past(b"*/");
                    return Ok(());
                }
                _ => {}
            }
        }
        let condition = std::mem::take(&mut self.condition);
        match byte {
            b'\'' | b'"' => {
                self.count();
                self.string(byte);
                self.slash = Slash::Divides;
            }
            b'`' => {
                self.count();
                self.at += 1;
                self.template();
            }
            b'(' => self.open(if condition { Opened::Condition } else { Opened::Bracket }),
            b'[' => self.open(Opened::Bracket),
            b'{' => self.open(Opened::Brace),
            b')' | b']' | b'}' => self.close(),
            b',' | b';' => {
                self.at += 1;
                self.slash = Slash::OpensRegex;
                self.tokens -= self.top.tokens - self.top.elses;
                self.top.tokens = self.top.elses;
            }
            b'/' => match self.slash {
                Slash::Ambiguous => {
                    return Err(
                        "has a `/` that cannot be told from a regular expression: put it in parentheses",
                    );
                }
                Slash::OpensRegex => {
                    self.count();
                    self.regex();
                    self.slash = Slash::Divides;
                }
                Slash::Divides => self.punctuation(),
            },
            byte if is_word(byte) => self.word(),
            _ => self.punctuation(),
        }
        Ok(())
    }

    fn count(&mut self) {
        self.tokens += 1;
        self.top.tokens += 1;
    }

    fn punctuation(&mut self) {
        self.count();
        // Behind `++` and `--` comes an operator, or the operand of a prefix, which is never a regular expression.
        let doubled = matches!(self.peek(0), Some(b'+' | b'-')) && self.peek(0) == self.peek(1);
        self.slash = if doubled { Slash::Divides } else { Slash::OpensRegex };
        self.at += if doubled { 2 } else { 1 };
    }

    fn word(&mut self) {
        self.count();
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let number = rest.first().is_some_and(u8::is_ascii_digit);
        let ends = |byte: &u8| !(is_word(*byte) || (number && *byte == b'.'));
        let word = rest.get(..rest.iter().position(ends).unwrap_or(rest.len())).unwrap_or_default();
        self.at += word.len();
        let is_property = start.checked_sub(1).and_then(|before| self.bytes.get(before)) == Some(&b'.');
        self.slash = Slash::Divides;
        if is_property || word.len() > LONGEST_WORD {
            return;
        }
        match word {
            // Behind these a `/` opens a regular expression.
            b"return" | b"typeof" | b"instanceof" | b"in" | b"new" | b"delete" | b"void" | b"throw"
            | b"case" | b"do" | b"yield" | b"default" | b"extends" | b"export" => {
                self.slash = Slash::OpensRegex;
            }
            b"else" => {
                self.slash = Slash::OpensRegex;
                self.top.elses += 1;
            }
            // `for await (…)`
            b"await" => {
                self.slash = Slash::OpensRegex;
                self.condition = true;
            }
            // A statement follows their parentheses, which may begin with a regular expression.
            b"if" | b"while" | b"for" | b"with" => self.condition = true,
            b"of" | b"let" | b"async" | b"get" | b"set" | b"static" => self.slash = Slash::Ambiguous,
            _ => {}
        }
    }

    fn open(&mut self, kind: Opened) {
        // An opening bracket is also a token of the level it stands in: `a()()()`.
        self.count();
        let inner = Level { tokens: 0, elses: 0, kind };
        self.below.push(std::mem::replace(&mut self.top, inner));
        self.at += 1;
        self.slash = Slash::OpensRegex;
    }

    fn close(&mut self) {
        self.at += 1;
        let closed = self.below.pop().map(|outer| std::mem::replace(&mut self.top, outer));
        self.tokens -= closed.as_ref().map_or(0, |level| level.tokens);
        match closed.map(|level| level.kind) {
            Some(Opened::Placeholder) => self.template(),
            Some(Opened::Condition) => self.slash = Slash::OpensRegex,
            Some(Opened::Brace) | None => self.slash = Slash::Ambiguous,
            Some(Opened::Bracket) => self.slash = Slash::Divides,
        }
    }

    /// Moves past `needle`, or to the end.
    fn skip_past(&mut self, needle: &[u8]) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let found = match needle {
            [byte] => memchr(*byte, rest),
            needle => memmem::find(rest, needle),
        };
        self.at = found.map_or(self.bytes.len(), |offset| self.at + offset + needle.len());
    }

    /// Moves past the next of three bytes and says which it was.
    fn skip_past_any(&mut self, one: u8, two: u8, three: u8) -> Option<u8> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let found = memchr3(one, two, three, rest);
        self.at += found.map_or(rest.len(), |offset| offset + 1);
        rest.get(found?).copied()
    }

    /// A string that its line's end cuts off is a syntax error; what follows is counted as code.
    fn string(&mut self, quote: u8) {
        self.at += 1;
        while self.skip_past_any(quote, b'\\', b'\n') == Some(b'\\') {
            self.at += 1;
        }
    }

    /// The text of a template up to its end or its next placeholder.
    fn template(&mut self) {
        while let Some(byte) = self.skip_past_any(b'`', b'\\', b'$') {
            match byte {
                b'\\' => self.at += 1,
                b'`' => {
                    self.slash = Slash::Divides;
                    return;
                }
                _ if self.peek(0) == Some(b'{') => {
                    self.open(Opened::Placeholder);
                    return;
                }
                _ => {}
            }
        }
    }

    fn regex(&mut self) {
        self.at += 1;
        let mut in_class = false;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\n' => return,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                _ => {}
            }
        }
        while self.peek(0).is_some_and(is_word) {
            self.at += 1;
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Option<String> {
        check(text).err().map(|diagnostic| diagnostic.message)
    }

    #[test]
    fn ordinary_code_passes() {
        for text in [
            "export const main = { a: [1, -2, /* ( */ '(' ], b: `(${ f('`') }` } // (((",
            "const a = (b + c) / 2 / d; if (x) /[/*(]/.test(y); for (const k of [1]) k / 2",
            "const r = /[(/*'\"]/g, s = x => /'/.test(x), n = 1./2, t = a++ / b / '('.length",
            "#!/usr/bin/env node (((\nexport const main = {}",
        ] {
            assert_eq!(refused(text), None, "{text}");
            // Each scan must also end at depth one: an opening bracket behind the text is the first that stays open.
            assert_eq!(refused(&format!("{text}\n{}", "[".repeat(MAX_BRACKETS - 1))), None, "{text}");
            assert!(refused(&format!("{text}\n{}", "[".repeat(MAX_BRACKETS))).is_some(), "{text}");
        }
    }

    #[test]
    fn nesting_cannot_hide() {
        let deep = "[".repeat(2_000);
        let long = "!".repeat(30_000);
        for hidden in [
            deep.clone(),
            long.clone(),
            "[\")\",".repeat(2_000),
            "x = /[/*]/ + ".to_owned() + &long,
            "x = 1 / '/' / ".to_owned() + &long,
            "if (a) /[//]/.x + ".to_owned() + &long,
            "1+','+".repeat(10_000),
            "1+`,`+".repeat(10_000),
            "1+/,/+".repeat(10_000),
            "if(a)b;else ".repeat(30_000),
            "`${".repeat(2_000),
            "a=>".repeat(10_000),
        ] {
            assert!(refused(&hidden).is_some(), "{}", &hidden[..40]);
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_refused_where_it_could_hide_something() {
        for text in ["x = {} /[/*]/ 2", "for (a of /[/*]/) b"] {
            assert!(refused(&format!("{text}{}", " ".repeat(MAX_TOKENS))).is_some(), "{text}");
            assert_eq!(refused(text), None, "{text}");
        }
    }
}
