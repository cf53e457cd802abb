//! Files that hold data alone, which most are: they need no scopes.

use oxc_ast::ast::{
    ArrayExpressionElement, BindingPattern, Declaration, ExportSpecifier, Expression, ObjectPropertyKind,
    Program, Statement, VariableDeclaration,
};

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
    for statement in &program.body {
        let variables: &VariableDeclaration<'_> = match statement {
            Statement::VariableDeclaration(variables) => variables,
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::VariableDeclaration(variables) => variables,
                _ => return false,
            },
            Statement::ImportDeclaration(_)
            | Statement::ExportAllDeclaration(_)
            | Statement::EmptyStatement(_) => continue,
            Statement::ExportNamedDeclaration(export) if !names_handlers(&export.specifiers) => continue,
            Statement::ExportFromDeclaration(export) if !names_handlers(&export.specifiers) => continue,
            _ => return false,
        };
        for declarator in &variables.declarations {
            match &declarator.id {
                BindingPattern::BindingIdentifier(id) if id.name != "handlers" => {}
                _ => return false,
            }
            open.extend(&declarator.init);
        }
    }
    are_literals(open)
}

/// Whether expressions are made of literals alone, however deep.
pub(super) fn are_literals<'e, 'a>(mut open: Vec<&'e Expression<'a>>) -> bool {
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
            _ => return false,
        }
    }
    true
}

fn names_handlers(specifiers: &[ExportSpecifier<'_>]) -> bool {
    specifiers.iter().any(|specifier| specifier.exported.name() == "handlers")
}
