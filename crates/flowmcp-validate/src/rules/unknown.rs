//! Fields that no one reads, which most often are misspelt.

use crate::{
    findings::Findings,
    subject::{Kind, Subject},
    words::advice,
};

/// VAL003.
pub(crate) fn fields(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (kind, object) in subject.all_objects() {
        let known = known(*kind);
        for entry in object.node.entries().iter().filter(|entry| !known.contains(&&*entry.key)) {
            let finding =
                findings.draft(&object.key(&entry.key), "is not a field of the format and has no effect");
            findings.push(finding.help(advice(&entry.key, known)));
        }
    }
}

/// Fields of each kind of object, older spellings that are read included.
fn known(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Main => &[
            "namespace",
            "name",
            "description",
            "version",
            "root",
            "tools",
            "docs",
            "tags",
            "requiredServerParams",
            "requiredLibraries",
            "headers",
            "sharedLists",
            "resources",
            "skills",
            "prompts",
            "routes",
        ],
        Kind::Reference => &["ref", "version", "filter", "name"],
        Kind::Tool => {
            &["method", "path", "description", "parameters", "output", "tests", "preload", "headers", "async"]
        }
        Kind::Parameter => &["position", "z", "description"],
        Kind::Position | Kind::QueryPosition => &["key", "value", "location"],
        Kind::Z | Kind::QueryZ => &["primitive", "options", "description"],
        Kind::Output => &["mimeType", "schema", "description"],
        Kind::Preload => &["enabled", "ttl", "description"],
        Kind::Resource => &["source", "mode", "origin", "name", "database", "description", "queries"],
        Kind::Query => &["sql", "description", "parameters", "output", "tests"],
        Kind::SkillEntry => &["file", "name", "description"],
        Kind::Prompt => &[
            "name",
            "version",
            "namespace",
            "agent",
            "description",
            "testedWith",
            "dependsOn",
            "references",
            "content",
            "contentFile",
            "provider",
        ],
        Kind::List => &["meta", "entries"],
        Kind::ListMeta => &["name", "version", "description", "fields", "dependsOn"],
        Kind::Skill => {
            &["name", "version", "description", "requires", "input", "output", "content", "contentFile"]
        }
        Kind::Requires => &["tools", "resources", "external"],
        Kind::SkillInput => &["key", "type", "description", "required", "values"],
        Kind::Agent => &[
            "name",
            "description",
            "version",
            "model",
            "systemPrompt",
            "tools",
            "resources",
            "prompts",
            "skills",
            "tests",
            "maxRounds",
            "maxTokens",
            "sharedLists",
            "inputSchema",
        ],
        Kind::AgentTest => &["_description", "input", "expectedTools", "expectedContent"],
    }
}
