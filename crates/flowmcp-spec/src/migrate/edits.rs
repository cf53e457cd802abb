//! Text replacements at places of the syntax tree: everything that no edit touches stays as the author wrote it.

use std::{collections::BTreeMap, ops::Range};

/// Replacements by place. Of two that overlap, the one that begins first counts.
#[derive(Debug, Default)]
pub(super) struct Edits(BTreeMap<(u32, u32), String>);

impl Edits {
    pub(super) fn replace(&mut self, place: Range<u32>, text: impl Into<String>) {
        self.0.insert((place.start, place.end), text.into());
    }

    pub(super) fn remove(&mut self, place: Range<u32>) {
        self.replace(place, "");
    }

    pub(super) fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Places of all edits, in order.
    pub(super) fn places(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.0.keys().map(|(start, end)| *start..*end)
    }

    /// Whether an edit takes a place out as a whole.
    pub(super) fn removes(&self, span: oxc_span::Span) -> bool {
        self.0.keys().any(|(start, end)| *start <= span.start && span.end <= *end)
    }

    /// What the edits put in.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }

    /// A part of the text with the edits that lie inside it.
    pub(super) fn apply(&self, text: &str, part: Range<u32>) -> String {
        let mut out = String::with_capacity((part.end - part.start) as usize);
        let mut at = part.start;
        for ((start, end), replacement) in self.0.range((part.start, 0)..) {
            if *end > part.end {
                break;
            }
            if *start < at {
                continue;
            }
            out.push_str(slice(text, at..*start));
            out.push_str(replacement);
            at = *end;
        }
        out.push_str(slice(text, at..part.end));
        out
    }
}

/// A piece of the text; empty when the range is none of it.
pub(super) fn slice(text: &str, range: Range<u32>) -> &str {
    text.get(range.start as usize..range.end as usize).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_apply_in_order_and_the_outer_one_counts() {
        let mut edits = Edits::default();
        edits.replace(4..5, "E");
        edits.insert(0, ">");
        edits.remove(2..6);
        edits.replace(6..7, "G");
        assert_eq!(edits.apply("abcdefgh", 0..8), ">abGh");
        assert_eq!(edits.apply("abcdefgh", 3..6), "dEf");
    }
}
