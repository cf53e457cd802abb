//! Rules about embedded tests, of tools and of queries.

use flowmcp_spec::{Entry, Member, Node, Primitive, Schema, ZType, schema::Input};

use crate::{
    findings::Findings,
    subject::{Kind, Object, Subject},
    words::{cut, nearest},
};

/// Fewest tests of one tool that show what it can do.
const MIN_TESTS: usize = 3;
/// Words of a finding about one test that is about the whole of it.
const DESCRIPTION: &str = "_description";

/// Tools and queries.
fn tested<'s, 'd>(subject: &'s Subject<'d>) -> impl Iterator<Item = &'s Object<'d>> {
    subject.objects(Kind::Tool).chain(subject.objects(Kind::Query))
}

/// TST001.
pub(crate) fn count(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for tool in &subject.tools {
        let count = tool.items("tests").len();
        if count < MIN_TESTS {
            findings.report(&tool.place(), format!("should have at least {MIN_TESTS} tests (found {count})"));
        }
    }
}

/// TST002.
pub(crate) fn descriptions(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for tool in tested(subject).chain(subject.objects(Kind::Agent)) {
        for (index, test) in tool.items("tests").iter().enumerate().filter(|(_, test)| test.is_object()) {
            if test.get(DESCRIPTION).and_then(Node::as_str).is_none_or(|text| text.trim().is_empty()) {
                let place = tool.member("tests", index, test);
                findings.report(&place, "should say in `_description` what it shows");
            }
        }
    }
}

/// TST005.
pub(crate) fn shapes(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for tool in tested(subject) {
        let Some(tests) = tool.node.get("tests") else { continue };
        if !tests.is_array() {
            findings.report(
                &tool.field("tests"),
                format!("must be an array of objects (found {})", tests.shown()),
            );
        }
        for (index, test) in tests.items().iter().enumerate().filter(|(_, test)| !test.is_object()) {
            let place = tool.member("tests", index, test);
            findings.report(&place, format!("must be an object with arguments (found {})", test.shown()));
        }
    }
}

/// What a caller may give to a tool or query.
struct Argument<'a> {
    /// Names that are accepted, the usual one first.
    names: Vec<&'a str>,
    z: ZType,
}

impl<'a> Argument<'a> {
    fn of_tool(input: &'a Input) -> Self {
        let names = [Some(&input.key), Some(&input.name), input.alias.as_ref()];
        Argument { names: names.into_iter().flatten().map(|name| &**name).collect(), z: input.z.clone() }
    }

    fn of_query(parameter: &'a Node) -> Option<Self> {
        let position = parameter.get("position")?;
        position.get("value").and_then(Node::as_str).filter(|value| value.trim() == "{{USER_PARAM}}")?;
        let z = parameter.get("z")?;
        let options = z.get("options").map(Node::items).unwrap_or_default();
        let options: Vec<&str> = options.iter().filter_map(Node::as_str).collect();
        let (z, _) = ZType::parse(z.get("primitive")?.as_str()?, &options).ok()?;
        Some(Argument { names: vec![position.get("key")?.as_str()?], z })
    }

    fn name(&self) -> &'a str {
        self.names.first().copied().unwrap_or_default()
    }

    fn given<'t>(&self, test: &'t Node) -> Option<&'t Node> {
        self.names.iter().find_map(|name| test.get(name))
    }

    /// Members that a schema writes out itself; those of shared lists are known later.
    fn members(&self) -> Option<Vec<&str>> {
        let Primitive::Enum(members) = &self.z.primitive else { return None };
        let mut values = Vec::with_capacity(members.len());
        for member in members {
            match member {
                Member::Value(value) => values.push(&**value),
                Member::List { .. } => return None,
            }
        }
        Some(values)
    }
}

/// Each tool or query that is whole enough to be judged, with its arguments.
fn each(subject: &Subject<'_>, schema: &Schema, mut then: impl FnMut(&Object<'_>, &[Argument<'_>])) {
    for tool in &subject.tools {
        let lowered = schema.tools.iter().find(|lowered| Some(&*lowered.name) == tool.tool);
        if let Some(lowered) = lowered {
            then(tool, &lowered.inputs.iter().map(Argument::of_tool).collect::<Vec<_>>());
        }
    }
    for query in subject.objects(Kind::Query) {
        let arguments: Vec<Argument<'_>> =
            query.items("parameters").iter().filter_map(Argument::of_query).collect();
        then(query, &arguments);
    }
}

fn each_test(
    subject: &Subject<'_>,
    schema: &Schema,
    mut then: impl FnMut(&Object<'_>, usize, &Node, &[Argument<'_>]),
) {
    each(subject, schema, |tool, arguments| {
        for (index, test) in tool.items("tests").iter().enumerate().filter(|(_, test)| test.is_object()) {
            then(tool, index, test, arguments);
        }
    });
}

