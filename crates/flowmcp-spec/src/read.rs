//! Text in, [`Document`] out: parses a file and evaluates its literal data. No code of the file ever runs.

pub(crate) mod evaluate;
mod nesting;

use std::sync::Mutex;

use oxc_allocator::Allocator;
use oxc_ast::ast::{BindingPattern, Declaration, Expression, Program, Statement, VariableDeclarationKind};
use oxc_parser::Parser;
use oxc_span::SourceType;

use crate::{Blocks, Code, Diagnostic, Document, DocumentKind, Node, SourceFile, Span, Value, facts};
use evaluate::Evaluator;

/// What reading a file gave. Without a document, the findings say why.
#[derive(Debug, Clone)]
pub struct Read {
    /// The file's data and facts; `None` when there is no data to work with.
    pub document: Option<Document>,
    /// Everything that is wrong with the file at this stage.
    pub diagnostics: Vec<Diagnostic>,
}

/// The file is not JavaScript, or nested too deeply.
pub const SYNTAX: Code = Code("VAL000");
/// The file has no export that FlowMCP knows.
pub const NO_EXPORT: Code = Code("VAL001");
/// Data that is not a literal.
pub const NOT_LITERAL: Code = Code("SEC017");
/// A registry of a catalogue that is not what it should be.
pub(crate) const JSON: Code = Code("CAT010");
/// Format 1.2, which needs `migrate`.
pub const LEGACY: Code = Code("VAL019");

/// Virtual stack of a reading thread. The parser recurses with the nesting of its input, and `nesting::check` bounds
/// that; untouched stack costs no memory.
pub(crate) const STACK_BYTES: usize = 1 << 30;

/// Files from which on reading is worth a heap that grows in large steps.
const MANY_FILES: usize = 64;

/// Bytes that a reading thread's heap grows by.
const HEAP_STEP: usize = 4 << 20;

/// Makes the heap of this thread grow in large steps. glibc grows the heap of any thread but the first by the page, with a
/// system call each, thousands for a catalogue; what was allocated and freed once stays with the thread.
fn reserve_heap(ahead: &mut usize, text: usize) {
    // What is made of a file, and partly kept, takes about four times its text.
    *ahead = ahead.saturating_sub(text.saturating_mul(4));
    if *ahead == 0 {
        *ahead = HEAP_STEP;
        // The first one lies outside the heap; freeing it tells glibc that this size belongs inside.
        for _ in 0..2 {
            drop(std::hint::black_box(Vec::<u8>::with_capacity(HEAP_STEP)));
        }
    }
}

/// Reads one file, on a thread whose stack fits the deepest input that is accepted.
///
/// ```
/// let file = flowmcp_spec::SourceFile::new("ping.mjs", "export const main = { namespace: 'coingecko' }");
/// let read = flowmcp_spec::read(&file);
/// let document = read.document.expect("it is literal");
/// assert_eq!(document.root.get("namespace").and_then(|node| node.as_str()), Some("coingecko"));
/// ```
pub fn read(file: &SourceFile) -> Read {
    let read = read_all(std::slice::from_ref(file), 1, |_, read| read).pop();
    read.unwrap_or_else(|| Read { document: None, diagnostics: Vec::new() })
}

