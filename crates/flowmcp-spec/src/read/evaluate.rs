//! Evaluates literal expressions to [`Node`]s: what JavaScript would make of them, without running anything.

use std::{collections::HashMap, fmt};

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, BinaryExpression, BinaryOperator, CallExpression, Expression,
    ObjectProperty, ObjectPropertyKind, Program, PropertyKey, PropertyKind, TemplateLiteral, UnaryOperator,
};
use oxc_span::GetSpan;

use crate::{
    Diagnostic, Node, Span, Value,
    document::{Entry, ordered},
    read::{NOT_LITERAL, constants},
};

/// Nesting of data (semantics.md, section 10).
const MAX_DEPTH: usize = 128;
/// Values in one file, spreads and references counted each time: a file of 5 MiB has fewer, a bomb of references more.
const MAX_VALUES: usize = 2_000_000;
/// Bytes that joined strings may grow to.
const MAX_JOINED_BYTES: usize = 16 << 20;
/// Findings per file of this kind: one bad habit should not print a thousand times.
const MAX_FINDINGS: usize = 20;

pub(crate) struct Evaluator<'p> {
    constants: HashMap<&'p str, &'p Expression<'p>>,
    /// Constants being evaluated, to notice cycles.
    open: Vec<&'p str>,
    depth: usize,
    values: usize,
    /// There were more values than may be, and a finding says so.
    exhausted: bool,
    joined: usize,
    diagnostics: Vec<Diagnostic>,
}

/// What an expression came to. JavaScript's `undefined` is not data, but it has a meaning inside data.
enum Evaluated {
    Node(Node),
    Undefined,
}

