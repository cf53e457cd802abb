//! Any root path, path, value, header and argument: whatever is rendered goes to the root's host, below the root.
#![no_main]

use flowmcp_engine::{Settings, dry_run};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

fuzz_target!(|text: &str| {
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let (root, path, key, value, header) = (line(), line(), line(), line(), line());
    let argument = line();
    let schema = json!({
        "namespace": "fuzz", "name": "Fuzz", "description": "x", "version": "3.0.0",
        "root": format!("https://a.example/{root}"),
        "requiredServerParams": ["KEY"],
        "headers": { "X-Made": header },
        "tools": { "get": {
            "method": "GET", "path": format!("/{path}"), "description": "x",
            "parameters": [
                { "position": { "key": key, "value": "{{USER_PARAM}}", "location": "insert" },
                  "z": { "primitive": "string()", "options": ["optional()"] } },
                { "position": { "key": "q", "value": value, "location": "query" },
                  "z": { "primitive": "string()", "options": [] } },
            ],
        } },
    });
    let (tools, _) = flowmcp_fuzz::tools(&format!("export const main = {schema}"));
    for tool in &tools {
        let names = tool.input_schema().get("properties").and_then(Value::as_object);
        let names = names.map(|names| names.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
        let arguments: Map<String, Value> =
            names.into_iter().map(|name| (name, Value::String(argument.to_owned()))).collect();
        let Ok(request) = dry_run(tool, arguments, &Settings::default()) else { continue };
        // A server parameter stands as <KEY> in what is shown.
        let shown = request.url.replace("<KEY>", "KEY");
        let url = url::Url::parse(&shown).expect("a rendered URL is one");
        assert_eq!(url.host_str(), Some("a.example"), "{shown}");
        assert_eq!((url.scheme(), url.username(), url.fragment()), ("https", "", None), "{shown}");
        for (name, value) in &request.headers {
            assert!(!format!("{name}{value}").contains(['\r', '\n', '\0']), "{name}: {value}");
        }
    }
});
