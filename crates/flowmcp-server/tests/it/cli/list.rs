//! `list`: what clients see, and why they do not see the rest.

use std::os::unix::fs::symlink;

use super::project::{Project, keyed, schema, tool, with_parameters};

const REGISTRY: &str = r#"{ "name": "made", "schemas": [] }"#;
const LIST: &str = "export const list = {\n    meta: { name: 'colours', version: '1.0.0' },\n    \
                    entries: [{ id: 'red' }, { id: 'green' }]\n}\n";

fn with_list(name: &str) -> String {
    let fields = "sharedLists: [{ ref: 'colours', version: '1.0.0' }],";
    let parameter = "{ position: { key: 'colour', value: '{{USER_PARAM}}', location: 'query' }, \
                     z: { primitive: 'enum({{colours:id}})', options: [] } }";
    schema("listed", name, fields, &with_parameters("paint", "GET", "/paint", parameter))
}

/// A catalogue in which every reason to hide a tool occurs.
fn catalogue() -> Project {
    let handlers =
        "export const handlers = () => ({ prepared: { preRequest: async ({ struct }) => ({ struct }) } })\n";
    let other_root = |text: String| text.replace("https://api.example.test", "https://api.other.invalid");
    let config = "[params]\nenv_file = \".env\"\n[[packs]]\npath = \"pack\"\n[[packs]]\npath = \"gone\"\n";
    let project = Project::new()
        .file("config.toml", config)
        .file(".env", "DEMO_KEY=long-enough-to-hide\n")
        .file("pack/registry.json", REGISTRY)
        .file("pack/_lists/colours.mjs", LIST)
        .file(
            "pack/providers/a/Keyed.mjs",
            schema("keyed", "Keyed", "requiredServerParams: ['DEMO_KEY'],", &keyed("get", "DEMO_KEY")),
        )
        .file(
            "pack/providers/a/Lacking.mjs",
            schema("lacking", "Lacking", "requiredServerParams: ['NOWHERE'],", &keyed("get", "NOWHERE")),
        )
        .file(
            "pack/providers/b/Thief.mjs",
            other_root(schema(
                "thief",
                "Thief",
                "requiredServerParams: ['DEMO_KEY'],",
                &keyed("get", "DEMO_KEY"),
            )),
        )
        .file(
            "pack/providers/c/Handled.mjs",
            schema("handled", "Handled", "", &(tool("plain") + &tool("prepared"))) + handlers,
        )
        .file(
            "pack/providers/d/Refused.mjs",
            schema("refused", "Refused", "", &(tool("good") + &with_parameters("bad", "FETCH", "/bad", ""))),
        )
        .file("pack/providers/e/Listed.mjs", with_list("Listed"))
        .file("pack/providers/f/First.mjs", schema("twice", "First", "", &tool("same")))
        .file("pack/providers/f/Second.mjs", schema("twice", "Second", "", &tool("same")))
        .file("pack/providers/f/Third.mjs", schema("twice", "Second", "", &tool("same")))
        .file("pack/providers/g/Cut.mjs", "export const main = {")
        .file("pack/providers/h/Unknown.mjs", with_list("Unknown").replace("colours", "shapes"))
        .file("outside/Secret.mjs", schema("secret", "Secret", "", &tool("get")));
    symlink(project.path("outside"), project.path("pack/providers/z")).unwrap();
    project
}

#[test]
fn every_reason_is_named() {
    let project = catalogue();
    let mut page = String::new();
    for more in [&[][..], &["--all"]] {
        let ran = project.run(&[&["list"], more].concat());
        page.push_str(&format!("$ list {}\n{}\n", more.concat(), ran.whole()));
    }
    insta::assert_snapshot!(page);
}

