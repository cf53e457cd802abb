//! Markdown documents: the whole text, or a part of it that a caller names.

mod headings;
mod search;

use std::{
    io::Read,
    sync::Arc,
    time::{Instant, SystemTime},
};

use crate::{
    FileError, Location,
    file::FileId,
    pool::{Class, Pool, PoolSize, WorkError},
};

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// From a heading (`## Functions`, or `Functions` at any level) to the next one of its level or above.
    Section(String),
    /// Lines, both ends included, the first one is 1.
    Lines {
        /// First line.
        from: usize,
        /// Last line.
        to: usize,
    },
    /// Lines with a text in them, in any case, each with two lines before and after.
    Search(String),
}

/// Why a part of a document cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// More than one part at once.
    #[error("only one of section, lines and search can be given at a time")]
    Several,
    /// No range.
    #[error("lines: must be a range such as \"11-33\", or one line such as \"11\" (found {found:?})")]
    NotARange {
        /// What was given.
        found: String,
    },
    /// A range behind the end.
    #[error("lines: the document has {lines} lines (asked for line {from})")]
    BehindTheEnd {
        /// Lines there are.
        lines: usize,
        /// First line asked for.
        from: usize,
    },
    /// An empty text.
    #[error("{name}: must not be empty")]
    Empty {
        /// Name of the parameter.
        name: &'static str,
    },
    /// No such heading.
    #[error("section: there is no heading {wanted:?}; there {}", headings::listed(.headings))]
    NoSection {
        /// What was asked for.
        wanted: String,
        /// Headings there are.
        headings: Vec<String>,
    },
}

impl Part {
    /// The part that the parameters of a document stand for; left out or empty ones do not count.
    ///
    /// # Errors
    /// [`PartError`] when several are given or one makes no sense.
    pub fn new(section: Option<&str>, lines: Option<&str>, search: Option<&str>) -> Result<Self, PartError> {
        match (section, lines, search) {
            (None, None, None) => Ok(Part::Whole),
            (Some(section), None, None) if section.trim_matches(['#', ' ', '\t']).is_empty() => {
                Err(PartError::Empty { name: "section" })
            }
            (Some(section), None, None) => Ok(Part::Section(section.trim().to_owned())),
            (None, Some(lines), None) => {
                range(lines).ok_or_else(|| PartError::NotARange { found: cut(lines) })
            }
            (None, None, Some(search)) if search.trim().is_empty() => {
                Err(PartError::Empty { name: "search" })
            }
            (None, None, Some(search)) => Ok(Part::Search(search.to_owned())),
            _ => Err(PartError::Several),
        }
    }
}

fn range(text: &str) -> Option<Part> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|line| *line > 0);
    let (from, to) = match text.split_once('-') {
        Some((from, to)) => (number(from)?, number(to)?),
        None => (number(text)?, number(text)?),
    };
    (from <= to).then_some(Part::Lines { from, to })
}

fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}

/// What a document may be at most, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentLimits {
    /// Its file.
    pub file: usize,
    /// The part of it that is given.
    pub part: usize,
}

impl Default for DocumentLimits {
    fn default() -> Self {
        DocumentLimits { file: 5 << 20, part: 100 << 10 }
    }
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Its text, with line feeds as line ends.
    pub text: String,
    /// What the caller should know, such as that it was cut.
    pub notes: Vec<String>,
}

