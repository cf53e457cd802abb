//! The files of a pack, read but not checked: for commands that ask what is in them.

use std::{io, path::Path};

use flowmcp_spec::{Read, SourceFile, read_all};

use crate::{load::threads, packs::discover};

/// The files of a pack with what reading them gave.
#[derive(Debug)]
pub(crate) struct PackDocuments {
    /// Schemas, skills, prompts and agents, by their paths in order.
    pub(crate) files: Vec<(SourceFile, Read)>,
    /// Shared lists, also those of the catalogue around the pack.
    pub(crate) lists: Vec<(SourceFile, Read)>,
    /// What was left out or could not be opened, and why.
    pub(crate) faults: Vec<String>,
}

/// Reads a pack, each file of at most `file_bytes` bytes.
///
/// # Errors
/// When the path itself cannot be read.
pub(crate) fn read_documents(pack: &Path, file_bytes: usize) -> io::Result<PackDocuments> {
    let found = discover(pack)?;
    let mut faults = found.faults.clone();
    let mut read = |paths: &[String]| -> Vec<(SourceFile, Read)> {
        let mut sources = Vec::with_capacity(paths.len());
        for opened in found.open(paths, str::to_owned, file_bytes) {
            match opened {
                Ok(source) => sources.push(source),
                Err(error) => faults.push(error.to_string()),
            }
        }
        let reads = read_all(&sources, threads(), |_, read| read);
        sources.into_iter().zip(reads).collect()
    };
    let files = read(&found.files);
    let lists = read(&found.lists);
    Ok(PackDocuments { files, lists, faults })
}
