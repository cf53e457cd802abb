//! Texts for language models in skills and prompts, and the typed placeholders in them: `{{tool:ping}}`.

use flowmcp_spec::{DocumentKind, Node, Span};

use crate::{
    findings::Place,
    subject::{Kind, Subject},
};

/// The kinds of placeholder that a text may have.
pub(crate) const KINDS: [&str; 5] = ["tool", "resource", "skill", "prompt", "input"];

/// The text of one skill or prompt.
#[derive(Debug, Clone)]
pub(crate) struct Content<'d> {
    pub(crate) node: &'d Node,
    pub(crate) place: Place<'d>,
}

/// One `{{kind:name}}` of a text.
#[derive(Debug, Clone)]
pub(crate) struct Placeholder<'d> {
    pub(crate) kind: &'d str,
    pub(crate) name: &'d str,
    pub(crate) place: Place<'d>,
}

/// All texts of a file.
pub(crate) fn contents<'d>(subject: &Subject<'d>) -> Vec<Content<'d>> {
    let mut found = Vec::new();
    let mut add = |node: &'d Node, path: String| {
        if node.as_str().is_some() {
            found.push(Content { node, place: Place { path, span: node.span, tool: None } });
        }
    };
    for object in subject.objects(Kind::Skill).chain(subject.objects(Kind::Prompt)) {
        if let Some(node) = object.node.get("content") {
            add(node, format!("{}.content", object.path));
        }
    }
    if found_none(subject)
        && let Some(node) = subject.content
    {
        add(node, "content".to_owned());
    }
    if subject.kind == DocumentKind::Prompt && subject.root.node.as_str().is_some() {
        add(subject.root.node, "content".to_owned());
    }
    found
}

/// Whether a skill or prompt keeps its text in an export of its own.
fn found_none(subject: &Subject<'_>) -> bool {
    let is_text = matches!(subject.kind, DocumentKind::Skill | DocumentKind::Prompt);
    is_text && subject.root.node.is_object() && subject.root.node.get("content").is_none()
}

impl<'d> Content<'d> {
    pub(crate) fn text(&self) -> &'d str {
        self.node.as_str().unwrap_or_default()
    }

    /// Its typed placeholders in order; names in capitals such as `{{USER_PARAM}}` have no kind and are none.
    pub(crate) fn placeholders(&self, file: &str) -> Vec<Placeholder<'d>> {
        let mut found = Vec::new();
        let mut cursor = self.node.span.start as usize;
        let mut rest = self.text();
        while let Some((_, after)) = rest.split_once("{{") {
            let Some((inner, behind)) = after.split_once("}}") else { break };
            rest = behind;
            let Some((kind, name)) = inner.split_once(':') else { continue };
            if !kind.trim().bytes().all(|byte| byte.is_ascii_lowercase()) || kind.trim().is_empty() {
                continue;
            }
            let span = self.find(file, inner, &mut cursor);
            let place = Place { span, ..self.place.clone() };
            found.push(Placeholder { kind: kind.trim(), name: name.trim(), place });
        }
        found
    }

    /// Where a piece of the text stands in the file, from a cursor on; the whole text where escapes hide it.
    pub(crate) fn find(&self, file: &str, piece: &str, cursor: &mut usize) -> Span {
        let end = self.node.span.end as usize;
        let Some(at) = file.get(*cursor..end).and_then(|text| text.find(piece)) else {
            return self.node.span;
        };
        let start = *cursor + at;
        *cursor = start + piece.len();
        let offset = |at: usize| u32::try_from(at).unwrap_or(self.node.span.start);
        Span { start: offset(start), end: offset(*cursor) }
    }
}
