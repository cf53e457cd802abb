//! Rules about `registry.json`, which says what a catalogue holds, compared with the files that are there.

use std::collections::{HashMap, HashSet};

use flowmcp_spec::{Document, DocumentKind, Node};

use crate::{
    findings::{Findings, Place, softened},
    pack::{Surroundings, Target},
    rules::skills::MAX_DESCRIPTION,
    words::{cut, is_kebab_case, major, nearest},
};

/// Sections of a registry: which key holds a file's path, and what kind of file it is.
const SECTIONS: [(&str, &str, DocumentKind); 3] = [
    ("shared", "file", DocumentKind::List),
    ("schemas", "file", DocumentKind::Schema),
    ("agents", "manifest", DocumentKind::Agent),
];
/// Versions of the format that a catalogue may conform to.
const KNOWN_MAJORS: [&str; 2] = ["3", "4"];

/// An entry of a section that names a file.
struct Listed<'r> {
    path: &'r str,
    node: &'r Node,
    entry: &'r Node,
    place: Place<'static>,
    entry_place: Place<'static>,
    kind: DocumentKind,
}

fn listed(registry: &Node) -> Vec<Listed<'_>> {
    SECTIONS.iter().flat_map(|section| listed_in(registry, section)).collect()
}

fn listed_in<'r>(registry: &'r Node, (section, key, kind): &(&str, &str, DocumentKind)) -> Vec<Listed<'r>> {
    let items = registry.get(section).map(Node::items).unwrap_or_default();
    let entries = items.iter().enumerate().filter_map(|(index, entry)| {
        let node = entry.get(key)?;
        let path = format!("registry.{section}[{index}]");
        Some(Listed {
            path: node.as_str()?,
            node,
            entry,
            place: Place { path: format!("{path}.{key}"), span: node.span, tool: None },
            entry_place: Place { path, span: entry.span, tool: None },
            kind: *kind,
        })
    });
    entries.collect()
}

fn field(registry: &Node, key: &str) -> Place<'static> {
    let span = registry.get(key).map_or(registry.span, |node| node.span);
    Place { path: format!("registry.{key}"), span, tool: None }
}

/// CAT010, where there is nothing to look into.
pub(crate) fn not_an_object(node: &Node, findings: &mut Findings<'_>) {
    if findings.code().0 == "CAT010" {
        let place = Place { path: "registry".to_owned(), span: node.span, tool: None };
        findings.report(&place, format!("must be an object (found {})", node.shown()));
    }
}

/// CAT001. A folder is meant as a catalogue if it has the folders of one.
pub(crate) fn present(around: &Surroundings<'_>, registry: Option<&Node>, findings: &mut Findings<'_>) {
    let in_catalogue = |path: &&str| path.starts_with("providers/") || path.starts_with("agents/");
    if registry.is_none() && around.pack.paths.iter().any(in_catalogue) {
        let place =
            Place { path: "registry.json".to_owned(), span: flowmcp_spec::Span::default(), tool: None };
        let finding = findings.draft(&place, "should say what this catalogue holds, and does not exist");
        findings.push(
            finding.help("add it with name, version, description, schemaSpec, shared, schemas and agents"),
        );
    }
}

/// CAT002.
pub(crate) fn name(around: &Surroundings<'_>, registry: Option<&Node>, findings: &mut Findings<'_>) {
    let Some((registry, folder)) = registry.zip(around.pack.name) else { return };
    if let Some(node) = registry.get("name").filter(|node| node.as_str().is_some_and(|name| name != folder)) {
        let message = format!("should be the name of the folder, '{}' (found {})", cut(folder), node.shown());
        findings.report(&field(registry, "name"), message);
    }
}

