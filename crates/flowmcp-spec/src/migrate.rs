//! Converts schemas of older formats to format 3.0.0. What is changed is replaced at its place in the syntax tree, and
//! everything else, comments included, stays as its author wrote it. What cannot be carried over is a finding, and then
//! the file is not converted at all: no part of a schema is lost without a word.

mod edits;
mod factory;
mod fields;
mod handlers;
mod imports;
mod legacy;
mod module;
mod names;
#[cfg(test)]
mod tests;
mod tools;
mod version2;

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;

use crate::{
    Diagnostic, DocumentKind, Node, Severity, SourceFile, Span,
    read::{self, Exports, LEGACY, STACK_BYTES, evaluate::Evaluator},
};
use edits::Edits;
use module::Module;

/// What migrating a file came to.
#[derive(Debug, Clone)]
pub struct Migration {
    /// What became of it.
    pub outcome: MigrationOutcome,
    /// Why it cannot be converted, or what deserves a look now that it is. Places are those of the text before.
    pub findings: Vec<Diagnostic>,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MigrationOutcome {
    /// It is of format 3 already, or no schema at all.
    Unchanged,
    /// It was of format `from`; `text` is the same schema in format 3.0.0.
    Converted {
        /// The version that it had.
        from: Box<str>,
        /// The new text.
        text: String,
    },
    /// Somebody has to look at it; the findings say where.
    Refused,
}

/// The version that converted schemas have.
const VERSION: &str = "3.0.0";

/// Converts a schema of format 1.x or 2.x to format 3.0.0. Migrating the result again changes nothing.
///
/// ```
/// use flowmcp_spec::{MigrationOutcome, SourceFile, migrate};
///
/// let old = "export const main = { namespace: 'demo', version: '2.0.0', routes: {} } // as it was\n";
/// let migration = migrate(&SourceFile::new("demo.mjs", old));
/// let MigrationOutcome::Converted { from, text } = migration.outcome else { panic!("it is of format 2") };
/// assert_eq!(&*from, "2.0.0");
/// assert_eq!(text, "export const main = { namespace: 'demo', version: '3.0.0', tools: {} } // as it was\n");
/// ```
pub fn migrate(file: &SourceFile) -> Migration {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("migrate".into()).stack_size(STACK_BYTES);
        let thread = builder.spawn_scoped(scope, || migrate_here(file));
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(migration)) => migration,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                let message = format!("cannot be looked at: no thread could be started ({error})");
                Migration::refused(vec![Diagnostic::error(LEGACY, "file", message)])
            }
        }
    })
}

fn migrate_here(file: &SourceFile) -> Migration {
    let allocator = Allocator::default();
    let program = match read::parse(&file.text, &allocator) {
        Ok(program) => program,
        Err(diagnostic) => return Migration::refused(vec![*diagnostic]),
    };
    let mut draft = Draft::new(&file.text, &program);
    let exports = Exports::of(&program);
    let from = match (exports.get("main"), exports.get("schema")) {
        (Some(main), _) => version2::convert(main, &mut draft),
        (None, Some(schema)) => legacy::convert(schema, &mut draft),
        (None, None) => None,
    };
    let Some(from) = from else {
        return Migration { outcome: MigrationOutcome::Unchanged, findings: Vec::new() };
    };
    let kept = std::mem::take(&mut draft.kept);
    let (text, findings) = draft.finish();
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Migration::refused(findings);
    }
    match proof(&file.path, &text, &kept) {
        Ok(()) => Migration { outcome: MigrationOutcome::Converted { from, text }, findings },
        Err(reason) => {
            let message = format!("would not be the same after the conversion: {reason}");
            Migration::refused(vec![Diagnostic::error(LEGACY, "file", message)])
        }
    }
}

/// Data that a conversion must not change: keys that lead to it in `main`, and its JSON.
struct Kept {
    keys: Vec<Box<str>>,
    json: String,
}

/// Reads what a conversion wrote: nothing is handed out that the reader cannot read, or that says something else.
fn proof(path: &str, text: &str, kept: &[Kept]) -> Result<(), String> {
    let file = SourceFile::new(path, text);
    let allocator = Allocator::default();
    let read = read::read_here(&file, &allocator);
    let main = match (read.document, read.diagnostics.first()) {
        (_, Some(finding)) => return Err(finding.to_string()),
        (Some(document), None) if document.kind == DocumentKind::Schema => document.root,
        (_, None) => return Err("it is no schema any more".to_owned()),
    };
    for Kept { keys, json } in kept {
        let found = keys.iter().try_fold(&main, |node, key| node.get(key));
        if found.is_none_or(|found| found.to_json() != *json) {
            return Err(format!("main.{} is not what it was", keys.join(".")));
        }
    }
    Ok(())
}

impl Migration {
    fn refused(findings: Vec<Diagnostic>) -> Self {
        Migration { outcome: MigrationOutcome::Refused, findings }
    }
}

/// A conversion under way.
struct Draft<'p> {
    module: Module<'p>,
    evaluator: Evaluator<'p>,
    edits: Edits,
    /// What comes after the last statement, and the comments above it.
    appendix: String,
    heading: String,
    findings: Vec<Diagnostic>,
    kept: Vec<Kept>,
}

impl<'p> Draft<'p> {
    fn new(text: &'p str, program: &'p Program<'p>) -> Self {
        Draft {
            module: Module::new(text, program),
            evaluator: Evaluator::new(program),
            edits: Edits::default(),
            appendix: String::new(),
            heading: String::new(),
            findings: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Remembers data that is the same after the conversion.
    fn keep(&mut self, keys: &[&str], value: &Node) {
        self.kept.push(Kept { keys: keys.iter().map(|key| (*key).into()).collect(), json: value.to_json() });
    }

    /// Something that a person has to decide.
    fn refuse(
        &mut self,
        span: oxc_span::Span,
        path: impl Into<String>,
        message: impl Into<String>,
        help: &str,
    ) {
        let finding = Diagnostic::error(LEGACY, path, message).at(Span::of(span));
        self.findings.push(if help.is_empty() { finding } else { finding.help(help) });
    }

    /// Something that was converted and deserves a look.
    fn note(&mut self, span: oxc_span::Span, path: impl Into<String>, message: impl Into<String>) {
        self.findings.push(Diagnostic::warning(LEGACY, path, message).at(Span::of(span)));
    }

    fn finish(self) -> (String, Vec<Diagnostic>) {
        let mut findings = self.evaluator.into_diagnostics();
        findings.extend(self.findings);
        findings.sort_by_key(|finding| finding.span);
        findings.dedup();
        let mut text = self.edits.apply(self.module.text, 0..self.module.end());
        if !self.appendix.is_empty() {
            let line_break = self.module.line_break();
            text.truncate(text.trim_end().len());
            text.push_str(&line_break.repeat(3));
            let heading = self.heading.replace("\r\n", "\n");
            text.push_str(&(heading + &self.appendix).replace('\n', line_break));
        }
        (text, findings)
    }
}
