//! Queries per second through the crate: a prepared query on 100,000 rows, from 8 tasks.
//!
//! `cargo run --release -p flowmcp-resources --example bench`

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use flowmcp_resources::{Database, DatabaseSettings, FileKind, Folder, Folders, Limits, Statement, locate};
use flowmcp_spec::{
    SourceFile, lower, read,
    schema::{DatabaseMode, Query, ResourceSource},
};

const ROWS: u64 = 100_000;
const TASKS: u64 = 8;
const TIME: Duration = Duration::from_secs(5);

const SCHEMA: &str = "export const main = { namespace: 'demo', name: 'Demo', resources: {
    places: { source: 'sqlite', database: 'places.db', queries: {
        byCode: { sql: 'SELECT code, name, latitude, longitude FROM places WHERE code = ?', parameters: [
            { position: { key: 'code', value: '{{USER_PARAM}}' }, z: { primitive: 'string()', options: [] } },
        ] },
    } },
} }";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let connection = rusqlite::Connection::open(dir.path().join("places.db"))?;
    connection.execute_batch(&format!(
        "CREATE TABLE places (code TEXT PRIMARY KEY, name TEXT, latitude REAL, longitude REAL);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {ROWS})
         INSERT INTO places SELECT 'P' || i, 'Place number ' || i, i / 1000.0, -i / 700.0 FROM n;"
    ))?;
    drop(connection);
    let file = SourceFile::new("demo.mjs", SCHEMA);
    let document = read(&file).document.ok_or("the schema is literal")?;
    let mut resources = lower(&file, &document).schema.ok_or("the schema has a name")?.resources;
    let resource = resources.pop().ok_or("the schema has a resource")?;
    let ResourceSource::Sqlite { .. } = &resource.source else { return Err("it is a database".into()) };
    let query: Arc<Query> = Arc::new(resource.query("byCode").ok_or("it has the query")?.clone());
    let folder = Folder { path: dir.path().to_owned(), shown: "".into() };
    let folders = Folders { pack: dir.path().to_owned(), schema: folder, project: None, global: None };
    let location = locate(&resource.file, FileKind::Database, &folders)?;
    let database = Arc::new(Database::new(location, DatabaseMode::ReadOnly, DatabaseSettings::default()));
    let start = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let (database, query) = (Arc::clone(&database), Arc::clone(&query));
            tokio::spawn(async move {
                let (mut count, mut number) = (0_u64, task);
                while start.elapsed() < TIME {
                    number = (number * 6_364_136 + 1_442_695) % ROWS;
                    let values = [Some(format!("P{}", number + 1).into())];
                    let statement = Statement::new(&query, &values).map_err(|error| error.to_string())?;
                    let deadline = Instant::now() + Duration::from_secs(30);
                    let rows = database.query(statement, Limits::default(), deadline).await;
                    let rows = rows.map_err(|error| error.to_string())?;
                    assert_eq!(rows.rows, 1, "{}", rows.json);
                    count += 1;
                }
                Ok::<u64, String>(count)
            })
        })
        .collect();
    let mut count = 0;
    for task in tasks {
        count += task.await??;
    }
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{ROWS} rows, {TASKS} tasks: {:.0} queries/s", count as f64 / seconds);
    Ok(())
}
