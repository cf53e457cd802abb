//! Rules that are rows: a field of an object must have a type.

use flowmcp_spec::{Node, Value};

use crate::{
    findings::{Findings, Place},
    subject::{Kind, Object, Subject},
    words::cut,
};

/// One row: which field of which object must be what.
#[derive(Debug)]
pub(crate) struct Field {
    on: Kind,
    key: &'static str,
    needed: Needed,
    shape: Shape,
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needed {
    Required,
    Optional,
}

/// What a field's value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A string with something in it.
    Text,
    /// Any string.
    AnyText,
    /// `true` or `false`.
    Bool,
    /// A whole number above 0.
    PositiveInteger,
    /// An array of strings.
    Texts,
    /// An array.
    Array,
    /// An object.
    Object,
    /// An object with strings as values.
    TextMap,
    /// An array of objects, or of strings as their short form.
    References,
    /// An object whose values are objects.
    Objects,
    /// An array of objects, or an object whose values are objects.
    ManyObjects,
}

/// A field that must be there.
pub(crate) const fn required(on: Kind, key: &'static str, shape: Shape) -> Field {
    Field { on, key, needed: Needed::Required, shape }
}

/// A field that may be left out.
pub(crate) const fn optional(on: Kind, key: &'static str, shape: Shape) -> Field {
    Field { on, key, needed: Needed::Optional, shape }
}

/// Checks the rows of one rule.
pub(crate) fn check(rows: &[Field], subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for row in rows {
        for object in subject.objects(row.on) {
            row.check(object, findings);
        }
    }
}

impl Field {
    fn check(&self, object: &Object<'_>, findings: &mut Findings<'_>) {
        let words = self.shape.words();
        match object.node.get(self.key) {
            None if self.needed == Needed::Required => {
                findings.report(&object.field(self.key), format!("is required and must be {words}"));
            }
            None => {}
            Some(node) => {
                let place = || object.field(self.key);
                if !self.shape.fits(node) {
                    findings.report(&place(), format!("must be {words} (found {})", found(node)));
                } else if let Some(member) = self.shape.unfit_member(node) {
                    let Place { path, tool, .. } = place();
                    let place =
                        Place { path: format!("{path}{}", member.step), span: member.node.span, tool };
                    let message =
                        format!("must be {} (found {})", self.shape.member_words(), found(member.node));
                    findings.report(&place, message);
                }
            }
        }
    }
}

/// The first member that spoils an array or object.
struct Member<'d> {
    step: String,
    node: &'d Node,
}

impl Shape {
    fn words(self) -> &'static str {
        match self {
            Shape::Text => "a string that is not empty",
            Shape::AnyText => "a string",
            Shape::Bool => "true or false",
            Shape::PositiveInteger => "a whole number above 0",
            Shape::Texts => "an array of strings",
            Shape::Array => "an array",
            Shape::Object => "an object",
            Shape::TextMap => "an object with strings as values",
            Shape::References => "an array of objects",
            Shape::Objects => "an object with objects as values",
            Shape::ManyObjects => "an array of objects, or an object with objects as values",
        }
    }

    fn member_words(self) -> &'static str {
        match self {
            Shape::Texts | Shape::TextMap => "a string",
            _ => "an object",
        }
    }

    /// Whether the value itself fits, its members aside.
    fn fits(self, node: &Node) -> bool {
        match (self, &node.value) {
            (Shape::Text, Value::String(text)) => !text.trim().is_empty(),
            (Shape::AnyText, Value::String(_)) | (Shape::Bool, Value::Bool(_)) => true,
            (Shape::PositiveInteger, Value::Number(number)) => *number > 0.0 && number.fract() == 0.0,
            (Shape::Texts | Shape::Array | Shape::References | Shape::ManyObjects, Value::Array(_)) => true,
            (Shape::Object | Shape::TextMap | Shape::Objects | Shape::ManyObjects, Value::Object(_)) => true,
            _ => false,
        }
    }

    fn unfit_member(self, node: &Node) -> Option<Member<'_>> {
        let fits = |member: &Node| match self {
            Shape::Texts | Shape::TextMap => member.as_str().is_some(),
            Shape::References => member.is_object() || member.as_str().is_some(),
            Shape::Objects | Shape::ManyObjects => member.is_object(),
            _ => true,
        };
        let mut items = node.items().iter().enumerate();
        let item = items.find(|(_, item)| !fits(item));
        let item = item.map(|(index, node)| Member { step: format!("[{index}]"), node });
        item.or_else(|| {
            let entry = node.entries().iter().find(|entry| !fits(&entry.node))?;
            Some(Member { step: format!(".{}", cut(&entry.key)), node: &entry.node })
        })
    }
}

/// A value for messages; an empty string says so in words.
fn found(node: &Node) -> String {
    match node.as_str() {
        Some(text) if text.trim().is_empty() => "an empty string".to_owned(),
        _ => node.shown().into_owned(),
    }
}
