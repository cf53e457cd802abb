//! The outer shape of a file: the `handlers` export, the object it gives, and the declarations around it.

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::{HashMap, HashSet},
};

use oxc_ast::ast::{
    ArrowFunctionExpression, BindingPattern, Declaration, ExportDefaultDeclarationKind, Expression,
    FormalParameters, Function, IdentifierReference, ModuleExportName, Program, Statement,
    VariableDeclaration, VariableDeclarationKind,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::{Scoping, SymbolId};
use oxc_span::GetSpan;
use oxc_syntax::scope::ScopeFlags;

use super::{
    HandledTool, HandlersExport,
    reach::{FILE, Unit},
};
use crate::Span;

/// Names that are followed through one another (`const a = b`), and spreads inside spreads.
pub(super) const MAX_HOPS: u32 = 8;

/// What a name of the module or the factory stands for.
#[derive(Clone, Copy)]
pub(super) enum Declared<'a> {
    Constant(&'a Expression<'a>),
    Function(&'a Function<'a>),
}

/// The exported function.
#[derive(Clone, Copy)]
pub(super) struct Factory<'a> {
    pub(super) span: oxc_span::Span,
    pub(super) params: &'a FormalParameters<'a>,
    /// Statements of its body; `None` when the body is an expression.
    pub(super) statements: Option<&'a [Statement<'a>]>,
    /// What it returns, if there is one place.
    pub(super) returned: Option<&'a Expression<'a>>,
}
/// How an identifier was resolved while an object was written out.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Resolved {
    /// Its properties became tools of their own.
    Apart,
    /// It belongs to one tool.
    Whole,
}

/// A property's key and its place.
pub(super) type Key<'a> = (Cow<'a, str>, Span);

pub(super) struct Tool<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) units: Vec<Unit>,
    pub(super) span: Span,
    pub(super) hooks: Option<Vec<Key<'a>>>,
    pub(super) constants: Vec<SymbolId>,
}

struct Export<'a> {
    pub(super) span: Span,
    can_be_function: bool,
    object: Option<&'a Expression<'a>>,
}

pub(super) struct Outline<'a, 's> {
    scoping: &'s Scoping,
    declared: HashMap<SymbolId, Declared<'a>>,
    /// Unit of each symbol that the module or the factory declares, [`FILE`] for all others.
    unit_of: Vec<Unit>,
    pub(super) units: Unit,
    pub(super) factory: Option<Factory<'a>>,
    pub(super) tools: Option<Vec<Tool<'a>>>,
    /// Units of the properties that are tools, by where they start.
    pub(super) entries: HashMap<u32, Unit>,
    /// Identifiers that the tools were found through, by where they start.
    pub(super) resolved: HashMap<u32, Resolved>,
    /// Constants that the tools were found in: when their objects may change, nothing is known.
    pub(super) watched: HashSet<SymbolId>,
    /// Functions that [`Outline::is_inert`] has looked at, by where they start.
    pub(super) builders: RefCell<HashMap<u32, bool>>,
    pub(super) constants: Vec<SymbolId>,
    export: Option<Export<'a>>,
}

impl<'a, 's> Outline<'a, 's> {
    pub(super) fn of(program: &'a Program<'a>, scoping: &'s Scoping) -> Self {
        let mut outline = Outline {
            scoping,
            declared: HashMap::new(),
            unit_of: vec![FILE; scoping.symbols_len()],
            units: FILE + 1,
            factory: None,
            tools: None,
            entries: HashMap::new(),
            resolved: HashMap::new(),
            watched: HashSet::new(),
            builders: RefCell::new(HashMap::new()),
            constants: Vec::new(),
            export: None,
        };
        outline.declare_all(&program.body);
        outline.export = outline.find_export(program);
        if let Some(factory) = outline.factory {
            for parameter in &factory.params.items {
                outline.claim_all(&parameter.pattern);
            }
            if let Some(rest) = &factory.params.rest {
                outline.claim_all(&rest.rest.argument);
            }
            outline.declare_all(factory.statements.unwrap_or_default());
        }
        let object = match outline.factory {
            Some(factory) => factory.returned,
            None => outline.export.as_ref().and_then(|export| export.object),
        };
        outline.tools = object.and_then(|object| outline.find_tools(object));
        outline
    }

