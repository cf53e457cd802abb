//! What the fuzz targets have in common: from text to findings and tools, as the server does it, with checks of what
//! must hold for any text.

use std::sync::Arc;

use flowmcp_engine::{ActiveTool, Lists, PackPolicy, activate};
use flowmcp_spec::{Diagnostic, Node, SourceFile, read};
use flowmcp_validate::{Options, validate};

/// Reads, checks and activates a file.
pub fn tools(text: &str) -> (Vec<ActiveTool>, Vec<Diagnostic>) {
    let file = SourceFile::new("fuzz.mjs", text);
    let read = read(&file);
    if let Some(document) = &read.document {
        check_tree(&file, &document.root);
        let json = document.root.to_json();
        let parsed: serde_json::Value = serde_json::from_str(&json).expect("data is JSON");
        assert_eq!(parsed, document.root.to_value(), "both forms of the data are the same");
    }
    let options = Options { allow_local: true, ..Options::default() };
    let validated = validate(&file, read, &options);
    check_places(&file, &validated.diagnostics);
    let policy = Arc::new(PackPolicy::new("fuzz"));
    let tools = validated.value.map(|mut schema| {
        check_places(&file, &Lists::default().resolve(&mut schema));
        activate(schema, &policy)
    });
    let tools = tools.unwrap_or_default();
    for tool in &tools {
        assert!(tool.input_schema().contains_key("properties"), "an input schema is an object");
        assert!(!tool.key.is_empty() || !tool.namespace.is_empty());
    }
    (tools, validated.diagnostics)
}

/// Every finding has a message, and its place lies in the text.
pub fn check_places(file: &SourceFile, findings: &[Diagnostic]) {
    for finding in findings {
        assert!(!finding.message.is_empty(), "{} says something", finding.code);
        if let Some(span) = finding.span {
            assert!(file.text.get(span.range()).is_some(), "{finding} lies in the text: {span:?}");
            file.line_column(span.start);
        }
    }
}

fn check_tree(file: &SourceFile, node: &Node) {
    assert!(file.text.get(node.span.range()).is_some(), "{:?}", node.span);
    node.items().iter().for_each(|item| check_tree(file, item));
    for entry in node.entries() {
        assert!(file.text.get(entry.key_span.range()).is_some(), "{:?}", entry.key_span);
        check_tree(file, &entry.node);
    }
}
