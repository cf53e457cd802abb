//! Rules about what a file's code reaches: modules, forbidden names, libraries. What they miss does no harm, since
//! the sandbox has none of it; what they find is said before the first call.

use std::collections::HashSet;

use flowmcp_spec::{Blocks, CodeUse, Diagnostic, Node, Reach};

use crate::{
    Scope,
    findings::{Findings, Place, softened},
    options::{is_short_for, same_library},
    subject::Subject,
    words::{cut, nearest},
};

/// A row: names that code must not reach.
#[derive(Debug)]
pub(crate) struct Names {
    /// The names.
    pub(crate) names: &'static [&'static str],
    /// The grant of the pack that allows them.
    pub(crate) grant: Option<&'static str>,
    /// What to do instead.
    pub(crate) instead: &'static str,
}

/// How the facts call a name that is put together while the code runs.
pub(crate) const ANY_NAME: &str = "*";
/// How the facts call `import.meta`, which is syntax like an import and no name.
pub(crate) const IMPORT_META: &str = "import.meta";

/// Checks one row. Many uses in one tool are one finding.
pub(crate) fn names(row: &Names, scope: Scope, subject: &Subject<'_>, findings: &mut Findings<'_>) {
    if row.grant.is_some_and(|grant| subject.options.grants(grant)) {
        return;
    }
    let mut seen = HashSet::new();
    let modules = subject.code.imports.iter().filter(|found| &*found.name == IMPORT_META);
    for found in subject.code.globals.iter().chain(modules).filter(|found| row.names.contains(&&*found.name))
    {
        let what = match &*found.name {
            ANY_NAME => "must not reach the global object by names that are put together".to_owned(),
            name => match row.grant {
                // Whether a pack may is for who serves it to decide, so the file itself is in order.
                Some(grant) => format!("uses `{name}`, which needs the grant {grant}"),
                None => format!("must not use `{name}`"),
            },
        };
        let draft = |findings: &Findings<'_>| {
            let finding = findings.draft(&place(found), &*what);
            match row.grant {
                Some(grant) => finding
                    .help(format!("{}, or grant it to the pack: `grants = [\"{grant}\"]`", row.instead)),
                None => finding.help(row.instead),
            }
        };
        if scope == Scope::File {
            if seen.insert((&*found.name, String::new())) {
                findings.push(draft(findings));
            }
            continue;
        }
        each_tool(found, draft(findings), |finding, tool| {
            if seen.insert((&*found.name, tool.to_owned())) {
                findings.push(finding);
            }
        });
    }
}

/// The finding for each tool that reaches a use, or for the file; nothing when no tool does.
fn each_tool(found: &CodeUse, finding: Diagnostic, mut then: impl FnMut(Diagnostic, &str)) {
    match &found.reach {
        Reach::File => then(finding.blocking(Blocks::File), ""),
        Reach::Tools(tools) => {
            for tool in tools {
                let mut finding = finding.clone().blocking(Blocks::Tool(tool.clone()));
                finding.path = format!("handlers.{}", cut(tool));
                then(finding, tool);
            }
        }
    }
}

fn place(found: &CodeUse) -> Place<'static> {
    let path = match &found.reach {
        Reach::Tools(tools) => tools.first().map(|tool| format!("handlers.{}", cut(tool))),
        Reach::File => None,
    };
    Place { path: path.unwrap_or_else(|| "file".to_owned()), span: found.span, tool: None }
}

/// Whether a use of a module is a `require`.
fn is_require(subject: &Subject<'_>, found: &CodeUse) -> bool {
    subject.text.get(found.span.range()).is_some_and(|text| text.starts_with("require"))
}

