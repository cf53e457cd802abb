//! Connections to a database file: how it is opened, what a connection may do, and whether it is still the right one.

use std::{
    ffi::OsString,
    fmt::Write,
    fs::{self, Metadata},
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::MetadataExt,
    },
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use flowmcp_spec::schema::DatabaseMode;
use rusqlite::{Connection, OpenFlags, config::DbConfig, limits::Limit};

use super::{
    authorize::{Refusal, authorize},
    error::{NOT_A_DATABASE, QueryError, classify},
    pin::{Header, Pinned},
};
use crate::{
    file::{FileId, Location},
    pool::Ticket,
};

/// Most memory that all databases of the process take together, in bytes. Sorting happens in memory, so that a query fills
/// no disk.
const HEAP: i64 = 256 << 20;

/// Instructions of SQLite between two looks at the clock; about 50 µs.
const STEPS: i32 = 1000;

/// Statements that a connection keeps compiled.
const STATEMENTS: usize = 32;

/// An open database.
pub(super) struct Open {
    // Before the pin: it must be closed first.
    pub(super) connection: Connection,
    pub(super) refusal: Refusal,
    watched: Watched,
    stamp: Stamp,
    /// Nothing but the stamp says whether the file changed: SQLite was told that it does not.
    immutable: bool,
    pub(super) pinned: Pinned,
}

/// The statement that runs at the moment.
type Watched = Arc<Mutex<Option<Ticket>>>;

/// What tells whether a file is the same and unchanged.
#[derive(PartialEq)]
struct Stamp {
    id: FileId,
    bytes: u64,
    changed: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        let changed = (metadata.mtime(), metadata.mtime_nsec());
        Stamp { id: FileId::of(metadata), bytes: metadata.len(), changed }
    }
}

impl Open {
    pub(super) fn new(location: &Location, mode: DatabaseMode) -> Result<Self, QueryError> {
        let pinned = Pinned::new(location)?;
        let header = pinned.header().map_err(|error| location.failed(error))?;
        let damaged = |reason: &str| QueryError::Damaged {
            shown: Arc::clone(location.shown()),
            reason: reason.to_owned(),
        };
        match (header, mode) {
            (Header::NotADatabase, _) => return Err(damaged(NOT_A_DATABASE)),
            (Header::Empty, DatabaseMode::ReadOnly) => {
                return Err(damaged("is empty: it has no tables and 0 bytes"));
            }
            _ => {}
        }
        let stamp = Stamp::of(&fs::metadata(&pinned.path).map_err(|error| location.failed(error))?);
        // A reader of a write-ahead log makes two files beside the database and leaves them. Without a log there is nothing
        // in it to be read, so the file is read as if it never changed, and `is_current` looks whether that held.
        let immutable =
            mode == DatabaseMode::ReadOnly && header == Header::Wal && !wal(&pinned.path).exists();
        let failed = |error, refusal: &Refusal| classify(error, location.shown(), refusal, None);
        let opened = open(&pinned.path, mode, immutable);
        let mut connection = opened.map_err(|error| failed(error, &Refusal::default()))?;
        let refusal = authorize(&mut connection, mode).map_err(|error| failed(error, &Refusal::default()))?;
        let watched = Watched::default();
        watch(&mut connection, Arc::clone(&watched)).map_err(|error| failed(error, &refusal))?;
        let opened = Open { connection, refusal, watched, stamp, immutable, pinned };
        // The path was free of links when it was pinned, and SQLite follows none; it must also still name the pinned file.
        if opened
            .is_other(&fs::symlink_metadata(&opened.pinned.path).map_err(|error| location.failed(error))?)
        {
            return Err(location.outside().into());
        }
        Ok(opened)
    }

    fn is_other(&self, metadata: &Metadata) -> bool {
        FileId::of(metadata) != self.pinned.id
    }

    /// Whether the connection still shows what is at the location.
    pub(super) fn is_current(&self, location: &Location) -> bool {
        let Ok(metadata) = fs::metadata(location.path()) else { return false };
        if self.immutable {
            Stamp::of(&metadata) == self.stamp && !wal(&self.pinned.path).exists()
        } else {
            !self.is_other(&metadata)
        }
    }

    /// Until [`Open::done`] the connection works for this ticket, and waits for other processes at most this long.
    pub(super) fn begin(&self, ticket: &Ticket, wait: Duration) -> rusqlite::Result<()> {
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = Some(ticket.clone());
        self.refusal.take();
        self.connection.busy_timeout(wait)
    }

    pub(super) fn done(&self) {
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

pub(super) fn open(path: &Path, mode: DatabaseMode, immutable: bool) -> rusqlite::Result<Connection> {
    let access = match mode {
        DatabaseMode::ReadOnly => OpenFlags::SQLITE_OPEN_READ_ONLY,
        DatabaseMode::ReadWrite => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let flags = access
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(uri(path, immutable), flags)?;
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, mode == DatabaseMode::ReadWrite),
    ] {
        connection.set_db_config(setting, on)?;
    }
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10_000),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, most)?;
    }
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update_and_check(None, "hard_heap_limit", HEAP, |_| Ok(()))?;
    connection.pragma_update(None, "cell_size_check", true)?;
    match mode {
        DatabaseMode::ReadOnly => connection.pragma_update(None, "query_only", true)?,
        DatabaseMode::ReadWrite => {
            connection.busy_timeout(Duration::from_secs(5))?;
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        }
    }
    Ok(connection)
}

fn watch(connection: &mut Connection, watched: Watched) -> rusqlite::Result<()> {
    let is_over = move || {
        let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.as_ref().is_some_and(Ticket::is_over)
    };
    connection.progress_handler(STEPS, Some(is_over))
}

/// The name of the log beside a database.
fn wal(path: &Path) -> PathBuf {
    with_suffix(path, "-wal")
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().as_bytes().to_vec();
    name.extend_from_slice(suffix.as_bytes());
    OsString::from_vec(name).into()
}

/// SQLite reads a name as a URI, in which `?` and `%` have a meaning.
fn uri(path: &Path, immutable: bool) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    if immutable {
        uri.push_str("?immutable=1");
    }
    uri
}
