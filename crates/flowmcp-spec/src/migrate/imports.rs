//! Imports of format 1.x. A package that only handlers use is taken from `libraries`; a module of one's own has no
//! place in format 3, and what it gave has to be written out or become a shared list.

use std::fmt::Write;

use oxc_ast::ast::{ImportDeclaration, ImportDeclarationSpecifier, Statement};
use oxc_span::GetSpan;
use oxc_syntax::identifier::is_identifier_name;

use super::{
    Draft,
    edits::slice,
    fields::quoted,
    handlers::Moved,
    module::{Member, Module},
};

/// Takes the imports out of the file; the declarations that the factory needs instead, one a line.
pub(super) fn convert(
    moves: &[Moved<'_>],
    tools: Option<&Member<'_>>,
    declared: Option<&Member<'_>>,
    draft: &mut Draft<'_>,
) -> String {
    let mut declarations = String::new();
    let mut packages: Vec<&str> = Vec::new();
    for statement in &draft.module.program.body {
        match statement {
            Statement::ImportDeclaration(import) => {
                if is_unused(import, &draft.module) {
                    take_out(import, draft);
                    let message =
                        format!("imported {:?} and used nothing of it: the import is gone", source(import));
                    draft.note(import.span, "file", message);
                } else if source(import).starts_with(['.', '/']) {
                    let message = format!("imports the helper module {:?}", source(import));
                    draft.refuse(import.span, "file", message, OWN_MODULE);
                } else if is_in_handlers(import, moves, &draft.module) {
                    take_out(import, draft);
                    declarations.push_str(&declaration(import, &draft.module));
                    packages.push(source(import));
                } else {
                    let message =
                        format!("imports the package {:?} for code outside the handlers", source(import));
                    draft.refuse(import.span, "file", message, PACKAGE);
                }
            }
            Statement::ExportAllDeclaration(export) => {
                draft.refuse(export.span, "file", "exports what another module has", OWN_MODULE);
            }
            Statement::ExportFromDeclaration(export) => {
                draft.refuse(export.span, "file", "exports what another module has", OWN_MODULE);
            }
            _ => {}
        }
    }
    for span in draft.module.dynamic_imports.clone() {
        draft.refuse(span, "file", "imports a module while it runs", PACKAGE);
    }
    packages.dedup();
    if let (Some(tools), false) = (tools, packages.is_empty()) {
        require(&packages, tools, declared, draft);
    }
    declarations
}

const OWN_MODULE: &str = "format 3 has no imports: make it a shared list (`main.sharedLists`), or write what is used into this file";
const PACKAGE: &str =
    "take the package from `libraries` in the handlers, and name it in `requiredLibraries` of the schema";

fn source<'p>(import: &ImportDeclaration<'p>) -> &'p str {
    import.source.value.as_str()
}

fn locals<'i>(import: &'i ImportDeclaration<'_>) -> impl Iterator<Item = &'i str> {
    import.specifiers.iter().flatten().map(|specifier| specifier.local().name.as_str())
}

fn is_unused(import: &ImportDeclaration<'_>, module: &Module<'_>) -> bool {
    // Without names it is there for what it does when it is loaded.
    import.specifiers.is_some() && locals(import).all(|name| module.references_to(name).is_empty())
}

fn is_in_handlers(import: &ImportDeclaration<'_>, moves: &[Moved<'_>], module: &Module<'_>) -> bool {
    let is_inside = |at: u32| moves.iter().any(|moved| (moved.head.start..moved.tail.end).contains(&at));
    import.specifiers.is_some()
        && locals(import)
            .all(|name| module.references_to(name).iter().all(|found| is_inside(found.span.start)))
}

/// `import { a as b } from 'p'` becomes `const { a: b } = libraries[ 'p' ]`.
fn declaration(import: &ImportDeclaration<'_>, module: &Module<'_>) -> String {
    let library = format!("libraries[ {} ]", quoted(source(import), "'"));
    let mut out = String::new();
    let mut named: Vec<String> = Vec::new();
    for specifier in import.specifiers.iter().flatten() {
        let local = specifier.local().name.as_str();
        match specifier {
            ImportDeclarationSpecifier::ImportSpecifier(found) if found.imported.name() != "default" => {
                let span = found.imported.span();
                let imported = slice(module.text, span.start..span.end);
                named.push(if imported == local { local.to_owned() } else { format!("{imported}: {local}") });
            }
            _ => {
                let _ = writeln!(out, "const {local} = {library}");
            }
        }
    }
    if !named.is_empty() {
        let _ = writeln!(out, "const {{ {} }} = {library}", named.join(", "));
    }
    out
}

/// Removes an import with its line.
fn take_out(import: &ImportDeclaration<'_>, draft: &mut Draft<'_>) {
    let text = slice(draft.module.text, import.span.end..draft.module.end());
    let rest = text.trim_start_matches([' ', '\t']);
    let after = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
    let end = import.span.end + (text.len() - after.len()) as u32;
    draft.edits.remove(import.span.start..end);
}

/// Declares the packages in `main.requiredLibraries`.
fn require(packages: &[&str], tools: &Member<'_>, declared: Option<&Member<'_>>, draft: &mut Draft<'_>) {
    if let Some(declared) = declared {
        let message = format!("may lack a package that was imported ({})", packages.join(", "));
        draft.note(declared.property.span, "schema.requiredLibraries", message);
        return;
    }
    let key = tools.property.key.span().start;
    let like = slice(draft.module.text, key..key + 1);
    let name = if is_identifier_name(like) {
        "requiredLibraries".to_owned()
    } else {
        quoted("requiredLibraries", like)
    };
    let list: Vec<String> = packages.iter().map(|package| quoted(package, like)).collect();
    let line = draft.module.before_space(key);
    let space = slice(draft.module.text, line..key);
    let space = if space.contains('\n') { space.to_owned() } else { " ".to_owned() };
    draft.edits.insert(line, format!("{space}{name}: [ {} ],", list.join(", ")));
}
