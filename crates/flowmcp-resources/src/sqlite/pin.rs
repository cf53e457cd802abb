//! The database files that this process has open.
//!
//! POSIX takes all of a process's locks on a file away as soon as the process closes any of its descriptors of that file.
//! SQLite knows that of its own; ours, opened to look at a file before SQLite does, stays open as long as any connection to
//! the file may exist.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::fs::FileExt,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::file::{FileError, FileId, Location};

static PINS: Mutex<BTreeMap<FileId, Pin>> = Mutex::new(BTreeMap::new());

struct Pin {
    /// Never empty; a second one is there when the file was exchanged between two looks at it.
    files: Vec<File>,
    users: usize,
}

/// A database file that stays open while this exists.
pub(super) struct Pinned {
    pub(super) id: FileId,
    /// Path without symbolic links.
    pub(super) path: PathBuf,
}

/// The start of a database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// No bytes at all.
    Empty,
    /// Something else.
    NotADatabase,
    /// Changes are first written to a rollback journal.
    Rollback,
    /// Changes are first written to a write-ahead log.
    Wal,
}

fn pins() -> MutexGuard<'static, BTreeMap<FileId, Pin>> {
    PINS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pinned {
    /// Pins the file at a location, which must be in its folder.
    pub(super) fn new(location: &Location) -> Result<Self, FileError> {
        let mut pins = pins();
        let path = location.resolve()?;
        let known = FileId::of(&fs::symlink_metadata(&path).map_err(|error| location.failed(error))?);
        if let Some(pin) = pins.get_mut(&known) {
            pin.users += 1;
            return Ok(Pinned { id: known, path });
        }
        let opened = location.open()?;
        let id = FileId::of(&opened.metadata);
        let pin = pins.entry(id).or_insert_with(|| Pin { files: Vec::new(), users: 0 });
        pin.files.push(opened.file);
        pin.users += 1;
        Ok(Pinned { id, path: opened.path })
    }

    /// Looks at the start of the file.
    pub(super) fn header(&self) -> std::io::Result<Header> {
        let pins = pins();
        let Some(file) = pins.get(&self.id).and_then(|pin| pin.files.first()) else {
            return Ok(Header::NotADatabase);
        };
        let mut start = [0; 20];
        let mut length = 0;
        while let Some(rest) = start.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match file.read_at(rest, length as u64)? {
                0 => break,
                read => length += read,
            }
        }
        Ok(match start {
            _ if length == 0 => Header::Empty,
            _ if !start.starts_with(b"SQLite format 3\0") => Header::NotADatabase,
            // The versions that are needed for writing and for reading: 2 stands for a write-ahead log.
            [.., 2, _] | [.., 2] => Header::Wal,
            _ => Header::Rollback,
        })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let mut pins = pins();
        if let Some(pin) = pins.get_mut(&self.id) {
            pin.users -= 1;
            if pin.users == 0 {
                pins.remove(&self.id);
            }
        }
    }
}
