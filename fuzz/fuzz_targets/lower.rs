//! Any text as the tools of a schema that is right otherwise.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|tools: &str| {
    let schema = format!(
        "export const main = {{ namespace: 'fuzz', name: 'Fuzz', description: 'x', version: '3.0.0', root: 'https://a.example', \
         requiredServerParams: ['KEY'], sharedLists: [], headers: {{ X: '{{{{KEY}}}}' }}, tools: {{ {tools} }} }}"
    );
    flowmcp_fuzz::tools(&schema);
});
