//! What a schema says of itself, read without any checks.

use flowmcp_spec::{Document, DocumentKind, Entry, Node, schema::Test, tests_of};

/// What a schema says of itself, read without any checks: for naming what is refused.
pub(super) struct Outline {
    pub(super) namespace: String,
    pub(super) schema: String,
}

impl Outline {
    pub(super) fn of(document: Option<&Document>) -> Self {
        let text = |key| {
            document.and_then(|document| document.root.get(key)?.as_str()).unwrap_or_default().to_owned()
        };
        Outline { namespace: text("namespace"), schema: text("name") }
    }

    fn tools(document: Option<&Document>) -> &[Entry] {
        let main =
            document.filter(|document| document.kind == DocumentKind::Schema).map(|document| &document.root);
        main.and_then(|main| main.get("tools").or_else(|| main.get("routes")))
            .map(Node::entries)
            .unwrap_or_default()
    }

    pub(super) fn descriptions(&self, document: Option<&Document>) -> Vec<(Box<str>, Box<str>)> {
        let description =
            |entry: &Entry| entry.node.get("description").and_then(Node::as_str).unwrap_or_default().into();
        Self::tools(document).iter().map(|entry| (entry.key.clone(), description(entry))).collect()
    }

    pub(super) fn tests(&self, document: Option<&Document>) -> Vec<(Box<str>, Vec<Test>)> {
        Self::tools(document).iter().map(|entry| (entry.key.clone(), tests_of(&entry.node))).collect()
    }
}
