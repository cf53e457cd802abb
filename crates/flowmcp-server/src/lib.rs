//! MCP server for declarative FlowMCP schemas: configuration, command line, listeners, and the wiring between them.
//!
//! As a library it gives the two functions of the format's guide: [`flowmcp_validate::validate_schema`] checks a
//! schema, [`activate_tools`] makes tools of schemas.

mod across;
mod activate_tools;
pub mod cli;
pub mod commands;
pub mod config;
mod documents;
pub mod env_file;
pub mod handlers;
pub mod load;
pub mod lock;
pub mod logging;
pub mod mcp;
pub mod packs;
pub mod report;
pub mod sarif;
mod selection;

pub use activate_tools::{ActivateError, activate_tools};
pub use flowmcp_validate::validate_schema;
