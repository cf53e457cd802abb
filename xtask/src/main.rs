//! Tasks of this repository that are not part of the server: `cargo xtask TASK`.

mod check;
mod docs;
mod findings;
mod fuzz;
mod process;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask TASK

  check [STEP…]          format, lints, documentation and licences; all steps, or only those named
  check --without STEP   all steps but one
  docs                   write docs/rules.md from the rules
  fuzz [--seconds N] [TARGET…]   run the fuzz targets, 600 s each without --seconds
  catalogue-findings REPORT FOLDER
                         write docs/catalogue-findings.md from what `validate FOLDER --format json` printed";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["check", steps @ ..] => check::run(steps),
        ["docs"] => docs::run(),
        ["fuzz", targets @ ..] => fuzz::run(targets),
        ["catalogue-findings", report, folder] => findings::run(report, folder),
        ["help" | "--help" | "-h"] => {
            eprintln!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
