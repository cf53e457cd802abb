//! Rules about `main.tools`, each tool's own fields and its parameters.

use flowmcp_spec::{Node, Value};

use crate::{
    findings::{Findings, Place, softened},
    subject::{Kind, Object, Subject},
    words::{cut, nearest},
};

/// Most tools of one schema (the seeds' limit: it keeps schemas focused; more work just as well).
const MAX_TOOLS: usize = 8;
const METHODS: [&str; 4] = ["GET", "POST", "PUT", "DELETE"];
/// `template` is the catalogue's: a value that other parameters' placeholders refer to.
const LOCATIONS: [&str; 4] = ["insert", "query", "body", "template"];

/// VAL016.
pub(crate) fn tools(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let main = &subject.root;
    let key = subject.tools_key();
    let elsewhere = ["resources", "skills", "prompts"]
        .iter()
        .filter_map(|key| main.node.get(key))
        .any(|node| !node.entries().is_empty() || !node.items().is_empty());
    let place = main.field(key);
    match main.node.get(key) {
        None if elsewhere => {}
        None => {
            let finding = findings.draft(&place, "is required and must be an object");
            let others = main.node.entries().iter().map(|entry| &*entry.key);
            let meant = others.filter(|key| nearest(key, ["tools"]).is_some()).map(|key| cut(key)).next();
            findings.push(match meant {
                Some(key) => finding.help(format!("is `{key}` meant to be `tools`?")),
                None => finding,
            });
        }
        Some(node) if !node.is_object() => {
            findings.report(&place, format!("must be an object (found {})", node.shown()));
        }
        Some(node) if node.entries().is_empty() && !elsewhere => {
            findings.report(
                &place,
                "must have at least one tool, unless the schema has resources, skills or prompts",
            );
        }
        Some(_) => {}
    }
}

/// VAL017.
pub(crate) fn both_keys(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let main = &subject.root;
    if main.node.get("tools").is_some() && main.node.get("routes").is_some() {
        let finding = findings.draft(&main.key("routes"), "must not stand beside main.tools");
        findings.push(finding.help("move everything to `tools`; `routes` is its old name"));
    }
}

/// VAL018.
pub(crate) fn old_key(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let main = &subject.root;
    if main.node.get("tools").is_none() && main.node.get("routes").is_some() {
        let finding = findings.draft(&main.key("routes"), "is the old name of `tools`");
        findings.push(finding.help("rename it to `tools`"));
    }
}

/// VAL031.
pub(crate) fn count(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let main = &subject.root;
    let key = subject.tools_key();
    let count = main.node.get(key).map_or(0, |node| node.entries().len());
    if count > MAX_TOOLS {
        let finding =
            findings.draft(&main.key(key), format!("must have at most {MAX_TOOLS} tools (found {count})"));
        findings.push(finding.help("split the schema into several files"));
    }
}

/// VAL039.
pub(crate) fn objects(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let key = subject.tools_key();
    for entry in subject.root.node.get(key).map(Node::entries).unwrap_or_default() {
        if !entry.node.is_object() {
            let path = format!("main.{key}.{}", cut(&entry.key));
            let place = Place { path, span: entry.node.span, tool: Some(&entry.key) };
            findings.report(&place, format!("must be an object (found {})", entry.node.shown()));
        }
    }
}

/// VAL032.
pub(crate) fn method(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for tool in &subject.tools {
        one_of(tool, "method", &METHODS, findings);
    }
}

/// VAL043.
pub(crate) fn location(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for position in subject.objects(Kind::Position) {
        one_of(position, "location", &LOCATIONS, findings);
    }
}

