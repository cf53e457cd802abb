//! `tool.path`: `{{key}}` and `:key` placeholders, in the path and in a query that stands in it.

use super::{
    INSERT_WITHOUT_PLACE, Names, OPTIONAL_INSERT, Placeholder, UNMATCHED_PLACEHOLDER, inputs::Parameters,
    pieces,
};
use crate::{Blocks, Diagnostic, Node, schema::Part};

/// The path of one tool.
pub(super) struct Place<'d> {
    /// `main.tools.NAME`
    pub(super) path: &'d str,
    pub(super) node: &'d Node,
    /// The tool has handlers, which may do what the path does not.
    pub(super) handled: bool,
}

/// Characters behind which a colon opens a placeholder; elsewhere (`/claims:search`) it is text.
const BEFORE_COLON: [char; 7] = ['/', '.', ',', '=', '@', ':', ';'];

impl Place<'_> {
    /// The parts of the path itself.
    pub(super) fn path(
        &self,
        text: &str,
        parameters: &mut Parameters,
        faults: &mut Vec<Diagnostic>,
    ) -> Vec<Part> {
        let parts = self.parts(text, parameters, faults);
        self.optional_inserts(&parts, parameters, faults);
        parts
    }

    /// The parts of the query that stands in the path.
    pub(super) fn query(
        &self,
        text: &str,
        parameters: &mut Parameters,
        faults: &mut Vec<Diagnostic>,
    ) -> Vec<Part> {
        self.parts(text, parameters, faults)
    }

    fn parts(&self, text: &str, parameters: &mut Parameters, faults: &mut Vec<Diagnostic>) -> Vec<Part> {
        let mut parts = Vec::new();
        for piece in pieces(text) {
            match piece {
                Placeholder::Name(name) => match self.resolve(name, parameters) {
                    Some(found) => parts.extend(found),
                    None => faults.push(self.unmatched(&format!("{{{{{name}}}}}"))),
                },
                Placeholder::Text(text) => self.colons(text, parameters, &mut parts, faults),
            }
        }
        joined(parts)
    }

    /// `:key` placeholders in a text without `{{ }}`, and `{key}` where a parameter has that key.
    fn colons(
        &self,
        text: &str,
        parameters: &mut Parameters,
        parts: &mut Vec<Part>,
        faults: &mut Vec<Diagnostic>,
    ) {
        let mut start = 0;
        let mut before = None;
        for (at, character) in text.char_indices() {
            let colon = character == ':' && before.is_some_and(|before| BEFORE_COLON.contains(&before));
            let was_slash = before == Some('/');
            before = Some(character);
            let name = identifier(text.get(at + 1..).unwrap_or_default());
            let end = at + 1 + name.len();
            let brace = character == '{' && text.get(end..).is_some_and(|rest| rest.starts_with('}'));
            if !(colon || brace) || at < start || name.is_empty() {
                continue;
            }
            match self.resolve(name, parameters) {
                Some(found) => {
                    parts.push(Part::Text(text.get(start..at).unwrap_or_default().into()));
                    parts.extend(found);
                    start = if brace { end + 1 } else { end };
                }
                // Only a whole segment can be meant as a placeholder for certain.
                None if colon && was_slash => faults.push(self.unmatched(&format!(":{name}"))),
                None => {}
            }
        }
        parts.push(Part::Text(text.get(start..).unwrap_or_default().into()));
    }

    fn resolve(&self, name: &str, parameters: &mut Parameters) -> Option<Vec<Part>> {
        match Names::of(name) {
            Names::Server(key) => Some(vec![Part::Server(key.into())]),
            Names::User | Names::Other(_) => parameters.insert(name),
        }
    }

    fn unmatched(&self, placeholder: &str) -> Diagnostic {
        Diagnostic::error(
            UNMATCHED_PLACEHOLDER,
            format!("{}.path", self.path),
            format!("has {placeholder}, which no insert parameter and no server parameter fills"),
        )
        .at(self.node.span)
        .help("add a parameter with this key and location insert")
    }

    /// A left-out insert can only take its own segment with it, and only at the end.
    fn optional_inserts(&self, parts: &[Part], parameters: &Parameters, faults: &mut Vec<Diagnostic>) {
        for (index, part) in parts.iter().enumerate() {
            let Part::Input(input) = part else { continue };
            let Some(input) = parameters.inputs.get(*input) else { continue };
            if !input.z.optional || input.z.default.is_some() {
                continue;
            }
            let opens = index.checked_sub(1).and_then(|before| parts.get(before));
            let opens = matches!(opens, Some(Part::Text(text)) if text.ends_with('/'));
            let closes = match parts.get(index + 1) {
                None => true,
                Some(Part::Text(text)) => &**text == "/" && parts.len() == index + 2,
                Some(_) => false,
            };
            if !(opens && closes) {
                let message = format!(
                    "has the optional parameter {:?} in its middle, where it cannot be left out",
                    input.key
                );
                let fault = Diagnostic::error(OPTIONAL_INSERT, format!("{}.path", self.path), message)
                    .at(self.node.span)
                    .help(
                        "make the parameter required, give it a default, or move it to the end of the path",
                    );
                faults.push(if self.handled { fault.blocking(Blocks::Nothing) } else { fault });
            }
        }
    }

    /// Insert parameters that the path has no place for: lost, unless a handler reads them.
    pub(super) fn unused_inserts(&self, parameters: &Parameters, faults: &mut Vec<Diagnostic>) {
        for (key, span, index) in parameters.unused_inserts() {
            let path = format!("{}.parameters[{index}].position", self.path);
            let message = format!("location is insert, but the path has no {{{{{key}}}}} and no :{key}");
            faults.push(if self.handled {
                Diagnostic::warning(INSERT_WITHOUT_PLACE, path, message).at(span)
            } else {
                // The request works without it, and a call that gives it is told so.
                Diagnostic::error(INSERT_WITHOUT_PLACE, path, message)
                    .at(span)
                    .blocking(Blocks::Nothing)
                    .help("put the placeholder into the path, or use the location query")
            });
        }
    }
}

fn identifier(text: &str) -> &str {
    let end = text
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_alphabetic() || *c == '_' || (*at > 0 && c.is_ascii_digit())))
        .map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

/// Joins neighbouring texts and drops empty ones.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match (out.last_mut(), part) {
            (_, Part::Text(text)) if text.is_empty() => {}
            (Some(Part::Text(before)), Part::Text(text)) => *before = format!("{before}{text}").into(),
            (_, part) => out.push(part),
        }
    }
    out
}
