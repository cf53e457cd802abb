//! Rules about prompts, in files of their own and in `main.prompts`.

use flowmcp_spec::{DocumentKind, Node};

use crate::{
    findings::{Findings, softened},
    rules::skills::{described, exactly, module, named},
    subject::{Kind, Object, Subject},
};

const VERSION: &str = "flowmcp-prompt/1.0.0";
/// Longest name of a prompt; MCP clients show it in menus.
const MAX_NAME: usize = 64;

/// PRM001.
pub(crate) fn name(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for prompt in subject.objects(Kind::Prompt) {
        named(prompt, MAX_NAME, findings);
    }
}

/// PRM002.
pub(crate) fn version(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for prompt in subject.objects(Kind::Prompt) {
        exactly(prompt, "version", VERSION, findings);
    }
}

/// PRM003.
pub(crate) fn owner(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for prompt in subject.objects(Kind::Prompt) {
        let has = |key| prompt.node.get(key).is_some();
        match (has("namespace"), has("agent")) {
            (true, true) => {
                let finding = findings.draft(&prompt.key("agent"), "must not stand beside `namespace`");
                findings
                    .push(finding.help("a prompt belongs to a provider or to an agent: keep one of them"));
            }
            (false, false) if has("provider") => {
                let finding = findings.draft(&prompt.key("provider"), "is the old name of `namespace`");
                findings.push(softened(finding).help("rename it to `namespace`"));
            }
            // In a schema the namespace goes without saying.
            (false, false) => {
                let finding = findings.draft(
                    &prompt.field("namespace"),
                    "or `agent` is required: it says which provider or agent the prompt belongs to",
                );
                let in_schema = subject.kind == DocumentKind::Schema;
                findings.push(if in_schema { softened(finding) } else { finding });
            }
            _ => {}
        }
    }
}

/// PRM004.
pub(crate) fn tested(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for prompt in subject.objects(Kind::Prompt) {
        let tested = prompt.node.get("testedWith").is_some();
        if prompt.node.get("agent").is_some() {
            if !tested {
                let finding =
                    findings.draft(&prompt.field("testedWith"), "is required for the prompt of an agent");
                findings.push(finding.help("name the model: 'organisation/model'"));
            }
        } else if tested {
            let finding = findings.draft(
                &prompt.key("testedWith"),
                "should not stand in a provider's prompt, which is for all models",
            );
            findings.push(softened(finding).help("remove it, or give the prompt to an agent with `agent`"));
        }
    }
}

/// Checks a field that names a model: `organisation/model`.
pub(super) fn model(object: &Object<'_>, key: &str, findings: &mut Findings<'_>) {
    let Some(node) = object.node.get(key) else { return };
    let fits = node.as_str().and_then(|name| name.split_once('/'));
    if fits.is_none_or(|(organisation, name)| organisation.trim().is_empty() || name.trim().is_empty()) {
        findings.report(
            &object.field(key),
            format!("must be written organisation/model (found {})", node.shown()),
        );
    }
}

/// PRM005.
pub(crate) fn tested_with(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for prompt in subject.objects(Kind::Prompt) {
        model(prompt, "testedWith", findings);
    }
}

/// PRM010.
pub(crate) fn content(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for prompt in subject.objects(Kind::Prompt) {
        let apart = subject.kind == DocumentKind::Prompt && subject.content.is_some();
        match (prompt.node.get("content"), prompt.node.get("contentFile")) {
            (Some(_), Some(_)) => {
                let finding = findings.draft(&prompt.key("contentFile"), "must not stand beside `content`");
                findings.push(finding.help("keep the text in one place"));
            }
            (Some(node), None) if node.as_str().is_none_or(|text| text.trim().is_empty()) => {
                let shown = if node.as_str().is_some() { "an empty string".into() } else { node.shown() };
                findings.report(
                    &prompt.field("content"),
                    format!("must be a string with the instructions (found {shown})"),
                );
            }
            (None, None) if !apart => {
                let finding = findings.draft(&prompt.field("content"), "or `contentFile` is required");
                findings.push(finding.help(
                    "write the text into `content`, or its file into `contentFile`: './prompts/about.mjs'",
                ));
            }
            _ => {}
        }
    }
}

/// PRM011.
pub(crate) fn content_file(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for prompt in subject.objects(Kind::Prompt).filter(|prompt| prompt.node.get("contentFile").is_some()) {
        module(prompt, "contentFile", findings);
    }
}

/// PRM013 and PRM015: arrays of strings that are written out even if they are empty.
fn texts(subject: &Subject<'_>, findings: &mut Findings<'_>, key: &str) {
    for prompt in subject.objects(Kind::Prompt) {
        let place = prompt.field(key);
        match prompt.node.get(key) {
            None => {
                let finding = findings.draft(&place, "should be an array of strings, if empty: []");
                findings.push(softened(finding));
            }
            Some(node) if !node.is_array() => {
                findings.report(&place, format!("must be an array of strings (found {})", node.shown()));
            }
            Some(node) => {
                for (index, item) in
                    node.items().iter().enumerate().filter(|(_, item)| item.as_str().is_none())
                {
                    findings.report(
                        &prompt.member(key, index, item),
                        format!("must be a string (found {})", Node::shown(item)),
                    );
                }
            }
        }
    }
}

/// PRM013.
pub(crate) fn references(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    texts(subject, findings, "references");
}

/// PRM014.
pub(crate) fn description(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for prompt in subject.objects(Kind::Prompt) {
        described(prompt, findings);
    }
}

/// PRM015.
pub(crate) fn depends_on(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    texts(subject, findings, "dependsOn");
}
