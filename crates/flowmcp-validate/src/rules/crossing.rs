//! Rules about names that one file takes from another: tools, resources, skills, prompts, and files.

use flowmcp_spec::{Diagnostic, DocumentKind, Node};

use crate::{
    contents::contents,
    findings::{Findings, Place},
    pack::{Surroundings, Target},
    rules::ids::{self, TYPES},
    subject::{Kind, Object},
    words::{cut, nearest},
};

fn meant<'k>(
    finding: Diagnostic,
    name: &str,
    known: impl IntoIterator<Item = &'k str>,
    otherwise: &str,
) -> Diagnostic {
    match nearest(name, known) {
        Some(known) => finding.help(format!("did you mean `{}`?", cut(known))),
        None => finding.help(otherwise),
    }
}

/// The place of a property `file` (or `contentFile`).
fn file_place<'d>(entry: &Object<'d>, key: &str) -> Option<(Place<'d>, &'d str, &'d Node)> {
    let node = entry.node.get(key)?;
    Some((entry.field(key), node.as_str()?, node))
}

/// Skills that a schema names, each with its file.
fn schema_skills<'p>(
    around: &Surroundings<'p>,
    index: usize,
) -> Vec<(Object<'p>, Place<'p>, &'p str, &'p Node)> {
    let Some(subject) = around.of_kind(index, DocumentKind::Schema) else { return Vec::new() };
    let entries = subject.objects(Kind::SkillEntry);
    entries
        .filter_map(|entry| {
            file_place(entry, "file").map(|(place, path, node)| (entry.clone(), place, path, node))
        })
        .collect()
}

