//! `call`: one tool, as a client would call it, or its request without sending it.

use std::io::Read;

use anyhow::{Context, Result, bail};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use flowmcp_engine::{ActiveTool, Caller, Content, DEFAULT_VIEW, DryRun, Output, ResourceBody, dry_run_with};
use serde_json::{Map, Value, json, value::RawValue};

use super::{Environment, NOT_IN_ORDER, Session, print, report_loading, session};
use crate::{
    cli::{CallArgs, SourceFlags},
    load::{Keep, RefusedTool},
    logging,
};

/// Most bytes of arguments on stdin.
const MAX_ARGUMENTS: u64 = 4 << 20;

pub(super) fn run(flags: &SourceFlags, args: &CallArgs, environment: &Environment) -> Result<u8> {
    let arguments = arguments(args.arguments.as_deref())?;
    let mut session = session(flags, Vec::new(), environment, Keep::ToolsOnly)?;
    report_loading(&session.catalogue);
    let refused = session.catalogue.refused.iter().find(|tool| names(tool).contains(&args.name));
    let refused = refused.map(|tool| format!("{} is refused: {}", args.name, tool.reason));
    let snapshot = session.catalogue.snapshot();
    let Some(tool) = snapshot.find(&args.name).cloned() else {
        if let Some(reason) = refused {
            logging::say(&format!("error: {reason}"));
            return Ok(NOT_IN_ORDER);
        }
        let nearest = snapshot.nearest(DEFAULT_VIEW, &args.name);
        let nearest = nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
        bail!("there is no tool {:?}{nearest} (flowmcp-server list --all shows all)", args.name);
    };
    if args.dry_run {
        return show_request(&session, &tool, arguments, args.json);
    }
    if let Some(hidden) = &tool.hidden {
        logging::say(&format!("error: {} is hidden: {hidden}", tool.name));
        return Ok(NOT_IN_ORDER);
    }
    let (_, engine) = session.engine()?;
    engine.replace(snapshot);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let output = runtime.block_on(engine.call(DEFAULT_VIEW, &tool.name, arguments, &Caller::default()))?;
    show_output(&output, args.json)
}

/// The names under which the snapshot would find the tool if it were served.
fn names(tool: &RefusedTool) -> [String; 5] {
    let RefusedTool { namespace, schema, key, .. } = tool;
    [
        format!("{namespace}__{key}"),
        format!("{namespace}/{key}"),
        format!("{namespace}/tool/{key}"),
        format!("{namespace}/{schema}::{key}"),
        format!("{key}_{namespace}"),
    ]
}

fn arguments(text: Option<&str>) -> Result<Map<String, Value>> {
    let text = match text {
        None => return Ok(Map::new()),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .lock()
                .take(MAX_ARGUMENTS + 1)
                .read_to_string(&mut text)
                .context("cannot read stdin")?;
            if text.len() as u64 > MAX_ARGUMENTS {
                bail!("the arguments on stdin have more than {MAX_ARGUMENTS} bytes");
            }
            text
        }
        Some(text) => text.to_owned(),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => bail!("the arguments must be a JSON object, such as '{{\"id\":\"bitcoin\"}}'"),
        Err(error) => bail!("the arguments are not JSON: {error}"),
    }
}

