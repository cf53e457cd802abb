//! Whatever is not served has a finding that says why, however the data is broken.

use flowmcp_spec::{Document, DocumentKind, HandlerFacts, Node, Read, SourceFile};
use flowmcp_validate::{Options, validate};
use serde_json::{Value, json};

/// A schema that uses every field of the format.
fn whole() -> Value {
    let parameter = |key: &str, value: &str, location: &str, primitive: &str, options: &[&str]| {
        json!({
            "position": { "key": key, "value": value, "location": location },
            "z": { "primitive": primitive, "options": options },
            "description": "One"
        })
    };
    json!({
        "namespace": "demo",
        "name": "Demo",
        "description": "An example",
        "version": "3.0.0",
        "root": "https://api.example.com/v1",
        "docs": [ "https://docs.example.com" ],
        "tags": [ "demo" ],
        "requiredServerParams": [ "API_KEY" ],
        "requiredLibraries": [],
        "headers": { "Authorization": "Bearer {{API_KEY}}" },
        "sharedLists": [ { "ref": "countries", "version": "1.0.0", "filter": { "key": "code", "exists": true } } ],
        "tools": {
            "send": {
                "method": "POST",
                "path": "/{{id}}/send",
                "description": "Send",
                "parameters": [
                    parameter("id", "{{USER_PARAM}}", "insert", "string()", &[ "min(1)" ]),
                    parameter("limit", "10", "query", "number()", &[]),
                    parameter("note", "{{USER_PARAM}}", "body", "enum(a,b)", &[ "default(a)" ])
                ],
                "headers": { "Accept": "application/json" },
                "output": { "mimeType": "application/json", "schema": { "type": "object", "properties": { "id": { "type": "string" } } } },
                "preload": { "enabled": true, "ttl": 60 },
                "tests": [ { "_description": "One", "id": "1" } ]
            },
            "other": { "method": "GET", "path": "/", "description": "Other", "parameters": [] }
        },
        "resources": {},
        "skills": {}
    })
}

/// The addresses of all values inside a value.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        Value::Object(map) => map.iter().map(|(key, item)| (key.clone(), item)).collect(),
        _ => Vec::new(),
    };
    for (key, child) in children {
        let pointer = format!("{at}/{key}");
        pointers(child, &pointer, all);
        all.push(pointer);
    }
}

fn check(main: &Value, what: &str) {
    let file = SourceFile::new("demo.mjs", "");
    let root = Node::from_value(main);
    let document =
        Document { kind: DocumentKind::Schema, root, content: None, code: HandlerFacts::default() };
    let validated =
        validate(&file, Read { document: Some(document), diagnostics: Vec::new() }, &Options::default());
    for tool in &validated.refused {
        assert!(validated.tool_blocked(tool).is_some(), "{what}: {tool} is left out without a word");
    }
    if validated.value.is_none() {
        assert!(validated.file_blocked().is_some(), "{what}: the schema is left out without a word");
    }
}

#[test]
fn nothing_is_left_out_without_a_word() {
    let main = whole();
    check(&main, "whole");
    let mut all = Vec::new();
    pointers(&main, "", &mut all);
    let wrong = [
        json!(null),
        json!(true),
        json!(-1.5),
        json!(""),
        json!(" "),
        json!("{{X}}"),
        json!([]),
        json!({}),
        json!([null]),
        json!([[]]),
        json!({ "a": null }),
        json!({ "": {} }),
    ];
    for pointer in &all {
        for value in &wrong {
            let mut broken = main.clone();
            *broken.pointer_mut(pointer).unwrap() = value.clone();
            check(&broken, &format!("{pointer} = {value}"));
        }
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let mut broken = main.clone();
        match broken.pointer_mut(parent).unwrap() {
            Value::Array(items) => drop(items.remove(key.parse().unwrap())),
            Value::Object(map) => drop(map.remove(key)),
            other => panic!("{other} has no members"),
        }
        check(&broken, &format!("{pointer} removed"));
    }
}

#[test]
fn a_whole_schema_is_served() {
    let validation = flowmcp_validate::validate_schema(&whole());
    assert_eq!(validation.messages, Vec::<String>::new());
}
