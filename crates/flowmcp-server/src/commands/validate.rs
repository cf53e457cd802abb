//! `validate`: findings about schema files, without any configuration.

use anyhow::Result;
use flowmcp_engine::{PackPolicy, params::ServerParams};
use flowmcp_plugin::{NetworkAccess, SandboxSettings};
use flowmcp_spec::MAX_FILE_BYTES;

use super::{NOT_IN_ORDER, print, refuse_unreadable};
use crate::{
    cli::{Format, SourceFlags, ValidateArgs},
    config::Integrity,
    load::{Catalogue, Keep, PackSource, load},
    logging, report, sarif,
};

pub(super) fn run(flags: &SourceFlags, args: &ValidateArgs) -> Result<u8> {
    for path in &args.paths {
        refuse_unreadable(path)?;
    }
    let network = if flags.allow_local { NetworkAccess::Local } else { NetworkAccess::Public };
    let packs: Vec<PackSource> = args
        .paths
        .iter()
        .map(|path| PackSource {
            sandbox: SandboxSettings::default(),
            path: path.clone(),
            policy: PackPolicy { network, ..PackPolicy::new(path.display().to_string()) },
            accept_versions: flags.accept_version.clone(),
            file_bytes: MAX_FILE_BYTES,
            integrity: Integrity::Off,
        })
        .collect();
    let catalogue = load(&packs, &mut ServerParams::default(), Keep::Texts);
    let text = match args.format {
        Format::Text => text(&catalogue),
        Format::Json => report::json(&catalogue.files).to_string() + "\n",
        Format::Sarif => sarif::log(&catalogue.files).to_string() + "\n",
    };
    print(&text)?;
    for warning in &catalogue.warnings {
        logging::say(&format!("warning: {}", report::inert(warning)));
    }
    let failed = catalogue.files.iter().filter(|file| file.has_errors()).count();
    let (errors, warnings) = catalogue.findings();
    logging::say(&format!(
        "{} files, {failed} with errors: {errors} errors, {warnings} warnings",
        catalogue.files.len()
    ));
    Ok(if failed == 0 { 0 } else { NOT_IN_ORDER })
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