/// CAT003 to CAT005.
fn exist(
    around: &Surroundings<'_>,
    registry: Option<&Node>,
    findings: &mut Findings<'_>,
    wanted: DocumentKind,
) {
    let Some(registry) = registry else { return };
    for listed in listed(registry).iter().filter(|listed| listed.kind == wanted) {
        if !matches!(around.target_in("", listed.path), Target::Missing) {
            continue;
        }
        let finding = findings
            .draft(&listed.place, format!("must be a file that exists (found {})", listed.node.shown()));
        findings.push(match nearest_path(around, listed.path) {
            Some(path) => finding.help(format!("did you mean '{}'?", cut(path))),
            None => finding.help("add the file, or remove the entry"),
        });
    }
}

/// A file of the same name elsewhere, or of nearly the same path.
fn nearest_path<'p>(around: &Surroundings<'p>, path: &str) -> Option<&'p str> {
    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    let same = around.pack.paths.iter().copied().find(|known| name(known) == name(path));
    same.or_else(|| nearest(path, around.pack.paths.iter().copied()))
}

/// CAT003.
pub(crate) fn lists_exist(around: &Surroundings<'_>, registry: Option<&Node>, findings: &mut Findings<'_>) {
    exist(around, registry, findings, DocumentKind::List);
}

/// CAT004.
pub(crate) fn schemas_exist(around: &Surroundings<'_>, registry: Option<&Node>, findings: &mut Findings<'_>) {
    exist(around, registry, findings, DocumentKind::Schema);
}

/// CAT005.
pub(crate) fn agents_exist(around: &Surroundings<'_>, registry: Option<&Node>, findings: &mut Findings<'_>) {
    exist(around, registry, findings, DocumentKind::Agent);
}

/// CAT006.
pub(crate) fn orphans(around: &Surroundings<'_>, registry: Option<&Node>, findings: &mut Findings<'_>) {
    let Some(registry) = registry else { return };
    let listed: HashSet<usize> = listed(registry)
        .iter()
        .filter_map(|listed| match around.target_in("", listed.path) {
            Target::Member(index) => Some(index),
            _ => None,
        })
        .collect();
    for (index, member) in around.pack.members.iter().enumerate() {
        let section = SECTIONS.iter().find(|(_, _, kind)| *kind == member.document.kind);
        let Some((section, key, _)) = section.filter(|_| !listed.contains(&index)) else { continue };
        let finding = findings
            .draft(&field(registry, section), format!("should list {}, which is there", cut(member.path)));
        findings.push(finding.help(format!("add an entry with \"{key}\": \"{}\"", cut(member.path))));
    }
}

/// CAT007.
pub(crate) fn schema_spec(_: &Surroundings<'_>, registry: Option<&Node>, findings: &mut Findings<'_>) {
    let Some(registry) = registry else { return };
    let Some(node) = registry.get("schemaSpec") else { return };
    if node.as_str().and_then(major).is_none_or(|major| !KNOWN_MAJORS.contains(&major)) {
        let message = format!("must be a version of the format such as \"3.0.0\" (found {})", node.shown());
        findings.report(&field(registry, "schemaSpec"), message);
    }
}

/// CAT008.
pub(crate) fn duplicates(_: &Surroundings<'_>, registry: Option<&Node>, findings: &mut Findings<'_>) {
    let Some(registry) = registry else { return };
    for section in &SECTIONS {
        let entries = listed_in(registry, section);
        let mut paths = HashMap::new();
        let mut names = HashMap::new();
        for (index, listed) in entries.iter().enumerate() {
            if let Some(first) = paths.insert(listed.path, index) {
                let message = format!(
                    "must not list a file twice (found {}, as in entry {first})",
                    listed.node.shown()
                );
                findings.report(&listed.place, message);
                continue;
            }
            let text = |key| listed.entry.get(key).and_then(Node::as_str);
            let Some(name) = text("name") else { continue };
            if let Some(first) = names.insert((text("namespace"), name), index) {
                let mut place = listed.entry_place.clone();
                place.path.push_str(".name");
                place.span = listed.entry.get("name").map_or(place.span, |node| node.span);
                let message = format!(
                    "should not be the name of two entries (found \"{}\", as in entry {first})",
                    cut(name)
                );
                let finding = findings.draft(&place, message);
                findings.push(softened(finding).help("tell the two apart: names are what people choose by"));
            }
        }
    }
}

