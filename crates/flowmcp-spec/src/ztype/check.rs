//! Judges a value against a [`ZType`], converting what language models send (semantics.md, section 4).

use std::{borrow::Cow, fmt};

use serde_json::{Number, Value};

use super::{Primitive, ZType};
use crate::Member;

/// A value that fits its type.
#[derive(Debug, Clone, PartialEq)]
pub struct Coerced {
    /// The value in its declared type; numbers in JavaScript's form, integers with all their digits.
    pub value: Value,
    /// What it was given as, where its type had to be changed (`string`).
    pub from: Option<&'static str>,
}

/// Why a value does not fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Mismatch {
    /// Another type.
    #[error("must be {expected} (found {found})")]
    Type {
        /// Type with its article.
        expected: &'static str,
        /// What was given.
        found: String,
    },
    /// Not a member.
    #[error("must be one of {allowed} (found {found})")]
    Member {
        /// The members, cut when there are many.
        allowed: String,
        /// What was given.
        found: String,
    },
    /// Below `min`.
    #[error("must {} (found {found})", .measure.at_least(*.min))]
    TooSmall {
        /// What is counted.
        measure: Measure,
        /// Bound.
        min: f64,
        /// What was given.
        found: String,
    },
    /// Above `max`.
    #[error("must {} (found {found})", .measure.at_most(*.max))]
    TooLarge {
        /// What is counted.
        measure: Measure,
        /// Bound.
        max: f64,
        /// What was given.
        found: String,
    },
    /// The pattern matches nowhere.
    #[error("must match {pattern} (found {found})")]
    Pattern {
        /// Pattern as the schema writes it.
        pattern: String,
        /// What was given.
        found: String,
    },
}

/// What `min` and `max` count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The number itself.
    Value,
    /// Characters of a string.
    Characters,
    /// Items of an array.
    Items,
}

impl Measure {
    fn at_least(self, min: f64) -> String {
        match self {
            Measure::Value => format!("be at least {min}"),
            Measure::Characters => format!("have at least {min} characters"),
            Measure::Items => format!("have at least {min} items"),
        }
    }

    fn at_most(self, max: f64) -> String {
        match self {
            Measure::Value => format!("be at most {max}"),
            Measure::Characters => format!("have at most {max} characters"),
            Measure::Items => format!("have at most {max} items"),
        }
    }
}

/// A value for a message, cut to a readable length.
struct Shown<'v>(&'v Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 80;
        let text = match self.0 {
            Value::Array(items) => return write!(f, "an array of {} items", items.len()),
            Value::Object(_) => return f.write_str("an object"),
            other => other.to_string(),
        };
        if text.chars().count() <= LONGEST {
            return f.write_str(&text);
        }
        for character in text.chars().take(LONGEST) {
            write!(f, "{character}")?;
        }
        f.write_str("…")
    }
}

impl ZType {
    /// Judges a value, converting it where the conversion is beyond doubt.
    ///
    /// # Errors
    /// [`Mismatch`] when the value does not fit.
    pub fn coerce(&self, value: &Value) -> Result<Coerced, Mismatch> {
        let coerced = self.typed(value)?;
        self.constrain(&coerced.value)?;
        Ok(coerced)
    }

    /// Judges a value whose JSON type must be the declared one (`strict_types`).
    ///
    /// # Errors
    /// [`Mismatch`] when the value does not fit.
    pub fn accept(&self, value: &Value) -> Result<Coerced, Mismatch> {
        let coerced = self.coerce(value)?;
        if coerced.from.is_some() { Err(self.wrong_type(value)) } else { Ok(coerced) }
    }

    fn wrong_type(&self, value: &Value) -> Mismatch {
        let expected = match &self.primitive {
            Primitive::String => "a string",
            Primitive::Number => "a number",
            Primitive::Boolean => "a boolean",
            Primitive::Array => "an array",
            Primitive::Object => "an object",
            Primitive::Enum(_) => "a string",
        };
        Mismatch::Type { expected, found: Shown(value).to_string() }
    }

