//! JSON Schemas of arguments: the cases `tool-03` and `tool-05`, and semantics.md, section 4.

use serde_json::{Map, Value};

use crate::{
    schema_text::{SchemaText, demo, list, tool, user, valued},
    support::World,
};

/// The input schema of a schema's only tool.
#[track_caller]
fn input_schema(world: &World, parameters: &[String]) -> Map<String, Value> {
    let schema = SchemaText { server_params: &["DEMO_KEY"], ..demo(tool("POST", "/x/{{ID}}", parameters)) };
    let catalogue = world.load(std::slice::from_ref(&schema));
    assert_eq!(catalogue.errors(), [""; 0], "{}", schema.text());
    let input_schema = catalogue.tools[0].input_schema().as_ref().clone();
    check_shape(&input_schema);
    input_schema
}

/// What every client and model API accepts, and nothing else.
#[track_caller]
fn check_shape(schema: &Map<String, Value>) {
    for key in schema.keys() {
        assert!(["type", "properties", "required", "additionalProperties"].contains(&key.as_str()), "{key}");
    }
    assert_eq!(
        (&schema["type"], &schema["additionalProperties"]),
        (&Value::from("object"), &Value::from(false))
    );
    let properties = schema["properties"].as_object().unwrap();
    let required = schema.get("required").map(|required| required.as_array().unwrap().as_slice());
    for name in required.unwrap_or_default() {
        assert!(properties.contains_key(name.as_str().unwrap()), "{name} is no property");
    }
    assert_ne!(required.map(<[Value]>::len), Some(0));
    for (name, property) in properties {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        assert!((1..=64).contains(&name.len()) && name.bytes().all(is_allowed), "{name}");
        let kind = property["type"].as_str().unwrap();
        let more: &[&str] = match kind {
            "string" => &["enum", "minLength", "maxLength", "pattern"],
            "number" => &["minimum", "maximum"],
            "array" => &["items", "minItems", "maxItems"],
            "boolean" | "object" => &[],
            other => panic!("{name}: {other}"),
        };
        for (key, value) in property.as_object().unwrap() {
            let is_known =
                ["type", "description", "default"].contains(&key.as_str()) || more.contains(&key.as_str());
            assert!(is_known, "{name}: {key} on {kind}");
            assert!(!value.is_null(), "{name}: {key} is null");
            let counts = ["minLength", "maxLength", "minItems", "maxItems"].contains(&key.as_str());
            assert!(!counts || value.as_u64().is_some(), "{name}: {key} is {value}");
        }
        assert_ne!(property["description"].as_str(), Some(""), "{name}");
        assert!(kind != "array" || property["items"].is_object(), "{name}: array without items");
        if let Some(members) = property.get("enum").map(|members| members.as_array().unwrap()) {
            let texts: std::collections::HashSet<&str> =
                members.iter().map(|member| member.as_str().unwrap()).collect();
            assert!(texts.len() == members.len() && (1..=200).contains(&texts.len()), "{name}: {members:?}");
        }
        if let Some(default) = property.get("default") {
            let fits = match kind {
                "string" => default.is_string(),
                "number" => default.is_number(),
                "boolean" => default.is_boolean(),
                "array" => default.is_array(),
                _ => default.is_object(),
            };
            assert!(fits, "{name}: default {default} is no {kind}");
        }
    }
}

fn pretty(schema: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(schema).unwrap()
}

#[test]
fn tool_03_every_type_and_option() {
    let world = World {
        lists: vec![list(
            "chains",
            "version: '1.0.0'",
            "[{ alias: 'eth' }, { alias: 'polygon' }, { alias: 'eth' }]",
        )],
        keys: vec![("DEMO_KEY", "s3cr3t-k3y")],
        ..World::default()
    };
    let mut described = user("described", "query", "string()", &[]);
    described.insert_str(1, " description: 'What to look for.',");
    let parameters = [
        valued("id", "{{ID}}", "insert", "string()", &["length(42)"]),
        user("plain", "query", "string()", &["optional()"]),
        user("text", "query", "string()", &["min(2)", "max(9)", "default(abc)"]),
        user("matched", "query", "string()", &["regex(^0x[a-fA-F0-9]+$)"]),
        user("flagged", "query", "string()", &["regex(/^nct\\d+$/i)", "optional()"]),
        user("limit", "query", "number()", &["min(1)", "max(100)", "optional()", "default(20)"]),
        user("ratio", "query", "number()", &["min(-0.5)", "max(1e3)"]),
        user("flag", "query", "boolean()", &["default(false)"]),
        user("order", "query", "enum(asc, desc)", &["default(desc)"]),
        user("chain", "query", "enum({{chains:alias}},all)", &[]),
        user("chainId", "query", "enum(1,5,137)", &["optional()"]),
        user("tags", "body", "array()", &["min(1)", "max(3)", "optional()"]),
        user("ids", "body", "array()", &["default([\"a\"])"]),
        user("filter", "body", "object()", &["default({\"a\":1})"]),
        user("page[size]", "query", "number()", &["optional()"]),
        user("größe", "query", "number()", &["optional()"]),
        valued("fixed", "x", "query", "string()", &[]),
        valued("key", "{{DEMO_KEY}}", "query", "string()", &[]),
        valued("other", "{{SERVER_PARAM:DEMO_KEY}}", "body", "string()", &[]),
        valued("sql", "TOP {{COUNT}} OF {{TABLE}}", "query", "string()", &[]),
        described,
    ];
    insta::assert_snapshot!(pretty(&input_schema(&world, &parameters)));
}