/// A document that cannot be given.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The part cannot be given.
    #[error(transparent)]
    Part(#[from] PartError),
    /// There is no thread for it, or its time is over.
    #[error("reading the document {0}")]
    Work(#[from] WorkError),
    /// Too large.
    #[error("{shown} has {bytes} bytes, more than the {limit} that a document may have: split it")]
    TooLarge {
        /// Where it is.
        shown: Arc<str>,
        /// Size found.
        bytes: u64,
        /// Limit in force.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("{shown} is not UTF-8 text (first bad byte at offset {offset}): save it as UTF-8")]
    NotUtf8 {
        /// Where it is.
        shown: Arc<str>,
        /// Offset of the first bad byte.
        offset: usize,
    },
}

/// A document. It is read when it is asked for, and again when its file has changed.
pub struct Document {
    pool: Pool<Option<Text>>,
    location: Location,
    limits: DocumentLimits,
}

/// A text as it was read, with what tells whether it is still that.
struct Text {
    stamp: Stamp,
    text: String,
}

type Stamp = (FileId, u64, Option<SystemTime>);

impl Document {
    /// A document at a location, which need not exist yet.
    pub fn new(location: Location, limits: DocumentLimits) -> Self {
        let size = PoolSize { threads: 1, ..PoolSize::default() };
        Document { pool: Pool::new("markdown", size, || None), location, limits }
    }

    /// Why it cannot be used at this moment, as far as that is seen without opening it.
    pub fn problem(&self) -> Option<FileError> {
        self.location.problem()
    }

    /// Where its file is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Gives a part of it, within a tokio runtime.
    ///
    /// # Errors
    /// [`DocumentError`], with words for the caller.
    pub async fn read(&self, part: Part, deadline: Instant) -> Result<Excerpt, DocumentError> {
        let (location, limits) = (self.location.clone(), self.limits);
        let work = move |known: &mut Option<Text>, _: &_| {
            let text = current(known, &location, limits)?;
            Ok(excerpt(text, &part, limits.part)?)
        };
        self.pool.run(Class::Known, deadline, work).await?
    }
}

/// The text of the file, read again only if the file changed.
fn current<'k>(
    known: &'k mut Option<Text>,
    location: &Location,
    limits: DocumentLimits,
) -> Result<&'k str, DocumentError> {
    let opened = location.open()?;
    let stamp = (FileId::of(&opened.metadata), opened.metadata.len(), opened.metadata.modified().ok());
    let is_known = known.as_ref().is_some_and(|known| known.stamp == stamp);
    if !is_known {
        *known = None;
        let shown = || Arc::clone(location.shown());
        let too_large = |bytes| DocumentError::TooLarge { shown: shown(), bytes, limit: limits.file };
        if opened.metadata.len() > limits.file as u64 {
            return Err(too_large(opened.metadata.len()));
        }
        let mut bytes = Vec::new();
        let read = opened.file.take(limits.file as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| location.failed(error))?;
        if bytes.len() > limits.file {
            return Err(too_large(bytes.len() as u64));
        }
        let text = std::str::from_utf8(&bytes)
            .map_err(|error| DocumentError::NotUtf8 { shown: shown(), offset: error.valid_up_to() })?;
        *known = Some(Text { stamp, text: plain(text) });
    }
    Ok(known.as_ref().map_or("", |known| &known.text))
}

/// Without a byte order mark, and with one kind of line end.
fn plain(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n")
}

/// A part of a text, cut to `limit` bytes.
fn excerpt(text: &str, part: &Part, limit: usize) -> Result<Excerpt, PartError> {
    let mut notes = Vec::new();
    let found = match part {
        Part::Whole => text,
        Part::Section(wanted) => headings::section(text, wanted, &mut notes)?,
        Part::Lines { from, to } => lines(text, *from, *to, &mut notes)?,
        Part::Search(wanted) => return Ok(search::search(text, wanted, limit)),
    };
    let mut shown = found;
    if found.len() > limit {
        let end = found.floor_char_boundary(limit);
        let whole_lines = found.get(..end).and_then(|text| text.rfind('\n')).map_or(end, |at| at + 1);
        shown = found.get(..whole_lines).unwrap_or_default();
        notes.push(format!(
            "cut: {} of {} bytes shown, up to line {} of the document. For the rest, ask for a section, for lines or \
             for a search",
            shown.len(),
            found.len(),
            // Both are parts of one text.
            (line_of(text, found) + shown.lines().count()).saturating_sub(1),
        ));
    }
    Ok(Excerpt { text: shown.to_owned(), notes })
}

/// The line, from 1, in which a part of a text begins.
fn line_of(text: &str, part: &str) -> usize {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    text.get(..start).map_or(1, |before| before.bytes().filter(|byte| *byte == b'\n').count() + 1)
}

fn lines<'t>(text: &'t str, from: usize, to: usize, notes: &mut Vec<String>) -> Result<&'t str, PartError> {
    let count = text.lines().count();
    if from > count {
        return Err(PartError::BehindTheEnd { lines: count, from });
    }
    if to > count {
        notes.push(format!("the document has {count} lines, so lines {from}-{count} are shown"));
    }
    let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let start = starts.by_ref().nth(from.saturating_sub(1)).unwrap_or_default();
    let end = starts.nth(to.min(count).saturating_sub(from)).unwrap_or(text.len());
    Ok(text.get(start..end).unwrap_or_default())
}

#[cfg(test)]
mod tests;
