//! Queries of local databases as tools.

use std::{sync::Arc, time::Duration};

use flowmcp_engine::{
    ActiveTool, DEFAULT_VIEW, DryRunError, Engine, Entry, Lists, PackPolicy, Settings, Snapshot,
    activate_queries, dry_run, names, params::ServerParams,
};
use flowmcp_resources::{Database, DatabaseSettings, FileKind, Folder, Folders, create, locate};
use flowmcp_spec::{
    SourceFile, lower_list, read,
    schema::{Resource, ResourceSource},
};
use flowmcp_validate::{Options, validate};
use serde_json::Map;
use tempfile::TempDir;

use crate::support::{Upstream, content_text, object, output};

const TABLES: &str = "CREATE TABLE cities (name TEXT, people INTEGER, big INTEGER);
    INSERT INTO cities VALUES ('Bonn', 336465, 9007199254740993), ('Köln', 1073096, 2);
    CREATE TABLE many (n INTEGER);
    WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i LIMIT 500) INSERT INTO many SELECT n FROM i;";

const SCHEMA: &str = r"export const main = {
    namespace: 'demo', name: 'Demo', description: 'An example', version: '3.0.0', tools: {},
    sharedLists: [ { ref: 'names', version: '1.0.0' } ],
    resources: {
        cities: { source: 'sqlite', database: 'cities.db', description: 'Cities', queries: {
            byName: {
                sql: 'SELECT name, people, big FROM cities WHERE name = ? AND people >= ?',
                description: 'Finds a city',
                parameters: [
                    { position: { key: 'name', value: '{{USER_PARAM}}' }, z: { primitive: 'enum({{names:name}})', options: [] } },
                    { position: { key: 'least', value: '{{USER_PARAM}}' }, z: { primitive: 'number()', options: [ 'min(0)', 'default(5)' ] } },
                ],
                output: { mimeType: 'application/json', schema: { type: 'array', items: { type: 'object', properties: { people: { type: 'string' } } } } },
                tests: [ { _description: 'Bonn', name: 'Bonn' } ],
            },
            shaped: { sql: 'SELECT 1 AS one', description: 'Shaped', parameters: [], tests: [] },
        } },
        gone: { source: 'sqlite', database: 'gone.db', description: 'Gone', queries: {} },
        log: { source: 'sqlite', mode: 'file-based', origin: 'project', name: 'demo-log.db', description: 'Log', queries: {} },
    },
}
export const handlers = () => ({ cities: { shaped: { postRequest: async ({ response }) => ({ response }) } } })";

/// The tools of [`SCHEMA`], with their databases in a folder.
fn tools(dir: &TempDir) -> Vec<ActiveTool> {
    let folder = |shown: &str| Folder { path: dir.path().to_owned(), shown: shown.into() };
    let folders = Folders {
        pack: dir.path().to_owned(),
        schema: folder("demo"),
        project: Some(folder(".flowmcp")),
        global: None,
    };
    let database = |resource: &Resource| {
        let ResourceSource::Sqlite { mode, .. } = &resource.source else { return None };
        let location = locate(&resource.file, FileKind::Database, &folders).unwrap();
        if resource.name.as_ref() != "gone" {
            create(&location, TABLES).unwrap();
        }
        Some(Arc::new(Database::new(location, *mode, DatabaseSettings::default())))
    };
    let file = SourceFile::new("demo.mjs", SCHEMA);
    let mut schema = validate(&file, read(&file), &Options::default()).value.unwrap();
    let text = "export const list = { meta: { name: 'names', version: '1.0.0' }, entries: [ { name: 'Bonn' }, { name: 'Trier' } ] }";
    let mut lists = Lists::default();
    lists.add(lower_list(&read(&SourceFile::new("list.mjs", text)).document.unwrap()).unwrap()).unwrap();
    assert_eq!(lists.resolve(&mut schema), []);
    let mut tools = activate_queries(&schema, &Arc::new(PackPolicy::new("pack")), database);
    assert_eq!(names::assign(&mut tools), [""; 0]);
    let mut params = ServerParams::default();
    tools.iter_mut().for_each(|tool| tool.hide_without_params(&mut params));
    tools
}

fn engine(tools: Vec<ActiveTool>, settings: Settings) -> (Arc<Upstream>, Engine) {
    let upstream = Arc::new(Upstream::default());
    let snapshot = Snapshot::new(tools.into_iter().map(|tool| Entry::Tool(Arc::new(tool))).collect());
    let engine = Engine::new(snapshot, Arc::clone(&upstream) as _, ServerParams::default(), settings);
    (upstream, engine)
}

