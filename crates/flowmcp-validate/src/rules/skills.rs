//! Rules about skill files, and about `main.skills`, which names them.

use flowmcp_spec::{Node, Value};

use crate::{
    contents::contents,
    findings::Findings,
    rules::{resources::leaves, tools::one_of},
    subject::{Kind, Object, Subject},
    words::{cut, is_camel_case, is_kebab_case, nearest},
};

/// Most skills of a schema, and longest texts of a skill (chapter 14, "Limits").
const MAX_SKILLS: usize = 4;
const MAX_NAME: usize = 64;
pub(crate) const MAX_DESCRIPTION: usize = 1024;
const TYPES: [&str; 4] = ["string", "number", "boolean", "enum"];
const VERSION: &str = "flowmcp-skill/1.0.0";

/// SKL002.
pub(crate) fn name(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for skill in subject.objects(Kind::Skill) {
        named(skill, MAX_NAME, findings);
    }
}

/// Checks a `name` of lowercase letters, digits and hyphens.
pub(super) fn named(object: &Object<'_>, longest: usize, findings: &mut Findings<'_>) {
    let place = object.field("name");
    let words = "a name of lowercase letters, digits and hyphens that begins with a letter";
    match object.node.get("name") {
        None => findings.report(&place, format!("is required and must be {words}")),
        Some(node) if node.as_str().is_some_and(|name| is_kebab_case(name) && name.len() <= longest) => {}
        Some(node) if node.as_str().is_some_and(is_kebab_case) => {
            findings
                .report(&place, format!("must have at most {longest} characters (found {})", node.shown()));
        }
        Some(node) => {
            let finding = findings.draft(&place, format!("must be {words} (found {})", node.shown()));
            let folded = node.as_str().map(kebab).filter(|name| is_kebab_case(name));
            findings.push(match folded {
                Some(name) => finding.help(format!("for example '{}'", cut(&name))),
                None => finding,
            });
        }
    }
}

/// A name made of the letters and digits of another.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars().take(MAX_NAME) {
        if letter.is_ascii_uppercase() && out.ends_with(|last: char| last.is_ascii_lowercase()) {
            out.push('-');
        }
        match letter.to_ascii_lowercase() {
            letter if letter.is_ascii_alphanumeric() => out.push(letter),
            _ if !out.is_empty() && !out.ends_with('-') => out.push('-'),
            _ => {}
        }
    }
    out.trim_end_matches('-').to_owned()
}

/// Checks a field that must be one certain text.
pub(super) fn exactly(object: &Object<'_>, key: &str, wanted: &str, findings: &mut Findings<'_>) {
    match object.node.get(key) {
        None => findings.report(&object.field(key), format!("is required and must be '{wanted}'")),
        Some(node) if node.as_str() == Some(wanted) => {}
        Some(node) => {
            findings.report(&object.field(key), format!("must be '{wanted}' (found {})", node.shown()));
        }
    }
}

/// SKL004.
pub(crate) fn version(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for skill in subject.objects(Kind::Skill) {
        exactly(skill, "version", VERSION, findings);
    }
}

/// SKL007.
pub(crate) fn description(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for skill in subject.objects(Kind::Skill) {
        described(skill, findings);
    }
}

/// Checks a `description` that clients show in lists.
pub(super) fn described(object: &Object<'_>, findings: &mut Findings<'_>) {
    let place = object.field("description");
    match object.node.get("description").map(|node| (node, node.as_str())) {
        None => findings.report(&place, "is required and must be a string that is not empty"),
        Some((_, Some(text))) if text.chars().count() > MAX_DESCRIPTION => {
            let length = text.chars().count();
            findings
                .report(&place, format!("must have at most {MAX_DESCRIPTION} characters (found {length})"));
        }
        Some((_, Some(text))) if !text.trim().is_empty() => {}
        Some((node, _)) => {
            findings.report(&place, format!("must be a string that is not empty (found {})", node.shown()));
        }
    }
}