    /// The export as a fact, given the constants whose objects may change; and whether its tools are known.
    pub(super) fn export(&self, changed: &HashSet<SymbolId>) -> (Option<HandlersExport>, bool) {
        let Some(export) = &self.export else { return (None, false) };
        let stable = |constants: &[SymbolId]| !constants.iter().any(|constant| changed.contains(constant));
        let tools = self.tools.as_ref().filter(|_| stable(&self.constants));
        let handled = |tool: &Tool<'a>| HandledTool {
            name: (*tool.name).into(),
            span: tool.span,
            hooks: tool
                .hooks
                .as_ref()
                .filter(|_| stable(&tool.constants))
                .map(|hooks| hooks.iter().map(|(name, span)| ((**name).into(), *span)).collect()),
        };
        let handlers = HandlersExport {
            span: export.span,
            is_factory: export.can_be_function,
            tools: tools.map(|tools| tools.iter().map(handled).collect()),
        };
        (Some(handlers), tools.is_some())
    }

    /// The function of this file that a call runs, if it is no generator and returns at once.
    pub(super) fn called(&self, callee: &Expression<'a>) -> Option<Factory<'a>> {
        let Expression::Identifier(identifier) = callee.without_parentheses() else { return None };
        match self.declared(self.symbol(identifier)?)? {
            Declared::Function(function) if !function.r#async && !function.generator => {
                Some(factory_of(function))
            }
            Declared::Function(_) => None,
            Declared::Constant(value) => match value.without_parentheses() {
                Expression::ArrowFunctionExpression(arrow) if !arrow.r#async => Some(factory_of_arrow(arrow)),
                Expression::FunctionExpression(function) if !function.r#async && !function.generator => {
                    Some(factory_of(function))
                }
                _ => None,
            },
        }
    }

    pub(super) fn unit_of(&self, symbol: SymbolId) -> Unit {
        self.unit_of.get(symbol.index()).copied().unwrap_or(FILE)
    }

    pub(super) fn symbol(&self, identifier: &IdentifierReference<'_>) -> Option<SymbolId> {
        let reference = identifier.reference_id.get()?;
        self.scoping.get_reference(reference).symbol_id()
    }

    pub(super) fn declared(&self, symbol: SymbolId) -> Option<Declared<'a>> {
        self.declared.get(&symbol).copied()
    }

    fn claim(&mut self, symbol: Option<SymbolId>) -> Option<SymbolId> {
        let unit = self.unit_of.get_mut(symbol?.index())?;
        if *unit == FILE {
            *unit = self.units;
            self.units += 1;
        }
        symbol
    }

    fn claim_all(&mut self, pattern: &BindingPattern<'a>) {
        if let BindingPattern::BindingIdentifier(identifier) = pattern {
            self.claim(identifier.symbol_id.get());
            return;
        }
        for identifier in pattern.get_binding_identifiers() {
            self.claim(identifier.symbol_id.get());
        }
    }

    fn declare_all(&mut self, statements: &'a [Statement<'a>]) {
        for statement in statements {
            match statement {
                Statement::VariableDeclaration(variables) => self.declare_variables(variables),
                Statement::FunctionDeclaration(function) => self.declare_function(function),
                Statement::ClassDeclaration(class) => {
                    self.claim(class.id.as_ref().and_then(|id| id.symbol_id.get()));
                }
                Statement::ExportDeclaration(export) => match &export.declaration {
                    Declaration::VariableDeclaration(variables) => self.declare_variables(variables),
                    Declaration::FunctionDeclaration(function) => self.declare_function(function),
                    Declaration::ClassDeclaration(class) => {
                        self.claim(class.id.as_ref().and_then(|id| id.symbol_id.get()));
                    }
                    _ => {}
                },
                Statement::ExportDefaultDeclaration(export) => {
                    if let ExportDefaultDeclarationKind::FunctionDeclaration(function) = &export.declaration {
                        self.declare_function(function);
                    }
                }
                _ => {}
            }
        }
    }

    fn declare_variables(&mut self, variables: &'a VariableDeclaration<'a>) {
        for declarator in &variables.declarations {
            self.claim_all(&declarator.id);
            if variables.kind == VariableDeclarationKind::Const
                && let BindingPattern::BindingIdentifier(identifier) = &declarator.id
                && let (Some(symbol), Some(value)) = (identifier.symbol_id.get(), &declarator.init)
            {
                self.declared.insert(symbol, Declared::Constant(value));
            }
        }
    }

    fn declare_function(&mut self, function: &'a Function<'a>) {
        let symbol = function.id.as_ref().and_then(|id| id.symbol_id.get());
        if let Some(symbol) = self.claim(symbol)
            && !self.declared.contains_key(&symbol)
            && !self.scoping.symbol_is_mutated(symbol)
        {
            self.declared.insert(symbol, Declared::Function(function));
        }
    }

    fn find_export(&mut self, program: &'a Program<'a>) -> Option<Export<'a>> {
        for statement in &program.body {
            match statement {
                Statement::ExportDeclaration(export) => match &export.declaration {
                    Declaration::VariableDeclaration(variables) => {
                        for declarator in &variables.declarations {
                            let ids = declarator.id.get_binding_identifiers();
                            let Some(id) = ids.into_iter().find(|id| id.name == "handlers") else { continue };
                            let span = Span::of(id.span);
                            let value = match &declarator.id {
                                BindingPattern::BindingIdentifier(_) => declarator.init.as_ref(),
                                _ => return Some(Export { span, can_be_function: true, object: None }),
                            };
                            self.constants.extend(id.symbol_id.get());
                            return Some(self.exported(span, value));
                        }
                    }
                    Declaration::FunctionDeclaration(function) => {
                        if let Some(id) = function.id.as_ref().filter(|id| id.name == "handlers") {
                            self.factory = Some(factory_of(function));
                            return Some(Export {
                                span: Span::of(id.span),
                                can_be_function: true,
                                object: None,
                            });
                        }
                    }
                    Declaration::ClassDeclaration(class) => {
                        if let Some(id) = class.id.as_ref().filter(|id| id.name == "handlers") {
                            return Some(Export {
                                span: Span::of(id.span),
                                can_be_function: false,
                                object: None,
                            });
                        }
                    }
                    _ => {}
                },
                Statement::ExportNamedDeclaration(export) => {
                    let specifier =
                        export.specifiers.iter().find(|export| export.exported.name() == "handlers");
                    let Some(specifier) = specifier else { continue };
                    let span = Span::of(specifier.exported.span());
                    let ModuleExportName::IdentifierReference(local) = &specifier.local else { continue };
                    let declared = self.symbol(local).and_then(|symbol| {
                        self.constants.push(symbol);
                        self.declared(symbol)
                    });
                    return Some(match declared {
                        Some(Declared::Constant(value)) => self.exported(span, Some(value)),
                        Some(Declared::Function(function)) => {
                            self.factory = Some(factory_of(function));
                            Export { span, can_be_function: true, object: None }
                        }
                        None => Export { span, can_be_function: true, object: None },
                    });
                }
                Statement::ExportFromDeclaration(export) => {
                    if let Some(found) =
                        export.specifiers.iter().find(|export| export.exported.name() == "handlers")
                    {
                        return Some(Export {
                            span: Span::of(found.span),
                            can_be_function: true,
                            object: None,
                        });
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Follows the exported value to a function or an object.
    fn exported(&mut self, span: Span, value: Option<&'a Expression<'a>>) -> Export<'a> {
        let nothing = Export { span, can_be_function: false, object: None };
        let Some(mut value) = value else { return nothing };
        for _ in 0..MAX_HOPS {
            match value {
                Expression::ParenthesizedExpression(inner) => value = &inner.expression,
                Expression::ArrowFunctionExpression(arrow) => {
                    self.factory = Some(factory_of_arrow(arrow));
                    return Export { can_be_function: true, ..nothing };
                }
                Expression::FunctionExpression(function) => {
                    self.factory = Some(factory_of(function));
                    return Export { can_be_function: true, ..nothing };
                }
                Expression::ObjectExpression(_) => return Export { object: Some(value), ..nothing },
                Expression::Identifier(identifier) => {
                    let symbol = self.symbol(identifier);
                    self.constants.extend(symbol);
                    match symbol.and_then(|symbol| self.declared(symbol)) {
                        Some(Declared::Constant(next)) => {
                            self.resolved.insert(identifier.span.start, Resolved::Apart);
                            value = next;
                        }
                        Some(Declared::Function(function)) => {
                            self.factory = Some(factory_of(function));
                            return Export { can_be_function: true, ..nothing };
                        }
                        None => break,
                    }
                }
                Expression::ArrayExpression(_)
                | Expression::ClassExpression(_)
                | Expression::TemplateLiteral(_)
                | Expression::UnaryExpression(_)
                | Expression::BinaryExpression(_)
                | Expression::NewExpression(_) => return nothing,
                other if other.is_literal() => return nothing,
                _ => break,
            }
        }
        Export { can_be_function: true, ..nothing }
    }
}

fn factory_of_arrow<'a>(arrow: &'a ArrowFunctionExpression<'a>) -> Factory<'a> {
    let statements = arrow.body.as_function_body().map(|body| body.statements.as_slice());
    let returned = match statements {
        Some(statements) => sole_return(statements),
        None => arrow.body.as_expression(),
    };
    Factory { span: arrow.span, params: &arrow.params, statements, returned }
}

fn factory_of<'a>(function: &'a Function<'a>) -> Factory<'a> {
    let statements = function.body.as_ref().map(|body| body.statements.as_slice());
    Factory {
        span: function.span,
        params: &function.params,
        statements,
        returned: statements.filter(|_| !function.generator).and_then(sole_return),
    }
}

/// What a function body returns, when it has one `return` and that stands at its top.
fn sole_return<'a>(statements: &'a [Statement<'a>]) -> Option<&'a Expression<'a>> {
    let mut returns = Returns(0);
    statements.iter().for_each(|statement| returns.visit_statement(statement));
    let mut at_top = statements.iter().filter_map(|statement| match statement {
        Statement::ReturnStatement(statement) => statement.argument.as_ref(),
        _ => None,
    });
    at_top.next().filter(|_| returns.0 == 1)
}

/// Counts the `return`s of one function, not of those inside it.
struct Returns(usize);

impl<'a> Visit<'a> for Returns {
    fn visit_return_statement(&mut self, _: &oxc_ast::ast::ReturnStatement<'a>) {
        self.0 += 1;
    }

    fn visit_expression(&mut self, _: &Expression<'a>) {}

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_class(&mut self, _: &oxc_ast::ast::Class<'a>) {}

    fn visit_variable_declaration(&mut self, _: &VariableDeclaration<'a>) {}

    fn visit_statement(&mut self, statement: &Statement<'a>) {
        walk::walk_statement(self, statement);
    }
}