/// Reports a file that is missing or outside the pack.
fn exists(
    around: &Surroundings<'_>,
    index: usize,
    (place, path, node): (&Place<'_>, &str, &Node),
    findings: &mut Findings<'_>,
) {
    let shown = node.shown();
    match around.target(index, path) {
        Target::Member(_) | Target::Other => {}
        Target::Missing => {
            let finding = findings.draft(place, format!("must be a file that exists (found {shown})"));
            let name = path.rsplit('/').next().unwrap_or(path);
            let names = || around.pack.paths.iter().copied().filter(|known| known.ends_with(".mjs"));
            let same = names().find(|known| known.rsplit('/').next() == Some(name));
            findings.push(match same.or_else(|| nearest(path, names())) {
                Some(known) => {
                    finding.help(format!("there is {}; paths start from the folder of this file", cut(known)))
                }
                None => finding.help("paths start from the folder of this file"),
            });
        }
        // A part of a catalogue may name files of the rest of it.
        Target::Outside if around.is_whole() => {
            findings.report(place, format!("must be a file inside the pack (found {shown})"));
        }
        Target::Outside => {}
    }
}

/// SKL001.
pub(crate) fn skill_kind(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    for (_, place, path, node) in schema_skills(around, index) {
        if let Target::Member(target) = around.target(index, path)
            && around.kind(target) != Some(DocumentKind::Skill)
        {
            let finding = findings
                .draft(&place, format!("must be a file that exports `skill` (found {})", node.shown()));
            findings.push(finding.help("write there: export const skill = { … }"));
        }
    }
}

/// SKL003.
pub(crate) fn skill_name(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    let Some(subject) = around.of_kind(index, DocumentKind::Skill) else { return };
    let Some(name) = subject.root.text("name") else { return };
    for owner in around.owners(index) {
        for (key, target) in around.skills_of(*owner) {
            if matches!(target, Target::Member(skill) if skill == index) && key != name {
                let path = around.member(*owner).map_or("", |member| member.path);
                let message =
                    format!("must be '{}', as {} calls it (found \"{}\")", cut(key), cut(path), cut(name));
                findings.report(&subject.root.field("name"), message);
            }
        }
    }
}

/// SKL005 and SKL006.
fn required(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>, kind: &str, key: &str) {
    let Some(subject) = around.of_kind(index, DocumentKind::Skill) else { return };
    for requires in subject.objects(Kind::Requires) {
        for (at, node) in requires.items(key).iter().enumerate() {
            let Some(name) = node.as_str() else { continue };
            let place = requires.member(key, at, node);
            if name.contains('/') {
                resolve(around, &place, name, kind, findings);
                continue;
            }
            for owner in around.owners(index) {
                // An agent's skill names tools of the agent, which are IDs mostly.
                let known = around.names_of(*owner, kind);
                if known.iter().any(|known| known.rsplit('/').next() == Some(name)) {
                    continue;
                }
                let path = around.member(*owner).map_or("", |member| member.path);
                let message = format!("must be a {kind} of {} (found {})", cut(path), node.shown());
                let finding = findings.draft(&place, message);
                findings.push(meant(
                    finding,
                    name,
                    known,
                    &format!("add the {kind} there, or remove it here"),
                ));
            }
        }
    }
}

/// SKL005.
pub(crate) fn required_tools(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    required(around, index, findings, "tool", "tools");
}

/// SKL006.
pub(crate) fn required_resources(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    required(around, index, findings, "resource", "resources");
}

/// SKL017.
pub(crate) fn skill_files(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    for (_, place, path, node) in schema_skills(around, index) {
        exists(around, index, (&place, path, node), findings);
    }
}

/// SKL022.
pub(crate) fn named_skills(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    each_skill_in_text(around, index, |place, name, owner, known| {
        if known.is_empty() || !known.iter().any(|(key, _)| *key == name) {
            let path = around.member(owner).map_or("", |member| member.path);
            let finding = findings
                .draft(place, format!("names the skill `{}`, which {} does not have", cut(name), cut(path)));
            findings.push(meant(
                finding,
                name,
                known.iter().map(|(key, _)| *key),
                "add it there, or remove the placeholder",
            ));
        }
    });
}

/// SKL023.
pub(crate) fn skill_depth(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    each_skill_in_text(around, index, |place, name, _, known| {
        let Some((_, Target::Member(target))) = known.iter().find(|(key, _)| *key == name) else { return };
        let Some(subject) = around.of_kind(*target, DocumentKind::Skill) else { return };
        let inner = contents(subject).into_iter().flat_map(|content| content.placeholders(subject.text));
        if let Some(inner) = inner.into_iter().find(|inner| inner.kind == "skill") {
            let message = format!(
                "names the skill `{}`, which itself names `{}`: one level only",
                cut(name),
                cut(inner.name)
            );
            let finding = findings.draft(place, message);
            findings.push(finding.help("write the steps of the inner skill out in one of them"));
        }
    });
}

fn each_skill_in_text(
    around: &Surroundings<'_>,
    index: usize,
    mut then: impl FnMut(&Place<'_>, &str, usize, &[(&str, Target)]),
) {
    let Some(subject) = around.of_kind(index, DocumentKind::Skill) else { return };
    for content in contents(subject) {
        for found in content
            .placeholders(subject.text)
            .iter()
            .filter(|found| found.kind == "skill" && !found.name.is_empty())
        {
            for owner in around.owners(index) {
                then(&found.place, found.name, *owner, &around.skills_of(*owner));
            }
        }
    }
}

/// SKL027.
pub(crate) fn orphan(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    let Some(subject) = around.of_kind(index, DocumentKind::Skill) else { return };
    if around.is_whole() && around.owners(index).is_empty() {
        let finding =
            findings.draft(&subject.root.field("name"), "is a skill that no schema and no agent names");
        findings.push(finding.help("add it to `main.skills` of its schema: { file: './skills/name.mjs' }"));
    }
}

/// Reports an ID that leads to nothing. An ID of the wrong form is reported by its own rules, and a namespace that is
/// not here is no fault of a pack that is only a part.
fn resolve(
    around: &Surroundings<'_>,
    place: &Place<'_>,
    id: &str,
    default: &str,
    findings: &mut Findings<'_>,
) {
    let parts: Vec<&str> = id.split('/').collect();
    let (namespace, kind, name) = match parts.as_slice() {
        [namespace, name] => (*namespace, default, *name),
        [namespace, kind, name] => (*namespace, *kind, *name),
        _ => return,
    };
    if name.is_empty() || !TYPES.contains(&kind) {
        return;
    }
    if kind == "list" {
        if around.list(name).is_none() && around.is_whole() {
            let finding =
                findings.draft(place, format!("names the list `{}`, which does not exist", cut(name)));
            findings.push(meant(finding, name, around.list_names(), "lists lie in `_lists`"));
        }
        return;
    }
    match around.names(namespace, kind) {
        Some(names) if names.contains(&name) => {}
        Some(names) => {
            let message =
                format!("names the {kind} `{}`, which `{}` does not have", cut(name), cut(namespace));
            let finding = findings.draft(place, message);
            let mut known: Vec<&str> = names.clone();
            known.truncate(20);
            let listed = if known.is_empty() {
                format!("it has no {kind}")
            } else {
                format!("known are {}", known.join(", "))
            };
            findings.push(meant(finding, name, names, &listed));
        }
        None if around.is_whole() => {
            let message =
                format!("names the namespace `{}`, which this catalogue does not have", cut(namespace));
            let finding = findings.draft(place, message);
            findings.push(meant(
                finding,
                namespace,
                around.namespace_names(),
                "add its schemas, or remove this",
            ));
        }
        None => {}
    }
}

/// AGT007.
pub(crate) fn agent_ids(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    let Some(subject) = around.of_kind(index, DocumentKind::Agent) else { return };
    for found in ids::ids(subject) {
        resolve(around, &found.place, found.id, found.default, findings);
    }
}

/// Files that an agent names under a key.
fn agent_files<'p>(
    around: &Surroundings<'p>,
    index: usize,
    key: &str,
) -> Vec<(Place<'p>, &'p str, &'p Node)> {
    let Some(subject) = around.of_kind(index, DocumentKind::Agent) else { return Vec::new() };
    let files = subject.root.entries(key).iter().filter_map(|entry| {
        let node = entry.node.get("file")?;
        let mut place = subject.root.entry(key, entry);
        place.path.push_str(".file");
        place.span = node.span;
        Some((place, node.as_str()?, node))
    });
    files.collect()
}

/// AGT016.
pub(crate) fn agent_files_exist(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    for key in ["prompts", "skills"] {
        for (place, path, node) in agent_files(around, index, key) {
            exists(around, index, (&place, path, node), findings);
        }
    }
}

fn agent_file_kind(
    around: &Surroundings<'_>,
    index: usize,
    findings: &mut Findings<'_>,
    key: &str,
    wanted: DocumentKind,
) {
    let export = if wanted == DocumentKind::Prompt { "content` or `prompt" } else { wanted.export() };
    for (place, path, node) in agent_files(around, index, key) {
        if let Target::Member(target) = around.target(index, path)
            && around.kind(target) != Some(wanted)
        {
            findings
                .report(&place, format!("must be a file that exports `{export}` (found {})", node.shown()));
        }
    }
}

/// AGT017.
pub(crate) fn agent_prompts(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    agent_file_kind(around, index, findings, "prompts", DocumentKind::Prompt);
}

/// AGT018.
pub(crate) fn agent_skills(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    agent_file_kind(around, index, findings, "skills", DocumentKind::Skill);
}

/// The prompts of a member, each with the namespace that its bare names belong to.
fn prompts<'s, 'p>(around: &'s Surroundings<'p>, index: usize) -> Vec<(&'s Object<'p>, Option<&'p str>)> {
    let Some(subject) = around.subject(index) else { return Vec::new() };
    let of_schema = subject.root.text("namespace");
    let own = |prompt: &Object<'p>| prompt.text("namespace").or(prompt.text("provider")).or(of_schema);
    subject.objects(Kind::Prompt).map(|prompt| (prompt, own(prompt))).collect()
}

/// PRM006.
pub(crate) fn prompt_tools(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    for (prompt, namespace) in prompts(around, index) {
        for (at, node) in prompt.items("dependsOn").iter().enumerate() {
            let Some(name) = node.as_str() else { continue };
            let place = prompt.member("dependsOn", at, node);
            match (name.contains('/'), namespace) {
                (true, _) => resolve(around, &place, name, "tool", findings),
                // `namespace.name` is how older prompts wrote it.
                (false, Some(namespace)) => {
                    let bare =
                        name.strip_prefix(namespace).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name);
                    resolve(around, &place, &format!("{namespace}/tool/{bare}"), "tool", findings);
                }
                (false, None) => {}
            }
        }
    }
}

