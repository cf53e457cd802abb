//! Facts about the code in a file, found on its syntax tree: which hooks it has, and what each tool's code reaches.
//!
//! The file is cut into units: each tool's entry in the returned object, and each declaration of the module and of the
//! factory. Names that resolve from one unit into another are the edges of a graph, and a tool reaches what its entry
//! reaches there. What runs when the file is loaded or the factory is called is a unit of its own, and all tools
//! depend on it.

mod chain;
mod inert;
mod libraries;
mod names;
mod outline;
mod plain;
mod reach;
#[cfg(test)]
mod tests;
mod visit;
mod walk;
mod written;

use oxc_ast::ast::Program;
use oxc_semantic::{SemanticBuilder, Stats};

use crate::Span;
use outline::Outline;
use reach::Graph;
use walk::Walk;

/// What the code of a file contains and reaches. A file of data alone has none of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandlerFacts {
    /// The `handlers` export, if there is one.
    pub handlers: Option<HandlersExport>,
    /// Modules that the file names: `import`, `import()`, `require`, `export … from`.
    pub imports: Vec<CodeUse>,
    /// References to names that the file does not declare (`fetch`, `process`, `eval`), and ways around them.
    pub globals: Vec<CodeUse>,
    /// Libraries taken from the factory's `libraries`.
    pub libraries: Vec<CodeUse>,
    /// The first statement that does more than bind values, made of literals and of other names.
    pub first_code: Option<Span>,
}

/// The `handlers` export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlersExport {
    /// Where it stands.
    pub span: Span,
    /// Whether it can be a function, as the format asks; false for a plain object or another value.
    pub is_factory: bool,
    /// The tools that have handlers; `None` when the returned object is not written out.
    pub tools: Option<Vec<HandledTool>>,
}

/// One tool (or resource query) that has handlers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandledTool {
    /// Key in the object that the factory returns.
    pub name: Box<str>,
    /// Where the key stands.
    pub span: Span,
    /// Keys of its hooks as written (`preRequest`), with their places; `None` when they are not written out.
    pub hooks: Option<Vec<(Box<str>, Span)>>,
}

/// One use of a module, global or library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeUse {
    /// Its name: the module's specifier (`import.meta` for that), the global's or the library's name; [`CodeUse::ANY`]
    /// where it cannot be told. Ways around a name carry the name they lead to (`x.constructor.constructor` is
    /// `Function`).
    pub name: Box<str>,
    /// Where it stands.
    pub span: Span,
    /// Which tools' code reaches it.
    pub reach: Reach,
}

impl CodeUse {
    /// Name of a use whose name is computed, or which goes where it cannot be followed.
    pub const ANY: &str = "*";
}

/// Which tools reach a piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// These tools, by their keys; none when the code is never used.
    Tools(Vec<Box<str>>),
    /// It runs when the file is loaded, or nothing narrower can be proved.
    File,
}

/// Collects the facts of a program.
pub(crate) fn survey(program: &Program<'_>) -> HandlerFacts {
    let imports = plain::module_imports(program);
    if plain::is_data(program) {
        return HandlerFacts { imports, ..HandlerFacts::default() };
    }
    // Room to begin with, so that the tree is not walked once more just to count.
    let length = program.span.end;
    let room = Stats::new(length / 16, length / 256, length / 64, length / 32);
    let semantic = SemanticBuilder::new().with_stats(room).build(program).semantic;
    let scoping = semantic.scoping();
    let outline = Outline::of(program, scoping);
    let mut walk = Walk::new(scoping, &outline);
    walk.program(program);
    let libraries = libraries::follow(&mut walk);
    let (handlers, is_known) = outline.export(&walk.open);
    let names: Vec<&str> = outline.tools.iter().flatten().map(|tool| &*tool.name).collect();
    let entries = outline
        .tools
        .iter()
        .flatten()
        .enumerate()
        .flat_map(|(index, tool)| tool.units.iter().map(move |unit| (*unit, index)));
    let uses = walk.globals.len() + walk.imports.len() + libraries.len();
    let mut graph = Graph::new(&walk.edges, walk.units);
    graph.close(entries, if is_known { names.len() } else { 0 }, uses);
    let mut facts = HandlerFacts {
        handlers,
        imports,
        globals: graph.uses(walk.globals, &names),
        libraries: graph.uses(libraries, &names),
        first_code: plain::first_code(program),
    };
    facts.imports.extend(graph.uses(walk.imports, &names));
    facts.imports.sort_by_key(|found| found.span);
    facts
}
