//! One walk over the whole tree, which notes every name in its unit, and how it is used there.

use std::{borrow::Cow, collections::HashSet, ops::Range};

use oxc_ast::ast::{
    BindingPattern, Class, Declaration, ExportDefaultDeclarationKind, Expression, Function, ObjectProperty,
    ObjectPropertyKind, Program, Statement, VariableDeclaration,
};
use oxc_ast_visit::Visit;
use oxc_semantic::{ReferenceId, Scoping, SymbolId};
use oxc_span::GetSpan;
use oxc_syntax::scope::ScopeFlags;

use super::{
    chain::{End, Key},
    inert::is_inert_class,
    outline::Outline,
    plain::are_literals,
    reach::{FILE, Found, Unit},
};
use crate::Span;
/// A name of the file, the keys taken from it, and what becomes of that.
pub(super) struct Access<'a> {
    pub(super) span: Span,
    pub(super) keys: Range<usize>,
    pub(super) end: End<'a>,
    pub(super) unit: Unit,
    /// It happens when the file is loaded, although only its result matters to the unit.
    pub(super) eager: bool,
}

pub(super) struct Walk<'a, 's> {
    pub(super) scoping: &'s Scoping,
    pub(super) outline: &'s Outline<'a, 's>,
    pub(super) units: Unit,
    pub(super) edges: Vec<(Unit, Unit)>,
    pub(super) globals: Vec<Found<'a>>,
    pub(super) imports: Vec<Found<'a>>,
    pub(super) keys: Vec<Key<'a>>,
    pub(super) accesses: Vec<Access<'a>>,
    /// Index of each reference's access, plus one.
    pub(super) access_of: Vec<usize>,
    /// Watched constants whose objects may change.
    pub(super) open: HashSet<SymbolId>,
    pub(super) unit: Unit,
    pub(super) eager: bool,
}
impl<'a, 's> Walk<'a, 's> {
    pub(super) fn new(scoping: &'s Scoping, outline: &'s Outline<'a, 's>) -> Self {
        Walk {
            scoping,
            outline,
            units: outline.units,
            edges: Vec::new(),
            globals: Vec::new(),
            imports: Vec::new(),
            keys: Vec::new(),
            accesses: Vec::new(),
            access_of: vec![0; scoping.references_len()],
            open: HashSet::new(),
            unit: FILE,
            eager: false,
        }
    }

