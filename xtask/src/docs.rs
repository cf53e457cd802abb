//! `cargo xtask docs`: the pages under `docs/` that are made from the code.

use std::fs;

use crate::process;

/// Writes `docs/rules.md`. A test of flowmcp-validate fails while it is out of date.
pub(crate) fn run() -> Result<(), String> {
    let page =
        process::output(&["run", "--quiet", "--package", "flowmcp-validate", "--example", "rules_index"])?;
    let path = process::workspace().join("docs/rules.md");
    fs::write(&path, page).map_err(|error| format!("{}: cannot be written: {error}", path.display()))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
