//! Runs all rules over a document.

use flowmcp_spec::{Diagnostic, Document, DocumentKind, SourceFile};

use crate::{
    Options, RULES, Rule, Rules, Scope, fields, findings::Findings, rule::Check, rules::code,
    subject::Subject,
};

/// Checks a document against all rules that neither reading nor lowering has checked already. The findings come in
/// the order of the file.
pub fn check(file: &SourceFile, document: &Document, options: &Options) -> Vec<Diagnostic> {
    let subject = Subject::new(file, document, options);
    let mut diagnostics = Vec::new();
    let counts = |rule: &&Rule| options.rules == Rules::All || rule.blocks != Scope::Nothing;
    for rule in RULES.iter().filter(counts) {
        let mut findings = Findings::of(rule);
        match &rule.check {
            Check::Reading | Check::Lowering | Check::Activation => continue,
            Check::Fields(rows) => fields::check(rows, &subject, &mut findings),
            Check::Schema(run) | Check::LoweringAnd(run) if subject.kind == DocumentKind::Schema => {
                run(&subject, &mut findings);
            }
            Check::List(run) if subject.kind == DocumentKind::List => run(&subject, &mut findings),
            Check::Schema(_) | Check::LoweringAnd(_) | Check::List(_) => continue,
            Check::Any(run) => run(&subject, &mut findings),
            Check::Names(row) => code::names(row, rule.blocks, &subject, &mut findings),
        }
        diagnostics.extend(findings.into_diagnostics());
    }
    in_order(&mut diagnostics);
    diagnostics
}

/// Sorts findings by place; those without one keep their order at the top.
pub(crate) fn in_order(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|finding| finding.span.map(|span| span.start));
}
