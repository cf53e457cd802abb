//! Local resources: databases with queries, and documents (FlowMCP specification 3.0.0, chapter 13).

use super::{FieldValue, Hooks, Input, OutputDeclaration};
use crate::Span;

/// One entry of `main.resources`.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Key in `main.resources`.
    pub name: Box<str>,
    /// Where the key stands.
    pub span: Span,
    /// What it holds.
    pub description: Box<str>,
    /// The file that it is read from.
    pub file: ResourceFile,
    /// What kind of file that is.
    pub source: ResourceSource,
}

/// A file that a resource names. Nothing of it is checked yet: it may not exist, and its path may lead anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceFile {
    /// Which folder the path starts in.
    pub origin: Origin,
    /// Path in that folder, as written.
    pub path: Box<str>,
}

/// Where a resource's file is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Beside the schema: `database: 'data.db'`.
    Schema,
    /// `{folder of the schema}/resources`
    Inline,
    /// `.{base}/resources` of the project.
    Project,
    /// `~/.{base}/resources`
    Global,
    /// `~/.{base}` itself: `database: '~/.flowmcp/data/x.db'`, as an older form writes it.
    GlobalBase,
}

impl Origin {
    /// The word for it in schemas and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Schema => "schema",
            Origin::Inline => "inline",
            Origin::Project => "project",
            Origin::Global | Origin::GlobalBase => "global",
        }
    }
}

/// Kinds of resource.
#[derive(Debug, Clone, PartialEq)]
pub enum ResourceSource {
    /// An SQLite database.
    Sqlite {
        /// What may be done with it.
        mode: DatabaseMode,
        /// Its queries in order; `getSchema` and `freeQuery` are always among them.
        queries: Vec<Query>,
    },
    /// A Markdown document.
    Markdown,
}

/// What may be done with a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseMode {
    /// `in-memory`, and the form without a mode: the file never changes.
    ReadOnly,
    /// `file-based`: every statement is allowed, changes stay.
    ReadWrite,
}

/// One query of a database.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Key in `queries`.
    pub name: Box<str>,
    /// Where the key stands; the resource's key for one that the schema does not write out.
    pub span: Span,
    /// What it does.
    pub description: Box<str>,
    /// What is run.
    pub sql: Sql,
    /// What a caller gives.
    pub inputs: Vec<Input>,
    /// Whether the schema wrote it.
    pub author: Author,
    /// Declared result.
    pub output: Option<OutputDeclaration>,
    /// Which hooks it has; only `postRequest` is ever called.
    pub hooks: Hooks,
}

/// The text of a query.
#[derive(Debug, Clone, PartialEq)]
pub enum Sql {
    /// A statement of the schema.
    Prepared {
        /// The statement.
        text: Box<str>,
        /// The values of its `?` in order.
        bindings: Vec<FieldValue>,
    },
    /// A statement of the caller.
    Dynamic {
        /// Index of the input with the statement.
        sql: usize,
        /// Index of the input with the most rows.
        limit: Option<usize>,
    },
}

/// Who wrote a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The schema.
    Schema,
    /// It is added to every database that lacks it.
    Added,
}

/// Name of the query that shows a database's tables.
pub const GET_SCHEMA: &str = "getSchema";
/// Name of the query that runs a caller's statement.
pub const FREE_QUERY: &str = "freeQuery";
/// The other name of [`FREE_QUERY`].
pub const RUN_SQL: &str = "runSql";
/// Rows of a caller's statement when the caller says nothing.
pub const FREE_QUERY_ROWS: u32 = 100;
/// Most rows of a caller's statement.
pub const FREE_QUERY_MOST_ROWS: u32 = 1000;

impl Resource {
    /// A query by its name; `freeQuery` and `runSql` are two names of one.
    pub fn query(&self, name: &str) -> Option<&Query> {
        let ResourceSource::Sqlite { queries, .. } = &self.source else { return None };
        let named = |name: &str| queries.iter().find(|query| &*query.name == name);
        named(name).or_else(|| match name {
            RUN_SQL => named(FREE_QUERY),
            FREE_QUERY => named(RUN_SQL),
            _ => None,
        })
    }
}
