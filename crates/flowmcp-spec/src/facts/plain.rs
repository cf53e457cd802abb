//! Files that hold data alone, which most are: they need no scopes.

use oxc_ast::ast::{
    ArrayExpressionElement, BindingPattern, Declaration, ExportSpecifier, Expression, ObjectPropertyKind,
    Program, Statement, VariableDeclaration,
};

use oxc_span::GetSpan;

use super::{CodeUse, Reach};
use crate::Span;

/// Modules that the file names in its `import` and `export … from` statements. They are loaded before anything runs.
pub(super) fn module_imports(program: &Program<'_>) -> Vec<CodeUse> {
    let found = program.body.iter().filter_map(|statement| match statement {
        Statement::ImportDeclaration(import) => Some((import.source.value, import.source.span)),
        Statement::ExportFromDeclaration(export) => Some((export.source.value, export.source.span)),
        Statement::ExportAllDeclaration(export) => Some((export.source.value, export.source.span)),
        _ => None,
    });
    found
        .map(|(name, span)| CodeUse { name: name.as_str().into(), span: Span::of(span), reach: Reach::File })
        .collect()
}

/// Whether no statement does more than bind literal values to names other than `handlers`. Names count as code: somebody has to resolve them.
pub(super) fn is_data(program: &Program<'_>) -> bool {
    let mut open = Vec::new();
    program.body.iter().all(|statement| binds(statement, &mut open)) && are_literals(open)
}

/// The first statement that does more than bind values made of literals and of other names.
pub(super) fn first_code(program: &Program<'_>) -> Option<Span> {
    let is_data = |statement: &Statement<'_>| {
        let mut open = Vec::new();
        binds(statement, &mut open)
            && are_made_of(open, |expression| matches!(expression, Expression::Identifier(_)))
    };
    program.body.iter().find(|statement| !is_data(statement)).map(|statement| Span::of(statement.span()))
}

/// Whether a statement only binds names other than `handlers`; the values are collected.
fn binds<'e, 'a>(statement: &'e Statement<'a>, open: &mut Vec<&'e Expression<'a>>) -> bool {
    let variables: &VariableDeclaration<'a> = match statement {
        Statement::VariableDeclaration(variables) => variables,
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::VariableDeclaration(variables) => variables,
            _ => return false,
        },
        Statement::ImportDeclaration(_)
        | Statement::ExportAllDeclaration(_)
        | Statement::EmptyStatement(_) => return true,
        Statement::ExportNamedDeclaration(export) => return !names_handlers(&export.specifiers),
        Statement::ExportFromDeclaration(export) => return !names_handlers(&export.specifiers),
        _ => return false,
    };
    for declarator in &variables.declarations {
        match &declarator.id {
            BindingPattern::BindingIdentifier(id) if id.name != "handlers" => {}
            _ => return false,
        }
        open.extend(&declarator.init);
    }
    true
}

/// Whether expressions are made of literals alone, however deep.
pub(super) fn are_literals<'e, 'a>(open: Vec<&'e Expression<'a>>) -> bool {
    are_made_of(open, |_| false)
}

/// Whether expressions are made of literals and other parts that are accepted.
fn are_made_of<'e, 'a>(mut open: Vec<&'e Expression<'a>>, accepts: impl Fn(&Expression<'a>) -> bool) -> bool {
    while let Some(expression) = open.pop() {
        match expression {
            Expression::BooleanLiteral(_)
            | Expression::NullLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BigIntLiteral(_)
            | Expression::RegExpLiteral(_)
            | Expression::StringLiteral(_) => {}
            Expression::TemplateLiteral(template) => open.extend(&template.expressions),
            Expression::UnaryExpression(unary) => open.push(&unary.argument),
            Expression::BinaryExpression(binary) => open.extend([&binary.left, &binary.right]),
            Expression::ParenthesizedExpression(inner) => open.push(&inner.expression),
            Expression::ArrayExpression(array) => {
                for element in &array.elements {
                    match element {
                        ArrayExpressionElement::Elision(_) => {}
                        ArrayExpressionElement::SpreadElement(spread) => open.push(&spread.argument),
                        element => open.extend(element.as_expression()),
                    }
                }
            }
            Expression::ObjectExpression(object) => {
                for property in &object.properties {
                    match property {
                        ObjectPropertyKind::SpreadProperty(spread) => open.push(&spread.argument),
                        ObjectPropertyKind::ObjectProperty(property) => {
                            if property.computed {
                                open.extend(property.key.as_expression());
                            }
                            open.push(&property.value);
                        }
                    }
                }
            }
            expression if accepts(expression) => {}
            _ => return false,
        }
    }
    true
}

fn names_handlers(specifiers: &[ExportSpecifier<'_>]) -> bool {
    specifiers.iter().any(|specifier| specifier.exported.name() == "handlers")
}
