//! The library function of the project's guide: is this `main` in order?

use flowmcp_spec::{Diagnostic, Document, DocumentKind, HandlerFacts, Node, Severity, SourceFile};

use crate::{Options, validated::validate_document};

/// What [`validate_schema`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    /// Whether there is no error.
    pub status: bool,
    /// The errors, each with its place: `main.version: must match 3.x.y (found "1.2.0")`.
    pub messages: Vec<String>,
    /// All findings, warnings and hints too.
    pub findings: Vec<Diagnostic>,
}

/// Checks the value of a schema's `main` by the strictest [`Options`]. Where the text is at hand,
/// [`validate`](crate::validate) says more: it sees the handlers, and knows lines and columns.
pub fn validate_schema(main: &serde_json::Value) -> Validation {
    let root = Node::from_value(main);
    let findings = if root.is_object() {
        let file = SourceFile::new("main", "");
        let document =
            Document { kind: DocumentKind::Schema, root, content: None, code: HandlerFacts::default() };
        validate_document(&file, &document, &Options::default()).diagnostics
    } else {
        vec![Diagnostic::error(NOT_AN_OBJECT, "main", format!("must be an object (found {})", root.shown()))]
    };
    let errors = || findings.iter().filter(|finding| finding.severity == Severity::Error);
    let messages: Vec<String> = errors().map(ToString::to_string).collect();
    Validation { status: messages.is_empty(), messages, findings }
}

const NOT_AN_OBJECT: flowmcp_spec::Code = flowmcp_spec::Code("VAL002");
