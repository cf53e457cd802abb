//! Paths that lead away (case cfg-04).

use std::{fs, os::unix::fs::symlink};

use flowmcp_resources::{Database, DatabaseSettings, FileKind, Folder, locate};
use flowmcp_spec::schema::{DatabaseMode, Origin, ResourceFile};

use crate::scene::{Scene, ask};

const TABLE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2);";
const COUNT: &str = "SELECT count(*) AS n FROM t";

/// The answer of the database at a place, or the error.
fn check(scene: &Scene, origin: Origin, path: &str) -> String {
    match scene.location(origin, path) {
        Ok(location) => {
            ask(&Database::new(location, DatabaseMode::ReadOnly, DatabaseSettings::default()), COUNT)
        }
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn paths_name_files_in_their_folder_only() {
    let scene = Scene::new();
    scene.fill("secret.db", TABLE);
    for (path, reason) in [
        ("../secret.db", "it has a `..`"),
        ("../../etc/passwd", "it has a `..`"),
        ("a/../../secret.db", "it has a `..`"),
        ("/etc/passwd", "it must be relative to its folder"),
        ("a\\..\\secret.db", "it has a NUL or a backslash"),
        ("secret.db\0.db", "it has a NUL or a backslash"),
        ("", "it names no file"),
        (".", "it names no file"),
    ] {
        for origin in [Origin::Schema, Origin::Inline, Origin::Project, Origin::Global, Origin::GlobalBase] {
            let expected = format!("error: {path:?} cannot be the file of a resource: {reason}");
            assert_eq!(check(&scene, origin, path), expected, "{origin:?}");
        }
    }
}

#[test]
fn each_origin_has_its_folder() {
    let scene = Scene::new();
    for (origin, path, file) in [
        (Origin::Schema, "a.db", "pack/demo/a.db"),
        (Origin::Schema, "resources/b.db", "pack/demo/resources/b.db"),
        (Origin::Inline, "c.db", "pack/demo/resources/c.db"),
        (Origin::Project, "d.db", "project/resources/d.db"),
        (Origin::Global, "e.db", "global/resources/e.db"),
        (Origin::GlobalBase, "data/f.db", "global/data/f.db"),
        (Origin::Schema, "./g.db", "pack/demo/g.db"),
    ] {
        scene.fill(file, TABLE);
        assert_eq!(check(&scene, origin, path), r#"[{"n":2}]"#, "{file}");
    }
    let file = ResourceFile { origin: Origin::Project, path: "a.db".into() };
    let mut folders = scene.folders.clone();
    folders.project = None;
    let error = locate(&file, FileKind::Database, &folders).unwrap_err().to_string();
    assert_eq!(error, "\"a.db\" has the origin project, and no folder is set for that");
}

#[test]
fn links_that_lead_away_are_refused() {
    let scene = Scene::new();
    scene.fill("global/resources/real.db", TABLE);
    scene.fill("secret.db", TABLE);
    fs::create_dir_all(scene.at("global/resources-evil")).unwrap();
    scene.fill("global/resources-evil/x.db", TABLE);
    let link = |target: &str, name: &str| symlink(target, scene.at("global/resources").join(name)).unwrap();
    link("../../secret.db", "away.db");
    link("../resources-evil/x.db", "sibling.db");
    link("../..", "up");
    link("real.db", "inside.db");
    link("loop.db", "loop.db");
    link("/dev/zero", "zero.db");
    let outside = |name: &str| {
        format!(
            "error: ~/.flowmcp/resources/{name} leads to a file outside of its folder, which is not allowed: put the file \
             itself there"
        )
    };
    for (name, expected) in [
        ("away.db", outside("away.db")),
        ("sibling.db", outside("sibling.db")),
        ("up/secret.db", outside("up/secret.db")),
        ("zero.db", outside("zero.db")),
        ("inside.db", r#"[{"n":2}]"#.to_owned()),
    ] {
        assert_eq!(check(&scene, Origin::Global, name), expected);
    }
    assert!(
        check(&scene, Origin::Global, "loop.db")
            .starts_with("error: ~/.flowmcp/resources/loop.db cannot be opened")
    );
}

#[test]
fn a_folder_that_is_itself_a_link_works() {
    let scene = Scene::new();
    scene.fill("global/resources/a.db", TABLE);
    symlink(scene.at("global"), scene.at("link")).unwrap();
    let mut folders = scene.folders.clone();
    folders.global = Some(Folder { path: scene.at("link"), shown: "~/.flowmcp".into() });
    let file = ResourceFile { origin: Origin::Global, path: "a.db".into() };
    let location = locate(&file, FileKind::Database, &folders).unwrap();
    let database = Database::new(location, DatabaseMode::ReadOnly, DatabaseSettings::default());
    assert_eq!(ask(&database, COUNT), r#"[{"n":2}]"#);
}

#[test]
fn a_link_that_is_exchanged_is_looked_at_again() {
    let scene = Scene::new();
    scene.fill("global/resources/v1.db", TABLE);
    scene.fill("global/resources/v2.db", &format!("{TABLE} INSERT INTO t VALUES (3);"));
    scene.fill("secret.db", TABLE);
    let link = scene.at("global/resources/now.db");
    let point = |target: &str| {
        let _ = fs::remove_file(&link);
        symlink(target, &link).unwrap();
    };
    point("v1.db");
    let location = scene.location(Origin::Global, "now.db").unwrap();
    let database = Database::new(location, DatabaseMode::ReadOnly, DatabaseSettings::default());
    assert_eq!(ask(&database, COUNT), r#"[{"n":2}]"#);
    point("v2.db");
    assert_eq!(ask(&database, COUNT), r#"[{"n":3}]"#);
    point("../../secret.db");
    assert!(ask(&database, COUNT).contains("outside of its folder"));
}
