//! A view's tools as MCP describes them, converted once per snapshot, and the pages of `tools/list`.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use flowmcp_engine::{ActiveTool, Engine, Snapshot};
use flowmcp_plugin::Method;
use rmcp::model::{ListToolsResult, MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, json};

/// Tools on one page. Many clients take a few hundred tools at most, so nearly all get everything at once.
const PAGE: usize = 1000;

/// The tools of one view, kept until the engine has another snapshot.
#[derive(Default)]
pub(crate) struct ToolPages {
    current: ArcSwapOption<Catalogue>,
}

struct Catalogue {
    snapshot: Arc<Snapshot>,
    /// Hash of the names in order. It depends on nothing but the catalogue, so replicas understand each other's cursors.
    revision: u64,
    tools: Vec<Tool>,
}

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

impl ToolPages {
    /// One page of the view's tools; `cursor` is the `nextCursor` of the page before.
    ///
    /// # Errors
    /// [`CursorError`] when the cursor cannot be followed.
    pub(crate) fn page(
        &self,
        engine: &Engine,
        view: &str,
        cursor: Option<&str>,
    ) -> Result<ListToolsResult, CursorError> {
        let catalogue = self.catalogue(engine.snapshot(), view);
        let start = match cursor {
            None => 0,
            Some(cursor) => catalogue.start(cursor)?,
        };
        let end = catalogue.tools.len().min(start + PAGE);
        let mut result =
            ListToolsResult::with_all_items(catalogue.tools.get(start..end).unwrap_or_default().to_vec());
        if end < catalogue.tools.len() {
            result.next_cursor = Some(format!("{:016x}.{end}", catalogue.revision));
        }
        Ok(result)
    }

    fn catalogue(&self, snapshot: Arc<Snapshot>, view: &str) -> Arc<Catalogue> {
        if let Some(current) = self.current.load_full()
            && Arc::ptr_eq(&current.snapshot, &snapshot)
        {
            return current;
        }
        let tools: Vec<Tool> = snapshot.tools(view).map(|tool| describe(tool)).collect();
        let catalogue = Arc::new(Catalogue { revision: revision(&tools), tools, snapshot });
        self.current.store(Some(Arc::clone(&catalogue)));
        catalogue
    }
}

impl Catalogue {
    fn start(&self, cursor: &str) -> Result<usize, CursorError> {
        let unknown = || CursorError::Unknown(cursor.chars().take(64).collect());
        let (revision, start) = cursor.split_once('.').ok_or_else(unknown)?;
        let revision = u64::from_str_radix(revision, 16).map_err(|_| unknown())?;
        let start: usize = start.parse().map_err(|_| unknown())?;
        if revision != self.revision {
            return Err(CursorError::Outdated);
        }
        if start > self.tools.len() { Err(unknown()) } else { Ok(start) }
    }
}

/// FNV-1a over the names: same catalogue, same number, in every process and release.
fn revision(tools: &[Tool]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for tool in tools {
        for byte in tool.name.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// The MCP description of a tool.
pub(crate) fn describe(tool: &ActiveTool) -> Tool {
    let mut facts = Map::from_iter([("id".to_owned(), json!(tool.id()))]);
    if !tool.tags.is_empty() {
        facts.insert("tags".to_owned(), json!(tool.tags));
    }
    let mut described =
        Tool::new(tool.name.to_string(), tool.description.to_string(), Arc::clone(&tool.input_schema))
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
