//! Edits of single properties: a new name, a new text, gone.

use oxc_ast::ast::{ObjectPropertyKind, StringLiteral};
use oxc_span::GetSpan;

use super::{Draft, edits::slice, module::Member};

/// Gives a property another key, quoted like the one before.
pub(super) fn rename(draft: &mut Draft<'_>, member: &Member<'_>, name: &str) {
    let key = member.property.key.span();
    let new = match slice(draft.module.text, key.start..key.end).chars().next() {
        Some(quote @ ('\'' | '"')) => format!("{quote}{name}{quote}"),
        _ if member.property.shorthand => format!("{name}: {}", member.key()),
        _ => name.to_owned(),
    };
    draft.edits.replace(key.start..key.end, new);
}

/// Gives a string literal another text, quoted like the one before.
pub(super) fn set_text(draft: &mut Draft<'_>, literal: &StringLiteral<'_>, text: &str) {
    let new = quoted(text, slice(draft.module.text, literal.span.start..literal.span.end));
    draft.edits.replace(literal.span.start..literal.span.end, new);
}

/// A JavaScript string literal in the quotes that another one has.
pub(super) fn quoted(text: &str, like: &str) -> String {
    let quote = if like.starts_with('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", character as u32)),
            '\\' => out.push_str("\\\\"),
            character if character == quote => {
                out.push('\\');
                out.push(character);
            }
            character => out.push(character),
        }
    }
    out.push(quote);
    out
}

/// Takes a property out of its object, with its comma and its line. Comments inside it stay where it was.
pub(super) fn remove(draft: &mut Draft<'_>, member: &Member<'_>, keep_comments: KeepComments) {
    let module = &draft.module;
    let property = member.property.span;
    let space = module.before_space(property.start);
    let has_own_line = slice(module.text, space..property.start).contains('\n');
    let comma = module.after_comma(property.end);
    let end = comma.unwrap_or(property.end);
    let mut kept = String::new();
    if keep_comments == KeepComments::Yes {
        let indent = module.indent(property.start);
        for comment in module.comments_in(property.start..end) {
            kept.push_str(&format!("{}{indent}{}", module.line_break(), slice(module.text, comment)));
        }
    }
    // A line comment would swallow what follows on its line.
    if !kept.is_empty()
        && !slice(module.text, end..module.end()).trim_start_matches([' ', '\t']).starts_with(['\r', '\n'])
    {
        kept.push_str(module.line_break());
    }
    let before = comma_before(draft, member).filter(|_| comma.is_none());
    let start = if has_own_line || comma.is_none() { space } else { property.start };
    let mut end = end;
    if !has_own_line && comma.is_some() {
        let rest = slice(draft.module.text, end..draft.module.end());
        end += (rest.len() - rest.trim_start_matches([' ', '\t']).len()) as u32;
    }
    draft.edits.replace(start..end, kept);
    if let Some(comma) = before {
        draft.edits.remove(comma..comma + 1);
    }
}

/// What happens to comments inside a property that is taken out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeepComments {
    Yes,
    /// They go where the property goes.
    No,
}

/// The comma between a property and the one before it.
fn comma_before(draft: &Draft<'_>, member: &Member<'_>) -> Option<u32> {
    let ends = member.object.properties.iter().map(|property| match property {
        ObjectPropertyKind::ObjectProperty(property) => property.span.end,
        ObjectPropertyKind::SpreadProperty(spread) => spread.span.end,
    });
    let before = ends.take_while(|end| *end <= member.property.span.start).last()?;
    draft.module.after_comma(before).map(|after| after - 1)
}
