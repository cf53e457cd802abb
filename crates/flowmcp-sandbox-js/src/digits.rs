//! Numbers that JavaScript cannot hold keep their digits while a handler only passes them on.
//!
//! The input's text is searched for such literals before it is parsed. In the result's text, a number that reads like
//! the rounded value of exactly one of them is written as that literal again. Where two literals round to the same
//! value, text cannot tell them apart; then the engine remembers in which object each of them stood (`digits.js`).

use memchr::memchr2;

/// What the search found.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Digits {
    /// As JavaScript writes the value, and as the input wrote it. Sorted by the former, no duplicates.
    table: Vec<(String, String)>,
    /// True when some literals can only be told apart by their place.
    pub(crate) by_place: bool,
}

/// A double is exact for every decimal of so many digits.
const EXACT_DIGITS: usize = 15;

impl Digits {
    /// Searches JSON text. Text that is not JSON gives some answer, the parser will refuse it.
    pub(crate) fn search(json: &str) -> Digits {
        let mut kept: Vec<(String, String)> = Vec::new();
        let mut by_place = false;
        for literal in Numbers::new(json) {
            match classify(literal) {
                Held::Exactly => {}
                Held::Rounded(text) | Held::Shortened(text) => kept.push((text, literal.to_owned())),
                Held::Overflows => by_place = true,
            }
        }
        kept.sort_unstable();
        kept.dedup();
        if kept.is_empty() {
            return Digits { table: kept, by_place };
        }
        // Literals that are written as JavaScript would write them also claim their text.
        let mut plain: Vec<&str> = Numbers::new(json)
            .filter(|literal| kept.binary_search_by(|(text, _)| text.as_str().cmp(literal)).is_ok())
            .collect();
        plain.sort_unstable();
        plain.dedup();
        let mut table: Vec<(String, String)> = Vec::with_capacity(kept.len());
        for group in kept.chunk_by(|a, b| a.0 == b.0) {
            let Some((text, literal)) = group.first() else { continue };
            if group.len() == 1 && plain.binary_search(&text.as_str()).is_err() {
                table.push((text.clone(), literal.clone()));
            } else if group.iter().any(|(text, literal)| !same_number(text, literal)) {
                by_place = true;
            }
        }
        Digits { table, by_place }
    }

    /// True when nothing needs to be done.
    pub(crate) fn is_empty(&self) -> bool {
        self.table.is_empty() && !self.by_place
    }

    /// Writes a result's numbers as the input had them.
    pub(crate) fn restore(&self, json: String) -> String {
        if self.table.is_empty() {
            return json;
        }
        let mut out = String::with_capacity(json.len() + 64);
        let mut copied = 0;
        for (start, literal) in Numbers::new(&json).spans() {
            let Ok(found) = self.table.binary_search_by(|(text, _)| text.as_str().cmp(literal)) else {
                continue;
            };
            let Some((_, original)) = self.table.get(found) else { continue };
            out.push_str(json.get(copied..start).unwrap_or_default());
            out.push_str(original);
            copied = start + literal.len();
        }
        if copied == 0 {
            return json;
        }
        out.push_str(json.get(copied..).unwrap_or_default());
        out
    }
}

/// Whether a double holds a literal.
enum Held {
    /// Yes, and JavaScript writes an equal number of the same look or of a look that nobody misses (`1.0`, `1E2`).
    Exactly,
    /// No; JavaScript writes this instead.
    Rounded(String),
    /// Yes, but trailing zeros of a fraction are lost (`1.10`); JavaScript writes this instead.
    Shortened(String),
    /// No; the value is infinite.
    Overflows,
}

fn classify(literal: &str) -> Held {
    let digits = literal.bytes().filter(u8::is_ascii_digit).count();
    let exponent = literal.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    let fraction = literal.split_once('.').map(|(_, fraction)| fraction);
    let padded = !exponent
        && fraction
            .is_some_and(|fraction| fraction.ends_with('0') && fraction.bytes().any(|digit| digit != b'0'));
    if digits <= EXACT_DIGITS && !exponent && !padded {
        return Held::Exactly;
    }
    let Ok(value) = literal.parse::<f64>() else { return Held::Exactly };
    if value.is_infinite() {
        return Held::Overflows;
    }
    let text = ryu_js::Buffer::new().format(value).to_owned();
    if !same_number(&text, literal) {
        Held::Rounded(text)
    } else if padded && text.contains('.') && !text.contains('e') {
        Held::Shortened(text)
    } else {
        Held::Exactly
    }
}

/// Compares two number literals as decimals, without rounding.
fn same_number(left: &str, right: &str) -> bool {
    left == right || decimal(left) == decimal(right)
}

/// Sign, significant digits and power of ten. Zero has no digits.
fn decimal(literal: &str) -> (bool, String, i64) {
    let (negative, body) = match literal.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, literal),
    };
    let (mantissa, exponent) = body.split_once(['e', 'E']).unwrap_or((body, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction_length = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let mut power = exponent.parse::<i64>().unwrap_or(i64::MAX / 2).saturating_sub(fraction_length);
    let mut digits = format!("{whole}{fraction}");
    while digits.ends_with('0') {
        digits.pop();
        power = power.saturating_add(1);
    }
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        (negative, String::new(), 0)
    } else {
        (negative, significant.to_owned(), power)
    }
}