#[test]
fn queries_are_tools_with_names_and_schemas() {
    let dir = tempfile::tempdir().unwrap();
    let shown = |tool: &ActiveTool| {
        let hidden = tool.hidden.as_ref().map(|hidden| format!(" hidden: {hidden}")).unwrap_or_default();
        format!("{} {:?} {:?}{hidden}", tool.name, tool.method, tool.description)
    };
    let tools = tools(&dir);
    assert_eq!(
        tools.iter().map(shown).collect::<Vec<_>>(),
        [
            r#"demo__cities__byName Get "Finds a city (Cities)""#,
            r#"demo__cities__shaped Get "Shaped (Cities)" hidden: needs handlers of resources, which this version does not run"#,
            r#"demo__cities__getSchema Get "Shows the tables and views with the statements that made them (Cities)""#,
            r#"demo__cities__freeQuery Get "Runs one SQL statement of your own; see getSchema for the tables (Cities)""#,
            r#"demo__gone__getSchema Get "Shows the tables and views with the statements that made them (Gone)""#,
            r#"demo__gone__freeQuery Get "Runs one SQL statement of your own; see getSchema for the tables (Gone)""#,
            r#"demo__log__getSchema Get "Shows the tables and views with the statements that made them (Log)""#,
            r#"demo__log__freeQuery Delete "Runs one SQL statement of your own; see getSchema for the tables (Log)""#,
        ]
    );
    let schema = tools[0].input_schema();
    assert_eq!(schema["properties"]["name"]["enum"], serde_json::json!(["Bonn", "Trier"]));
    assert_eq!(schema["required"], serde_json::json!(["name"]));
    let run = dry_run(&tools[0], object(r#"{"name":"Bonn"}"#), &Settings::default());
    assert_eq!(run, Err(DryRunError::Local));
}

#[test]
fn calls_ask_the_database_and_send_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (upstream, engine) = engine(tools(&dir), Settings::default());
    for (name, arguments, expected) in [
        (
            "demo__cities__byName",
            r#"{"name":"Bonn"}"#,
            "[{\"name\":\"Bonn\",\"people\":336465,\"big\":9007199254740993}]",
        ),
        ("demo__cities__byName", r#"{"name":"Bonn","least":"400000"}"#, "[]"),
        (
            "demo__cities__byName",
            r#"{"name":"Köln"}"#,
            "error: Bad arguments for demo__cities__byName:\n- name: must be one of Bonn, Trier (found \"Köln\")",
        ),
        ("demo__cities__freeQuery", r#"{"sql":"SELECT sum(n) AS s FROM many"}"#, r#"[{"s":125250}]"#),
        (
            "demo__cities__freeQuery",
            r#"{"sql":"SELECT n FROM many","limit":2}"#,
            "[{\"n\":1},{\"n\":2}]\n[cut: only the first 2 rows are shown, and there are more. Give a larger limit, add a WHERE, \
             or use LIMIT and OFFSET in the statement]",
        ),
        (
            "demo__cities__freeQuery",
            r#"{"sql":"DELETE FROM many"}"#,
            "error: refused: the database is read-only, so DELETE is not allowed",
        ),
        (
            "demo__gone__getSchema",
            "{}",
            "error: the database demo/gone.db is missing: put it there, it is found without a restart",
        ),
        (
            "demo__log__freeQuery",
            r#"{"sql":"DELETE FROM many WHERE n > 1"}"#,
            r#"[{"changes":499,"lastInsertRowid":0}]"#,
        ),
        ("demo__log__freeQuery", r#"{"sql":"SELECT count(*) AS n FROM many"}"#, r#"[{"n":1}]"#),
    ] {
        let (output, requests) = output(&engine, &upstream, name, object(arguments));
        assert!(requests.is_empty());
        let error = if output.is_error { "error: " } else { "" };
        assert_eq!(format!("{error}{}", content_text(&output)), expected, "{name} {arguments}");
    }
    let (mismatch, _) = output(&engine, &upstream, "demo__cities__byName", object(r#"{"name":"Bonn"}"#));
    assert!(mismatch.notes.iter().any(|note| note.contains("people")), "{:?}", mismatch.notes);
    assert_eq!(engine.snapshot().tools(DEFAULT_VIEW).count(), 7);
}

#[test]
fn a_query_ends_at_the_deadline_of_the_call() {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.limits.call_deadline = Duration::from_millis(200);
    let (upstream, engine) = engine(tools(&dir), settings);
    let sql = "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i) SELECT count(*) FROM i";
    let arguments = Map::from_iter([("sql".to_owned(), sql.into())]);
    let (output, _) = output(&engine, &upstream, "demo__cities__freeQuery", arguments);
    assert_eq!(
        (content_text(&output).as_str(), output.is_error),
        ("the query took longer than the call may take", true)
    );
}
