//! Findings as SARIF 2.1.0, for code scanning services.

use flowmcp_spec::{Diagnostic, Severity};
use serde_json::{Value, json};

use crate::load::FileReport;

/// The log of one run over files.
pub fn log(files: &[FileReport]) -> Value {
    let rules: Vec<Value> = flowmcp_validate::RULES
        .iter()
        .map(|rule| {
            json!({
                "id": rule.code.0,
                "shortDescription": { "text": rule.title() },
                "help": { "text": rule.page, "markdown": rule.page },
                "defaultConfiguration": { "level": level(rule.severity) },
            })
        })
        .collect();
    let results: Vec<Value> = files.iter().flat_map(results).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "flowmcp-server",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            } },
            // Columns are counted in characters; without this a reader takes them for UTF-16 units.
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn results(file: &FileReport) -> Vec<Value> {
    let unreadable = file.unreadable.iter().map(|reason| {
        json!({
            "level": "error",
            "message": { "text": reason },
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(&file.path) } } }],
        })
    });
    unreadable.chain(file.diagnostics.iter().map(|finding| result(file, finding))).collect()
}

fn result(file: &FileReport, finding: &Diagnostic) -> Value {
    let mut location = json!({ "artifactLocation": { "uri": uri(&file.path) } });
    let place = file.source.as_ref().zip(finding.span).map(|(source, span)| source.line_column(span.start));
    if let (Some((line, column)), Value::Object(location)) = (place, &mut location) {
        location.insert("region".to_owned(), json!({ "startLine": line, "startColumn": column }));
    }
    json!({
        "ruleId": finding.code.0,
        "level": level(finding.severity),
        "message": { "text": finding.to_string() },
        "locations": [{ "physicalLocation": location }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "note",
    }
}

/// A path as a URI reference, relative as the path is.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'@' | b'+' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
