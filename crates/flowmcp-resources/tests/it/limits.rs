//! Rows, bytes, time and memory have an end.

use std::time::{Duration, Instant};

use flowmcp_resources::{DatabaseSettings, Limits, PoolSize};

use crate::scene::{SECOND, Scene, ask, free, query, shown, soon, wait};

const ENDLESS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

fn scene() -> Scene {
    let scene = Scene::new();
    scene.fill(
        "global/resources/demo.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 5000) INSERT INTO t SELECT i, 'row ' || i FROM n;",
    );
    scene
}

#[test]
fn callers_get_as_many_rows_as_they_ask_for_up_to_a_thousand() {
    let scene = scene();
    let database = scene.database("demo.db");
    let limits = Limits { rows: 10_000, bytes: 1 << 20 };
    let rows = |sql: &str, limit| {
        let rows = wait(database.query(free(sql, limit), limits, soon())).unwrap();
        (rows.rows, rows.notes.len())
    };
    for (sql, limit, expected) in [
        ("SELECT id FROM t", None, (100, 1)),
        ("SELECT id FROM t;", Some(7), (7, 1)),
        ("SELECT id FROM t LIMIT 7", Some(7), (7, 0)),
        ("SELECT id FROM t LIMIT 5000", Some(7), (7, 1)),
        ("SELECT id FROM t", Some(1000), (1000, 1)),
        ("SELECT id FROM t", Some(4_000_000), (1000, 1)),
        ("SELECT id FROM t", Some(0), (1, 1)),
        ("SELECT id FROM t -- LIMIT 5", Some(7), (7, 1)),
        ("SELECT id FROM t /* open", Some(7), (7, 1)),
        ("SELECT id FROM t UNION SELECT id + 9000 FROM t ORDER BY 1 DESC", Some(7), (7, 1)),
        ("VALUES (1), (2), (3)", Some(2), (2, 1)),
        ("SELECT * FROM t a JOIN t b ON a.id = b.id", Some(2), (2, 1)),
        ("SELECT id FROM t WHERE id <= 100", None, (100, 0)),
    ] {
        assert_eq!(rows(sql, limit), expected, "{sql} {limit:?}");
    }
    let note = ask(&database, "SELECT id FROM t WHERE id < 102");
    let end = "[cut: only the first 100 rows are shown, and there are more. Give a larger limit, add a WHERE, or use LIMIT and \
               OFFSET in the statement]";
    assert!(note.ends_with(end), "{note}");
}

