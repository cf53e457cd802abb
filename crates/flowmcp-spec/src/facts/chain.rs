//! Names and what is taken from them: `a.b['c']`, and ways around names that lead through such chains.

use std::{borrow::Cow, ops::Range};

use oxc_ast::ast::{
    Argument, BindingPattern, ChainElement, ComputedMemberExpression, Expression, IdentifierReference,
    PrivateFieldExpression, PropertyKey, StaticMemberExpression,
};
use oxc_ast_visit::Visit;
use oxc_semantic::SymbolId;
use oxc_span::GetSpan;
use oxc_syntax::operator::LogicalOperator;

use super::{
    names::{is_global_object, is_harmless},
    outline::{Declared, Resolved},
    reach::FILE,
    walk::{Access, Walk},
};
use crate::Span;

/// One step of `a.b['c']`.
#[derive(Debug)]
pub(super) struct Key<'a> {
    /// `None` when it is not a literal.
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) span: Span,
    /// `?.`, which does nothing where there is nothing.
    pub(super) optional: bool,
    computed: bool,
}

/// What becomes of a value.
#[derive(Clone, Copy)]
pub(super) enum End<'a> {
    /// It goes somewhere that is not followed.
    Value,
    /// It is only looked at: a condition, a comparison.
    Test,
    Written,
    Called,
    Declared(&'a BindingPattern<'a>),
    /// The n-th argument of a function of this file.
    Argument(SymbolId, usize),
}

#[derive(Clone, Copy)]
pub(super) enum Link<'e, 'a> {
    Static(&'e StaticMemberExpression<'a>),
    Computed(&'e ComputedMemberExpression<'a>),
    Private(&'e PrivateFieldExpression<'a>),
}

impl<'e, 'a> Link<'e, 'a> {
    fn of(expression: &'e Expression<'a>) -> Option<Self> {
        match expression.without_parentheses() {
            Expression::StaticMemberExpression(member) => Some(Link::Static(member)),
            Expression::ComputedMemberExpression(member) => Some(Link::Computed(member)),
            Expression::PrivateFieldExpression(member) => Some(Link::Private(member)),
            Expression::ChainExpression(chain) => match &chain.expression {
                ChainElement::StaticMemberExpression(member) => Some(Link::Static(member)),
                ChainElement::ComputedMemberExpression(member) => Some(Link::Computed(member)),
                ChainElement::PrivateFieldExpression(member) => Some(Link::Private(member)),
                _ => None,
            },
            _ => None,
        }
    }

    fn object(self) -> &'e Expression<'a> {
        match self {
            Link::Static(member) => &member.object,
            Link::Computed(member) => &member.object,
            Link::Private(member) => &member.object,
        }
    }
}

