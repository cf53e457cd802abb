//! The copy of a database before its first change, and new databases.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use flowmcp_spec::schema::DatabaseMode;
use rusqlite::{Connection, OpenFlags, backup::Backup};

use super::{
    authorize::authorize,
    connection::{Open, open, with_suffix},
    error::{QueryError, classify},
};
use crate::file::{FileError, FileId, Location};

/// Pages that are copied at a time.
const PAGES: i32 = 1024;

/// Whether this process has made a copy of a database. A reload of the schemas does not make another one.
static COPIED: Mutex<BTreeMap<(FileId, PathBuf), Copied>> = Mutex::new(BTreeMap::new());

/// Held while the copy is made.
type Copied = Arc<Mutex<bool>>;

/// Copies a database to `{name}.bak`, unless this process has done so. Others that want to change a database wait for it;
/// it takes as long as it takes, since a change without a copy is not made.
pub(super) fn backup_once(open: &Open, location: &Location) -> Result<(), QueryError> {
    let key = (open.pinned.id, open.pinned.path.clone());
    let copied = Arc::clone(COPIED.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
    let mut copied = copied.lock().unwrap_or_else(PoisonError::into_inner);
    if *copied {
        return Ok(());
    }
    let failed = |reason: String| QueryError::Backup { shown: Arc::clone(location.shown()), reason };
    let unfinished = with_suffix(&open.pinned.path, ".bak.new");
    let copy = || -> Result<(), String> {
        // What an earlier attempt left.
        let _ = fs::remove_file(&unfinished);
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&unfinished)
            .map_err(|error| error.to_string())?;
        copy_to(&open.connection, &unfinished).map_err(|error| error.to_string())?;
        fs::rename(&unfinished, with_suffix(&open.pinned.path, ".bak")).map_err(|error| error.to_string())
    };
    if let Err(reason) = copy() {
        let _ = fs::remove_file(&unfinished);
        return Err(failed(reason));
    }
    *copied = true;
    Ok(())
}

fn copy_to(from: &Connection, path: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut to = Connection::open_with_flags(path, flags)?;
    Backup::new(from, &mut to)?.run_to_completion(PAGES, Duration::ZERO, None)?;
    // The copy says of itself that it has a log, as the original does; one file is better to keep.
    to.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    to.close().map_err(|(_, error)| error)
}

/// A database that was not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// There is a file already.
    #[error("{shown} exists already and stays as it is")]
    Exists {
        /// Where it is.
        shown: Arc<str>,
    },
    /// The file cannot be made there.
    #[error(transparent)]
    File(#[from] FileError),
    /// A statement failed.
    #[error("{0}; nothing was made")]
    Sql(#[from] QueryError),
}

/// Makes a new database for a file-based resource and runs `statements` in it, such as `CREATE TABLE …; CREATE INDEX …`.
/// Blocks; it is for the command line, after the user has agreed.
///
/// # Errors
/// [`CreateError`]; then no file is left behind.
pub fn create(location: &Location, statements: &str) -> Result<(), CreateError> {
    let folder = location.path().parent().unwrap_or(location.boundary());
    fs::create_dir_all(folder).map_err(|error| location.failed(error))?;
    let boundary = fs::canonicalize(location.boundary()).map_err(|error| location.failed(error))?;
    let folder = fs::canonicalize(folder).map_err(|error| location.failed(error))?;
    if !folder.starts_with(&boundary) {
        return Err(location.outside().into());
    }
    let path = folder.join(location.path().file_name().unwrap_or_default());
    let new = OpenOptions::new().write(true).create_new(true).open(&path);
    new.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => CreateError::Exists { shown: Arc::clone(location.shown()) },
        _ => location.failed(error).into(),
    })?;
    let filled = fill(&path, location, statements);
    if filled.is_err() {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(with_suffix(&path, suffix));
        }
    }
    Ok(filled?)
}

fn fill(path: &Path, location: &Location, statements: &str) -> Result<(), QueryError> {
    let failed = |error, refusal: &_| classify(error, location.shown(), refusal, None);
    let mut connection =
        open(path, DatabaseMode::ReadWrite, false).map_err(|error| failed(error, &Default::default()))?;
    // Writes the header, so that the file is a database even without a table.
    let written = connection.execute_batch("BEGIN IMMEDIATE; PRAGMA user_version = 0; COMMIT");
    written.map_err(|error| failed(error, &Default::default()))?;
    let refusal = authorize(&mut connection, DatabaseMode::ReadWrite);
    let refusal = refusal.map_err(|error| failed(error, &Default::default()))?;
    connection.execute_batch(statements).map_err(|error| failed(error, &refusal))?;
    connection.close().map_err(|(_, error)| failed(error, &refusal))
}
