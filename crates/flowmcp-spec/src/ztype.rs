//! The `z` block of a parameter: its type and options (FlowMCP specification 3.0.0, chapter 02).

mod check;
mod parse;
mod pattern;

pub use check::{Coerced, Mismatch, js_number};
pub use parse::{OptionFault, PRIMITIVES, ZFault};
pub use pattern::{Pattern, PatternFault};

/// What a parameter accepts.
#[derive(Debug, Clone, PartialEq)]
pub struct ZType {
    /// Type.
    pub primitive: Primitive,
    /// Whether it may be left out. A default implies it.
    pub optional: bool,
    /// Value where it is left out, in the type of the primitive.
    pub default: Option<serde_json::Value>,
    /// Smallest value, fewest characters or items.
    pub min: Option<f64>,
    /// Largest value, most characters or items.
    pub max: Option<f64>,
    /// Pattern that a string must contain a match of.
    pub pattern: Option<Pattern>,
    /// An array in a query becomes repeated keys instead of one joined value.
    pub explode: bool,
    /// A value in a path may span segments.
    pub segments: bool,
}

/// The types of the format.
#[derive(Debug, Clone, PartialEq)]
pub enum Primitive {
    /// `string()`
    String,
    /// `number()`
    Number,
    /// `boolean()`
    Boolean,
    /// `array()`
    Array,
    /// `object()`
    Object,
    /// `enum(…)`: always strings.
    Enum(Vec<Member>),
}

/// A member of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member {
    /// A value.
    Value(Box<str>),
    /// All values of a shared list's field; without a field, its keys or scalars.
    List {
        /// Name of the list.
        list: Box<str>,
        /// Field of its entries.
        field: Option<Box<str>>,
    },
}

impl ZType {
    /// A required string without constraints.
    pub fn string() -> Self {
        ZType::of(Primitive::String)
    }

    /// A required value of a type without constraints.
    pub fn of(primitive: Primitive) -> Self {
        ZType {
            primitive,
            optional: false,
            default: None,
            min: None,
            max: None,
            pattern: None,
            explode: false,
            segments: false,
        }
    }

    /// Whether a caller must give a value.
    pub fn is_required(&self) -> bool {
        !self.optional && self.default.is_none()
    }
}

impl Primitive {
    /// Its name in messages and JSON Schema words: `string`, `enum`, ….
    pub fn name(&self) -> &'static str {
        match self {
            Primitive::String => "string",
            Primitive::Number => "number",
            Primitive::Boolean => "boolean",
            Primitive::Array => "array",
            Primitive::Object => "object",
            Primitive::Enum(_) => "enum",
        }
    }
}
