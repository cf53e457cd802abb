//! Reads FlowMCP files: text becomes a [`Document`] of literal data with places, without running any code.
//!
//! ```
//! use flowmcp_spec::{SourceFile, hash, read};
//!
//! let file = SourceFile::new("ping.mjs", "export const main = { namespace: 'coingecko', tools: {} }");
//! let read = read(&file);
//! assert!(read.diagnostics.is_empty());
//! let main = read.document.expect("it is literal").root;
//! assert_eq!(main.to_json(), r#"{"namespace":"coingecko","tools":{}}"#);
//! assert!(hash(&main).starts_with("sha256:"));
//! ```

mod diagnostic;
mod document;
mod facts;
mod hash;
mod lower;
mod migrate;
mod read;
pub mod schema;
mod source;
pub mod ztype;

pub use diagnostic::{Blocks, Code, Diagnostic, Severity};
pub use document::{Document, DocumentKind, Entry, Node, Value};
pub use facts::{CodeUse, HandledTool, HandlerFacts, HandlersExport, Reach};
pub use hash::{agent_hash, hash, sha256, tool_hash};
pub use lower::{List, ListFault, Lowered, lower, lower_list, tests_of};
pub mod codes {
    //! Codes of the findings that lowering makes.
    pub use crate::lower::{
        BAD_HEADER, BODY_WITHOUT_METHOD, EMPTY_ENUM, INSERT_WITHOUT_PLACE, OPTION_WITHOUT_EFFECT,
        OPTIONAL_INSERT, OPTIONS, OWN_VALUE, PATTERN, PRIMITIVE, ROOT, SAME_NAME, UNMATCHED_PLACEHOLDER,
    };
}
pub use migrate::{Migration, MigrationOutcome, migrate};
pub use read::{LEGACY, NO_EXPORT, NOT_LITERAL, Read, SYNTAX, read, read_all, read_json};
pub use schema::{Schema, Tool};
pub use source::{MAX_FILE_BYTES, SourceError, SourceFile, Span};
pub use ztype::{Member, Primitive, ZType};
