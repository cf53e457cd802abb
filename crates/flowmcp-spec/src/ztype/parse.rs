//! Parses `z.primitive` and `z.options`: calls such as `enum(A,B)`, `min(1)`, `default("usd")`, in any order.

use serde_json::Value;

use super::{Mismatch, Pattern, PatternFault, Primitive, ZType};
use crate::Member;

/// Names of the types.
pub const PRIMITIVES: [&str; 6] = ["string", "number", "boolean", "array", "object", "enum"];

/// Names of the options.
const OPTIONS: [&str; 10] =
    ["min", "max", "length", "regex", "optional", "default", "values", "explode", "segments", "int"];

/// Why a `z` block has no type.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ZFault {
    /// Not of the form `name(…)`.
    #[error("must be a call such as string() or enum(A,B) (found {found:?})")]
    NotACall {
        /// Text found.
        found: String,
    },
    /// No such type.
    #[error("is no known type (found {found:?}); known are {}", PRIMITIVES.map(|name| format!("{name}()")).join(", "))]
    UnknownPrimitive {
        /// Name found.
        found: String,
    },
    /// Arguments where the type takes none.
    #[error("{name}() takes nothing in its parentheses (found {found:?})")]
    UnexpectedArguments {
        /// Type.
        name: String,
        /// Text found.
        found: String,
    },
    /// An enum without members.
    #[error("enum() has no members: list them, or give them as the option values(a,b)")]
    EmptyEnum,
    /// An option that does not hold.
    #[error(transparent)]
    Option(#[from] OptionFault),
}

/// Why an option does not hold.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OptionFault {
    /// Not of the form `name(…)`.
    #[error("must be a call such as min(1) (found {found:?})")]
    NotACall {
        /// Text found.
        found: String,
    },
    /// No such option.
    #[error("is no known option (found {found:?}){}", .nearest.map(|name| format!("; did you mean {name}()?")).unwrap_or_default())]
    Unknown {
        /// Name found.
        found: String,
        /// The closest known name.
        nearest: Option<&'static str>,
    },
    /// A bound that is not a number.
    #[error("{name}() needs a number (found {found:?})")]
    NotANumber {
        /// Option.
        name: String,
        /// Text found.
        found: String,
    },
    /// A pattern that cannot be used.
    #[error("regex() cannot be used: {0}")]
    Pattern(#[from] PatternFault),
    /// A default that its own type does not accept.
    #[error("default({found}) is not accepted by the parameter's own type: {mismatch}")]
    Default {
        /// Text found.
        found: String,
        /// What is wrong with it.
        mismatch: Mismatch,
    },
    /// `min` above `max`.
    #[error("min({min}) is greater than max({max}), so no value is accepted")]
    EmptyRange {
        /// Lower bound.
        min: f64,
        /// Upper bound.
        max: f64,
    },
}

/// What parsing gives besides the type: an option that has no effect on this type, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutEffect(pub &'static str);

impl ZType {
    /// Parses a `z` block.
    ///
    /// # Errors
    /// Every [`ZFault`] of the block, not only the first.
    pub fn parse(primitive: &str, options: &[&str]) -> Result<(Self, Vec<WithoutEffect>), Vec<ZFault>> {
        let mut z = ZType::of(parse_primitive(primitive).map_err(|fault| vec![fault])?);
        let mut faults = Vec::new();
        let mut default = None;
        let mut applied = Vec::new();
        for option in options {
            for call in calls(option) {
                match call.and_then(|(name, arguments)| {
                    if name == "default" {
                        default = Some(arguments.to_owned());
                    }
                    z.apply(name, arguments)
                }) {
                    Ok(name) => applied.push(name),
                    Err(fault) => faults.push(ZFault::Option(fault)),
                }
            }
        }
        if matches!(&z.primitive, Primitive::Enum(members) if members.is_empty()) {
            faults.push(ZFault::EmptyEnum);
        }
        if let (Some(min), Some(max)) = (z.min, z.max)
            && min > max
        {
            faults.push(ZFault::Option(OptionFault::EmptyRange { min, max }));
        }
        if let Some(text) = default
            && faults.is_empty()
        {
            // A default in any place of the options is typed and judged by all of them.
            match z.typed_default(&text) {
                Ok(value) => z.default = value,
                Err(mismatch) => faults.push(ZFault::Option(OptionFault::Default { found: text, mismatch })),
            }
            z.optional = true;
        }
        let without_effect = applied.into_iter().filter(|name| !z.takes(name)).map(WithoutEffect).collect();
        if faults.is_empty() { Ok((z, without_effect)) } else { Err(faults) }
    }

