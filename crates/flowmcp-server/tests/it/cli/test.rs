//! `test`: the tests inside the schemas, rendered or sent.

use serde_json::Value;

use super::{
    project::{Project, Ran, keyed, repository, schema},
    upstream::Upstream,
};

fn tested(name: &str, path: &str, tests: &str) -> String {
    format!(
        "        {name}: {{ method: 'GET', path: '{path}', description: 'Does {name}', parameters: [\n            \
         {{ position: {{ key: 'q', value: '{{{{USER_PARAM}}}}', location: 'query' }}, \
         z: {{ primitive: 'number()', options: [] }} }}\n        ], tests: [{tests}] }},\n"
    )
}

fn test_of(q: &str) -> String {
    format!("{{ _description: \"q is {q}\", q: {q} }},")
}

/// Tests that pass, that do not render, that fail upstream, and some of hidden and refused tools.
fn pack(project: Project) -> Project {
    let tools = tested("ok", "/ok", &(test_of("1") + &test_of("2.50") + &test_of("'two'")))
        + &tested("missing", "/missing", &test_of("3"))
        + &tested("bad", "bad", &test_of("4"))
        + &tested("prepared", "/prepared", &test_of("5"))
        + &tested("computed", "/computed", &test_of("6"));
    let handlers = "export const handlers = () => ({\n    \
                    computed: { executeRequest: async ({ struct }) => ({ struct }) },\n    \
                    prepared: { preRequest: async ({ struct, payload }) => ({ struct, payload }) }\n})\n";
    let broken = schema("Broken1", "Broken", "", &tested("ok", "/ok", &test_of("7")));
    let lacking = keyed("lacking", "NOWHERE").replace("] },", "], tests: [{ _description: 'no key' }] },");
    project
        .file("pack/Made.mjs", schema("made", "Made", "", &tools) + handlers)
        .file("pack/Broken.mjs", broken)
        .file("pack/Lacking.mjs", schema("made", "Lacking", "requiredServerParams: ['NOWHERE'],", &lacking))
}

#[test]
fn tests_are_rendered() {
    let project = pack(Project::new());
    let mut page = String::new();
    for more in [&[][..], &["--json"]] {
        let ran = project.run(&[&["test", "pack", "--dry-run"], more].concat()).code(1);
        page.push_str(&format!("$ test pack --dry-run {}\n{}\n", more.concat(), ran.whole()));
    }
    insta::assert_snapshot!(page);
}

#[test]
fn tests_are_sent() {
    let upstream = Upstream::start();
    let project = pack(upstream.project(""));
    let mut page = String::new();
    for more in [&[][..], &["--json"]] {
        let ran = project.run(&[&["test"], more].concat()).code(1);
        page.push_str(&format!("$ test {}\n{}\n", more.concat(), ran.whole()));
    }
    insta::assert_snapshot!(page);
    let expected = ["GET /ok?q=1", "GET /ok?q=2.5", "GET /missing?q=3", "GET /prepared?q=5"];
    assert_eq!(upstream.seen(), [expected, expected].concat());
}

#[test]
fn all_tests_pass_is_exit_code_0() {
    let upstream = Upstream::start();
    let good = schema("good", "Good", "", &tested("ok", "/ok", &test_of("1")));
    let project = upstream.project("").file("pack/Good.mjs", &good).file("other/Good.mjs", &good);
    project.run(&["test"]).code(0);
    assert_eq!(upstream.seen(), ["GET /ok?q=1"]);
    // A path given with a configuration: its settings count, its packs do not.
    let ran = project.run(&["-c", "config.toml", "test", "other"]).code(0);
    assert_eq!(ran.stdout, "good__ok [0] ok\n", "{}", ran.whole());
    assert_eq!(upstream.seen(), ["GET /ok?q=1"]);
}

#[test]
fn a_file_that_cannot_be_read_is_no_success() {
    let good = schema("good", "Good", "", &tested("ok", "/ok", &test_of("1")));
    let project = Project::new().file("pack/Good.mjs", good).file("pack/Cut.mjs", "export const main = {");
    let ran = project.run(&["test", "pack", "--dry-run"]).code(1);
    insta::assert_snapshot!(ran.whole());
}

#[test]
fn a_later_name_is_told_in_both_modes() {
    let upstream = Upstream::start();
    let twice = |name| schema("twice", name, "", &tested("ok", "/ok", &test_of("1")));
    let project = upstream.project("").file("pack/A.mjs", twice("A")).file("pack/B.mjs", twice("B"));
    for more in [&[][..], &["--dry-run"]] {
        let ran = project.run(&[&["test", "--json"], more].concat()).code(0);
        let names: Vec<String> =
            rows(&ran).iter().map(|row| row["tool"].as_str().unwrap().to_owned()).collect();
        assert_eq!(names, ["twice__ok", "twice__B__ok"], "{}", ran.whole());
    }
}

fn rows(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_schemas_of_this_repository_validate_and_their_tests_render() {
    let project = Project::new();
    let schemas = repository().join("schemas");
    let schemas = schemas.to_str().unwrap();
    let rendered = rows(&project.run(&["test", schemas, "--dry-run", "--json", "--grant", "fetch"]).code(0));
    assert_eq!(rendered.len(), 55);
    let is_in_order =
        |row: &Value| row["error"].is_null() && row["file"].is_string() && row["notes"].is_null();
    assert!(rendered.iter().all(is_in_order), "{rendered:?}");
    for part in ["open", "seeds", "handlers"] {
        let part = format!("{schemas}/{part}");
        let ran = project.run(&["validate", &part, "--format", "json", "--grant", "fetch"]).code(0);
        let files = ran.json()["files"].clone();
        for file in files.as_array().unwrap() {
            assert_eq!((&file["status"], &file["messages"]), (&true.into(), &Value::Array(vec![])), "{file}");
        }
    }
}
