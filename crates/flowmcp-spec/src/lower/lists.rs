//! `main.sharedLists`, and the lists themselves.

use std::collections::HashSet;

use crate::{
    Code, Diagnostic, Document, Node, Value,
    schema::{ListFilter, ListReference, ListTest},
};

/// A shared list: named values that several schemas use.
#[derive(Debug, Clone)]
pub struct List {
    /// `meta.name`
    pub name: Box<str>,
    /// `meta.version`
    pub version: Option<Box<str>>,
    /// Lists that it builds on.
    pub depends_on: Vec<Box<str>>,
    /// `entries`: an array of objects or scalars, or a plain object.
    pub entries: Node,
}

/// Why the values of a list cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListFault {
    /// Entries are objects, so a field must be named.
    #[error("entries are objects: name one of their fields ({})", .fields.join(", "))]
    NeedsField {
        /// Fields of the first entry.
        fields: Vec<String>,
    },
    /// No entry has the field.
    #[error("no entry has the field {field:?}; there are {}", .fields.join(", "))]
    UnknownField {
        /// Field asked for.
        field: String,
        /// Fields of the first entry.
        fields: Vec<String>,
    },
    /// The filter leaves nothing.
    #[error("the filter leaves no entry")]
    Empty,
}

/// A list without a name or entries.
const LIST_SHAPE: Code = Code("LST002");

/// Takes the list out of a list document.
///
/// # Errors
/// A finding when it has no name or no entries.
pub fn lower_list(document: &Document) -> Result<List, Box<Diagnostic>> {
    let meta = document.root.get("meta");
    let name = meta.and_then(|meta| meta.get("name")).and_then(Node::as_str);
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        let fault = Diagnostic::error(LIST_SHAPE, "list.meta.name", "is required and must be a string");
        return Err(Box::new(fault.at(document.root.span)));
    };
    let Some(entries) =
        document.root.get("entries").filter(|entries| entries.is_array() || entries.is_object())
    else {
        let fault = Diagnostic::error(
            Code("LST006"),
            "list.entries",
            "is required and must be an array or an object",
        );
        return Err(Box::new(fault.at(document.root.span)));
    };
    let depends_on = meta.and_then(|meta| meta.get("dependsOn")).map(Node::items).unwrap_or_default();
    Ok(List {
        name: name.into(),
        version: meta.and_then(|meta| meta.get("version")).and_then(Node::as_str).map(Into::into),
        depends_on: depends_on
            .iter()
            .filter_map(|entry| {
                entry.as_str().or_else(|| entry.get("ref").or_else(|| entry.get("name"))?.as_str())
            })
            .map(Into::into)
            .collect(),
        entries: entries.clone(),
    })
}

impl List {
    /// The values of a field, in order and without repetition; without a field, the keys of an object or the scalars
    /// of an array.
    ///
    /// # Errors
    /// [`ListFault`] when there is no such field or nothing is left.
    pub fn values(
        &self,
        field: Option<&str>,
        filter: Option<&ListFilter>,
    ) -> Result<Vec<Box<str>>, ListFault> {
        let kept = |node: &Node| filter.is_none_or(|filter| filter.keeps(node));
        let mut values: Vec<Box<str>> = Vec::new();
        let mut seen: HashSet<Box<str>> = HashSet::new();
        let mut add = |text: Box<str>| {
            if seen.insert(text.clone()) {
                values.push(text);
            }
        };
        match (&self.entries.value, field) {
            (Value::Object(entries), None) => {
                entries.iter().filter(|entry| kept(&entry.node)).for_each(|entry| add(entry.key.clone()));
            }
            (Value::Object(entries), Some(field)) => {
                let nodes = entries.iter().map(|entry| &entry.node).filter(|node| kept(node));
                nodes.filter_map(|node| node.get(field)).filter_map(scalar).for_each(&mut add);
            }
            (_, Some(field)) => {
                let nodes = self.entries.items().iter().filter(|node| kept(node));
                nodes.filter_map(|node| node.get(field)).filter_map(scalar).for_each(&mut add);
            }
            (_, None) => {
                if self.entries.items().iter().any(Node::is_object) {
                    return Err(ListFault::NeedsField { fields: self.fields() });
                }
                self.entries.items().iter().filter_map(scalar).for_each(&mut add);
            }
        }
        match (values.is_empty(), field) {
            (false, _) => Ok(values),
            (true, Some(field)) if !self.has_field(field) => {
                Err(ListFault::UnknownField { field: field.to_owned(), fields: self.fields() })
            }
            (true, _) => Err(ListFault::Empty),
        }
    }

    /// The entries that a filter keeps, as JSON.
    pub fn to_json(&self, filter: Option<&ListFilter>) -> String {
        let Some(filter) = filter else { return self.entries.to_json() };
        let mut entries = self.entries.clone();
        match &mut entries.value {
            Value::Array(items) => items.retain(|item| filter.keeps(item)),
            Value::Object(members) => members.retain(|member| filter.keeps(&member.node)),
            _ => {}
        }
        entries.to_json()
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.entries.items().iter().chain(self.entries.entries().iter().map(|entry| &entry.node))
    }

    fn has_field(&self, field: &str) -> bool {
        self.nodes().any(|node| node.get(field).is_some())
    }

    fn fields(&self) -> Vec<String> {
        self.nodes()
            .next()
            .map(Node::entries)
            .unwrap_or_default()
            .iter()
            .map(|entry| entry.key.to_string())
            .collect()
    }
}

impl ListFilter {
    /// Whether an entry passes.
    pub fn keeps(&self, entry: &Node) -> bool {
        let found = entry.get(&self.key);
        match &self.test {
            ListTest::Exists(wanted) => found.is_some_and(|node| node.value != Value::Null) == *wanted,
            ListTest::Equals(value) => found.is_some_and(|node| node.to_value() == *value),
            ListTest::In(values) => found.is_some_and(|node| values.contains(&node.to_value())),
        }
    }
}

fn scalar(node: &Node) -> Option<Box<str>> {
    match &node.value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(node.to_json().into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The references of a schema in all their forms; what has no name is reported by the rules.
pub(super) fn references(main: &Node) -> Vec<ListReference> {
    let nodes = main.get("sharedLists").map(Node::items).unwrap_or_default();
    nodes.iter().filter_map(reference).collect()
}

fn reference(node: &Node) -> Option<ListReference> {
    let name = node.as_str().or_else(|| node.get("ref").or_else(|| node.get("name"))?.as_str())?;
    Some(ListReference {
        name: name.into(),
        version: node.get("version").and_then(Node::as_str).map(Into::into),
        filter: node.get("filter").and_then(filter),
        span: node.span,
    })
}

fn filter(node: &Node) -> Option<ListFilter> {
    let key = node.get("key").or_else(|| node.get("field"))?.as_str()?.into();
    let test = match (node.get("exists"), node.get("value"), node.get("in")) {
        (Some(Node { value: Value::Bool(wanted), .. }), _, _) => ListTest::Exists(*wanted),
        (_, Some(value), _) => ListTest::Equals(value.to_value()),
        (_, _, Some(values)) => ListTest::In(values.items().iter().map(Node::to_value).collect()),
        _ => return None,
    };
    Some(ListFilter { key, test })
}
