//! Rules about shared lists.

use flowmcp_spec::{Node, Value};

use crate::{
    findings::{Findings, Place},
    subject::{Kind, Subject},
    words::major,
};

const FIELD_TYPES: [&str; 3] = ["string", "number", "boolean"];

/// LST003.
pub(crate) fn version(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for meta in subject.objects(Kind::ListMeta) {
        let node = meta.node.get("version");
        if node.and_then(Node::as_str).and_then(major).is_none() {
            let shown = node.map_or("nothing".into(), Node::shown);
            findings
                .report(&meta.field("version"), format!("must be a version such as '1.0.0' (found {shown})"));
        }
    }
}

/// Whether the entries are rows with fields: an array with an object in it.
fn has_rows(subject: &Subject<'_>) -> bool {
    subject.root.node.get("entries").map(Node::items).unwrap_or_default().iter().any(Node::is_object)
}

fn fields<'d>(subject: &Subject<'d>) -> &'d [Node] {
    let meta = subject.root.node.get("meta");
    meta.and_then(|meta| meta.get("fields")).map(Node::items).unwrap_or_default()
}

/// LST004. Lists of plain values and plain objects have no fields to describe.
pub(crate) fn described(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for meta in subject.objects(Kind::ListMeta).filter(|_| has_rows(subject)) {
        match meta.node.get("fields") {
            Some(node) if node.is_array() && !node.items().is_empty() => {}
            Some(node) if !node.is_array() => {
                findings.report(&meta.field("fields"), format!("must be an array (found {})", node.shown()));
            }
            _ => findings.report(&meta.field("fields"), "must describe at least one field of the entries"),
        }
    }
}

/// LST005.
pub(crate) fn field_shapes(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (index, field) in fields(subject).iter().enumerate() {
        let place = Place { path: format!("list.meta.fields[{index}]"), span: field.span, tool: None };
        if field.get("key").and_then(Node::as_str).is_none_or(str::is_empty) {
            findings.report(&place, "must name a field in `key`");
        } else if field.get("type").and_then(Node::as_str).is_none_or(|name| !FIELD_TYPES.contains(&name)) {
            let shown = field.get("type").map_or("nothing".into(), Node::shown);
            findings
                .report(&place, format!("must have a `type` of {} (found {shown})", FIELD_TYPES.join(", ")));
        }
    }
}

/// LST006.
pub(crate) fn entries(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let place = subject.root.field("entries");
    match subject.root.node.get("entries") {
        None => findings.report(&place, "is required and must be an array or an object"),
        Some(node) if !node.is_array() && !node.is_object() => {
            findings.report(&place, format!("must be an array or an object (found {})", node.shown()));
        }
        Some(node) if node.items().is_empty() && node.entries().is_empty() => {
            findings.report(&place, "must not be empty");
        }
        Some(_) => {}
    }
}

/// Visits each field of each row that is described and not left out as optional.
fn each_cell<'d>(
    subject: &Subject<'d>,
    visit: &mut dyn FnMut(&Place<'d>, &'d Node, &'d str, Option<&'d Node>),
) {
    for (index, row) in
        subject.root.node.get("entries").map(Node::items).unwrap_or_default().iter().enumerate()
    {
        if !row.is_object() {
            continue;
        }
        let place = Place { path: format!("list.entries[{index}]"), span: row.span, tool: None };
        for field in fields(subject) {
            let Some(key) = field.get("key").and_then(Node::as_str) else { continue };
            let value = row.get(key).filter(|node| node.value != Value::Null);
            visit(&place, field, key, value);
        }
    }
}

/// LST007.
pub(crate) fn complete(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    each_cell(subject, &mut |place, field, key, value| {
        let optional = field.get("optional").is_some_and(|node| node.value == Value::Bool(true));
        if value.is_none() && !optional {
            let finding =
                findings.draft(place, format!("lacks `{}`, which is not optional", crate::words::cut(key)));
            findings.push(finding.help("add it, or mark the field with `optional: true` in meta.fields"));
        }
    });
}

/// LST008.
pub(crate) fn typed(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    each_cell(subject, &mut |place, field, key, value| {
        let (Some(wanted), Some(value)) = (field.get("type").and_then(Node::as_str), value) else { return };
        let fits = match &value.value {
            Value::String(_) => wanted == "string",
            Value::Number(_) => wanted == "number",
            Value::Bool(_) => wanted == "boolean",
            _ => false,
        };
        if !fits && FIELD_TYPES.contains(&wanted) {
            let path = format!("{}.{}", place.path, crate::words::cut(key));
            let place = Place { path, span: value.span, tool: None };
            findings
                .report(&place, format!("must be a {wanted} as meta.fields says (found {})", value.shown()));
        }
    });
}
