//! Shows the request of a call without making it.

use std::time::Instant;

use flowmcp_worker::Pool;
use serde_json::{Map, Value};

use crate::{
    ActiveTool, Content, Output, Settings,
    bind::bind,
    hooks::Hooks,
    render::{Rendered, ServerValues, render},
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
    /// What was accepted although it is not as it should be: arguments that were converted, shapes of a handler's return.
    pub notes: Vec<String>,
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
    /// A handler failed.
    #[error("{0}")]
    Handler(String),
    /// The schema's root is no web address.
    #[error("the schema's root is no web address")]
    NoRoot,
    /// It asks a local database.
    #[error("it asks a local database, so it makes no request")]
    Local,
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
    shown(tool, arguments, settings)
}

/// As [`dry_run`], with workers that run a tool's `preRequest`. A tool whose `executeRequest` makes the request shows
/// the request that its handler starts from.
///
/// # Errors
/// [`DryRunError`] when there is no request to show.
pub async fn dry_run_with(
    tool: &ActiveTool,
    arguments: Map<String, Value>,
    settings: &Settings,
    pool: &Pool,
) -> Result<DryRun, DryRunError> {
    if !tool.plan.hooks.has("preRequest") || tool.plan.program.is_none() {
        return dry_run(tool, arguments, settings);
    }
    if tool.plan.root.origin.is_empty() {
        return Err(DryRunError::NoRoot);
    }
    let deadline = Instant::now() + settings.limits.call_deadline;
    let arguments = bind(tool, arguments, settings).map_err(DryRunError::Arguments)?;
    let mut hooks = Hooks::new(tool, Some(pool), None, deadline);
    let rendered = render(tool, &arguments, hooks.server_values())
        .map_err(|error| DryRunError::Arguments(vec![error.to_string()]))?;
    let failed = |ended: crate::hooks::Ended| DryRunError::Handler(text_of(&ended));
    let rendered = hooks.pre_request(rendered, &arguments).await.map_err(failed)?;
    let mut shown = hooks.ready(rendered).map(DryRun::from).map_err(failed)?;
    shown.notes = arguments.notes;
    shown.notes.extend(hooks.into_notes());
    Ok(shown)
}

fn text_of(output: &Output) -> String {
    output
        .content
        .iter()
        .find_map(|content| match content {
            Content::Text(text) => Some(text.clone()),
            _ => None,
        })
        .unwrap_or_default()
}

fn shown(
    tool: &ActiveTool,
    arguments: Map<String, Value>,
    settings: &Settings,
) -> Result<DryRun, DryRunError> {
    if tool.plan.local.is_some() {
        return Err(DryRunError::Local);
    }
    if tool.plan.root.origin.is_empty() {
        return Err(DryRunError::NoRoot);
    }
    let arguments = bind(tool, arguments, settings).map_err(DryRunError::Arguments)?;
    let rendered = render(tool, &arguments, ServerValues::Shown)
        .map_err(|error| DryRunError::Arguments(vec![error.to_string()]))?;
    Ok(DryRun { notes: arguments.notes, ..DryRun::from(rendered) })
}

impl From<Rendered> for DryRun {
    fn from(rendered: Rendered) -> Self {
        DryRun {
            method: rendered.method.as_str(),
            url: rendered.url,
            headers: rendered.headers,
            body: rendered.body,
            notes: Vec::new(),
        }
    }
}
