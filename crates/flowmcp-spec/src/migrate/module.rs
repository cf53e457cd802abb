//! A parsed file as migration looks at it: objects written out, who refers to what, and the text between.

use std::{borrow::Cow, ops::Range};

use oxc_ast::ast::{
    BindingPattern, Declaration, Expression, IdentifierReference, ImportExpression, ObjectExpression,
    ObjectProperty, ObjectPropertyKind, Program, Statement, TemplateElement, VariableDeclaration,
    VariableDeclarationKind,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::{Scoping, SemanticBuilder, SymbolId};
use oxc_span::{GetSpan, Span};

use super::edits::slice;
use crate::read;

/// Constants that are followed through one another.
const MAX_HOPS: usize = 8;

pub(super) struct Module<'p> {
    pub(super) text: &'p str,
    pub(super) program: &'p Program<'p>,
    scoping: Scoping,
    references: Vec<Reference<'p>>,
    /// Places whose line breaks are part of a value.
    templates: Vec<Span>,
    /// Calls of `import()`.
    pub(super) dynamic_imports: Vec<Span>,
}

/// One mention of a name.
pub(super) struct Reference<'p> {
    pub(super) name: &'p str,
    pub(super) span: Span,
    symbol: Option<SymbolId>,
}

/// One property of an object that is written out in the file.
#[derive(Clone, Copy)]
pub(super) struct Member<'p> {
    pub(super) property: &'p ObjectProperty<'p>,
    pub(super) object: &'p ObjectExpression<'p>,
}

/// A spread, or a key that is calculated.
pub(super) struct NotWritten(pub(super) Span);

impl<'p> Member<'p> {
    /// Its key; members with calculated keys are not made.
    pub(super) fn key(&self) -> Cow<'p, str> {
        self.property.key.static_name().unwrap_or_default()
    }
}

impl<'p> Module<'p> {
    pub(super) fn new(text: &'p str, program: &'p Program<'p>) -> Self {
        let scoping = SemanticBuilder::new().build(program).semantic.into_scoping();
        let mut found = Found {
            scoping: &scoping,
            references: Vec::new(),
            templates: Vec::new(),
            dynamic_imports: Vec::new(),
        };
        found.visit_program(program);
        let Found { references, mut templates, dynamic_imports, .. } = found;
        templates.sort_unstable_by_key(|span| span.start);
        Module { text, program, scoping, references, templates, dynamic_imports }
    }

    /// The object that an expression is, directly or through constants of the file.
    pub(super) fn object(&self, expression: &'p Expression<'p>) -> Option<&'p ObjectExpression<'p>> {
        match self.behind(expression) {
            Expression::ObjectExpression(object) => Some(object),
            _ => None,
        }
    }

    /// What an expression stands for, through constants of the file.
    pub(super) fn behind(&self, expression: &'p Expression<'p>) -> &'p Expression<'p> {
        let mut found = expression.without_parentheses();
        for _ in 0..MAX_HOPS {
            let Expression::Identifier(identifier) = found else { break };
            let Some(value) = self.constant(identifier.name.as_str()) else { break };
            found = value.without_parentheses();
        }
        found
    }

    fn constant(&self, name: &str) -> Option<&'p Expression<'p>> {
        let declaration = self.declaration(name)?;
        let is_const = declaration.kind == VariableDeclarationKind::Const;
        let declarator = declaration.declarations.iter().find(|declarator| is_named(&declarator.id, name))?;
        declarator.init.as_ref().filter(|_| is_const)
    }

    /// Constants of the module, with the places of their values.
    pub(super) fn constants(&self) -> impl Iterator<Item = (&'p str, Span)> {
        read::constants(self.program).map(|(name, value)| (name, value.span()))
    }