/// SEC001.
pub(crate) fn imports(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let imports = subject.code.imports.iter().filter(|found| &*found.name != IMPORT_META);
    for found in imports.filter(|found| !is_require(subject, found)) {
        let message = match &*found.name {
            ANY_NAME => "must not import anything (found a name that is put together)".to_owned(),
            name => format!("must not import anything (found \"{}\")", cut(name)),
        };
        let finding = findings.draft(&place(found), message);
        findings.push(
            finding
                .help("name libraries in `requiredLibraries` and take them from the factory's `libraries`"),
        );
    }
}

/// SEC002.
pub(crate) fn requires(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let by_module = subject.code.imports.iter().filter(|found| is_require(subject, found));
    let by_name = subject.code.globals.iter().filter(|found| &*found.name == "require");
    let mut lines = HashSet::new();
    for found in by_module.chain(by_name).filter(|found| lines.insert(found.span.start)) {
        let finding = findings.draft(&place(found), "must not use `require`");
        findings.push(
            finding
                .help("name libraries in `requiredLibraries` and take them from the factory's `libraries`"),
        );
    }
}

fn declared<'d>(subject: &Subject<'d>) -> impl Iterator<Item = &'d str> {
    let declared = subject.root.node.get("requiredLibraries").map(Node::items).unwrap_or_default();
    declared.iter().filter_map(Node::as_str)
}

/// SEC021.
pub(crate) fn undeclared_libraries(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let mut seen = HashSet::new();
    for found in &subject.code.libraries {
        let name = &*found.name;
        // Where the whole of `libraries` is passed on, what is taken from it shows only in a call.
        if name == ANY_NAME
            || declared(subject).any(|library| same_library(library, name))
            || !seen.insert(name)
        {
            continue;
        }
        let finding = findings.draft(&place(found), format!("uses the library `{}` undeclared", cut(name)));
        findings.push(match nearest(name, declared(subject)) {
            Some(library) => finding.help(format!("did you mean `{library}`?")),
            None => finding.help(format!("add it: requiredLibraries: [ '{}' ]", cut(name))),
        });
    }
}

/// SEC020. The schema is in order, the host lacks something: the tools that need it are left out, the others work.
pub(crate) fn missing_libraries(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let libraries = subject.root.node.get("requiredLibraries").map(Node::items).unwrap_or_default();
    for (index, node) in libraries.iter().enumerate() {
        let Some(name) = node.as_str().filter(|name| !subject.options.provides(name)) else { continue };
        let place = subject.root.member("requiredLibraries", index, node);
        let provided = &subject.options.libraries;
        let provided = if provided.is_empty() { "none".to_owned() } else { provided.join(", ") };
        let finding = findings
            .draft(&place, format!("is a library that this host does not provide (found {})", node.shown()))
            .help(format!("provided are: {provided}"));
        let mut tools = HashSet::new();
        let taken = subject.code.libraries.iter();
        let taken = taken.filter(|found| &*found.name == ANY_NAME || same_library(&found.name, name));
        let by_short_name = subject.code.globals.iter().filter(|found| is_short_for(&found.name, name));
        for found in taken.chain(by_short_name) {
            each_tool(found, finding.clone(), |reached, tool| {
                if tools.insert(tool.to_owned()) {
                    findings.push(Diagnostic { path: finding.path.clone(), ..reached });
                }
            });
        }
        if tools.is_empty() {
            findings.push(softened(finding));
        }
    }
}

/// SEC015.
pub(crate) fn unknown_names(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let forbidden = |name: &str| {
        name == "require"
            || crate::rules::RULES.iter().any(|rule| match &rule.check {
                crate::rule::Check::Names(row) => row.names.contains(&name),
                _ => false,
            })
    };
    let mut seen = HashSet::new();
    for found in &subject.code.globals {
        let name = &*found.name;
        let is_library = declared(subject).any(|library| is_short_for(name, library));
        if forbidden(name) || is_library || !seen.insert(name) {
            continue;
        }
        let message = format!("reads `{}`, which neither this file nor the sandbox has", cut(name));
        findings.push(
            findings.draft(&place(found), message).help("declare it, or mend its name: reading it throws"),
        );
    }
}
