//! Shared lists: semantics.md, sections 4 and 5.

use crate::{
    schema_text::{SchemaText, demo, list, tool, user},
    support::World,
};

const CHAINS: &str = "[
    { alias: 'eth', id: 1, main: true, tag: 'x' },
    { alias: 'polygon', id: 137, main: true },
    { alias: 'sepolia', id: 11155111, main: false, tag: null },
    { alias: 'eth', id: 1 }
]";

fn world(lists: &[(&str, &str, &str)]) -> World {
    let lists = lists.iter().map(|(name, more, entries)| list(name, more, entries)).collect();
    World { lists, ..World::default() }
}

fn schema(primitive: &str, options: &[&str], references: &'static str) -> SchemaText {
    SchemaText { lists: references, ..demo(tool("GET", "/x", &[user("chain", "query", primitive, options)])) }
}

/// The members that clients are offered, or the findings of a schema that cannot be served.
#[track_caller]
fn check(entries: &str, primitive: &str, options: &[&str], references: &'static str, expected: &str) {
    let world = world(&[("chains", "version: '1.2.0'", entries)]);
    let catalogue = world.load(&[schema(primitive, options, references)]);
    let shown = match catalogue.tools.first() {
        Some(tool) => {
            assert_eq!(catalogue.errors(), [""; 0]);
            tool.input_schema()["properties"]["chain"]["enum"].to_string()
        }
        None => catalogue.errors().join("\n"),
    };
    assert_eq!(shown, expected);
}

