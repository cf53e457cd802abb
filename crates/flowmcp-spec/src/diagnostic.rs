//! Wrong input, described: a [`Diagnostic`] says what is wrong, where, and what it keeps from being served.

use std::fmt;

use crate::Span;

/// Code of a rule (`VAL011`). Every code has a page in `crates/flowmcp-validate/rules`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub &'static str);

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Must be mended: the schema breaks the format.
    Error,
    /// Should be mended: it works all the same.
    Warning,
    /// Worth knowing.
    Hint,
}

impl Severity {
    /// The word for it in texts and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Hint => "hint",
        }
    }
}

/// What a finding keeps from being served.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Blocks {
    /// Nothing.
    Nothing,
    /// One tool, by its key in `main.tools`.
    Tool(Box<str>),
    /// The whole file.
    File,
}

/// One finding about an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Rule.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What is not served because of it.
    pub blocks: Blocks,
    /// Place in the data: `main.tools.ping.path`.
    pub path: String,
    /// What is wrong, with the value found.
    pub message: String,
    /// Place in the text, where it is known.
    pub span: Option<Span>,
    /// Other places that matter, each with a note.
    pub labels: Vec<(Span, String)>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error that blocks the file; the builder methods change what differs.
    pub fn error(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            blocks: Blocks::File,
            path: path.into(),
            message: message.into(),
            span: None,
            labels: Vec::new(),
            help: None,
        }
    }

    /// A warning that blocks nothing.
    pub fn warning(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            blocks: Blocks::Nothing,
            ..Self::error(code, path, message)
        }
    }

    /// A hint that blocks nothing.
    pub fn hint(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Hint, blocks: Blocks::Nothing, ..Self::error(code, path, message) }
    }

    /// Sets what it blocks.
    #[must_use]
    pub fn blocking(mut self, blocks: Blocks) -> Self {
        self.blocks = blocks;
        self
    }

    /// Sets the place in the text.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn label(mut self, span: Span, note: impl Into<String>) -> Self {
        self.labels.push((span, note.into()));
        self
    }

    /// Sets the advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    /// `main.version: must match 3.x.y (found "1.2.0")`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}
