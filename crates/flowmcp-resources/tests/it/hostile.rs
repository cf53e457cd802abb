//! Statements that try to do more than read (case sql-01). SQLite itself refuses them, and the file stays what it was.

use std::fs;

use flowmcp_resources::{Database, Limits};
use proptest::prelude::*;

use crate::scene::{Scene, ask, ask_prepared, free, query, soon, wait};

const TABLES: &str = "
    CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO t (name) VALUES ('a'), ('b');
    CREATE VIEW v AS SELECT * FROM t;
    CREATE TRIGGER g INSTEAD OF INSERT ON v BEGIN DELETE FROM t; END;
    CREATE VIRTUAL TABLE f USING fts5(name);
    INSERT INTO f VALUES ('hello');
    CREATE VIRTUAL TABLE r USING rtree(id, x0, x1);
    CREATE TABLE plain_node (a);";

/// The statements, each with a word of the error that names the reason. `{other}` is another database.
const ATTEMPTS: &[(&str, &str)] = &[
    // Writing, under all names.
    ("DELETE FROM t", "DELETE is not allowed"),
    ("delete\nfrom\tt", "DELETE is not allowed"),
    ("INSERT INTO t (name) VALUES ('x')", "INSERT is not allowed"),
    ("REPLACE INTO t VALUES (1, 'x')", "not allowed"),
    ("UPDATE t SET name = 'x' RETURNING *", "not allowed"),
    ("INSERT INTO t (name) VALUES ('x') RETURNING id", "not allowed"),
    ("INSERT INTO t (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = 'y'", "not allowed"),
    ("WITH x AS (SELECT 1) DELETE FROM t", "not allowed"),
    ("WITH x AS (SELECT 1) INSERT INTO t (name) SELECT 'x' FROM x", "not allowed"),
    (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9) UPDATE t SET name = (SELECT max(i) FROM n)",
        "not allowed",
    ),
    ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "SQL error"),
    ("SELECT * FROM (DELETE FROM t RETURNING *)", "SQL error"),
    ("INSERT INTO v VALUES (1, 'x')", "not allowed"),
    ("INSERT INTO f(f) VALUES ('rebuild')", "not allowed"),
    ("DELETE FROM f_data", "may not be modified"),
    ("DELETE FROM r_node", "may not be modified"),
    ("INSERT INTO plain_node VALUES (1)", "read-only"),
    ("WITH x AS (SELECT 1) DELETE FROM plain_node", "read-only"),
    ("DELETE FROM sqlite_master", "may not be modified"),
    ("UPDATE sqlite_master SET sql = 'x'", "may not be modified"),
    ("EXPLAIN DELETE FROM t", "not allowed"),
    ("EXPLAIN QUERY PLAN UPDATE t SET name = 'x'", "not allowed"),
    // Comments and case.
    ("/* SELECT */ DELETE FROM t", "not allowed"),
    ("-- SELECT 1\nDELETE FROM t", "not allowed"),
    ("DeLeTe FrOm t", "not allowed"),
    ("SELECT 1 /* ; */; DELETE FROM t", "not allowed"),
    ("SELECT 1;\0DELETE FROM t", "NUL"),
    // Several statements.
    ("SELECT 1; SELECT 2", "only one statement"),
    ("SELECT 1; DELETE FROM t", "not allowed"),
    (";;DELETE FROM t", "not allowed"),
    ("SELECT 1;;;DROP TABLE t;", "not allowed"),
    ("SELECT 1) ; DELETE FROM t; --", "SQL error"),
    ("SELECT 1) UNION ALL SELECT * FROM (SELECT 2", "SQL error"),
    ("BEGIN; DELETE FROM t; COMMIT", "not allowed"),
    // Structure.
    ("CREATE TABLE x (a)", "not allowed"),
    ("CREATE TABLE x AS SELECT * FROM t", "not allowed"),
    ("CREATE INDEX i ON t (name)", "not allowed"),
    ("CREATE VIEW w AS SELECT 1", "not allowed"),
    ("CREATE TRIGGER h AFTER INSERT ON t BEGIN SELECT 1; END", "not allowed"),
    ("DROP TABLE t", "not allowed"),
    ("DROP VIEW v", "not allowed"),
    ("ALTER TABLE t RENAME TO u", "not allowed"),
    ("ALTER TABLE t ADD COLUMN x", "not allowed"),
    ("REINDEX", "not allowed|read-only"),
    ("ANALYZE", "not allowed|read-only"),
    // Temporary things outlive a statement.
    ("CREATE TEMP TABLE x (a)", "temporary|not allowed"),
    ("CREATE TABLE temp.x (a)", "temporary|not allowed"),
    ("CREATE TEMP VIEW w AS SELECT 1", "temporary|not allowed"),
    ("CREATE TEMP TRIGGER h AFTER INSERT ON t BEGIN SELECT 1; END", "temporary|not allowed"),
    // Virtual tables, among them those that read or write files.
    ("CREATE VIRTUAL TABLE x USING fts5(a)", "not allowed"),
    ("CREATE VIRTUAL TABLE x USING csv(filename='/etc/passwd')", "not allowed"),
    ("CREATE VIRTUAL TABLE temp.x USING fts5(a)", "not allowed|temporary"),
    ("CREATE VIRTUAL TABLE x USING fts3(tokenize=porter)", "not allowed"),
    ("SELECT * FROM csv('/etc/passwd')", "SQL error"),
    ("SELECT * FROM fsdir('/etc')", "SQL error|not available"),
    ("SELECT * FROM sqlite_dbpage", "SQL error"),
    // Other files.
    ("ATTACH '{other}' AS o", "no other database"),
    ("ATTACH DATABASE 'file:{other}?mode=ro' AS o", "no other database"),
    ("ATTACH ':memory:' AS m", "no other database"),
    ("ATTACH '' AS m", "no other database"),
    ("DETACH main", "DETACH"),
    ("VACUUM", "refused"),
    ("VACUUM INTO '{other}.copy'", "refused"),
    ("SELECT * FROM o.t", "SQL error"),
    ("SELECT readfile('/etc/passwd')", "SQL error|not available"),
    ("SELECT writefile('{other}.out', 'x')", "SQL error|not available"),
    ("SELECT edit('x')", "SQL error|not available"),
    // Libraries and memory.
    ("SELECT load_extension('/tmp/x.so')", "not available"),
    ("SELECT LOAD_EXTENSION('/tmp/x.so', 'init')", "not available"),
    ("SELECT \"load_extension\"('/tmp/x.so')", "not available"),
    ("SELECT fts3_tokenizer('simple')", "not available"),
    ("SELECT fts3_tokenizer('simple', x'4141414141414141')", "not available"),
    // Pragmas that change something, or tell where the file is.
    ("PRAGMA journal_mode=DELETE", "PRAGMA journal_mode"),
    ("PRAGMA journal_mode(wal)", "PRAGMA journal_mode"),
    ("PRAGMA main.user_version = 7", "PRAGMA user_version"),
    ("PRAGMA writable_schema = ON", "PRAGMA writable_schema"),
    ("PRAGMA query_only = OFF", "PRAGMA query_only"),
    ("PRAGMA trusted_schema = ON", "PRAGMA trusted_schema"),
    ("PRAGMA temp_store_directory = '/tmp'", "PRAGMA temp_store_directory"),
    ("PRAGMA data_store_directory = '/tmp'", "PRAGMA data_store_directory"),
    ("PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_checkpoint"),
    ("PRAGMA incremental_vacuum", "PRAGMA incremental_vacuum"),
    ("PRAGMA optimize", "PRAGMA optimize"),
    ("PRAGMA database_list", "PRAGMA database_list"),
    ("SELECT * FROM pragma_database_list", "PRAGMA database_list"),
    ("SELECT * FROM pragma_journal_mode('delete')", "SQL error"),
    ("PRAGMA hard_heap_limit = 0", "PRAGMA hard_heap_limit"),
    ("PRAGMA locking_mode = EXCLUSIVE", "PRAGMA locking_mode"),
    ("PRAGMA mmap_size = 100000000000", "PRAGMA mmap_size"),
    // Transactions outlive a statement.
    ("BEGIN EXCLUSIVE", "transaction of its own"),
    ("COMMIT", "transaction of its own"),
    ("SAVEPOINT s", "transaction of its own"),
    ("ROLLBACK", "transaction of its own"),
    // Nothing, and parameters.
    ("", "required|no statement"),
    ("-- nothing", "no statement"),
    ("SELECT ?", "no parameters"),
    ("SELECT :a, @b, $c", "no parameters"),
];

