//! Checks FlowMCP files against the rules of the format, and says what may be served.
//!
//! ```
//! use serde_json::json;
//!
//! let main = json!({
//!     "namespace": "coingecko",
//!     "name": "Ping",
//!     "description": "Check CoinGecko API server status",
//!     "version": "3.0.0",
//!     "root": "https://api.coingecko.com/api/v3",
//!     "requiredServerParams": [],
//!     "requiredLibraries": [],
//!     "headers": {},
//!     "tools": {
//!         "ping": {
//!             "method": "GET",
//!             "path": "/ping",
//!             "description": "Check if CoinGecko API is online",
//!             "parameters": []
//!         }
//!     }
//! });
//! let validation = flowmcp_validate::validate_schema(&main);
//! assert!(validation.status);
//! assert!(validation.messages.is_empty());
//!
//! let mut old = main;
//! old["version"] = json!("1.2.0");
//! let validation = flowmcp_validate::validate_schema(&old);
//! assert_eq!(validation.messages, [r#"main.version: must match 3.x.y (found "1.2.0")"#]);
//! ```
//!
//! With the text at hand, findings have lines, and handlers are looked at too:
//!
//! ```
//! use flowmcp_spec::{Blocks, SourceFile, read};
//! use flowmcp_validate::{Options, check, explain};
//!
//! let file = SourceFile::new("ping.mjs", "export const main = {
//!     namespace: 'demo', name: 'Demo', description: 'An example', version: '3.0.0', root: 'https://api.example.com',
//!     tools: { ping: { method: 'get', path: '/ping', description: 'Ping', parameters: [] } }
//! }");
//! let document = read(&file).document.expect("it is literal");
//! let findings = check(&file, &document, &Options::default());
//! let finding = findings.iter().find(|finding| finding.code.0 == "VAL032").expect("GET is written in capitals");
//! assert_eq!(finding.to_string(), r#"main.tools.ping.method: must be one of GET, POST, PUT, DELETE (found "get")"#);
//! assert_eq!(finding.blocks, Blocks::Tool("ping".into()));
//! assert_eq!(file.line_column(finding.span.expect("it has a place").start), (3, 30));
//! assert!(explain("VAL032").expect("every code has a page").starts_with("# VAL032: "));
//! ```
//!
//! # Adding a rule
//!
//! A rule is one entry in [`RULES`], its check (a row, or one small function in `src/rules/`), and one page `rules/CODE.md`:
//! a heading `# CODE: what it asks for`, a few sentences on what and why, examples under `## Wrong` and `## Right`. The
//! examples are the rule's tests. Each is a fenced block whose first line starts with `js wrong` or `js right`, followed by words:
//!
//! - nothing: the block is a whole file; `main`: fields of `main` in a complete schema; `tool`: fields of its one tool
//!   `ping`; `parameter`: the members of that tool's `parameters`; `resource`: fields of its one resource; `query`: fields
//!   of one of that resource's queries; `skill`, `prompt`, `agent`: fields of a complete one; `code`: what follows a complete
//!   `main`; `pack`: several files of a pack, each after a line `// file: PATH`;
//! - settings: `accept=4`, `allow-local`, `grants=fetch`, `libraries=ethers`.
//!
//! In a wrong block a comment at the end of a line, `// ^ VAL011`, marks where a finding starts. A wrong block has exactly
//! the errors, and exactly the findings of its page's code, that it marks; a right block has neither.

mod check;
mod contents;
mod fields;
mod findings;
mod library;
mod options;
mod pack;
pub mod reference;
mod rule;
mod rules;
mod subject;
mod validated;
mod words;

pub use check::check;
pub use library::{Validation, validate_schema};
pub use options::{Options, Rules};
pub use pack::{Member, Pack, PackFindings, check_pack};
pub use rule::{Rule, Scope, Stage};
pub use rules::{RULES, explain, rule};
pub use validated::{Validated, validate, validate_read};
pub use words::nearest;
