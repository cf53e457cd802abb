//! `migrate`: schemas of older formats become schemas of format 3, shown as a diff or written.

mod replace;

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result};
use flowmcp_spec::{Diagnostic, MAX_FILE_BYTES, MigrationOutcome, Severity, SourceFile, migrate};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use similar::TextDiff;

use super::{NOT_IN_ORDER, print, refuse_unreadable};
use crate::{
    cli::MigrateArgs,
    logging, packs,
    report::{self, Colour},
};

/// Longest that the search for a short diff of one file may take; after that the diff is longer, and still right.
const DIFF_TIME: Duration = Duration::from_secs(2);

pub(super) fn run(args: &MigrateArgs) -> Result<u8> {
    for path in &args.paths {
        refuse_unreadable(path)?;
    }
    let files = files(&args.paths)?;
    let bar = progress(files.len());
    let mut tally = Tally::default();
    let mut rows = Vec::new();
    for path in &files {
        let file = convert(path, args.write);
        tally.add(&file.result);
        if args.json {
            rows.push(file.row());
        } else {
            bar.suspend(|| file.show(args.write))?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if args.json {
        let Tally { converted, unchanged, refused } = tally;
        let object =
            json!({ "files": rows, "converted": converted, "unchanged": unchanged, "refused": refused });
        print(&format!("{object}\n"))?;
    }
    let written =
        if args.write || tally.converted == 0 { "" } else { "; nothing is written without --write" };
    logging::say(&format!(
        "{} files: {} converted, {} unchanged, {} not convertible{written}",
        files.len(),
        tally.converted,
        tally.unchanged,
        tally.refused
    ));
    Ok(if tally.refused == 0 { 0 } else { NOT_IN_ORDER })
}

/// The files that paths of the command line name, in order.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let pack = packs::discover(path).with_context(|| format!("{} cannot be read", path.display()))?;
        for fault in &pack.faults {
            logging::say(&format!("warning: {}", report::inert(fault)));
        }
        match path.is_dir() {
            true => files.extend(pack.files.iter().map(|file| pack.base.join(file))),
            false => files.push(path.clone()),
        }
    }
    Ok(files)
}

/// A file after migration.
struct Migrated {
    name: String,
    /// Its text before; `None` where it could not be read.
    source: Option<SourceFile>,
    findings: Vec<Diagnostic>,
    result: Converted,
}

enum Converted {
    Unchanged,
    Done {
        from: Box<str>,
        diff: String,
    },
    /// The findings say why, or this text where the file could not be read or written.
    Refused(Option<String>),
}

fn convert(path: &Path, write: bool) -> Migrated {
    let name = path.display().to_string();
    let source = match SourceFile::open(path, &name, MAX_FILE_BYTES) {
        Ok(source) => source,
        Err(error) => {
            let result = Converted::Refused(Some(error.to_string()));
            return Migrated { name, source: None, findings: Vec::new(), result };
        }
    };
    let migration = migrate(&source);
    let result = match migration.outcome {
        MigrationOutcome::Unchanged => Converted::Unchanged,
        MigrationOutcome::Refused => Converted::Refused(None),
        MigrationOutcome::Converted { from, text } => {
            let written = if write { replace::replace(path, &source.text, &text) } else { Ok(()) };
            match written {
                Ok(()) => Converted::Done { from, diff: diff(&name, &source.text, &text) },
                Err(error) => Converted::Refused(Some(format!("{name}: {error}"))),
            }
        }
    };
    Migrated { name, source: Some(source), findings: migration.findings, result }
}

fn diff(name: &str, old: &str, new: &str) -> String {
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(old, new);
    diff.unified_diff().context_radius(3).header(name, name).to_string()
}

impl Migrated {
    /// Prints the diff, or that the file was written, to stdout, and the findings to stderr.
    fn show(&self, write: bool) -> Result<()> {
        match &self.result {
            Converted::Done { from, .. } if write => {
                print(&format!("{}: converted from format {from}\n", report::inert(&self.name)))?;
            }
            Converted::Done { diff, .. } => print(&shown(diff))?,
            Converted::Refused(Some(reason)) => logging::say(&format!("error: {}", report::inert(reason))),
            Converted::Refused(None) | Converted::Unchanged => {}
        }
        if let Some(source) = self.source.as_ref().filter(|_| !self.findings.is_empty()) {
            let text = report::text(source, &self.findings, Colour::of_stderr());
            logging::say(text.trim_end());
        }
        Ok(())
    }

    fn row(&self) -> Value {
        let (status, from, diff) = match &self.result {
            Converted::Unchanged => ("unchanged", None, None),
            Converted::Done { from, diff } => ("converted", Some(from), Some(diff)),
            Converted::Refused(_) => ("refused", None, None),
        };
        let reason = match &self.result {
            Converted::Refused(reason) => reason.clone(),
            _ => None,
        };
        let errors = self.findings.iter().filter(|finding| finding.severity == Severity::Error);
        let messages: Vec<String> = reason.into_iter().chain(errors.map(ToString::to_string)).collect();
        let source = self.source.as_ref();
        let findings: Vec<Value> =
            self.findings.iter().map(|finding| report::finding_json(source, finding)).collect();
        json!({
            "file": self.name, "status": status, "from": from, "messages": messages, "findings": findings,
            "diff": diff,
        })
    }
}

/// A diff as it can be shown: for a terminal coloured and without characters that it would act on, for `patch` as it is.
fn shown(diff: &str) -> String {
    if !std::io::stdout().is_terminal() {
        return diff.to_owned();
    }
    let colour = Colour::of_stdout();
    let mut text = String::with_capacity(diff.len() + diff.len() / 8);
    for line in diff.lines() {
        let line: String = line.split('\t').map(report::inert).collect::<Vec<_>>().join("\t");
        let code = match (colour, line.chars().next()) {
            (Colour::On, Some('+')) => "\u{1b}[32m",
            (Colour::On, Some('-')) => "\u{1b}[31m",
            (Colour::On, Some('@')) => "\u{1b}[36m",
            _ => "",
        };
        let end = if code.is_empty() { "" } else { "\u{1b}[0m" };
        text.push_str(&format!("{code}{line}{end}\n"));
    }
    text
}

#[derive(Default)]
struct Tally {
    converted: usize,
    unchanged: usize,
    refused: usize,
}

impl Tally {
    fn add(&mut self, result: &Converted) {
        match result {
            Converted::Unchanged => self.unchanged += 1,
            Converted::Done { .. } => self.converted += 1,
            Converted::Refused(_) => self.refused += 1,
        }
    }
}

/// A bar on a terminal; elsewhere nothing, since every file prints its lines.
fn progress(total: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() || total < 2 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} files {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(total as u64).with_style(style)
}
