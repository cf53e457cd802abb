//! Prints `docs/rules.md`, the index of all rules. `cargo xtask docs` writes the file.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
};

use flowmcp_validate::{
    RULES, Rule, Scope, Stage,
    reference::{self, CONFLICTS, EXCEPTIONS, Exception},
};

const HEAD: &str = "\
# Rules

<!-- Made from the rules by `cargo xtask docs`; not edited by hand. -->

Each code leads to its page: what the rule asks for, why, a wrong example and a right one. `flowmcp-server explain CODE`
prints the same page.

- **Severity** is the worst that a finding of the rule has. Only errors make `flowmcp-server validate` exit with 1.
- **Blocks** is the most that a finding keeps from being served: the tool it is about, the whole file, or nothing.
- **Chapter** is that of the public FlowMCP specification 3.0.0.
- **Found by**: *reading* the text, *lowering* it to the typed model, a *check* on what was read, a look at the whole
  *pack* (`validate` alone does that), *activation* with the shared lists, or *running* the handlers (`validate --handlers`).

| Code | What it asks for | Severity | Blocks | Chapter | Found by |
|---|---|---|---|---|---|
";

const PUBLIC: &str = "
## The checks of the public specification

";

fn main() -> io::Result<()> {
    io::stdout().lock().write_all(index().as_bytes())
}

/// The whole page.
pub(crate) fn index() -> String {
    let mut page = HEAD.to_owned();
    for rule in RULES {
        page.push_str(&row(rule));
    }
    let _ = writeln!(page, "\n{} rules.", RULES.len());
    page.push_str(&public());
    page
}

/// Which checks of the public specification the rules cover.
fn public() -> String {
    let mut page = PUBLIC.to_owned();
    let (all, same) = (reference::codes().count(), reference::same());
    let covered = EXCEPTIONS.iter().filter(|exception| exception.rule.is_some()).count();
    let _ = writeln!(
        page,
        "It has {all} codes. {same} of them are rules of the same code above, {covered} are covered by a rule of another code, \
         and {} happen only while handlers run.\n",
        all - same - covered
    );
    page.push_str("| Code there | Here | Why |\n|---|---|---|\n");
    for Exception { code, rule, note } in EXCEPTIONS {
        let _ = writeln!(page, "| {code} | {} | {note} |", rule.unwrap_or("–"));
    }
    page.push_str("\nWhere its chapters contradict each other:\n\n| Codes | Meaning here |\n|---|---|\n");
    for (codes, meaning) in CONFLICTS {
        let _ = writeln!(page, "| {codes} | {meaning} |");
    }
    page
}

fn row(rule: &Rule) -> String {
    let code = rule.code.0;
    let blocks = match rule.blocks {
        Scope::Nothing => "nothing",
        Scope::Tool => "tool",
        Scope::File => "file",
    };
    let stage = match rule.emitted_by() {
        Stage::Reading => "reading",
        Stage::Lowering => "lowering",
        Stage::Rule => "check",
        Stage::Pack => "pack",
        Stage::Activation => "activation",
        Stage::Running => "running",
    };
    let title = rule.title().replace('|', "\\|");
    let (severity, chapter) = (rule.severity.as_str(), rule.chapter);
    format!(
        "| [{code}](../crates/flowmcp-validate/rules/{code}.md) | {title} | {severity} | {blocks} | {chapter} | {stage} |\n"
    )
}
