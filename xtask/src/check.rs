//! `cargo xtask check`: everything that a change must pass besides the tests.

use crate::process;

struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

/// All steps, the cheapest first.
const STEPS: &[Step] = &[
    Step { name: "fmt", arguments: &["fmt", "--all", "--check"], variables: &[] },
    Step {
        name: "clippy",
        arguments: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        variables: &[],
    },
    Step {
        name: "doc",
        arguments: &["doc", "--workspace", "--no-deps"],
        variables: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    Step { name: "deny", arguments: &["deny", "check", "bans", "licenses", "sources"], variables: &[] },
];

/// Runs the steps that are named, all without names, or all but the one after `--without`.
pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    for step in chosen(arguments)? {
        process::run(step.arguments, step.variables)?;
    }
    Ok(())
}

fn chosen(arguments: &[&str]) -> Result<Vec<&'static Step>, String> {
    let (names, without) = match arguments {
        ["--without", names @ ..] => (names, true),
        names => (names, false),
    };
    let all = || STEPS.iter().map(|step| step.name);
    for name in names {
        if !all().any(|known| known == *name) {
            let known: Vec<&str> = all().collect();
            return Err(format!("check: there is no step {name:?}, only {}", known.join(", ")));
        }
    }
    let is_chosen = |step: &&Step| names.is_empty() || names.contains(&step.name) != without;
    Ok(STEPS.iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: Result<&[&str], &str>) {
        let names = chosen(arguments).map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>());
        assert_eq!(names, expected.map(<[&str]>::to_vec).map_err(str::to_owned), "{arguments:?}");
    }

    #[test]
    fn steps_are_chosen_by_name() {
        check(&[], Ok(&["fmt", "clippy", "doc", "deny"]));
        check(&["deny", "fmt"], Ok(&["fmt", "deny"]));
        check(&["--without", "deny"], Ok(&["fmt", "clippy", "doc"]));
        check(&["lint"], Err("check: there is no step \"lint\", only fmt, clippy, doc, deny"));
    }
}
