//! Rules about how a schema's references to shared lists fit the rest of the schema.

use flowmcp_spec::{Member, Node, Primitive, Schema};

use crate::{
    findings::Findings,
    subject::Subject,
    words::{cut, nearest},
};

/// Lists that enums refer to, with the tool and its parameter's index.
fn used(schema: &Schema) -> impl Iterator<Item = (&str, &str, usize)> {
    schema.tools.iter().flat_map(|tool| {
        tool.inputs.iter().flat_map(move |input| {
            let members = match &input.z.primitive {
                Primitive::Enum(members) => members.as_slice(),
                _ => &[],
            };
            members.iter().filter_map(move |member| match member {
                Member::List { list, .. } => Some((&**list, &*tool.name, input.parameter)),
                Member::Value(_) => None,
            })
        })
    })
}

/// VAL048.
pub(crate) fn declared(subject: &Subject<'_>, schema: &Schema, findings: &mut Findings<'_>) {
    let names = || schema.lists.iter().map(|reference| &*reference.name);
    for (list, tool, index) in used(schema).filter(|(list, ..)| !names().any(|name| name == *list)) {
        let Some(object) = subject.tools.iter().find(|object| object.tool == Some(tool)) else { continue };
        let Some(node) = object.items("parameters").get(index) else { continue };
        let message = format!("uses the list `{}`, which main.sharedLists does not name", cut(list));
        let finding = findings.draft(&object.member("parameters", index, node), message);
        findings.push(match nearest(list, names()) {
            Some(name) => finding.help(format!("did you mean `{}`?", cut(name))),
            None => {
                finding.help(format!("add it: sharedLists: [ {{ ref: '{}', version: '1.0.0' }} ]", cut(list)))
            }
        });
    }
}

/// VAL075. Code that takes lists by names put together may use any of them.
pub(crate) fn unused(subject: &Subject<'_>, schema: &Schema, findings: &mut Findings<'_>) {
    let text = subject.text;
    let computed =
        ["sharedLists[", "sharedLists [", "...sharedLists", "Object.", "sharedLists )", "sharedLists)"];
    let handled = subject.code.handlers.is_some();
    if handled && computed.iter().any(|form| text.contains(form)) {
        return;
    }
    for (index, node) in subject.root.items("sharedLists").iter().enumerate() {
        let key = if node.get("ref").is_some() { "ref" } else { "name" };
        let Some(name) = node.as_str().or_else(|| node.get(key).and_then(Node::as_str)) else { continue };
        let in_enum = used(schema).any(|(list, ..)| list == name);
        // What stands once stands in the reference alone.
        if in_enum || name.is_empty() || (handled && text.matches(name).count() != 1) {
            continue;
        }
        let message = format!("names the list `{}`, which nothing here uses", cut(name));
        let finding = findings.draft(&subject.root.member("sharedLists", index, node), message);
        findings
            .push(finding.help("remove it, or use it: enum({{list:field}}), or `sharedLists` in a handler"));
    }
}
