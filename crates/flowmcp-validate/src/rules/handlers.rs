//! Rules about the `handlers` export: a factory whose result has the tools' names and the hooks' names as keys.

use flowmcp_spec::{Node, Span};

use crate::{
    findings::{Findings, Place},
    subject::Subject,
    words::{advice, cut, nearest},
};

/// Hooks of a tool, in the order of a call.
const HOOKS: [&str; 4] = ["preRequest", "executeRequest", "postRequest", "postProcess"];

/// VAL004.
pub(crate) fn factory(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let Some(handlers) = subject.code.handlers.as_ref().filter(|handlers| !handlers.is_factory) else {
        return;
    };
    let place = Place { path: "handlers".to_owned(), span: handlers.span, tool: None };
    let finding = findings.draft(&place, "must be a function that returns the handlers");
    findings.push(finding.help("write `export const handlers = ( { sharedLists, libraries } ) => ({ … })`"));
}

/// VAL005.
pub(crate) fn handled_tools(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let tools = subject.root.node.get(subject.tools_key()).map(Node::entries).unwrap_or_default();
    let resources = subject.root.node.get("resources").map(Node::entries).unwrap_or_default();
    let known = || tools.iter().chain(resources).map(|entry| &*entry.key);
    let handled = subject.code.handlers.as_ref().and_then(|handlers| handlers.tools.as_ref());
    for handler in handled.into_iter().flatten() {
        if known().any(|name| name == &*handler.name) {
            continue;
        }
        let place = handler_place(&handler.name, handler.span);
        let finding = findings.draft(&place, "is a handler of no tool or resource of this schema");
        findings.push(match nearest(&handler.name, known()) {
            Some(name) => finding.help(format!("did you mean `{name}`?")),
            None => finding.help("name it like its tool in main.tools, or remove it"),
        });
    }
}

/// VAL006.
pub(crate) fn hooks(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let handled = subject.code.handlers.as_ref().and_then(|handlers| handlers.tools.as_ref());
    for handler in handled.into_iter().flatten() {
        // The handlers of a resource are named after its queries.
        let is_tool = subject.tools.iter().any(|tool| tool.tool == Some(&*handler.name));
        for (hook, span) in handler.hooks.iter().flatten().filter(|_| is_tool) {
            if HOOKS.contains(&&**hook) {
                continue;
            }
            let mut place = handler_place(&handler.name, *span);
            place.path = format!("{}.{}", place.path, cut(hook));
            let finding = findings.draft(&place, "is no hook that is ever called");
            findings.push(finding.help(advice(hook, &HOOKS)));
        }
    }
}

fn handler_place(name: &str, span: Span) -> Place<'static> {
    Place { path: format!("handlers.{}", cut(name)), span, tool: None }
}
