//! Shows the request of a call without making it.

use serde_json::{Map, Value};

use crate::{
    ActiveTool, Settings,
    bind::bind,
    render::{ServerValues, render},
};

/// The exact request of a call that is not made; server values stand as `<KEY>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DryRun {
    /// Method.
    pub method: &'static str,
    /// URL, as it is composed.
    pub url: String,
    /// Headers as written, and Content-Type where there is a body.
    pub headers: Vec<(String, String)>,
    /// Body text.
    pub body: Option<String>,
}

/// Why there is no request to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DryRunError {
    /// The arguments do not fit, one line each.
    #[error("{}", .0.join("\n"))]
    Arguments(Vec<String>),
    /// A handler decides the request, and there is no sandbox to run it.
    #[error("{hook} decides the request, which needs the handler sandbox")]
    NeedsSandbox {
        /// The hook.
        hook: &'static str,
    },
    /// The schema's root is no web address.
    #[error("the schema's root is no web address")]
    NoRoot,
}

/// The request that a call would make. Needs no server values, so hidden tools are shown too.
///
/// # Errors
/// [`DryRunError`] when there is no request to show.
pub fn dry_run(
    tool: &ActiveTool,
    arguments: Map<String, Value>,
    settings: &Settings,
) -> Result<DryRun, DryRunError> {
    for hook in ["preRequest", "executeRequest"] {
        if tool.plan.hooks.has(hook) {
            return Err(DryRunError::NeedsSandbox { hook });
        }
    }
    if tool.plan.root.origin.is_empty() {
        return Err(DryRunError::NoRoot);
    }
    let arguments = bind(tool, arguments, settings).map_err(DryRunError::Arguments)?;
    let rendered = render(tool, &arguments, ServerValues::Shown)
        .map_err(|error| DryRunError::Arguments(vec![error.to_string()]))?;
    Ok(DryRun {
        method: rendered.method.as_str(),
        url: rendered.url,
        headers: rendered.headers,
        body: rendered.body,
    })
}
