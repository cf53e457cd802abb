//! `list`: what clients see, and with `--all` also what they do not, with the reason.

use anyhow::Result;
use flowmcp_engine::ActiveTool;
use serde_json::{Value, json};

use super::{Environment, print, report_loading, session};
use crate::{
    cli::{ListArgs, SourceFlags},
    load::{Keep, RefusedTool},
    report,
};

pub(super) fn run(flags: &SourceFlags, args: &ListArgs, environment: &Environment) -> Result<u8> {
    let session = session(flags, Vec::new(), environment, Keep::Findings)?;
    report_loading(&session.catalogue);
    let catalogue = &session.catalogue;
    let tools = catalogue.tools.iter().filter(|tool| args.all || tool.hidden.is_none());
    let refused = catalogue.refused.iter().filter(|_| args.all);
    if args.json {
        let (errors, warnings) = catalogue.findings();
        let tools: Vec<Value> = tools.map(row).chain(refused.map(refused_row)).collect();
        let list = json!({
            "tools": tools,
            "resources": [],
            "prompts": [],
            "findings": { "errors": errors, "warnings": warnings },
        });
        print(&format!("{list}\n"))?;
        return Ok(0);
    }
    let mut lines = Vec::new();
    for tool in tools {
        let reason = tool.hidden.as_ref().map(|hidden| format!("  [hidden: {hidden}]")).unwrap_or_default();
        lines.push(format!("{}  {}{reason}", tool.name, first_line(&tool.description)));
    }
    for tool in refused {
        lines.push(format!("{}  {}  [refused: {}]", name(tool), first_line(&tool.description), tool.reason));
    }
    let text: String = lines.iter().map(|line| report::inert(line) + "\n").collect();
    print(&text)?;
    Ok(0)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn name(tool: &RefusedTool) -> String {
    format!("{}__{}", tool.namespace, tool.key)
}

fn row(tool: &ActiveTool) -> Value {
    json!({
        "name": &*tool.name,
        "title": tool.title,
        "description": tool.description,
        "namespace": &*tool.namespace,
        "schema": &*tool.schema,
        "file": &*tool.file,
        "hidden": tool.hidden.as_ref().map(ToString::to_string),
        "inputSchema": &**tool.input_schema(),
        "tags": &*tool.tags,
        "docs": &*tool.docs,
    })
}

/// A refused tool has no input schema, since what it would take is not known.
fn refused_row(tool: &RefusedTool) -> Value {
    json!({
        "name": name(tool),
        "title": format!("{}: {}", tool.schema, tool.key),
        "description": tool.description,
        "namespace": tool.namespace,
        "schema": tool.schema,
        "file": &*tool.file,
        "hidden": format!("refused: {}", tool.reason),
        "inputSchema": Value::Null,
        "tags": [],
        "docs": [],
    })
}
