//! What the configuration allows to the schemas of one pack.

use flowmcp_plugin::NetworkAccess;

/// Policy of one pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackPolicy {
    /// Name of the pack.
    pub name: String,
    /// Which addresses its requests may reach.
    pub network: NetworkAccess,
    /// Hosts that handlers may reach besides the root's.
    pub hosts: Vec<String>,
    /// Grants: `fetch`, `secret:KEY`.
    pub grants: Vec<String>,
    /// Whether clients see output schemas, and results are checked against them.
    pub publish_output_schema: bool,
}

impl PackPolicy {
    /// A pack without any grant.
    pub fn new(name: impl Into<String>) -> Self {
        PackPolicy {
            name: name.into(),
            network: NetworkAccess::Public,
            hosts: Vec::new(),
            grants: Vec::new(),
            publish_output_schema: false,
        }
    }
}