/// The number literals of JSON text, in order.
struct Numbers<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Numbers<'a> {
    fn new(json: &'a str) -> Self {
        Numbers { json, at: 0 }
    }

    fn spans(mut self) -> impl Iterator<Item = (usize, &'a str)> {
        std::iter::from_fn(move || self.step())
    }

    fn step(&mut self) -> Option<(usize, &'a str)> {
        let bytes = self.json.as_bytes();
        loop {
            match bytes.get(self.at)? {
                b'"' => self.at = string_end(bytes, self.at),
                b'-' | b'0'..=b'9' => {
                    let start = self.at;
                    let length = bytes
                        .get(start..)?
                        .iter()
                        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
                        .count();
                    self.at = start + length;
                    return Some((start, self.json.get(start..self.at)?));
                }
                _ => self.at += 1,
            }
        }
    }
}

impl<'a> Iterator for Numbers<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.step().map(|(_, literal)| literal)
    }
}

/// Index behind the closing quote of the string that begins at `start`.
pub(crate) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(rest) = bytes.get(at..) {
        match memchr2(b'"', b'\\', rest) {
            Some(found) if rest.get(found) == Some(&b'"') => return at + found + 1,
            Some(found) => at += found + 2,
            None => break,
        }
    }
    bytes.len()
}

/// The members of a JSON object: each key as it is written, without quotes, and its value's text.
pub(crate) fn members(json: &str) -> Vec<(&str, &str)> {
    let bytes = json.as_bytes();
    let mut found = Vec::new();
    let Some(open) = bytes.iter().position(|byte| *byte == b'{') else { return found };
    let mut at = open + 1;
    while let Some(key_start) = next_of(bytes, at, b'"') {
        let key_end = string_end(bytes, key_start);
        let Some(colon) = next_of(bytes, key_end, b':') else { break };
        let value_end = value_end(bytes, colon + 1);
        let (Some(key), Some(value)) =
            (json.get(key_start + 1..key_end.saturating_sub(1)), json.get(colon + 1..value_end))
        else {
            break;
        };
        found.push((key, value.trim()));
        if bytes.get(value_end) != Some(&b',') {
            break;
        }
        at = value_end + 1;
    }
    found
}

/// The next byte that is not white space, if it is the wanted one.
fn next_of(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let at = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
    (rest.get(at) == Some(&wanted)).then_some(from + at)
}

/// Index of the comma or bracket behind the value that begins at or after `start`.
fn value_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn literals_that_a_double_cannot_hold_are_found() {
        for (json, table, by_place) in [
            (r#"{"a":1,"b":1.5,"c":"725653563933458432","d":1.0,"e":-0,"f":1E2,"g":1e-7}"#, vec![], false),
            (r#"{"id":725653563933458432}"#, vec![("725653563933458400", "725653563933458432")], false),
            (r#"{"a":1.10}"#, vec![("1.1", "1.10")], false),
            (r#"{"a":1.10,"b":1.1}"#, vec![], false),
            (r#"[9007199254740993,9007199254740992]"#, vec![], true),
            (r#"[9007199254740993,9007199254740993]"#, vec![("9007199254740992", "9007199254740993")], false),
            (
                r#"[123456789012345678901234567890]"#,
                vec![("1.2345678901234568e+29", "123456789012345678901234567890")],
                false,
            ),
            (r#"[1e999]"#, vec![], true),
            (r#"["\"725653563933458432"]"#, vec![], false),
        ] {
            let digits = Digits::search(json);
            let found: Vec<(&str, &str)> =
                digits.table.iter().map(|(text, literal)| (text.as_str(), literal.as_str())).collect();
            assert_eq!((found, digits.by_place), (table, by_place), "{json}");
        }
    }

    #[test]
    fn results_get_their_digits_back() {
        let digits = Digits::search(r#"{"id":725653563933458432,"amount":1.10}"#);
        assert_eq!(
            digits.restore(r#"{"v":[725653563933458400,1.1,"725653563933458400",3]}"#.to_owned()),
            r#"{"v":[725653563933458432,1.10,"725653563933458400",3]}"#
        );
    }

    #[test]
    fn members_keep_their_text() {
        assert_eq!(
            members(r#" { "a" : {"b":[1,"}"]} , "c":"x,\"y" , "d" : null } "#),
            vec![("a", r#"{"b":[1,"}"]}"#), ("c", r#""x,\"y""#), ("d", "null")]
        );
        assert_eq!(members("{}"), vec![]);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in ".*") {
            let digits = Digits::search(&text);
            let _ = digits.restore(text.clone());
            let _ = members(&text);
        }

        #[test]
        fn integers_of_any_size_come_back(number in any::<i128>()) {
            let literal = number.to_string();
            let digits = Digits::search(&literal);
            let value: f64 = literal.parse().unwrap();
            let printed = ryu_js::Buffer::new().format(value).to_owned();
            prop_assert_eq!(digits.restore(printed), literal);
        }
    }
}
