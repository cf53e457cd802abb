//! A view's tools as MCP describes them, and the pages of `tools/list`.

use std::sync::Arc;

use flowmcp_engine::{ActiveTool, Engine, Snapshot};
use flowmcp_plugin::Method;
use rmcp::model::{ListToolsResult, MetaObject, RequestId, Tool, ToolAnnotations};
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};

/// Tools on one page. Many clients take a few hundred tools at most, so nearly all get everything at once.
const PAGE: usize = 1000;

/// Bytes of a tool in a list, to begin with.
const TOOL_BYTES: usize = 1 << 10;

/// A cursor that does not belong to the current catalogue.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum CursorError {
    /// Not one of ours.
    #[error("cursor {0:?} is not one that this server gave out")]
    Unknown(String),
    /// The tools changed between two pages.
    #[error("the tools have changed since this cursor was given out: list again from the start")]
    Outdated,
}

/// One page of a view's tools.
struct Page<'s> {
    tools: Vec<&'s Arc<ActiveTool>>,
    next_cursor: Option<String>,
}

impl<'s> Page<'s> {
    /// `cursor` is the `nextCursor` of the page before.
    fn of(snapshot: &'s Snapshot, view: &str, cursor: Option<&str>) -> Result<Self, CursorError> {
        let mut tools: Vec<_> = snapshot.tools(view).collect();
        let revision = revision(&tools);
        let count = tools.len();
        let start = match cursor {
            None => 0,
            Some(cursor) => start(cursor, revision, count)?,
        };
        let end = count.min(start + PAGE);
        tools.truncate(end);
        tools.drain(..start);
        Ok(Page { tools, next_cursor: (end < count).then(|| format!("{revision:016x}.{end}")) })
    }
}

fn start(cursor: &str, revision: u64, count: usize) -> Result<usize, CursorError> {
    let unknown = || CursorError::Unknown(cursor.chars().take(64).collect());
    let (given, start) = cursor.split_once('.').ok_or_else(unknown)?;
    let given = u64::from_str_radix(given, 16).map_err(|_| unknown())?;
    let start: usize = start.parse().map_err(|_| unknown())?;
    if given != revision {
        return Err(CursorError::Outdated);
    }
    if start > count { Err(unknown()) } else { Ok(start) }
}

/// FNV-1a over the names in order: same catalogue, same number, in every process and release, so that replicas
/// understand each other's cursors.
fn revision(tools: &[&Arc<ActiveTool>]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for tool in tools {
        for byte in tool.name.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// One page of the view's tools; `cursor` is the `nextCursor` of the page before.
///
/// # Errors
/// [`CursorError`] when the cursor cannot be followed.
pub(crate) fn page(
    engine: &Engine,
    view: &str,
    cursor: Option<&str>,
) -> Result<ListToolsResult, CursorError> {
    let snapshot = engine.snapshot();
    let page = Page::of(&snapshot, view, cursor)?;
    let mut result =
        ListToolsResult::with_all_items(page.tools.into_iter().map(|tool| describe(tool)).collect());
    result.next_cursor = page.next_cursor;
    Ok(result)
}

/// The whole answer to a `tools/list` as text, for a client of a revision with `initialize`. It holds what [`page`] gives
/// and what rmcp would make of it, without a tree of a thousand tools between.
///
/// # Errors
/// [`CursorError`] when the cursor cannot be followed.
pub(crate) fn page_text(
    engine: &Engine,
    view: &str,
    id: &RequestId,
    cursor: Option<&str>,
) -> Result<Vec<u8>, CursorError> {
    #[derive(Serialize)]
    struct Answer<'t> {
        jsonrpc: &'static str,
        id: &'t RequestId,
        result: Listed<'t>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Listed<'t> {
        #[serde(skip_serializing_if = "Option::is_none")]
        next_cursor: Option<String>,
        tools: Vec<Described<'t>>,
    }
    let snapshot = engine.snapshot();
    let page = Page::of(&snapshot, view, cursor)?;
    let tools: Vec<_> = page.tools.iter().map(|tool| Described::of(tool)).collect();
    let mut text = Vec::with_capacity((tools.len() + 1) * TOOL_BYTES);
    let answer = Answer { jsonrpc: "2.0", id, result: Listed { next_cursor: page.next_cursor, tools } };
    if let Err(error) = serde_json::to_writer(&mut text, &answer) {
        tracing::error!(%error, "the tools could not be serialised");
    }
    Ok(text)
}

/// A tool as [`describe`] describes it, borrowed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Described<'t> {
    name: &'t str,
    #[serde(skip_serializing_if = "str::is_empty")]
    title: &'t str,
    description: &'t str,
    input_schema: &'t RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'t Map<String, Value>>,
    annotations: ToolAnnotations,
    #[serde(rename = "_meta")]
    meta: Meta<'t>,
}

#[derive(Serialize)]
struct Meta<'t> {
    flowmcp: Facts<'t>,
}

#[derive(Serialize)]
struct Facts<'t> {
    id: String,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: &'t [Box<str>],
}

impl<'t> Described<'t> {
    fn of(tool: &'t ActiveTool) -> Self {
        Described {
            name: &tool.name,
            title: &tool.title,
            description: &tool.description,
            input_schema: &tool.input_json,
            output_schema: tool.output_schema.as_deref(),
            annotations: annotations(tool.method),
            meta: Meta { flowmcp: Facts { id: tool.id(), tags: &tool.tags } },
        }
    }
}

/// The MCP description of a tool.
pub(crate) fn describe(tool: &ActiveTool) -> Tool {
    let mut facts = Map::from_iter([("id".to_owned(), json!(tool.id()))]);
    if !tool.tags.is_empty() {
        facts.insert("tags".to_owned(), json!(tool.tags));
    }
    let mut described =
        Tool::new(tool.name.to_string(), tool.description.to_string(), Arc::clone(tool.input_schema()))
            .with_annotations(annotations(tool.method))
            .with_meta(MetaObject(Map::from_iter([("flowmcp".to_owned(), facts.into())])));
    described.title = (!tool.title.is_empty()).then(|| tool.title.clone());
    described.output_schema = tool.output_schema.clone();
    described
}

/// What the method promises (RFC 9110, section 9.2). POST may be a query or an order, so its harm is left open.
fn annotations(method: Method) -> ToolAnnotations {
    let hints = ToolAnnotations::new().open_world(true);
    match method {
        Method::Get => hints.read_only(true).destructive(false).idempotent(true),
        Method::Put | Method::Delete => hints.read_only(false).destructive(true).idempotent(true),
        Method::Post => hints.read_only(false).idempotent(false),
    }
}
