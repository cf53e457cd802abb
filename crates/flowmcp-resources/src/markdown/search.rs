//! Lines of a document with a text in them.

use super::Excerpt;

/// Lines before and after a match.
const CONTEXT: usize = 2;

/// Most matches that are shown.
const MATCHES: usize = 50;

/// Longest line, in bytes, that is shown whole.
const LINE: usize = 2000;

/// The lines with `wanted` in them, in any case, with numbers: `12:` for a match, `11-` for a line beside one, `--` between
/// lines that do not follow each other.
pub(super) fn search(text: &str, wanted: &str, limit: usize) -> Excerpt {
    let wanted = wanted.to_lowercase();
    let lines: Vec<&str> = text.lines().collect();
    let matches: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.to_lowercase().contains(&wanted))
        .map(|(index, _)| index)
        .collect();
    let mut notes = Vec::new();
    let (mut out, mut next, mut shown) = (String::new(), 0, 0);
    for (nth, index) in matches.iter().enumerate().take(MATCHES) {
        let mut block = String::new();
        let start = index.saturating_sub(CONTEXT).max(next);
        // A match in the context of this one ends it, and has its own.
        let end = matches.get(nth + 1).map_or(lines.len(), |following| *following).min(index + CONTEXT + 1);
        if start > next && next > 0 {
            block.push_str("--\n");
        }
        for (number, line) in lines.iter().enumerate().take(end).skip(start) {
            let mark = if number == *index { ':' } else { '-' };
            let (line, dots) = match line.get(..line.floor_char_boundary(LINE)) {
                Some(start) if line.len() > LINE => (start, "…"),
                _ => (*line, ""),
            };
            block.push_str(&format!("{}{mark} {line}{dots}\n", number + 1));
        }
        if out.len() + block.len() > limit {
            break;
        }
        out.push_str(&block);
        next = end;
        shown += 1;
    }
    match matches.len() {
        0 => notes.push("no line has this text".to_owned()),
        all if all > shown => notes.push(format!(
            "cut: {shown} of {all} matching lines shown. For the rest, search for a longer text or ask for lines"
        )),
        _ => {}
    }
    Excerpt { text: out, notes }
}
