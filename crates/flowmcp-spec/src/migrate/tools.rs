//! The tools of format 1.x: their fields get the names of format 3, and their `modifiers` become steps of hooks.

use oxc_ast::ast::{ArrayExpressionElement, Expression, StringLiteral};
use oxc_span::{GetSpan, Span};

use super::{
    Draft,
    fields::{self, KeepComments},
    legacy::{WRITE_OUT, members},
    module::Member,
};
use crate::Node;

/// A handler that a tool calls.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) tool: Box<str>,
    pub(super) phase: Phase,
    pub(super) handler: Box<str>,
    pub(super) span: Span,
}

/// When a handler is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Pre,
    Execute,
    Post,
}

/// What the other parts of the conversion need to know of the tools.
#[derive(Default)]
pub(super) struct Tools<'p> {
    /// What their modifiers call, in order.
    pub(super) steps: Vec<Step>,
    /// Their routes as they are written.
    pub(super) routes: Vec<&'p StringLiteral<'p>>,
    /// Parameters whose values are not the caller's: tool and key.
    pub(super) fixed: Vec<(Box<str>, Box<str>)>,
}

/// Converts all tools.
pub(super) fn convert<'p>(tools: &Member<'p>, draft: &mut Draft<'p>) -> Tools<'p> {
    let mut found = Tools::default();
    let path = format!("schema.{}", tools.key());
    let Some(object) = draft.module.object(&tools.property.value) else {
        let span = tools.property.value.span();
        draft.refuse(span, path, "is not an object that is written out", WRITE_OUT);
        return found;
    };
    for tool in members(draft, object, &path).unwrap_or_default() {
        let path = format!("{path}.{}", tool.key());
        match draft.module.object(&tool.property.value) {
            Some(object) => {
                let members = members(draft, object, &path).unwrap_or_default();
                both(&members, &path, draft);
                for member in members {
                    field(&tool, &member, &path, draft, &mut found);
                }
            }
            None => draft.refuse(
                tool.property.value.span(),
                path,
                "is not an object that is written out",
                WRITE_OUT,
            ),
        }
    }
    found
}

/// A field that would be there twice after it got its new name.
fn both(members: &[Member<'_>], path: &str, draft: &mut Draft<'_>) {
    let member = |key: &str| members.iter().find(|member| member.key() == key);
    for (old, new) in [("requestMethod", "method"), ("route", "path")] {
        if let (Some(old), Some(_)) = (member(old), member(new)) {
            let message = format!("stands beside {new}, which is its name in format 3");
            let path = format!("{path}.{}", old.key());
            draft.refuse(old.property.key.span(), path, message, "keep one of them");
        }
    }
}

fn field<'p>(
    tool: &Member<'p>,
    member: &Member<'p>,
    path: &str,
    draft: &mut Draft<'p>,
    found: &mut Tools<'p>,
) {
    let key = member.key();
    let path = format!("{path}.{key}");
    let value = draft.evaluator.evaluate(&member.property.value, &path);
    match &*key {
        "requestMethod" => {
            fields::rename(draft, member, "method");
            if let Expression::StringLiteral(literal) = draft.module.behind(&member.property.value) {
                let upper = literal.value.to_ascii_uppercase();
                if upper != literal.value.as_str() {
                    fields::set_text(draft, literal, &upper);
                }
            }
        }
        "route" => {
            fields::rename(draft, member, "path");
            if let Expression::StringLiteral(literal) = draft.module.behind(&member.property.value) {
                found.routes.push(literal);
            }
        }
        "modifiers" => {
            if let Some(value) = value {
                modifiers(&tool.key(), &value, &path, draft, &mut found.steps);
            }
            fields::remove(draft, member, KeepComments::Yes);
        }
        "parameters" => {
            parameters(member, draft);
            for parameter in value.iter().flat_map(Node::items) {
                let position = |key: &str| parameter.get("position")?.get(key)?.as_str();
                if let (Some(name), Some(value)) = (position("key"), position("value"))
                    && !value.contains("{{USER_PARAM}}")
                {
                    found.fixed.push((tool.key().into(), name.into()));
                }
            }
        }
        _ => {
            if let Some(value) = value {
                draft.keep(&["tools", &tool.key(), &key], &value);
            }
        }
    }
}

fn modifiers(tool: &str, value: &Node, path: &str, draft: &mut Draft<'_>, steps: &mut Vec<Step>) {
    for (index, modifier) in value.items().iter().enumerate() {
        let path = format!("{path}[{index}]");
        let span = Span::new(modifier.span.start, modifier.span.end);
        let text = |key: &str| modifier.get(key).and_then(Node::as_str);
        let phase = match text("phase") {
            Some("pre") => Phase::Pre,
            Some("execute") => Phase::Execute,
            Some("post") => Phase::Post,
            found => {
                let found = found.map_or_else(|| "none".to_owned(), |found| format!("{found:?}"));
                let message = format!("must be pre, execute or post (found {found})");
                draft.refuse(span, format!("{path}.phase"), message, "format 3 has no hook for it");
                continue;
            }
        };
        let Some(handler) = text("handlerName") else {
            draft.refuse(span, format!("{path}.handlerName"), "must name a handler", "");
            continue;
        };
        steps.push(Step { tool: tool.into(), phase, handler: handler.into(), span });
    }
    if !value.is_array() {
        let span = Span::new(value.span.start, value.span.end);
        draft.refuse(span, path, format!("must be an array (found {})", value.shown()), "");
    }
}

/// Format 1 let values that are not the caller's go without a type.
fn parameters<'p>(member: &Member<'p>, draft: &mut Draft<'p>) {
    let Expression::ArrayExpression(array) = draft.module.behind(&member.property.value) else { return };
    for element in &array.elements {
        let Some(expression) = ArrayExpressionElement::as_expression(element) else { continue };
        let Some(object) = draft.module.object(expression) else { continue };
        let Ok(members) = draft.module.members(object) else { continue };
        let last = members.last().filter(|last| std::ptr::eq(last.object, object));
        let has_type = members.iter().any(|member| member.key() == "z");
        if let Some(last) = last.filter(|_| !has_type) {
            draft.edits.insert(last.property.span.end, ", z: { primitive: 'string()', options: [] }");
        }
    }
}

/// Where requests go: a root without a slash at its end, and paths with one at their beginning.
pub(super) fn addresses<'p>(
    root: Option<&Member<'p>>,
    routes: &[&'p StringLiteral<'p>],
    draft: &mut Draft<'p>,
) {
    let Some(root) = root else { return };
    let Expression::StringLiteral(literal) = draft.module.behind(&root.property.value) else { return };
    let text = literal.value.as_str();
    let trimmed = text.trim_end_matches('/');
    let has_path = trimmed.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?']));
    if trimmed != text {
        fields::set_text(draft, literal, trimmed);
        if routes.iter().any(|route| route.value.starts_with('/')) {
            let message = "ended with a slash, which format 3 does not have: requests had two in a row, and have one now";
            draft.note(literal.span, "schema.root", message);
        }
    }
    for route in routes.iter().filter(|route| !route.value.starts_with('/')) {
        // `root` and `route` were put together as they are: a slash between them may be one too many.
        if trimmed != text || (!has_path && (route.value.is_empty() || route.value.starts_with('?'))) {
            fields::set_text(draft, route, &format!("/{}", route.value));
        } else {
            let message = format!(
                "does not begin with a slash (found {:?}), and in format 3 it must",
                route.value.as_str()
            );
            draft.refuse(route.span, "schema.routes", message, "move the end of the root into the routes");
        }
    }
}