/// PRM007.
pub(crate) fn prompt_references(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    for (prompt, _) in prompts(around, index) {
        for (at, node) in prompt.items("references").iter().enumerate() {
            let Some(id) = node.as_str() else { continue };
            resolve(around, &prompt.member("references", at, node), id, "prompt", findings);
        }
    }
}

/// PRM008.
pub(crate) fn prompt_depth(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    for (prompt, _) in prompts(around, index) {
        for (at, node) in prompt.items("references").iter().enumerate() {
            let parts: Vec<&str> = node.as_str().unwrap_or_default().split('/').collect();
            let (Some(owner), Some(name)) = (parts.first(), parts.last()) else { continue };
            let is_target = |other: &Object<'_>| {
                other.text("name") == Some(name)
                    && ["namespace", "agent", "provider"].iter().any(|key| other.text(key) == Some(owner))
            };
            if around.prompts().any(|(_, other)| is_target(other) && !other.items("references").is_empty()) {
                let message = format!(
                    "names a prompt that builds on others itself: one level only (found {})",
                    node.shown()
                );
                let finding = findings.draft(&prompt.member("references", at, node), message);
                findings.push(finding.help("name those others here, and remove them there"));
            }
        }
    }
}

/// PRM012.
pub(crate) fn prompt_files(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    for (prompt, _) in prompts(around, index) {
        let Some((place, path, node)) = file_place(prompt, "contentFile") else { continue };
        exists(around, index, (&place, path, node), findings);
        if let Target::Member(target) = around.target(index, path)
            && around.kind(target) != Some(DocumentKind::Prompt)
        {
            findings
                .report(&place, format!("must be a file that exports `content` (found {})", node.shown()));
        }
    }
}