    fn typed(&self, value: &Value) -> Result<Coerced, Mismatch> {
        let as_is = || Coerced { value: value.clone(), from: None };
        let from = |value, from| Coerced { value, from: Some(from) };
        match (&self.primitive, value) {
            (Primitive::String, Value::String(_))
            | (Primitive::Boolean, Value::Bool(_))
            | (Primitive::Object, Value::Object(_))
            | (Primitive::Array, Value::Array(_)) => Ok(as_is()),
            (Primitive::String, Value::Number(number)) => {
                Ok(from(Value::String(js_number(number).into_owned()), "number"))
            }
            (Primitive::Number, Value::Number(number)) => canonical(number)
                .map(|number| Coerced { value: Value::Number(number), from: None })
                .ok_or_else(|| self.wrong_type(value)),
            (Primitive::Number, Value::String(text)) => decimal(text)
                .map(|number| from(Value::Number(number), "string"))
                .ok_or_else(|| self.wrong_type(value)),
            (Primitive::Boolean, Value::String(text)) if text == "true" || text == "false" => {
                Ok(from(Value::Bool(text == "true"), "string"))
            }
            (Primitive::Array | Primitive::Object, Value::String(text)) => {
                match (serde_json::from_str(text), &self.primitive) {
                    (Ok(parsed @ Value::Array(_)), Primitive::Array)
                    | (Ok(parsed @ Value::Object(_)), Primitive::Object) => Ok(from(parsed, "string")),
                    _ => Err(self.wrong_type(value)),
                }
            }
            (Primitive::Enum(members), Value::String(text)) => {
                if is_member(members, text) {
                    Ok(as_is())
                } else {
                    Err(not_a_member(members, value))
                }
            }
            (Primitive::Enum(members), Value::Number(number)) => {
                let text = js_number(number);
                if is_member(members, &text) {
                    Ok(from(Value::String(text.into_owned()), "number"))
                } else {
                    Err(not_a_member(members, value))
                }
            }
            (Primitive::Enum(members), Value::Bool(flag))
                if is_member(members, if *flag { "true" } else { "false" }) =>
            {
                Ok(from(Value::String(flag.to_string()), "boolean"))
            }
            (Primitive::Enum(members), _) => Err(not_a_member(members, value)),
            _ => Err(self.wrong_type(value)),
        }
    }

    fn constrain(&self, value: &Value) -> Result<(), Mismatch> {
        let measured = match value {
            Value::Number(number) => number.as_f64().map(|size| (Measure::Value, size)),
            Value::String(text) if matches!(self.primitive, Primitive::String) => {
                // JavaScript's length counts UTF-16 units.
                Some((Measure::Characters, text.encode_utf16().count() as f64))
            }
            Value::Array(items) => Some((Measure::Items, items.len() as f64)),
            _ => None,
        };
        if let Some((measure, size)) = measured {
            let found = || Shown(value).to_string();
            if let Some(min) = self.min.filter(|min| size < *min) {
                return Err(Mismatch::TooSmall { measure, min, found: found() });
            }
            if let Some(max) = self.max.filter(|max| size > *max) {
                return Err(Mismatch::TooLarge { measure, max, found: found() });
            }
        }
        if let (Some(pattern), Value::String(text)) = (&self.pattern, value)
            && !pattern.is_match(text)
        {
            return Err(Mismatch::Pattern {
                pattern: pattern.source().to_owned(),
                found: Shown(value).to_string(),
            });
        }
        Ok(())
    }
}

/// Members of lists that are not resolved yet accept everything; the engine judges again after resolving.
fn is_member(members: &[Member], text: &str) -> bool {
    members.iter().any(|member| match member {
        Member::Value(value) => &**value == text,
        Member::List { .. } => true,
    })
}

fn not_a_member(members: &[Member], value: &Value) -> Mismatch {
    const SHOWN: usize = 20;
    let mut allowed: Vec<&str> = members
        .iter()
        .take(SHOWN)
        .map(|member| match member {
            Member::Value(value) => &**value,
            Member::List { list, .. } => &**list,
        })
        .collect();
    let more = format!("… ({} in all)", members.len());
    if members.len() > SHOWN {
        allowed.push(&more);
    }
    Mismatch::Member { allowed: allowed.join(", "), found: Shown(value).to_string() }
}