    /// The declaration of a variable of the module, exported or not.
    pub(super) fn declaration(&self, name: &str) -> Option<&'p VariableDeclaration<'p>> {
        let declarations = self.program.body.iter().filter_map(|statement| match statement {
            Statement::VariableDeclaration(variables) => Some(&**variables),
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::VariableDeclaration(variables) => Some(&**variables),
                _ => None,
            },
            _ => None,
        });
        declarations
            .into_iter()
            .find(|variables| variables.declarations.iter().any(|variable| is_named(&variable.id, name)))
    }

    /// The properties of an object with the spreads of constants written out.
    pub(super) fn members(&self, object: &'p ObjectExpression<'p>) -> Result<Vec<Member<'p>>, NotWritten> {
        self.members_within(object, MAX_HOPS)
    }

    fn members_within(
        &self,
        object: &'p ObjectExpression<'p>,
        hops: usize,
    ) -> Result<Vec<Member<'p>>, NotWritten> {
        let mut members = Vec::with_capacity(object.properties.len());
        for property in &object.properties {
            match property {
                ObjectPropertyKind::ObjectProperty(property) => match property.key.static_name() {
                    Some(_) if !property.computed => members.push(Member { property, object }),
                    _ => return Err(NotWritten(property.key.span())),
                },
                ObjectPropertyKind::SpreadProperty(spread) => {
                    let spread_object = hops.checked_sub(1).zip(self.object(&spread.argument));
                    let Some((hops, inner)) = spread_object else { return Err(NotWritten(spread.span)) };
                    members.extend(self.members_within(inner, hops)?);
                }
            }
        }
        Ok(members)
    }

    /// All mentions of a name of the module, its declaration left out.
    pub(super) fn references_to(&self, name: &str) -> Vec<&Reference<'p>> {
        let symbol = self.symbol(name);
        let found = self.references.iter().filter(|found| found.name == name && found.symbol == symbol);
        if symbol.is_some() { found.collect() } else { Vec::new() }
    }

    fn symbol(&self, name: &str) -> Option<SymbolId> {
        let bindings = self.scoping.get_bindings(self.scoping.root_scope_id());
        bindings.iter().find(|(bound, _)| bound.as_str() == name).map(|(_, symbol)| *symbol)
    }

    /// Where the module declares a name.
    pub(super) fn binding(&self, name: &str) -> Option<Span> {
        self.symbol(name).map(|symbol| self.scoping.symbol_span(symbol))
    }

    /// Whether a name means something at the top of the module: declared there, or taken from the outside.
    pub(super) fn is_taken(&self, name: &str) -> bool {
        self.symbol(name).is_some()
            || self.references.iter().any(|found| found.symbol.is_none() && found.name == name)
    }

    /// Whether a place lies inside a template, where white space is part of the value.
    pub(super) fn is_in_template(&self, at: u32) -> bool {
        let index = self.templates.partition_point(|span| span.start < at);
        index.checked_sub(1).and_then(|index| self.templates.get(index)).is_some_and(|span| at <= span.end)
    }

    /// The next place that is neither white space nor a comment.
    pub(super) fn after_trivia(&self, mut at: u32) -> u32 {
        loop {
            let rest = slice(self.text, at..self.end());
            at += rest.len() as u32 - rest.trim_start().len() as u32;
            let index = self.program.comments.partition_point(|comment| comment.span.start < at);
            match self.program.comments.get(index) {
                Some(comment) if comment.span.start == at && comment.span.end > at => at = comment.span.end,
                _ => return at,
            }
        }
    }

    /// The place after the comma that follows, if one does.
    pub(super) fn after_comma(&self, at: u32) -> Option<u32> {
        let comma = self.after_trivia(at);
        slice(self.text, comma..self.end()).starts_with(',').then_some(comma + 1)
    }

    /// The end of what stands on the same line behind a place, when that is nothing but comments: they belong to it.
    pub(super) fn after_line_comments(&self, at: u32) -> u32 {
        let line = slice(self.text, at..self.end());
        let line_end = at + line.find(['\r', '\n']).unwrap_or(line.len()) as u32;
        let mut end = at;
        for comment in self.comments_in(at..line_end) {
            if slice(self.text, end..comment.start).trim().is_empty() && comment.end <= line_end {
                end = comment.end;
            }
        }
        if slice(self.text, end..line_end).trim().is_empty() { end } else { at }
    }

    /// Comments that begin in a range.
    pub(super) fn comments_in(&self, range: Range<u32>) -> impl Iterator<Item = Range<u32>> + '_ {
        let first = self.program.comments.partition_point(|comment| comment.span.start < range.start);
        let rest = self.program.comments.get(first..).unwrap_or_default();
        rest.iter()
            .map(|comment| comment.span.start..comment.span.end)
            .take_while(move |comment| comment.start < range.end)
    }

    /// White space at the beginning of the line that a place is on.
    pub(super) fn indent(&self, at: u32) -> &'p str {
        let before = slice(self.text, 0..at);
        let line = before.get(before.rfind('\n').map_or(0, |at| at + 1)..).unwrap_or_default();
        line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
    }

    /// Where the white space before a place begins, its line break included.
    pub(super) fn before_space(&self, at: u32) -> u32 {
        let before = slice(self.text, 0..at).trim_end_matches([' ', '\t']);
        let before = before.strip_suffix('\n').map_or(before, |line| line.strip_suffix('\r').unwrap_or(line));
        before.len() as u32
    }

    pub(super) fn end(&self) -> u32 {
        self.text.len() as u32
    }

    /// The line break that the file uses.
    pub(super) fn line_break(&self) -> &'static str {
        let first =
            self.text.find('\n').and_then(|at| at.checked_sub(1)).and_then(|at| self.text.as_bytes().get(at));
        if first == Some(&b'\r') { "\r\n" } else { "\n" }
    }
}

/// Whether a pattern is this one name.
pub(super) fn is_named(pattern: &BindingPattern<'_>, name: &str) -> bool {
    matches!(pattern, BindingPattern::BindingIdentifier(identifier) if identifier.name == name)
}

/// Collects names and templates on the way through the tree.
struct Found<'p, 's> {
    scoping: &'s Scoping,
    references: Vec<Reference<'p>>,
    templates: Vec<Span>,
    dynamic_imports: Vec<Span>,
}

impl<'p> Visit<'p> for Found<'p, '_> {
    fn visit_identifier_reference(&mut self, identifier: &IdentifierReference<'p>) {
        let symbol = identifier.reference_id.get().and_then(|id| self.scoping.get_reference(id).symbol_id());
        let name = identifier.name.as_str();
        self.references.push(Reference { name, span: identifier.span, symbol });
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'p>) {
        self.dynamic_imports.push(import.span);
        walk::walk_import_expression(self, import);
    }

    fn visit_template_element(&mut self, element: &TemplateElement<'p>) {
        self.templates.push(element.span);
    }
}