/// SKL008.
pub(crate) fn inputs_exist(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let known = || subject.objects(Kind::SkillInput).filter_map(|input| input.text("key"));
    if subject.objects(Kind::Skill).next().is_none() {
        return;
    }
    for content in contents(subject) {
        for found in content.placeholders(subject.text) {
            if found.kind != "input" || found.name.is_empty() || known().any(|key| key == found.name) {
                continue;
            }
            let message =
                format!("asks for the input `{}`, which skill.input does not have", cut(found.name));
            let finding = findings.draft(&found.place, message);
            findings.push(match nearest(found.name, known()) {
                Some(key) => finding.help(format!("did you mean {{{{input:{}}}}}?", cut(key))),
                None => finding.help("add it to skill.input, or remove the placeholder"),
            });
        }
    }
}

/// SKL009.
pub(crate) fn values(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for input in subject.objects(Kind::SkillInput) {
        let is_enum = input.text("type") == Some("enum");
        match input.node.get("values") {
            None if is_enum => {
                findings.report(
                    &input.field("values"),
                    "is required and must be an array of strings for type 'enum'",
                );
            }
            None => {}
            Some(_) if !is_enum => {
                let finding = findings.draft(&input.key("values"), "is only for type 'enum'");
                findings.push(finding.help("remove it, or write `type: 'enum'`"));
            }
            Some(node) => {
                let fits = node.is_array() && !node.items().is_empty();
                if !fits || node.items().iter().any(|item| item.as_str().is_none()) {
                    let message =
                        format!("must be an array of strings that is not empty (found {})", node.shown());
                    findings.report(&input.field("values"), message);
                }
            }
        }
    }
}

/// SKL010.
pub(crate) fn content(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for skill in subject.objects(Kind::Skill) {
        let apart = subject.content.and_then(Node::as_str).is_some_and(|text| !text.trim().is_empty());
        match skill.node.get("content") {
            None if apart || skill.node.get("contentFile").is_some() => {}
            None => {
                let finding = findings
                    .draft(&skill.field("content"), "is required and must be a string with the instructions");
                findings
                    .push(finding.help("write `const content = `…`` above, and `content` as the last field"));
            }
            Some(node) if node.as_str().is_some_and(|text| !text.trim().is_empty()) => {}
            Some(node) => {
                let shown = if node.as_str().is_some() { "an empty string".into() } else { node.shown() };
                findings.report(
                    &skill.field("content"),
                    format!("must be a string with the instructions (found {shown})"),
                );
            }
        }
    }
}

/// SKL012.
pub(crate) fn input_keys(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for input in subject.objects(Kind::SkillInput) {
        match input.node.get("key") {
            Some(node) if node.as_str().is_some_and(is_camel_case) => {}
            Some(node) => {
                findings.report(
                    &input.field("key"),
                    format!("must be a name in camelCase (found {})", node.shown()),
                );
            }
            None => findings.report(&input.field("key"), "is required and must be a name in camelCase"),
        }
    }
}

/// SKL013.
pub(crate) fn input_types(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for input in subject.objects(Kind::SkillInput) {
        one_of(input, "type", &TYPES, findings);
    }
}

/// SKL016.
pub(crate) fn files(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for entry in subject.objects(Kind::SkillEntry) {
        module(entry, "file", findings);
    }
}

/// Checks a field that names a module of the pack by a relative path.
pub(super) fn module(object: &Object<'_>, key: &str, findings: &mut Findings<'_>) {
    let place = object.field(key);
    match object.node.get(key) {
        None => findings.report(&place, "is required and must be the path of an .mjs file"),
        Some(node) if node.as_str().is_none_or(|path| !path.ends_with(".mjs")) => {
            findings.report(&place, format!("must be the path of an .mjs file (found {})", node.shown()));
        }
        // Whether `..` leaves the pack is known where the pack is.
        Some(node) if node.as_str().is_some_and(|path| leaves(&path.replace("../", ""))) => {
            let finding = findings.draft(&place, format!("must be a relative path (found {})", node.shown()));
            findings.push(finding.help("start from the folder of this file: './skills/name.mjs'"));
        }
        Some(_) => {}
    }
}

