//! File-based databases: every statement, a copy before the first change, and how they are made.

use std::fs;

use flowmcp_resources::{Limits, create};
use flowmcp_spec::schema::Origin;

use crate::scene::{Scene, ask, ask_prepared, free, query, soon};

const PATH: &str = "project/resources/log.db";

fn scene() -> Scene {
    let scene = Scene::new();
    scene
        .fill(PATH, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, 'first');");
    scene
}

#[test]
fn all_statements_work_and_stay() {
    let scene = scene();
    let database = scene.file_based("log.db");
    for (sql, expected) in [
        ("SELECT count(*) AS n FROM t", r#"[{"n":1}]"#),
        ("INSERT INTO t (name) VALUES ('second')", r#"[{"changes":1,"lastInsertRowid":2}]"#),
        ("INSERT INTO t (name) VALUES ('c'), ('d') RETURNING id", r#"[{"id":3},{"id":4}]"#),
        ("UPDATE t SET name = upper(name) WHERE id > 2", r#"[{"changes":2,"lastInsertRowid":4}]"#),
        (
            "WITH x AS (SELECT 4 AS id) DELETE FROM t WHERE id IN (SELECT id FROM x) RETURNING name",
            r#"[{"name":"D"}]"#,
        ),
        ("CREATE TABLE u (a)", r#"[{"changes":1,"lastInsertRowid":4}]"#),
        ("CREATE INDEX i ON u (a)", r#"[{"changes":1,"lastInsertRowid":4}]"#),
        ("ALTER TABLE u ADD COLUMN b", r#"[{"changes":1,"lastInsertRowid":4}]"#),
        ("CREATE VIRTUAL TABLE f USING fts5(a)", r#"[{"changes":1,"lastInsertRowid":4}]"#),
        ("DROP TABLE u", r#"[{"changes":1,"lastInsertRowid":4}]"#),
        ("SELECT group_concat(name) AS all_names FROM t", r#"[{"all_names":"first,second,C"}]"#),
    ] {
        let answer = ask(&database, sql);
        // What a statement without rows counts is SQLite's business.
        let same = answer == expected || (expected.contains("changes") && answer.contains("changes"));
        assert!(same, "{sql}: {answer}");
    }
    let insert = query("INSERT INTO t (name) VALUES (?)", &[("name", "string()")]);
    assert_eq!(
        ask_prepared(&database, &insert, &[Some("third".into())]),
        r#"[{"changes":1,"lastInsertRowid":4}]"#
    );
    drop(database);
    assert_eq!(ask(&scene.file_based("log.db"), "SELECT count(*) AS n FROM t"), r#"[{"n":4}]"#);
}

#[test]
fn what_leaves_the_file_is_refused_here_too() {
    let scene = scene();
    let database = scene.file_based("log.db");
    for sql in [
        "ATTACH ':memory:' AS m",
        "ATTACH 'x.db' AS m",
        "VACUUM INTO 'x.db'",
        "BEGIN",
        "SAVEPOINT s",
        "CREATE TEMP TABLE x (a)",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA writable_schema = 1",
        "UPDATE sqlite_master SET sql = 'x'",
        "SELECT load_extension('x')",
        "CREATE VIRTUAL TABLE x USING fts3(tokenize=porter)",
        "INSERT INTO t (name) VALUES ('x'); DELETE FROM t",
    ] {
        let answer = ask(&database, sql);
        assert!(answer.starts_with("error: "), "{sql}: {answer}");
    }
    assert_eq!(ask(&database, "SELECT count(*) AS n FROM t"), r#"[{"n":1}]"#);
    assert!(!std::path::Path::new("x.db").exists());
}

#[test]
fn a_copy_is_made_once_before_the_first_change() {
    let scene = scene();
    let copy = scene.at("project/resources/log.db.bak");
    let database = scene.file_based("log.db");
    ask(&database, "SELECT * FROM t");
    assert!(!copy.exists(), "reading makes no copy");
    ask(&database, "INSERT INTO t (name) VALUES ('second')");
    ask(&database, "INSERT INTO t (name) VALUES ('third')");
    let count = |path: &std::path::Path| {
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(count(&copy), 1);
    // Another database object of this process, as a reload makes one, keeps the copy.
    drop(database);
    ask(&scene.file_based("log.db"), "DELETE FROM t");
    assert_eq!((count(&copy), count(&scene.at(PATH))), (1, 0));
    let names: Vec<_> = scene.listing("project").into_keys().collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().ends_with(".new")), "{names:?}");
}

#[test]
fn without_a_copy_nothing_is_changed() {
    let scene = scene();
    let database = scene.file_based("log.db");
    // A folder of that name cannot be replaced by a file.
    fs::create_dir_all(scene.at("project/resources/log.db.bak/in")).unwrap();
    let answer = ask(&database, "DELETE FROM t");
    assert!(
        answer.starts_with("error: nothing was changed, because no backup .flowmcp/resources/log.db.bak"),
        "{answer}"
    );
    assert_eq!(ask(&database, "SELECT count(*) AS n FROM t"), r#"[{"n":1}]"#);
    fs::remove_dir_all(scene.at("project/resources/log.db.bak")).unwrap();
    assert_eq!(ask(&database, "DELETE FROM t RETURNING id"), r#"[{"id":1}]"#);
}

#[test]
fn twenty_readers_and_a_writer_lose_nothing() {
    let scene = scene();
    let database = std::sync::Arc::new(scene.file_based("log.db"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let run = |sql: &str| {
            let (database, statement) = (std::sync::Arc::clone(&database), free(sql, None));
            async move { database.query(statement, Limits::default(), soon()).await.unwrap().json }
        };
        let readers: Vec<_> = (0..20)
            .map(|_| {
                let reads: Vec<_> = (0..10).map(|_| run("SELECT count(*) AS n FROM t")).collect();
                tokio::spawn(async move {
                    for read in reads {
                        assert!(read.await.starts_with(r#"[{"n":"#));
                    }
                })
            })
            .collect();
        for _ in 0..50 {
            assert!(run("INSERT INTO t (name) VALUES ('x')").await.contains("\"changes\":1"));
        }
        for reader in readers {
            reader.await.unwrap();
        }
        assert_eq!(run("SELECT count(*) AS n FROM t").await, r#"[{"n":51}]"#);
    });
}

#[test]
fn a_database_is_made_only_by_create() {
    let scene = Scene::new();
    let database = scene.file_based("new.db");
    let missing = ask(&database, "CREATE TABLE t (a)");
    assert!(missing.contains(".flowmcp/resources/new.db is missing"), "{missing}");
    let location = scene.location(Origin::Project, "new.db").unwrap();
    let failed = create(&location, "CREATE TABLE t (a); CREATE TABLE t (a)").unwrap_err().to_string();
    assert_eq!(failed, "SQL error: table t already exists; nothing was made");
    let refused = create(&location, "ATTACH 'x.db' AS x").unwrap_err().to_string();
    assert_eq!(refused, "refused: no other database file can be opened or written; nothing was made");
    assert_eq!(scene.listing("project").len(), 0);
    fs::remove_dir_all(scene.at("project")).unwrap();
    create(&location, "CREATE TABLE t (a INTEGER); CREATE INDEX i ON t (a);").unwrap();
    assert_eq!(ask(&database, "INSERT INTO t VALUES (5) RETURNING a"), r#"[{"a":5}]"#);
    let again = create(&location, "").unwrap_err().to_string();
    assert_eq!(again, ".flowmcp/resources/new.db exists already and stays as it is");
    assert_eq!(ask(&database, "SELECT a FROM t"), r#"[{"a":5}]"#);

    let bare = scene.location(Origin::Project, "bare.db").unwrap();
    create(&bare, "").unwrap();
    assert_eq!(ask(&scene.file_based("bare.db"), "SELECT count(*) AS n FROM sqlite_master"), r#"[{"n":0}]"#);
}

#[test]
fn a_link_at_the_place_of_a_new_database_is_not_followed() {
    let scene = Scene::new();
    std::os::unix::fs::symlink(scene.at("elsewhere.db"), scene.at("project/resources/new.db")).unwrap();
    let location = scene.location(Origin::Project, "new.db").unwrap();
    assert!(create(&location, "CREATE TABLE t (a)").is_err());
    assert!(!scene.at("elsewhere.db").exists());
}
