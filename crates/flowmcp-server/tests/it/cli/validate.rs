//! `validate`: findings for people, programs and code scanning.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use super::project::{Project, schema, tool, with_parameters};

fn project() -> Project {
    let parameter = "{ position: { key: 'q', value: '{{USER_PARAM}}', location: 'query' }, \
                     z: { primitive: 'strin()', options: [] } }";
    let tools = tool("ok") + &with_parameters("bad", "FETCH", "bad", parameter);
    Project::new()
        .file("pack/a/Wrong.mjs", schema("Wr0ng", "Wrong", "", &tools))
        .file(
            "pack/a name/Same.mjs",
            schema("same", "Same", "", "").replace("'3.0.0'", "'1.2.0' /* ünïcode */"),
        )
        .file(
            "pack/b/Same.mjs",
            schema("same", "Same", "", "").replace("'Made up'", "'\\u001b[31mred', oops: '\x1b[31m'"),
        )
}

#[test]
fn findings_show_their_line() {
    let ran = project().run(&["validate", "pack"]).code(1);
    assert!(!ran.stdout.contains('\x1b'), "{}", ran.whole());
    insta::assert_snapshot!(ran.whole());
}

#[test]
fn flags_choose_what_is_reported_and_what_fails() {
    let project = Project::new().file("a.mjs", schema("made", "Made", "", &tool("get")));
    let codes = |flags: &[&str], expected: i32| -> Vec<String> {
        let ran = project.run(&[&["validate", "a.mjs", "--format", "json"], flags].concat()).code(expected);
        let findings = ran.json()["files"][0]["findings"].as_array().unwrap().clone();
        let row = |finding: &Value| format!("{} {}", finding["code"], finding["severity"]).replace('"', "");
        findings.iter().map(row).collect()
    };
    let all = codes(&[], 0);
    assert!(all.contains(&"TST001 warning".to_owned()), "{all:?}");
    assert_eq!(codes(&["--select", "TST"], 0), ["TST001 warning"]);
    assert_eq!(codes(&["--select", "tst001", "--deny", "warnings"], 1), ["TST001 error"]);
    assert_eq!(codes(&["--deny", "TST001"], 1).len(), all.len());
    assert_eq!(codes(&["--allow", "TST,VAL", "--deny", "warnings"], 0), Vec::<String>::new());
    let wrong = project.run(&["validate", "a.mjs", "--deny", "TST0001"]).code(2);
    assert_eq!(wrong.stderr, "error: there is no code \"TST0001\"; did you mean TST001?\n");
}

#[test]
fn json_has_the_documented_keys() {
    let ran = project().run(&["validate", "pack", "--format", "json"]).code(1);
    let report = ran.json();
    assert_eq!(keys(&report), ["files"]);
    for file in report["files"].as_array().unwrap() {
        assert_eq!(keys(file), ["file", "status", "messages", "findings"]);
        for finding in file["findings"].as_array().unwrap() {
            assert_eq!(keys(finding), ["code", "severity", "path", "message", "line", "column"]);
        }
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&report["files"][0]).unwrap());
}

#[test]
fn files_are_named_by_the_paths_that_were_given() {
    let project = project();
    let names = |paths: &[&str]| -> Vec<String> {
        let ran = project.run(&[&["validate", "--format", "json"], paths].concat());
        let files = ran.json()["files"].as_array().unwrap().clone();
        files.iter().map(|file| file["file"].as_str().unwrap().to_owned()).collect()
    };
    let all = ["pack/a/Wrong.mjs", "pack/a name/Same.mjs", "pack/b/Same.mjs"];
    assert_eq!(names(&["pack"]), all);
    assert_eq!(names(&["pack/a name/Same.mjs", "pack/b/Same.mjs"]), [all[1], all[2]]);
    assert_eq!(names(&["./pack/b"]), ["./pack/b/Same.mjs"]);
}

#[test]
fn sarif_is_what_code_scanning_reads() {
    let ran = project().run(&["validate", "pack", "--format", "sarif"]).code(1);
    let log = ran.json();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rules: Vec<&str> = run["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    for result in run["results"].as_array().unwrap() {
        assert!(rules.contains(&result["ruleId"].as_str().unwrap()), "{result}");
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()), "{result}");
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].as_str().unwrap().starts_with("pack/"), "{result}");
        assert!(place["region"]["startLine"].as_u64().unwrap() > 0, "{result}");
        if result["message"]["text"].as_str().unwrap().starts_with("main.version") {
            let expected = json!({
                "artifactLocation": { "uri": "pack/a%20name/Same.mjs" },
                "region": { "startLine": 5, "startColumn": 14 },
            });
            assert_eq!(place, &expected);
        }
    }
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn what_is_no_schema_is_one_clear_line() {
    let project = Project::new()
        .file("bad/a-empty.mjs", "")
        .file("bad/b-latin1.mjs", b"export const main = { name: 'gr\xfc\xdfe' }")
        .file("bad/c-huge.mjs", vec![b' '; (5 << 20) + 1])
        .file("bad/d-cut.mjs", "export const main = { name: 'a")
        .file("bad/e-binary.mjs", [0, 1, 2, 3, 0x7f, 0])
        .file("bad/f-text.mjs", "hello world")
        .file("bad/g-commonjs.mjs", "module.exports = { main: {} }")
        .file("bad/h-number.mjs", "export const main = 7")
        .file("bad/i-bom.mjs", "\u{feff}export const main = [")
        .file("bad/deep/x/j.mjs", "export const mian = {}");
    symlink(project.path("bad"), project.path("bad/deep/x/loop")).unwrap();
    symlink(project.path("bad/none"), project.path("bad/broken.mjs")).unwrap();
    std::fs::create_dir(project.path("bad/folder.mjs")).unwrap();
    let ran = project.run(&["validate", "bad"]).code(1);
    insta::assert_snapshot!(ran.whole());
    // The same through a pack: a line each, and nothing else stops.
    let project = project.file("bad/k.mjs", schema("good", "Good", "", &tool("ok")));
    let ran = project.run(&["--pack", "bad", "list"]).code(0);
    assert_eq!(ran.stdout, "good__ok  Does ok\n", "{}", ran.whole());
    assert_eq!(ran.stderr.lines().count(), 11, "{}", ran.whole());
}