    fn apply(&mut self, name: &str, arguments: &str) -> Result<&'static str, OptionFault> {
        let number = || {
            let text = unquoted(arguments.trim());
            text.parse::<f64>()
                .ok()
                .filter(|value| value.is_finite())
                .ok_or_else(|| OptionFault::NotANumber { name: name.to_owned(), found: arguments.to_owned() })
        };
        match name {
            "min" => self.min = Some(number()?),
            "max" => self.max = Some(number()?),
            "length" => {
                self.min = Some(number()?);
                self.max = self.min;
            }
            "regex" => self.pattern = Some(Pattern::new(arguments)?),
            "optional" => self.optional = true,
            "explode" => self.explode = true,
            "segments" => self.segments = true,
            "default" => {}
            "values" => {
                if let Primitive::Enum(known) = &mut self.primitive {
                    known.extend(members(arguments));
                }
            }
            list if list.starts_with('$') => {
                if let Primitive::Enum(known) = &mut self.primitive {
                    known.push(list_member(list.trim_start_matches('$')));
                }
                return Ok("values");
            }
            other => {
                return Err(OptionFault::Unknown {
                    found: other.to_owned(),
                    nearest: nearest(other, &OPTIONS),
                });
            }
        }
        Ok(OPTIONS.iter().find(|known| **known == name).copied().unwrap_or("values"))
    }

    /// Whether an option means anything for this type.
    fn takes(&self, option: &str) -> bool {
        use Primitive::{Array, Enum, Number, String};
        match option {
            "min" | "max" => matches!(self.primitive, String | Number | Array),
            "length" => matches!(self.primitive, String | Array),
            "regex" | "segments" => matches!(self.primitive, String | Enum(_)),
            "values" => matches!(self.primitive, Enum(_)),
            "explode" => matches!(self.primitive, Array),
            _ => true,
        }
    }

    /// The default's text in the type of the primitive; `None` where the text is empty and the type has no empty value.
    fn typed_default(&self, text: &str) -> Result<Option<Value>, Mismatch> {
        let bare = text.trim();
        let value = match &self.primitive {
            Primitive::String => Value::String(unquoted(bare).to_owned()),
            Primitive::Enum(_) | Primitive::Number | Primitive::Boolean if bare.is_empty() => {
                return Ok(None);
            }
            Primitive::Enum(_) | Primitive::Number | Primitive::Boolean => {
                Value::String(unquoted(bare).to_owned())
            }
            Primitive::Array if bare.is_empty() => return Ok(None),
            Primitive::Array if !bare.starts_with('[') => {
                bare.split(',').map(|item| Value::String(unquoted(item.trim()).to_owned())).collect()
            }
            Primitive::Object if bare.is_empty() => return Ok(None),
            Primitive::Array | Primitive::Object => Value::String(bare.to_owned()),
        };
        self.coerce(&value).map(|coerced| Some(coerced.value))
    }
}

fn parse_primitive(text: &str) -> Result<Primitive, ZFault> {
    let not_a_call = || ZFault::NotACall { found: text.to_owned() };
    let (name, rest) = text.trim().split_once('(').ok_or_else(not_a_call)?;
    let arguments = rest.strip_suffix(')').ok_or_else(not_a_call)?;
    let plain = match name.trim() {
        "string" => Primitive::String,
        "number" => Primitive::Number,
        "boolean" => Primitive::Boolean,
        "array" => Primitive::Array,
        "object" => Primitive::Object,
        "enum" => return Ok(Primitive::Enum(members(arguments))),
        other => return Err(ZFault::UnknownPrimitive { found: other.to_owned() }),
    };
    if arguments.trim().is_empty() {
        Ok(plain)
    } else {
        Err(ZFault::UnexpectedArguments { name: name.trim().to_owned(), found: arguments.to_owned() })
    }
}

/// Members of `enum(A, B)`, `enum(['a','b'])` or `enum({{list:field}})`; empty ones (a trailing comma) are dropped.
fn members(text: &str) -> Vec<Member> {
    let text = text.trim();
    let text = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(text);
    split_commas(text)
        .into_iter()
        .map(|member| unquoted(member.trim()))
        .filter(|member| !member.is_empty())
        .map(|member| match member.strip_prefix("{{").and_then(|inner| inner.strip_suffix("}}")) {
            Some(reference) => list_member(reference),
            None if member.len() > 1 && member.starts_with('$') => list_member(&member[1..]),
            None => Member::Value(member.into()),
        })
        .collect()
}

fn list_member(reference: &str) -> Member {
    let (list, field) =
        reference.split_once(':').map_or((reference, None), |(list, field)| (list, Some(field)));
    Member::List { list: list.trim().into(), field: field.map(|field| field.trim().into()) }
}

/// Splits at commas outside quotes.
fn split_commas(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (None, '\'' | '"') if text[start..at].trim().is_empty() => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            (None, ',') => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Takes one pair of equal quotes away.
fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote).and_then(|inner| inner.strip_suffix(quote)))
        .unwrap_or(text)
}