#[test]
fn order_is_kept_when_rows_are_limited() {
    let scene = scene();
    let database = scene.database("demo.db");
    let rows =
        wait(database.query(free("SELECT id FROM t ORDER BY id DESC", Some(3)), Limits::default(), soon()));
    assert_eq!(rows.unwrap().json, r#"[{"id":5000},{"id":4999},{"id":4998}]"#);
}

#[test]
fn results_end_at_a_whole_row() {
    let scene = scene();
    let database = scene.database("demo.db");
    let check = |sql: &str, rows, bytes| {
        let statement = flowmcp_resources::Statement::new(&query(sql, &[]), &[]).unwrap();
        let result = shown(wait(database.query(statement, Limits { rows, bytes }, soon())));
        let json = result.split(" [").next().unwrap().to_owned();
        assert!(json.len() <= bytes.max(2), "{json}");
        result
    };
    assert_eq!(check("SELECT id FROM t WHERE id < 4", 9, 27), r#"[{"id":1},{"id":2},{"id":3}] [cut: the first 2 rows are shown; with the next one the result has more than 27 bytes. Ask for fewer or shorter columns, or for fewer rows at a time]"#.replace(r#",{"id":3}"#, ""));
    assert_eq!(check("SELECT id FROM t WHERE id < 4", 9, 28), r#"[{"id":1},{"id":2},{"id":3}]"#);
    assert_eq!(
        check("SELECT id FROM t WHERE id < 4", 2, 28),
        r#"[{"id":1},{"id":2}] [cut: only the first 2 rows are shown, and there are more. Ask for less with narrower parameters]"#
    );
    assert!(
        check("SELECT zeroblob(20000000) AS b, 1 AS one", 9, 1000)
            .starts_with("[] [cut: the first 0 rows are shown")
    );
    assert!(check("SELECT id FROM t", 9, 0).starts_with("[] [cut"));
}

#[test]
fn an_endless_statement_ends_at_the_deadline() {
    let scene = scene();
    let database = scene.database("demo.db");
    for sql in [
        ENDLESS,
        "SELECT count(*) FROM t a, t b, t c, t d WHERE a.s LIKE '%1%' || b.s",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n ORDER BY i DESC",
    ] {
        let deadline = Instant::now() + SECOND / 10;
        let result = shown(wait(database.query(free(sql, None), Limits::default(), deadline)));
        assert!(
            result == "error: the query took longer than the call may take"
                || result.starts_with("error: the statement needs"),
            "{sql}: {result}"
        );
        // The thread is free again.
        assert_eq!(ask(&database, "SELECT 1 AS a"), r#"[{"a":1}]"#);
    }
}

#[test]
fn a_statement_that_nobody_waits_for_ends() {
    let scene = scene();
    let settings =
        DatabaseSettings { size: PoolSize { threads: 1, waiting: 8 }, ..DatabaseSettings::default() };
    let database = scene.database_with("demo.db", settings);
    wait(async {
        let endless = database.query(free(ENDLESS, None), Limits::default(), Instant::now() + 3600 * SECOND);
        let given_up = tokio::time::timeout(Duration::from_millis(50), endless).await;
        assert!(given_up.is_err());
        // The one thread can only do this when it has stopped doing that.
        let after = database.query(free("SELECT 1 AS a", None), Limits::default(), soon()).await;
        assert_eq!(after.unwrap().json, r#"[{"a":1}]"#);
    });
}

#[test]
fn callers_statements_leave_a_thread_to_the_schema() {
    let scene = scene();
    let settings =
        DatabaseSettings { size: PoolSize { threads: 2, waiting: 8 }, ..DatabaseSettings::default() };
    let database = scene.database_with("demo.db", settings);
    wait(async {
        let later = Instant::now() + 3600 * SECOND;
        let endless = [
            database.query(free(ENDLESS, None), Limits::default(), later),
            database.query(free(ENDLESS, None), Limits::default(), later),
        ];
        let [first, second] = endless;
        let known = flowmcp_resources::Statement::new(&query("SELECT 1 AS a", &[]), &[]).unwrap();
        let known = database.query(known, Limits::default(), soon());
        tokio::select! {
            biased;
            result = first => panic!("{}", shown(result)),
            result = second => panic!("{}", shown(result)),
            result = known => assert_eq!(result.unwrap().json, r#"[{"a":1}]"#),
        }
    });
}

#[test]
fn too_many_queries_are_refused_at_once() {
    let scene = scene();
    let settings =
        DatabaseSettings { size: PoolSize { threads: 1, waiting: 1 }, ..DatabaseSettings::default() };
    let database = scene.database_with("demo.db", settings);
    let results = wait(async {
        let deadline = Instant::now() + SECOND / 5;
        let ask = || database.query(free(ENDLESS, None), Limits::default(), deadline);
        let (a, b, c, d) = tokio::join!(ask(), ask(), ask(), ask());
        [a, b, c, d].map(shown)
    });
    let full = "error: the query too many queries are waiting: try again later";
    assert!(results.iter().any(|result| result == full), "{results:?}");
}

#[test]
fn memory_has_an_end() {
    let scene = scene();
    let database = scene.database("demo.db");
    for sql in [
        "SELECT zeroblob(1000000000)",
        "SELECT length(printf('%1000000000d', 1))",
        "SELECT group_concat(s, printf('%1000d', 1)) FROM t",
    ] {
        assert_eq!(
            ask(&database, sql),
            "error: the statement needs too much memory, or makes too long a value: ask for less at a time",
            "{sql}"
        );
    }
    assert_eq!(ask(&database, "SELECT 1 AS a"), r#"[{"a":1}]"#);
}
