//! Which files a pack has: a schema file, a provider folder, or a whole catalogue.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

use flowmcp_spec::{SourceError, SourceFile};

/// The files of one pack, by their paths inside it, in order.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct PackFiles {
    /// Folder that the paths start from.
    pub base: PathBuf,
    /// Schemas, skills, prompts and agents: told apart when they are read.
    pub files: Vec<String>,
    /// Shared lists.
    pub lists: Vec<String>,
    /// Files of other kinds: data of resources, documents, `registry.json`.
    pub others: Vec<String>,
    /// Links that lead out of the pack.
    pub outside: Vec<String>,
    /// Name of the pack's folder; `None` for a single file.
    pub folder: Option<String>,
    /// What was left out, and why.
    pub faults: Vec<String>,
}

/// Folder of shared lists inside a pack.
const LISTS: &str = "_lists";
/// How many folders above a single file or provider are searched for shared lists.
const LISTS_ABOVE: usize = 4;
/// Nesting of folders.
const MAX_DEPTH: usize = 32;
/// Files of one pack.
const MAX_FILES: usize = 50_000;

/// Finds the files of a pack. What cannot be read inside it is a fault, not an error.
///
/// # Errors
/// When the path itself cannot be read.
pub fn discover(path: &Path) -> io::Result<PackFiles> {
    let metadata = fs::metadata(path)?;
    let canonical = path.canonicalize()?;
    if !metadata.is_dir() {
        let base = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut pack = PackFiles { base: base.to_owned(), files: vec![name], ..PackFiles::default() };
        pack.lists_above(canonical.parent());
        return Ok(pack);
    }
    let folder = canonical.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut pack = PackFiles { base: path.to_owned(), folder, ..PackFiles::default() };
    let mut walk =
        Walk { pack: &mut pack, root: canonical.clone(), seen: HashSet::from([canonical.clone()]) };
    walk.folder(path, &canonical, "", 0)?;
    if pack.lists.is_empty() {
        pack.lists_above(canonical.parent());
    }
    Ok(pack)
}

impl PackFiles {
    /// A provider or single file of a catalogue uses the catalogue's lists.
    fn lists_above(&mut self, folder: Option<&Path>) {
        let found =
            folder.into_iter().flat_map(Path::ancestors).take(LISTS_ABOVE).map(|folder| folder.join(LISTS));
        let Some(lists) = found.into_iter().find(|lists| lists.is_dir()) else { return };
        let Ok(entries) = fs::read_dir(&lists) else { return };
        // Links out of the catalogue are followed no more than those out of a pack.
        let inside = |path: &Path| {
            let target = path.canonicalize().ok();
            target.zip(lists.parent()).is_some_and(|(target, catalogue)| target.starts_with(catalogue))
        };
        let mut files: Vec<String> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| is_module(path) && inside(path))
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        files.sort();
        self.lists = files;
    }

    /// Whether the lists lie outside the pack, in the catalogue around it.
    pub fn has_lists_of_catalogue(&self) -> bool {
        self.lists.first().is_some_and(|path| Path::new(path).is_absolute())
    }

    /// Opens files of the pack on a few threads, in their order; `shown` makes the name in messages of a path.
    pub fn open(
        &self,
        paths: &[String],
        shown: impl Fn(&str) -> String + Sync,
        limit: usize,
    ) -> Vec<Result<SourceFile, SourceError>> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        let chunk = paths.len().div_ceil(threads).max(1);
        let open = |path: &String| SourceFile::open(&self.base.join(path), &shown(path), limit);
        if paths.len() < 16 {
            return paths.iter().map(open).collect();
        }
        std::thread::scope(|scope| {
            let parts: Vec<_> = paths
                .chunks(chunk)
                .map(|part| scope.spawn(move || part.iter().map(open).collect::<Vec<_>>()))
                .collect();
            parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
        })
    }
}

fn is_module(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mjs")
}

struct Walk<'p> {
    pack: &'p mut PackFiles,
    /// The pack's folder with links resolved: nothing outside it is read.
    root: PathBuf,
    seen: HashSet<PathBuf>,
}

