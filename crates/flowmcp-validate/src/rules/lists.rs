//! Rules about shared lists.

use flowmcp_spec::{Node, Value};

use crate::{
    findings::{Findings, Place},
    subject::{Kind, Subject},
    words::{cut, major},
};

const FIELD_TYPES: [&str; 3] = ["string", "number", "boolean"];

/// SEC200. Names that are taken from other files have their own rules.
pub(crate) fn data_alone(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    if let Some(span) = subject.code.first_code {
        let place = Place { path: "file".to_owned(), span, tool: None };
        let finding = findings.draft(&place, "must hold data alone, no functions and no calculations");
        findings.push(finding.help("write the values out: a list is read without running any code"));
    }
}

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

/// What a row holds for one described field.
struct Cell<'d> {
    row: &'d Node,
    index: usize,
    field: &'d Node,
    key: &'d str,
    /// `None` when it is missing or null.
    value: Option<&'d Node>,
}

impl<'d> Cell<'d> {
    fn row_place(&self) -> Place<'d> {
        Place { path: format!("list.entries[{}]", self.index), span: self.row.span, tool: None }
    }
}

fn cells<'d>(subject: &Subject<'d>) -> impl Iterator<Item = Cell<'d>> {
    let entries = subject.root.node.get("entries").map(Node::items).unwrap_or_default();
    let fields = fields(subject);
    let rows = entries.iter().enumerate().filter(|(_, row)| row.is_object());
    rows.flat_map(move |(index, row)| {
        fields.iter().filter_map(move |field| {
            let key = field.get("key").and_then(Node::as_str)?;
            let value = row.get(key).filter(|node| node.value != Value::Null);
            Some(Cell { row, index, field, key, value })
        })
    })
}

/// LST007.
pub(crate) fn complete(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for cell in cells(subject).filter(|cell| cell.value.is_none()) {
        if cell.field.get("optional").is_some_and(|node| node.value == Value::Bool(true)) {
            continue;
        }
        let message = format!("lacks `{}`, which is not optional", cut(cell.key));
        let finding = findings.draft(&cell.row_place(), message);
        findings.push(finding.help("add it, or mark the field with `optional: true` in meta.fields"));
    }
}

/// LST008.
pub(crate) fn typed(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for cell in cells(subject) {
        let (Some(wanted), Some(value)) = (cell.field.get("type").and_then(Node::as_str), cell.value) else {
            continue;
        };
        let fits = match &value.value {
            Value::String(_) => wanted == "string",
            Value::Number(_) => wanted == "number",
            Value::Bool(_) => wanted == "boolean",
            _ => false,
        };
        if !fits && FIELD_TYPES.contains(&wanted) {
            let path = format!("{}.{}", cell.row_place().path, cut(cell.key));
            let place = Place { path, span: value.span, tool: None };
            findings
                .report(&place, format!("must be a {wanted} as meta.fields says (found {})", value.shown()));
        }
    }
}