/// PH002. Tools and resources that a skill requires are SKL005's and SKL006's business.
pub(crate) fn placeholders(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    let Some(subject) = around.subject(index) else { return };
    let required = |kind: &str, name: &str| {
        let key = if kind == "tool" { "tools" } else { "resources" };
        let mut all = subject.objects(Kind::Requires).flat_map(|requires| requires.items(key));
        all.any(|node| node.as_str() == Some(name))
    };
    let namespace = prompts(around, index).first().and_then(|(_, namespace)| *namespace);
    for content in contents(subject) {
        for found in content.placeholders(subject.text) {
            let is_reference = matches!(found.kind, "tool" | "resource" | "prompt");
            if !is_reference || found.name.is_empty() || required(found.kind, found.name) {
                continue;
            }
            if found.name.contains('/') {
                resolve(around, &found.place, found.name, found.kind, findings);
            } else if let Some(namespace) = namespace {
                let id = format!("{namespace}/{}/{}", found.kind, found.name);
                resolve(around, &found.place, &id, found.kind, findings);
            }
            for owner in around.owners(index).iter().filter(|_| !found.name.contains('/')) {
                let known = around.names_of(*owner, found.kind);
                if !known.iter().any(|known| known.rsplit('/').next() == Some(found.name)) {
                    let path = around.member(*owner).map_or("", |member| member.path);
                    let message = format!(
                        "names the {} `{}`, which {} does not have",
                        found.kind,
                        cut(found.name),
                        cut(path)
                    );
                    let finding = findings.draft(&found.place, message);
                    findings.push(meant(
                        finding,
                        found.name,
                        known,
                        "the braces would reach the model as they are",
                    ));
                }
            }
        }
    }
}

/// RES020.
pub(crate) fn resource_files(around: &Surroundings<'_>, index: usize, findings: &mut Findings<'_>) {
    let Some(subject) = around.of_kind(index, DocumentKind::Schema) else { return };
    for resource in subject.objects(Kind::Resource) {
        let older = resource.node.get("database").is_some();
        let key = if older { "database" } else { "name" };
        let (Some(name), true) = (resource.text(key), older || resource.text("origin") == Some("inline"))
        else {
            continue;
        };
        let path = if older { name.to_owned() } else { format!("resources/{name}") };
        if matches!(around.target(index, &path), Target::Missing) {
            let message = format!(
                "names a file that does not exist (found {})",
                resource.node.get(key).map(Node::shown).unwrap_or_default()
            );
            let finding = findings.draft(&resource.field(key), message);
            findings.push(finding.help(format!("put it beside the schema, as {}", cut(&path))));
        }
    }
}
