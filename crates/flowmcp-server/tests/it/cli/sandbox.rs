//! `sandbox check`: what confines the workers of this machine.

use serde_json::Value;

use super::project::{Project, schema, tool};

#[test]
fn what_the_kernel_refuses_is_shown() {
    let project = Project::new();
    let ran = project.run(&["sandbox", "check"]).code(0);
    for shown in [
        "isolation: process\n",
        "  seccomp: enforced\n",
        "  resource limits: enforced\n",
        "  read a file: the worker process made a forbidden system call and was killed\n",
        "    resource limits alone: refused (Too many open files (os error 24))\n",
        "    seccomp alone: the worker process made a forbidden system call and was killed\n",
    ] {
        assert!(ran.stdout.contains(shown), "{shown}: {}", ran.whole());
    }
}

/// Old kernels lack Landlock: what holds is a matter of the machine, what follows from it is not.
#[test]
fn the_exit_code_says_whether_strict_isolation_can_run_handlers() {
    let project = Project::new()
        .file("strict.toml", "[sandboxes]\nisolation = \"strict\"\n")
        .file("pack/Made.mjs", schema("made", "Made", "", &tool("ok")));
    let ran = project.run(&["-c", "strict.toml", "sandbox", "check", "--json"]);
    let report = ran.json();
    assert_eq!(report["isolation"], "strict");
    let layers = report["layers"].as_array().unwrap();
    let missing = layers.iter().any(|layer| layer["state"] == "missing");
    assert_eq!(report["confined"], !missing);
    let ran = ran.code(i32::from(missing));
    assert_eq!(ran.stderr.is_empty(), !missing, "{}", ran.whole());
    let relaxed = project.run(&["--pack", "pack", "sandbox", "check", "--json"]).code(0).json();
    assert_eq!((&relaxed["layers"], &relaxed["isolation"]), (&report["layers"], &Value::from("process")));
    let attempts = report["attempts"].as_array().unwrap();
    assert!(attempts.len() >= 9, "{report}");
    for attempt in attempts {
        assert!(attempt["outcome"] == "refused" || attempt["outcome"] == "ended", "{attempt}");
        let alone: Vec<&str> =
            attempt["alone"].as_array().unwrap().iter().map(|row| row["layer"].as_str().unwrap()).collect();
        assert_eq!(alone, ["Landlock", "resource limits", "seccomp"], "{attempt}");
    }
}

#[test]
fn threads_are_not_confined_and_nothing_is_tried_in_them() {
    let project = Project::new();
    let ran = project.run(&["--set", "sandboxes.isolation=thread", "sandbox", "check"]).code(0);
    assert_eq!(
        ran.stdout,
        "isolation: thread\nhandlers run in this process, and nothing confines them\n",
        "{}",
        ran.whole()
    );
    assert!(ran.stderr.starts_with("warning: handlers run without every layer"), "{}", ran.whole());
}
