//! `hash`: the integrity hash of schemas.

use anyhow::Result;
use flowmcp_spec::{Document, MAX_FILE_BYTES, SourceFile, hash, lower, read, tool_hash};

use super::{NOT_IN_ORDER, print, refuse_unreadable};
use crate::{cli::HashArgs, logging, report};

pub(super) fn run(args: &HashArgs) -> Result<u8> {
    for path in &args.files {
        refuse_unreadable(path)?;
    }
    let mut code = 0;
    for path in &args.files {
        let name = path.display().to_string();
        let source = match SourceFile::open(path, &name, MAX_FILE_BYTES) {
            Ok(source) => source,
            Err(error) => {
                logging::say(&format!("error: {error}"));
                code = NOT_IN_ORDER;
                continue;
            }
        };
        let read = read(&source);
        // A hash over data that is not all there would name something else.
        match read.document.filter(|_| read.diagnostics.is_empty()) {
            Some(document) => {
                print(&format!("{}  {name}\n", hash(&document.root)))?;
                if args.tools {
                    print(&tools(&source, &document))?;
                }
            }
            None => {
                logging::say(&report::text(&source, &read.diagnostics, report::Colour::of_stderr()));
                code = NOT_IN_ORDER;
            }
        }
    }
    Ok(code)
}

/// A line for each tool, by its ID.
fn tools(source: &SourceFile, document: &Document) -> String {
    let Some(schema) = lower(source, document).schema else { return String::new() };
    let line = |tool| {
        let hash = tool_hash(&document.root, &schema, tool)?;
        Some(report::inert(&format!("{hash}  {}/tool/{}", schema.namespace, tool.name)) + "\n")
    };
    schema.tools.iter().filter_map(line).collect()
}
