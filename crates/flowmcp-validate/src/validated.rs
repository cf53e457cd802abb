//! A value together with the findings about it: what of it may be served, and why the rest may not.

use flowmcp_spec::{Blocks, Diagnostic, Severity};

/// A checked value and everything that was found.
#[derive(Debug, Clone)]
pub struct Validated<T> {
    /// The value.
    pub value: T,
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Validated<T> {
    /// Whether no finding is an error.
    pub fn is_valid(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The findings that are errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// The first finding that keeps the whole file from being served.
    pub fn file_blocked(&self) -> Option<&Diagnostic> {
        self.diagnostics.iter().find(|finding| finding.blocks == Blocks::File)
    }

    /// The first finding that keeps a tool (named by its key) from being served, or the whole file.
    pub fn tool_blocked(&self, tool: &str) -> Option<&Diagnostic> {
        let blocks =
            |finding: &&Diagnostic| matches!(&finding.blocks, Blocks::Tool(blocked) if &**blocked == tool);
        self.diagnostics.iter().find(blocks).or_else(|| self.file_blocked())
    }
}
