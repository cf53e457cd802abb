//! A folder with databases and documents, and questions to them in one line.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use flowmcp_resources::{
    Database, DatabaseSettings, FileError, FileKind, Folder, Folders, Limits, Location, QueryError, Rows,
    Statement, locate,
};
use flowmcp_spec::{
    SourceFile, lower, read,
    schema::{DatabaseMode, Origin, Query, Resource, ResourceFile, ResourceSource},
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// What each test has for itself.
pub(crate) struct Scene {
    pub(crate) dir: TempDir,
    pub(crate) folders: Folders,
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);

impl Scene {
    pub(crate) fn new() -> Self {
        let dir = TempDir::with_prefix("flowmcp-resources-").unwrap();
        let at = |path: &str| dir.path().join(path);
        for folder in ["pack/demo/resources", "project/resources", "global/resources", "global/data"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        let folder = |path: &str, shown: &str| Folder { path: at(path), shown: shown.into() };
        let folders = Folders {
            pack: at("pack"),
            schema: folder("pack/demo", "demo"),
            project: Some(folder("project", ".flowmcp")),
            global: Some(folder("global", "~/.flowmcp")),
        };
        Scene { dir, folders }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// Runs statements in a database file of the scene, which is made if it is not there.
    pub(crate) fn fill(&self, path: &str, statements: &str) {
        let connection = rusqlite::Connection::open(self.at(path)).unwrap();
        connection.execute_batch(statements).unwrap();
        connection.close().map_err(|(_, error)| error).unwrap();
    }

    pub(crate) fn location(&self, origin: Origin, path: &str) -> Result<Location, FileError> {
        locate(&ResourceFile { origin, path: path.into() }, FileKind::Database, &self.folders)
    }

    /// The database `global/resources/{name}`, to be read.
    pub(crate) fn database(&self, name: &str) -> Database {
        self.database_with(name, DatabaseSettings::default())
    }

    pub(crate) fn database_with(&self, name: &str, settings: DatabaseSettings) -> Database {
        Database::new(self.location(Origin::Global, name).unwrap(), DatabaseMode::ReadOnly, settings)
    }

    /// The database `project/resources/{name}`, to be read and changed.
    pub(crate) fn file_based(&self, name: &str) -> Database {
        let location = self.location(Origin::Project, name).unwrap();
        Database::new(location, DatabaseMode::ReadWrite, DatabaseSettings::default())
    }

    /// Every file below a folder with its hash and its time of change.
    pub(crate) fn listing(&self, folder: &str) -> BTreeMap<PathBuf, (String, SystemTime)> {
        let mut listing = BTreeMap::new();
        list(&self.at(folder), &mut listing);
        listing
    }
}

fn list(folder: &Path, listing: &mut BTreeMap<PathBuf, (String, SystemTime)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(&path, listing);
        } else {
            let hash =
                Sha256::digest(fs::read(&path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect();
            let changed = fs::metadata(&path).unwrap().modified().unwrap();
            listing.insert(path, (hash, changed));
        }
    }
}

/// A runtime, on one thread.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// The resource `db` of a schema with these queries.
pub(crate) fn resource(queries: &str) -> Resource {
    let text = format!(
        "export const main = {{ namespace: 'demo', name: 'Demo', resources: {{
            db: {{ source: 'sqlite', mode: 'in-memory', origin: 'global', name: 'demo.db', queries: {queries} }} }} }}"
    );
    let file = SourceFile::new("demo.mjs", &text);
    let lowered = lower(&file, &read(&file).document.unwrap());
    assert_eq!(lowered.diagnostics, []);
    let resource = lowered.schema.unwrap().resources.remove(0);
    assert!(matches!(resource.source, ResourceSource::Sqlite { .. }));
    resource
}

/// A query with this statement and these parameters, each `name: primitive`.
pub(crate) fn query(sql: &str, parameters: &[(&str, &str)]) -> Query {
    let parameters: Vec<Value> = parameters
        .iter()
        .map(|(key, primitive)| {
            serde_json::json!({
                "position": { "key": key, "value": "{{USER_PARAM}}" },
                "z": { "primitive": primitive, "options": [] },
            })
        })
        .collect();
    let query = serde_json::json!({ "ask": { "sql": sql, "parameters": parameters } });
    resource(&query.to_string()).query("ask").unwrap().clone()
}

/// A caller's statement.
pub(crate) fn free(sql: &str, limit: Option<u32>) -> Statement {
    let resource = resource("{}");
    let values = [Some(sql.into()), limit.map(Value::from)];
    Statement::new(resource.query("freeQuery").unwrap(), &values).unwrap()
}

pub(crate) fn soon() -> Instant {
    Instant::now() + 20 * SECOND
}

/// What a caller's statement gives, with its notes, or the error.
pub(crate) fn ask(database: &Database, sql: &str) -> String {
    shown(wait(database.query(free(sql, None), Limits::default(), soon())))
}

/// The same for a statement of the schema.
pub(crate) fn ask_prepared(database: &Database, query: &Query, values: &[Option<Value>]) -> String {
    match Statement::new(query, values) {
        Ok(statement) => shown(wait(database.query(statement, Limits::default(), soon()))),
        Err(error) => format!("error: {error}"),
    }
}

pub(crate) fn shown(result: Result<Rows, QueryError>) -> String {
    match result {
        Ok(Rows { json, notes, .. }) => {
            assert!(serde_json::from_str::<Value>(&json).is_ok(), "{json}");
            let notes: String = notes.iter().map(|note| format!(" [{note}]")).collect();
            format!("{json}{notes}")
        }
        Err(error) => format!("error: {error}"),
    }
}
