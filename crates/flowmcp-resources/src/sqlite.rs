//! SQLite databases: opened when they are first asked, on a few threads of their own.

mod authorize;
mod backup;
mod connection;
mod error;
mod json;
mod pin;
mod run;
mod statement;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use flowmcp_spec::schema::DatabaseMode;

pub use backup::{CreateError, create};
pub use error::QueryError;
pub use statement::{Statement, ValueError};

use crate::{
    FileError, Location,
    pool::{Class, Pool, PoolSize, Ticket},
};
use connection::Open;
use run::{Job, run};
use statement::Writer;

/// What a result may be at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Rows.
    pub rows: usize,
    /// Bytes of the JSON text.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { rows: 10_000, bytes: 100 << 10 }
    }
}

/// How databases are worked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseSettings {
    /// Threads, each with a connection, and how many queries may wait for them.
    pub size: PoolSize,
    /// How long to wait for another process that holds the database; never beyond the deadline of the call.
    pub wait: Duration,
}

impl Default for DatabaseSettings {
    fn default() -> Self {
        DatabaseSettings { size: PoolSize::default(), wait: Duration::from_secs(5) }
    }
}

/// What a statement gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// A JSON array with an object for each row. A statement that changes rows and returns none gives one object with
    /// `changes` and `lastInsertRowid`.
    pub json: String,
    /// Rows in it.
    pub rows: usize,
    /// What the client should know, such as that rows were cut.
    pub notes: Vec<String>,
}

/// A database. It holds no file open until a query comes, and closes again what was not used for a while.
pub struct Database {
    pool: Pool<Connection>,
    shared: Arc<Shared>,
}

struct Shared {
    location: Location,
    mode: DatabaseMode,
    wait: Duration,
}

/// What each thread holds.
type Connection = Option<Open>;

impl Database {
    /// A database at a location, which need not exist yet.
    pub fn new(location: Location, mode: DatabaseMode, settings: DatabaseSettings) -> Self {
        let pool = Pool::new("sqlite", settings.size, || None);
        Database { pool, shared: Arc::new(Shared { location, mode, wait: settings.wait }) }
    }

    /// Why it cannot be used at this moment, as far as that is seen without opening it.
    pub fn problem(&self) -> Option<FileError> {
        self.shared.location.problem()
    }

    /// Where its file is.
    pub fn location(&self) -> &Location {
        &self.shared.location
    }

    /// Runs a statement, within a tokio runtime. When the future is dropped, the statement is interrupted.
    ///
    /// # Errors
    /// [`QueryError`], with words for the caller.
    pub async fn query(
        &self,
        statement: Statement,
        limits: Limits,
        deadline: Instant,
    ) -> Result<Rows, QueryError> {
        let class = match statement.writer {
            Writer::Schema => Class::Known,
            Writer::Caller { .. } => Class::Unknown,
        };
        let shared = Arc::clone(&self.shared);
        let work = move |connection: &mut Connection, ticket: &Ticket| {
            shared.run(connection, &statement, limits, ticket)
        };
        self.pool.run(class, deadline, work).await?
    }
}

/// How often a statement is run again because the file changed under it.
const ATTEMPTS: usize = 5;

impl Shared {
    fn run(
        &self,
        connection: &mut Connection,
        statement: &Statement,
        limits: Limits,
        ticket: &Ticket,
    ) -> Result<Rows, QueryError> {
        let (location, mode) = (&self.location, self.mode);
        for _ in 0..ATTEMPTS {
            if !connection.as_ref().is_some_and(|open| open.is_current(location)) {
                *connection = None;
            }
            let open = match connection {
                Some(open) => open,
                None => connection.insert(Open::new(location, mode)?),
            };
            let job = Job { location, mode, statement, limits, wait: self.wait };
            let result = run(open, &job, ticket);
            let is_broken = matches!(result, Err(QueryError::Damaged { .. } | QueryError::Unfinished { .. }));
            // A change is made once, whatever happened to the file meanwhile.
            let is_certain = mode == DatabaseMode::ReadWrite || open.is_current(location);
            if is_broken || !is_certain {
                *connection = None;
            }
            if is_certain || ticket.is_over() {
                return result;
            }
        }
        Err(QueryError::Changing { shown: Arc::clone(location.shown()) })
    }
}
