//! `cargo xtask fuzz`: runs the fuzz targets, each for a while, from the seeds in `fuzz/corpus` and the shipped schemas.

use crate::process;

/// Targets, and folders that they begin from besides their own seeds.
const TARGETS: &[(&str, &[&str])] = &[("read", &["schemas"]), ("lower", &[]), ("template", &[]), ("z", &[])];

const SECONDS: u32 = 600;

/// Runs all targets or those named, for `--seconds N` each.
pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    let (seconds, names) = match arguments {
        ["--seconds", seconds, names @ ..] => {
            let seconds =
                seconds.parse().map_err(|_| format!("fuzz: {seconds:?} is no number of seconds"))?;
            (seconds, names)
        }
        names => (SECONDS, names),
    };
    for name in names {
        if !TARGETS.iter().any(|(known, _)| known == name) {
            let known: Vec<&str> = TARGETS.iter().map(|(known, _)| *known).collect();
            return Err(format!("fuzz: there is no target {name:?}, only {}", known.join(", ")));
        }
    }
    let chosen = TARGETS.iter().filter(|(target, _)| names.is_empty() || names.contains(target));
    for (target, seeds) in chosen {
        let corpus = format!("fuzz/corpus/{target}");
        let time = format!("-max_total_time={seconds}");
        // What no sanitizer finds here is what they are for: the workspace has no unsafe code on this path. Without one,
        // stable Rust can build the targets.
        let mut command = vec!["fuzz", "run", "--sanitizer", "none", target, &corpus];
        command.extend(*seeds);
        command.extend(["--", &time, "-max_len=4096", "-timeout=10", "-rss_limit_mb=2048"]);
        process::run(&command, &[])?;
    }
    Ok(())
}
