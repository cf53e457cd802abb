//! What can be said of an expression without running it: the text it gives, and whether it runs any code at all.

use std::borrow::Cow;

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, BindingPattern, ChainElement, Class, ClassElement, Expression,
    ObjectPropertyKind, Statement,
};
use oxc_syntax::operator::{BinaryOperator, UnaryOperator};

use super::{
    names,
    outline::{Declared, Factory, Outline},
};

/// Steps that one computed key may take.
const MAX_FOLDS: u32 = 64;

impl<'a> Outline<'a, '_> {
    /// The string that an expression of literals and constants gives.
    pub(super) fn fold(&self, expression: &Expression<'a>) -> Option<Cow<'a, str>> {
        let mut fuel = MAX_FOLDS;
        self.fold_within(expression, &mut fuel)
    }

    fn fold_within(&self, expression: &Expression<'a>, fuel: &mut u32) -> Option<Cow<'a, str>> {
        *fuel = fuel.checked_sub(1)?;
        match expression {
            Expression::StringLiteral(literal) => Some(Cow::Borrowed(literal.value.as_str())),
            Expression::TemplateLiteral(template) => {
                let mut text = String::new();
                for (index, quasi) in template.quasis.iter().enumerate() {
                    text.push_str(quasi.value.cooked?.as_str());
                    if let Some(expression) = template.expressions.get(index) {
                        text.push_str(&self.fold_within(expression, fuel)?);
                    }
                }
                Some(Cow::Owned(text))
            }
            Expression::BinaryExpression(binary) if binary.operator == BinaryOperator::Addition => {
                let left = self.fold_within(&binary.left, fuel)?;
                Some(Cow::Owned(left.into_owned() + &self.fold_within(&binary.right, fuel)?))
            }
            Expression::ParenthesizedExpression(inner) => self.fold_within(&inner.expression, fuel),
            Expression::Identifier(identifier) => match self.declared(self.symbol(identifier)?)? {
                Declared::Constant(value) => self.fold_within(value, fuel),
                Declared::Function(_) => None,
            },
            _ => None,
        }
    }

    /// Whether evaluating an expression runs no code of anybody.
    pub(super) fn is_inert(&self, expression: &Expression<'a>) -> bool {
        match expression {
            Expression::Identifier(_)
            | Expression::ThisExpression(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::FunctionExpression(_)
            | Expression::ImportMeta(_) => true,
            Expression::ClassExpression(class) => is_inert_class(class),
            Expression::TemplateLiteral(template) => {
                template.expressions.iter().all(|each| self.is_inert(each))
            }
            Expression::ParenthesizedExpression(inner) => self.is_inert(&inner.expression),
            Expression::UnaryExpression(unary) => {
                unary.operator != UnaryOperator::Delete && self.is_inert(&unary.argument)
            }
            Expression::BinaryExpression(binary) => {
                self.is_inert(&binary.left) && self.is_inert(&binary.right)
            }
            Expression::LogicalExpression(logical) => {
                self.is_inert(&logical.left) && self.is_inert(&logical.right)
            }
            Expression::ConditionalExpression(conditional) => {
                let parts = [&conditional.test, &conditional.consequent, &conditional.alternate];
                parts.into_iter().all(|part| self.is_inert(part))
            }
            Expression::SequenceExpression(sequence) => {
                sequence.expressions.iter().all(|each| self.is_inert(each))
            }
            Expression::StaticMemberExpression(member) => self.is_inert(&member.object),
            Expression::ComputedMemberExpression(member) => {
                self.is_inert(&member.object) && self.is_inert(&member.expression)
            }
            Expression::ChainExpression(chain) => match &chain.expression {
                ChainElement::StaticMemberExpression(member) => self.is_inert(&member.object),
                ChainElement::ComputedMemberExpression(member) => {
                    self.is_inert(&member.object) && self.is_inert(&member.expression)
                }
                _ => false,
            },
            Expression::ArrayExpression(array) => array.elements.iter().all(|element| match element {
                ArrayExpressionElement::SpreadElement(spread) => self.is_inert(&spread.argument),
                element => element.as_expression().is_none_or(|element| self.is_inert(element)),
            }),
            Expression::ObjectExpression(object) => object.properties.iter().all(|property| match property {
                ObjectPropertyKind::SpreadProperty(spread) => self.is_inert(&spread.argument),
                ObjectPropertyKind::ObjectProperty(property) => {
                    self.is_inert(&property.value)
                        && (!property.computed
                            || property.key.as_expression().is_none_or(|key| self.is_inert(key)))
                }
            }),
            Expression::CallExpression(call) if matches!(call.callee, Expression::Identifier(_)) => {
                self.called(&call.callee).is_some_and(|builder| self.is_builder(builder))
                    && self.are_inert(&call.arguments)
            }
            Expression::CallExpression(call) => {
                let Expression::StaticMemberExpression(member) = &call.callee else { return false };
                let Expression::Identifier(object) = &member.object else { return false };
                names::keeps_arguments(&object.name, &member.property.name)
                    && self.symbol(object).is_none()
                    && self.are_inert(&call.arguments)
            }
            Expression::NewExpression(new) => {
                let Expression::Identifier(class) = &new.callee else { return false };
                names::keeps_its_arguments(&class.name)
                    && self.symbol(class).is_none()
                    && self.are_inert(&new.arguments)
            }
            other => other.is_literal(),
        }
    }

    /// Whether a function only puts values and functions together, so that calling it runs none of them.
    fn is_builder(&self, function: Factory<'a>) -> bool {
        if let Some(known) = self.builders.borrow().get(&function.span.start) {
            return *known;
        }
        let plain = |pattern: &BindingPattern<'a>| matches!(pattern, BindingPattern::BindingIdentifier(_));
        let known = function
            .params
            .items
            .iter()
            .all(|item| plain(&item.pattern) && item.initializer.is_none())
            && function.params.rest.is_none()
            && function.returned.is_some_and(|returned| self.is_put_together(returned))
            && function.statements.unwrap_or_default().iter().all(|statement| match statement {
                Statement::FunctionDeclaration(_) | Statement::ReturnStatement(_) => true,
                Statement::VariableDeclaration(variables) => {
                    !variables.kind.is_using()
                        && variables.declarations.iter().all(|declarator| {
                            plain(&declarator.id)
                                && declarator.init.as_ref().is_none_or(|value| self.is_put_together(value))
                        })
                }
                _ => false,
            });
        self.builders.borrow_mut().insert(function.span.start, known);
        known
    }

    /// Whether an expression is made of literals, functions and names of the file alone.
    fn is_put_together(&self, expression: &Expression<'a>) -> bool {
        match expression.without_parentheses() {
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => true,
            Expression::Identifier(identifier) => {
                self.symbol(identifier).is_some() || names::is_harmless(&identifier.name)
            }
            Expression::ArrayExpression(array) => array
                .elements
                .iter()
                .all(|element| element.as_expression().is_some_and(|element| self.is_put_together(element))),
            Expression::ObjectExpression(object) => object.properties.iter().all(|property| match property {
                ObjectPropertyKind::SpreadProperty(_) => false,
                ObjectPropertyKind::ObjectProperty(property) => {
                    !property.computed && self.is_put_together(&property.value)
                }
            }),
            other => other.is_literal(),
        }
    }

    fn are_inert(&self, arguments: &[Argument<'a>]) -> bool {
        arguments.iter().all(|argument| match argument {
            Argument::SpreadElement(spread) => self.is_inert(&spread.argument),
            argument => argument.as_expression().is_some_and(|argument| self.is_inert(argument)),
        })
    }
}

/// Whether a class definition runs no code: no superclass, no static values, no computed keys.
pub(super) fn is_inert_class(class: &Class<'_>) -> bool {
    class.heritage.is_none()
        && class.decorators.is_empty()
        && class.body.body.iter().all(|element| match element {
            ClassElement::MethodDefinition(method) => !method.computed && method.decorators.is_empty(),
            ClassElement::PropertyDefinition(property) => {
                !property.computed && !property.r#static && property.decorators.is_empty()
            }
            _ => false,
        })
}
