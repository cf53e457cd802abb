//! `explain`, `config`, `completions`, `man`, and the command line itself.

use super::project::{Project, repository, schema, tool};

#[test]
fn codes_are_explained() {
    let project = Project::new();
    let page = project.run(&["explain", "VAL011"]).code(0);
    assert!(page.stdout.starts_with("# VAL011") && page.stderr.is_empty(), "{}", page.whole());
    assert_eq!(project.run(&["explain", "val011"]).stdout, page.stdout);
    let unknown = project.run(&["explain", "VAL01l"]).code(2);
    insta::assert_snapshot!(unknown.whole());
}

#[test]
fn the_configuration_is_shown_and_checked() {
    let config = "[params]\nenv_file = \".env\"\n[[packs]]\npath = \"pack\"\n";
    let project = Project::new()
        .file("config.toml", config)
        .file(".env", "DEMO_KEY=a-secret-value\n")
        .file("pack/Made.mjs", schema("made", "Made", "", &tool("ok")));
    let shown = project.run(&["config", "show"]).code(0);
    assert!(
        shown.stdout.contains("env_file") && !shown.whole().contains("a-secret-value"),
        "{}",
        shown.whole()
    );
    let checked = project.run(&["config", "check"]).code(0);
    assert_eq!(checked.whole(), "exit code 0\n--- stdout\nthe configuration is in order\n--- stderr\n");
    let project = project.file(".env", "=a-secret-value\n");
    let checked = project.run(&["config", "check"]).code(1);
    assert!(!checked.whole().contains("a-secret-value"), "{}", checked.whole());
    let listed = project.run(&["list"]).code(2);
    assert!(
        !listed.whole().contains("a-secret-value") && listed.stderr.contains(".env:1"),
        "{}",
        listed.whole()
    );
}

#[test]
fn pages_for_shells_and_manuals() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let page = project.run(&["completions", shell]).code(0);
        assert!(page.stdout.contains("flowmcp-server") && page.stderr.is_empty(), "{}", page.whole());
        assert!(page.stdout.contains("validate"), "{shell}");
    }
    let manual = project.run(&["man"]).code(0);
    assert!(manual.stdout.contains(".TH flowmcp-server 1"), "{}", manual.whole());
    project.run(&["--help"]).code(0);
    assert!(project.run(&["--version"]).code(0).stdout.starts_with("flowmcp-server "));
}

#[test]
fn a_wrong_command_line_is_exit_code_2() {
    let project = Project::new().file("pack/Made.mjs", schema("made", "Made", "", &tool("ok")));
    for arguments in [
        &["lsit"][..],
        &["list", "--al"],
        &["call"],
        &["validate"],
        &["hash"],
        &["completions", "cmd"],
        &["validate", "pack", "--format", "xml"],
        &["serve", "--stdio", "--http", "127.0.0.1:0"],
        &["--pack", "pack", "--grant", "files", "list"],
        &["--pack", "pack", "serve", "--http", "here"],
        &["--pack", "pack", "--set", "http.retires=1", "list"],
        &["--pack", "pack", "--set", "http.retries", "list"],
        &["--pack", "pack", "--set", "log.level=loud", "list"],
        &["--pack", "pack", "--set", "serve.stdio=false", "serve"],
    ] {
        let ran = project.run(arguments).code(2);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("error: "), "{}", ran.whole());
    }
}

/// `list | head` closes our stdout, which is no failure and no panic.
#[test]
fn a_closed_stdout_is_quiet() {
    let tools: String = (0..8).map(|number| tool(&format!("t{number}"))).collect();
    let mut project = Project::new();
    for letter in 'a'..='z' {
        let name = format!("made{letter}");
        project = project.file(&format!("pack/{name}.mjs"), schema(&name, "Made", "", &tools));
    }
    for arguments in [
        &["--pack", "pack", "list", "--json"][..],
        &["test", "pack", "--dry-run"],
        &["validate", "pack"],
        &["man"],
        &["completions", "bash"],
    ] {
        let mut child = project.command(arguments).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!stderr.contains("panicked") && !stderr.contains("pipe"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn paths_start_at_the_configuration_and_the_environment_wins_over_it() {
    let project = Project::new()
        .file("settings/my.toml", "[log]\nlevel = \"info\"\n[[packs]]\npath = \"../pack\"\n")
        .file("pack/Made.mjs", schema("made", "Made", "", &tool("ok")))
        .file("pack/Broken.mjs", "export const main = {");
    let ran = project.run(&["-c", "settings/my.toml", "list"]).code(0);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.lines().count()),
        ("made__ok  Does ok\n", 1),
        "{}",
        ran.whole()
    );
    let project = project.variable("FLOWMCP_LOG__LEVEL", "off");
    let ran = project.run(&["-c", "settings/my.toml", "list"]).code(0);
    assert_eq!(ran.stderr, "");
    let ran = project.run(&["-c", "settings/my.toml", "--set", "log.level=warn", "list"]).code(0);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.whole());
}

/// `flowmcp-server -c config.toml` of this repository, from anywhere.
#[test]
fn the_shipped_configuration_works_as_it_is() {
    let config = repository().join("config.toml");
    let config = config.to_str().unwrap();
    let project = Project::new();
    let list = project.run(&["-c", config, "list", "--json"]).code(0).json();
    assert_eq!(list["findings"]["errors"], 0);
    let tools = list["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "coingecko__ping"), "{list}");
    assert!(tools.len() > 12, "{list}");
    let ran = project.run(&["-c", config, "serve", "--stdio"]).code(0);
    assert_eq!(ran.stdout, "");
    assert!(!ran.stderr.contains("ERROR"), "{}", ran.whole());
    project.run(&["-c", config, "config", "check"]).code(0);
}
