//! Regular expressions with JavaScript's meaning, on engines that cannot be made to run for ever.

use std::{cell::RefCell, fmt};

/// A pattern of `regex(…)`, compiled.
#[derive(Clone)]
pub struct Pattern {
    source: Box<str>,
    engine: Engine,
}

#[derive(Clone)]
enum Engine {
    /// Linear time.
    Automaton(regex::Regex),
    /// Look-around and back-references, with a limit on its steps.
    Backtracking(Box<fancy_regex::Regex>),
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternFault {
    /// A flag that has no meaning here.
    #[error("the flag {0:?} is not supported (i, m, s, u and g are)")]
    Flag(char),
    /// Not a pattern.
    #[error("{0}")]
    Syntax(String),
}

/// Steps of the backtracking engine; its error then counts as no match.
const MAX_BACKTRACKS: usize = 100_000;
/// Bytes that a compiled pattern may take.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// Patterns that a thread keeps: compiling takes far longer than finding one, and most schemas of a catalogue share
/// a few (an address, a hash).
const MAX_RECENT: usize = 32;

thread_local! {
    static RECENT: RefCell<Vec<Pattern>> = const { RefCell::new(Vec::new()) };
}

/// What JavaScript's `\s` matches.
const SPACE: &str =
    r"\t\n\x0B\x0C\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";

impl Pattern {
    /// Compiles `^a+$` or `/^a+$/flags`.
    ///
    /// # Errors
    /// [`PatternFault`] when it is no pattern or needs what is not supported.
    pub fn new(text: &str) -> Result<Self, PatternFault> {
        let text = text.trim();
        RECENT.with_borrow_mut(|recent| {
            if let Some(known) = recent.iter().find(|known| &*known.source == text) {
                return Ok(known.clone());
            }
            let pattern = Self::compile(text)?;
            if recent.len() == MAX_RECENT {
                recent.clear();
            }
            recent.push(pattern.clone());
            Ok(pattern)
        })
    }

    fn compile(text: &str) -> Result<Self, PatternFault> {
        let (source, flags) = match text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/')) {
            Some((source, flags)) if flags.chars().all(|flag| flag.is_ascii_alphabetic()) => (source, flags),
            _ => (text, ""),
        };
        if let Some(unknown) = flags.chars().find(|flag| !"imsugy".contains(*flag)) {
            return Err(PatternFault::Flag(unknown));
        }
        let has = |flag| flags.contains(flag);
        let mut translated = String::from("(?");
        translated.push_str(if has('i') { "i" } else { "" });
        translated.push_str(if has('m') { "m" } else { "" });
        translated = if translated == "(?" { String::new() } else { translated + ")" };
        translated.push_str(&Translation::of(source, has('m'), has('s'), has('u'))?);
        let automaton = regex::RegexBuilder::new(&translated).size_limit(MAX_COMPILED_BYTES).build();
        let engine = match automaton {
            Ok(regex) => Engine::Automaton(regex),
            Err(_) => {
                let regex = fancy_regex::RegexBuilder::new(&translated)
                    .backtrack_limit(MAX_BACKTRACKS)
                    .delegate_size_limit(MAX_COMPILED_BYTES)
                    .build()
                    .map_err(|error| PatternFault::Syntax(first_line(&error.to_string())))?;
                Engine::Backtracking(Box::new(regex))
            }
        };
        Ok(Pattern { source: text.into(), engine })
    }

    /// The pattern as the schema writes it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether some part of the text matches, as JavaScript's `test` does.
    pub fn is_match(&self, text: &str) -> bool {
        match &self.engine {
            Engine::Automaton(regex) => regex.is_match(text),
            Engine::Backtracking(regex) => regex.is_match(text).unwrap_or(false),
        }
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.source)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

fn first_line(text: &str) -> String {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(text).trim().to_owned()
}

/// Rewrites JavaScript's syntax to that of the `regex` crate where the two differ.
struct Translation<'s> {
    rest: std::iter::Peekable<std::str::Chars<'s>>,
    out: String,
}

impl<'s> Translation<'s> {
    fn of(source: &'s str, multiline: bool, dot_all: bool, unicode: bool) -> Result<String, PatternFault> {
        let mut this =
            Translation { rest: source.chars().peekable(), out: String::with_capacity(source.len()) };
        // A bracket or brace that opens nothing is a literal in JavaScript.
        while let Some(character) = this.rest.next() {
            match character {
                '\\' => this.escape(false)?,
                '[' => this.class()?,
                '.' if dot_all => this.out.push_str("(?s:.)"),
                '.' => this.out.push_str(r"[^\n\r\u{2028}\u{2029}]"),
                '$' if multiline => this.out.push('$'),
                '$' => this.out.push_str(r"\z"),
                '{' if this.is_quantifier() => this.out.push('{'),
                '{' if unicode => return Err(PatternFault::Syntax("a lone `{` needs a backslash".into())),
                '{' => this.out.push_str(r"\{"),
                ']' => this.out.push_str(r"\]"),
                '}' => this.closing_brace(),
                other => this.out.push(other),
            }
        }
        Ok(this.out)
    }

