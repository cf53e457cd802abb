//! The lock file: its place, its form, reading and writing it.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// What was in a pack when it was locked, by paths inside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Version of this form.
    version: u32,
    /// Schemas, skills, prompts and agents by their paths.
    pub files: BTreeMap<String, LockedFile>,
    /// Shared lists by their names.
    pub lists: BTreeMap<String, LockedList>,
}

/// The hashes of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedFile {
    /// Hash of its data, the one that `hash` prints.
    pub hash: String,
    /// Hash of all its other text where it has handlers: their code, and what else of the module runs with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Hash of the text of a skill or prompt that keeps it apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Hashes of its tools as the specification's chapter 06 forms them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub tools: BTreeMap<String, String>,
    /// Hash of an agent: over its tools' hashes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// The hash of one list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedList {
    /// Version that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Hash of its data.
    pub hash: String,
}

/// Why a lock file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// There is none.
    #[error("{}: does not exist: make it with `flowmcp-server lock`, after looking at what the pack holds", .0.display())]
    Missing(PathBuf),
    /// It cannot be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Its path.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// It is larger than any real one.
    #[error("{}: has more than {MAX_BYTES} bytes and is no lock file", .0.display())]
    TooLarge(PathBuf),
    /// Its text is not in the right form.
    #[error("{}: is not a lock file: {source}; move it away and run `flowmcp-server lock`", .path.display())]
    Form {
        /// Its path.
        path: PathBuf,
        /// Cause, with line and column.
        source: serde_json::Error,
    },
    /// A later build made it.
    #[error("{}: has version {found}, and this build knows version {VERSION}", .path.display())]
    Version {
        /// Its path.
        path: PathBuf,
        /// Version found.
        found: u32,
    },
}

const NAME: &str = "flowmcp.lock";
const VERSION: u32 = 1;
/// A file of a catalogue takes about 300 bytes, and a pack has at most 50,000.
const MAX_BYTES: u64 = 64 << 20;

/// Where the lock of a pack lies: in its folder; beside it, by its name, for a single file.
pub fn path(pack: &Path) -> PathBuf {
    if pack.is_dir() {
        return pack.join(NAME);
    }
    let mut name = pack.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    pack.with_file_name(name)
}

impl Default for Lock {
    fn default() -> Self {
        Lock { version: VERSION, files: BTreeMap::new(), lists: BTreeMap::new() }
    }
}

impl Lock {
    /// Reads a lock file.
    ///
    /// # Errors
    /// When there is none, or it cannot be read or understood.
    pub fn read(path: &Path) -> Result<Lock, LockError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => LockError::Missing(path.to_owned()),
            _ => LockError::Io { path: path.to_owned(), source },
        };
        let mut text = Vec::new();
        let file = fs::File::open(path).map_err(failed)?;
        file.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() as u64 > MAX_BYTES {
            return Err(LockError::TooLarge(path.to_owned()));
        }
        let lock: Lock = serde_json::from_slice(&text)
            .map_err(|source| LockError::Form { path: path.to_owned(), source })?;
        if lock.version != VERSION {
            return Err(LockError::Version { path: path.to_owned(), found: lock.version });
        }
        Ok(lock)
    }

    /// The text of the lock file: the same for the same pack, a line for each hash.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Writes the lock file whole or not at all.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), LockError> {
        let failed = |source| LockError::Io { path: path.to_owned(), source };
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", std::process::id()));
        let beside = path.with_file_name(name);
        let written = fs::File::create_new(&beside).and_then(|mut file| {
            file.write_all(self.text().as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, path)
        });
        written.map_err(|source| {
            // What is left of it would only be in the way; that it cannot be removed says nothing new.
            let _ = fs::remove_file(&beside);
            failed(source)
        })
    }
}
