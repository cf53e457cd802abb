//! What a statement may do, decided by SQLite itself while it compiles the statement.
//!
//! The list names what is allowed; everything else is refused, also what a later SQLite may add.

use std::sync::{Arc, Mutex, PoisonError};

use flowmcp_spec::schema::DatabaseMode;
use rusqlite::{
    Connection,
    hooks::{AuthAction, AuthContext, Authorization},
};

/// Functions that leave the database: files, libraries, addresses in memory. Some exist only in SQLite's shell.
const REFUSED_FUNCTIONS: &[&str] =
    &["load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", "fsdir", "lsmode", "zipfile"];

/// Pragmas that only tell something, when they are asked without a value.
const TELLING_PRAGMAS: &[&str] = &[
    "application_id",
    "auto_vacuum",
    "collation_list",
    "compile_options",
    // Full text search asks for it.
    "data_version",
    "encoding",
    "foreign_key_check",
    "foreign_keys",
    "freelist_count",
    "function_list",
    "integrity_check",
    "journal_mode",
    "page_count",
    "page_size",
    "pragma_list",
    "quick_check",
    "schema_version",
    "table_list",
    "user_version",
];

/// Pragmas that only tell something about the table or index that they are given.
const TELLING_PRAGMAS_ABOUT: &[&str] = &[
    "foreign_key_check",
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Kinds of virtual table that keep all they have in the database itself.
const MODULES: &[&str] = &["fts5", "rtree", "rtree_i32"];

/// Endings of the tables in which an R-tree keeps itself. It compiles the statements that change them as soon as it is read.
/// To let them compile gives nothing away: SQLite itself lets nobody else change those tables ("defensive"), and a statement
/// that would write is not run on a database that is only read.
const OF_RTREE: &[&str] = &["_node", "_rowid", "_parent"];

/// Why the last statement was refused, for its error.
#[derive(Clone, Default)]
pub(super) struct Refusal(Arc<Mutex<Option<String>>>);

impl Refusal {
    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, reason: String) {
        // The first is the cause.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }
}

/// Lets a connection do from now on only what `mode` allows.
pub(super) fn authorize(connection: &mut Connection, mode: DatabaseMode) -> rusqlite::Result<Refusal> {
    let refusal = Refusal::default();
    let set = refusal.clone();
    connection.authorizer(Some(move |context: AuthContext<'_>| match refused(&context.action, mode) {
        None => Authorization::Allow,
        Some(reason) => {
            set.set(reason);
            Authorization::Deny
        }
    }))?;
    Ok(refusal)
}

/// Why an action is refused; `None` when it is allowed.
fn refused(action: &AuthAction<'_>, mode: DatabaseMode) -> Option<String> {
    match action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => return None,
        AuthAction::Insert { table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::Update { table_name, .. }
            if OF_RTREE.iter().any(|ending| table_name.ends_with(ending)) =>
        {
            return None;
        }
        AuthAction::Function { function_name } => {
            let is_refused = REFUSED_FUNCTIONS.iter().any(|name| function_name.eq_ignore_ascii_case(name));
            return is_refused.then(|| format!("the function {function_name} is not available"));
        }
        AuthAction::Pragma { pragma_name, pragma_value } => {
            let telling = if pragma_value.is_some() { TELLING_PRAGMAS_ABOUT } else { TELLING_PRAGMAS };
            let is_telling = telling.iter().any(|name| pragma_name.eq_ignore_ascii_case(name));
            return (!is_telling).then(|| format!("PRAGMA {pragma_name} is not allowed in this form"));
        }
        _ => {}
    }
    let word = match action {
        AuthAction::Insert { .. } => "INSERT",
        AuthAction::Update { .. } => "UPDATE",
        AuthAction::Delete { .. } => "DELETE",
        AuthAction::CreateTable { .. } => "CREATE TABLE",
        AuthAction::CreateIndex { .. } => "CREATE INDEX",
        AuthAction::CreateView { .. } => "CREATE VIEW",
        AuthAction::CreateTrigger { .. } => "CREATE TRIGGER",
        AuthAction::DropTable { .. } => "DROP TABLE",
        AuthAction::DropIndex { .. } => "DROP INDEX",
        AuthAction::DropView { .. } => "DROP VIEW",
        AuthAction::DropTrigger { .. } => "DROP TRIGGER",
        AuthAction::AlterTable { .. } => "ALTER TABLE",
        AuthAction::Reindex { .. } => "REINDEX",
        AuthAction::Analyze { .. } => "ANALYZE",
        AuthAction::CreateVtable { module_name, .. } | AuthAction::DropVtable { module_name, .. } => {
            if !MODULES.iter().any(|name| module_name.eq_ignore_ascii_case(name)) {
                return Some(format!("virtual tables of the kind {module_name} are not allowed"));
            }
            "CREATE VIRTUAL TABLE"
        }
        AuthAction::Attach { .. } => {
            return Some("no other database file can be opened or written".to_owned());
        }
        AuthAction::Detach { .. } => return Some("DETACH is not allowed".to_owned()),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => {
            return Some(
                "each statement is a transaction of its own: BEGIN, COMMIT and SAVEPOINT are not allowed"
                    .to_owned(),
            );
        }
        AuthAction::CreateTempTable { .. }
        | AuthAction::CreateTempIndex { .. }
        | AuthAction::CreateTempView { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::DropTempTable { .. }
        | AuthAction::DropTempIndex { .. }
        | AuthAction::DropTempView { .. }
        | AuthAction::DropTempTrigger { .. } => {
            return Some("temporary tables, views and triggers are not allowed".to_owned());
        }
        _ => return Some("a statement of this kind is not allowed".to_owned()),
    };
    match mode {
        DatabaseMode::ReadWrite => None,
        DatabaseMode::ReadOnly => Some(format!("the database is read-only, so {word} is not allowed")),
    }
}
