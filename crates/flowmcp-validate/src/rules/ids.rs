//! Rules about IDs, which name tools, resources, prompts and lists of any provider: `namespace/type/name`.

use crate::{
    findings::{Findings, Place},
    subject::{Kind, Object, Subject},
    words::{cut, is_kebab_case, nearest},
};

pub(crate) const TYPES: [&str; 4] = ["tool", "resource", "prompt", "list"];

/// Where an ID stands, and the type that goes without saying there.
pub(crate) struct Found<'d> {
    pub(crate) place: Place<'d>,
    pub(crate) id: &'d str,
    pub(crate) default: &'static str,
}

fn texts<'d>(object: &Object<'d>, key: &str, default: &'static str, found: &mut Vec<Found<'d>>) {
    for (index, node) in object.items(key).iter().enumerate() {
        if let Some(id) = node.as_str() {
            found.push(Found { place: object.member(key, index, node), id, default });
        }
    }
}

/// All IDs of a file.
pub(crate) fn ids<'d>(subject: &Subject<'d>) -> Vec<Found<'d>> {
    let mut found = Vec::new();
    for agent in subject.objects(Kind::Agent) {
        for (key, default) in [("tools", "tool"), ("resources", "resource"), ("prompts", "prompt")] {
            for entry in agent.entries(key).iter().filter(|entry| entry.key.contains('/')) {
                found.push(Found { place: agent.entry(key, entry), id: &entry.key, default });
            }
        }
        texts(agent, "tools", "tool", &mut found);
    }
    for test in subject.objects(Kind::AgentTest) {
        texts(test, "expectedTools", "tool", &mut found);
    }
    for prompt in subject.objects(Kind::Prompt) {
        texts(prompt, "references", "prompt", &mut found);
        // A provider's prompt names tools of its own namespace by their bare names.
        let mut tools = Vec::new();
        texts(prompt, "dependsOn", "tool", &mut tools);
        let of_agent = prompt.node.get("agent").is_some();
        found.extend(tools.into_iter().filter(|tool| of_agent || tool.id.contains('/')));
    }
    found
}

/// An agent's own tools may be expected without a namespace.
fn is_own(subject: &Subject<'_>, id: &str) -> bool {
    let tools = || subject.objects(Kind::Agent).flat_map(|agent| agent.entries("tools"));
    !id.contains('/') && tools().any(|entry| &*entry.key == id)
}

/// ID001.
pub(crate) fn separated(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for found in ids(subject).iter().filter(|found| !found.id.contains('/') && !is_own(subject, found.id)) {
        let message =
            format!("must be an ID: namespace/{}/name (found \"{}\")", found.default, cut(found.id));
        let finding = findings.draft(&found.place, message);
        findings.push(match found.id.split_once('.') {
            Some((namespace, name)) => {
                finding.help(format!("write '{}/{}/{}'", cut(namespace), found.default, cut(name)))
            }
            None => finding.help("put the provider's namespace in front"),
        });
    }
}

/// ID002.
pub(crate) fn namespaces(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for found in ids(subject) {
        let Some((namespace, _)) = found.id.split_once('/') else { continue };
        if !is_kebab_case(namespace) {
            let message = format!(
                "must begin with a namespace of lowercase letters, digits and hyphens (found \"{}\")",
                cut(found.id)
            );
            findings.report(&found.place, message);
        }
    }
}

/// ID003.
pub(crate) fn types(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for found in ids(subject) {
        let mut parts = found.id.split('/').skip(1);
        let (Some(kind), Some(_)) = (parts.next(), parts.next()) else { continue };
        if TYPES.contains(&kind) {
            continue;
        }
        let message =
            format!("must have one of {} in the middle (found \"{}\")", TYPES.join(", "), cut(found.id));
        let finding = findings.draft(&found.place, message);
        findings.push(match nearest(kind, TYPES) {
            Some(meant) => {
                finding.help(format!("did you mean '{}'?", cut(&found.id.replacen(kind, meant, 1))))
            }
            None => finding.help("an ID is namespace/type/name"),
        });
    }
}

/// ID004.
pub(crate) fn names(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for found in ids(subject).iter().filter(|found| found.id.contains('/')) {
        let mut parts = found.id.split('/').skip(1);
        let name = match (parts.next(), parts.next()) {
            (Some(_), Some(name)) | (Some(name), None) => name,
            (None, _) => continue,
        };
        if name.trim().is_empty() {
            findings.report(&found.place, format!("must end with a name (found \"{}\")", cut(found.id)));
        }
    }
}

/// ID005.
pub(crate) fn full(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for found in ids(subject) {
        let Some((namespace, name)) = found.id.split_once('/').filter(|(_, name)| !name.contains('/')) else {
            continue;
        };
        if name.is_empty() || TYPES.contains(&name) {
            continue;
        }
        let finding =
            findings.draft(&found.place, format!("should say what it names (found \"{}\")", cut(found.id)));
        findings.push(finding.help(format!("write '{}/{}/{}'", cut(namespace), found.default, cut(name))));
    }
}
