//! The sections of a document, by their headings.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::PartError;

/// Headings that an error names.
const LISTED: usize = 40;

struct Heading {
    level: HeadingLevel,
    text: String,
    /// Where its line starts.
    start: usize,
}

/// The headings of a document in order. Those inside quotes and lists are part of what surrounds them; a `#` in a block of
/// code is none.
fn headings(text: &str) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let (mut depth, mut open) = (0_usize, false);
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                open = true;
                headings.push(Heading { level, text: String::new(), start: range.start });
                depth += 1;
            }
            Event::Start(_) => depth += 1,
            Event::End(TagEnd::Heading(_)) => {
                open = open && depth != 1;
                depth = depth.saturating_sub(1);
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(part) | Event::Code(part) if open => {
                if let Some(heading) = headings.last_mut() {
                    heading.text.push_str(&part);
                }
            }
            Event::SoftBreak | Event::HardBreak if open => {
                if let Some(heading) = headings.last_mut() {
                    heading.text.push(' ');
                }
            }
            _ => {}
        }
    }
    headings
}

/// The section under a heading, with the sections inside it.
pub(super) fn section<'t>(
    text: &'t str,
    wanted: &str,
    notes: &mut Vec<String>,
) -> Result<&'t str, PartError> {
    let headings = headings(text);
    let marks = wanted.bytes().take_while(|byte| *byte == b'#').count();
    let level = HeadingLevel::try_from(marks).ok();
    let name = if level.is_some() { plain(wanted.get(marks..).unwrap_or_default()) } else { plain(wanted) };
    let of_level = |heading: &&Heading| level.is_none_or(|level| level == heading.level);
    let exact = |heading: &&Heading| heading.text.trim() == name;
    let lower = name.to_lowercase();
    let in_any_case = |heading: &&Heading| heading.text.trim().to_lowercase() == lower;
    let mut found: Vec<&Heading> = headings.iter().filter(of_level).filter(exact).collect();
    if found.is_empty() {
        found = headings.iter().filter(of_level).filter(in_any_case).collect();
    }
    let Some(first) = found.first() else {
        let headings = headings.iter().map(shown).collect();
        return Err(PartError::NoSection { wanted: wanted.chars().take(100).collect(), headings });
    };
    if found.len() > 1 {
        notes.push(format!("{} headings are {name:?}; the first one is shown", found.len()));
    }
    let is_end = |heading: &&Heading| heading.start > first.start && heading.level <= first.level;
    let end = headings.iter().find(is_end).map_or(text.len(), |heading| heading.start);
    Ok(text.get(first.start..end).unwrap_or_default())
}

/// A heading's text as the parser gives it: without marks for code and emphasis, and without closing `#`.
fn plain(wanted: &str) -> String {
    let one = format!("# {}", wanted.trim());
    headings(&one)
        .into_iter()
        .next()
        .map_or_else(|| wanted.trim().to_owned(), |heading| heading.text.trim().to_owned())
}

fn shown(heading: &Heading) -> String {
    format!("{} {}", "#".repeat(heading.level as usize), heading.text.trim())
}

/// The headings that there are, for an error.
pub(super) fn listed(headings: &[String]) -> String {
    if headings.is_empty() {
        return "are no headings".to_owned();
    }
    let mut list: Vec<String> = headings.iter().take(LISTED).map(|heading| format!("{heading:?}")).collect();
    if headings.len() > LISTED {
        list.push(format!("… ({} in all)", headings.len()));
    }
    format!("are {}", list.join(", "))
}
