//! The graph of units, and which tools reach each of them.

use std::borrow::Cow;

use super::{CodeUse, Reach};
use crate::Span;

/// A piece of the file's code: a declaration or a tool's entry.
pub(super) type Unit = u32;

/// What runs when the file is loaded or the factory is called.
pub(super) const FILE: Unit = 0;

/// Most steps and results that telling tools apart may cost; ordinary files need some hundreds. Past it, every use counts
/// for the whole file.
const MAX_STEPS: usize = 4_000_000;

/// A use before its reach is known.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) span: Span,
    pub(super) unit: Unit,
}

pub(super) struct Graph {
    /// Edges of unit `u` are `targets[starts[u]..starts[u + 1]]`.
    starts: Vec<usize>,
    targets: Vec<Unit>,
    /// Units that run at load.
    in_file: Vec<bool>,
    /// Tools that reach each unit, by index.
    tools: Vec<Vec<usize>>,
    undecided: bool,
}

impl Graph {
    pub(super) fn new(edges: &[(Unit, Unit)], units: Unit) -> Self {
        let mut sorted = edges.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let count = units as usize;
        let mut starts = vec![0; count + 1];
        for (from, _) in &sorted {
            if let Some(next) = starts.get_mut(*from as usize + 1) {
                *next += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Graph {
            starts,
            targets: sorted.into_iter().map(|(_, to)| to).collect(),
            in_file: vec![false; count],
            tools: vec![Vec::new(); count],
            undecided: false,
        }
    }

    /// Finds what the load and each of the `tools` reaches. `entries` are the units of the tools, by index; with no
    /// `tools` they cannot be told apart and count for the file.
    pub(super) fn close(&mut self, entries: impl Iterator<Item = (Unit, usize)>, tools: usize, uses: usize) {
        if uses == 0 {
            return;
        }
        let size = self.targets.len() + self.in_file.len();
        self.undecided = tools.saturating_mul(size.max(uses)) > MAX_STEPS;
        let mut from_file = vec![FILE];
        let mut from_tool = vec![Vec::new(); if self.undecided { 0 } else { tools }];
        for (unit, tool) in entries {
            from_tool.get_mut(tool).unwrap_or(&mut from_file).push(unit);
        }
        let mut seen = vec![0; self.in_file.len()];
        for unit in self.reached(from_file, 1, &mut seen) {
            if let Some(flag) = self.in_file.get_mut(unit as usize) {
                *flag = true;
            }
        }
        for (tool, from) in from_tool.into_iter().enumerate() {
            for unit in self.reached(from, tool + 2, &mut seen) {
                if let Some(list) = self.tools.get_mut(unit as usize) {
                    list.push(tool);
                }
            }
        }
    }

    /// Units reached from `from`; each is marked with `stamp` once.
    fn reached(&self, from: Vec<Unit>, stamp: usize, seen: &mut [usize]) -> Vec<Unit> {
        let mut open = from;
        let mut reached = Vec::new();
        while let Some(unit) = open.pop() {
            let at = unit as usize;
            match seen.get_mut(at) {
                Some(mark) if *mark != stamp => *mark = stamp,
                _ => continue,
            }
            reached.push(unit);
            if let (Some(start), Some(end)) = (self.starts.get(at), self.starts.get(at + 1)) {
                open.extend(self.targets.get(*start..*end).unwrap_or_default());
            }
        }
        reached
    }

    fn reach(&self, unit: Unit, names: &[&str]) -> Reach {
        let at = unit as usize;
        if self.undecided || self.in_file.get(at).copied().unwrap_or(true) {
            return Reach::File;
        }
        let tools = self.tools.get(at).map(Vec::as_slice).unwrap_or_default();
        Reach::Tools(tools.iter().filter_map(|tool| names.get(*tool)).map(|name| (*name).into()).collect())
    }

    /// The uses in the order of the text.
    pub(super) fn uses(&self, mut found: Vec<Found<'_>>, names: &[&str]) -> Vec<CodeUse> {
        found.sort_by_key(|found| found.span);
        let finish = |found: Found<'_>| CodeUse {
            reach: self.reach(found.unit, names),
            name: found.name.into(),
            span: found.span,
        };
        found.into_iter().map(finish).collect()
    }
}