fn show_request(
    session: &Session,
    tool: &ActiveTool,
    arguments: Map<String, Value>,
    as_json: bool,
) -> Result<u8> {
    if executes(tool) {
        let text = json!({ "tool": &*tool.name, "executes": true });
        print(&format!("{text}\n"))?;
        return Ok(0);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let pool = session.pool()?;
    let settings = session.config.engine_settings();
    match runtime.block_on(dry_run_with(tool, arguments, &settings, &pool)) {
        Ok(request) if as_json => print(&format!("{}\n", request_json(tool, &request)))?,
        Ok(request) => {
            let mut text = format!("{} {}\n", request.method, request.url);
            for (name, value) in &request.headers {
                text.push_str(&format!("{name}: {value}\n"));
            }
            if let Some(body) = &request.body {
                text.push_str(&format!("\n{body}\n"));
            }
            print(&text)?;
            for note in &request.notes {
                logging::say(&format!("note: {note}"));
            }
        }
        Err(error) => {
            logging::say(&format!("error: {}: {error}", tool.name));
            return Ok(NOT_IN_ORDER);
        }
    }
    Ok(0)
}

/// Whether its handler surely makes the request, so that there is none to show.
pub(super) fn executes(tool: &ActiveTool) -> bool {
    tool.hooks().has("executeRequest")
}

/// The object that `--dry-run --json` prints.
pub(super) fn request_json(tool: &ActiveTool, request: &DryRun) -> Value {
    let headers: Map<String, Value> =
        request.headers.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    let mut row = json!({
        "tool": &*tool.name,
        "method": request.method,
        "url": request.url,
        "headers": headers,
        "body": request.body,
    });
    if let (Value::Object(row), false) = (&mut row, request.notes.is_empty()) {
        row.insert("notes".to_owned(), request.notes.iter().map(String::as_str).collect());
    }
    row
}

/// Without `--json` the content, notes on stderr; with it the `{status, messages, data}` envelope.
fn show_output(output: &Output, as_json: bool) -> Result<u8> {
    let code = if output.is_error { NOT_IN_ORDER } else { 0 };
    if as_json {
        print(&envelope(output)?)?;
        return Ok(code);
    }
    for note in &output.notes {
        logging::say(&format!("note: {note}"));
    }
    for content in &output.content {
        let text = match content {
            Content::Text(text) => text.clone(),
            Content::Image { data, mime_type } | Content::Audio { data, mime_type } => {
                format!("[{mime_type}, {} bytes; use --json for the data]", data.len())
            }
            Content::Resource { body: ResourceBody::Text(text), .. } => text.clone(),
            Content::Resource { body: ResourceBody::Blob(data), mime_type, .. } => {
                let mime_type = mime_type.as_deref().unwrap_or("application/octet-stream");
                format!("[{mime_type}, {} bytes; use --json for the data]", data.len())
            }
            Content::Link { uri, name, .. } => format!("[{name}]({uri})"),
        };
        if output.is_error { logging::say(&text) } else { print(&format!("{text}\n"))? }
    }
    Ok(code)
}

/// The envelope as text, since the upstream's JSON goes into it as it is, digits and all.
fn envelope(output: &Output) -> Result<String> {
    let data = match output.content.as_slice() {
        _ if output.is_error => "null".to_owned(),
        [Content::Text(text)] if serde_json::from_str::<&RawValue>(text).is_ok() => text.clone(),
        [content] => content_json(content).to_string(),
        contents => Value::Array(contents.iter().map(content_json).collect()).to_string(),
    };
    let mut messages: Vec<&str> = Vec::new();
    if output.is_error {
        messages.extend(output.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        }));
    }
    messages.extend(output.notes.iter().map(String::as_str));
    let messages = serde_json::to_string(&messages)?;
    Ok(format!("{{\"status\":{},\"messages\":{messages},\"data\":{data}}}\n", !output.is_error))
}

fn content_json(content: &Content) -> Value {
    let blob = |data: &[u8], mime_type: &str| json!({ "base64": BASE64_STANDARD.encode(data), "mimeType": mime_type });
    match content {
        Content::Text(text) => Value::String(text.clone()),
        Content::Image { data, mime_type } | Content::Audio { data, mime_type } => blob(data, mime_type),
        Content::Resource { uri, mime_type, body } => match body {
            ResourceBody::Text(text) => json!({ "uri": uri, "mimeType": mime_type, "text": text }),
            ResourceBody::Blob(data) => {
                blob(data, mime_type.as_deref().unwrap_or("application/octet-stream"))
            }
        },
        Content::Link { uri, name, mime_type } => json!({ "uri": uri, "name": name, "mimeType": mime_type }),
    }
}
