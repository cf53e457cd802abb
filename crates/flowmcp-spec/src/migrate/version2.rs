//! Format 2.x to 3: `routes` is called `tools` now, and the version says so.

use oxc_ast::ast::Expression;
use oxc_span::GetSpan;

use super::{Draft, VERSION, fields};

/// Converts `main`; `None` when it is not of format 2.
pub(super) fn convert<'p>(main: &'p Expression<'p>, draft: &mut Draft<'p>) -> Option<Box<str>> {
    let object = draft.module.object(main)?;
    let members = draft.module.members(object).ok()?;
    let member = |key: &str| members.iter().find(|member| member.key() == key);
    let version = member("version")?;
    let Expression::StringLiteral(literal) = draft.module.behind(&version.property.value) else {
        return None;
    };
    let from = literal.value.as_str();
    // Agents of format 2 are files of another kind: they have no requests, and their version is written differently.
    if !from.starts_with("2.") || member("systemPrompt").is_some() {
        return None;
    }
    fields::set_text(draft, literal, VERSION);
    match (member("routes"), member("tools")) {
        (Some(routes), Some(_)) => draft.refuse(
            routes.property.key.span(),
            "main.routes",
            "stands beside main.tools, and a schema has one of them",
            "put all tools under `tools`",
        ),
        (Some(routes), None) => fields::rename(draft, routes, "tools"),
        (None, _) => {}
    }
    for member in members.iter().filter(|member| member.key() != "version") {
        let key = member.key();
        if let Some(value) = draft.evaluator.evaluate(&member.property.value, &format!("main.{key}")) {
            draft.keep(&[if key == "routes" { "tools" } else { &*key }], &value);
        }
    }
    Some(from.into())
}
