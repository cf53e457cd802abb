//! Takes the handlers of format 1.x out of the schema, with the comments that belong to them.

use std::ops::Range;

use oxc_ast::ast::{Expression, ObjectPropertyKind, PropertyKind, Statement};
use oxc_span::{GetSpan, Span};

use super::{
    Draft,
    edits::slice,
    fields::{self, KeepComments},
    legacy::{WRITE_OUT, members},
    module::{Member, Module, is_named},
    names,
    tools::{Step, Tools},
};

const PATH: &str = "schema.handlers";

/// A handler on its way out of the schema.
pub(super) struct Moved<'p> {
    pub(super) key: Box<str>,
    /// Its name in the factory.
    pub(super) name: String,
    pub(super) member: Member<'p>,
    /// Comments above it.
    pub(super) head: Range<u32>,
    /// Comments behind it.
    pub(super) tail: Range<u32>,
}

/// Takes the handlers out of the schema. What the schema's tools call has to be among them.
pub(super) fn convert<'p>(
    handlers: Option<&Member<'p>>,
    tools: &Tools<'p>,
    draft: &mut Draft<'p>,
) -> Vec<Moved<'p>> {
    let Tools { steps, fixed, .. } = tools;
    let moves = match handlers {
        Some(handlers) => match take(handlers, draft) {
            Some(moves) => moves,
            None => return Vec::new(),
        },
        None => Vec::new(),
    };
    for step in steps.iter().filter(|step| !moves.iter().any(|moved| moved.key == step.handler)) {
        let path = format!("{PATH}.{}", step.handler);
        let message = format!("is not there, and the tool {} calls it", step.tool);
        draft.refuse(step.span, path, message, "add the handler, or take it out of the tool's modifiers");
    }
    for moved in moves.iter().filter(|moved| !steps.iter().any(|step| step.handler == moved.key)) {
        let is_called = draft.edits.texts().any(|text| text == moved.name);
        let stays = matches!(moved.member.property.value, Expression::Identifier(_));
        if !is_called && !stays {
            let path = format!("{PATH}.{}", moved.key);
            draft.note(moved.member.property.key.span(), path, "is kept, but no tool calls it");
        }
    }
    for moved in &moves {
        all_params(moved, steps, fixed, draft);
    }
    moves
}

/// Format 1 put values that are not the caller's into `_allParams` too.
fn all_params(moved: &Moved<'_>, steps: &[Step], fixed: &[(Box<str>, Box<str>)], draft: &mut Draft<'_>) {
    let span = moved.member.property.span;
    if !slice(draft.module.text, span.start..span.end).contains("_allParams") {
        return;
    }
    let is_called = |tool: &str| steps.iter().any(|step| &*step.tool == tool && step.handler == moved.key);
    let missing: Vec<&str> =
        fixed.iter().filter(|(tool, _)| is_called(tool)).map(|(_, parameter)| &**parameter).collect();
    if !missing.is_empty() {
        let path = format!("{PATH}.{}", moved.key);
        let message = format!(
            "reads `_allParams`, which has the caller's arguments alone in format 3: it lacks {}",
            missing.join(", ")
        );
        draft.note(moved.member.property.key.span(), path, message);
    }
}

fn take<'p>(handlers: &Member<'p>, draft: &mut Draft<'p>) -> Option<Vec<Moved<'p>>> {
    let value = &handlers.property.value;
    let Some(object) = draft.module.object(value) else {
        draft.refuse(value.span(), PATH, "is not an object that is written out", WRITE_OUT);
        return None;
    };
    if let Expression::Identifier(identifier) = value.without_parentheses() {
        take_declaration(identifier.name.as_str(), value.span(), draft);
    }
    let members = members(draft, object, PATH)?;
    let mut moves: Vec<Moved<'p>> = Vec::with_capacity(members.len());
    let mut is_whole = true;
    for member in members {
        let key = member.key();
        let path = format!("{PATH}.{key}");
        let message = if !std::ptr::eq(member.object, object) {
            "comes from another object"
        } else if member.property.kind != PropertyKind::Init {
            "is a getter or setter"
        } else if moves.iter().any(|moved| *moved.key == *key) {
            "is there twice"
        } else {
            let name = names::of_handler(&key, &member, &moves, &draft.module);
            let (head, tail) = (head(&member, &draft.module), tail(&member, &draft.module));
            dedent(&member, head.start..tail.end, draft);
            moves.push(Moved { key: key.into(), name, member, head, tail });
            continue;
        };
        draft.refuse(member.property.span, path, message, "write it as a function of this object");
        is_whole = false;
    }
    mentions(&moves, draft);
    let keep = if moves.is_empty() { KeepComments::Yes } else { KeepComments::No };
    fields::remove(draft, handlers, keep);
    let above = head(handlers, &draft.module);
    if !moves.is_empty() && !slice(draft.module.text, above.clone()).trim().is_empty() {
        let indent = draft.module.indent(handlers.property.span.start);
        let lines = slice(draft.module.text, above.clone()).trim().lines();
        draft.heading =
            lines.map(|line| format!("{}\n", line.strip_prefix(indent).unwrap_or(line))).collect();
        draft.edits.remove(above.start..draft.module.before_space(above.end));
    }
    Some(moves).filter(|_| is_whole)
}

