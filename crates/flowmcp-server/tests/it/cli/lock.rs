//! `lock`, and serving what was locked.

use std::fs;

use serde_json::Value;

use super::project::{Project, Ran, schema, tool, with_parameters};

const HANDLERS: &str =
    "export const handlers = () => ({ made: { preRequest: async ({ struct }) => ({ struct }) } })\n";
const LIST: &str =
    "export const list = { meta: { name: 'colours', version: '1.0.0' }, entries: ['red', 'green'] }\n";

fn with_list() -> String {
    let parameter = "{ position: { key: 'colour', value: '{{USER_PARAM}}', location: 'query' }, \
                     z: { primitive: 'enum({{colours}})', options: [] } }";
    let fields = "sharedLists: [{ ref: 'colours', version: '1.0.0' }],";
    schema("listed", "Listed", fields, &with_parameters("paint", "GET", "/paint", parameter))
}

fn project(integrity: &str) -> Project {
    Project::new()
        .file("config.toml", format!("[[packs]]\npath = \"pack\"\nintegrity = \"{integrity}\"\n"))
        .file("pack/providers/plain/Plain.mjs", schema("plain", "Plain", "", &tool("get")))
        .file("pack/providers/made/Made.mjs", schema("made", "Made", "", &tool("made")) + HANDLERS)
        .file("pack/providers/listed/Listed.mjs", with_list())
        .file("pack/_lists/colours.mjs", LIST)
}

fn edit(project: &Project, path: &str, from: &str, to: &str) {
    let path = project.path(path);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

fn hidden(ran: &Ran) -> Vec<(String, String)> {
    let list = ran.json();
    let rows = list["tools"].as_array().unwrap().iter();
    rows.filter_map(|row| Some((row["name"].as_str()?.to_owned(), row["hidden"].as_str()?.to_owned())))
        .collect()
}

#[test]
fn a_lock_is_written_once_and_says_what_changed_later() {
    let project = project("off");
    let mut page = String::new();
    let mut run = |arguments: &[&str]| {
        let ran = project.run(arguments);
        page.push_str(&format!("$ {}\n{}\n", arguments.join(" "), ran.whole()));
    };
    run(&["lock", "--check"]);
    run(&["lock"]);
    run(&["lock", "--check"]);
    edit(&project, "pack/providers/plain/Plain.mjs", "/get", "/got");
    edit(&project, "pack/providers/made/Made.mjs", "({ struct })", "({ struct, payload })");
    edit(&project, "pack/_lists/colours.mjs", "'green'", "'blue'");
    fs::remove_file(project.path("pack/providers/listed/Listed.mjs")).unwrap();
    fs::write(project.path("pack/providers/New.mjs"), schema("fresh", "New", "", &tool("get"))).unwrap();
    run(&["lock", "--check"]);
    run(&["lock", "--check", "--json"]);
    run(&["lock"]);
    run(&["lock", "--check", "pack"]);
    fs::write(project.path("pack/providers/Cut.mjs"), "export const main = {").unwrap();
    run(&["lock", "--check"]);
    fs::write(project.path("pack/flowmcp.lock"), "{}").unwrap();
    run(&["lock"]);
    insta::assert_snapshot!(page);
}

#[test]
fn line_ends_and_a_byte_order_mark_change_no_lock() {
    let project = project("off");
    project.run(&["lock"]).code(0);
    for path in ["pack/providers/made/Made.mjs", "pack/providers/plain/Plain.mjs"] {
        let path = project.path(path);
        let text = fs::read_to_string(&path).unwrap().replace('\n', "\r\n");
        fs::write(path, format!("\u{feff}{text}")).unwrap();
    }
    project.run(&["lock", "--check"]).code(0);
}

#[test]
fn what_is_not_as_it_was_locked_is_hidden_with_the_reason() {
    let project = project("locked");
    let none = project.run(&["list", "--all", "--json"]).code(0);
    assert_eq!(hidden(&none).len(), 3, "{}", none.whole());
    assert!(none.stderr.contains("flowmcp.lock: does not exist"), "{}", none.stderr);

    project.run(&["lock"]).code(0);
    assert_eq!(hidden(&project.run(&["list", "--all", "--json"]).code(0)), []);

    edit(&project, "pack/providers/plain/Plain.mjs", "/get", "/got");
    edit(&project, "pack/providers/made/Made.mjs", "({ struct })", "({ struct, payload })");
    edit(&project, "pack/_lists/colours.mjs", "'green'", "'blue'");
    fs::write(project.path("pack/providers/New.mjs"), schema("fresh", "New", "", &tool("get"))).unwrap();
    let ran = project.run(&["list", "--all", "--json"]).code(0);
    let rows: String = hidden(&ran).iter().map(|(name, reason)| format!("{name}: {reason}\n")).collect();
    insta::assert_snapshot!(format!("{rows}--- stderr\n{}", ran.stderr));
}

#[test]
fn with_warn_a_change_is_said_and_served() {
    let project = project("warn");
    project.run(&["lock"]).code(0);
    edit(&project, "pack/providers/plain/Plain.mjs", "/get", "/got");
    let ran = project.run(&["list", "--all", "--json"]).code(0);
    assert_eq!(hidden(&ran), []);
    assert!(ran.stderr.contains("the interface of the tool get"), "{}", ran.stderr);
}

#[test]
fn the_tools_that_use_a_list_are_found() {
    let project = project("off");
    insta::assert_snapshot!(project.run(&["list-refs", "colours"]).code(0).whole());
    let json = project.run(&["list-refs", "colours", "--json", "pack"]).code(0).json();
    assert_eq!(json["uses"][0]["tool"], "listed/paint");
    assert_eq!(json["uses"][0]["parameter"]["name"], "colour");
    let handled = with_list() + &HANDLERS.replace("made:", "paint:").replace("() =>", "({ sharedLists }) =>");
    fs::write(project.path("pack/providers/listed/Listed.mjs"), handled).unwrap();
    let json = project.run(&["list-refs", "colours", "--json"]).code(0).json();
    assert_eq!((&json["uses"][0]["handlers"], &json["uses"][1]["parameter"]), (&Value::Null, &Value::Null));
    assert_eq!(json["uses"][1]["handlers"], true);
    let wrong = project.run(&["list-refs", "colors"]).code(2);
    assert!(wrong.stderr.contains("did you mean colours?"), "{}", wrong.stderr);
}