/// Reads many files on `threads` threads and hands each result to `then`, in any order, there and then; the results
/// of `then` come back in the files' order.
pub fn read_all<T: Send>(
    files: &[SourceFile],
    threads: usize,
    then: impl Fn(usize, Read) -> T + Sync,
) -> Vec<T> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(files.len()));
    let work = || {
        let mut allocator = Allocator::default();
        let mut ahead = 0;
        loop {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(file) = files.get(index) else { break };
            if files.len() >= MANY_FILES {
                reserve_heap(&mut ahead, file.text.len());
            }
            let result = then(index, read_here(file, &allocator));
            allocator.reset();
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, files.len().max(1)) {
            let builder = std::thread::Builder::new().name("read".into()).stack_size(STACK_BYTES);
            if let Err(error) = builder.spawn_scoped(scope, work) {
                // Without address space for a stack nothing can be read safely; the caller sees missing results.
                panic!("cannot start a reading thread: {error}");
            }
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Reads a JSON file, such as a catalogue's `registry.json`, into a tree with places.
///
/// # Errors
/// A finding when it is no JSON, or nested too deeply.
pub fn read_json(file: &SourceFile) -> Result<Node, Box<Diagnostic>> {
    nesting::check(&file.text)?;
    let fault =
        |message: String| Box::new(Diagnostic::error(JSON, "file", message).blocking(Blocks::Nothing));
    // JavaScript accepts more than JSON, so JSON's own parser judges first.
    if let Err(error) = serde_json::from_str::<&serde_json::value::RawValue>(&file.text) {
        let line =
            file.text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
        let start = u32::try_from(line + error.column().saturating_sub(1)).unwrap_or(0);
        let span = Span { start, end: start.saturating_add(1) };
        return Err(Box::new(fault(format!("is not valid JSON: {error}")).at(span)));
    }
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, &file.text, SourceType::mjs()).parse_expression();
    let expression = parsed.map_err(|_| fault("is not valid JSON".to_owned()))?;
    let mut evaluator = Evaluator::without_names();
    let root = evaluator.evaluate(&expression, "registry");
    root.ok_or_else(|| {
        let found = evaluator.into_diagnostics().into_iter().next();
        Box::new(found.unwrap_or_else(|| *fault("is not valid JSON".to_owned())))
    })
}

pub(crate) fn read_here(file: &SourceFile, allocator: &Allocator) -> Read {
    let failed = |diagnostic| Read { document: None, diagnostics: vec![diagnostic] };
    let program = match parse(&file.text, allocator) {
        Ok(program) => program,
        Err(diagnostic) => return failed(*diagnostic),
    };
    let exports = Exports::of(&program);
    let Some((kind, expression)) = exports.data() else {
        let found = exports.names();
        let message = if found.is_empty() {
            "exports nothing that FlowMCP knows".to_owned()
        } else {
            format!("exports nothing that FlowMCP knows (found {})", found.join(", "))
        };
        return failed(
            Diagnostic::error(NO_EXPORT, "file", message)
                .help("a schema needs `export const main = { … }`; lists export `list`, skills `skill`"),
        );
    };
    if kind == DocumentKind::Legacy {
        return failed(
            Diagnostic::error(LEGACY, "schema", "is a schema of format 1.2, which is not served")
                .at(Span::of(oxc_span::GetSpan::span(expression)))
                .help("convert it to format 3: `flowmcp-server migrate FILE --write`"),
        );
    }
    let mut evaluator = Evaluator::new(&program);
    let root = evaluator.evaluate(expression, kind.export());
    let content = exports.get("content").and_then(|expression| evaluator.evaluate(expression, "content"));
    let mut diagnostics = evaluator.into_diagnostics();
    let Some(root) = root else { return Read { document: None, diagnostics } };
    let kind = if kind == DocumentKind::Schema && is_agent(&root) { DocumentKind::Agent } else { kind };
    if !matches!(root.value, Value::Object(_)) && kind != DocumentKind::Prompt {
        diagnostics.push(
            Diagnostic::error(
                Code("VAL002"),
                kind.export(),
                format!("must be an object (found {})", root.shown()),
            )
            .at(root.span),
        );
        return Read { document: None, diagnostics };
    }
    let code = facts::survey(&program);
    Read { document: Some(Document { kind, root, content, code }), diagnostics }
}

/// The syntax tree of a text, or the finding that says why there is none.
pub(crate) fn parse<'a>(text: &'a str, allocator: &'a Allocator) -> Result<Program<'a>, Box<Diagnostic>> {
    nesting::check(text)?;
    let parsed = Parser::new(allocator, text, SourceType::mjs()).parse();
    let Some(error) = parsed.diagnostics.iter().next() else { return Ok(parsed.program) };
    let mut diagnostic =
        Diagnostic::error(SYNTAX, "file", format!("is not valid JavaScript: {}", error.message));
    diagnostic.span = error.labels.first().map(|label| {
        let start = label.offset();
        Span { start, end: start.saturating_add(label.len()) }
    });
    diagnostic.help = error.help.as_ref().map(ToString::to_string);
    Err(Box::new(diagnostic))
}

/// Older agent manifests export `main` like schemas do; only they have a system prompt.
fn is_agent(main: &Node) -> bool {
    main.get("systemPrompt").is_some() && main.get("root").is_none() && main.get("namespace").is_none()
}

/// The named exports of a module, by name, with their initialisers.
pub(crate) struct Exports<'p>(Vec<(&'p str, Option<&'p Expression<'p>>)>);

