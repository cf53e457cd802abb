//! `main.root`: scheme and host, path and query, with server parameters anywhere.

use super::{Names, Placeholder, ROOT, pieces};
use crate::{
    Diagnostic, Node,
    schema::{Part, Root},
};

/// `None` for a `local://` root of a resource-only schema; a root that cannot be requested is reported by the rules.
pub(super) fn lower(node: &Node, diagnostics: &mut Vec<Diagnostic>) -> Option<Root> {
    let text = node.as_str()?;
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    if text.contains('#') {
        diagnostics
            .push(Diagnostic::error(ROOT, "main.root", "must not have a fragment (`#`)").at(node.span));
        return None;
    }
    let scheme = text.len() - rest.len();
    let host_end = rest.find(['/', '?']).map_or(text.len(), |at| scheme + at);
    let (origin, rest) = text.split_at(host_end);
    if origin.contains('@') {
        let message = "must not hold a user name or password";
        diagnostics.push(
            Diagnostic::error(ROOT, "main.root", message)
                .at(node.span)
                .help("declare the value in requiredServerParams and send it as a header or parameter"),
        );
        return None;
    }
    // URL parsers read `https:///x` as the host x.
    if scheme == host_end {
        diagnostics.push(Diagnostic::error(ROOT, "main.root", "has no host").at(node.span));
        return None;
    }
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let host = origin.get(scheme..).unwrap_or_default();
    Some(Root {
        origin: parts(origin),
        path: parts(path.trim_end_matches('/')),
        query: parts(query),
        marker: host.split("--").count() > 2,
    })
}

/// In a root every placeholder is a server parameter.
fn parts(text: &str) -> Vec<Part> {
    pieces(text)
        .map(|piece| match piece {
            Placeholder::Text(text) => Part::Text(text.into()),
            Placeholder::Name(name) => match Names::of(name) {
                Names::Server(key) | Names::Other(key) => Part::Server(key.into()),
                Names::User => Part::Server(name.into()),
            },
        })
        .collect()
}
