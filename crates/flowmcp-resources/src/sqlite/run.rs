//! Runs one statement on an open database and collects what it gives.

use std::time::{Duration, Instant};

use flowmcp_spec::schema::DatabaseMode;
use rusqlite::{
    Batch, Statement as Compiled, fallible_iterator::FallibleIterator, ffi, limits::Limit, params_from_iter,
};

use super::{
    Limits, Rows,
    backup::backup_once,
    connection::Open,
    error::{QueryError, classify},
    json::JsonRows,
    statement::{Statement, Writer},
};
use crate::{file::Location, pool::Ticket};

/// Longest text or blob, in bytes, that a statement of a schema may read or make.
const LONGEST_VALUE: i32 = 32 << 20;

/// The same for a caller's statement. Some functions take time with the square of it and cannot be interrupted.
const LONGEST_VALUE_OF_CALLER: i32 = 1 << 20;

pub(super) struct Job<'j> {
    pub(super) location: &'j Location,
    pub(super) mode: DatabaseMode,
    pub(super) statement: &'j Statement,
    pub(super) limits: Limits,
    /// How long to wait for another process.
    pub(super) wait: Duration,
}

/// Runs the statement of a job.
pub(super) fn run(open: &mut Open, job: &Job<'_>, ticket: &Ticket) -> Result<Rows, QueryError> {
    let left = ticket.deadline.saturating_duration_since(Instant::now());
    let failed = |open: &Open, error| classify(error, job.location.shown(), &open.refusal, Some(ticket));
    let longest = match job.statement.writer {
        Writer::Schema => LONGEST_VALUE,
        Writer::Caller { .. } => LONGEST_VALUE_OF_CALLER,
    };
    let begun = open.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest);
    begun.and_then(|_| open.begin(ticket, job.wait.min(left))).map_err(|error| failed(open, error))?;
    let result = steps(open, job, &failed);
    open.done();
    result
}

fn steps(
    open: &Open,
    job: &Job<'_>,
    failed: &impl Fn(&Open, rusqlite::Error) -> QueryError,
) -> Result<Rows, QueryError> {
    let statement = job.statement;
    let failed = |error| failed(open, error);
    only_one(open, &statement.sql).map_err(failed)?;
    match statement.writer {
        Writer::Schema => {
            let mut cached = open.connection.prepare_cached(&statement.sql).map_err(failed)?;
            check(&cached, job)?;
            backup_before(open, &cached, job)?;
            let mut json = JsonRows::new(cached.column_names());
            collect(&mut cached, job, job.limits.rows, &mut json, open).map_err(failed)
        }
        Writer::Caller { rows: asked } => {
            let rows = asked.min(job.limits.rows);
            let mut compiled = open.connection.prepare(&statement.sql).map_err(failed)?;
            check(&compiled, job)?;
            backup_before(open, &compiled, job)?;
            // Inside another statement, columns of one name would be renamed in SQLite's way.
            let mut json = JsonRows::new(compiled.column_names());
            if let Some(limited) = limited(open, &compiled, &statement.sql, rows) {
                compiled = limited;
            }
            collect(&mut compiled, job, rows, &mut json, open).map_err(failed)
        }
    }
}

/// SQLite compiles the first statement of a text and leaves the rest: a second one is refused, not ignored.
fn only_one(open: &Open, sql: &str) -> rusqlite::Result<()> {
    if sql.contains('\0') {
        return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ERROR), Some(NUL.to_owned())));
    }
    if !end_of(sql).contains(';') {
        return Ok(());
    }
    let mut statements = Batch::new(&open.connection, sql);
    statements.next()?;
    match statements.next()? {
        None => Ok(()),
        Some(_) => Err(rusqlite::Error::MultipleStatement),
    }
}

const NUL: &str = "the statement has a NUL character in it";

/// A statement without what ends it.
fn end_of(sql: &str) -> &str {
    sql.trim_end_matches(|last: char| last == ';' || last.is_whitespace())
}

fn check(compiled: &Compiled<'_>, job: &Job<'_>) -> Result<(), QueryError> {
    let (expected, found) = (compiled.parameter_count(), job.statement.parameters.len());
    if job.mode == DatabaseMode::ReadOnly && !compiled.readonly() {
        return Err(QueryError::Refused { reason: "the database is read-only".to_owned() });
    }
    match job.statement.writer {
        Writer::Caller { .. } if expected > 0 => Err(QueryError::Sql {
            reason: "a statement of your own has no parameters: write the values into it".to_owned(),
        }),
        _ if expected != found => Err(QueryError::Parameters { expected, found }),
        _ => Ok(()),
    }
}

fn backup_before(open: &Open, compiled: &Compiled<'_>, job: &Job<'_>) -> Result<(), QueryError> {
    if compiled.readonly() { Ok(()) } else { backup_once(open, job.location) }
}

/// A caller's query inside one with a limit: knowing how many rows are wanted, SQLite sorts only so many. `None` for what
/// is no query or cannot be put into one; its rows are counted all the same.
fn limited<'c>(open: &'c Open, compiled: &Compiled<'_>, sql: &str, rows: usize) -> Option<Compiled<'c>> {
    if !compiled.readonly() || compiled.column_count() == 0 || compiled.is_explain() != 0 {
        return None;
    }
    let sql = end_of(sql);
    // On lines of its own, so that a comment at the end swallows nothing.
    let wrapped = format!("SELECT * FROM (\n{sql}\n) LIMIT {}", rows.saturating_add(1));
    let wrapped = open.connection.prepare(&wrapped).ok();
    open.refusal.take();
    wrapped.filter(|wrapped| wrapped.column_count() == compiled.column_count())
}

fn collect(
    compiled: &mut Compiled<'_>,
    job: &Job<'_>,
    most: usize,
    json: &mut JsonRows,
    open: &Open,
) -> rusqlite::Result<Rows> {
    let writes = !compiled.readonly();
    if writes && compiled.column_count() == 0 {
        let parameters = params_from_iter(&job.statement.parameters);
        compiled.execute(parameters)?;
        let (changes, row) = (open.connection.changes(), open.connection.last_insert_rowid());
        let json = format!(r#"[{{"changes":{changes},"lastInsertRowid":{row}}}]"#);
        return Ok(Rows { json, rows: 1, notes: Vec::new() });
    }
    let mut notes = Vec::new();
    let mut found = compiled.query(params_from_iter(&job.statement.parameters))?;
    while let Some(row) = found.next()? {
        let shown = json.rows;
        if !notes.is_empty() {
            // A change is complete only when all its rows were fetched.
            continue;
        }
        if shown >= most {
            notes.push(format!(
                "cut: only the first {shown} rows are shown, and there are more. {}",
                more(job)
            ));
        } else if !json.push(row, job.limits.bytes)? {
            let limit = job.limits.bytes;
            notes.push(format!("cut: the first {shown} rows are shown; with the next one the result has more than {limit} bytes. Ask for fewer or shorter columns, or for fewer rows at a time"));
        }
        if !notes.is_empty() && !writes {
            break;
        }
    }
    drop(found);
    if json.mended > 0 {
        notes.push(format!("{} texts are not UTF-8; what cannot be read stands as \u{fffd}", json.mended));
    }
    let rows = json.rows;
    Ok(Rows { json: json.finish(), rows, notes })
}

fn more(job: &Job<'_>) -> &'static str {
    match job.statement.writer {
        Writer::Schema => "Ask for less with narrower parameters",
        Writer::Caller { .. } => "Give a larger limit, add a WHERE, or use LIMIT and OFFSET in the statement",
    }
}
