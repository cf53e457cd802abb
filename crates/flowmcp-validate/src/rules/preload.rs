//! Rules about `preload`, what a tool says about keeping its results.

use flowmcp_spec::{Schema, Value};

use crate::{
    findings::Findings,
    subject::{Object, Subject},
};

/// Tools whose results may be kept, with whether they have arguments, required ones and any at all.
fn kept<'s, 'd>(
    subject: &'s Subject<'d>,
    schema: &'s Schema,
) -> impl Iterator<Item = (&'s Object<'d>, bool, bool)> {
    subject.tools.iter().filter_map(|tool| {
        let enabled = tool.node.get("preload")?.get("enabled")?;
        let lowered = schema.tools.iter().find(|lowered| Some(&*lowered.name) == tool.tool)?;
        let required = lowered.inputs.iter().any(|input| input.z.is_required());
        (enabled.value == Value::Bool(true)).then_some((tool, required, !lowered.inputs.is_empty()))
    })
}

/// VAL084.
pub(crate) fn ideal(subject: &Subject<'_>, schema: &Schema, findings: &mut Findings<'_>) {
    for (tool, _, _) in kept(subject, schema).filter(|(_, _, any)| !any) {
        findings.report(&tool.key("preload"), "has no arguments, so one kept result serves all callers");
    }
}

/// VAL085.
pub(crate) fn described(subject: &Subject<'_>, schema: &Schema, findings: &mut Findings<'_>) {
    for (tool, _, _) in kept(subject, schema).filter(|(_, required, _)| *required) {
        let described = tool.node.get("preload").is_some_and(|preload| preload.get("description").is_some());
        if !described {
            let finding = findings.draft(
                &tool.key("preload"),
                "should say in `description` that a result is kept for each set of arguments",
            );
            findings.push(finding.help("for example: description: 'Kept for each city'"));
        }
    }
}
