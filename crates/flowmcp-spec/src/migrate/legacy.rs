//! Format 1.x to 3: `schema` becomes `main`, its handlers become an export of their own.

use oxc_ast::ast::{Expression, ModuleExportName, ObjectExpression, Statement};
use oxc_span::{GetSpan, Span};

use super::{
    Draft, VERSION,
    edits::slice,
    factory,
    fields::{self, KeepComments},
    handlers::{self, Moved},
    imports,
    module::{Member, NotWritten},
    names,
    tools::{self, Tools},
};

const OLD_EXPORT: &str = "schema";
const NEW_EXPORT: &str = "main";

/// Converts `schema`; the version that it had.
pub(super) fn convert<'p>(schema: &'p Expression<'p>, draft: &mut Draft<'p>) -> Option<Box<str>> {
    let from = convert_object(schema, draft);
    rename_export(draft);
    Some(from.unwrap_or_else(|| "1".into()))
}

fn convert_object<'p>(schema: &'p Expression<'p>, draft: &mut Draft<'p>) -> Option<Box<str>> {
    let Some(object) = draft.module.object(schema) else {
        draft.refuse(schema.span(), OLD_EXPORT, "is not an object that is written out", WRITE_OUT);
        return None;
    };
    let members = members(draft, object, OLD_EXPORT)?;
    let member = |key: &str| members.iter().find(|member| member.key() == key);
    let version = version(draft, member("flowMCP"), member("version"));
    if version.is_none() {
        draft.edits.insert(object.span.start + 1, first_field(draft, object));
    }
    let found = match (member("routes"), member("tools")) {
        (Some(routes), None) => {
            fields::rename(draft, routes, "tools");
            tools::convert(routes, draft)
        }
        (None, Some(tools)) => tools::convert(tools, draft),
        (Some(routes), Some(_)) => {
            let help = "put all tools under `tools`";
            draft.refuse(routes.property.key.span(), "schema.routes", "stands beside schema.tools", help);
            Tools::default()
        }
        (None, None) => {
            draft.refuse(object.span, OLD_EXPORT, "has neither routes nor tools", "");
            Tools::default()
        }
    };
    if member("namespace").is_none() {
        draft.note(object.span, OLD_EXPORT, "has no namespace, which format 3 asks for: add one");
    }
    tools::addresses(member("root"), &found.routes, draft);
    let moves = handlers::convert(member("handlers"), &found, draft);
    let tools = member("routes").or(member("tools"));
    let libraries = imports::convert(&moves, tools, member("requiredLibraries"), draft);
    if !moves.is_empty() {
        if let Some(other) = draft.module.binding("handlers").filter(|span| !draft.edits.removes(*span)) {
            let message = "has another `handlers`, and the export of format 3 is called so";
            draft.refuse(other, "file", message, "rename it");
        }
        if let Some(place) = names::missing_parameter(&draft.module).filter(|_| !libraries.is_empty()) {
            let message = "is a name of format 3, and this file has it for something else";
            draft.refuse(place, "file", message, "rename it");
        }
        draft.appendix = factory::text(&moves, &found.steps, &libraries, draft);
    }
    for member in &members {
        let key = member.key();
        match &*key {
            "flowMCP" | "version" | "routes" | "tools" | "handlers" => {}
            "namespace" => namespace(draft, member),
            key => {
                let value = draft.evaluator.evaluate(&member.property.value, &format!("{OLD_EXPORT}.{key}"));
                if let Some(value) = value.filter(|_| key != "root") {
                    draft.keep(&[key], &value);
                }
            }
        }
    }
    shared_objects(object.span, &moves, draft);
    version
}

/// An object that the schema names and code reads too must not change under that code.
fn shared_objects(schema: Span, moves: &[Moved<'_>], draft: &mut Draft<'_>) {
    let is_edited =
        |span: Span| draft.edits.places().any(|place| span.start < place.start && place.end < span.end);
    let edited: Vec<(&str, Span)> = draft
        .module
        .constants()
        .filter(|(_, span)| *span != schema && is_edited(*span))
        .filter(|(_, span)| !draft.edits.removes(*span))
        .collect();
    let is_data = |at: Span| {
        let is_inside = |span: Span| span.start <= at.start && at.end <= span.end;
        let is_in_handler = moves.iter().any(|moved| (moved.head.start..moved.tail.end).contains(&at.start));
        (is_inside(schema) || edited.iter().any(|(_, span)| is_inside(*span))) && !is_in_handler
    };
    let shared: Vec<(&str, Span)> = edited
        .iter()
        .flat_map(|(name, _)| draft.module.references_to(name).into_iter().map(|found| (*name, found.span)))
        .filter(|(_, span)| !is_data(*span))
        .collect();
    for (name, span) in shared {
        let message = format!("uses `{name}`, whose fields have other names in format 3");
        draft.refuse(span, "file", message, "give this code data of its own, then migrate again");
    }
}

/// What a refused expression should become.
pub(super) const WRITE_OUT: &str = "write it out as a literal, then migrate again";

/// The properties of an object of the schema, or a finding.
pub(super) fn members<'p>(
    draft: &mut Draft<'p>,
    object: &'p ObjectExpression<'p>,
    path: &str,
) -> Option<Vec<Member<'p>>> {
    match draft.module.members(object) {
        Ok(members) => Some(members),
        Err(NotWritten(span)) => {
            draft.refuse(span, path, "has properties that are calculated", WRITE_OUT);
            None
        }
    }
}

