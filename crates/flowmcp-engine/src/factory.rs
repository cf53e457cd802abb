//! What running a schema's factory shows that reading it cannot: that it compiles, returns in time, and gives handlers
//! whose names and kinds the seeds allow.

use std::{sync::Arc, time::Instant};

use flowmcp_plugin::{
    BoxFuture, FetchRequest, FetchResult, Hook, LogLevel, Outline, SandboxError, SandboxSettings,
};
use flowmcp_spec::{Code, Diagnostic, Document, HandledTool, Node, Schema, SourceFile, Span};
use flowmcp_worker::{HostServices, Pool, Program};

use crate::{Lists, hooks::program_of};

/// The handlers compile, and their factory gives an object.
const FACTORY: Code = Code("SEC104");
/// Handlers belong to tools.
const TOOLS: Code = Code("VAL005");
/// A handler has hooks that are called.
const HOOKS: Code = Code("VAL006");

/// The factory of a schema file, and what its result is compared with.
#[derive(Debug, Clone)]
pub struct Factory {
    program: Arc<Program>,
    /// Where the `handlers` export stands.
    export: Span,
    /// Handlers that are written out, with their places.
    written: Vec<HandledTool>,
    tools: Vec<Box<str>>,
    resources: Vec<Box<str>>,
}

impl Factory {
    /// The factory of a schema; `None` when the file has no handlers.
    pub fn of(
        document: &Document,
        schema: &Schema,
        text: &Arc<str>,
        lists: &Lists,
        pack: &str,
        settings: SandboxSettings,
    ) -> Option<Factory> {
        let handlers = document.code.handlers.as_ref()?;
        let keys = |field: &str| -> Vec<Box<str>> {
            let entries = document.root.get(field).map(Node::entries).unwrap_or_default();
            entries.iter().map(|entry| entry.key.clone()).collect()
        };
        Some(Factory {
            program: program_of(schema, text, lists, pack, settings),
            export: handlers.span,
            written: handlers.tools.clone().unwrap_or_default(),
            tools: [keys("tools"), keys("routes")].concat(),
            resources: keys("resources"),
        })
    }

    /// Compiles the handlers, runs the factory in a worker, and says what is wrong with them. `known` is what is known of
    /// the file already: nothing of it is said twice.
    ///
    /// # Errors
    /// [`SandboxError`] when this machine cannot run handlers, which says nothing about the file.
    pub async fn findings(
        &self,
        source: &SourceFile,
        known: &[Diagnostic],
        pool: &Pool,
        deadline: Instant,
    ) -> Result<Vec<Diagnostic>, SandboxError> {
        let found = match pool.outline(&self.program, deadline, &Silent).await {
            Ok(outline) => self.compare(&outline),
            Err(error @ (SandboxError::Unconfined { .. } | SandboxError::Busy { .. })) => return Err(error),
            Err(error) => vec![self.failed(source, &error)],
        };
        let is_new =
            |one: &Diagnostic| !known.iter().any(|other| (other.code, &other.path) == (one.code, &one.path));
        Ok(found.into_iter().filter(is_new).collect())
    }

    /// The finding about handlers that are not there.
    fn failed(&self, source: &SourceFile, error: &SandboxError) -> Diagnostic {
        let (message, place) = match error {
            SandboxError::Compile { line, column, reason, .. } => {
                (format!("must compile ({reason})"), Some((*line, *column)))
            }
            SandboxError::Thrown { message, place } => (
                format!("must give the handlers, and the factory failed ({message})"),
                place.as_deref().and_then(line_and_column),
            ),
            limit => (format!("must give the handlers, and the factory failed (it {limit})"), None),
        };
        let span = place.and_then(|(line, column)| word_at(source, line, column)).unwrap_or(self.export);
        let finding =
            Diagnostic::error(FACTORY, "handlers", message).blocking(flowmcp_spec::Blocks::Nothing).at(span);
        finding.help(
            "outside of hooks, only prepare: `sharedLists` are frozen, and `libraries` has what `requiredLibraries` names",
        )
    }