    /// Whether `{` is followed by `n}`, `n,}` or `n,m}`.
    fn is_quantifier(&self) -> bool {
        let mut ahead = self.rest.clone();
        let mut digits = 0;
        let mut commas = 0;
        loop {
            match ahead.next() {
                Some('0'..='9') => digits += 1,
                Some(',') if digits > 0 && commas == 0 => commas += 1,
                Some('}') => return digits > 0,
                _ => return false,
            }
        }
    }

    fn closing_brace(&mut self) {
        // The brace of a quantifier follows a digit or comma that follows an unescaped opening brace.
        let open = self.out.rfind('{').filter(|at| !self.out[..*at].ends_with('\\'));
        let inside = open.and_then(|at| self.out.get(at + 1..));
        let closes = inside
            .is_some_and(|text| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == ','));
        self.out.push_str(if closes { "}" } else { r"\}" });
    }

    fn escape(&mut self, in_class: bool) -> Result<(), PatternFault> {
        let Some(character) = self.rest.next() else {
            return Err(PatternFault::Syntax("ends with a lone backslash".into()));
        };
        let push =
            |out: &mut String, plain: &str, class: &str| out.push_str(if in_class { class } else { plain });
        match character {
            'd' => push(&mut self.out, "[0-9]", "0-9"),
            'D' => self.out.push_str("[^0-9]"),
            'w' => push(&mut self.out, "[A-Za-z0-9_]", "A-Za-z0-9_"),
            'W' => self.out.push_str("[^A-Za-z0-9_]"),
            's' if in_class => self.out.push_str(SPACE),
            's' => {
                self.out.push('[');
                self.out.push_str(SPACE);
                self.out.push(']');
            }
            'S' => {
                self.out.push_str("[^");
                self.out.push_str(SPACE);
                self.out.push(']');
            }
            'b' if in_class => self.out.push_str(r"\x08"),
            'b' => self.out.push_str(r"(?-u:\b)"),
            'B' if !in_class => self.out.push_str(r"(?-u:\B)"),
            't' | 'n' | 'r' => {
                self.out.push('\\');
                self.out.push(character);
            }
            'v' => self.out.push_str(r"\x0B"),
            'f' => self.out.push_str(r"\x0C"),
            '0' => self.out.push_str(r"\x00"),
            '1'..='9' if !in_class => {
                self.out.push('\\');
                self.out.push(character);
            }
            'k' | 'p' | 'P' if !in_class || character != 'k' => {
                self.out.push('\\');
                self.out.push(character);
                // `\k<name>` and `\p{Name}` are the same in both syntaxes, braces included.
                while let Some(next) = self.rest.next_if(|next| *next != '>' && *next != '}') {
                    self.out.push(next);
                }
                if let Some(end) = self.rest.next() {
                    self.out.push(end);
                }
            }
            'x' => self.code_point(2)?,
            'u' if self.rest.peek() == Some(&'{') => {
                self.out.push_str(r"\u");
                for next in self.rest.by_ref() {
                    self.out.push(next);
                    if next == '}' {
                        break;
                    }
                }
            }
            'u' => self.code_point(4)?,
            'c' => {
                let letter = self.rest.next().filter(char::is_ascii_alphabetic);
                let Some(letter) = letter else {
                    return Err(PatternFault::Syntax("`\\c` needs a letter".into()));
                };
                self.out.push_str(&format!(r"\x{:02X}", (letter as u32) % 32));
            }
            other => self.literal(other),
        }
        Ok(())
    }

    fn literal(&mut self, character: char) {
        if character.is_ascii_punctuation() {
            self.out.push('\\');
        }
        self.out.push(character);
    }

    fn code_point(&mut self, digits: usize) -> Result<(), PatternFault> {
        let hex: String = self.rest.by_ref().take(digits).collect();
        let point = u32::from_str_radix(&hex, 16).ok().filter(|_| hex.len() == digits);
        match point.map(|point| (point, char::from_u32(point))) {
            Some((point, Some(_))) => {
                self.out.push_str(&format!(r"\x{{{point:X}}}"));
                Ok(())
            }
            _ => Err(PatternFault::Syntax(format!(
                "`\\{}{hex}` names no character",
                if digits == 2 { 'x' } else { 'u' }
            ))),
        }
    }

    fn class(&mut self) -> Result<(), PatternFault> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        if self.rest.next_if_eq(&']').is_some() {
            // `[]` matches nothing and `[^]` everything.
            let all = self.out.ends_with('^');
            self.out.truncate(self.out.len() - if all { 2 } else { 1 });
            self.out.push_str(if all { r"(?s:.)" } else { r"[^\x00-\x{10FFFF}]" });
            return Ok(());
        }
        let mut previous_is_set = false;
        loop {
            let Some(character) = self.rest.next() else {
                return Err(PatternFault::Syntax("a character class `[` is not closed".into()));
            };
            let mut is_set = false;
            match character {
                ']' => {
                    self.out.push(']');
                    return Ok(());
                }
                '\\' => {
                    is_set = matches!(self.rest.peek(), Some('d' | 'w' | 's' | 'D' | 'W' | 'S' | 'p' | 'P'));
                    self.escape(true)?;
                }
                // Behind or before a set (`[\w-.]`) and at either end a hyphen is itself.
                '-' => {
                    let next = self.rest.clone().take(2).collect::<String>();
                    let next_is_set = matches!(next.as_str(), "\\d" | "\\w" | "\\s" | "\\D" | "\\W" | "\\S");
                    let at_end = next.is_empty() || next.starts_with(']');
                    let at_start = self.out.ends_with('[') || self.out.ends_with("[^");
                    let literal = previous_is_set || next_is_set || at_end || at_start;
                    self.out.push_str(if literal { r"\-" } else { "-" });
                    // `[a-b-c]`: the second hyphen follows a finished range.
                    if !literal {
                        match self.rest.next() {
                            Some('\\') => self.escape(true)?,
                            Some(end) => self.class_literal(end),
                            None => {}
                        }
                        is_set = true;
                    }
                }
                other => self.class_literal(other),
            }
            previous_is_set = is_set;
        }
    }

    fn class_literal(&mut self, character: char) {
        if matches!(character, '[' | ']' | '&' | '~' | '^' | '-') {
            self.out.push('\\');
        }
        self.out.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_what_javascript_matches() {
        // Expected values are those of Node's RegExp.prototype.test.
        for (pattern, text, expected) in [
            ("^0x[a-fA-F0-9]{40}$", "0x0000000000000000000000000000000000000000", true),
            ("^a$", "a\n", false),
            ("^\\d+$", "٣", false),
            ("^\\w+$", "é", false),
            ("^[A-Za-z0-9-_,]+$", "a-_,9", true),
            ("^[\\w-.]+$", "a-.", true),
            ("^[a-c-e]+$", "a-e", true),
            ("^[a-c-e]+$", "d", false),
            ("^[[a]+$", "[a", true),
            ("^[a&&b]$", "&", true),
            ("^a{$", "a{", true),
            ("^a{,2}$", "a{,2}", true),
            ("^x{2}}$", "xx}", true),
            ("^\\/a\\-b\\_c$", "/a-b_c", true),
            ("/^nct\\d{2}$/i", "NCT12", true),
            ("^\\u00e9\\x41$", "éA", true),
            ("^(?=.*\\d)[a-z\\d]+$", "abc1", true),
            ("^(?=.*\\d)[a-z\\d]+$", "abc", false),
            ("^(a)\\1$", "aa", true),
            ("^.$", "\u{2028}", false),
            ("/^.$/s", "\n", true),
            ("^[^]$", "\n", true),
            ("^\\s$", "\u{feff}", true),
            ("^(?<year>\\d{4})$", "2026", true),
            ("b$|^c", "ab", true),
            ("/^b$/m", "a\nb", true),
        ] {
            let compiled = Pattern::new(pattern).unwrap_or_else(|fault| panic!("{pattern}: {fault}"));
            assert_eq!(compiled.is_match(text), expected, "{pattern} on {text:?}");
        }
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        assert_eq!(Pattern::new("/a/v").unwrap_err(), PatternFault::Flag('v'));
        for pattern in ["[a", "(a", "a\\", "\\ud800"] {
            assert!(matches!(Pattern::new(pattern), Err(PatternFault::Syntax(_))), "{pattern}");
        }
    }

    #[test]
    fn a_catastrophic_pattern_ends() {
        let pattern = Pattern::new("^(?=a)(a+)+\\1b$").expect("it is a pattern");
        assert!(!pattern.is_match(&"a".repeat(5_000)));
    }
}