#[test]
fn a_path_that_cannot_be_read_is_exit_code_2() {
    let project = project();
    for path in ["gone", "pack/a/Wrong.mjs/x", "gone\u{7}"] {
        let ran = project.run(&["validate", path]).code(2);
        assert!(ran.stderr.starts_with("error: ") && ran.stdout.is_empty(), "{}", ran.whole());
    }
    // Root reads everything, so this holds for other users only.
    let closed = project.path("pack/a");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read_dir(&closed).is_err() {
        for arguments in [&["validate", "pack/a"][..], &["--pack", "pack/a", "list"], &["test", "pack/a"]] {
            let ran = project.run(arguments).code(2);
            assert_eq!(ran.stderr, "error: pack/a cannot be read: Permission denied (os error 13)\n");
        }
    }
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_lists_around_a_file_are_reported_once_and_only_when_something_is_wrong() {
    let list = "export const list = { meta: { name: 'colours', version: '1.0.0', description: 'Colours', \
                fields: [{ key: 'id', type: 'string', description: 'Name' }] }, entries: [{ id: 'red' }] }";
    let project = Project::new()
        .file("catalogue/_lists/colours.mjs", list)
        .file("catalogue/a/A.mjs", schema("made", "A", "", &tool("a")))
        .file("catalogue/b/B.mjs", schema("made", "B", "", &tool("b")));
    let names = |project: &Project| {
        let ran = project.run(&["validate", "catalogue/a", "catalogue/b", "--format", "json"]);
        let files = ran.json()["files"].as_array().unwrap().clone();
        let name = |file: &Value| file["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        files.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(&project), ["A.mjs", "B.mjs"]);
    let project = project.file("catalogue/_lists/colours.mjs", "export const list = { meta: {} }");
    assert_eq!(names(&project), ["colours.mjs", "A.mjs", "B.mjs"]);
}

#[test]
fn file_names_cannot_move_the_cursor() {
    let project = Project::new().file("pack/a\u{1b}[31m.mjs", "x").file("pack/b\u{1b}[31m.mjs", b"\xff");
    for arguments in [&["validate", "pack"][..], &["--pack", "pack", "list"]] {
        let ran = project.run(arguments);
        assert!(!ran.whole().contains('\u{1b}'), "{:?}", ran.whole());
    }
}

/// Opening a pipe would wait for ever, reading a device would never end.
#[test]
fn pipes_and_devices_are_no_files() {
    let project = Project::new().file("pack/Good.mjs", schema("good", "Good", "", &tool("ok")));
    let pipe = project.path("pack/pipe.mjs");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pipe = pipe.to_str().unwrap();
    for (arguments, code) in [
        (&["validate", "pack"][..], 1),
        (&["validate", pipe], 1),
        (&["validate", "/dev/zero"], 1),
        (&["hash", pipe, "/dev/zero"], 1),
        (&["--pack", "pack", "list"], 0),
        (&["test", "pack", "--dry-run"], 1),
    ] {
        let ran = project.run(arguments).code(code);
        assert!(ran.whole().contains("is not a regular file"), "{}", ran.whole());
    }
}

/// What only several files together can tell is found in a folder, not in a single file, and not through links.
#[test]
fn a_pack_is_looked_at_as_a_whole() {
    let registry = json!({
        "name": "pack", "version": "1.0.0", "description": "Made up", "schemaSpec": "3.0.0", "shared": [], "agents": [],
        "schemas": [
            { "namespace": "same", "name": "Gone", "file": "a/Gone.mjs" },
            { "namespace": "same", "name": "Out", "file": "out/Out.mjs" },
        ],
    });
    let skill = "export const skill = { name: 'report', version: 'flowmcp-skill/1.0.0', description: 'x', output: 'x',
        requires: { tools: [ 'okay' ] }, content: 'Use {{tool:okay}}.' }";
    let main = schema("same", "Same", "skills: { report: { file: './report.mjs' } },", &tool("ok"));
    let project = Project::new()
        .file("pack/registry.json", registry.to_string())
        .file("pack/a/Same.mjs", main)
        .file("pack/a/report.mjs", skill)
        .file("elsewhere/Out.mjs", "");
    symlink(project.path("elsewhere"), project.path("pack/out")).unwrap();
    let codes = |path: &str| -> Vec<String> {
        let ran = project.run(&["validate", "--format", "json", path]);
        let files = ran.json()["files"].as_array().unwrap().clone();
        let findings = files.iter().flat_map(|file| file["findings"].as_array().unwrap());
        let across = |code: &str| ["CAT", "SKL"].iter().any(|family| code.starts_with(family));
        findings.map(|found| found["code"].as_str().unwrap().to_owned()).filter(|code| across(code)).collect()
    };
    assert_eq!(codes("pack"), ["SKL005", "CAT006", "CAT004", "CAT009"]);
    assert_eq!(codes("pack/a"), ["SKL005"]);
    assert!(codes("pack/a/report.mjs").is_empty());
}
