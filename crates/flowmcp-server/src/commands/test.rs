//! `test`: the tests that schemas carry, sent or only rendered.

use std::{io::IsTerminal, sync::Arc};

use anyhow::Result;
use flowmcp_engine::{ActiveTool, Caller, Content, DEFAULT_VIEW, Entry, dry_run_with};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::{
    Environment, NOT_IN_ORDER,
    call::{executes, request_json},
    print, report_loading, session,
};
use crate::{
    cli::{SourceFlags, TestArgs},
    load::{Keep, ToolTests},
    logging,
};

pub(super) fn run(flags: &SourceFlags, args: &TestArgs, environment: &Environment) -> Result<u8> {
    let flags = flags.with_packs(&args.paths);
    let mut session = session(&flags, Vec::new(), environment, Keep::Tests)?;
    report_loading(&session.catalogue);
    let tests = std::mem::take(&mut session.catalogue.tests);
    let left_out = session.catalogue.counts.broken;
    let settings = session.config.engine_settings();
    let snapshot = session.catalogue.snapshot();
    let tool = |tests: &ToolTests| {
        let index = tests.tool.clone()?;
        match snapshot.entries().get(index) {
            Some(Entry::Tool(tool)) => Ok(Arc::clone(tool)),
            _ => Err("is not served".to_owned()),
        }
    };
    let cases: Vec<(ToolTests, Result<Arc<ActiveTool>, String>)> = tests
        .into_iter()
        .map(|mut tests| {
            let tool = tool(&tests);
            if let Ok(tool) = &tool {
                tests.name = tool.name.to_string();
            }
            (tests, tool)
        })
        .collect();
    let total: usize = cases.iter().map(|(tests, _)| tests.tests.len()).sum();
    let bar = progress(total);
    let mut tally = Tally::default();
    let mut text = String::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if args.dry_run {
        let pool = session.pool()?;
        for (tests, tool) in &cases {
            for (index, test) in tests.tests.iter().enumerate() {
                let (row, failed) = match tool {
                    Err(reason) => (json!({ "tool": tests.name, "error": reason }), true),
                    Ok(tool) if executes(tool) => (json!({ "tool": &*tool.name, "executes": true }), false),
                    Ok(tool) => {
                        let shown = dry_run_with(tool, test.arguments.clone(), &settings, &pool);
                        match runtime.block_on(shown) {
                            Ok(request) => (request_json(tool, &request), false),
                            Err(error) => (json!({ "tool": &*tool.name, "error": error.to_string() }), true),
                        }
                    }
                };
                tally.add(failed);
                text.push_str(&line(row, tests, index, args.json));
                bar.inc(1);
            }
        }
    } else {
        let (_, engine) = session.engine()?;
        engine.replace(snapshot);
        for (tests, tool) in &cases {
            for (index, test) in tests.tests.iter().enumerate() {
                let result = match tool {
                    Err(reason) => Err(reason.clone()),
                    Ok(tool) => match &tool.hidden {
                        Some(hidden) => Err(format!("hidden: {hidden}")),
                        None => {
                            let arguments = test.arguments.clone();
                            let caller = Caller::default();
                            let call = engine.call(DEFAULT_VIEW, &tool.name, arguments, &caller);
                            match runtime.block_on(call) {
                                Ok(output) if output.is_error => Err(first_text(&output.content)),
                                Ok(_) => Ok(()),
                                Err(error) => Err(error.to_string()),
                            }
                        }
                    },
                };
                tally.add(result.is_err());
                let row = match result {
                    Ok(()) => json!({ "tool": tests.name, "passed": true }),
                    Err(reason) => json!({ "tool": tests.name, "passed": false, "error": reason }),
                };
                print(&line(row, tests, index, args.json))?;
                bar.inc(1);
            }
        }
    }
    bar.finish_and_clear();
    print(&text)?;
    let verb = if args.dry_run { "rendered" } else { "passed" };
    let files = if left_out == 0 { String::new() } else { format!("; {left_out} files left out") };
    logging::say(&format!("{} tests {verb}, {} not{files}", tally.done, tally.failed));
    // Tests of a file that cannot be read are not even known, which must not look like success.
    Ok(if tally.failed == 0 && left_out == 0 { 0 } else { NOT_IN_ORDER })
}

#[derive(Default)]
struct Tally {
    done: usize,
    failed: usize,
}

impl Tally {
    fn add(&mut self, failed: bool) {
        if failed { self.failed += 1 } else { self.done += 1 }
    }
}

fn first_text(content: &[Content]) -> String {
    let text = content.iter().find_map(|content| match content {
        Content::Text(text) => Some(text.clone()),
        _ => None,
    });
    text.unwrap_or_else(|| "failed without a text".to_owned())
}

fn line(mut row: Value, tests: &ToolTests, index: usize, as_json: bool) -> String {
    if as_json {
        if let Value::Object(map) = &mut row {
            map.insert("file".to_owned(), Value::String(tests.file.to_string()));
            map.insert("test".to_owned(), index.into());
            if !map.contains_key("error") {
                map.insert("error".to_owned(), Value::Null);
            }
        }
        return format!("{row}\n");
    }
    let text = |key: &str| row.get(key).and_then(Value::as_str);
    let what = match (text("error"), text("method"), text("url")) {
        (Some(error), ..) => format!("FAILED {}", error.replace('\n', "; ")),
        (None, Some(method), Some(url)) => format!("{method} {url}"),
        _ if row.get("executes").is_some() => "its handler makes the request".to_owned(),
        _ => "ok".to_owned(),
    };
    let notes = row.get("notes").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let notes: String = notes.map(|note| format!("\n    note: {note}")).collect();
    format!("{} [{index}] {what}{notes}\n", tests.name)
}

/// A bar on a terminal; elsewhere nothing, since every test prints its line.
fn progress(total: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() || std::io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} tests {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(total as u64).with_style(style)
}