/// A number as JavaScript writes it, except that integers keep all their digits.
pub fn js_number(number: &Number) -> Cow<'_, str> {
    let text = number.as_str();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Cow::Borrowed(if digits == "0" { "0" } else { text });
    }
    match number.as_f64() {
        Some(value) if value.is_finite() => Cow::Owned(ryu_js::Buffer::new().format_finite(value).to_owned()),
        _ => Cow::Borrowed(text),
    }
}

/// The number in JavaScript's form; `None` when it is no finite double.
fn canonical(number: &Number) -> Option<Number> {
    number.as_f64().filter(|value| value.is_finite())?;
    match js_number(number) {
        Cow::Borrowed(text) if text == number.as_str() => Some(number.clone()),
        text => serde_json::from_str(&text).ok(),
    }
}

/// A number written as JSON writes numbers: `"10"`, not `""`, `" 1"`, `"0x10"`, `"12px"` or `"1e999"`.
fn decimal(text: &str) -> Option<Number> {
    if text.len() > 400 || !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return None;
    }
    serde_json::from_str::<Number>(text).ok().and_then(|number| canonical(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(primitive: &str, options: &[&str], value: &str) -> String {
        let (z, _) = ZType::parse(primitive, options).expect("a type");
        match z.coerce(&serde_json::from_str(value).expect("JSON")) {
            Ok(Coerced { value, from: None }) => value.to_string(),
            Ok(Coerced { value, from: Some(from) }) => format!("{value} from {from}"),
            Err(mismatch) => format!("error: {mismatch}"),
        }
    }

    #[test]
    fn values_are_judged_and_converted() {
        let number = |value| check("number()", &["min(1)", "max(100)"], value);
        insta::assert_snapshot!(
            [
                number("10"),
                number("\"10\""),
                number("10.5"),
                number("10.0"),
                number("\"500\""),
                number("\"\""),
                number("\" \""),
                number("\"12px\""),
                number("\"0x10\""),
                number("\"NaN\""),
                number("\"Infinity\""),
                number("\"1e999\""),
                number("1e999"),
                number("true"),
                number("[10]"),
                number("0"),
                check("number()", &[], "725653563933458432123"),
                check("number()", &[], "\"9007199254740993\""),
                check("number()", &[], "1e21"),
                check("number()", &[], "-0"),
                check("enum(1,5,137)", &[], "\"137\""),
                check("enum(1,5,137)", &[], "137"),
                check("enum(1,5,137)", &[], "137.0"),
                check("enum(1,5,137)", &[], "\"0137\""),
                check("enum(1,5,137)", &[], "2"),
                check("enum(true,false)", &[], "true"),
                check("boolean()", &[], "\"true\""),
                check("boolean()", &[], "\"yes\""),
                check("boolean()", &[], "1"),
                check("object()", &[], "\"{\\\"a\\\":1}\""),
                check("object()", &[], "\"[1]\""),
                check("object()", &[], "\"5\""),
                check("object()", &[], "\"{bad\""),
                check("array()", &["max(2)"], "[1,\"2\",3]"),
                check("array()", &[], "\"[1,2]\""),
                check("string()", &["min(2)"], "7"),
                check("string()", &["max(2)"], "\"äöü\""),
                check("string()", &["regex(^a)"], "\"ba\""),
                check("string()", &[], "12345678901234567890"),
                check("string()", &[], "\"{\\\"a\\\":1}\""),
                check("string()", &[], "null"),
            ]
            .join("\n")
        );
    }

    proptest::proptest! {
        #[test]
        fn integers_keep_their_digits(digits in "-?[1-9][0-9]{0,60}") {
            let number: Number = serde_json::from_str(&digits).expect("a number");
            proptest::prop_assert_eq!(js_number(&number), digits);
        }
    }
}
