//! Rules about agents: a model, a system prompt, and a choice of tools of several providers.

use std::collections::BTreeSet;

use flowmcp_spec::{Entry, Node, Value};

use crate::{
    findings::{Findings, softened},
    rules::{
        prompts::model,
        resources::leaves,
        skills::{exactly, named},
    },
    subject::{Kind, Object, Subject},
    words::{cut, nearest},
};

const VERSION: &str = "flowmcp/3.0.0";
/// Fewest tests of an agent that show what it can do.
const MIN_TESTS: usize = 3;
/// Longest name of an agent: it names a folder.
const MAX_NAME: usize = 64;
const NEEDED_OF_TOOL: [&str; 3] = ["method", "path", "description"];

/// AGT001.
pub(crate) fn name(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent) {
        named(agent, MAX_NAME, findings);
    }
}

/// AGT003.
pub(crate) fn model_name(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent) {
        if agent.node.get("model").is_none() {
            findings.report(&agent.field("model"), "is required and must be written organisation/model");
        }
        model(agent, "model", findings);
    }
}

/// AGT004.
pub(crate) fn version(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent) {
        exactly(agent, "version", VERSION, findings);
    }
}

/// AGT006.
pub(crate) fn tools(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent) {
        let place = agent.field("tools");
        match agent.node.get("tools") {
            None => findings.report(&place, "is required and must be an object that names the tools"),
            Some(node) if node.is_array() && !node.items().is_empty() => {
                let finding = findings.draft(&agent.key("tools"), "should be an object, not an array");
                findings.push(
                    softened(finding).help("write each ID as a key: tools: { 'namespace/tool/name': null }"),
                );
            }
            Some(node) if !node.is_object() && !node.is_array() => {
                findings.report(
                    &place,
                    format!("must be an object that names the tools (found {})", node.shown()),
                );
            }
            Some(node) if node.entries().is_empty() => findings.report(&place, "must name at least one tool"),
            Some(_) => {}
        }
    }
}

/// AGT008.
pub(crate) fn test_count(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent) {
        let count = agent.items("tests").len();
        if count < MIN_TESTS {
            findings.report(
                &agent.field("tests"),
                format!("should have at least {MIN_TESTS} tests (found {count})"),
            );
        }
    }
}

/// AGT010.
pub(crate) fn expected_tools(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for test in subject.objects(Kind::AgentTest) {
        let place = test.field("expectedTools");
        match test.node.get("expectedTools") {
            None => findings.report(&place, "is required and must be an array of tool IDs"),
            Some(node) if !node.is_array() || node.items().iter().any(|item| item.as_str().is_none()) => {
                findings.report(&place, format!("must be an array of tool IDs (found {})", node.shown()));
            }
            Some(node) if node.items().is_empty() => findings.report(&place, "must name at least one tool"),
            Some(_) => {}
        }
    }
}

/// AGT012. Fewer tests than asked for are AGT008's business.
pub(crate) fn breadth(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent).filter(|agent| agent.items("tests").len() >= MIN_TESTS) {
        let tools = |test: &Object<'_>| -> BTreeSet<String> {
            test.items("expectedTools").iter().filter_map(Node::as_str).map(str::to_owned).collect()
        };
        let combinations: BTreeSet<BTreeSet<String>> = subject.objects(Kind::AgentTest).map(tools).collect();
        if combinations.len() == 1 {
            findings.report(&agent.key("tests"), "should expect more than one combination of tools");
        }
    }
}

/// TST013.
pub(crate) fn expected_content(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for test in subject.objects(Kind::AgentTest).filter(|test| test.items("expectedContent").is_empty()) {
        let finding =
            findings.draft(&test.place(), "could say in `expectedContent` what the answer contains");
        findings.push(finding.help("for example: expectedContent: [ 'EUR' ]"));
    }
}

/// The members of one of an agent's objects. That it is no object is reported.
fn members<'d>(agent: &Object<'d>, key: &str, findings: &mut Findings<'_>) -> &'d [Entry] {
    if let Some(node) = agent.node.get(key).filter(|node| !node.is_object()) {
        findings.report(&agent.field(key), format!("must be an object (found {})", node.shown()));
    }
    agent.entries(key)
}

