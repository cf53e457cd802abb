//! Cutting: content to the configured limit, error bodies to an excerpt.

/// Most bytes of an upstream's error body that a client sees.
pub(super) const EXCERPT_BYTES: usize = 2 << 10;

/// Below this limit the note about a cut is not counted, or nothing but the note would be left.
const SMALLEST_COUNTED: usize = 1 << 10;

/// Cuts a text that is longer than the limit and says so at its end. Returns the note.
pub(super) fn cut(text: &mut String, limit: usize) -> Option<String> {
    let full = text.len();
    if full <= limit {
        return None;
    }
    // Both numbers are at their longest here, so the real note is not longer.
    let room =
        if limit < SMALLEST_COUNTED { limit } else { limit.saturating_sub(note(full, full).len() + 1) };
    text.truncate(text.floor_char_boundary(room));
    let note = note(text.len(), full);
    text.push('\n');
    text.push_str(&note);
    Some(note)
}

fn note(shown: usize, full: usize) -> String {
    format!(
        "[cut: {shown} of {full} bytes shown. For the rest, ask for less at a time with narrower parameters, \
         or raise limits.content in the server's configuration]"
    )
}

/// The start of a text, with runs of white space as one space and an ellipsis where it was cut.
pub(super) fn excerpt(text: &str, limit: usize) -> String {
    let mut start = String::new();
    for word in text.split_whitespace() {
        if !start.is_empty() {
            start.push(' ');
        }
        start.push_str(word);
        if start.len() > limit {
            start.truncate(start.floor_char_boundary(limit));
            start.push('…');
            break;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_stays_within_the_limit_and_whole_characters() {
        for limit in [1024, 1025, 1026, 4000] {
            let mut text = "é€😀".repeat(1000);
            let note = cut(&mut text, limit).unwrap();
            assert!(text.len() <= limit && text.ends_with(&note), "{limit}: {}", text.len());
            let shown = text.len() - note.len() - 1;
            assert!(note.contains(&format!(" {shown} of 9000 bytes")), "{note}");
        }
    }

    #[test]
    fn small_limits_still_show_something() {
        let mut text = "0123456789".to_owned();
        assert_eq!(cut(&mut text, 10), None);
        cut(&mut text, 4).unwrap();
        assert!(text.starts_with("0123\n[cut: 4 of 10 bytes shown."), "{text}");
    }

    #[test]
    fn excerpts() {
        assert_eq!(excerpt("  a \n\n b\t", 10), "a b");
        assert_eq!(excerpt("ééé", 3), "é…");
        assert_eq!(excerpt("", 3), "");
    }
}
