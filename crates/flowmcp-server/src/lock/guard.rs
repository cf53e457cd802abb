//! What the lock of a pack says of each file that is about to be served.

use std::{collections::BTreeSet, path::Path};

use flowmcp_engine::Lists;
use flowmcp_spec::{Read, SourceFile, lower};

use super::{Lock, file, fingerprint};
use crate::config::Integrity;

/// A pack's lock while the pack is loaded.
#[derive(Debug)]
pub struct Guard {
    lock: Lock,
    /// Why there is no lock to compare with.
    fault: Option<String>,
    hides: bool,
    /// Lists that are not as they were locked.
    lists: BTreeSet<String>,
}

impl Guard {
    /// The guard that a pack's `integrity` asks for.
    pub fn of(pack: &Path, integrity: Integrity, lists: &Lists) -> Option<Guard> {
        let hides = match integrity {
            Integrity::Off => return None,
            Integrity::Warn => false,
            Integrity::Locked => true,
        };
        let (lock, fault) = match Lock::read(&file::path(pack)) {
            Ok(lock) => (lock, None),
            Err(error) => (Lock::default(), Some(error.to_string())),
        };
        let differs = |list: &flowmcp_spec::List| {
            lock.lists.get(&*list.name) != Some(&fingerprint::list_fingerprint(list))
        };
        let lists = lists.all().into_iter().filter(|list| differs(list)).map(|list| list.name.to_string());
        let lists = lists.collect();
        Some(Guard { lock, fault, hides, lists })
    }

    /// Whether there is a lock to compare with.
    pub fn is_locked(&self) -> bool {
        self.fault.is_none()
    }

    /// Whether a difference hides the tools of its file.
    pub fn hides(&self) -> bool {
        self.hides
    }

    /// What is said once about the pack: why it has no lock, and which files are gone.
    pub fn notes(&self, files: &[String]) -> Vec<String> {
        let gone = self.lock.files.keys().filter(|path| !files.contains(path));
        let gone = gone.map(|path| format!("{path}: is in the lock and no more in the pack"));
        self.fault.iter().cloned().chain(gone).collect()
    }

    /// Why a file is not what was locked; `None` when it is, or when it cannot be served in any case.
    pub fn objection(&self, source: &SourceFile, read: &Read) -> Option<String> {
        let document = read.document.as_ref()?;
        if let Some(fault) = &self.fault {
            return Some(fault.clone());
        }
        let Some(locked) = self.lock.files.get(&*source.path) else {
            return Some("is not in the lock file".to_owned());
        };
        let schema = lower(source, document).schema;
        let mut now = fingerprint::file_fingerprint(source, document, schema.as_ref());
        // An agent is judged by its tools, each of which is looked at by itself.
        now.agent.clone_from(&locked.agent);
        let mut parts = locked.changed(&now);
        if let Some(schema) = &schema {
            let used = fingerprint::lists_of(schema, &source.text, self.lists.iter().map(String::as_str));
            parts.extend(used.iter().map(|name| format!("the shared list {name}")));
        }
        (!parts.is_empty()).then(|| format!("has changed since it was locked: {}", parts.join(", ")))
    }
}
