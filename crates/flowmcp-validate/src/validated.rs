//! A value together with the findings about it: what of it may be served, and why the rest may not.

use flowmcp_spec::{
    Blocks, Diagnostic, Document, DocumentKind, Node, Read, Schema, Severity, SourceFile, codes, lower,
};

use crate::{
    Options,
    check::{check_lowered, check_subject, in_order},
    subject::Subject,
};

/// A checked value and everything that was found.
#[derive(Debug, Clone)]
pub struct Validated<T> {
    /// What may be served.
    pub value: T,
    /// The tools that may not be served, by their keys, in the order of the file.
    pub refused: Vec<Box<str>>,
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
        file_blocked(&self.diagnostics)
    }

    /// The first finding that keeps a tool, named by its key, from being served.
    pub fn tool_blocked(&self, tool: &str) -> Option<&Diagnostic> {
        tool_blocked(&self.diagnostics, tool)
    }
}

/// Lowers and checks a file that was read. The schema holds the tools that may be served and no others; it is `None`
/// when the file is no schema or is blocked as a whole.
///
/// ```
/// use flowmcp_spec::{SourceFile, read};
/// use flowmcp_validate::{Options, validate};
///
/// let file = SourceFile::new("demo.mjs", "export const main = {
///     namespace: 'demo', name: 'Demo', description: 'An example', version: '3.0.0', root: 'https://api.example.com',
///     tools: {
///         ping: { method: 'GET', path: '/ping', description: 'Ping', parameters: [] },
///         pong: { method: 'GET', path: 'pong', description: 'Pong', parameters: [] }
///     }
/// }");
/// let validated = validate(&file, read(&file), &Options::default());
/// let reason = validated.tool_blocked("pong").expect("its path has no slash");
/// assert_eq!(reason.code.0, "VAL033");
/// assert_eq!(*validated.refused, ["pong".into()]);
/// let schema = validated.value.expect("the other tool works");
/// assert_eq!(schema.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["ping"]);
/// ```
pub fn validate(file: &SourceFile, read: Read, options: &Options) -> Validated<Option<Schema>> {
    validate_read(file, &read, options)
}

/// [`validate`] for who needs the document again, for [`check_pack`](crate::check_pack).
pub fn validate_read(file: &SourceFile, read: &Read, options: &Options) -> Validated<Option<Schema>> {
    match &read.document {
        Some(document) => {
            let mut validated = validate_document(file, document, options);
            validated.diagnostics.extend(read.diagnostics.iter().cloned());
            in_order(&mut validated.diagnostics);
            // What reading found came too late to be seen above.
            if validated.file_blocked().is_some() {
                validated.value = None;
                validated.refused = tool_keys(document).map(Into::into).collect();
            }
            validated
        }
        None => Validated { value: None, refused: Vec::new(), diagnostics: read.diagnostics.clone() },
    }
}

pub(crate) fn validate_document(
    file: &SourceFile,
    document: &Document,
    options: &Options,
) -> Validated<Option<Schema>> {
    let subject = Subject::new(file, document, options);
    let mut diagnostics = check_subject(&subject);
    let mut value = None;
    if document.kind == DocumentKind::Schema {
        let lowered = lower(file, document);
        // VAL027 and VAL029 judge the root and know which tools need one.
        diagnostics.extend(lowered.diagnostics.into_iter().filter(|finding| finding.code != codes::ROOT));
        if let Some(schema) = &lowered.schema {
            diagnostics.extend(check_lowered(&subject, schema));
        }
        in_order(&mut diagnostics);
        value = lowered.schema.filter(|_| file_blocked(&diagnostics).is_none());
    }
    if let Some(schema) = &mut value {
        schema.tools.retain(|tool| tool_blocked(&diagnostics, &tool.name).is_none());
    }
    let served = |key: &str| value.iter().any(|schema| schema.tools.iter().any(|tool| &*tool.name == key));
    let refused = tool_keys(document).filter(|key| !served(key)).map(Into::into).collect();
    Validated { value, refused, diagnostics }
}

fn tool_keys(document: &Document) -> impl Iterator<Item = &str> {
    let is_schema = document.kind == DocumentKind::Schema;
    let tools = document.root.get("tools").or_else(|| document.root.get("routes")).filter(|_| is_schema);
    tools.map(Node::entries).unwrap_or_default().iter().map(|entry| &*entry.key)
}

fn file_blocked(diagnostics: &[Diagnostic]) -> Option<&Diagnostic> {
    diagnostics.iter().find(|finding| finding.blocks == Blocks::File)
}

fn tool_blocked<'f>(diagnostics: &'f [Diagnostic], tool: &str) -> Option<&'f Diagnostic> {
    let blocks =
        |finding: &&Diagnostic| matches!(&finding.blocks, Blocks::Tool(blocked) if &**blocked == tool);
    diagnostics.iter().find(blocks).or_else(|| file_blocked(diagnostics))
}
