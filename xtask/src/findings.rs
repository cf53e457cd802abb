//! `cargo xtask catalogue-findings REPORT FOLDER`: docs/catalogue-findings.md from what `validate --format json` printed.

use std::{collections::BTreeMap, fmt::Write as _, fs};

use serde_json::Value;

use crate::process;

const HEAD: &str = "\
# Errors in the public catalogue

<!-- Made by `cargo xtask catalogue-findings`; not edited by hand. -->

The public catalogue FlowMCP/flowmcp-schemas, version 3.0.0, as `flowmcp-server validate FOLDER --allow-local` judges it. Each file
that has an error is listed with the reasons; warnings are counted below. Codes are explained in [rules.md](rules.md).

```console
$ flowmcp-server validate FOLDER --allow-local --format json > report.json
$ cargo xtask catalogue-findings report.json FOLDER
```

";

pub(crate) fn run(report: &str, folder: &str) -> Result<(), String> {
    let text = fs::read_to_string(report).map_err(|error| format!("{report}: cannot be read: {error}"))?;
    let report: Value =
        serde_json::from_str(&text).map_err(|error| format!("{report}: is no report: {error}"))?;
    let path = process::workspace().join("docs/catalogue-findings.md");
    fs::write(&path, page(&report, folder)).map_err(|error| format!("{}: {error}", path.display()))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

fn page(report: &Value, folder: &str) -> String {
    let files = report["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let failed: Vec<&Value> = files.iter().filter(|file| file["status"] != true).collect();
    let mut page = HEAD.to_owned();
    // Writing to a String cannot fail.
    let _ = writeln!(page, "{} of {} files have an error.\n", failed.len(), files.len());
    for file in failed {
        let name = file["file"].as_str().unwrap_or_default();
        let name = name.strip_prefix(folder).unwrap_or(name).trim_start_matches('/');
        let _ = writeln!(page, "## {name}\n");
        for finding in of_severity(file, "error") {
            let (code, message) = (text(finding, "code"), text(finding, "message"));
            let line = finding["line"].as_u64().map_or_else(String::new, |line| format!(", line {line}"));
            let _ = writeln!(page, "- {code}{line}: {}", without_found(&message));
        }
        page.push('\n');
    }
    page.push_str("## Warnings and hints\n\n| Code | Findings | Files |\n|---|---|---|\n");
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for file in files {
        let mut here: BTreeMap<String, usize> = BTreeMap::new();
        for finding in of_severity(file, "warning").chain(of_severity(file, "hint")) {
            *here.entry(text(finding, "code")).or_default() += 1;
        }
        for (code, count) in here {
            let (all, files) = counts.entry(code).or_default();
            *all += count;
            *files += 1;
        }
    }
    for (code, (count, files)) in counts {
        let _ = writeln!(page, "| {code} | {count} | {files} |");
    }
    page
}

fn of_severity<'f>(file: &'f Value, severity: &'f str) -> impl Iterator<Item = &'f Value> {
    file["findings"].as_array().into_iter().flatten().filter(move |finding| finding["severity"] == severity)
}

fn text(finding: &Value, key: &str) -> String {
    finding[key].as_str().unwrap_or_default().replace('|', "\\|")
}

/// The value that was found is the catalogue's text, as names in paths are, and stays there.
fn without_found(message: &str) -> &str {
    message.split(" (found").next().unwrap_or(message)
}