/// Checks that a member names a file in `file`.
fn names_file(agent: &Object<'_>, key: &str, entry: &Entry, findings: &mut Findings<'_>) {
    if entry.node.get("file").and_then(Node::as_str).is_none() {
        let shown = entry.node.shown();
        let finding = findings
            .draft(&agent.entry(key, entry), format!("must be an object with `file` (found {shown})"));
        findings.push(finding.help(format!("write {{ file: './{key}/{}.mjs' }}", cut(&entry.key))));
    }
}

/// AGT013.
pub(crate) fn prompts(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent) {
        for entry in members(agent, "prompts", findings).iter().filter(|entry| !entry.key.contains('/')) {
            names_file(agent, "prompts", entry, findings);
        }
    }
}

/// AGT014.
pub(crate) fn skills(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent) {
        for entry in members(agent, "skills", findings) {
            if entry.key.contains('/') {
                let finding = findings.draft(
                    &agent.entry("skills", entry),
                    "must be a skill of the agent's own, since skills are made for one model",
                );
                findings.push(
                    finding.help("copy the file into the agent's `skills` folder and name it without /"),
                );
            } else {
                names_file(agent, "skills", entry, findings);
            }
        }
    }
}

/// AGT015.
pub(crate) fn resources(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent) {
        for entry in members(agent, "resources", findings) {
            if !entry.key.contains('/') && !entry.node.is_object() {
                let message =
                    format!("must be an object that describes the resource (found {})", entry.node.shown());
                findings.report(&agent.entry("resources", entry), message);
            }
        }
    }
}

/// AGT016, as far as the path itself tells.
pub(crate) fn files(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent) {
        for key in ["prompts", "skills"] {
            for entry in agent.entries(key) {
                let Some(node) = entry.node.get("file") else { continue };
                let Some(path) = node.as_str() else { continue };
                if !path.ends_with(".mjs") || leaves(&path.replace("../", "")) {
                    let message =
                        format!("must be the relative path of an .mjs file (found {})", node.shown());
                    let mut place = agent.entry(key, entry);
                    place.path.push_str(".file");
                    place.span = node.span;
                    findings.report(&place, message);
                }
            }
        }
    }
}

/// AGT019.
pub(crate) fn own_tools(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent) {
        for entry in agent.entries("tools").iter().filter(|entry| !entry.key.contains('/')) {
            let missing: Vec<&str> = NEEDED_OF_TOOL
                .into_iter()
                .filter(|key| entry.node.get(key).and_then(Node::as_str).is_none())
                .collect();
            if !missing.is_empty() {
                let message = format!("is a tool of the agent's own and must have {}", missing.join(", "));
                let finding = findings.draft(&agent.entry("tools", entry), message);
                findings
                    .push(finding.help("for a provider's tool write its ID: 'namespace/tool/name': null"));
            }
        }
    }
}

/// AGT020.
pub(crate) fn external(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for agent in subject.objects(Kind::Agent) {
        for key in ["tools", "prompts", "resources"] {
            for entry in agent.entries(key) {
                if entry.key.contains('/') && entry.node.value != Value::Null {
                    let shown = entry.node.shown();
                    let finding = findings.draft(
                        &agent.entry(key, entry),
                        format!("belongs to a provider, so its value must be null (found {shown})"),
                    );
                    findings.push(finding.help("a definition of the agent's own has a name without /"));
                }
            }
        }
    }
}

/// AGT021.
pub(crate) fn expects_own(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let tools = || {
        let agents = || subject.objects(Kind::Agent);
        let keys = agents().flat_map(|agent| agent.entries("tools")).map(|entry| &*entry.key);
        keys.chain(agents().flat_map(|agent| agent.items("tools")).filter_map(Node::as_str))
    };
    let short = |id: &str| id.replace("/tool/", "/");
    for test in subject.objects(Kind::AgentTest).filter(|_| tools().next().is_some()) {
        for (index, node) in test.items("expectedTools").iter().enumerate() {
            let Some(id) = node.as_str().filter(|id| !tools().any(|tool| short(tool) == short(id))) else {
                continue;
            };
            let message = format!("expects a tool that the agent does not have (found {})", node.shown());
            let finding = findings.draft(&test.member("expectedTools", index, node), message);
            findings.push(match nearest(id, tools()) {
                Some(tool) => finding.help(format!("did you mean '{}'?", cut(tool))),
                None => finding.help("add it to the agent's tools"),
            });
        }
    }
}
