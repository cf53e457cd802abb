//! Rules about lists that build on other lists, and about filters of lists.

use flowmcp_spec::{DocumentKind, Node};

use crate::{
    findings::{Findings, Place},
    pack::Surroundings,
    subject::{Kind, Subject},
    words::{cut, major, nearest},
};

/// How deep lists may build on others (semantics.md, section 5).
const MAX_DEPTH: usize = 3;

fn list_name<'p>(subject: &Subject<'p>) -> Option<&'p str> {
    subject.root.node.get("meta")?.get("name")?.as_str()
}

/// The dependencies of a list, with their places and names.
fn dependencies<'p>(subject: &Subject<'p>) -> Vec<(Place<'p>, &'p Node, &'p str)> {
    let metas = subject.objects(Kind::ListMeta);
    let items = metas.flat_map(|meta| {
        meta.items("dependsOn")
            .iter()
            .enumerate()
            .map(move |(index, node)| (meta.member("dependsOn", index, node), node))
    });
    items.filter_map(|(place, node)| Some((place, node, depended(node)?))).collect()
}

fn depended(node: &Node) -> Option<&str> {
    node.as_str().or_else(|| node.get("ref").or_else(|| node.get("name"))?.as_str())
}

fn names_of(list: &Node) -> impl Iterator<Item = &str> {
    let items = list.get("meta").and_then(|meta| meta.get("dependsOn")).map(Node::items).unwrap_or_default();
    items.iter().filter_map(depended)
}

/// LST002, the part about other lists.
pub(crate) fn unique(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    let Some(subject) = around.of_kind(index, DocumentKind::List) else { return };
    let Some((first, _)) =
        list_name(subject).and_then(|name| around.list(name)).filter(|(first, _)| *first != index)
    else {
        return;
    };
    for meta in subject.objects(Kind::ListMeta) {
        let path = around.member(first).map_or("", |member| member.path);
        let message = format!(
            "must be a name that no other list has (found {}, which is in {} already)",
            meta.node.get("name").map(Node::shown).unwrap_or_default(),
            cut(path)
        );
        let finding = findings.draft(&meta.field("name"), message);
        findings.push(finding.help("of two lists with one name the first counts: rename or remove this one"));
    }
}

/// LST009.
pub(crate) fn resolved(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    let Some(subject) = around.of_kind(index, DocumentKind::List) else { return };
    for (place, _, name) in dependencies(subject) {
        if around.list(name).is_none() {
            let finding =
                findings.draft(&place, format!("names the list `{}`, which does not exist", cut(name)));
            let mut known: Vec<&str> = around.list_names().collect();
            known.sort_unstable();
            findings.push(match nearest(name, known.iter().copied()) {
                Some(name) => finding.help(format!("did you mean `{}`?", cut(name))),
                None => finding.help(format!("known are {}", known.join(", "))),
            });
        }
    }
}

/// The way from a list back to itself, if there is one.
fn cycle<'p>(around: &Surroundings<'p>, from: &'p str) -> Option<Vec<&'p str>> {
    let mut open = vec![vec![from]];
    let mut seen = std::collections::HashSet::new();
    while let Some(way) = open.pop() {
        let Some((_, list)) = way.last().and_then(|name| around.list(name)) else { continue };
        for next in names_of(list) {
            let mut longer = way.clone();
            longer.push(next);
            if next == from {
                return Some(longer);
            }
            if seen.insert(next) {
                open.push(longer);
            }
        }
    }
    None
}

/// LST010.
pub(crate) fn cycles(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    let Some(subject) = around.of_kind(index, DocumentKind::List) else { return };
    let Some(way) = list_name(subject).and_then(|name| cycle(around, name)) else { return };
    let shown: Vec<_> = way.iter().map(|name| cut(name)).collect();
    for meta in subject.objects(Kind::ListMeta) {
        let message = format!("must not lead back to this list (found {})", shown.join(" → "));
        findings.report(&meta.key("dependsOn"), message);
    }
}

/// The longest way down from a list, itself included; ways past the limit end there.
fn deepest<'p>(around: &Surroundings<'p>, way: &mut Vec<&'p str>) -> Vec<&'p str> {
    let mut longest = way.clone();
    let list = way.last().and_then(|name| around.list(name));
    if let Some((_, list)) = list.filter(|_| way.len() <= MAX_DEPTH) {
        for next in names_of(list) {
            way.push(next);
            let found = deepest(around, way);
            way.pop();
            if found.len() > longest.len() {
                longest = found;
            }
        }
    }
    longest
}

