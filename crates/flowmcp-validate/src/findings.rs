//! Collects what one rule finds, with the rule's code, severity and scope filled in.

use flowmcp_spec::{Blocks, Code, Diagnostic, Severity, Span};

use crate::{Rule, Scope};

/// Findings of one rule in one file. One bad habit should not print a thousand times, and a file made to cause
/// findings must not fill the memory.
const MAX_FINDINGS: usize = 100;

/// Where something is, in the data and in the text.
#[derive(Debug, Clone)]
pub(crate) struct Place<'d> {
    /// `main.tools.ping.path`
    pub(crate) path: String,
    pub(crate) span: Span,
    /// The tool that it belongs to.
    pub(crate) tool: Option<&'d str>,
}

/// What one rule found so far.
pub(crate) struct Findings<'r> {
    rule: &'r Rule,
    found: Vec<Diagnostic>,
}

impl<'r> Findings<'r> {
    pub(crate) fn of(rule: &'r Rule) -> Self {
        Findings { rule, found: Vec::new() }
    }

    /// The rule's code.
    pub(crate) fn code(&self) -> Code {
        self.rule.code
    }

    /// A finding with what the rule says about severity and blocking, to be changed where this case differs.
    pub(crate) fn draft(&self, place: &Place<'_>, message: impl Into<String>) -> Diagnostic {
        let blocks = match (self.rule.blocks, place.tool) {
            (Scope::Nothing, _) => Blocks::Nothing,
            (Scope::Tool, Some(tool)) => Blocks::Tool(tool.into()),
            (Scope::Tool | Scope::File, _) => Blocks::File,
        };
        let mut finding = Diagnostic::error(self.rule.code, &*place.path, message).blocking(blocks);
        finding.severity = self.rule.severity;
        // A tree that was never text has empty spans only.
        finding.span = (place.span != Span::default()).then_some(place.span);
        finding
    }

    /// Adds a finding. Those past the limit are counted as one that blocks the file if any of them blocks something.
    pub(crate) fn push(&mut self, finding: Diagnostic) {
        if self.found.len() < MAX_FINDINGS {
            self.found.push(finding);
            return;
        }
        let blocks = finding.blocks != Blocks::Nothing;
        match self.found.get_mut(MAX_FINDINGS) {
            Some(last) if blocks => last.blocks = Blocks::File,
            Some(_) => {}
            None => {
                let mut last = Diagnostic::error(
                    self.rule.code,
                    "file",
                    format!("has more than {MAX_FINDINGS} of these"),
                )
                .blocking(if blocks { Blocks::File } else { Blocks::Nothing });
                last.severity = finding.severity;
                self.found.push(last);
            }
        }
    }

    /// Adds a finding as the rule says.
    pub(crate) fn report(&mut self, place: &Place<'_>, message: impl Into<String>) {
        self.push(self.draft(place, message));
    }

    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.found
    }
}

/// A finding of a case that is only a warning and blocks nothing.
pub(crate) fn softened(mut finding: Diagnostic) -> Diagnostic {
    finding.severity = Severity::Warning;
    finding.blocks = Blocks::Nothing;
    finding
}
