//! The catalogue: an immutable [`Snapshot`] of everything that is active, and the views that select from it.

use std::{collections::HashMap, sync::Arc};

use crate::ActiveTool;

/// Everything that is active at one moment. A reload builds a new one beside it.
#[derive(Debug, Default)]
pub struct Snapshot {
    entries: Vec<Entry>,
    by_name: HashMap<Arc<str>, usize>,
    views: HashMap<Arc<str>, View>,
}

/// One entry of the catalogue.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Entry {
    /// An endpoint as a tool.
    Tool(Arc<ActiveTool>),
}

/// A named selection of entries, in the order in which clients see them.
#[derive(Debug, Clone, Default)]
pub struct View {
    entries: Vec<usize>,
}

/// Name of the view that shows every entry that is not hidden.
pub const DEFAULT_VIEW: &str = "default";

impl Snapshot {
    /// A snapshot with the default view. Names are unique already ([`crate::names`]); of two equal ones the first stays.
    pub fn new(entries: Vec<Entry>) -> Self {
        let mut by_name = HashMap::with_capacity(entries.len());
        let mut visible = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let Entry::Tool(tool) = entry;
            by_name.entry(Arc::clone(&tool.name)).or_insert(index);
            if tool.hidden.is_none() {
                visible.push(index);
            }
        }
        let views = HashMap::from([(Arc::from(DEFAULT_VIEW), View { entries: visible })]);
        Snapshot { entries, by_name, views }
    }

    /// All entries, hidden ones included, in catalogue order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The tools of a view in order; none when there is no such view.
    pub fn tools(&self, view: &str) -> impl Iterator<Item = &Arc<ActiveTool>> {
        let indices = self.views.get(view).map(|view| view.entries.as_slice()).unwrap_or_default();
        indices.iter().filter_map(|index| self.entry_tool(*index))
    }

    /// A tool by its public name, hidden or not.
    pub fn tool(&self, name: &str) -> Option<&Arc<ActiveTool>> {
        self.by_name.get(name).and_then(|index| self.entry_tool(*index))
    }

    /// A tool of a view by its public name.
    pub fn visible(&self, view: &str, name: &str) -> Option<&Arc<ActiveTool>> {
        let index = self.by_name.get(name)?;
        let view = self.views.get(view)?;
        view.entries.binary_search(index).ok()?;
        self.entry_tool(*index)
    }

    fn entry_tool(&self, index: usize) -> Option<&Arc<ActiveTool>> {
        self.entries.get(index).map(|entry| match entry {
            Entry::Tool(tool) => tool,
        })
    }

    /// A tool by any of the names that people use: the public name, `ns/tool`, `ns/tool/name`, `ns/Schema::tool`,
    /// `tool_ns`. With several of one name the first in catalogue order is meant.
    pub fn find(&self, name: &str) -> Option<&Arc<ActiveTool>> {
        let matches = |tool: &ActiveTool| {
            let (namespace, key) = (&*tool.namespace, &*tool.key);
            let in_namespace = name.strip_prefix(namespace).and_then(|rest| rest.strip_prefix('/'));
            let by_path = in_namespace.is_some_and(|rest| {
                rest == key
                    || rest.strip_prefix("tool/") == Some(key)
                    || rest
                        .split_once("::")
                        .is_some_and(|(schema, tool_key)| schema == &*tool.schema && tool_key == key)
            });
            by_path || name.strip_suffix(namespace).and_then(|rest| rest.strip_suffix('_')) == Some(key)
        };
        let tools = self.entries.iter().map(|entry| match entry {
            Entry::Tool(tool) => tool,
        });
        self.tool(name).or_else(|| tools.into_iter().find(|tool| matches(tool)))
    }

    /// The visible name that is closest to a wrong one, if any is close.
    pub fn nearest(&self, view: &str, name: &str) -> Option<String> {
        const CLOSE: f64 = 0.7;
        // Comparing takes time with the square of the length, and no name is longer than 64.
        let name: String = name.chars().take(128).collect();
        self.tools(view)
            .map(|tool| (strsim::normalized_damerau_levenshtein(&name, &tool.name), &tool.name))
            .filter(|(likeness, _)| *likeness >= CLOSE)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, name)| name.to_string())
    }
}
