//! Replaces a file as a whole or not at all, and keeps the old one beside it.

use std::{
    ffi::OsString,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// Why a file was not replaced. It is as it was before.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplaceError {
    #[error("has changed since it was read; migrate again")]
    Changed,
    #[error("the old text would be kept as {0}, which is there already: move it away")]
    BackupExists(String),
    #[error("the old text cannot be kept as {name}: {source}")]
    Backup { name: String, source: io::Error },
    #[error("cannot be written: {0}")]
    Io(#[from] io::Error),
}

const MARK: &str = "\u{feff}";

/// Puts `new` in the place of a file whose text is `old`; the old file becomes `FILE.bak`. Permissions stay, and so does
/// a byte order mark. A link is followed: what it leads to is replaced.
pub(super) fn replace(path: &Path, old: &str, new: &str) -> Result<(), ReplaceError> {
    let path = path.canonicalize()?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let permissions = fs::metadata(&path)?.permissions();
    let found = fs::read(&path)?;
    let body = found.strip_prefix(MARK.as_bytes());
    if body.unwrap_or(&found) != old.as_bytes() {
        return Err(ReplaceError::Changed);
    }
    let mut file = tempfile::Builder::new().prefix(".migrate-").tempfile_in(folder)?;
    if body.is_some() {
        file.write_all(MARK.as_bytes())?;
    }
    file.write_all(new.as_bytes())?;
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    let backup = keep(&path)?;
    // Whoever saved the file in the meantime did so into the backup or into a new file: neither may be lost.
    let is_same = fs::read(&path).is_ok_and(|now| now == found);
    let result = match is_same {
        true => file.persist(&path).map(drop).map_err(|error| error.error.into()),
        false => Err(ReplaceError::Changed),
    };
    if result.is_err() {
        fs::remove_file(&backup)?;
    }
    result
}

/// Gives the old file a second name, or copies it where the file system has no links.
fn keep(path: &Path) -> Result<PathBuf, ReplaceError> {
    let mut name = OsString::from(path);
    name.push(".bak");
    let backup = PathBuf::from(name);
    let linked = fs::hard_link(path, &backup).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Err(error),
        _ => {
            let mut copy = fs::OpenOptions::new().write(true).create_new(true).open(&backup)?;
            io::copy(&mut fs::File::open(path)?, &mut copy)?;
            copy.sync_all()
        }
    });
    let name = || backup.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match linked {
        Ok(()) => Ok(backup),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(ReplaceError::BackupExists(name())),
        Err(source) => Err(ReplaceError::Backup { name: name(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.mjs");
        fs::write(&path, text).unwrap();
        (dir, path)
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_old_text_stays_beside_the_new_one_and_a_byte_order_mark_stays() {
        let (dir, path) = file("\u{feff}old");
        replace(&path, "old", "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "\u{feff}new");
        assert_eq!(fs::read_to_string(dir.path().join("a.mjs.bak")).unwrap(), "\u{feff}old");
        assert_eq!(names(dir.path()), ["a.mjs", "a.mjs.bak"]);
    }

    #[test]
    fn what_somebody_else_wrote_is_not_lost() {
        let (dir, path) = file("theirs");
        assert!(matches!(replace(&path, "old", "new"), Err(ReplaceError::Changed)));
        fs::write(dir.path().join("a.mjs.bak"), "older").unwrap();
        assert!(matches!(replace(&path, "theirs", "new"), Err(ReplaceError::BackupExists(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(names(dir.path()), ["a.mjs", "a.mjs.bak"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay_and_a_link_stays_a_link() {
        use std::os::unix::fs::PermissionsExt;
        let (dir, path) = file("old");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let link = dir.path().join("link.mjs");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace(&link, "old", "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
