//! `validate`: findings about schema files, without any configuration.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use flowmcp_engine::{Factory, PackPolicy, params::ServerParams};
use flowmcp_plugin::{NetworkAccess, SandboxSettings};
use flowmcp_spec::{Diagnostic, MAX_FILE_BYTES};
use flowmcp_worker::PoolSettings;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{NOT_IN_ORDER, print, refuse_unreadable};
use crate::{
    cli::{Format, SourceFlags, ValidateArgs},
    config::Integrity,
    handlers,
    load::{Catalogue, Keep, PackSource, load},
    logging, report, sarif,
    selection::{self, Selection},
};

pub(super) fn run(flags: &SourceFlags, args: &ValidateArgs) -> Result<u8> {
    for path in &args.paths {
        refuse_unreadable(path)?;
    }
    let selection = Selection::new(&args.select, &args.allow, &args.deny)?;
    let network = if flags.allow_local { NetworkAccess::Local } else { NetworkAccess::Public };
    let packs: Vec<PackSource> = args
        .paths
        .iter()
        .map(|path| PackSource {
            sandbox: SandboxSettings::default(),
            path: path.clone(),
            policy: PackPolicy {
                network,
                grants: flags.grant.clone(),
                ..PackPolicy::new(path.display().to_string())
            },
            accept_versions: flags.accept_version.clone(),
            file_bytes: MAX_FILE_BYTES,
            integrity: Integrity::Off,
        })
        .collect();
    let keep = if args.handlers { Keep::Factories } else { Keep::Texts };
    let mut catalogue = load(&packs, &mut ServerParams::default(), keep);
    let factories = std::mem::take(&mut catalogue.factories);
    let ran = factories.len();
    run_factories(factories, &mut catalogue)?;
    selection.apply(&mut catalogue.files);
    let text = match args.format {
        Format::Text => text(&catalogue),
        Format::Json => report::json(&catalogue.files).to_string() + "\n",
        Format::Sarif => sarif::log(&catalogue.files).to_string() + "\n",
    };
    print(&text)?;
    for warning in &catalogue.warnings {
        logging::say(&format!("warning: {}", report::inert(warning)));
    }
    // A file's findings can be seen as they are; those of many are better counted.
    if args.format == Format::Text && catalogue.files.len() > 1 {
        selection::by_code(&catalogue.files).iter().for_each(|line| logging::say(line));
    }
    let failed = catalogue.files.iter().filter(|file| file.has_errors()).count();
    let (errors, warnings) = catalogue.findings();
    let ran = if args.handlers { format!("; {ran} factories of handlers run") } else { String::new() };
    logging::say(&format!(
        "{} files, {failed} with errors: {errors} errors, {warnings} warnings{ran}",
        catalogue.files.len()
    ));
    Ok(if failed == 0 { 0 } else { NOT_IN_ORDER })
}

/// How long one factory may take with all its waiting for a worker.
const FACTORY_WITHIN: Duration = Duration::from_secs(60);

/// Runs the factories, a few at a time, and adds what is found to their files.
fn run_factories(factories: Vec<(usize, Factory)>, catalogue: &mut Catalogue) -> Result<()> {
    if factories.is_empty() {
        return Ok(());
    }
    let settings = PoolSettings::default();
    let at_once = settings.workers;
    let pool = handlers::pool(settings).context("workers for handlers cannot be started")?;
    let files = &catalogue.files;
    let run = async |(index, factory): &(usize, Factory)| {
        let file = files.get(*index).and_then(|file| Some((file.source.as_ref()?, &file.diagnostics)));
        let Some((source, known)) = file else { return Ok((*index, Vec::new())) };
        let findings = factory.findings(source, known, &pool, Instant::now() + FACTORY_WITHIN).await;
        findings
            .map(|findings| (*index, findings))
            .with_context(|| format!("the handlers of {} cannot be tried", source.path))
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let found: Vec<(usize, Vec<Diagnostic>)> =
        runtime.block_on(stream::iter(&factories).map(run).buffer_unordered(at_once).try_collect())?;
    for (index, findings) in found {
        if let Some(file) = catalogue.files.get_mut(index) {
            file.diagnostics.extend(findings);
            // In the order of the file, as everywhere.
            file.diagnostics.sort_by_key(|finding| finding.span.map(|span| span.start));
        }
    }
    Ok(())
}

fn text(catalogue: &Catalogue) -> String {
    let colour = report::Colour::of_stdout();
    let mut text = String::new();
    for file in &catalogue.files {
        if let Some(reason) = &file.unreadable {
            text.push_str(&format!("error: {}\n\n", report::inert(reason)));
        }
        if let Some(source) = &file.source {
            text.push_str(&report::text(source, &file.diagnostics, colour));
        }
    }
    text
}