/// LST011.
pub(crate) fn depth(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    let Some(subject) = around.of_kind(index, DocumentKind::List) else { return };
    let Some(name) = list_name(subject).filter(|name| cycle(around, name).is_none()) else { return };
    let way = deepest(around, &mut vec![name]);
    // Lists on a cycle further down are reported there.
    if way.len() <= MAX_DEPTH || way.iter().any(|name| cycle(around, name).is_some()) {
        return;
    }
    let shown: Vec<_> = way.iter().map(|name| cut(name)).collect();
    for meta in subject.objects(Kind::ListMeta) {
        let message = format!("must lead through at most {MAX_DEPTH} lists (found {})", shown.join(" → "));
        findings.report(&meta.key("dependsOn"), message);
    }
}

/// LST012.
pub(crate) fn dependency_shapes(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for meta in subject.objects(Kind::ListMeta) {
        if let Some(node) = meta.node.get("dependsOn").filter(|node| !node.is_array()) {
            findings.report(
                &meta.field("dependsOn"),
                format!("must be an array of objects (found {})", node.shown()),
            );
        }
        for (index, node) in meta.items("dependsOn").iter().enumerate() {
            let place = meta.member("dependsOn", index, node);
            let condition = node.get("condition");
            let is_whole = |condition: &Node| {
                condition.get("field").and_then(Node::as_str).is_some() && condition.get("value").is_some()
            };
            if depended(node).is_none() {
                findings.report(&place, format!("must name a list in `ref` (found {})", node.shown()));
            } else if node.get("version").is_some_and(|version| version.as_str().and_then(major).is_none()) {
                let shown = node.get("version").map(Node::shown).unwrap_or_default();
                findings.report(&place, format!("must have a `version` such as '1.0.0' (found {shown})"));
            } else if condition.is_some_and(|condition| !is_whole(condition)) {
                findings.report(&place, "must have `field` and `value` in its `condition`");
            }
        }
    }
}

/// LST013.
pub(crate) fn dependencies_fit(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    let Some(subject) = around.of_kind(index, DocumentKind::List) else { return };
    for (place, node, name) in dependencies(subject) {
        let Some((_, list)) = around.list(name) else { continue };
        let version = list.get("meta").and_then(|meta| meta.get("version")).and_then(Node::as_str);
        let wanted = node.get("version").and_then(Node::as_str);
        if let (Some(wanted), Some(version)) = (wanted, version)
            && wanted != version
        {
            let message =
                format!("asks for version {} of `{}`, which has {}", cut(wanted), cut(name), cut(version));
            let finding = findings.draft(&place, message);
            findings.push(if major(wanted) == major(version) {
                crate::findings::softened(finding)
            } else {
                finding
            });
        }
        let Some(condition) = node.get("condition") else { continue };
        let (Some(field), Some(value)) =
            (condition.get("field").and_then(Node::as_str), condition.get("value"))
        else {
            continue;
        };
        let entries = list.get("entries").map(Node::items).unwrap_or_default();
        if !entries.iter().any(|entry| entry.get(field).is_some_and(|found| found.value == value.value)) {
            let message = format!(
                "asks for an entry of `{}` whose `{}` is {}, which there is not",
                cut(name),
                cut(field),
                value.shown()
            );
            findings.report(&place, message);
        }
    }
}

/// VAL076.
pub(crate) fn filters(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    let Some(subject) = around.of_kind(index, DocumentKind::Schema) else { return };
    for reference in subject.objects(Kind::Reference) {
        let name = reference.text("ref").or_else(|| reference.text("name"));
        let Some((_, list)) = name.and_then(|name| around.list(name)) else { continue };
        let filter = reference.node.get("filter");
        let key = filter.and_then(|filter| filter.get("key").or_else(|| filter.get("field")));
        let Some((node, key)) = key.and_then(|node| Some((node, node.as_str()?))) else { continue };
        let described =
            list.get("meta").and_then(|meta| meta.get("fields")).map(Node::items).unwrap_or_default();
        let entries = list.get("entries");
        let rows = entries.map(Node::items).unwrap_or_default().iter();
        let rows = rows.chain(entries.map(Node::entries).unwrap_or_default().iter().map(|entry| &entry.node));
        let mut known: Vec<&str> =
            described.iter().filter_map(|field| field.get("key").and_then(Node::as_str)).collect();
        known.extend(rows.flat_map(Node::entries).map(|entry| &*entry.key));
        known.sort_unstable();
        known.dedup();
        if known.contains(&key) {
            continue;
        }
        let mut place = reference.field("filter");
        place.path.push_str(".key");
        place.span = node.span;
        let message = format!(
            "must be a field of the list `{}` (found {})",
            cut(name.unwrap_or_default()),
            node.shown()
        );
        let finding = findings.draft(&place, message);
        findings.push(match nearest(key, known.iter().copied()) {
            Some(name) => finding.help(format!("did you mean `{}`?", cut(name))),
            None => finding
                .help(format!("known are {}", known.iter().take(20).copied().collect::<Vec<_>>().join(", "))),
        });
    }
}