pub(super) fn one_of(object: &Object<'_>, key: &str, known: &[&str], findings: &mut Findings<'_>) {
    let words = || known.join(", ");
    let Some(node) = object.node.get(key) else {
        findings.report(&object.field(key), format!("is required and must be one of {}", words()));
        return;
    };
    if node.as_str().is_some_and(|text| known.contains(&text)) {
        return;
    }
    let finding =
        findings.draft(&object.field(key), format!("must be one of {} (found {})", words(), node.shown()));
    findings.push(match node.as_str().and_then(|text| nearest(text, known.iter().copied())) {
        Some(name) => finding.help(format!("did you mean '{name}'?")),
        None => finding,
    });
}

/// VAL033.
pub(crate) fn path(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for tool in &subject.tools {
        let place = || tool.field("path");
        match tool.node.get("path") {
            None => findings.report(&place(), "is required and must be a string that starts with /"),
            Some(node) if node.as_str().is_some_and(|path| path.starts_with('/')) => {}
            Some(node) => {
                let finding = findings
                    .draft(&place(), format!("must be a string that starts with / (found {})", node.shown()));
                findings.push(match node.as_str() {
                    Some(path) if path.contains("://") => {
                        finding.help("the address belongs in main.root, the path behind it here")
                    }
                    Some(path) => finding.help(format!("write '/{}'", cut(path))),
                    None => finding,
                });
            }
        }
    }
}

/// VAL036.
pub(crate) fn output(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for tool in subject.tools.iter().filter(|tool| tool.node.get("output").is_none()) {
        findings.report(&tool.place(), "should say what it returns in `output`");
    }
}

/// VAL037.
pub(crate) fn reserved(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for tool in subject.tools.iter().filter(|tool| tool.node.get("async").is_some()) {
        findings.report(&tool.key("async"), "is reserved for a later version and has no effect");
    }
}

/// VAL040.
pub(crate) fn parameters(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for tool in &subject.tools {
        let parameters = tool.node.get("parameters").map(Node::items).unwrap_or_default();
        for (index, parameter) in parameters.iter().enumerate() {
            if !parameter.is_object() {
                let message =
                    format!("must be an object with `position` and `z` (found {})", parameter.shown());
                findings.report(&tool.member("parameters", index, parameter), message);
                continue;
            }
            for key in ["position", "z"] {
                let place = |span| {
                    let mut place = tool.member("parameters", index, parameter);
                    place.path = format!("{}.{key}", place.path);
                    Place { span, ..place }
                };
                match parameter.get(key) {
                    Some(node) if node.is_object() => {}
                    Some(node) => {
                        let message = format!("must be an object (found {})", node.shown());
                        findings.report(&place(node.span), message);
                    }
                    None => {
                        let whole = parameter.span;
                        let head = flowmcp_spec::Span { end: whole.end.min(whole.start + 1), ..whole };
                        findings.report(&place(head), "is required and must be an object");
                    }
                }
            }
        }
    }
}

/// VAL044, where lowering finds nothing to parse.
pub(crate) fn primitive(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for z in subject.objects(Kind::Z) {
        let place = || z.field("primitive");
        match z.node.get("primitive") {
            None => findings.report(&place(), "is required and must be a string such as 'string()'"),
            Some(node) if node.as_str().is_none() => {
                findings.report(
                    &place(),
                    format!("must be a string such as 'string()' (found {})", node.shown()),
                );
            }
            Some(_) => {}
        }
    }
}

/// VAL045, where lowering finds nothing to parse. A hole in the array, left by a comma too many, does no harm.
pub(crate) fn options(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for z in subject.objects(Kind::Z) {
        let Some(options) = z.node.get("options") else { continue };
        if !options.is_array() {
            let message = format!("must be an array of strings (found {})", options.shown());
            findings.report(&z.field("options"), message);
        }
        for (index, option) in
            options.items().iter().enumerate().filter(|(_, option)| option.as_str().is_none())
        {
            let finding = findings.draft(
                &z.member("options", index, option),
                format!("must be a string such as 'min(1)' (found {})", option.shown()),
            );
            findings.push(if option.value == Value::Null { softened(finding) } else { finding });
        }
    }
}
