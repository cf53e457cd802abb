//! What differs between a lock and a pack as it is now.

use std::{collections::BTreeMap, fmt};

use super::{Lock, LockedFile, LockedList};

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What it is about: a path, or `list NAME`.
    pub subject: String,
    /// What happened to it.
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// It is not in the lock.
    New,
    /// It is in the lock and no more in the pack.
    Gone,
    /// These parts of it differ.
    Changed(Vec<String>),
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::New => f.write_str("is not in the lock"),
            What::Gone => f.write_str("is in the lock and no more in the pack"),
            What::Changed(parts) => write!(f, "has changed: {}", parts.join(", ")),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.subject, self.what)
    }
}

/// Every difference, by path, lists last.
pub fn changes(locked: &Lock, now: &Lock) -> Vec<Change> {
    let files = pairs(&locked.files, &now.files, |path| path.to_owned(), LockedFile::changed);
    let lists = pairs(&locked.lists, &now.lists, |name| format!("list {name}"), LockedList::changed);
    files.into_iter().chain(lists).collect()
}

fn pairs<T>(
    locked: &BTreeMap<String, T>,
    now: &BTreeMap<String, T>,
    subject: impl Fn(&str) -> String,
    changed: impl Fn(&T, &T) -> Vec<String>,
) -> Vec<Change> {
    let of_now = now.iter().filter_map(|(key, now)| {
        let what = match locked.get(key) {
            None => What::New,
            Some(locked) => {
                Some(changed(locked, now)).filter(|parts| !parts.is_empty()).map(What::Changed)?
            }
        };
        Some(Change { subject: subject(key), what })
    });
    let gone = locked.keys().filter(|key| !now.contains_key(*key));
    let gone = gone.map(|key| Change { subject: subject(key), what: What::Gone });
    let mut all: Vec<Change> = of_now.chain(gone).collect();
    all.sort_by(|a, b| a.subject.cmp(&b.subject));
    all
}

impl LockedFile {
    /// The parts that differ, in words.
    pub fn changed(&self, now: &LockedFile) -> Vec<String> {
        let mut parts = Vec::new();
        for (name, hash) in &now.tools {
            match self.tools.get(name) {
                None => parts.push(format!("the tool {name} is new")),
                Some(locked) if locked != hash => parts.push(format!("the interface of the tool {name}")),
                Some(_) => {}
            }
        }
        let gone = self.tools.keys().filter(|name| !now.tools.contains_key(*name));
        parts.extend(gone.map(|name| format!("the tool {name} is gone")));
        if self.hash != now.hash && parts.is_empty() {
            parts.push("its data".to_owned());
        }
        match (&self.code, &now.code) {
            (None, Some(_)) => parts.push("it has handlers now".to_owned()),
            (Some(_), None) => parts.push("its handlers are gone".to_owned()),
            (Some(locked), Some(now)) if locked != now => parts.push("its handlers".to_owned()),
            _ => {}
        }
        if self.content != now.content {
            parts.push("its text".to_owned());
        }
        if self.agent != now.agent {
            parts.push("the tools of the agent".to_owned());
        }
        parts
    }
}

impl LockedList {
    fn changed(&self, now: &LockedList) -> Vec<String> {
        let mut parts = Vec::new();
        if self.version != now.version {
            let shown = |version: &Option<String>| version.clone().unwrap_or_else(|| "none".to_owned());
            parts.push(format!("its version, {} to {}", shown(&self.version), shown(&now.version)));
        }
        if self.hash != now.hash {
            parts.push("its entries".to_owned());
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(hash: &str, code: Option<&str>, tools: &[(&str, &str)]) -> LockedFile {
        LockedFile {
            hash: hash.to_owned(),
            code: code.map(str::to_owned),
            content: None,
            tools: tools.iter().map(|(name, hash)| ((*name).to_owned(), (*hash).to_owned())).collect(),
            agent: None,
        }
    }

    #[test]
    fn what_changed_in_a_file_is_said() {
        let locked = file("1", Some("c"), &[("a", "1"), ("b", "1")]);
        for (now, expected) in [
            (locked.clone(), vec![]),
            (file("2", Some("c"), &[("a", "1"), ("b", "1")]), vec!["its data"]),
            (
                file("2", Some("c"), &[("a", "2"), ("c", "1")]),
                vec!["the interface of the tool a", "the tool c is new", "the tool b is gone"],
            ),
            (file("1", Some("d"), &[("a", "1"), ("b", "1")]), vec!["its handlers"]),
            (file("1", None, &[("a", "1"), ("b", "1")]), vec!["its handlers are gone"]),
        ] {
            assert_eq!(locked.changed(&now), expected);
        }
        assert_eq!(file("1", None, &[]).changed(&file("1", Some("c"), &[])), ["it has handlers now"]);
    }

    #[test]
    fn new_and_gone_files_and_lists_are_said() {
        let list = |version: &str, hash: &str| LockedList {
            version: Some(version.to_owned()),
            hash: hash.to_owned(),
        };
        let mut locked = Lock::default();
        locked.files.insert("a.mjs".to_owned(), file("1", None, &[]));
        locked.files.insert("b.mjs".to_owned(), file("1", None, &[]));
        locked.lists.insert("chains".to_owned(), list("1.0.0", "1"));
        let mut now = Lock::default();
        now.files.insert("b.mjs".to_owned(), file("1", None, &[]));
        now.files.insert("c.mjs".to_owned(), file("1", None, &[]));
        now.lists.insert("chains".to_owned(), list("1.1.0", "2"));
        let said: Vec<String> = changes(&locked, &now).iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "a.mjs is in the lock and no more in the pack",
                "c.mjs is not in the lock",
                "list chains has changed: its version, 1.0.0 to 1.1.0, its entries",
            ]
        );
    }
}
