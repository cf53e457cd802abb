//! Rules about what a schema calls itself: namespace, names, version, tags.

use flowmcp_spec::{Diagnostic, Node};

use crate::{
    findings::Findings,
    subject::Subject,
    words::{is_camel_case, is_kebab_case, is_lowercase, is_pascal_case, major},
};

/// VAL011. A schema of an accepted later major version may have digits and hyphens.
pub(crate) fn namespace(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let main = &subject.root;
    let Some(namespace) =
        main.node.get("namespace").and_then(Node::as_str).filter(|text| !text.trim().is_empty())
    else {
        return;
    };
    let version = main.node.get("version").and_then(Node::as_str).and_then(major);
    let later =
        version.is_some_and(|found| found != "3" && subject.options.majors().any(|major| major == found));
    let (fits, pattern) = if later {
        (is_kebab_case(namespace), "^[a-z][a-z0-9-]*$")
    } else {
        (is_lowercase(namespace), "^[a-z]+$")
    };
    if fits {
        return;
    }
    let place = main.field("namespace");
    let shown = main.node.get("namespace").map(Node::shown).unwrap_or_default();
    let letters: String = namespace
        .chars()
        .take(60)
        .map(|letter| letter.to_ascii_lowercase())
        .filter(char::is_ascii_lowercase)
        .collect();
    let finding = findings.draft(&place, format!("must match {pattern} (found {shown})"));
    findings.push(if letters.is_empty() {
        finding.help("use lowercase letters only")
    } else {
        finding.help(format!("use lowercase letters only: '{letters}'"))
    });
}

/// VAL014.
pub(crate) fn version(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let place = subject.root.field("version");
    let majors: Vec<String> = subject.options.majors().map(|major| format!("{major}.x.y")).collect();
    let wanted = majors.join(" or ");
    let Some(node) = subject.root.node.get("version") else {
        findings.report(&place, format!("is required and must match {wanted}"));
        return;
    };
    let found = node.as_str().and_then(major);
    if found.is_some_and(|found| subject.options.majors().any(|major| major == found)) {
        return;
    }
    let finding = findings.draft(&place, format!("must match {wanted} (found {})", node.shown()));
    findings.push(match found {
        Some("1" | "2") => finding.help("convert the schema with `flowmcp-server migrate`"),
        Some(later) => finding.help(format!(
            "if this pack is meant to be served, accept it: `accept_versions = [\"{later}\"]` or `--accept-version {later}`"
        )),
        None => finding.help("write three numbers with dots: '3.0.0'"),
    });
}

/// VAL007.
pub(crate) fn schema_name(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let Some(node) = subject.root.node.get("name") else { return };
    if node.as_str().is_some_and(|name| !name.trim().is_empty() && !is_pascal_case(name)) {
        let message = format!("should be in PascalCase (found {})", node.shown());
        findings.report(&subject.root.field("name"), message);
    }
}

/// VAL008.
pub(crate) fn tags(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let tags = subject.root.node.get("tags").map(Node::items).unwrap_or_default();
    for (index, tag) in tags.iter().enumerate() {
        if tag.as_str().is_some_and(|text| !is_kebab_case(text)) {
            let place = subject.root.member("tags", index, tag);
            findings.report(
                &place,
                format!("should be lowercase letters, digits and hyphens (found {})", tag.shown()),
            );
        }
    }
}

/// Longest name that a tool may have, in bytes: far above every real one, low enough to repeat in each message.
const LONGEST_TOOL_NAME: usize = 256;

/// VAL030. A name that is absurdly long is more than a question of style.
pub(crate) fn tool_names(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for tool in &subject.tools {
        let Some(name) = tool.tool else { continue };
        if name.len() > LONGEST_TOOL_NAME {
            let message =
                format!("has a name of {} bytes, more than the {LONGEST_TOOL_NAME} allowed", name.len());
            findings.push(Diagnostic::error(findings.code(), tool.path.to_string(), message).at(tool.head));
        } else if !is_camel_case(name) {
            let message = format!("should have a name in camelCase (found \"{name}\")");
            findings.report(&tool.place(), message);
        }
    }
}
