//! Logs, locks, and files that are missing, damaged or exchanged (case sql-04).

use std::{fs, os::unix::fs::MetadataExt, time::Duration};

use flowmcp_resources::{Database, DatabaseSettings, Limits};
use flowmcp_spec::schema::{DatabaseMode, Origin};

use crate::scene::{SECOND, Scene, ask, free, shown, soon, wait};

const TABLE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2);";
const COUNT: &str = "SELECT count(*) AS n FROM t";
const PATH: &str = "global/resources/demo.db";

fn wal() -> Scene {
    let scene = Scene::new();
    scene.fill(PATH, &format!("PRAGMA journal_mode = WAL; {TABLE}"));
    scene
}

#[test]
fn a_database_with_a_log_is_read_without_leaving_files() {
    let scene = wal();
    let before = scene.listing("");
    let database = scene.database("demo.db");
    assert_eq!(ask(&database, COUNT), r#"[{"n":2}]"#);
    drop(database);
    assert_eq!(scene.listing(""), before);
}

#[test]
fn rows_in_a_live_log_are_seen() {
    let scene = wal();
    let database = scene.database("demo.db");
    assert_eq!(ask(&database, COUNT), r#"[{"n":2}]"#);
    let writer = rusqlite::Connection::open(scene.at(PATH)).unwrap();
    for count in 3..6 {
        writer.execute("INSERT INTO t DEFAULT VALUES", []).unwrap();
        assert_eq!(ask(&database, COUNT), format!(r#"[{{"n":{count}}}]"#));
    }
    // The last writer puts the log into the database and removes it.
    drop(writer);
    assert_eq!(ask(&database, COUNT), r#"[{"n":5}]"#);
}

#[test]
fn changes_after_a_closed_log_are_seen() {
    let scene = wal();
    let database = scene.database("demo.db");
    for count in 3..6 {
        scene.fill(PATH, "INSERT INTO t DEFAULT VALUES");
        assert_eq!(ask(&database, COUNT), format!(r#"[{{"n":{count}}}]"#));
    }
}

#[test]
fn a_lock_of_another_program_is_waited_for_and_then_named() {
    let scene = Scene::new();
    scene.fill(PATH, TABLE);
    scene.fill("global/resources/free.db", TABLE);
    let settings = DatabaseSettings { wait: Duration::from_millis(50), ..DatabaseSettings::default() };
    let database = scene.database_with("demo.db", settings);
    let holder = rusqlite::Connection::open(scene.at(PATH)).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(
        ask(&database, COUNT),
        "error: the database ~/.flowmcp/resources/demo.db is locked by another program: try again later"
    );
    assert_eq!(ask(&scene.database("free.db"), COUNT), r#"[{"n":2}]"#);
    holder.execute_batch("COMMIT").unwrap();
    assert_eq!(ask(&database, COUNT), r#"[{"n":2}]"#);
}

/// POSIX takes a process's locks on a file away when the process closes any handle of it.
#[test]
fn locks_survive_a_look_at_the_file() {
    let scene = Scene::new();
    scene.fill("project/resources/log.db", TABLE);
    // A connection with a log holds a lock on its database as long as it lives.
    let holder = scene.file_based("log.db");
    assert_eq!(ask(&holder, COUNT), r#"[{"n":2}]"#);
    let inode = fs::metadata(scene.at("project/resources/log.db")).unwrap().ino();
    let locks = || {
        let (own, inode) = (std::process::id().to_string(), format!(":{inode}"));
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        let fields = locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        fields
            .filter(|fields| fields.contains(&&*own) && fields.iter().any(|field| field.ends_with(&inode)))
            .count()
    };
    let before = locks();
    if !std::path::Path::new("/proc/locks").exists() {
        // Only Linux says which locks there are.
        return;
    }
    assert!(before > 0);
    for _ in 0..3 {
        let location = scene.location(Origin::Project, "log.db").unwrap();
        let reader = Database::new(location, DatabaseMode::ReadOnly, DatabaseSettings::default());
        assert_eq!(ask(&reader, COUNT), r#"[{"n":2}]"#);
    }
    assert!(locks() >= before, "{} of {before} locks are left", locks());
}

#[test]
fn an_unfinished_change_is_named() {
    let scene = Scene::new();
    scene.fill(PATH, TABLE);
    // A hot journal: a copy of what a program that was killed leaves.
    let writer = rusqlite::Connection::open(scene.at(PATH)).unwrap();
    writer
        .execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; UPDATE t SET id = id + 100;")
        .unwrap();
    writer.execute_batch("WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i+1 FROM n LIMIT 20000) INSERT INTO t SELECT i FROM n;").unwrap();
    let journal = scene.at("global/resources/demo.db-journal");
    assert!(journal.exists());
    fs::copy(scene.at(PATH), scene.at("global/resources/left.db")).unwrap();
    fs::copy(&journal, scene.at("global/resources/left.db-journal")).unwrap();
    drop(writer);
    let before = scene.listing("");
    assert_eq!(
        ask(&scene.database("left.db"), COUNT),
        "error: the database ~/.flowmcp/resources/left.db has an unfinished change of another program: open it once with \
         that program or with the sqlite3 shell, so that it is taken back"
    );
    assert_eq!(scene.listing(""), before);
}

#[test]
fn what_is_no_database_is_named_and_nothing_is_made() {
    let scene = Scene::new();
    fs::write(scene.at("global/resources/text.db"), "not a database, but long enough to be looked at as one")
        .unwrap();
    fs::write(scene.at("global/resources/empty.db"), "").unwrap();
    fs::create_dir(scene.at("global/resources/folder.db")).unwrap();
    scene.fill(PATH, TABLE);
    let mut damaged = fs::read(scene.at(PATH)).unwrap();
    damaged[100..2000].fill(0xff);
    fs::write(scene.at("global/resources/damaged.db"), damaged).unwrap();
    fs::write(scene.at("global/resources/short.db"), &fs::read(scene.at(PATH)).unwrap()[..50]).unwrap();
    let before = scene.listing("");
    for (name, expected) in [
        ("text.db", "is not an SQLite database"),
        ("empty.db", "is empty: it has no tables and 0 bytes"),
        ("folder.db", "is not a regular file"),
        ("damaged.db", "is damaged: database disk image is malformed"),
        ("short.db", "is damaged: database disk image is malformed"),
    ] {
        assert_eq!(
            ask(&scene.database(name), COUNT),
            format!("error: ~/.flowmcp/resources/{name} {expected}")
        );
    }
    assert_eq!(
        ask(&scene.database("none.db"), COUNT),
        "error: the database ~/.flowmcp/resources/none.db is missing: put it there, it is found without a restart"
    );
    assert_eq!(scene.listing(""), before);
}

#[test]
fn a_database_that_appears_or_is_exchanged_is_found() {
    let scene = Scene::new();
    let database = scene.database("demo.db");
    assert!(database.problem().is_some());
    assert!(ask(&database, COUNT).contains("is missing"));
    scene.fill(PATH, TABLE);
    assert!(database.problem().is_none());
    assert_eq!(ask(&database, COUNT), r#"[{"n":2}]"#);
    scene.fill("global/new.db", &format!("{TABLE} INSERT INTO t VALUES (3);"));
    fs::rename(scene.at("global/new.db"), scene.at(PATH)).unwrap();
    assert_eq!(ask(&database, COUNT), r#"[{"n":3}]"#);
    fs::remove_file(scene.at(PATH)).unwrap();
    assert!(ask(&database, COUNT).contains("is missing"));
    scene.fill(PATH, "CREATE TABLE t (id); INSERT INTO t VALUES (9);");
    assert_eq!(ask(&database, COUNT), r#"[{"n":1}]"#);
}

#[test]
fn names_with_odd_characters_are_names() {
    for name in ["a?mode=rw.db", "a%20b.db", "a#b.db", "ü ö.db", "file:x.db"] {
        let scene = Scene::new();
        scene.fill(&format!("global/resources/{}", "plain.db"), TABLE);
        fs::rename(scene.at("global/resources/plain.db"), scene.at("global/resources").join(name)).unwrap();
        let before = scene.listing("");
        assert_eq!(ask(&scene.database(name), COUNT), r#"[{"n":2}]"#, "{name}");
        assert_eq!(scene.listing(""), before);
    }
}

#[test]
fn a_writer_all_the_time_loses_nothing_for_readers() {
    let scene = wal();
    let database = scene.database("demo.db");
    let path = scene.at(PATH);
    let writer = std::thread::spawn(move || {
        for _ in 0..30 {
            let connection = rusqlite::Connection::open(&path).unwrap();
            connection.busy_timeout(10 * SECOND).unwrap();
            connection.execute("INSERT INTO t DEFAULT VALUES", []).unwrap();
        }
    });
    let mut last = 0;
    while last < 32 {
        let rows = wait(database.query(
            free("SELECT max(id) AS n, count(*) AS c FROM t", None),
            Limits::default(),
            soon(),
        ));
        match rows {
            Ok(rows) => {
                let value: serde_json::Value = serde_json::from_str(&rows.json).unwrap();
                let (max, count) = (value[0]["n"].as_u64().unwrap(), value[0]["c"].as_u64().unwrap());
                assert!(max == count && count >= last, "{value} after {last}");
                last = count;
            }
            Err(
                flowmcp_resources::QueryError::Changing { .. } | flowmcp_resources::QueryError::Locked { .. },
            ) => {}
            other => panic!("{}", shown(other)),
        }
    }
    writer.join().unwrap();
}