#[test]
fn tool_03_no_parameters() {
    let catalogue = World::default().load(&[demo(tool("GET", "/x", &[]))]);
    let schema = catalogue.tools[0].input_schema();
    check_shape(schema);
    assert_eq!(
        Value::Object(schema.as_ref().clone()).to_string(),
        r#"{"type":"object","properties":{},"additionalProperties":false}"#
    );
}

/// JSON Schema counts in whole numbers from zero; bounds of a text or list that say nothing are left out.
#[test]
fn bounds_of_lengths_are_whole_numbers() {
    let id = valued("id", "{{ID}}", "insert", "string()", &["min(-1)", "max(2.5)"]);
    let list = user("list", "query", "array()", &["min(1.5)"]);
    let schema = input_schema(&World::default(), &[id, list]);
    let properties = &schema["properties"];
    assert_eq!(properties["id"].get("minLength"), None);
    assert_eq!(
        (&properties["id"]["maxLength"], &properties["list"]["minItems"]),
        (&Value::from(2), &Value::from(2))
    );
}

#[test]
fn tool_05_an_enum_of_thousands_is_a_text_with_a_hint() {
    let entries = |count: usize| {
        let entries: Vec<String> = (0..count).map(|id| format!("{{ alias: 'chain-{id}' }}")).collect();
        format!("[{}, {{ alias: 'chain-0' }}]", entries.join(","))
    };
    let world = |count| World {
        lists: vec![list("chains", "version: '1.0.0'", &entries(count))],
        ..World::default()
    };
    let parameters = [
        valued("id", "{{ID}}", "insert", "array()", &[]),
        user("chain", "query", "enum({{chains:alias}})", &["optional()"]),
    ];
    let schema = input_schema(&world(200), &parameters);
    assert_eq!(schema["properties"]["chain"]["enum"].as_array().unwrap().len(), 200);
    let large = input_schema(&world(3000), &parameters);
    insta::assert_snapshot!(pretty(&large));
    assert_eq!(input_schema(&world(201), &parameters)["properties"]["chain"].get("enum"), None);
    world(3000).check(
        &demo(tool("GET", "/x", &[user("chain", "query", "enum({{chains:alias}})", &[])])),
        &[
            (r#"{"chain":"chain-2999"}"#, "GET https://api.example.test/v1/x?chain=chain-2999"),
            (
                r#"{"chain":"chain-3000"}"#,
                "! Bad arguments for demo__get:\n- chain: must be one of chain-0, chain-1, chain-2, chain-3, chain-4, \
                 chain-5, chain-6, chain-7, chain-8, chain-9, chain-10, chain-11, chain-12, chain-13, chain-14, chain-15, \
                 chain-16, chain-17, chain-18, chain-19, … (3000 in all) (found \"chain-3000\")",
            ),
        ],
    );
    let long = format!("enum({})", (0..60).map(|id| format!("{id:0100}")).collect::<Vec<_>>().join(","));
    let schema = input_schema(&World::default(), &[parameters[0].clone(), user("long", "query", &long, &[])]);
    assert_eq!(schema["properties"]["long"].get("enum"), None, "6 000 bytes of members");
}

#[test]
fn names_of_properties() {
    let names = |keys: &[&str]| {
        let mut parameters = vec![valued("id", "{{ID}}", "insert", "string()", &[])];
        parameters.extend(keys.iter().map(|key| user(key, "query", "string()", &["optional()"])));
        let schema = input_schema(&World::default(), &parameters);
        schema["properties"].as_object().unwrap().keys().skip(1).cloned().collect::<Vec<_>>()
    };
    let long = "x".repeat(70);
    let other = format!("{}y", "x".repeat(69));
    for (keys, expected) in [
        (["page[size]", "page_size"], ["page_size_2", "page_size"]),
        (["page_size", "page[size]"], ["page_size", "page_size_2"]),
        (["a.b-c", "$limit"], ["a.b-c", "limit"]),
        (["größe", "日本"], ["gr_e", "value"]),
        (["filter[a][b]", "filter a b"], ["filter_a_b", "filter_a_b_2"]),
        ([&long, &other], [&"x".repeat(64), &format!("{}_2", "x".repeat(60))]),
        (["q", "q"], ["q", "q_2"]),
    ] {
        assert_eq!(names(&keys), expected, "{keys:?}");
    }
    assert_eq!(
        names(&["page[size]", "page_size_2", "page_size"]),
        ["page_size_3", "page_size_2", "page_size"]
    );
}
