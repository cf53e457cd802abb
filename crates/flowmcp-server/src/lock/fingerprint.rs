//! The hashes of the files of a pack as they are now.

use std::{collections::BTreeMap, path::Path};

use flowmcp_spec::{
    Document, DocumentKind, Node, Read, Schema, SourceFile, agent_hash, hash, lower, lower_list, sha256,
    tool_hash,
};

use super::{Lock, LockedFile, LockedList};
use crate::documents::{PackDocuments, read_documents};

/// The lock of a pack as it is now, and what could not be taken into it.
///
/// # Errors
/// When the pack's path cannot be read.
pub fn of_pack(pack: &Path, file_bytes: usize) -> std::io::Result<(Lock, Vec<String>)> {
    let PackDocuments { files, lists, mut faults } = read_documents(pack, file_bytes)?;
    let mut lock = Lock::default();
    let mut ids = BTreeMap::new();
    for (source, read) in &lists {
        match read.document.as_ref().and_then(|document| lower_list(document).ok()) {
            Some(list) => {
                let locked = list_fingerprint(&list);
                lock.lists.entry(list.name.to_string()).or_insert(locked);
            }
            None => faults.push(format!("{}: is no list that can be read", source.path)),
        }
    }
    for (source, read) in &files {
        let Some(document) = complete(read) else {
            faults.push(format!("{}: cannot be read whole; `validate` says why", source.path));
            continue;
        };
        let schema = lower(source, document).schema;
        let locked = file_fingerprint(source, document, schema.as_ref());
        if let Some(schema) = &schema {
            let tools = locked.tools.iter();
            ids.extend(tools.map(|(name, hash)| (format!("{}/tool/{name}", schema.namespace), hash.clone())));
        }
        lock.files.insert(source.path.to_string(), locked);
    }
    for (source, read) in &files {
        let agent = read.document.as_ref().filter(|document| document.kind == DocumentKind::Agent);
        let Some(locked) = lock.files.get_mut(&*source.path) else { continue };
        locked.agent = agent.and_then(|document| hash_of_agent(&document.root, &ids));
    }
    Ok((lock, faults))
}

fn complete(read: &Read) -> Option<&Document> {
    read.document.as_ref().filter(|_| read.diagnostics.is_empty())
}

/// The hashes of one file. Line ends do not count.
pub(super) fn file_fingerprint(
    source: &SourceFile,
    document: &Document,
    schema: Option<&Schema>,
) -> LockedFile {
    let tools = schema.into_iter().flat_map(|schema| {
        schema.tools.iter().filter_map(|tool| {
            let hash = tool_hash(&document.root, schema, tool)?;
            Some((tool.name.to_string(), hash))
        })
    });
    LockedFile {
        hash: hash(&document.root),
        code: document.code.handlers.is_some().then(|| code_hash(source, &document.root)),
        content: document.content.as_ref().map(hash),
        tools: tools.collect(),
        agent: None,
    }
}

/// The hash of one list.
pub(super) fn list_fingerprint(list: &flowmcp_spec::List) -> LockedList {
    LockedList { version: list.version.as_deref().map(str::to_owned), hash: hash(&list.entries) }
}

/// Names of the lists that a schema declares or takes values from, or that its code may read.
pub(super) fn lists_of<'l>(
    schema: &Schema,
    text: &str,
    known: impl IntoIterator<Item = &'l str>,
) -> Vec<&'l str> {
    let in_code = schema.tools.iter().any(|tool| tool.hooks.any()) && text.contains("sharedLists");
    let named = |name: &str| {
        schema.lists.iter().any(|reference| &*reference.name == name)
            || (in_code && text.contains(name))
            || schema.tools.iter().any(|tool| tool.takes_values_from(name))
    };
    known.into_iter().filter(|name| named(name)).collect()
}

/// Over the text around the data, since all of it is given to the sandbox.
fn code_hash(source: &SourceFile, root: &Node) -> String {
    let before = source.text.get(..root.span.start as usize).unwrap_or_default();
    let after = source.text.get(root.span.end as usize..).unwrap_or_default();
    sha256(format!("{before}{after}").replace("\r\n", "\n").as_bytes())
}

/// `None` when a tool of the agent is not in this pack.
fn hash_of_agent(agent: &Node, ids: &BTreeMap<String, String>) -> Option<String> {
    let tools = agent.get("tools")?;
    let listed = tools.items().iter().filter_map(Node::as_str);
    let keys = tools.entries().iter().filter(|entry| entry.node.value == flowmcp_spec::Value::Null);
    let mut rows = Vec::new();
    for id in listed.chain(keys.map(|entry| &*entry.key)) {
        rows.push((id, ids.get(id)?.as_str()));
    }
    Some(agent_hash(&rows))
}
