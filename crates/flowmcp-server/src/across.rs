//! `validate` looks at a pack as a whole: what its files say of each other, and `registry.json`.

use std::{collections::HashMap, path::Path};

use flowmcp_spec::{Diagnostic, Document, SourceFile};
use flowmcp_validate::{Member, Options, Pack, check_pack};

use crate::{
    load::{Catalogue, FileReport, PackSource},
    packs::PackFiles,
};

/// What a catalogue says of itself.
const REGISTRY: &str = "registry.json";

/// Adds what only the whole pack can tell to the findings of its files. A single file is no pack.
pub(crate) fn check(
    pack: &PackSource,
    files: &PackFiles,
    read: &[(SourceFile, Document)],
    options: &Options,
    catalogue: &mut Catalogue,
) {
    let Some(folder) = &files.folder else { return };
    let shown = |path: &str| files.base.join(path).display().to_string();
    let registry = files
        .others
        .iter()
        .any(|path| path == REGISTRY)
        .then(|| SourceFile::open(&files.base.join(REGISTRY), &shown(REGISTRY), pack.file_bytes));
    let registry = match registry {
        Some(Ok(file)) => Some(file),
        Some(Err(error)) => {
            catalogue.warnings.push(error.to_string());
            return;
        }
        None => None,
    };
    // Files are named by the paths that were given, their pack knows them by those inside it.
    let inside: Vec<String> = read
        .iter()
        .map(|(file, _)| {
            let path = Path::new(&*file.path);
            path.strip_prefix(&files.base).unwrap_or(path).to_string_lossy().into_owned()
        })
        .collect();
    let members = read.iter().zip(&inside).map(|((file, document), path)| Member { path, file, document });
    let paths = files.files.iter().chain(&files.lists).chain(&files.others);
    let found = check_pack(
        &Pack {
            name: Some(folder),
            members: members.collect(),
            registry: registry.as_ref(),
            paths: paths.map(String::as_str).collect(),
            outside: files.outside.iter().map(String::as_str).collect(),
        },
        options,
    );
    let reports: HashMap<_, _> =
        catalogue.files.iter().enumerate().map(|(index, report)| (report.path.clone(), index)).collect();
    for ((file, _), diagnostics) in read.iter().zip(found.members) {
        let report = reports.get(&file.path).and_then(|index| catalogue.files.get_mut(*index));
        if let Some(report) = report.filter(|_| !diagnostics.is_empty()) {
            report.diagnostics.extend(diagnostics);
            in_order(&mut report.diagnostics);
        }
    }
    if registry.is_some() || !found.registry.is_empty() {
        let path = shown(REGISTRY).into();
        catalogue.files.push(FileReport {
            path,
            source: registry,
            unreadable: None,
            diagnostics: found.registry,
        });
    }
}

fn in_order(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|finding| finding.span.map(|span| span.start));
}
