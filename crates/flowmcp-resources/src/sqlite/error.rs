//! What can go wrong with a query, in words for the caller.

use std::sync::Arc;

use rusqlite::{Error, ErrorCode, ffi};

use super::authorize::Refusal;
use crate::{FileError, WorkError, pool::Ticket};

/// A query that has no result.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The database file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no thread for it, or its time is over.
    #[error("the query {0}")]
    Work(#[from] WorkError),
    /// The statement does what it must not do.
    #[error("refused: {reason}")]
    Refused {
        /// What it wanted to do.
        reason: String,
    },
    /// The statement is wrong.
    #[error("SQL error: {reason}")]
    Sql {
        /// SQLite's words.
        reason: String,
    },
    /// The `?` of a schema's statement are not as many as its parameters.
    #[error("the statement has {expected} placeholders and the schema gives {found} parameters for them")]
    Parameters {
        /// Placeholders.
        expected: usize,
        /// Parameters.
        found: usize,
    },
    /// No database, or a damaged one.
    #[error("{shown} {reason}")]
    Damaged {
        /// Where it is.
        shown: Arc<str>,
        /// What was found.
        reason: String,
    },
    /// Another process holds it.
    #[error("the database {shown} is locked by another program: try again later")]
    Locked {
        /// Where it is.
        shown: Arc<str>,
    },
    /// Another process did not finish a change.
    #[error(
        "the database {shown} has an unfinished change of another program: open it once with that program or with the \
         sqlite3 shell, so that it is taken back"
    )]
    Unfinished {
        /// Where it is.
        shown: Arc<str>,
    },
    /// The file changed each time that it was read.
    #[error("the database {shown} is being written all the time: try again later")]
    Changing {
        /// Where it is.
        shown: Arc<str>,
    },
    /// The statement needs too much.
    #[error("the statement needs too much memory, or makes too long a value: ask for less at a time")]
    TooMuch,
    /// No copy could be made before the first change.
    #[error("nothing was changed, because no backup {shown}.bak could be made: {reason}")]
    Backup {
        /// Where the database is.
        shown: Arc<str>,
        /// Cause.
        reason: String,
    },
}

/// The error for what SQLite said.
pub(super) fn classify(
    error: Error,
    shown: &Arc<str>,
    refusal: &Refusal,
    ticket: Option<&Ticket>,
) -> QueryError {
    let refused = refusal.take();
    let shown = Arc::clone(shown);
    let (failure, reason) = match error {
        Error::SqliteFailure(failure, reason) => (failure, reason),
        Error::SqlInputError { error, msg, .. } => (error, Some(msg)),
        Error::MultipleStatement => {
            return QueryError::Refused { reason: "only one statement at a time is allowed".to_owned() };
        }
        Error::Empty => return QueryError::Sql { reason: "there is no statement".to_owned() },
        Error::NulError(_) => {
            return QueryError::Sql { reason: "the statement has a NUL character in it".to_owned() };
        }
        other => return QueryError::Sql { reason: other.to_string() },
    };
    let reason = reason.unwrap_or_else(|| failure.to_string());
    match failure.code {
        ErrorCode::AuthorizationForStatementDenied => {
            QueryError::Refused { reason: refused.unwrap_or(reason) }
        }
        ErrorCode::ReadOnly => match failure.extended_code {
            ffi::SQLITE_READONLY_ROLLBACK | ffi::SQLITE_READONLY_RECOVERY | ffi::SQLITE_READONLY_CANTINIT => {
                QueryError::Unfinished { shown }
            }
            _ => QueryError::Refused { reason: "the database is read-only".to_owned() },
        },
        ErrorCode::OperationInterrupted if ticket.is_none_or(Ticket::is_over) => WorkError::Deadline.into(),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => QueryError::Locked { shown },
        ErrorCode::NotADatabase => QueryError::Damaged { shown, reason: NOT_A_DATABASE.to_owned() },
        ErrorCode::DatabaseCorrupt => QueryError::Damaged { shown, reason: format!("is damaged: {reason}") },
        ErrorCode::CannotOpen
        | ErrorCode::SystemIoFailure
        | ErrorCode::DiskFull
        | ErrorCode::PermissionDenied => {
            QueryError::Damaged { shown, reason: format!("cannot be used: {reason}") }
        }
        ErrorCode::OutOfMemory | ErrorCode::TooBig => QueryError::TooMuch,
        _ => match refused {
            // SQLite wraps some refusals in its own words.
            Some(reason) => QueryError::Refused { reason },
            None => QueryError::Sql { reason },
        },
    }
}

pub(super) const NOT_A_DATABASE: &str = "is not an SQLite database";