/// TST003.
pub(crate) fn complete(subject: &Subject<'_>, schema: &Schema, findings: &mut Findings<'_>) {
    each_test(subject, schema, |tool, index, test, arguments| {
        let missing: Vec<&str> = arguments
            .iter()
            .filter(|argument| argument.z.is_required() && argument.given(test).is_none())
            .map(Argument::name)
            .collect();
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|name| format!("`{}`", cut(name))).collect();
            let finding = findings.draft(
                &tool.member("tests", index, test),
                format!("should give a value for {}, which callers must give", names.join(", ")),
            );
            findings.push(finding.help("add it, or make the parameter `optional()`"));
        }
    });
}

/// The value of a test's key.
fn value_place<'d>(
    tool: &Object<'d>,
    index: usize,
    entry: &Entry,
    span: flowmcp_spec::Span,
) -> crate::findings::Place<'d> {
    let mut place = tool.member("tests", index, &entry.node);
    place.path = format!("{}.{}", place.path, cut(&entry.key));
    place.span = span;
    place
}

/// TST004.
pub(crate) fn values(subject: &Subject<'_>, schema: &Schema, findings: &mut Findings<'_>) {
    each_test(subject, schema, |tool, index, test, arguments| {
        for entry in test.entries() {
            let of_key = |argument: &&Argument<'_>| argument.names.contains(&&*entry.key);
            let Some(argument) = arguments.iter().find(of_key) else { continue };
            let is_listed =
                matches!(argument.z.primitive, Primitive::Enum(_)) && argument.members().is_none();
            // A null is an argument left out.
            if is_listed || entry.node.value == flowmcp_spec::Value::Null {
                continue;
            }
            if let Err(mismatch) = argument.z.coerce(&entry.node.to_value()) {
                let place = value_place(tool, index, entry, entry.node.span);
                let finding = findings.draft(&place, mismatch.to_string());
                findings
                    .push(finding.help("change the value, or the parameter's `z` if callers may give it"));
            }
        }
    });
}

/// TST006.
pub(crate) fn known_keys(subject: &Subject<'_>, schema: &Schema, findings: &mut Findings<'_>) {
    each_test(subject, schema, |tool, index, test, arguments| {
        let known = || arguments.iter().map(Argument::name);
        let is_known = |key: &str| arguments.iter().any(|argument| argument.names.contains(&key));
        for entry in test.entries().iter().filter(|entry| !entry.key.starts_with('_')) {
            if is_known(&entry.key) {
                continue;
            }
            let place = value_place(tool, index, entry, entry.key_span);
            let finding = findings.draft(&place, "is no argument that callers can give");
            findings.push(match (nearest(&entry.key, known()), known().count()) {
                (Some(name), _) => finding.help(format!("did you mean `{}`?", cut(name))),
                (None, 0) => finding.help("remove it: there are no arguments; only `_description` stays"),
                (None, _) => {
                    let names: Vec<&str> = known().take(20).collect();
                    finding.help(format!("known are {}", names.join(", ")))
                }
            });
        }
    });
}

/// TST007. Fewer tests than asked for are TST001's business.
pub(crate) fn breadth(subject: &Subject<'_>, schema: &Schema, findings: &mut Findings<'_>) {
    each(subject, schema, |tool, arguments| {
        let tests = tool.items("tests");
        for argument in arguments.iter().filter(|_| tests.len() >= MIN_TESTS) {
            let members = argument.members().map_or(0, |members| members.len());
            let mut given = tests.iter().filter_map(|test| argument.given(test));
            let first = given.next();
            let alike = first.is_some_and(|first| given.all(|other| other.value == first.value));
            if members > 1 && alike {
                let message = format!(
                    "should try more than one of the {members} values of `{}` (found {} only)",
                    cut(argument.name()),
                    first.map(Node::shown).unwrap_or_default()
                );
                findings.report(&tool.key("tests"), message);
            }
        }
    });
}

/// TST008. Fewer tests than asked for are TST001's business.
pub(crate) fn optionals(subject: &Subject<'_>, schema: &Schema, findings: &mut Findings<'_>) {
    each(subject, schema, |tool, arguments| {
        let tests = tool.items("tests");
        let mut optional = arguments.iter().filter(|argument| !argument.z.is_required()).peekable();
        if tests.len() < MIN_TESTS || optional.peek().is_none() {
            return;
        }
        let names: Vec<&str> = optional.clone().map(Argument::name).take(20).collect();
        if !optional.any(|argument| tests.iter().any(|test| argument.given(test).is_some())) {
            let finding = findings.draft(&tool.key("tests"), "could show what the optional arguments do");
            findings.push(finding.help(format!("optional are {}", names.join(", "))));
        }
    });
}
