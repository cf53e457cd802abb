//! Makes tools that can be called out of validated schemas.

use std::sync::Arc;

use flowmcp_plugin::Method;
use serde_json::{Map, Value};

/// A tool as clients see it and as calls run it.
#[derive(Debug)]
pub struct ActiveTool {
    /// Public name, unique in the snapshot: matches `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: Arc<str>,
    /// Short text for people.
    pub title: String,
    /// Text for the client's model.
    pub description: String,
    /// JSON Schema of the arguments: a plain object.
    pub input_schema: Arc<Map<String, Value>>,
    /// JSON Schema of the result, only where the pack publishes it.
    pub output_schema: Option<Arc<Map<String, Value>>>,
    /// Method of the request; GET reads, DELETE destroys.
    pub method: Method,
    /// Canonical ID: `namespace/tool/name`.
    pub id: String,
    /// Why clients do not see it.
    pub hidden: Option<Hidden>,
}

/// Why a tool is not offered to clients.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Hidden {
    /// Server parameters without a value.
    #[error("needs {}", .keys.join(", "))]
    MissingParams {
        /// Their names.
        keys: Vec<String>,
    },
}