#[test]
fn json_has_the_documented_keys() {
    let project = catalogue();
    let list = project.run(&["list", "--json"]).code(0).json();
    let all = project.run(&["list", "--all", "--json"]).code(0).json();
    assert_eq!(keys(&all), ["tools", "resources", "prompts", "findings"]);
    assert_eq!(keys(&all["findings"]), ["errors", "warnings"]);
    for tool in all["tools"].as_array().unwrap() {
        let expected = [
            "name",
            "title",
            "description",
            "namespace",
            "schema",
            "file",
            "hidden",
            "inputSchema",
            "tags",
            "docs",
        ];
        assert_eq!(keys(tool), expected, "{tool}");
    }
    let names = |list: &serde_json::Value| -> Vec<String> {
        let tools = list["tools"].as_array().unwrap();
        tools
            .iter()
            .map(|tool| format!("{} {}", tool["name"].as_str().unwrap(), tool["hidden"].is_null()))
            .collect()
    };
    assert!(names(&list).iter().all(|name| name.ends_with(" true")), "{list}");
    assert_eq!(
        names(&list),
        names(&all).into_iter().filter(|name| name.ends_with(" true")).collect::<Vec<_>>()
    );
    let painted = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "listed__paint");
    insta::assert_snapshot!(serde_json::to_string_pretty(painted.unwrap()).unwrap());
}

fn keys(value: &serde_json::Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_pack_is_a_file_a_provider_or_a_catalogue() {
    let project = catalogue();
    for (pack, expected) in [
        ("pack/providers/e/Listed.mjs", "listed__paint"),
        ("pack/providers/e", "listed__paint"),
        ("outside", "secret__get"),
    ] {
        let ran = project.run(&["--pack", pack, "list"]).code(0);
        let names: Vec<&str> = ran.stdout.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, [expected], "{pack}: {}", ran.whole());
    }
    // Several packs, a configuration among them: all count.
    let ran = project.run(&["-c", "config.toml", "--pack", "outside", "list"]).code(0);
    assert!(ran.stdout.contains("secret__get") && ran.stdout.contains("listed__paint"), "{}", ran.whole());
}

#[test]
fn a_pack_that_is_named_twice_counts_once() {
    let project = Project::new()
        .file("config.toml", "[[packs]]\npath = \"pack\"\n")
        .file("pack/Made.mjs", schema("made", "Made", "", &tool("ok")));
    let ran = project.run(&["-c", "config.toml", "--pack", "./pack/../pack", "list"]).code(0);
    let warning = "WARN pack ./pack/../pack: is named twice and counts once\n";
    assert_eq!((&*ran.stdout, &*ran.stderr), ("made__ok  Does ok\n", warning));
    let ran = project.run(&["validate", "pack", "pack"]);
    assert!(ran.stderr.contains("\n1 files, "), "{}", ran.whole());
}

#[test]
fn a_configuration_without_packs_is_a_warning() {
    for config in ["", "[[packs]]\npath = \"pack\"\nenabled = false\n"] {
        let ran = Project::new().file("config.toml", config).run(&["list"]).code(0);
        let warning = "WARN there is no pack, so there are no tools: add [[packs]] to the configuration, or --pack DIR\n";
        assert_eq!((&*ran.stdout, &*ran.stderr), ("", warning));
    }
}

#[test]
fn nothing_to_serve_is_said() {
    let project = Project::new().file("Bad.toml", "[sevre]\nstdio = true\n");
    let mut page = String::new();
    for arguments in [
        &["list"][..],
        &[],
        &["--pack", "gone", "list"],
        &["--pack", "gone", "config", "show"],
        &["-c", "gone.toml", "list"],
        &["-c", "Bad.toml", "list"],
        &["test", "gone"],
        &["hash", "gone.mjs"],
        &["validate", "gone"],
    ] {
        let ran = project.run(arguments);
        page.push_str(&format!("$ {}\n{}\n", arguments.join(" "), ran.whole()));
    }
    insta::assert_snapshot!(page);
}

#[test]
fn descriptions_cannot_move_the_cursor() {
    let text = schema("made", "Made", "", &tool("ok")).replace("Does ok", "red \\u001b[31mtext\\u0007");
    let project = Project::new().file("Made.mjs", text);
    let ran = project.run(&["--pack", "Made.mjs", "list"]).code(0);
    assert_eq!(ran.stdout, "made__ok  red \u{fffd}[31mtext\u{fffd}\n");
}
