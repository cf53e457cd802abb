//! `config`: what counts, where it comes from, and what is wrong with it.

use anyhow::Result;

use super::{Environment, NOT_IN_ORDER, configuration, print};
use crate::{cli::SourceFlags, config};

pub(super) fn show(flags: &SourceFlags, environment: &Environment) -> Result<u8> {
    let loaded = configuration(flags, Vec::new(), environment)?;
    print(&config::show(&loaded))?;
    Ok(0)
}

pub(super) fn check(flags: &SourceFlags, environment: &Environment) -> Result<u8> {
    let loaded = configuration(flags, Vec::new(), environment)?;
    let findings = config::check(&loaded, environment);
    let mut text = String::new();
    for finding in &findings {
        text.push_str(&format!("{finding}\n"));
    }
    if findings.is_empty() {
        text.push_str("the configuration is in order\n");
    }
    print(&text)?;
    let failed = findings.iter().any(|finding| finding.severity == config::Severity::Error);
    Ok(if failed { NOT_IN_ORDER } else { 0 })
}
