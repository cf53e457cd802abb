//! The library's way from schemas in memory to tools (`activateServerTools` in the format's guide).

use std::{collections::BTreeMap, sync::Arc};

use flowmcp_engine::{
    Engine, Entry, Lists, PackPolicy, Settings, Snapshot, activate, names, params::ServerParams,
};
use flowmcp_http::{HttpSettings, HttpSettingsError, HttpTransport};
use flowmcp_plugin::Secret;
use flowmcp_spec::{Document, DocumentKind, HandlerFacts, Node, Read, SourceFile};
use flowmcp_validate::{Options, validate};
use serde_json::Value;

/// Why schemas could not be activated.
#[derive(Debug, thiserror::Error)]
pub enum ActivateError {
    /// A schema has errors.
    #[error("schema {index} is not valid: {}", .messages.join("; "))]
    Invalid {
        /// Which of the schemas, from 0.
        index: usize,
        /// Its errors.
        messages: Vec<String>,
    },
    /// The HTTP client could not be set up.
    #[error(transparent)]
    Http(#[from] HttpSettingsError),
}

/// Activates schemas without files, with server parameters by name: an engine whose tools any MCP listener serves.
///
/// ```
/// use flowmcp_server::{activate_tools, validate_schema};
/// use flowmcp_engine::DEFAULT_VIEW;
///
/// let main = serde_json::json!({
///     "namespace": "coingecko",
///     "name": "Ping",
///     "description": "Check CoinGecko API server status",
///     "version": "3.0.0",
///     "root": "https://api.coingecko.com/api/v3",
///     "requiredServerParams": [],
///     "requiredLibraries": [],
///     "headers": {},
///     "tools": {
///         "ping": {
///             "method": "GET",
///             "path": "/ping",
///             "description": "Check if CoinGecko API is online",
///             "parameters": []
///         }
///     }
/// });
/// let validation = validate_schema(&main);
/// assert!(validation.status);
/// assert!(validation.messages.is_empty());
///
/// let engine = activate_tools(&[main], Default::default())?;
/// let names: Vec<String> = engine.snapshot().tools(DEFAULT_VIEW).map(|tool| tool.name.to_string()).collect();
/// assert_eq!(names, ["coingecko__ping"]);
/// # Ok::<(), flowmcp_server::ActivateError>(())
/// ```
///
/// `flowmcp_server::mcp::serve_stdio(Arc::new(engine), …)` then registers the tools with an rmcp server.
///
/// # Errors
/// [`ActivateError`] when a schema has errors or there is no HTTP client.
pub fn activate_tools(schemas: &[Value], params: BTreeMap<String, Secret>) -> Result<Engine, ActivateError> {
    let policy = Arc::new(PackPolicy::new("library"));
    let mut params = ServerParams::new(params, BTreeMap::new());
    let mut tools = Vec::new();
    for (index, main) in schemas.iter().enumerate() {
        let file = SourceFile::new(format!("schema {index}"), "");
        let document = Document {
            kind: DocumentKind::Schema,
            root: Node::from_value(main),
            content: None,
            code: HandlerFacts::default(),
        };
        let read = Read { document: Some(document), diagnostics: Vec::new() };
        let mut validated = validate(&file, read, &Options::default());
        let messages: Vec<String> = validated.errors().map(ToString::to_string).collect();
        if !messages.is_empty() {
            return Err(ActivateError::Invalid { index, messages });
        }
        if let Some(mut schema) = validated.value.take() {
            let faults = Lists::default().resolve(&mut schema);
            if !faults.is_empty() {
                let messages = faults.iter().map(ToString::to_string).collect();
                return Err(ActivateError::Invalid { index, messages });
            }
            tools.extend(activate(schema, &policy));
        }
    }
    names::assign(&mut tools);
    for tool in &mut tools {
        tool.hide_without_params(&mut params);
    }
    let snapshot = Snapshot::new(tools.into_iter().map(|tool| Entry::Tool(Arc::new(tool))).collect());
    let transport = HttpTransport::new(HttpSettings::default())?;
    Ok(Engine::new(snapshot, Arc::new(transport), params, Settings::default()))
}
