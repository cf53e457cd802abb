//! Names for what migration puts into the factory: none may mean something else in the code that moves there.

use oxc_ast::ast::Expression;
use oxc_span::Span;
use oxc_syntax::keyword::is_reserved_keyword;

use super::{
    handlers::Moved,
    module::{Member, Module},
};

/// What the factory is given.
const PARAMETERS: [&str; 2] = ["sharedLists", "libraries"];
/// Names that strict code cannot declare, and those of the two exports.
const NEVER: [&str; 6] = ["main", "handlers", "await", "arguments", "eval", "undefined"];

/// The factory's parameters: without names where the module has those names for something else.
pub(super) fn parameters(module: &Module<'_>) -> &'static str {
    if PARAMETERS.iter().any(|name| module.is_taken(name)) { "()" } else { "( { sharedLists, libraries } )" }
}

/// Where the module declares a name that the factory's parameters have.
pub(super) fn missing_parameter(module: &Module<'_>) -> Option<Span> {
    PARAMETERS.iter().find_map(|name| module.binding(name))
}

/// The name of a handler: its key, where that is a name and free.
pub(super) fn of_handler(key: &str, member: &Member<'_>, moves: &[Moved<'_>], module: &Module<'_>) -> String {
    // `{ shorten }` and `{ cut: shorten }` are a function of the module, which stays where it is.
    if let Expression::Identifier(identifier) = &member.property.value {
        return identifier.name.to_string();
    }
    let mut base: String = key
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '$' { c } else { '_' })
        .collect();
    if base.starts_with(|c: char| c.is_ascii_digit()) || base.is_empty() {
        base.insert(0, '_');
    }
    free(&base, &format!("{base}Handler"), moves, module)
}

/// A name that is free, near to the one that is wanted.
pub(super) fn free(wanted: &str, second: &str, moves: &[Moved<'_>], module: &Module<'_>) -> String {
    let is_free = |name: &String| {
        !module.is_taken(name)
            && !is_reserved_keyword(name)
            && !PARAMETERS.contains(&name.as_str())
            && !NEVER.contains(&name.as_str())
            && !moves.iter().any(|moved| moved.name == *name)
    };
    let numbered = (2..=moves.len() + 64).map(|number| format!("{second}{number}"));
    let mut names = [wanted.to_owned(), second.to_owned()].into_iter().chain(numbered);
    names.find(is_free).unwrap_or_else(|| format!("{wanted}_migrated"))
}
