//! From a query of a schema and checked arguments to a statement with its parameters.

use flowmcp_spec::{
    schema::{FREE_QUERY_MOST_ROWS, FREE_QUERY_ROWS, FieldValue, Part, Query, Sql},
    ztype::js_number,
};
use rusqlite::{
    ToSql,
    types::{ToSqlOutput, ValueRef},
};
use serde_json::{Number, Value};

/// A statement with the values of its `?`.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub(super) sql: Box<str>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) writer: Writer,
}

/// Who wrote the text of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    /// The schema.
    Schema,
    /// The caller, who gets at most this many rows.
    Caller { rows: usize },
}

/// A value in one of SQLite's types.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Parameter {
    Null,
    Integer(i64),
    Real(f64),
    Text(Box<str>),
}

/// Why a value cannot be given to a statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// SQLite has no such number.
    #[error("{name}: {number} is no 64-bit integer and no floating point number has all its digits")]
    TooManyDigits {
        /// Name of the input.
        name: Box<str>,
        /// The number.
        number: String,
    },
    /// Arrays and objects are no values of SQL.
    #[error("{name}: a query takes text, numbers and booleans, not {found}")]
    NotScalar {
        /// Name of the input.
        name: Box<str>,
        /// What it is.
        found: &'static str,
    },
    /// A caller's query without its statement.
    #[error("sql: is required and must be text")]
    NoStatement,
}

impl Statement {
    /// The statement of a query. `values` are the checked arguments, one for each of the query's inputs, `None` where one
    /// was left out: it becomes NULL.
    ///
    /// # Errors
    /// [`ValueError`], which names the input.
    pub fn new(query: &Query, values: &[Option<Value>]) -> Result<Self, ValueError> {
        let value = |index: usize| values.get(index).and_then(Option::as_ref);
        match &query.sql {
            Sql::Dynamic { sql, limit } => {
                let text = value(*sql).and_then(Value::as_str).ok_or(ValueError::NoStatement)?;
                let asked =
                    limit.and_then(value).and_then(Value::as_f64).unwrap_or(f64::from(FREE_QUERY_ROWS));
                // The bounds are whole numbers, so the result is one that fits.
                let rows = asked.clamp(1.0, f64::from(FREE_QUERY_MOST_ROWS)) as usize;
                Ok(Statement { sql: text.into(), parameters: Vec::new(), writer: Writer::Caller { rows } })
            }
            Sql::Prepared { text, bindings } => {
                let name = |index: usize| query.inputs.get(index).map_or("", |input| &input.name);
                let parameters = bindings
                    .iter()
                    .map(|binding| match binding {
                        FieldValue::Input(index) => {
                            parameter(name(*index), value(*index).unwrap_or(&Value::Null))
                        }
                        FieldValue::Fixed(fixed) => parameter("fixed value", fixed),
                        FieldValue::Parts(parts) => Ok(joined(parts, &value)),
                    })
                    .collect::<Result<_, _>>()?;
                Ok(Statement { sql: text.clone(), parameters, writer: Writer::Schema })
            }
        }
    }
}

fn parameter(name: &str, value: &Value) -> Result<Parameter, ValueError> {
    match value {
        Value::Null => Ok(Parameter::Null),
        Value::Bool(flag) => Ok(Parameter::Integer(i64::from(*flag))),
        Value::String(text) => Ok(Parameter::Text(text.as_str().into())),
        Value::Number(number) => numeric(number)
            .ok_or_else(|| ValueError::TooManyDigits { name: name.into(), number: number.to_string() }),
        Value::Array(_) => Err(ValueError::NotScalar { name: name.into(), found: "an array" }),
        Value::Object(_) => Err(ValueError::NotScalar { name: name.into(), found: "an object" }),
    }
}

/// An integer with all its digits, else a double; `None` when a whole number fits neither.
fn numeric(number: &Number) -> Option<Parameter> {
    if let Some(integer) = number.as_i64() {
        return Some(Parameter::Integer(integer));
    }
    let text = number.as_str();
    let real = number.as_f64().filter(|real| real.is_finite())?;
    let is_whole = text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
    // With a precision, a double is written with all the digits that it stands for.
    (!is_whole || format!("{real:.0}") == text).then_some(Parameter::Real(real))
}

/// Text with values in it; NULL where one of them was left out.
fn joined<'v>(parts: &[Part], value: &impl Fn(usize) -> Option<&'v Value>) -> Parameter {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Input(index) => match value(*index) {
                None | Some(Value::Null) => return Parameter::Null,
                Some(Value::String(value)) => text.push_str(value),
                Some(Value::Number(number)) => text.push_str(&js_number(number)),
                Some(other) => text.push_str(&other.to_string()),
            },
            // Lowering leaves out queries that ask for one.
            Part::Server(_) => return Parameter::Null,
        }
    }
    Parameter::Text(text.into())
}

impl ToSql for Parameter {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Parameter::Null => ValueRef::Null,
            Parameter::Integer(integer) => ValueRef::Integer(*integer),
            Parameter::Real(real) => ValueRef::Real(*real),
            Parameter::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_what_they_stand_for() {
        let check = |text: &str| match serde_json::from_str(text).map(|number| numeric(&number)) {
            Ok(Some(Parameter::Integer(integer))) => format!("integer {integer}"),
            Ok(Some(Parameter::Real(real))) => format!("real {real:?}"),
            other => format!("{other:?}"),
        };
        for (given, expected) in [
            ("9007199254740993", "integer 9007199254740993"),
            ("-9223372036854775808", "integer -9223372036854775808"),
            ("9223372036854775807", "integer 9223372036854775807"),
            ("9223372036854775808", "real 9.223372036854776e18"),
            ("9223372036854775809", "Ok(None)"),
            ("100000000000000000000", "real 1e20"),
            ("1.5", "real 1.5"),
            ("1e21", "real 1e21"),
            ("-0.1", "real -0.1"),
        ] {
            assert_eq!(check(given), expected, "{given}");
        }
    }
}
