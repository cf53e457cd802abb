//! Runs all rules over a document.

use flowmcp_spec::{Diagnostic, Document, DocumentKind, Schema, SourceFile};

use crate::{
    Options, RULES, Rule, Rules, Scope, fields, findings::Findings, rule::Check, rules::code,
    subject::Subject,
};

/// Checks a document against all rules that neither reading nor lowering has checked already. The findings come in
/// the order of the file.
pub fn check(file: &SourceFile, document: &Document, options: &Options) -> Vec<Diagnostic> {
    check_subject(&Subject::new(file, document, options))
}

fn counts(options: &Options, rule: &Rule) -> bool {
    options.rules == Rules::All || rule.blocks != Scope::Nothing
}

/// Checks what only the typed model can tell.
pub(crate) fn check_lowered(subject: &Subject<'_>, schema: &Schema) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for rule in RULES.iter().filter(|rule| counts(subject.options, rule)) {
        if let Check::Lowered(run) = &rule.check {
            let mut findings = Findings::of(rule);
            run(subject, schema, &mut findings);
            diagnostics.extend(findings.into_diagnostics());
        }
    }
    diagnostics
}

pub(crate) fn check_subject(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for rule in RULES.iter().filter(|rule| counts(subject.options, rule)) {
        let mut findings = Findings::of(rule);
        run(&rule.check, rule.blocks, subject, &mut findings);
        diagnostics.extend(findings.into_diagnostics());
    }
    in_order(&mut diagnostics);
    diagnostics
}

/// Sorts findings by place; those without one keep their order at the top.
pub(crate) fn in_order(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|finding| finding.span.map(|span| span.start));
}

fn run(check: &Check, scope: Scope, subject: &Subject<'_>, findings: &mut Findings<'_>) {
    match check {
        Check::Fields(rows) => fields::check(rows, subject, findings),
        Check::Schema(run) | Check::LoweringAnd(run) if subject.kind == DocumentKind::Schema => {
            run(subject, findings);
        }
        Check::List(run) if subject.kind == DocumentKind::List => run(subject, findings),
        Check::Any(run) => run(subject, findings),
        Check::Names(row) => code::names(row, scope, subject, findings),
        Check::AndPack(check, _) => self::run(check, scope, subject, findings),
        Check::Schema(_) | Check::LoweringAnd(_) | Check::List(_) => {}
        Check::Reading | Check::Lowering | Check::Activation | Check::Running => {}
        Check::Lowered(_) | Check::Pack(_) | Check::Registry(_) => {}
    }
}
