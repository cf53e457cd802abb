//! What `README.md` shows is what happens.

use std::{fs, path::Path, process::Command};

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    fs::read_to_string(path).expect("the page is there")
}

/// The blocks of one language in the README, without their fences.
fn blocks(language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let page = readme();
    let blocks = page.split(&fence).skip(1).filter_map(|rest| rest.split("```").next());
    blocks.map(str::to_owned).collect()
}

/// The commands of a console block, each with the output that is shown; a line `…` stands for any further output.
fn commands(block: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            (None, Some((_, shown))) if line != "…" => shown.push_str(&format!("{line}\n")),
            (None, _) => {}
        }
    }
    commands
}

/// Needs the network, or serves until its input ends.
fn is_not_run_here(command: &str) -> bool {
    let calls = command.contains(" call ") && !command.contains("--dry-run");
    calls || command == "flowmcp-server --pack hello"
}

#[test]
fn the_first_schema_does_what_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("hello")).unwrap();
    let schemas = blocks("js");
    assert_eq!(schemas.len(), 1);
    fs::write(folder.path().join("hello/Repositories.mjs"), &schemas[0]).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_flowmcp-server"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let mut shown_outputs = 0;
    for (command, shown) in blocks("console").iter().flat_map(|block| commands(block)) {
        if !command.contains("hello") && !command.contains("explain") || is_not_run_here(&command) {
            continue;
        }
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", &path)
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {}\n{said}", output.status);
        assert!(printed.starts_with(&shown), "{command}\nshown:\n{shown}\nprinted:\n{printed}");
        shown_outputs += usize::from(!shown.is_empty());
    }
    assert_eq!(shown_outputs, 3, "validate, call --dry-run, list");
}

#[test]
fn every_command_and_flag_of_the_help_is_in_the_readme() {
    let page = readme();
    let output = Command::new(env!("CARGO_BIN_EXE_flowmcp-server")).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let (commands, options) = help.split_once("Commands:").unwrap().1.split_once("Options:").unwrap();
    let word = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    let commands = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    for command in commands.map(word) {
        assert!(page.contains(&format!("`{command}")), "{command} is not in README.md");
    }
    let flags = options
        .split_whitespace()
        .map(|word| word.trim_end_matches([',', '.']))
        .filter(|word| word.starts_with("--"));
    for flag in flags.filter(|flag| !["--help", "--version", "--config"].contains(flag)) {
        assert!(page.contains(flag), "{flag} is not in README.md");
    }
}
