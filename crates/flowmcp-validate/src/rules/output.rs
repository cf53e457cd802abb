//! Rules about `output`: the media type and shape that a tool promises.

use flowmcp_spec::{Node, Value};

use crate::{
    findings::{Findings, Place},
    subject::{Kind, Subject},
    words::{cut, nearest},
};

/// Media types of the format with the schema types that they can hold.
const MEDIA_TYPES: [(&str, &[&str]); 3] =
    [("application/json", &["object", "array"]), ("image/png", &["string"]), ("text/plain", &["string"])];
/// `integer` and `null` are JSON Schema's; clients understand them.
const TYPES: [&str; 7] = ["string", "number", "boolean", "object", "array", "integer", "null"];
const KEYWORDS: [&str; 7] = ["type", "properties", "items", "description", "nullable", "enum", "format"];
/// Keywords that describe a value without `type`.
const INSTEAD_OF_TYPE: [&str; 6] = ["oneOf", "anyOf", "allOf", "enum", "const", "$ref"];
/// Levels of a schema that a language model still keeps apart.
const MAX_LEVELS: usize = 4;
/// Levels that are walked; reading accepts no deeper data.
const WALKED_LEVELS: usize = 128;

/// VAL060.
pub(crate) fn media_type(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let known: Vec<&str> = MEDIA_TYPES.iter().map(|(name, _)| *name).collect();
    for output in subject.objects(Kind::Output) {
        let node = output.node.get("mimeType");
        if node.and_then(Node::as_str).is_some_and(|name| known.contains(&name)) {
            continue;
        }
        let shown = node.map_or("nothing".into(), Node::shown);
        let message = format!("should be one of {} (found {shown})", known.join(", "));
        findings.report(&output.field("mimeType"), message);
    }
}

/// VAL062.
pub(crate) fn media_type_fits(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for output in subject.objects(Kind::Output) {
        let name = output.node.get("mimeType").and_then(Node::as_str);
        let Some((name, types)) = MEDIA_TYPES.iter().find(|(known, _)| Some(*known) == name) else {
            continue;
        };
        let Some(schema) = output.node.get("schema") else { continue };
        let Some(node) = schema.get("type").filter(|node| node.as_str().is_some()) else { continue };
        if node.as_str().is_some_and(|found| TYPES.contains(&found) && !types.contains(&found)) {
            let place =
                Place { path: format!("{}.schema.type", output.path), span: node.span, tool: output.tool };
            let message = format!("should be {} for {name} (found {})", types.join(" or "), node.shown());
            findings.report(&place, message);
        }
    }
}

/// VAL061.
pub(crate) fn schema_type(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for output in subject.objects(Kind::Output) {
        if output.node.get("schema").is_none() {
            findings.report(&output.field("schema"), "is required and must be an object");
        }
    }
    each_schema(subject, &mut |schema, place, _| {
        if !schema.is_object() {
            findings.report(place, format!("must be an object with `type` (found {})", schema.shown()));
            return;
        }
        match schema.get("type") {
            None if INSTEAD_OF_TYPE.iter().any(|key| schema.get(key).is_some()) => {}
            None => findings.report(place, format!("must have a `type`: one of {}", TYPES.join(", "))),
            Some(node) => {
                let types = if node.is_array() { node.items() } else { std::slice::from_ref(node) };
                for wrong in
                    types.iter().filter(|node| node.as_str().is_none_or(|name| !TYPES.contains(&name)))
                {
                    let place =
                        Place { path: format!("{}.type", place.path), span: wrong.span, tool: place.tool };
                    let message = format!("must be one of {} (found {})", TYPES.join(", "), wrong.shown());
                    let finding = findings.draft(&place, message);
                    findings.push(match wrong.as_str().and_then(|name| nearest(name, TYPES)) {
                        Some(name) => finding.help(format!("did you mean '{name}'?")),
                        None => finding,
                    });
                }
            }
        }
    });
}

/// VAL063.
pub(crate) fn depth(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for output in subject.objects(Kind::Output) {
        let mut deepest = 0;
        if let Some(schema) = output.node.get("schema") {
            let place = output.field("schema");
            walk(schema, &place, 1, &mut |_, _, level| deepest = deepest.max(level));
        }
        if deepest > MAX_LEVELS {
            let message = format!("should have at most {MAX_LEVELS} levels (found {deepest})");
            findings.report(&output.key("schema"), message);
        }
    }
}

/// VAL064.
pub(crate) fn properties(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    belongs_to(subject, findings, "properties", "object", Node::is_object);
}

/// VAL065.
pub(crate) fn items(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    belongs_to(subject, findings, "items", "array", Node::is_object);
}

fn belongs_to(
    subject: &Subject<'_>,
    findings: &mut Findings<'_>,
    key: &str,
    kind: &str,
    fits: impl Fn(&Node) -> bool,
) {
    each_schema(subject, &mut |schema, place, _| {
        let Some(node) = schema.get(key) else { return };
        let inner = Place { path: format!("{}.{key}", place.path), span: node.span, tool: place.tool };
        let of_kind = |node: &Node| node.as_str() == Some(kind);
        let allowed = schema.get("type").is_none_or(|node| of_kind(node) || node.items().iter().any(of_kind));
        if !allowed {
            let shown = schema.get("type").map(Node::shown).unwrap_or_default();
            findings.report(&inner, format!("is only for type '{kind}' (found type {shown})"));
        } else if !fits(node) {
            findings.report(&inner, format!("must be an object (found {})", node.shown()));
        }
    });
}

/// VAL066.
pub(crate) fn keywords(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    each_schema(subject, &mut |schema, place, _| {
        for entry in schema.entries().iter().filter(|entry| !KEYWORDS.contains(&&*entry.key)) {
            let path = format!("{}.{}", place.path, cut(&entry.key));
            let place = Place { path, span: entry.key_span, tool: place.tool };
            let finding = findings.draft(&place, "is not one of the keywords that the format knows");
            findings.push(finding.help(crate::words::advice(&entry.key, &KEYWORDS)));
        }
        if let Some(node) = schema.get("type").filter(|node| matches!(node.value, Value::Array(_))) {
            let place = Place { path: format!("{}.type", place.path), span: node.span, tool: place.tool };
            let finding = findings.draft(&place, "should be one type");
            findings.push(finding.help("use `nullable: true` for a value that may be null"));
        }
    });
}

/// Visits each schema inside each output, with its level from 1.
fn each_schema<'d>(subject: &Subject<'d>, visit: &mut dyn FnMut(&'d Node, &Place<'d>, usize)) {
    for output in subject.objects(Kind::Output) {
        if let Some(schema) = output.node.get("schema") {
            walk(schema, &output.field("schema"), 1, visit);
        }
    }
}

fn walk<'d>(
    schema: &'d Node,
    place: &Place<'d>,
    level: usize,
    visit: &mut dyn FnMut(&'d Node, &Place<'d>, usize),
) {
    visit(schema, place, level);
    if level >= WALKED_LEVELS {
        return;
    }
    for entry in schema.get("properties").map(Node::entries).unwrap_or_default() {
        let path = format!("{}.properties.{}", place.path, cut(&entry.key));
        walk(&entry.node, &Place { path, span: entry.node.span, tool: place.tool }, level + 1, visit);
    }
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        let place = Place { path: format!("{}.items", place.path), span: items.span, tool: place.tool };
        walk(items, &place, level + 1, visit);
    }
}
