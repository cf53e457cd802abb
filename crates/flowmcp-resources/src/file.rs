//! Where a resource's file is, and that what is opened is really in there.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io,
    os::{
        fd::AsRawFd,
        unix::fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use flowmcp_spec::schema::{Origin, ResourceFile};

/// A folder with the name that messages give it: clients do not learn where a server keeps its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Path.
    pub path: PathBuf,
    /// For messages: `~/.flowmcp`.
    pub shown: Box<str>,
}

/// The folders that a schema's resources are looked for in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// Folder of the schema's pack. What a schema brings along stays in there.
    pub pack: PathBuf,
    /// Folder of the schema's file.
    pub schema: Folder,
    /// Base folder of the project (`.flowmcp`), if there is one.
    pub project: Option<Folder>,
    /// Base folder of the user (`~/.flowmcp`), if there is one.
    pub global: Option<Folder>,
}

/// What a resource's file is, for checks and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// An SQLite database.
    Database,
    /// A Markdown document.
    Document,
}

impl FileKind {
    fn word(self) -> &'static str {
        match self {
            FileKind::Database => "database",
            FileKind::Document => "document",
        }
    }
}

/// Where a resource's file is to be. It may not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    path: PathBuf,
    boundary: PathBuf,
    shown: Arc<str>,
    kind: FileKind,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path in the schema can name no file of a resource.
    #[error("{path:?} cannot be the file of a resource: {reason}")]
    BadPath {
        /// Path as written.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The configuration has no folder of that kind.
    #[error("{path:?} has the origin {}, and no folder is set for that", .origin.as_str())]
    NoFolder {
        /// Path as written.
        path: String,
        /// Origin.
        origin: Origin,
    },
    /// Nothing is there.
    #[error("the {} {shown} is missing: put it there, it is found without a restart", .kind.word())]
    Missing {
        /// Where it was looked for.
        shown: Arc<str>,
        /// What it was to be.
        kind: FileKind,
    },
    /// A symbolic link leads away.
    #[error("{shown} leads to a file outside of its folder, which is not allowed: put the file itself there")]
    Outside {
        /// Where it was looked for.
        shown: Arc<str>,
    },
    /// A folder, a pipe or the like.
    #[error("{shown} is not a regular file")]
    NotAFile {
        /// Where it is.
        shown: Arc<str>,
    },
    /// The file system refused.
    #[error("{shown} cannot be opened: {source}")]
    Io {
        /// Where it is.
        shown: Arc<str>,
        /// Cause.
        source: io::Error,
    },
}

/// The file system's name for a file, whatever paths lead to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        FileId { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// The location of a resource's file.
///
/// # Errors
/// [`FileError::BadPath`] and [`FileError::NoFolder`]; whether the file exists is not asked here.
pub fn locate(file: &ResourceFile, kind: FileKind, folders: &Folders) -> Result<Location, FileError> {
    let bad = |reason| FileError::BadPath { path: file.path.to_string(), reason };
    let no_folder = || FileError::NoFolder { path: file.path.to_string(), origin: file.origin };
    if file.path.contains(['\0', '\\']) {
        return Err(bad("it has a NUL or a backslash"));
    }
    for component in Path::new(&*file.path).components() {
        match component {
            Component::Normal(_) | Component::CurDir => {}
            Component::ParentDir => return Err(bad("it has a `..`")),
            Component::RootDir | Component::Prefix(_) => {
                return Err(bad("it must be relative to its folder"));
            }
        }
    }
    let Some(name) = Path::new(&*file.path).file_name() else { return Err(bad("it names no file")) };
    if kind == FileKind::Document && !name.to_string_lossy().to_ascii_lowercase().ends_with(".md") {
        return Err(bad("documents end in .md"));
    }
    let resources = |folder: &Folder| (folder.path.join("resources"), format!("{}/resources", folder.shown));
    let (base, shown, boundary) = match file.origin {
        Origin::Schema => {
            (folders.schema.path.clone(), folders.schema.shown.to_string(), folders.pack.clone())
        }
        Origin::Inline => {
            let (base, shown) = resources(&folders.schema);
            (base, shown, folders.pack.clone())
        }
        Origin::Project | Origin::Global => {
            let folder = if file.origin == Origin::Project { &folders.project } else { &folders.global };
            let (base, shown) = resources(folder.as_ref().ok_or_else(no_folder)?);
            (base.clone(), shown, base)
        }
        Origin::GlobalBase => {
            let folder = folders.global.as_ref().ok_or_else(no_folder)?;
            (folder.path.clone(), folder.shown.to_string(), folder.path.clone())
        }
    };
    let shown = if shown.is_empty() { file.path.to_string() } else { format!("{shown}/{}", file.path) };
    Ok(Location { path: base.join(&*file.path), boundary, shown: shown.into(), kind })
}

/// A file that was opened and is in its folder.
pub(crate) struct Opened {
    /// Path without symbolic links.
    pub(crate) path: PathBuf,
    /// The file, for reading.
    pub(crate) file: File,
    /// What was opened.
    pub(crate) metadata: Metadata,
}

impl Location {
    /// Where it is, as messages say it.
    pub fn shown(&self) -> &Arc<str> {
        &self.shown
    }

    /// Path as it was put together; symbolic links are still in it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why the file cannot be used at this moment, as far as that is seen without opening it.
    pub fn problem(&self) -> Option<FileError> {
        self.resolve().err()
    }

    /// The path without symbolic links, which is in its folder at this moment.
    pub(crate) fn resolve(&self) -> Result<PathBuf, FileError> {
        let path = fs::canonicalize(&self.path).map_err(|error| self.failed(error))?;
        let boundary = fs::canonicalize(&self.boundary).map_err(|error| self.failed(error))?;
        // By component: /data/res does not hold /data/res-2.
        if path.starts_with(&boundary) { Ok(path) } else { Err(self.outside()) }
    }

    /// Opens the file for reading, and looks at what was opened: a link may have been exchanged after the check.
    pub(crate) fn open(&self) -> Result<Opened, FileError> {
        let path = self.resolve()?;
        let boundary = fs::canonicalize(&self.boundary).map_err(|error| self.failed(error))?;
        // Without NONBLOCK, opening a pipe would wait for a writer.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(&path);
        let file = opened.map_err(|error| self.failed(error))?;
        let metadata = file.metadata().map_err(|error| self.failed(error))?;
        if !metadata.is_file() {
            return Err(FileError::NotAFile { shown: Arc::clone(&self.shown) });
        }
        if !really_at(&file, &metadata, &path).is_some_and(|path| path.starts_with(&boundary)) {
            return Err(self.outside());
        }
        Ok(Opened { path, file, metadata })
    }

    pub(crate) fn boundary(&self) -> &Path {
        &self.boundary
    }

    pub(crate) fn outside(&self) -> FileError {
        FileError::Outside { shown: Arc::clone(&self.shown) }
    }

    pub(crate) fn failed(&self, source: io::Error) -> FileError {
        let shown = Arc::clone(&self.shown);
        match source.kind() {
            io::ErrorKind::NotFound => FileError::Missing { shown, kind: self.kind },
            _ => FileError::Io { shown, source },
        }
    }
}

/// The path that an open file has now.
fn really_at(file: &File, metadata: &Metadata, path: &Path) -> Option<PathBuf> {
    if let Ok(real) = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())) {
        return Some(real);
    }
    // Where the system does not say: the path must still lead to this file.
    let again = fs::canonicalize(path).ok()?;
    let same = FileId::of(&fs::symlink_metadata(&again).ok()?) == FileId::of(metadata);
    same.then_some(again)
}