/// CAT009.
pub(crate) fn inside(around: &Surroundings<'_>, registry: Option<&Node>, findings: &mut Findings<'_>) {
    let Some(registry) = registry else { return };
    for listed in listed(registry) {
        if matches!(around.target_in("", listed.path), Target::Outside) {
            let message = format!("must be a path inside the catalogue (found {})", listed.node.shown());
            let finding = findings.draft(&listed.place, message);
            findings.push(
                finding.help(
                    "paths start from the folder of registry.json, and links out of it are not followed",
                ),
            );
        }
    }
}

/// CAT010.
pub(crate) fn shape(_: &Surroundings<'_>, registry: Option<&Node>, findings: &mut Findings<'_>) {
    let Some(registry) = registry else { return };
    for key in ["name", "version", "description", "schemaSpec"] {
        match registry.get(key) {
            Some(node) if node.as_str().is_some_and(|text| !text.trim().is_empty()) => {}
            Some(node) => {
                findings.report(&field(registry, key), format!("must be a string (found {})", node.shown()))
            }
            None => findings.report(&field(registry, key), "is required and must be a string"),
        }
    }
    if let Some(node) =
        registry.get("name").filter(|node| node.as_str().is_some_and(|name| !is_kebab_case(name)))
    {
        let message = format!("must be lowercase letters, digits and hyphens (found {})", node.shown());
        findings.report(&field(registry, "name"), message);
    }
    if registry
        .get("description")
        .and_then(Node::as_str)
        .is_some_and(|text| text.chars().count() > MAX_DESCRIPTION)
    {
        let message = format!("must have at most {MAX_DESCRIPTION} characters");
        findings.report(&field(registry, "description"), message);
    }
    for (section, key, _) in SECTIONS {
        match registry.get(section) {
            None => {
                findings.report(&field(registry, section), "is required and must be an array, if empty: []")
            }
            Some(node) if !node.is_array() => {
                findings
                    .report(&field(registry, section), format!("must be an array (found {})", node.shown()));
            }
            Some(node) => {
                for (index, entry) in node.items().iter().enumerate() {
                    if entry.get(key).and_then(Node::as_str).is_none() {
                        let place = Place {
                            path: format!("registry.{section}[{index}]"),
                            span: entry.span,
                            tool: None,
                        };
                        findings.report(&place, format!("must be an object that names a file in `{key}`"));
                    }
                }
            }
        }
    }
}

/// CAT011.
pub(crate) fn agree(around: &Surroundings<'_>, registry: Option<&Node>, findings: &mut Findings<'_>) {
    let Some(registry) = registry else { return };
    for listed in listed(registry) {
        let Target::Member(index) = around.target_in("", listed.path) else { continue };
        let Some(member) = around.member(index) else { continue };
        if member.document.kind != listed.kind {
            let message = format!("names a file that exports `{}`", member.document.kind.export());
            findings.report(&listed.place, message);
            continue;
        }
        for (key, told) in told(member.document) {
            let Some(node) = listed.entry.get(key).filter(|node| node.value != told.value) else { continue };
            let place =
                Place { path: format!("{}.{key}", listed.entry_place.path), span: node.span, tool: None };
            let message =
                format!("should be {}, as {} says (found {})", told.shown(), cut(listed.path), node.shown());
            findings.report(&place, message);
        }
    }
}

/// What a file says of what its entry says, too. A schema's `name` is for people and may differ.
fn told(document: &Document) -> Vec<(&'static str, &Node)> {
    let root = &document.root;
    let found = match document.kind {
        DocumentKind::List => vec![("name", root.get("meta").and_then(|meta| meta.get("name")))],
        DocumentKind::Schema => vec![("namespace", root.get("namespace"))],
        _ => vec![("name", root.get("name"))],
    };
    found.into_iter().filter_map(|(key, node)| Some((key, node?))).collect()
}