    /// Compares what the factory gave with the tools and hooks that there are.
    fn compare(&self, outline: &Outline) -> Vec<Diagnostic> {
        let Outline::Object(handlers) = outline else {
            let message =
                format!("must give an object with the handlers of each tool (found {})", said(outline));
            let finding = Diagnostic::error(FACTORY, "handlers", message)
                .blocking(flowmcp_spec::Blocks::Nothing)
                .at(self.export);
            return vec![
                finding
                    .help("return `{ toolName: { postRequest: async ( { response } ) => ({ response }) } }`"),
            ];
        };
        let mut findings = Vec::new();
        if handlers.is_empty() {
            let finding =
                Diagnostic::warning(TOOLS, "handlers", "gives no handlers, so nothing of it is called");
            findings.push(
                finding
                    .at(self.export)
                    .help("name the handlers like their tools in main.tools, or remove the export"),
            );
        }
        for (name, handler) in handlers {
            let is_one_of = |keys: &[Box<str>]| keys.iter().any(|key| **key == **name);
            let path = format!("handlers.{name}");
            let span =
                self.written.iter().find(|tool| *tool.name == **name).map_or(self.export, |tool| tool.span);
            if !is_one_of(&self.tools) {
                if !is_one_of(&self.resources) {
                    let message = "is a handler of no tool or resource of this schema";
                    let finding = Diagnostic::warning(TOOLS, path, message).at(span);
                    findings.push(finding.help("name it like its tool in main.tools, or remove it"));
                }
                continue;
            }
            match handler {
                Outline::Object(hooks) => self.hooks(name, hooks, span, &mut findings),
                other => {
                    let message = format!("must be an object with hooks (found {})", said(other));
                    let finding = Diagnostic::warning(HOOKS, path, message).at(span);
                    findings.push(finding.help(format!("write `{name}: {{ postRequest: … }}`")));
                }
            }
        }
        findings
    }

    fn hooks(&self, tool: &str, hooks: &[(String, Outline)], span: Span, findings: &mut Vec<Diagnostic>) {
        let names = Hook::ALL.map(Hook::as_str).join(", ");
        let written = self.written.iter().find(|written| *written.name == *tool);
        if hooks.is_empty() {
            let finding = Diagnostic::warning(
                HOOKS,
                format!("handlers.{tool}"),
                "has no hook, so nothing of it is called",
            );
            findings.push(finding.at(span).help(format!("hooks are {names}; or remove it")));
        }
        for (hook, value) in hooks {
            let path = format!("handlers.{tool}.{hook}");
            let own = written.and_then(|tool| tool.hooks.as_ref()).into_iter().flatten();
            let span = own.into_iter().find(|(name, _)| **name == **hook).map_or(span, |(_, span)| *span);
            if !Hook::ALL.iter().any(|known| known.as_str() == hook) {
                let finding = Diagnostic::warning(HOOKS, path, "is no hook that is ever called").at(span);
                findings.push(finding.help(format!("hooks are {names}")));
            } else if *value != Outline::Function {
                let message = format!("must be a function (found {}), so it is not called", said(value));
                let finding = Diagnostic::warning(HOOKS, path, message).at(span);
                findings.push(finding.help(format!("write `{hook}: async ( … ) => …`, or remove it")));
            }
        }
    }
}

/// A kind with its article.
fn said(outline: &Outline) -> String {
    match outline.kind() {
        kind @ ("undefined" | "null") => kind.to_owned(),
        "int" | "float" => "a number".to_owned(),
        "bool" => "a boolean".to_owned(),
        kind if kind.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}

/// Line and column of `file:12:7`.
fn line_and_column(place: &str) -> Option<(u32, u32)> {
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    Some((parts.next()?.parse().ok()?, column))
}

/// The word at a place of the text, or at least its character; `None` outside of the text.
fn word_at(source: &SourceFile, line: u32, column: u32) -> Option<Span> {
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    let text = source.text.split_inclusive('\n').nth(index)?;
    let before: usize = source.text.split_inclusive('\n').take(index).map(str::len).sum();
    let skipped = usize::try_from(column).ok()?.saturating_sub(1);
    let (at, first) = text.char_indices().nth(skipped).filter(|(_, c)| !matches!(c, '\n' | '\r'))?;
    let rest = text.get(at..)?;
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
    let start = before + at;
    let end = start + word.max(first.len_utf8());
    Some(Span { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? })
}

/// Factories have no requests to make and nobody to talk to.
struct Silent;

impl HostServices for Silent {
    fn fetch(&self, _: FetchRequest, _: Instant) -> BoxFuture<'_, Result<FetchResult, String>> {
        Box::pin(async { Err("a factory makes no requests".to_owned()) })
    }

    fn log(&self, _: LogLevel, _: &str) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_become_words() {
        let source = SourceFile::new("a.mjs", "const é = 1\nlet äöü = bad( 2 )\r\n");
        for (line, column, expected) in [
            (1, 1, Some("const")),
            (1, 7, Some("é")),
            (2, 11, Some("bad")),
            (2, 9, Some("=")),
            (2, 99, None),
            (9, 1, None),
        ] {
            let word = word_at(&source, line, column).and_then(|span| source.text.get(span.range()));
            assert_eq!(word, expected, "{line}:{column}");
        }
        assert_eq!(line_and_column("a:b/c.mjs:12:7"), Some((12, 7)));
        assert_eq!(line_and_column("c.mjs"), None);
    }
}
