//! Local resources: SQLite databases with their queries, and Markdown documents.
//!
//! A schema says what a resource is ([`flowmcp_spec::schema::Resource`]), the caller of this crate says in which folders
//! resources are ([`Folders`]), and [`locate`] puts both together. A [`Database`] or [`Document`] is made from that and asked
//! as often as needed; its file may come, change and go meanwhile.
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! use flowmcp_resources::{Database, DatabaseSettings, FileKind, Folder, Folders, Limits, Statement, create, locate};
//! use flowmcp_spec::{SourceFile, lower, read, schema::DatabaseMode};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = SourceFile::new("demo.mjs", "export const main = { namespace: 'demo', name: 'Demo', resources: {
//!     cities: { source: 'sqlite', database: 'cities.db', queries: {
//!         byName: { sql: 'SELECT name, people FROM cities WHERE name = ?', parameters: [
//!             { position: { key: 'name', value: '{{USER_PARAM}}' }, z: { primitive: 'string()', options: [] } },
//!         ] },
//!     } },
//! } }");
//! let schema = lower(&file, &read(&file).document.ok_or("literal")?).schema.ok_or("named")?;
//! let resource = schema.resources.first().ok_or("one resource")?;
//!
//! let dir = tempfile::tempdir()?;
//! let folder = Folder { path: dir.path().to_owned(), shown: "demo".into() };
//! let folders = Folders { pack: dir.path().to_owned(), schema: folder, project: None, global: None };
//! let location = locate(&resource.file, FileKind::Database, &folders)?;
//! create(&location, "CREATE TABLE cities (name TEXT, people INTEGER); INSERT INTO cities VALUES ('Bonn', 336465)")?;
//!
//! let database = Database::new(location, DatabaseMode::ReadOnly, DatabaseSettings::default());
//! // The arguments are checked and converted already, one for each input of the query.
//! let query = resource.query("byName").ok_or("the query")?;
//! let statement = Statement::new(query, &[Some("Bonn".into())])?;
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let deadline = Instant::now() + Duration::from_secs(30);
//! let rows = database.query(statement, Limits::default(), deadline).await?;
//! assert_eq!(rows.json, r#"[{"name":"Bonn","people":336465}]"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })
//! # }
//! ```

mod file;
mod markdown;
mod pool;
mod sqlite;

pub use file::{FileError, FileKind, Folder, Folders, Location, locate};
pub use markdown::{Document, DocumentError, DocumentLimits, Excerpt, Part, PartError};
pub use pool::{PoolSize, WorkError};
pub use sqlite::{
    CreateError, Database, DatabaseSettings, Limits, QueryError, Rows, Statement, ValueError, create,
};