impl<'a> Walk<'a, '_> {
    /// Walks an expression whose value ends as told.
    pub(super) fn value(&mut self, expression: &Expression<'a>, end: End<'a>) {
        match expression {
            Expression::ParenthesizedExpression(inner) => self.value(&inner.expression, end),
            Expression::Identifier(identifier) => self.name(identifier, 0..0, end),
            Expression::LogicalExpression(logical) => {
                let left = if logical.operator == LogicalOperator::And { End::Test } else { end };
                self.value(&logical.left, left);
                self.value(&logical.right, end);
            }
            Expression::ConditionalExpression(conditional) => {
                self.value(&conditional.test, End::Test);
                self.value(&conditional.consequent, end);
                self.value(&conditional.alternate, end);
            }
            Expression::SequenceExpression(sequence) => {
                if let Some((last, others)) = sequence.expressions.split_last() {
                    others.iter().for_each(|other| self.value(other, End::Test));
                    self.value(last, end);
                }
            }
            Expression::AwaitExpression(awaited) => self.value(&awaited.argument, end),
            expression => match Link::of(expression) {
                Some(link) => self.chain(link, end),
                None => self.visit_expression(expression),
            },
        }
    }

    pub(super) fn chain(&mut self, top: Link<'_, 'a>, end: End<'a>) {
        let from = self.keys.len();
        let mut computed = false;
        let mut link = top;
        let root = loop {
            let key = match link {
                Link::Static(member) => Key {
                    name: Some(Cow::Borrowed(member.property.name.as_str())),
                    span: Span::of(member.property.span),
                    optional: member.optional,
                    computed: false,
                },
                Link::Computed(member) => {
                    computed = true;
                    Key {
                        name: self.outline.fold(&member.expression),
                        span: Span::of(member.expression.span()),
                        optional: member.optional,
                        computed: true,
                    }
                }
                Link::Private(member) => {
                    let span = Span::of(member.field.span);
                    Key { name: Some(Cow::Borrowed("#")), span, optional: member.optional, computed: false }
                }
            };
            self.keys.push(key);
            match Link::of(link.object()) {
                Some(next) => link = next,
                None => break link.object().without_parentheses(),
            }
        };
        let keys = from..self.keys.len();
        if let Some(keys) = self.keys.get_mut(keys.clone()) {
            keys.reverse();
        }
        self.detours(keys.clone(), root, end);
        match root {
            Expression::Identifier(identifier) => self.name(identifier, keys, end),
            root => self.visit_expression(root),
        }
        let mut link = computed.then_some(top);
        while let Some(current) = link {
            if let Link::Computed(member) = current {
                self.visit_expression(&member.expression);
            }
            link = Link::of(current.object());
        }
    }

    /// Ways to `eval` and `Function` that do not spell them: through `constructor`, and through texts.
    fn detours(&mut self, keys: Range<usize>, root: &Expression<'a>, end: End<'a>) {
        let mut found = Vec::new();
        let list = self.keys.get(keys).unwrap_or_default();
        let name = |index: usize| list.get(index).and_then(|key| key.name.as_deref());
        for (index, key) in list.iter().enumerate() {
            let leads_to = match key.name.as_deref() {
                Some("eval") if key.computed => "eval",
                Some("Function") if key.computed => "Function",
                Some("constructor") => {
                    let before = index.checked_sub(1).and_then(name);
                    let behind_function = index == 0 && is_function(root, name(1));
                    let is_called = match name(index + 1) {
                        None => matches!(end, End::Called) && !matches!(root, Expression::ThisExpression(_)),
                        Some(next) => matches!(next, "call" | "apply" | "bind"),
                    };
                    if !(key.computed
                        || matches!(before, Some("constructor" | "__proto__"))
                        || behind_function
                        || is_called)
                    {
                        continue;
                    }
                    "Function"
                }
                _ => continue,
            };
            found.push((leads_to, key.span));
        }
        for (name, span) in found {
            self.global(Cow::Borrowed(name), span);
        }
    }

    pub(super) fn name(&mut self, identifier: &IdentifierReference<'a>, keys: Range<usize>, end: End<'a>) {
        let Some(id) = identifier.reference_id.get() else { return };
        let reference = self.scoping.get_reference(id);
        let Some(symbol) = reference.symbol_id() else { return self.unresolved(identifier, keys, end) };
        let how = self.outline.resolved.get(&identifier.span.start).copied();
        let target = self.outline.unit_of(symbol);
        if target != FILE && target != self.unit && how != Some(Resolved::Apart) {
            self.edges.push((self.unit, target));
            if self.unit != FILE && (reference.is_write() || matches!(end, End::Written)) {
                self.edges.push((target, self.unit));
            }
        }
        if how.is_none() && self.outline.watched.contains(&symbol) {
            let is_read = match end {
                End::Test | End::Called => true,
                End::Written => false,
                End::Value | End::Declared(_) | End::Argument(..) => keys.len() > 1,
            };
            if !is_read || reference.is_write() {
                self.open.insert(symbol);
            }
        }
        self.accesses.push(Access {
            span: Span::of(identifier.span),
            keys,
            end,
            unit: self.unit,
            eager: self.eager,
        });
        if let Some(index) = self.access_of.get_mut(id.index()) {
            *index = self.accesses.len();
        }
    }

    fn unresolved(&mut self, identifier: &IdentifierReference<'a>, keys: Range<usize>, end: End<'a>) {
        let name = identifier.name.as_str();
        if is_harmless(name) {
            return;
        }
        self.global(Cow::Borrowed(name), Span::of(identifier.span));
        if !is_global_object(name) {
            return;
        }
        // `globalThis.process` uses `process` as well.
        let steps = self.keys.get(keys.clone()).unwrap_or_default().iter();
        let step = steps
            .map(|key| (key.name.clone(), key.span))
            .find(|(name, _)| !name.as_deref().is_some_and(is_global_object));
        match (step, end) {
            // Computed ones have been noted as detours.
            (Some((Some(name), _)), _) if name == "eval" || name == "Function" => {
                if let Some(key) = self.keys.get(keys.start).filter(|key| !key.computed) {
                    let span = key.span;
                    self.global(name, span);
                }
            }
            (Some((Some(name), span)), _) if !is_harmless(&name) => self.global(name, span),
            (None, End::Declared(BindingPattern::ObjectPattern(pattern))) => {
                for property in &pattern.properties {
                    match property.key.static_name() {
                        Some(name) if !property.computed && !is_harmless(&name) && name != "constructor" => {
                            self.global(name, Span::of(property.key.span()));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn arguments(&mut self, callee: &Expression<'a>, arguments: &[Argument<'a>]) {
        let function = match callee.without_parentheses() {
            Expression::Identifier(identifier) => self.outline.symbol(identifier),
            _ => None,
        };
        let function = function.filter(|symbol| match self.outline.declared(*symbol) {
            Some(Declared::Constant(value)) => is_function(value.without_parentheses(), None),
            Some(Declared::Function(_)) => true,
            None => false,
        });
        let mut spread = false;
        for (index, argument) in arguments.iter().enumerate() {
            match (argument, function) {
                (Argument::SpreadElement(element), _) => {
                    spread = true;
                    self.visit_spread_element(element);
                }
                (argument, function) => {
                    let Some(value) = argument.as_expression() else { continue };
                    let end = match function {
                        Some(function) if !spread => End::Argument(function, index),
                        _ => End::Value,
                    };
                    self.value(value, end);
                }
            }
        }
    }

    pub(super) fn constructor_key(&mut self, key: &PropertyKey<'a>, computed: bool) {
        let name = match key.as_expression() {
            Some(expression) if computed => self.outline.fold(expression),
            _ => key.static_name(),
        };
        if name.as_deref() == Some("constructor") {
            self.global(Cow::Borrowed("Function"), Span::of(key.span()));
        }
    }
}

/// Whether a value is a function, or the prototype of something; `.constructor` of it then makes functions from text.
fn is_function(expression: &Expression<'_>, next: Option<&str>) -> bool {
    match expression {
        Expression::ArrowFunctionExpression(_)
        | Expression::FunctionExpression(_)
        | Expression::ClassExpression(_) => true,
        Expression::CallExpression(call) => {
            next.is_some_and(|next| next != "name")
                && matches!(&call.callee, Expression::StaticMemberExpression(member)
                    if member.property.name == "getPrototypeOf")
        }
        _ => false,
    }
}
