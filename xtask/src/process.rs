//! Running cargo on this workspace.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The folder of the workspace.
pub(crate) fn workspace() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// The cargo that runs this program, in the folder of the workspace, without input.
fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(workspace()).stdin(Stdio::null());
    command
}

/// Runs cargo with more environment variables; its output is shown.
pub(crate) fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
    let shown = shown(arguments);
    eprintln!("+ {shown}");
    let status = cargo(arguments)
        .envs(variables.iter().copied())
        .status()
        .map_err(|error| format!("{shown}: cannot be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{shown}: failed ({status})")) }
}

/// What cargo prints to standard output.
pub(crate) fn output(arguments: &[&str]) -> Result<String, String> {
    let shown = shown(arguments);
    let output = cargo(arguments)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{shown}: cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("{shown}: failed ({})", output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{shown}: printed something else than UTF-8"))
}

fn shown(arguments: &[&str]) -> String {
    format!("cargo {}", arguments.join(" "))
}
