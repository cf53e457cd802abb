//! Any primitive and options, and any value given for it: what is accepted once is accepted unchanged again.
#![no_main]

use flowmcp_spec::{SourceFile, lower, read};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    let mut lines = text.split('\n');
    let (primitive, value) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let options: Vec<&str> = lines.collect();
    let schema = json!({
        "namespace": "fuzz", "name": "Fuzz", "description": "x", "version": "3.0.0", "root": "https://a.example",
        "tools": { "get": { "method": "GET", "path": "/", "description": "x", "parameters": [
            { "position": { "key": "k", "value": "{{USER_PARAM}}", "location": "query" },
              "z": { "primitive": primitive, "options": options } },
        ] } },
    });
    let text = format!("export const main = {schema}");
    let file = SourceFile::new("fuzz.mjs", &text);
    let document = read(&file).document.expect("JSON is a literal");
    let lowered = lower(&file, &document);
    flowmcp_fuzz::check_places(&file, &lowered.diagnostics);
    let given = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    for input in lowered.schema.iter().flat_map(|schema| &schema.tools).flat_map(|tool| &tool.inputs) {
        let Ok(coerced) = input.z.coerce(&given) else { continue };
        let again = input.z.coerce(&coerced.value).expect("what was accepted is accepted again");
        assert_eq!((&again.value, again.from), (&coerced.value, None), "{:?} from {given}", input.z);
    }
    flowmcp_fuzz::tools(&text);
});
