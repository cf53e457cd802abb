//! Public names and the other names of a tool: semantics.md, section 2, and the case `tool-01`.

use std::collections::HashSet;

use crate::{
    schema_text::{SchemaText, demo, tool},
    support::World,
};

fn schema(path: &'static str, namespace: &str, name: &'static str, tools: &[&str]) -> SchemaText {
    SchemaText {
        path,
        namespace: namespace.to_owned(),
        name,
        tools: tools.iter().map(|key| ((*key).to_owned(), tool("GET", "/x", &[]))).collect(),
        ..demo(String::new())
    }
}

#[test]
fn tool_01_names_fit_every_client() {
    let long = "a".repeat(40);
    let schemas = [
        schema("a.mjs", &long, "Long", &[&"b".repeat(40), &"b".repeat(41)]),
        schema("b.mjs", "demo", "Case", &["getData", "getdata", "get.data/x:y", "größe"]),
    ];
    let catalogue = World::default().load(&schemas);
    insta::assert_snapshot!(catalogue.shown().join("\n"));
    assert_eq!(catalogue.warnings, [""; 0]);
    let names: HashSet<&str> = catalogue.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names.len(), 6);
    for name in names {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        assert!((1..=64).contains(&name.len()) && name.bytes().all(is_allowed), "{name}");
    }
    assert_eq!(World::default().load(&schemas).shown(), catalogue.shown(), "the same at each start");
}

#[test]
fn tool_01_a_hyphen_and_a_digit_are_of_version_4() {
    let text = SchemaText { version: "4.3.0", ..schema("a.mjs", "open-data4", "Demo", &["get"]) };
    let mut world = World::default();
    assert_eq!(world.load(std::slice::from_ref(&text)).shown(), [""; 0]);
    world.options.accept_versions = vec!["4".to_owned()];
    assert_eq!(world.load(&[text]).shown(), ["open-data4__get"]);
    let of_version_3 = world.load(&[schema("a.mjs", "open-data4", "Demo", &["get"])]);
    assert_eq!(of_version_3.shown(), [""; 0]);
    assert!(of_version_3.errors()[0].contains(" main.namespace: "), "{:?}", of_version_3.errors());
}

#[test]
fn a_taken_name_gets_longer_and_none_is_lost() {
    let catalogue = World::default().load(&[
        schema("a.mjs", "demo", "First", &["get", "a/b", "a:b"]),
        schema("b.mjs", "demo", "Second", &["get", "First__get"]),
        schema("c.mjs", "demo", "Second", &["get"]),
    ]);
    insta::assert_snapshot!(format!("{}\n\n{}", catalogue.shown().join("\n"), catalogue.warnings.join("\n")));
    let names: HashSet<&str> = catalogue.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names.len(), catalogue.tools.len());
}

#[test]
fn a_tool_is_found_by_every_name_that_people_use() {
    let snapshot = World::default()
        .load(&[
            schema("a.mjs", "demo", "First", &["get", "a/b"]),
            schema("b.mjs", "demo", "Second", &["get", "tool"]),
            schema("c.mjs", "other", "Third", &["get_demo"]),
        ])
        .snapshot();
    for (name, expected) in [
        ("demo__get", Some("demo__get")),
        ("demo/get", Some("demo__get")),
        ("demo/tool/get", Some("demo__get")),
        ("demo/First::get", Some("demo__get")),
        ("demo/Second::get", Some("demo__Second__get")),
        ("demo__Second__get", Some("demo__Second__get")),
        ("get_demo", Some("demo__get")),
        ("get_demo_other", Some("other__get_demo")),
        ("demo__a_b", Some("demo__a_b")),
        ("demo/a/b", Some("demo__a_b")),
        ("demo/tool/a/b", Some("demo__a_b")),
        ("demo/First::a/b", Some("demo__a_b")),
        ("demo/tool", Some("demo__tool")),
        ("demo/tool/tool", Some("demo__tool")),
        ("demo/Third::get", None),
        ("other/get", None),
        ("get", None),
        ("demo", None),
        ("demo/", None),
        ("", None),
    ] {
        assert_eq!(snapshot.find(name).map(|tool| &*tool.name), expected, "{name}");
    }
}
