//! `config check`: what can be seen to be wrong with the settings before anything is served.

use std::{collections::BTreeMap, fmt};

use super::Loaded;
use crate::env_file::server_params;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The server starts and does something else than meant.
    Warning,
    /// The server does not start, or leaves something out.
    Error,
}

/// One thing that `config check` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, where, and what to do; never a secret.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}: {}", self.message)
    }
}

/// Looks at the files that the settings name and at the parameters that they list. `environment` is the process
/// environment.
pub fn check(loaded: &Loaded, environment: &BTreeMap<String, String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say = |severity, message| findings.push(Finding { severity, message });
    for warning in &loaded.warnings {
        say(Severity::Warning, warning.clone());
    }
    packs(loaded, &mut say);
    if let Err(error) = loaded.config.ca_pem() {
        let place = loaded.origins.of("http.ca_file");
        say(Severity::Error, format!("{place}: {error}"));
    }
    match server_params(&loaded.config, environment) {
        Ok((params, warnings)) => {
            for warning in warnings {
                say(Severity::Warning, warning);
            }
            let place = loaded.origins.of("params.from_env");
            for name in loaded.config.params.from_env.iter().filter(|name| !params.contains_key(*name)) {
                say(
                    Severity::Warning,
                    format!(
                        "{place}: params.from_env: {name} is not set, neither in the environment nor in the env file"
                    ),
                );
            }
        }
        Err(error) => {
            let place = loaded.origins.of("params.env_file");
            say(Severity::Error, format!("{place}: params.env_file: {error}"));
        }
    }
    if !loaded.config.serve.stdio && loaded.config.serve.http.is_none() {
        let place = loaded.origins.of("serve.stdio");
        say(
            Severity::Error,
            format!("{place}: serve.stdio: nothing is served; set serve.http or serve.stdio = true"),
        );
    }
    findings
}

fn packs(loaded: &Loaded, say: &mut impl FnMut(Severity, String)) {
    let packs = &loaded.config.packs;
    if !packs.iter().any(|pack| pack.enabled) {
        say(
            Severity::Warning,
            "packs: none is enabled, so no tool is served; add [[packs]] or --pack".to_owned(),
        );
    }
    for (index, pack) in packs.iter().enumerate() {
        let key = format!("packs[{index}].path");
        let place = loaded.origins.of(&key);
        let path = pack.path.display();
        if let Err(error) = pack.path.metadata()
            && pack.enabled
        {
            say(Severity::Error, format!("{place}: {key}: {path}: {error}"));
        }
        if packs
            .iter()
            .take(index)
            .any(|earlier| earlier.enabled && pack.enabled && earlier.path == pack.path)
        {
            say(Severity::Warning, format!("{place}: {key}: {path}: an earlier pack has the same path"));
        }
    }
}