/// The calls in one option string: mostly one, but `'optional(), default(1000)'` occurs. A name without parentheses is
/// taken only as a list reference (`'$chainIds'`).
fn calls(text: &str) -> Vec<Result<(&str, &str), OptionFault>> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if rest.starts_with('$') && !rest.contains('(') {
            found.push(Ok((rest, "")));
            break;
        }
        let Some((name, after)) = rest.split_once('(') else {
            found.push(Err(OptionFault::NotACall { found: rest.to_owned() }));
            break;
        };
        let Some(end) = end_of_arguments(after) else {
            found.push(Err(OptionFault::NotACall { found: rest.to_owned() }));
            break;
        };
        found.push(Ok((name.trim(), &after[..end])));
        rest = after[end + 1..].trim_start_matches([',', ' ', '\t', '\n', '\r']);
    }
    found
}

/// Offset of the parenthesis that closes the arguments: the balanced one if another call or nothing follows it, else
/// the last one (a pattern such as `regex([(])` is not balanced).
fn end_of_arguments(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' => {
                let rest = text[at + 1..].trim_start_matches([',', ' ', '\t', '\n', '\r']);
                let another = OPTIONS
                    .iter()
                    .any(|name| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')));
                if rest.is_empty() || another {
                    return Some(at);
                }
                break;
            }
            _ => {}
        }
    }
    text.trim_end().ends_with(')').then(|| text.rfind(')')).flatten()
}

fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    known
        .iter()
        .map(|other| (strsim::damerau_levenshtein(name, other), *other))
        .filter(|(d, _)| *d <= 2)
        .min()
        .map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The type in few words, or its faults.
    fn parsed(primitive: &str, options: &[&str]) -> String {
        match ZType::parse(primitive, options) {
            Ok((z, without_effect)) => {
                let members = match &z.primitive {
                    Primitive::Enum(members) => {
                        format!("{members:?}").replace("Value(", "(").replace("List ", "")
                    }
                    _ => String::new(),
                };
                let mut text = format!("{}{members}", z.primitive.name());
                let mut add = |word: &str, value: Option<String>| {
                    if let Some(value) = value {
                        text.push_str(&format!(" {word}{value}"));
                    }
                };
                add("optional", z.optional.then(String::new));
                add("default=", z.default.as_ref().map(ToString::to_string));
                add("min=", z.min.map(|v| v.to_string()));
                add("max=", z.max.map(|v| v.to_string()));
                add("pattern=", z.pattern.as_ref().map(|p| p.source().to_owned()));
                add("without effect: ", (!without_effect.is_empty()).then(|| format!("{without_effect:?}")));
                text
            }
            Err(faults) => faults.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | "),
        }
    }

    #[test]
    fn every_form_of_type_and_option() {
        insta::assert_snapshot!(
            [
                parsed("string()", &["min(42)", "max(42)"]),
                parsed("number()", &["optional()", "default(20)", "min(1)", "max(100)"]),
                parsed("number()", &["default(500)", "max(100)"]),
                parsed("number()", &["default(\"20\")"]),
                parsed("number()", &["optional(), default(1000)"]),
                parsed("number()", &["default()"]),
                parsed("string()", &["default()"]),
                parsed("string()", &["default(00501)"]),
                parsed("string()", &["default(\"usd\")", "length(3)"]),
                parsed("string()", &["default(a,b (c),d)"]),
                parsed("boolean()", &["default(true)"]),
                parsed("boolean()", &["default(yes)"]),
                parsed("array()", &["default([\"ofac\"])", "min(1)"]),
                parsed("array()", &["default([])"]),
                parsed("object()", &["default({\"adult\":1})"]),
                parsed("enum(A, B ,C,)", &["default(B)"]),
                parsed("enum(A)", &["default(B)"]),
                parsed("enum(['a','b, c'])", &[]),
                parsed("enum()", &["values(1,2)", "optional()"]),
                parsed("enum()", &["$chainIds"]),
                parsed("enum()", &["$chains:alias"]),
                parsed("enum({{chains:alias}},extra)", &[]),
                parsed("enum(Survey (FNDDS),SR Legacy)", &[]),
                parsed("enum()", &[]),
                parsed("string()", &["regex(^[a-z]{2,3}(,[a-z]+)*$)"]),
                parsed("string()", &["regex([(])", "max(3)"]),
                parsed("string()", &["regex(/^NCT\\d{8}$/i)"]),
                parsed("string()", &["regex(^a)b$), optional()"]),
                parsed("string()", &["regex([)"]),
                parsed("boolean()", &["min(1)", "explode()"]),
                parsed("string()", &["min(x)", "mix(1)", "optional"]),
                parsed("string()", &["min(3)", "max(2)"]),
                parsed("strng()", &[]),
                parsed("string", &[]),
                parsed("string(5)", &[]),
            ]
            .join("\n")
        );
    }
}
