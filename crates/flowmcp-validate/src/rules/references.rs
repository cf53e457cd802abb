//! Rules about `main.sharedLists`, a schema's references to shared lists.

use flowmcp_spec::{Node, Value};

use crate::{
    findings::{Findings, softened},
    subject::{Kind, Subject},
    words::major,
};

/// VAL070.
pub(crate) fn reference_names(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for reference in subject.objects(Kind::Reference) {
        let name = ["ref", "name"].iter().find_map(|key| reference.node.get(key).map(|node| (*key, node)));
        match name {
            None => {
                findings.report(&reference.field("ref"), "is required and must be the name of a shared list")
            }
            Some((_, node)) if node.as_str().is_some_and(|name| !name.trim().is_empty()) => {}
            Some((key, node)) => {
                let message = format!("must be the name of a shared list (found {})", node.shown());
                findings.report(&reference.field(key), message);
            }
        }
    }
}

/// VAL071.
pub(crate) fn reference_versions(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for reference in subject.objects(Kind::Reference) {
        let place = reference.field("version");
        match reference.node.get("version") {
            None => {
                let finding = findings.draft(&place, "should name the version of the list, such as '1.0.0'");
                findings.push(softened(finding));
            }
            Some(node) if node.as_str().and_then(major).is_some() => {}
            Some(node) => {
                findings.report(&place, format!("must be a version such as '1.0.0' (found {})", node.shown()))
            }
        }
    }
}

/// VAL074.
pub(crate) fn reference_filters(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for reference in subject.objects(Kind::Reference) {
        let Some(filter) = reference.node.get("filter") else { continue };
        let place = reference.field("filter");
        let key = filter.get("key").or_else(|| filter.get("field"));
        let conditions = ["exists", "value", "in"].iter().filter(|key| filter.get(key).is_some()).count();
        let message = if !filter.is_object() {
            format!("must be an object (found {})", filter.shown())
        } else if key.and_then(Node::as_str).is_none() {
            "must name a field of the list in `key`".to_owned()
        } else if conditions != 1 {
            "must have one of `exists`, `value` and `in`".to_owned()
        } else if filter.get("in").is_some_and(|values| !values.is_array()) {
            "must have an array in `in`".to_owned()
        } else if filter.get("exists").is_some_and(|value| !matches!(value.value, Value::Bool(_))) {
            "must have true or false in `exists`".to_owned()
        } else {
            continue;
        };
        findings.report(&place, message);
    }
}