/// A place in the data, kept on the stack and written out only for a finding.
struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.parent, &self.step) {
            (None, Step::Key(key)) => f.write_str(key),
            (None, Step::Index(index)) => write!(f, "[{index}]"),
            (Some(parent), Step::Key(key)) => write!(f, "{parent}.{key}"),
            (Some(parent), Step::Index(index)) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// The expression is not a literal; a finding says so already.
struct NotLiteral;

impl<'p> Evaluator<'p> {
    pub(crate) fn new(program: &'p Program<'p>) -> Self {
        Evaluator { constants: constants(program).collect(), ..Self::without_names() }
    }

    /// For a value that stands alone.
    pub(super) fn without_names() -> Self {
        Evaluator {
            constants: HashMap::new(),
            open: Vec::new(),
            depth: 0,
            values: 0,
            exhausted: false,
            joined: 0,
            diagnostics: Vec::new(),
        }
    }

    /// The value of an export, or `None` with findings. What is not literal inside an object or array is left out, so
    /// the rest is still there for other checks.
    pub(crate) fn evaluate(&mut self, expression: &'p Expression<'p>, export: &str) -> Option<Node> {
        let path = &Path { parent: None, step: Step::Key(export) };
        match self.expression(expression, path) {
            Ok(Evaluated::Node(node)) => Some(node),
            Ok(Evaluated::Undefined) => {
                self.report(expression.span(), path, "is undefined");
                None
            }
            Err(NotLiteral) => None,
        }
    }

    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    fn report(&mut self, span: oxc_span::Span, path: &Path<'_>, message: impl Into<String>) -> NotLiteral {
        if self.diagnostics.len() < MAX_FINDINGS {
            self.diagnostics.push(
                Diagnostic::error(NOT_LITERAL, path.to_string(), message)
                    .at(Span::of(span))
                    .help("write the value out: main is read without running any code"),
            );
        }
        NotLiteral
    }

    fn expression(
        &mut self,
        expression: &'p Expression<'p>,
        path: &Path<'_>,
    ) -> Result<Evaluated, NotLiteral> {
        self.depth += 1;
        self.values += 1;
        let result = if self.depth > MAX_DEPTH {
            Err(self.report(expression.span(), path, format!("is nested more than {MAX_DEPTH} levels deep")))
        } else if self.values > MAX_VALUES {
            // Every open level ends here, and the first one says why.
            if !std::mem::replace(&mut self.exhausted, true) {
                self.report(expression.span(), path, format!("has more than {MAX_VALUES} values"));
            }
            Err(NotLiteral)
        } else {
            self.unbounded(expression, path)
        };
        self.depth -= 1;
        result
    }

    fn unbounded(
        &mut self,
        expression: &'p Expression<'p>,
        path: &Path<'_>,
    ) -> Result<Evaluated, NotLiteral> {
        let span = Span::of(expression.span());
        let node = |value| Ok(Evaluated::Node(Node { value, span }));
        match expression {
            Expression::NullLiteral(_) => node(Value::Null),
            Expression::BooleanLiteral(literal) => node(Value::Bool(literal.value)),
            Expression::NumericLiteral(literal) => node(Value::Number(literal.value)),
            Expression::StringLiteral(literal) if literal.lone_surrogates => {
                Err(self.report(literal.span, path, "holds half of a character pair (a lone surrogate)"))
            }
            Expression::StringLiteral(literal) => node(Value::String(literal.value.as_str().into())),
            Expression::TemplateLiteral(template) => self
                .template(template, path)
                .map(|text| Evaluated::Node(Node { value: Value::String(text.into()), span })),
            Expression::UnaryExpression(unary) => {
                let operand = self.expression(&unary.argument, path)?;
                match (unary.operator, operand) {
                    (
                        UnaryOperator::UnaryNegation,
                        Evaluated::Node(Node { value: Value::Number(value), .. }),
                    ) => node(Value::Number(-value)),
                    (UnaryOperator::UnaryPlus, Evaluated::Node(Node { value: Value::Number(value), .. })) => {
                        node(Value::Number(value))
                    }
                    (UnaryOperator::Void, _) => Ok(Evaluated::Undefined),
                    _ => Err(self.report(unary.span, path, "uses an operator that data cannot have")),
                }
            }
            Expression::BinaryExpression(binary) => self
                .concatenation(binary, path)
                .map(|text| Evaluated::Node(Node { value: Value::String(text.into()), span })),
            Expression::ParenthesizedExpression(inner) => self.expression(&inner.expression, path),
            Expression::ArrayExpression(array) => self.array(&array.elements, path).and_then(node),
            Expression::ObjectExpression(object) => self.object(&object.properties, path).and_then(node),
            Expression::Identifier(identifier) if identifier.name == "undefined" => Ok(Evaluated::Undefined),
            Expression::Identifier(identifier) => {
                self.constant(identifier.name.as_str(), identifier.span, path)
            }
            Expression::StaticMemberExpression(member) => {
                let object = self.expression(&member.object, path)?;
                let property = member.property.name.as_str();
                match &object {
                    Evaluated::Node(node) if node.is_object() => {
                        Ok(node.get(property).cloned().map_or(Evaluated::Undefined, Evaluated::Node))
                    }
                    _ => Err(self.report(
                        member.span,
                        path,
                        format!("takes `.{property}` of what is not an object"),
                    )),
                }
            }
            Expression::CallExpression(call) => self
                .stringify(call, path)
                .map(|text| Evaluated::Node(Node { value: Value::String(text.into()), span })),
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                Err(self.report(expression.span(), path, "is a function, not data"))
            }
            Expression::RegExpLiteral(_) => {
                Err(self.report(expression.span(), path, "is a regular expression, not data"))
            }
            Expression::BigIntLiteral(_) => {
                Err(self.report(expression.span(), path, "is a BigInt, which JSON cannot hold"))
            }
            _ => Err(self.report(expression.span(), path, "is not a literal value")),
        }
    }

    fn constant(
        &mut self,
        name: &'p str,
        span: oxc_span::Span,
        path: &Path<'_>,
    ) -> Result<Evaluated, NotLiteral> {
        let Some(value) = self.constants.get(name).copied() else {
            return Err(self.report(
                span,
                path,
                format!("refers to `{name}`, which is no constant of this file"),
            ));
        };
        if self.open.contains(&name) {
            return Err(self.report(span, path, format!("refers to `{name}` inside its own value")));
        }
        self.open.push(name);
        let result = self.expression(value, path);
        self.open.pop();
        result
    }

    fn array(
        &mut self,
        elements: &'p [ArrayExpressionElement<'p>],
        path: &Path<'_>,
    ) -> Result<Value, NotLiteral> {
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            match element {
                ArrayExpressionElement::Elision(hole) => {
                    self.values += 1;
                    items.push(Node { value: Value::Null, span: Span::of(hole.span) });
                }
                ArrayExpressionElement::SpreadElement(spread) => {
                    match self.expression(&spread.argument, path) {
                        Ok(Evaluated::Node(Node { value: Value::Array(spread_items), .. })) => {
                            self.values += spread_items.len();
                            items.extend(spread_items);
                        }
                        Ok(_) => {
                            self.report(spread.span, path, "spreads what is not an array");
                        }
                        Err(NotLiteral) => {}
                    }
                }
                element => {
                    let Some(expression) = element.as_expression() else { continue };
                    let place = Path { parent: Some(path), step: Step::Index(items.len()) };
                    let span = Span::of(expression.span());
                    items.push(match self.expression(expression, &place) {
                        Ok(Evaluated::Node(node)) => node,
                        // JSON has null where JavaScript has undefined; a value that is not literal keeps its place.
                        Ok(Evaluated::Undefined) | Err(NotLiteral) => Node { value: Value::Null, span },
                    });
                }
            }
        }
        Ok(Value::Array(items))
    }

    fn object(
        &mut self,
        properties: &'p [ObjectPropertyKind<'p>],
        path: &Path<'_>,
    ) -> Result<Value, NotLiteral> {
        let mut entries = Vec::with_capacity(properties.len());
        for property in properties {
            match property {
                ObjectPropertyKind::SpreadProperty(spread) => match self.expression(&spread.argument, path) {
                    Ok(Evaluated::Node(Node { value: Value::Object(spread_entries), .. })) => {
                        self.values += spread_entries.len();
                        entries.extend(spread_entries);
                    }
                    Ok(Evaluated::Undefined | Evaluated::Node(Node { value: Value::Null, .. }))
                    | Err(NotLiteral) => {}
                    Ok(_) => {
                        self.report(spread.span, path, "spreads what is not an object");
                    }
                },
                ObjectPropertyKind::ObjectProperty(property) => {
                    if let Ok(Some(entry)) = self.property(property, path) {
                        entries.push(entry);
                    }
                }
            }
        }
        Ok(Value::Object(ordered(entries)))
    }

    fn property(
        &mut self,
        property: &'p ObjectProperty<'p>,
        path: &Path<'_>,
    ) -> Result<Option<Entry>, NotLiteral> {
        let key: Box<str> = match &property.key {
            PropertyKey::StaticIdentifier(name) => name.name.as_str().into(),
            PropertyKey::StringLiteral(literal) => literal.value.as_str().into(),
            PropertyKey::NumericLiteral(literal) => ryu_js::Buffer::new().format(literal.value).into(),
            key => {
                let computed = if property.computed { key.as_expression() } else { None };
                let Some(expression) = computed else {
                    return Err(self.report(key.span(), path, "has a key that is not a literal"));
                };
                match self.expression(expression, path)? {
                    Evaluated::Node(node) => match node.value {
                        Value::String(text) => text,
                        Value::Number(_) => node.to_json().into(),
                        _ => return Err(self.report(key.span(), path, "has a key that is not a literal")),
                    },
                    Evaluated::Undefined => {
                        return Err(self.report(key.span(), path, "has a key that is undefined"));
                    }
                }
            }
        };
        let place = Path { parent: Some(path), step: Step::Key(&key) };
        if &*key == "__proto__" {
            return Err(self.report(
                property.span,
                &place,
                "is not allowed as a key: JavaScript gives it another meaning",
            ));
        }
        if property.method || property.kind != PropertyKind::Init {
            return Err(self.report(property.span, &place, "is a function, not data"));
        }
        let key_span = Span::of(property.key.span());
        Ok(match self.expression(&property.value, &place)? {
            Evaluated::Node(node) => Some(Entry { key, key_span, node }),
            // JSON.stringify leaves undefined properties out.
            Evaluated::Undefined => None,
        })
    }

    fn template(&mut self, template: &'p TemplateLiteral<'p>, path: &Path<'_>) -> Result<String, NotLiteral> {
        let mut text = String::new();
        for (index, quasi) in template.quasis.iter().enumerate() {
            if quasi.lone_surrogates {
                return Err(self.report(
                    quasi.span,
                    path,
                    "holds half of a character pair (a lone surrogate)",
                ));
            }
            let Some(cooked) = &quasi.value.cooked else {
                return Err(self.report(quasi.span, path, "has an escape that JavaScript does not know"));
            };
            text.push_str(cooked.as_str());
            if let Some(expression) = template.expressions.get(index) {
                let part = self.expression(expression, path)?;
                self.append(&mut text, part, expression.span(), path)?;
            }
        }
        Ok(text)
    }

    /// `'a' + CONST + 'b'`: the left side is walked in a loop, since long texts are often joined from many lines.
    fn concatenation(
        &mut self,
        binary: &'p BinaryExpression<'p>,
        path: &Path<'_>,
    ) -> Result<String, NotLiteral> {
        let mut operands = Vec::new();
        let mut current = binary;
        let first = loop {
            if current.operator != BinaryOperator::Addition {
                return Err(self.report(current.span, path, "is calculated, not a literal"));
            }
            operands.push(&current.right);
            match &current.left {
                Expression::BinaryExpression(left) => current = left,
                other => break other,
            }
        };
        operands.push(first);
        let mut text = String::new();
        let mut has_string = false;
        for (index, operand) in operands.into_iter().rev().enumerate() {
            let part = self.expression(operand, path)?;
            has_string |= matches!(&part, Evaluated::Node(node) if node.as_str().is_some());
            if index == 1 && !has_string {
                return Err(self.report(binary.span, path, "is calculated, not a literal"));
            }
            self.append(&mut text, part, operand.span(), path)?;
        }
        Ok(text)
    }

    fn append(
        &mut self,
        text: &mut String,
        part: Evaluated,
        span: oxc_span::Span,
        path: &Path<'_>,
    ) -> Result<(), NotLiteral> {
        let Evaluated::Node(node) = part else {
            return Err(self.report(span, path, "joins undefined to a string"));
        };
        let before = text.len();
        match &node.value {
            Value::String(part) => text.push_str(part),
            Value::Number(_) | Value::Bool(_) | Value::Null => text.push_str(&node.to_json()),
            Value::Array(_) | Value::Object(_) => {
                return Err(self.report(span, path, format!("joins {} to a string", node.type_name())));
            }
        }
        self.joined += text.len() - before;
        if self.joined > MAX_JOINED_BYTES {
            return Err(self.report(
                span,
                path,
                format!("joins strings to more than {MAX_JOINED_BYTES} bytes"),
            ));
        }
        Ok(())
    }

    /// `JSON.stringify(literal)`, which schemas use for body templates, is as good as a literal.
    fn stringify(&mut self, call: &'p CallExpression<'p>, path: &Path<'_>) -> Result<String, NotLiteral> {
        let is_stringify = matches!(&call.callee, Expression::StaticMemberExpression(member)
            if member.property.name == "stringify"
                && matches!(&member.object, Expression::Identifier(object) if object.name == "JSON"));
        let argument = match call.arguments.as_slice() {
            [argument] if is_stringify => Argument::as_expression(argument),
            _ => None,
        };
        let Some(argument) = argument else {
            return Err(self.report(call.span, path, "calls a function"));
        };
        match self.expression(argument, path)? {
            Evaluated::Node(node) => {
                let text = node.to_json();
                self.joined += text.len();
                if self.joined > MAX_JOINED_BYTES {
                    return Err(self.report(
                        call.span,
                        path,
                        format!("joins strings to more than {MAX_JOINED_BYTES} bytes"),
                    ));
                }
                Ok(text)
            }
            Evaluated::Undefined => Err(self.report(call.span, path, "is undefined")),
        }
    }
}
