//! `sandbox check`: what the kernel of this machine keeps from the workers that run handlers.

use anyhow::{Context, Result};
use flowmcp_worker::{Attempt, ConfinementReport, Isolation, Layer, LayerState, Outcome, missing};
use serde_json::{Value, json};

use super::{Environment, NOT_IN_ORDER, print, settings};
use crate::{cli::SourceFlags, handlers, logging};

pub(super) fn check(flags: &SourceFlags, as_json: bool, environment: &Environment) -> Result<u8> {
    let config = settings(flags, Vec::new(), environment)?.config;
    let pool_settings = config.pool_settings();
    let isolation = pool_settings.isolation;
    let report = if isolation == Isolation::Thread {
        // What workers may not do would be tried in this process.
        ConfinementReport { layers: Vec::new(), attempts: Vec::new(), process_id: None }
    } else {
        let pool = handlers::pool(pool_settings).context("workers for handlers cannot be started")?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(pool.confinement_report()).context("no worker could be started")?
    };
    let faults = faults(&report);
    let name = match isolation {
        Isolation::Process => "process",
        Isolation::Strict => "strict",
        Isolation::Thread => "thread",
    };
    print(&if as_json { json(name, &report, faults.is_empty()) } else { text(name, &report) })?;
    for fault in &faults {
        logging::say(&format!("warning: {fault}"));
    }
    Ok(if isolation == Isolation::Strict && !faults.is_empty() { NOT_IN_ORDER } else { 0 })
}

/// What a server says after its start; nothing where all layers hold.
pub(super) fn shortfall(isolation: Isolation, layers: &[Layer]) -> Option<String> {
    let missing = missing(layers)?;
    Some(match isolation {
        Isolation::Process => {
            format!("handlers run without {missing}; `flowmcp-server sandbox check` says more")
        }
        Isolation::Strict => format!(
            "handlers are refused: this system lacks {missing}, and sandboxes.isolation is \"strict\"; \
             `flowmcp-server sandbox check` says more"
        ),
        Isolation::Thread => {
            "handlers run in this process, and nothing confines them (sandboxes.isolation is \"thread\")"
                .to_owned()
        }
    })
}

/// What keeps handlers from being confined in full.
fn faults(report: &ConfinementReport) -> Vec<String> {
    let missing = missing(&report.layers).map(|names| format!("handlers run without {names}"));
    let allowed = report.attempts.iter().filter(|attempt| attempt.outcome == Outcome::Allowed);
    missing.into_iter().chain(allowed.map(|attempt| format!("a worker can {}", attempt.what))).collect()
}

fn text(isolation: &str, report: &ConfinementReport) -> String {
    let mut text = format!("isolation: {isolation}\n");
    if report.layers.is_empty() {
        text.push_str("handlers run in this process, and nothing confines them\n");
        return text;
    }
    text.push_str("\nWhat a worker gives up before it runs anything:\n");
    for layer in &report.layers {
        text.push_str(&format!("  {layer}\n"));
    }
    text.push_str("\nWhat came of trying all the same, under all layers and under one alone:\n");
    for Attempt { what, outcome, alone } in &report.attempts {
        text.push_str(&format!("  {what}: {outcome}\n"));
        for (layers, outcome) in alone {
            text.push_str(&format!("    {} alone: {}\n", layers.as_str(), said(outcome)));
        }
    }
    text
}

/// A layer that lets something pass is no alarm where another one refuses it.
fn said(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Allowed => "allowed".to_owned(),
        refused => refused.to_string(),
    }
}

fn json(isolation: &str, report: &ConfinementReport, confined: bool) -> String {
    let layers: Vec<Value> = report.layers.iter().map(layer_json).collect();
    let attempts: Vec<Value> = report.attempts.iter().map(attempt_json).collect();
    let report =
        json!({ "isolation": isolation, "confined": confined, "layers": layers, "attempts": attempts });
    format!("{report}\n")
}

fn layer_json(layer: &Layer) -> Value {
    let (state, note) = match &layer.state {
        LayerState::Enforced => ("enforced", None),
        LayerState::Partly(note) => ("partly", Some(note)),
        LayerState::Missing(note) => ("missing", Some(note)),
    };
    json!({ "name": layer.name, "state": state, "note": note })
}

fn attempt_json(attempt: &Attempt) -> Value {
    let alone: Vec<Value> = attempt
        .alone
        .iter()
        .map(|(layers, outcome)| {
            let (word, note) = outcome_words(outcome);
            json!({ "layer": layers.as_str(), "outcome": word, "note": note })
        })
        .collect();
    let (word, note) = outcome_words(&attempt.outcome);
    json!({ "what": attempt.what, "outcome": word, "note": note, "alone": alone })
}

fn outcome_words(outcome: &Outcome) -> (&'static str, Option<&str>) {
    match outcome {
        Outcome::Refused(error) => ("refused", Some(error)),
        Outcome::Ended(how) => ("ended", Some(how)),
        Outcome::Allowed => ("allowed", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(name: &str, state: LayerState) -> Layer {
        Layer { name: name.to_owned(), state }
    }

    #[test]
    fn what_is_missing_is_said() {
        let whole =
            [layer("seccomp", LayerState::Enforced), layer("Landlock", LayerState::Partly("old".into()))];
        let partial =
            [layer("seccomp", LayerState::Missing("no such call".into())), layer("x", LayerState::Enforced)];
        for (isolation, layers, expected) in [
            (Isolation::Process, &whole[..], None),
            (Isolation::Strict, &whole, None),
            (Isolation::Process, &partial, Some("handlers run without seccomp;")),
            (Isolation::Strict, &partial, Some("handlers are refused: this system lacks seccomp,")),
            (Isolation::Thread, &[], Some("handlers run in this process,")),
        ] {
            let said = shortfall(isolation, layers);
            assert_eq!(said.is_some(), expected.is_some(), "{said:?}");
            assert!(said.unwrap_or_default().starts_with(expected.unwrap_or_default()), "{isolation:?}");
        }
    }

    #[test]
    fn a_worker_that_can_do_something_is_a_fault_even_under_all_layers() {
        let attempt = |outcome| Attempt { what: "read a file".to_owned(), outcome, alone: Vec::new() };
        let report = |layers: &[Layer], outcome| ConfinementReport {
            layers: layers.to_vec(),
            attempts: vec![attempt(outcome)],
            process_id: None,
        };
        let whole = [layer("seccomp", LayerState::Enforced)];
        let lacking = [layer("seccomp", LayerState::Missing("none".into()))];
        let refused = || Outcome::Refused("EPERM".to_owned());
        assert_eq!(faults(&report(&whole, refused())), [""; 0]);
        assert_eq!(faults(&report(&whole, Outcome::Allowed)), ["a worker can read a file"]);
        assert_eq!(faults(&report(&lacking, refused())), ["handlers run without seccomp"]);
        assert_eq!(faults(&report(&[], refused())), ["handlers run without every layer of confinement"]);
    }
}
