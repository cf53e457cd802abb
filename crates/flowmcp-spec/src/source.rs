//! A file on its way in, and places in it.

use std::{path::Path, sync::Arc};

/// A schema, list, skill, prompt or agent file: its text and where it lies inside its pack.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path inside the pack with `/` as separator; names the file in every message.
    pub path: Arc<str>,
    /// Whole text without a byte order mark; line ends as they are in the file.
    pub text: Arc<str>,
}

/// Most bytes of a schema or list file (semantics.md, section 10).
pub const MAX_FILE_BYTES: usize = 5 << 20;

/// Why a file could not become a [`SourceFile`].
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file system refused.
    #[error("{path}: cannot be read: {source}")]
    Io {
        /// Path inside the pack.
        path: String,
        /// Cause.
        source: std::io::Error,
    },
    /// Not a regular file (a device or pipe could block for ever).
    #[error("{path}: is not a regular file")]
    NotAFile {
        /// Path inside the pack.
        path: String,
    },
    /// Larger than [`MAX_FILE_BYTES`].
    #[error("{path}: has {bytes} bytes, more than the {limit} that a schema file may have")]
    TooLarge {
        /// Path inside the pack.
        path: String,
        /// Size found.
        bytes: u64,
        /// Limit in force.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("{path}: is not UTF-8 text (first bad byte at offset {offset}): save it as UTF-8")]
    NotUtf8 {
        /// Path inside the pack.
        path: String,
        /// Offset of the first bad byte.
        offset: usize,
    },
}

impl SourceFile {
    /// Takes text that is already in memory; a byte order mark is removed.
    pub fn new(path: impl Into<Arc<str>>, text: &str) -> Self {
        SourceFile { path: path.into(), text: Arc::from(text.strip_prefix('\u{feff}').unwrap_or(text)) }
    }

    /// Reads a file of at most `limit` bytes.
    ///
    /// # Errors
    /// [`SourceError`], one variant for each cause.
    pub fn open(file: &Path, path: &str, limit: usize) -> Result<Self, SourceError> {
        let io = |source| SourceError::Io { path: path.to_owned(), source };
        let metadata = std::fs::metadata(file).map_err(io)?;
        if !metadata.is_file() {
            return Err(SourceError::NotAFile { path: path.to_owned() });
        }
        if metadata.len() > limit as u64 {
            return Err(SourceError::TooLarge { path: path.to_owned(), bytes: metadata.len(), limit });
        }
        let bytes = std::fs::read(file).map_err(io)?;
        if bytes.len() > limit {
            return Err(SourceError::TooLarge { path: path.to_owned(), bytes: bytes.len() as u64, limit });
        }
        let text = std::str::from_utf8(&bytes)
            .map_err(|error| SourceError::NotUtf8 { path: path.to_owned(), offset: error.valid_up_to() })?;
        Ok(SourceFile::new(path, text))
    }

    /// Line and column (both from 1, columns in characters) of a byte offset.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let before = self.text.get(..offset as usize).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.get(line_start..).map_or(0, |text| text.chars().count()) + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }
}

/// A range of bytes in a file's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from the parser's.
    pub(crate) fn of(span: oxc_span::Span) -> Self {
        Span { start: span.start, end: span.end }
    }

    /// The range for slicing text.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_dropped_and_columns_count_characters() {
        let file = SourceFile::new("a.mjs", "\u{feff}ü = 1\r\nß b");
        assert_eq!(&*file.text, "ü = 1\r\nß b");
        let offset = file.text.find('b').unwrap() as u32;
        assert_eq!((file.line_column(0), file.line_column(offset)), ((1, 1), (2, 3)));
    }

    #[test]
    fn files_that_cannot_be_text_say_why() {
        let dir = std::env::temp_dir().join(format!("flowmcp-source-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let bad = dir.join("bad.mjs");
        std::fs::write(&bad, b"ab\xff").unwrap();
        let message = |file: &Path, limit| SourceFile::open(file, "x.mjs", limit).unwrap_err().to_string();
        assert_eq!(
            message(&bad, 10),
            "x.mjs: is not UTF-8 text (first bad byte at offset 2): save it as UTF-8"
        );
        assert_eq!(message(&bad, 2), "x.mjs: has 3 bytes, more than the 2 that a schema file may have");
        assert_eq!(message(&dir, 10), "x.mjs: is not a regular file");
        assert!(message(&dir.join("none"), 10).starts_with("x.mjs: cannot be read: "));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