impl Walk<'_> {
    /// `real` is the folder's path with links resolved, known without asking the file system again.
    fn folder(&mut self, folder: &Path, real: &Path, inside: &str, depth: usize) -> io::Result<()> {
        let mut entries: Vec<fs::DirEntry> = Vec::new();
        for entry in fs::read_dir(folder)? {
            entries.push(entry?);
        }
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                self.fault(inside, &name.to_string_lossy(), "its name is not UTF-8");
                continue;
            };
            if name.starts_with('.') || name == "node_modules" {
                continue;
            }
            let path = if inside.is_empty() { name.to_owned() } else { format!("{inside}/{name}") };
            if let Err(error) = self.entry(&entry, &real.join(name), &path, depth) {
                self.pack.faults.push(format!("{path}: cannot be read: {error}"));
            }
            if self.pack.files.len() >= MAX_FILES {
                self.pack.faults.push(format!(
                    "{path}: comes after {MAX_FILES} files, the most of a pack; what follows is left out"
                ));
                return Ok(());
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &fs::DirEntry, real: &Path, path: &str, depth: usize) -> io::Result<()> {
        let mut kind = entry.file_type()?;
        let mut real = real.to_owned();
        if kind.is_symlink() {
            let target = entry.path().canonicalize()?;
            if !target.starts_with(&self.root) {
                self.pack.faults.push(format!("{path}: links to a place outside the pack and is left out"));
                self.pack.outside.push(path.to_owned());
                return Ok(());
            }
            kind = fs::metadata(&target)?.file_type();
            real = target;
        }
        if kind.is_dir() {
            if depth + 1 > MAX_DEPTH {
                self.pack
                    .faults
                    .push(format!("{path}: is nested more than {MAX_DEPTH} folders deep and is left out"));
            } else if self.seen.insert(real.clone()) {
                self.folder(&entry.path(), &real, path, depth + 1)?;
            }
            return Ok(());
        }
        if is_module(Path::new(path)) {
            let in_lists = path.split('/').rev().nth(1) == Some(LISTS);
            if in_lists {
                self.pack.lists.push(path.to_owned())
            } else {
                self.pack.files.push(path.to_owned())
            }
        } else if self.pack.others.len() < MAX_FILES {
            self.pack.others.push(path.to_owned());
        }
        Ok(())
    }

    fn fault(&mut self, inside: &str, name: &str, reason: &str) {
        let path = if inside.is_empty() { name.to_owned() } else { format!("{inside}/{name}") };
        self.pack.faults.push(format!("{path}: {reason}; it is left out"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        dir
    }

    #[test]
    fn a_catalogue_is_walked_in_order_and_hidden_folders_are_not() {
        let dir = tree(&[
            "providers/b/x.mjs",
            "providers/a/y.mjs",
            "_lists/l.mjs",
            ".git/z.mjs",
            "node_modules/n.mjs",
            "r.json",
        ]);
        let pack = discover(dir.path()).unwrap();
        assert_eq!(pack.files, ["providers/a/y.mjs", "providers/b/x.mjs"]);
        assert_eq!(pack.lists, ["_lists/l.mjs"]);
        assert!(pack.faults.is_empty());
    }

    #[test]
    fn a_single_file_and_a_provider_use_the_lists_of_their_catalogue() {
        let dir = tree(&["providers/a/y.mjs", "_lists/l.mjs"]);
        for path in ["providers/a/y.mjs", "providers/a"] {
            let pack = discover(&dir.path().join(path)).unwrap();
            assert_eq!(pack.files, ["y.mjs"]);
            assert!(pack.lists[0].ends_with("_lists/l.mjs"), "{:?}", pack.lists);
            assert_eq!(pack.open(&pack.lists, str::to_owned, 10)[0].as_ref().unwrap().text.len(), 0);
        }
    }

    #[cfg(unix)]
    #[test]
    fn lists_around_a_file_are_not_read_through_links_out_of_the_catalogue() {
        let dir = tree(&["catalogue/a/y.mjs", "catalogue/_lists/l.mjs", "secret.mjs"]);
        let lists = dir.path().join("catalogue/_lists");
        std::os::unix::fs::symlink(dir.path().join("secret.mjs"), lists.join("out.mjs")).unwrap();
        std::os::unix::fs::symlink(lists.join("l.mjs"), lists.join("same.mjs")).unwrap();
        let pack = discover(&dir.path().join("catalogue/a")).unwrap();
        let names: Vec<_> = pack.lists.iter().map(|path| Path::new(path).file_name().unwrap()).collect();
        assert_eq!(names, ["l.mjs", "same.mjs"]);
        assert!(pack.has_lists_of_catalogue());
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_pack_and_loops_are_left_out() {
        let dir = tree(&["pack/a.mjs", "outside/secret.mjs"]);
        let pack = dir.path().join("pack");
        std::os::unix::fs::symlink(dir.path().join("outside"), pack.join("out")).unwrap();
        std::os::unix::fs::symlink(&pack, pack.join("loop")).unwrap();
        std::os::unix::fs::symlink(pack.join("none"), pack.join("broken.mjs")).unwrap();
        let found = discover(&pack).unwrap();
        assert_eq!(found.files, ["a.mjs"]);
        assert_eq!(found.faults.len(), 2, "{:?}", found.faults);
        assert!(found.faults.contains(&"out: links to a place outside the pack and is left out".to_owned()));
    }
}
