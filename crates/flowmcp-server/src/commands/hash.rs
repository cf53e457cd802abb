//! `hash`: the integrity hash of schemas.

use std::path::PathBuf;

use anyhow::Result;
use flowmcp_spec::{MAX_FILE_BYTES, SourceFile, hash, read};

use super::{NOT_IN_ORDER, print, refuse_unreadable};
use crate::{logging, report};

pub(super) fn run(files: &[PathBuf]) -> Result<u8> {
    for path in files {
        refuse_unreadable(path)?;
    }
    let mut code = 0;
    for path in files {
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
            Some(document) => print(&format!("{}  {name}\n", hash(&document.root)))?,
            None => {
                logging::say(&report::text(&source, &read.diagnostics, report::Colour::of_stderr()));
                code = NOT_IN_ORDER;
            }
        }
    }
    Ok(code)
}
