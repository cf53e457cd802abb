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
        indices.iter().filter_map(|index| self.entries.get(*index)).map(|entry| match entry {
            Entry::Tool(tool) => tool,
        })
    }

    /// A tool by its public name, hidden or not.
    pub fn tool(&self, name: &str) -> Option<&Arc<ActiveTool>> {
        self.by_name.get(name).and_then(|index| self.entries.get(*index)).map(|entry| match entry {
            Entry::Tool(tool) => tool,
        })
    }
}