fn scene(journal: &str) -> Scene {
    let scene = Scene::new();
    scene.fill("global/resources/demo.db", &format!("PRAGMA journal_mode = {journal}; {TABLES}"));
    scene.fill("global/other.db", TABLES);
    scene
}

#[test]
fn every_attempt_is_refused_and_the_files_stay_as_they_are() {
    for journal in ["DELETE", "WAL"] {
        let scene = scene(journal);
        let before = scene.listing("");
        let database = scene.database("demo.db");
        let other = scene.at("global/other.db");
        let mut wrong = Vec::new();
        for (sql, reason) in ATTEMPTS {
            let sql = sql.replace("{other}", other.to_str().unwrap());
            let answer = ask(&database, &sql);
            let named = reason.split('|').any(|reason| answer.contains(reason));
            if !answer.starts_with("error: ") || !named {
                wrong.push(format!("{sql:?}: {answer}"));
            }
            assert!(!answer.contains(scene.dir.path().to_str().unwrap()), "{sql:?} tells a path: {answer}");
            // The next one finds a connection in order.
            assert_eq!(ask(&database, "SELECT count(*) AS n FROM t"), r#"[{"n":2}]"#, "after {sql:?}");
        }
        assert!(wrong.is_empty(), "{journal}:\n{}", wrong.join("\n"));
        assert_eq!(scene.listing(""), before, "{journal}");
    }
}

#[test]
fn a_schema_may_do_no_more_than_a_caller() {
    let scene = scene("DELETE");
    let before = scene.listing("");
    let database = scene.database("demo.db");
    for (sql, _) in ATTEMPTS.iter().filter(|(sql, _)| !sql.trim().is_empty() && !sql.contains(['?', '@'])) {
        let answer = ask_prepared(&database, &query(sql, &[]), &[]);
        assert!(answer.starts_with("error: "), "{sql:?}: {answer}");
    }
    assert_eq!(scene.listing(""), before);
}

/// Case sql-03: words inside names, texts, comments and functions are no statements.
#[test]
fn what_only_reads_is_allowed() {
    let scene = Scene::new();
    scene.fill(
        "global/resources/demo.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, note TEXT, created_at TEXT, updated_at TEXT);
         INSERT INTO t VALUES (1, 'Ada', 'DROP; DELETE', 'c', 'u');
         CREATE VIEW v AS SELECT name FROM t;
         CREATE VIRTUAL TABLE f USING fts5(name);
         INSERT INTO f VALUES ('hello world');
         CREATE VIRTUAL TABLE r USING rtree(id, x0, x1);
         INSERT INTO r VALUES (1, 0, 1);",
    );
    let database = scene.database("demo.db");
    for (sql, expected) in [
        ("SELECT created_at, updated_at FROM t", r#"[{"created_at":"c","updated_at":"u"}]"#),
        ("SELECT replace(name, 'A', 'b') AS r FROM t", r#"[{"r":"bda"}]"#),
        ("SELECT id FROM t WHERE note = 'DROP; DELETE'", r#"[{"id":1}]"#),
        (
            "\n/* c */ WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<3) SELECT i FROM n",
            r#"[{"i":1},{"i":2},{"i":3}]"#,
        ),
        ("select 1;", r#"[{"1":1}]"#),
        ("SELECT 1 AS a; -- that is all", r#"[{"a":1}]"#),
        ("SELECT 1 AS a /* open", r#"[{"a":1}]"#),
        ("SELECT 1 AS a -- comment;", r#"[{"a":1}]"#),
        ("WITH x AS (SELECT 1 AS a) SELECT * FROM x", r#"[{"a":1}]"#),
        ("VALUES (1, 2)", r#"[{"column1":1,"column2":2}]"#),
        ("SELECT name FROM v ORDER BY 1", r#"[{"name":"Ada"}]"#),
        ("SELECT name FROM f WHERE f MATCH 'hel*'", r#"[{"name":"hello world"}]"#),
        ("SELECT highlight(f, 0, '<', '>') AS h FROM f('world')", r#"[{"h":"hello <world>"}]"#),
        ("SELECT id FROM r WHERE x0 >= 0 AND x1 <= 1", r#"[{"id":1}]"#),
        ("SELECT value FROM json_each('[7]')", r#"[{"value":7}]"#),
        ("SELECT name FROM pragma_table_info('v')", r#"[{"name":"name"}]"#),
        ("PRAGMA user_version", r#"[{"user_version":0}]"#),
        ("SELECT type FROM sqlite_master WHERE name = 'v'", r#"[{"type":"view"}]"#),
        ("SELECT 'a' LIKE 'A' AS l, 'é' || char(0x1F600) AS e", r#"[{"l":1,"e":"é😀"}]"#),
    ] {
        assert_eq!(ask(&database, sql), expected, "{sql}");
    }
    assert!(ask(&database, "EXPLAIN SELECT 1").starts_with(r#"[{"addr":0"#));
    let tables = ask(&database, "PRAGMA table_info(v)");
    assert!(tables.contains(r#""name":"name""#), "{tables}");
    let schema = crate::scene::resource("{}");
    let tables = ask_prepared(&database, schema.query("getSchema").unwrap(), &[]);
    assert!(tables.contains(r#"{"name":"v","sql":"CREATE VIEW v AS SELECT name FROM t"}"#), "{tables}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// No text makes the crate panic or changes a file.
    #[test]
    fn no_statement_panics_or_changes_a_file(
        words in prop::collection::vec(
            prop_oneof![
                Just("SELECT".to_owned()), Just("DELETE".to_owned()), Just("FROM t".to_owned()), Just("t".to_owned()),
                Just("INSERT INTO t".to_owned()), Just("VALUES (1)".to_owned()), Just("WITH x AS (".to_owned()),
                Just(")".to_owned()), Just(";".to_owned()), Just("--".to_owned()), Just("/*".to_owned()),
                Just("*/".to_owned()), Just("'".to_owned()), Just("*".to_owned()), Just("PRAGMA".to_owned()),
                Just("ATTACH ':memory:' AS m".to_owned()), Just("VACUUM".to_owned()), Just("INTO 'x.db'".to_owned()),
                Just("LIMIT 1".to_owned()), Just("\n".to_owned()), Just("CREATE TEMP TABLE x AS".to_owned()),
                Just("UPDATE t SET name = 1".to_owned()), Just("RETURNING *".to_owned()), ".{0,8}",
            ],
            0..9,
        )
    ) {
        static SCENE: std::sync::OnceLock<(Scene, Database)> = std::sync::OnceLock::new();
        let (scene, database) = SCENE.get_or_init(|| {
            let scene = scene("DELETE");
            let database = scene.database("demo.db");
            (scene, database)
        });
        let before = scene.listing("");
        let sql = words.join(" ");
        let _ = ask(database, &sql);
        prop_assert_eq!(scene.listing(""), before);
        prop_assert!(!std::path::Path::new("x.db").exists());
    }
}

#[test]
fn no_thread_survives_its_database() {
    let scene = scene("DELETE");
    let database = scene.database("demo.db");
    assert_eq!(ask(&database, "SELECT 1 AS a"), r#"[{"a":1}]"#);
    let path = fs::canonicalize(scene.at("global/resources/demo.db")).unwrap();
    let held = || {
        let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        open.filter(|entry| fs::read_link(entry.path()).is_ok_and(|link| link == path)).count()
    };
    if !cfg!(target_os = "linux") {
        return;
    }
    assert!(held() > 0);
    drop(database);
    // The thread closes the file on its own time.
    let end = soon();
    while held() > 0 && std::time::Instant::now() < end {
        std::thread::yield_now();
    }
    assert_eq!(held(), 0);
}

#[test]
fn a_query_works_on_any_thread_of_a_runtime() {
    let scene = scene("DELETE");
    let database = std::sync::Arc::new(scene.database("demo.db"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let database = std::sync::Arc::clone(&database);
                let statement = free("SELECT count(*) AS n FROM t", None);
                tokio::spawn(async move { database.query(statement, Limits::default(), soon()).await })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap().unwrap().json, r#"[{"n":2}]"#);
        }
    });
    wait(async {});
}