impl<'p> Exports<'p> {
    pub(crate) fn of(program: &'p Program<'p>) -> Self {
        let mut found = Vec::new();
        for statement in &program.body {
            match statement {
                Statement::ExportDeclaration(export) => match &export.declaration {
                    Declaration::VariableDeclaration(variables) => {
                        for declarator in &variables.declarations {
                            if let BindingPattern::BindingIdentifier(name) = &declarator.id {
                                found.push((name.name.as_str(), declarator.init.as_ref()));
                            }
                        }
                    }
                    Declaration::FunctionDeclaration(function) => {
                        if let Some(name) = &function.id {
                            found.push((name.name.as_str(), None));
                        }
                    }
                    _ => {}
                },
                Statement::ExportNamedDeclaration(export) => {
                    for specifier in &export.specifiers {
                        let local = specifier.local.name();
                        let value = constants(program).find(|(name, _)| *name == local.as_str());
                        found.push((specifier.exported.name().as_str(), value.map(|(_, init)| init)));
                    }
                }
                _ => {}
            }
        }
        Exports(found)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'p Expression<'p>> {
        self.0.iter().find(|(export, _)| *export == name).and_then(|(_, value)| *value)
    }

    fn names(&self) -> Vec<&'p str> {
        self.0.iter().map(|(name, _)| *name).collect()
    }

    /// The export that decides the kind, in order of precedence.
    fn data(&self) -> Option<(DocumentKind, &'p Expression<'p>)> {
        use DocumentKind::{Agent, Legacy, List, Prompt, Schema, Skill};
        let by_export = [Schema, List, Skill, Prompt, Agent, Legacy];
        by_export
            .into_iter()
            .find_map(|kind| self.get(kind.export()).map(|value| (kind, value)))
            .or_else(|| self.get("content").map(|value| (Prompt, value)))
    }
}

/// Module-level `const` names with their initialisers, exported or not.
pub(crate) fn constants<'p>(program: &'p Program<'p>) -> impl Iterator<Item = (&'p str, &'p Expression<'p>)> {
    program
        .body
        .iter()
        .filter_map(|statement| match statement {
            Statement::VariableDeclaration(variables) => Some(&**variables),
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::VariableDeclaration(variables) => Some(&**variables),
                _ => None,
            },
            _ => None,
        })
        .filter(|variables| variables.kind == VariableDeclarationKind::Const)
        .flat_map(|variables| &variables.declarations)
        .filter_map(|declarator| match (&declarator.id, &declarator.init) {
            (BindingPattern::BindingIdentifier(name), Some(init)) => Some((name.name.as_str(), init)),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let read = read(&SourceFile::new("x.mjs", text));
        read.diagnostics.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_bomb_of_values_is_one_finding_however_it_grows() {
        let doubled = |form: &str| {
            let mut text = String::from("const a0 = [1, 2];");
            for level in 1..40 {
                let before = format!("a{}", level - 1);
                text.push_str(&format!("const a{level} = [{}];", form.replace('X', &before)));
            }
            text + "export const main = { a: a39 }"
        };
        for form in ["X, X", "...X, ...X"] {
            let found = findings(&doubled(form));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].ends_with("has more than 2000000 values"), "{found:?}");
        }
    }
}