/// `flowMCP: '1.2.0'` becomes `version: '3.0.0'`.
fn version<'p>(
    draft: &mut Draft<'p>,
    flowmcp: Option<&Member<'p>>,
    version: Option<&Member<'p>>,
) -> Option<Box<str>> {
    let member = flowmcp.or(version)?;
    let path = format!("{OLD_EXPORT}.{}", member.key());
    let Expression::StringLiteral(literal) = draft.module.behind(&member.property.value) else {
        draft.refuse(member.property.value.span(), path, "is not a version as text", "write '1.2.0'");
        return Some("1".into());
    };
    if !literal.value.starts_with("1.") {
        let message = format!("is not a version that can be converted (found {:?})", literal.value.as_str());
        draft.refuse(literal.span, path, message, "formats 1.x (`schema`) and 2.x (`main`) can be");
    }
    if let (Some(_), Some(own)) = (flowmcp, version) {
        let span = own.property.value.span();
        let value = slice(draft.module.text, span.start..span.end);
        let message = format!("was {value} and is gone: format 3 has one version, that of the format");
        draft.note(own.property.span, format!("{OLD_EXPORT}.version"), message);
        fields::remove(draft, own, KeepComments::Yes);
    }
    fields::rename(draft, member, "version");
    fields::set_text(draft, literal, VERSION);
    Some(literal.value.as_str().into())
}

/// The version as the first property of an object that has none.
fn first_field(draft: &Draft<'_>, object: &ObjectExpression<'_>) -> String {
    let Some(first) = object.properties.first().map(GetSpan::span) else { return String::new() };
    let space = slice(draft.module.text, object.span.start + 1..first.start);
    if space.contains('\n') {
        let (line_break, indent) = (draft.module.line_break(), draft.module.indent(first.start));
        format!("{line_break}{indent}version: '{VERSION}',")
    } else {
        format!(" version: '{VERSION}',")
    }
}

/// Format 3 has lowercase letters only.
fn namespace<'p>(draft: &mut Draft<'p>, member: &Member<'p>) {
    let path = format!("{OLD_EXPORT}.namespace");
    draft.evaluator.evaluate(&member.property.value, &path);
    let Expression::StringLiteral(literal) = draft.module.behind(&member.property.value) else { return };
    let old = literal.value.as_str();
    let new: String =
        old.chars().filter_map(|c| Some(c.to_ascii_lowercase()).filter(char::is_ascii_lowercase)).collect();
    if new != old && !new.is_empty() {
        fields::set_text(draft, literal, &new);
        let message = format!(
            "was {old:?} and is {new:?} now: format 3 has lowercase letters only, and the tools' names begin with it"
        );
        draft.note(literal.span, path, message);
    }
}

/// `export const schema` becomes `export const main`; so does `const schema = …; export { schema }`.
fn rename_export(draft: &mut Draft<'_>) {
    let mut local = OLD_EXPORT;
    let mut specifiers = Vec::new();
    for statement in &draft.module.program.body {
        if let Statement::ExportNamedDeclaration(export) = statement {
            for specifier in export.specifiers.iter().filter(|found| found.exported.name() == OLD_EXPORT) {
                if let ModuleExportName::IdentifierReference(name) = &specifier.local {
                    local = name.name.as_str();
                    specifiers.push(specifier.span);
                }
            }
        }
    }
    let is_renamed = local == OLD_EXPORT;
    if let Some(span) = draft.module.binding(NEW_EXPORT).filter(|_| is_renamed) {
        let message = format!("has another `{NEW_EXPORT}`, and the schema is to be called so");
        draft.refuse(span, "file", message, "rename it");
        return;
    }
    for specifier in &specifiers {
        let new = if is_renamed { NEW_EXPORT.to_owned() } else { format!("{local} as {NEW_EXPORT}") };
        draft.edits.replace(specifier.start..specifier.end, new);
    }
    if let Some(name) = draft.module.binding(OLD_EXPORT).filter(|_| is_renamed) {
        draft.edits.replace(name.start..name.end, NEW_EXPORT);
    }
    // Code that reads the schema reads fields that have other names or places now.
    let is_edited = |at: u32| draft.edits.places().any(|place| place.start == at);
    let is_export = |at: u32| specifiers.iter().any(|span| (span.start..span.end).contains(&at));
    let references = draft.module.references_to(local).into_iter().map(|found| found.span);
    let others: Vec<Span> =
        references.filter(|span| !is_export(span.start) && !is_edited(span.start)).collect();
    for span in others {
        draft.refuse(span, "file", "reads the schema from code", "its fields have other names in format 3");
    }
}
