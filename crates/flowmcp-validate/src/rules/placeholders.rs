//! Rules about typed placeholders: `{{tool:ping}}` in texts, and where they must not stand.

use flowmcp_spec::{DocumentKind, Node};

use crate::{
    contents::{KINDS, contents},
    findings::Findings,
    subject::{Kind, Subject},
    words::{cut, nearest},
};

/// PH001.
pub(crate) fn empty(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for content in contents(subject) {
        for found in content.placeholders(subject.text).iter().filter(|found| found.name.is_empty()) {
            let message = format!("has a placeholder without a name (found {{{{{}:}}}})", cut(found.kind));
            findings.report(&found.place, message);
        }
    }
}

/// PH003.
pub(crate) fn input_keys(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for content in contents(subject) {
        for found in content.placeholders(subject.text) {
            let fits = found.name.starts_with(|first: char| first.is_ascii_alphabetic())
                && found.name.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if found.kind == "input" && !fits && !found.name.is_empty() {
                let message = format!(
                    "must name inputs by letters and digits, a letter first (found \"{}\")",
                    cut(found.name)
                );
                findings.report(&found.place, message);
            }
        }
    }
}

/// PH004.
pub(crate) fn in_main(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    if subject.kind != DocumentKind::Schema {
        return;
    }
    let fields = [(Kind::Main, "root"), (Kind::Tool, "path"), (Kind::Position, "value")];
    for (kind, key) in fields {
        for object in subject.objects(kind) {
            let Some(text) = object.text(key) else { continue };
            let typed = |kind: &&str| text.contains(&format!("{{{{{kind}:"));
            if let Some(kind) = KINDS.iter().find(|kind| typed(kind)) {
                let shown = object.node.get(key).map(Node::shown).unwrap_or_default();
                let finding = findings.draft(
                    &object.field(key),
                    format!(
                        "must not have a {{{{{kind}:…}}}} placeholder, which belongs in texts (found {shown})"
                    ),
                );
                findings.push(finding.help(
                    "a value of the caller is '{{USER_PARAM}}', one of the server '{{SERVER_PARAM:KEY}}'",
                ));
            }
        }
    }
}

/// PH005.
pub(crate) fn brackets(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for content in contents(subject) {
        let mut cursor = content.node.span.start as usize;
        let mut rest = content.text();
        while let Some((_, after)) = rest.split_once("[[") {
            let Some((inner, behind)) = after.split_once("]]") else { break };
            rest = behind;
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_');
            if !inner.bytes().all(is_name) || !inner.bytes().any(|byte| byte.is_ascii_alphabetic()) {
                continue;
            }
            let mut place = content.place.clone();
            place.span = content.find(subject.text, inner, &mut cursor);
            let finding = findings
                .draft(&place, format!("has a placeholder in the old form (found [[{}]])", cut(inner)));
            findings.push(match inner.contains('/') {
                true => finding.help(format!("write {{{{tool:{}}}}}", cut(&inner.replace("/tool/", "/")))),
                false => finding.help(format!("write {{{{input:{}}}}}", cut(inner))),
            });
        }
    }
}

/// PH006.
pub(crate) fn kinds(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for content in contents(subject) {
        for found in content.placeholders(subject.text).iter().filter(|found| !KINDS.contains(&found.kind)) {
            let message =
                format!("has a placeholder of an unknown kind (found {{{{{}:…}}}})", cut(found.kind));
            let finding = findings.draft(&found.place, message);
            findings.push(match nearest(found.kind, KINDS) {
                Some(kind) => finding.help(format!("did you mean {{{{{kind}:{}}}}}?", cut(found.name))),
                None => finding.help(format!("known are {}", KINDS.join(", "))),
            });
        }
    }
}