/// SKL018.
pub(crate) fn count(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let main = &subject.root;
    let count = main.entries("skills").len() + main.items("skills").len();
    if count > MAX_SKILLS {
        let message = format!("must have at most {MAX_SKILLS} skills (found {count})");
        let finding = findings.draft(&main.key("skills"), message);
        findings.push(finding.help("split the schema into several files"));
    }
}

/// The texts of `requires.tools` or `requires.resources`, with their indices.
fn required<'d>(requires: &Object<'d>, key: &str) -> impl Iterator<Item = (usize, &'d Node, &'d str)> {
    let items = requires.items(key).iter().enumerate();
    items.filter_map(|(index, node)| Some((index, node, node.as_str()?)))
}

/// The last part of a name: `ping` of `demo/tool/ping`.
fn bare(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// SKL020 and SKL021: what the text uses is required.
fn used_is_required(subject: &Subject<'_>, findings: &mut Findings<'_>, kind: &str, key: &str) {
    if subject.objects(Kind::Skill).next().is_none() {
        return;
    }
    let requires = || subject.objects(Kind::Requires).flat_map(|requires| required(requires, key));
    for content in contents(subject) {
        for found in content.placeholders(subject.text) {
            let known = requires().any(|(_, _, name)| bare(name) == bare(found.name));
            if found.kind == kind && !found.name.is_empty() && !known {
                let message =
                    format!("uses the {kind} `{}`, which requires.{key} does not name", cut(found.name));
                let finding = findings.draft(&found.place, message);
                findings.push(match nearest(found.name, requires().map(|(_, _, name)| name)) {
                    Some(name) => finding.help(format!("did you mean `{}`?", cut(name))),
                    None => finding.help(format!("add it: requires: {{ {key}: [ '{}' ] }}", cut(found.name))),
                });
            }
        }
    }
}

/// SKL020.
pub(crate) fn tools_are_required(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    used_is_required(subject, findings, "tool", "tools");
}

/// SKL021.
pub(crate) fn resources_are_required(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    used_is_required(subject, findings, "resource", "resources");
}

/// SKL024 and SKL025: what is required is used. A text may name a tool without braces, too.
fn required_is_used(subject: &Subject<'_>, findings: &mut Findings<'_>, kind: &str, key: &str) {
    let contents = contents(subject);
    for requires in subject.objects(Kind::Requires).filter(|_| !contents.is_empty()) {
        for (index, node, name) in required(requires, key) {
            if contents.iter().any(|content| content.text().contains(bare(name))) {
                continue;
            }
            let message = format!("is a {kind} that the text never mentions (found {})", node.shown());
            let finding = findings.draft(&requires.member(key, index, node), message);
            findings.push(finding.help(format!(
                "write {{{{{kind}:{}}}}} where it is to be used, or remove it here",
                cut(name)
            )));
        }
    }
}

/// SKL024.
pub(crate) fn tools_are_used(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    required_is_used(subject, findings, "tool", "tools");
}

/// SKL025.
pub(crate) fn resources_are_used(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    required_is_used(subject, findings, "resource", "resources");
}

/// SKL026.
pub(crate) fn input_shapes(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for skill in subject.objects(Kind::Skill) {
        for (index, node) in skill.items("input").iter().enumerate().filter(|(_, node)| !node.is_object()) {
            let message = format!(
                "must be an object with key, type, description and required (found {})",
                node.shown()
            );
            findings.report(&skill.member("input", index, node), message);
        }
        if let Some(node) =
            skill.node.get("input").filter(|node| !node.is_array() && node.value != Value::Null)
        {
            findings.report(&skill.field("input"), format!("must be an array (found {})", node.shown()));
        }
    }
}