#[test]
fn forms_of_references_and_lists() {
    let aliases = r#"["eth","polygon","sepolia"]"#;
    check(CHAINS, "enum({{chains:alias}})", &[], "[{ ref: 'chains', version: '1.2.0' }]", aliases);
    check(CHAINS, "enum({{chains:alias}})", &[], "['chains']", aliases);
    check(CHAINS, "enum({{ chains : alias }})", &[], "[]", aliases);
    check(CHAINS, "enum()", &["$chains:alias"], "[]", aliases);
    check(CHAINS, "enum($chains:alias)", &[], "[]", aliases);
    check(CHAINS, "enum(all,{{chains:id}}, eth)", &[], "[]", r#"["all","1","137","11155111","eth"]"#);
    check(
        CHAINS,
        "enum({{chains:id}},{{chains:alias}})",
        &["values(137,z)"],
        "[]",
        r#"["1","137","11155111","eth","polygon","sepolia","z"]"#,
    );
    check("['b','a','b',3,true]", "enum()", &["$chains"], "[]", r#"["b","a","3","true"]"#);
    check("{ ethereum: 1, polygon: 137 }", "enum()", &["$chains"], "[]", r#"["ethereum","polygon"]"#);
    check("{ e: { id: 1 }, p: { id: 137 } }", "enum({{chains:id}})", &[], "[]", r#"["1","137"]"#);
}

#[test]
fn filters() {
    let aliases = "enum({{chains:alias}})";
    for (filter, expected) in [
        ("[{ ref: 'chains', filter: { key: 'tag', exists: true } }]", r#"["eth"]"#),
        ("[{ ref: 'chains', filter: { field: 'tag', exists: false } }]", r#"["polygon","sepolia","eth"]"#),
        ("[{ name: 'chains', filter: { key: 'main', value: true } }]", r#"["eth","polygon"]"#),
        ("[{ ref: 'chains', filter: { key: 'alias', value: 'sepolia' } }]", r#"["sepolia"]"#),
        ("[{ ref: 'chains', filter: { key: 'id', in: [137, 11155111, 7] } }]", r#"["polygon","sepolia"]"#),
    ] {
        check(CHAINS, aliases, &[], filter, expected);
    }
    let none = "VAL072 main.tools.get.parameters[0].z: the shared list \"chains\" gives no values: the filter leaves no entry";
    check(CHAINS, aliases, &[], "[{ ref: 'chains', filter: { key: 'id', value: '1' } }]", none);
    check(CHAINS, aliases, &[], "[{ ref: 'chains', filter: { key: 'nothing', exists: true } }]", none);
}

#[test]
fn lists_that_give_nothing_are_errors_of_their_tool() {
    let place = "main.tools.get.parameters[0].z: the shared list";
    check(
        CHAINS,
        "enum()",
        &["$chains"],
        "[]",
        &format!(
            "VAL049 {place} \"chains\" gives no values: entries are objects: name one of their fields (alias, id, main, tag)"
        ),
    );
    check(
        CHAINS,
        "enum()",
        &["$chains:name"],
        "[]",
        &format!(
            "VAL049 {place} \"chains\" gives no values: no entry has the field \"name\"; there are alias, id, main, tag"
        ),
    );
    check(
        CHAINS,
        "enum()",
        &["$chain:name"],
        "[]",
        &format!("VAL072 {place} \"chain\" does not exist (known: chains)"),
    );
    check(
        CHAINS,
        "enum({{chains:alias}})",
        &["default(solana)"],
        "[]",
        "VAL053 main.tools.get.parameters[0].z: the default must be one of eth, polygon, sepolia (found \"solana\")",
    );
}

#[test]
fn a_declared_list_that_does_not_exist_is_an_error() {
    let catalogue = world(&[]).load(&[SchemaText { lists: "['chains']", ..demo(tool("GET", "/x", &[])) }]);
    assert_eq!(
        catalogue.errors(),
        ["VAL072 main.sharedLists: names the list \"chains\", which does not exist (known: none)"]
    );
    assert_eq!(catalogue.shown(), ["demo__get"]);
}

#[test]
fn another_version_of_a_list() {
    let aliases = r#"["eth","polygon","sepolia"]"#;
    let served = |references: &'static str| {
        let world = world(&[("chains", "version: '1.2.0'", CHAINS)]);
        let catalogue = world.load(&[schema("enum({{chains:alias}})", &[], references)]);
        let shown: Vec<String> = catalogue
            .findings
            .iter()
            .filter(|finding| finding.code.0 == "VAL073")
            .map(|finding| format!("{}: {finding}", finding.severity.as_str()))
            .collect();
        let members = catalogue
            .tools
            .first()
            .map(|tool| tool.input_schema()["properties"]["chain"]["enum"].to_string());
        (members, shown.join("\n"))
    };
    assert_eq!(served("[{ ref: 'chains', version: '1.2.0' }]"), (Some(aliases.to_owned()), String::new()));
    assert_eq!(
        served("[{ ref: 'chains', version: '1.0.0' }]"),
        (
            Some(aliases.to_owned()),
            "warning: main.sharedLists: asks for version 1.0.0 of the list \"chains\", which has 1.2.0"
                .to_owned()
        )
    );
    assert_eq!(
        served("[{ ref: 'chains', version: '2.0.0' }]"),
        (
            Some(aliases.to_owned()),
            "error: main.sharedLists: asks for version 2.0.0 of the list \"chains\", which has 1.2.0"
                .to_owned()
        )
    );
}

#[test]
fn dependencies_between_lists() {
    let faults = |lists: &[(&str, &str)]| {
        let lists: Vec<(&str, String)> =
            lists.iter().map(|(name, on)| (*name, format!("dependsOn: {on}"))).collect();
        let lists: Vec<(&str, &str, &str)> =
            lists.iter().map(|(name, more)| (*name, more.as_str(), "['x']")).collect();
        world(&lists).lists().faults()
    };
    assert_eq!(
        faults(&[("a", "['b', { ref: 'c' }]"), ("b", "[{ name: 'c' }]"), ("c", "['d']"), ("d", "[]")]),
        [""; 0]
    );
    assert_eq!(faults(&[("a", "['b']")]), ["shared list \"a\" depends on \"b\", which does not exist"]);
    assert_eq!(faults(&[("a", "['a']")]), ["shared lists depend on each other: a → a"]);
    assert_eq!(
        faults(&[("a", "['b']"), ("b", "['a']")]),
        ["shared lists depend on each other: a → b → a", "shared lists depend on each other: b → a → b"]
    );
    assert_eq!(
        faults(&[("a", "['b']"), ("b", "['c']"), ("c", "['d']"), ("d", "['e']"), ("e", "[]")]),
        ["shared lists depend on each other too deeply: a → b → c → d → e"]
    );
}

/// Thousands of entries in many tools load at once: work grows with the entries, not with their square.
#[test]
fn long_lists_are_resolved_quickly() {
    let entries: Vec<String> = (0..50_000).map(|id| format!("'chain-{id}'")).collect();
    let world = world(&[("chains", "version: '1.0.0'", &format!("[{}]", entries.join(",")))]);
    let started = std::time::Instant::now();
    let catalogue = world.load(&[schema("enum()", &["$chains"], "[]")]);
    assert_eq!(catalogue.shown(), ["demo__get"]);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
