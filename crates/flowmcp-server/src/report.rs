//! Findings for people and programs.

use std::io::IsTerminal;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use flowmcp_spec::{Diagnostic, Severity, SourceFile, Span};
use serde_json::{Value, json};

use crate::{load::FileReport, logging::no_colour};

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// With escape codes.
    On,
    /// Plain.
    Off,
}

impl Colour {
    /// Colour for stdout: only on a terminal, and not against NO_COLOR.
    pub fn of_stdout() -> Self {
        if std::io::stdout().is_terminal() && !no_colour() { Colour::On } else { Colour::Off }
    }

    /// Colour for stderr.
    pub fn of_stderr() -> Self {
        if std::io::stderr().is_terminal() && !no_colour() { Colour::On } else { Colour::Off }
    }
}

/// Lines longer than this are not shown: a minified file would fill the screen.
const LONGEST_LINE: usize = 400;

/// The findings of one file, each with its source line.
pub fn text(source: &SourceFile, diagnostics: &[Diagnostic], colour: Colour) -> String {
    let renderer = match colour {
        Colour::On => Renderer::styled(),
        Colour::Off => Renderer::plain(),
    };
    let mut text = String::new();
    for finding in diagnostics {
        text.push_str(&renderer.render(&[group(source, finding)]));
        text.push_str("\n\n");
    }
    text
}

/// Text from a schema or a file name without characters that a terminal would act on.
pub(crate) fn inert(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn group<'a>(source: &'a SourceFile, finding: &'a Diagnostic) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Hint => Level::NOTE,
    };
    let title = level.primary_title(finding.to_string()).id(finding.code.0);
    let mut group = Group::with_title(title);
    match finding.span.filter(|span| is_shown(source, *span)) {
        Some(span) => {
            let mut snippet = Snippet::source(&*source.text)
                .path(inert(&source.path))
                .annotation(AnnotationKind::Primary.span(first_line(source, span)));
            for (span, note) in finding.labels.iter().filter(|(span, _)| is_shown(source, *span)) {
                snippet = snippet
                    .annotation(AnnotationKind::Context.span(first_line(source, *span)).label(note.as_str()));
            }
            group = group.element(snippet);
        }
        None => {
            let (line, column) = finding.span.map_or((1, 1), |span| source.line_column(span.start));
            group = group.element(
                annotate_snippets::Origin::path(inert(&source.path))
                    .line(line as usize)
                    .char_column(column as usize),
            );
        }
    }
    match &finding.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

/// A whole object as a span would fill the screen: its first line says where it is.
fn first_line(source: &SourceFile, span: Span) -> std::ops::Range<usize> {
    let range = span.range();
    let text = source.text.get(range.clone()).unwrap_or_default();
    let end = text.find(['\n', '\r']).map_or(range.end, |at| range.start + at);
    range.start..end
}

fn is_shown(source: &SourceFile, span: Span) -> bool {
    let Some(before) = source.text.get(..span.start as usize) else { return false };
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = source.text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    line.len() <= LONGEST_LINE
}

/// The object that `validate --format json` prints.
pub fn json(files: &[FileReport]) -> Value {
    let files: Vec<Value> = files
        .iter()
        .map(|file| {
            let errors = file.diagnostics.iter().filter(|finding| finding.severity == Severity::Error);
            let messages: Vec<String> = file.unreadable.iter().cloned().chain(errors.map(ToString::to_string)).collect();
            let findings: Vec<Value> = file.diagnostics.iter().map(|finding| finding_json(file.source.as_ref(), finding)).collect();
            json!({ "file": &*file.path, "status": !file.has_errors(), "messages": messages, "findings": findings })
        })
        .collect();
    json!({ "files": files })
}

/// One finding as `--json` shows it.
pub(crate) fn finding_json(source: Option<&SourceFile>, finding: &Diagnostic) -> Value {
    let place = source.zip(finding.span).map(|(source, span)| source.line_column(span.start));
    json!({
        "code": finding.code.0,
        "severity": finding.severity.as_str(),
        "path": finding.path,
        "message": finding.message,
        "line": place.map(|(line, _)| line),
        "column": place.map(|(_, column)| column),
    })
}
