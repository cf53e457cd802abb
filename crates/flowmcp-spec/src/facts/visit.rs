//! Which nodes the walk looks at.

use std::borrow::Cow;

use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentTargetPropertyProperty,
    BinaryExpression, BindingProperty, CallExpression, ComputedMemberExpression, ConditionalExpression,
    Expression, Function, IdentifierReference, IfStatement, ImportExpression, ImportMeta, LogicalExpression,
    NewExpression, ObjectProperty, PrivateFieldExpression, ReturnStatement, SimpleAssignmentTarget,
    SpreadElement, StaticMemberExpression, TaggedTemplateExpression, UnaryExpression, UpdateExpression,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_syntax::{
    operator::{LogicalOperator, UnaryOperator},
    scope::ScopeFlags,
};

use super::{
    CodeUse,
    chain::{End, Link},
    walk::Walk,
};

impl<'a> Visit<'a> for Walk<'a, '_> {
    fn visit_identifier_reference(&mut self, identifier: &IdentifierReference<'a>) {
        self.name(identifier, 0..0, End::Value);
    }

    fn visit_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) {
        self.chain(Link::Static(member), End::Value);
    }

    fn visit_computed_member_expression(&mut self, member: &ComputedMemberExpression<'a>) {
        self.chain(Link::Computed(member), End::Value);
    }

    fn visit_private_field_expression(&mut self, member: &PrivateFieldExpression<'a>) {
        self.chain(Link::Private(member), End::Value);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        match call.callee.without_parentheses() {
            Expression::Identifier(identifier)
                if identifier.name == "require" && self.outline.symbol(identifier).is_none() =>
            {
                let name = call.arguments.first().and_then(Argument::as_expression);
                let name =
                    name.and_then(|name| self.outline.fold(name)).unwrap_or(Cow::Borrowed(CodeUse::ANY));
                self.import(name, call.span);
            }
            _ => self.value(&call.callee, End::Called),
        }
        self.arguments(&call.callee, &call.arguments);
    }

    fn visit_new_expression(&mut self, new: &NewExpression<'a>) {
        self.value(&new.callee, End::Called);
        self.arguments(&new.callee, &new.arguments);
    }

    fn visit_tagged_template_expression(&mut self, tagged: &TaggedTemplateExpression<'a>) {
        self.value(&tagged.tag, End::Called);
        self.visit_template_literal(&tagged.quasi);
    }

    fn visit_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) {
        self.visit_binding_pattern(&declarator.id);
        if let Some(value) = &declarator.init {
            let pattern = self.alloc(&declarator.id);
            self.value(value, End::Declared(pattern));
        }
    }

    fn visit_unary_expression(&mut self, unary: &UnaryExpression<'a>) {
        let end = if unary.operator == UnaryOperator::Delete { End::Written } else { End::Test };
        self.value(&unary.argument, end);
    }

    fn visit_binary_expression(&mut self, binary: &BinaryExpression<'a>) {
        self.value(&binary.left, End::Test);
        self.value(&binary.right, End::Test);
    }

    fn visit_logical_expression(&mut self, logical: &LogicalExpression<'a>) {
        let left = if logical.operator == LogicalOperator::And { End::Test } else { End::Value };
        self.value(&logical.left, left);
        self.value(&logical.right, End::Value);
    }

    fn visit_conditional_expression(&mut self, conditional: &ConditionalExpression<'a>) {
        self.value(&conditional.test, End::Test);
        self.value(&conditional.consequent, End::Value);
        self.value(&conditional.alternate, End::Value);
    }

    fn visit_if_statement(&mut self, statement: &IfStatement<'a>) {
        self.value(&statement.test, End::Test);
        self.visit_statement(&statement.consequent);
        if let Some(alternate) = &statement.alternate {
            self.visit_statement(alternate);
        }
    }

    fn visit_return_statement(&mut self, statement: &ReturnStatement<'a>) {
        if let Some(value) = &statement.argument {
            self.value(value, End::Value);
        }
    }

    fn visit_assignment_expression(&mut self, assignment: &AssignmentExpression<'a>) {
        self.visit_assignment_target(&assignment.left);
        self.value(&assignment.right, End::Value);
    }

    fn visit_update_expression(&mut self, update: &UpdateExpression<'a>) {
        self.visit_simple_assignment_target(&update.argument);
    }

    fn visit_simple_assignment_target(&mut self, target: &SimpleAssignmentTarget<'a>) {
        match target {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(identifier) => {
                self.name(identifier, 0..0, End::Written);
            }
            SimpleAssignmentTarget::StaticMemberExpression(member) => {
                self.chain(Link::Static(member), End::Written)
            }
            SimpleAssignmentTarget::ComputedMemberExpression(member) => {
                self.chain(Link::Computed(member), End::Written);
            }
            target => walk::walk_simple_assignment_target(self, target),
        }
    }

    fn visit_spread_element(&mut self, spread: &SpreadElement<'a>) {
        self.value(&spread.argument, End::Value);
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        let name = self.outline.fold(&import.source).unwrap_or(Cow::Borrowed(CodeUse::ANY));
        self.import(name, import.span);
        self.visit_expression(&import.source);
        if let Some(options) = &import.options {
            self.visit_expression(options);
        }
    }

    fn visit_import_meta(&mut self, meta: &ImportMeta) {
        self.import(Cow::Borrowed("import.meta"), meta.span);
    }

    fn visit_binding_property(&mut self, property: &BindingProperty<'a>) {
        self.constructor_key(&property.key, property.computed);
        walk::walk_binding_property(self, property);
    }

    fn visit_assignment_target_property_property(&mut self, property: &AssignmentTargetPropertyProperty<'a>) {
        self.constructor_key(&property.name, property.computed);
        walk::walk_assignment_target_property_property(self, property);
    }

    fn visit_object_property(&mut self, property: &ObjectProperty<'a>) {
        match self.outline.entries.get(&property.span.start) {
            Some(unit) => self.tool(*unit, property),
            None => walk::walk_object_property(self, property),
        }
    }

    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        self.later(|walk| walk::walk_function(walk, function, flags));
    }

    fn visit_arrow_function_expression(&mut self, arrow: &ArrowFunctionExpression<'a>) {
        self.later(|walk| walk::walk_arrow_function_expression(walk, arrow));
    }
}
