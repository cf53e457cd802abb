//! Objects that are written out in the file: the tools of the returned one, and the hooks of each tool.

use std::{borrow::Cow, collections::HashMap};

use oxc_ast::ast::{
    Argument, BindingPattern, Expression, ObjectPropertyKind, PropertyKind, Statement,
    VariableDeclarationKind,
};
use oxc_semantic::SymbolId;
use oxc_span::GetSpan;

use super::outline::{Declared, Key, MAX_HOPS, Outline, Resolved, Tool};
use crate::Span;

/// Properties that one returned object may have; spreads of spreads could double for ever.
const MAX_PROPERTIES: usize = 2_000;

/// Objects, names and calls that one returned object may be made of.
const MAX_STEPS: usize = 2_000;

/// Statements that are searched for what a function returns, from its end.
const MAX_SEARCHED: usize = 64;

/// A property of an object that is written out in the file.
struct Property<'a> {
    key: Cow<'a, str>,
    key_span: Span,
    start: u32,
    /// `None` for accessors, which calculate it.
    value: Option<&'a Expression<'a>>,
}

/// An object with the constants it is made of.
#[derive(Default)]
struct Written<'a> {
    properties: Vec<Property<'a>>,
    constants: Vec<(SymbolId, u32)>,
    steps: usize,
}

impl<'a> Outline<'a, '_> {
    pub(super) fn find_tools(&mut self, object: &'a Expression<'a>) -> Option<Vec<Tool<'a>>> {
        let mut written = Written::default();
        self.write_out(object, 0, &mut written)?;
        for (symbol, start) in written.constants {
            self.constants.push(symbol);
            self.resolved.insert(start, Resolved::Apart);
        }
        self.watched.extend(&self.constants);
        let mut tools: Vec<Tool<'a>> = Vec::new();
        let mut index_of: HashMap<Cow<'a, str>, usize> = HashMap::new();
        for Property { key, key_span, start, value } in written.properties {
            let unit = *self.entries.entry(start).or_insert_with(|| {
                self.units += 1;
                self.units - 1
            });
            let (hooks, constants) = value.map_or((None, Vec::new()), |value| self.find_hooks(value));
            match index_of.get(&key).and_then(|index| tools.get_mut(*index)) {
                // The later property wins, but whatever the earlier one reaches is counted too.
                Some(tool) => {
                    (tool.span, tool.hooks, tool.constants) = (key_span, hooks, constants);
                    tool.units.push(unit);
                }
                None => {
                    index_of.insert(key.clone(), tools.len());
                    tools.push(Tool { name: key, units: vec![unit], span: key_span, hooks, constants });
                }
            }
        }
        Some(tools)
    }

    fn find_hooks(&mut self, value: &'a Expression<'a>) -> (Option<Vec<Key<'a>>>, Vec<SymbolId>) {
        let mut written = Written::default();
        if self.write_out(value, 0, &mut written).is_none() {
            return (None, Vec::new());
        }
        for (symbol, start) in &written.constants {
            self.watched.insert(*symbol);
            self.resolved.insert(*start, Resolved::Whole);
        }
        let mut hooks: Vec<Key<'a>> = Vec::new();
        let mut seen = HashMap::new();
        for Property { key, key_span, .. } in written.properties {
            match seen.get(&key).and_then(|index: &usize| hooks.get_mut(*index)) {
                Some(hook) => hook.1 = key_span,
                None => {
                    seen.insert(key.clone(), hooks.len());
                    hooks.push((key, key_span));
                }
            }
        }
        (Some(hooks), written.constants.into_iter().map(|(symbol, _)| symbol).collect())
    }

    fn write_out(&self, expression: &'a Expression<'a>, hops: u32, into: &mut Written<'a>) -> Option<()> {
        into.steps += 1;
        if hops > MAX_HOPS || into.steps > MAX_STEPS {
            return None;
        }
        match expression.without_parentheses() {
            Expression::ObjectExpression(object) => {
                for property in &object.properties {
                    match property {
                        ObjectPropertyKind::SpreadProperty(spread) => {
                            self.write_out(&spread.argument, hops + 1, into)?
                        }
                        ObjectPropertyKind::ObjectProperty(property) => {
                            let computed =
                                if property.computed { property.key.as_expression() } else { None };
                            let key = match computed {
                                Some(expression) => self.fold(expression)?,
                                None => property.key.static_name()?,
                            };
                            if key == "__proto__" || into.properties.len() >= MAX_PROPERTIES {
                                return None;
                            }
                            into.properties.push(Property {
                                key,
                                key_span: Span::of(property.key.span()),
                                start: property.span.start,
                                value: (property.kind == PropertyKind::Init).then_some(&property.value),
                            });
                        }
                    }
                }
                Some(())
            }
            Expression::Identifier(identifier) => {
                let symbol = self.symbol(identifier)?;
                let Declared::Constant(value) = self.declared(symbol)? else { return None };
                into.constants.push((symbol, identifier.span.start));
                self.write_out(value, hops + 1, into)
            }
            Expression::CallExpression(call) if matches!(call.callee, Expression::Identifier(_)) => {
                let builder = self.called(&call.callee)?;
                let returned = builder.returned?.without_parentheses();
                let local = match returned {
                    Expression::Identifier(identifier) => self.symbol(identifier).and_then(|symbol| {
                        let value = local_constant(builder.statements.unwrap_or_default(), symbol)?;
                        Some((symbol, identifier.span.start, value))
                    }),
                    _ => None,
                };
                match local {
                    Some((symbol, start, value)) => {
                        into.constants.push((symbol, start));
                        self.write_out(value, hops + 1, into)
                    }
                    None => self.write_out(returned, hops + 1, into),
                }
            }
            Expression::CallExpression(call) => {
                let Expression::StaticMemberExpression(member) = &call.callee else { return None };
                let Expression::Identifier(object) = &member.object else { return None };
                let [argument] = call.arguments.as_slice() else { return None };
                let is_kept =
                    matches!(member.property.name.as_str(), "freeze" | "seal" | "preventExtensions");
                if !is_kept || object.name != "Object" || self.symbol(object).is_some() {
                    return None;
                }
                self.write_out(Argument::as_expression(argument)?, hops + 1, into)
            }
            _ => None,
        }
    }
}

/// The value of a constant that a function declares for what it returns.
fn local_constant<'a>(statements: &'a [Statement<'a>], symbol: SymbolId) -> Option<&'a Expression<'a>> {
    let searched = statements.iter().rev().take(MAX_SEARCHED);
    let variables = searched.filter_map(|statement| match statement {
        Statement::VariableDeclaration(variables) if variables.kind == VariableDeclarationKind::Const => {
            Some(&variables.declarations)
        }
        _ => None,
    });
    let mut values = variables.flatten().filter_map(|declarator| match &declarator.id {
        BindingPattern::BindingIdentifier(id) if id.symbol_id.get() == Some(symbol) => {
            declarator.init.as_ref()
        }
        _ => None,
    });
    values.next()
}