/// `const handlers = { … }` apart from the schema goes when its handlers go.
fn take_declaration(name: &str, here: Span, draft: &mut Draft<'_>) {
    let is_used_here_only = draft.module.references_to(name).iter().all(|found| found.span == here);
    let statement = draft.module.program.body.iter().find(|statement| match statement {
        Statement::VariableDeclaration(variables) => match variables.declarations.as_slice() {
            [only] => is_named(&only.id, name),
            _ => false,
        },
        _ => false,
    });
    match statement.filter(|_| is_used_here_only) {
        Some(statement) => {
            let span = statement.span();
            let start = draft.module.before_space(span.start);
            draft.edits.remove(start..span.end);
        }
        None => draft.refuse(here, PATH, format!("is `{name}`, which is used elsewhere too"), WRITE_OUT),
    }
}

/// `schema.handlers.other` inside a handler becomes the other handler's name in the factory.
fn mentions(moves: &[Moved<'_>], draft: &mut Draft<'_>) {
    const BEFORE: &str = "schema.handlers.";
    let text = draft.module.text;
    let starts: Vec<u32> =
        draft.module.references_to("schema").iter().map(|found| found.span.start).collect();
    for start in starts {
        let Some(rest) = slice(text, start..draft.module.end()).strip_prefix(BEFORE) else { continue };
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
        let key = rest.get(..length).unwrap_or_default();
        let is_inside = moves.iter().any(|moved| (moved.head.start..moved.tail.end).contains(&start));
        if let Some(other) = moves.iter().find(|moved| *moved.key == *key).filter(|_| is_inside) {
            draft.edits.replace(start..start + (BEFORE.len() + length) as u32, other.name.clone());
        }
    }
}

/// Ends of the properties before a property, the nearest last.
fn ends_before<'a>(member: &Member<'a>) -> impl Iterator<Item = u32> + 'a {
    let here = member.property.span.start;
    let ends = member.object.properties.iter().map(|property| match property {
        ObjectPropertyKind::ObjectProperty(property) => property.span.end,
        ObjectPropertyKind::SpreadProperty(spread) => spread.span.end,
    });
    ends.take_while(move |end| *end <= here)
}

/// The comments above a property.
fn head(member: &Member<'_>, module: &Module<'_>) -> Range<u32> {
    let start = match ends_before(member).last() {
        Some(end) => module.after_line_comments(module.after_comma(end).unwrap_or(end)),
        None => member.object.span.start + 1,
    };
    start..member.property.span.start
}

/// The comments behind a property: those on its line, and for the last one all that follow.
fn tail(member: &Member<'_>, module: &Module<'_>) -> Range<u32> {
    let start = module.after_comma(member.property.span.end).unwrap_or(member.property.span.end);
    let last = member.object.properties.last().map(GetSpan::span);
    let is_last = last.is_some_and(|last| last.end == member.property.span.end);
    start..if is_last { member.object.span.end - 1 } else { module.after_line_comments(start) }
}

/// Moves the lines of a handler to the left, to where it will stand; not those inside a template.
fn dedent(member: &Member<'_>, place: Range<u32>, draft: &mut Draft<'_>) {
    let module = &draft.module;
    let (old, new) = (module.indent(member.property.span.start), unit(module, member));
    if old == new {
        return;
    }
    let text = slice(module.text, place.clone());
    let lines: Vec<u32> = text.match_indices('\n').map(|(at, _)| place.start + at as u32 + 1).collect();
    for line in lines {
        let module = &draft.module;
        if slice(module.text, line..place.end).starts_with(old) && !module.is_in_template(line) {
            draft.edits.replace(line..line + old.len() as u32, new);
        }
    }
}

/// One level of indentation, as this file has it.
pub(super) fn unit<'p>(module: &Module<'p>, member: &Member<'_>) -> &'p str {
    let outer = module.indent(member.object.span.start);
    let inner = module.indent(member.property.span.start);
    match inner.strip_prefix(outer) {
        Some(unit) if !unit.is_empty() => unit,
        _ => "    ",
    }
}