    pub(super) fn access(&self, reference: ReferenceId) -> Option<&Access<'a>> {
        let index = self.access_of.get(reference.index())?.checked_sub(1)?;
        self.accesses.get(index)
    }

    pub(super) fn program(&mut self, program: &'a Program<'a>) {
        self.outer(&program.body);
    }

    /// Statements of the module or of the factory, each in the unit it declares.
    fn outer(&mut self, statements: &'a [Statement<'a>]) {
        for statement in statements {
            match statement {
                Statement::ImportDeclaration(_)
                | Statement::ExportFromDeclaration(_)
                | Statement::ExportAllDeclaration(_)
                // A name in an export list is no use of it.
                | Statement::ExportNamedDeclaration(_) => {}
                Statement::VariableDeclaration(variables) => self.outer_variables(variables),
                Statement::FunctionDeclaration(function) => self.outer_function(function),
                Statement::ClassDeclaration(class) => self.outer_class(class),
                Statement::ExportDeclaration(export) => match &export.declaration {
                    Declaration::VariableDeclaration(variables) => self.outer_variables(variables),
                    Declaration::FunctionDeclaration(function) => self.outer_function(function),
                    Declaration::ClassDeclaration(class) => self.outer_class(class),
                    _ => {}
                },
                Statement::ExportDefaultDeclaration(export) => match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => self.outer_function(function),
                    ExportDefaultDeclarationKind::ClassDeclaration(class) => self.outer_class(class),
                    declaration => {
                        if let Some(expression) = declaration.as_expression() {
                            let unit = if self.outline.is_inert(expression) { self.new_unit() } else { FILE };
                            self.within(unit, true, |walk| walk.outer_value(expression, End::Value));
                        }
                    }
                },
                statement => self.within(FILE, false, |walk| walk.visit_statement(statement)),
            }
        }
    }

    fn outer_variables(&mut self, variables: &'a VariableDeclaration<'a>) {
        for declarator in &variables.declarations {
            // Most of a file is `main`, which has nothing to find.
            if matches!(declarator.id, BindingPattern::BindingIdentifier(_))
                && declarator.init.as_ref().is_none_or(|value| are_literals(vec![value]))
            {
                continue;
            }
            let inert = !variables.kind.is_using()
                && declarator.init.as_ref().is_none_or(|value| self.outline.is_inert(value));
            let unit = match &declarator.id {
                _ if !inert => FILE,
                BindingPattern::BindingIdentifier(id) => {
                    id.symbol_id.get().map_or(FILE, |symbol| self.outline.unit_of(symbol))
                }
                pattern => {
                    let unit = self.new_unit();
                    for id in pattern.get_binding_identifiers() {
                        let of_name = id.symbol_id.get().map_or(FILE, |symbol| self.outline.unit_of(symbol));
                        if of_name != FILE {
                            self.edges.push((of_name, unit));
                        }
                    }
                    unit
                }
            };
            self.within(unit, true, |walk| {
                // Defaults and computed keys of a pattern run now.
                walk.within(FILE, false, |walk| walk.visit_binding_pattern(&declarator.id));
                if let Some(value) = &declarator.init {
                    walk.outer_value(value, End::Declared(&declarator.id));
                }
            });
        }
    }

    fn outer_value(&mut self, value: &'a Expression<'a>, end: End<'a>) {
        if self.outline.factory.is_some_and(|factory| factory.span == value.without_parentheses().span()) {
            self.factory();
        } else {
            self.value(value, end);
        }
    }

    fn outer_function(&mut self, function: &'a Function<'a>) {
        if self.outline.factory.is_some_and(|factory| factory.span == function.span) {
            return self.factory();
        }
        let symbol = function.id.as_ref().and_then(|id| id.symbol_id.get());
        let unit = match symbol {
            Some(symbol) => self.outline.unit_of(symbol),
            None => self.new_unit(),
        };
        self.within(unit, false, |walk| walk.visit_function(function, ScopeFlags::Function));
    }

    fn outer_class(&mut self, class: &'a Class<'a>) {
        let symbol = class.id.as_ref().and_then(|id| id.symbol_id.get());
        let unit = match symbol {
            Some(symbol) if is_inert_class(class) => self.outline.unit_of(symbol),
            _ => FILE,
        };
        self.within(unit, true, |walk| walk.visit_class(class));
    }

    pub(super) fn factory(&mut self) {
        let Some(factory) = self.outline.factory else { return };
        self.within(FILE, false, |walk| {
            walk.visit_formal_parameters(factory.params);
            match (factory.statements, factory.returned) {
                (Some(statements), _) => walk.outer(statements),
                (None, Some(returned)) => walk.visit_expression(returned),
                (None, None) => {}
            }
        });
    }

    fn new_unit(&mut self) -> Unit {
        self.units += 1;
        self.units - 1
    }

    pub(super) fn within(&mut self, unit: Unit, eager: bool, then: impl FnOnce(&mut Self)) {
        let before = (self.unit, self.eager);
        (self.unit, self.eager) = (unit, eager);
        then(self);
        (self.unit, self.eager) = before;
    }

    pub(super) fn later(&mut self, then: impl FnOnce(&mut Self)) {
        self.within(self.unit, false, then);
    }

    /// The value of a tool: what it holds belongs to the tool, what runs to get it belongs to the file.
    pub(super) fn tool(&mut self, unit: Unit, property: &ObjectProperty<'a>) {
        if self.unit != FILE {
            self.edges.push((self.unit, unit));
        }
        if property.computed {
            self.visit_property_key(&property.key);
        }
        if self.outline.is_inert(&property.value) {
            self.within(unit, true, |walk| walk.visit_expression(&property.value));
            return;
        }
        let Expression::ObjectExpression(object) = property.value.without_parentheses() else {
            self.within(FILE, false, |walk| walk.visit_expression(&property.value));
            return;
        };
        for each in &object.properties {
            let inert = matches!(each, ObjectPropertyKind::ObjectProperty(hook)
                if !hook.computed && self.outline.is_inert(&hook.value));
            let unit = if inert { unit } else { FILE };
            self.within(unit, true, |walk| walk.visit_object_property_kind(each));
        }
    }

    pub(super) fn global(&mut self, name: Cow<'a, str>, span: Span) {
        // `eval` sees every name around it.
        let unit = if self.eager || name == "eval" { FILE } else { self.unit };
        self.globals.push(Found { name, span, unit });
    }

    pub(super) fn import(&mut self, name: Cow<'a, str>, span: oxc_span::Span) {
        let unit = if self.eager { FILE } else { self.unit };
        self.imports.push(Found { name, span: Span::of(span), unit });
    }
}
