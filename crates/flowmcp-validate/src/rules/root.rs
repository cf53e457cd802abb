//! Rules about `main.root`, the address that all requests of a schema go under.

use flowmcp_spec::{Blocks, Diagnostic, Node};
use url::Url;

use crate::{
    findings::{Findings, softened},
    subject::Subject,
};

/// The root as text, if it is any.
fn root<'d>(subject: &Subject<'d>) -> Option<&'d str> {
    subject.root.node.get("root").and_then(Node::as_str).filter(|root| !root.is_empty())
}

/// Reports what makes a root unusable: it blocks the tools that send requests under it. A tool with `executeRequest`
/// does not, and without tools a root has no meaning.
fn report_unusable(subject: &Subject<'_>, findings: &mut Findings<'_>, finding: Diagnostic) {
    if subject.tools.is_empty() {
        findings.push(softened(finding));
        return;
    }
    let names = || subject.tools.iter().filter_map(|tool| tool.tool);
    let blocked: Vec<&str> = names().filter(|tool| subject.executes(tool) == Some(false)).collect();
    if blocked.len() == subject.tools.len() {
        findings.push(finding);
    } else if blocked.is_empty() {
        findings.push(finding.blocking(Blocks::Nothing));
    } else {
        for tool in blocked {
            findings.push(finding.clone().blocking(Blocks::Tool(tool.into())));
        }
    }
}

/// VAL015.
pub(crate) fn present(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let place = subject.root.field("root");
    match subject.root.node.get("root") {
        None if !subject.tools.is_empty() => {
            findings.report(&place, "is required and must be a URL that starts with https://");
        }
        Some(node) if root(subject).is_none() => {
            let shown = if node.as_str() == Some("") { "an empty string".into() } else { node.shown() };
            findings.report(&place, format!("must be a URL that starts with https:// (found {shown})"));
        }
        _ => {}
    }
}

/// Roots that some packs may have: plain http on one's own network, and a name for "no network at all".
fn is_local(root: &str) -> bool {
    root.starts_with("http://") || root.starts_with("local://")
}

/// VAL027.
pub(crate) fn https(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let Some(text) = root(subject) else { return };
    if text.starts_with("https://") || (is_local(text) && subject.options.allow_local) {
        return;
    }
    let shown = subject.root.node.get("root").map(Node::shown).unwrap_or_default();
    let finding =
        findings.draft(&subject.root.field("root"), format!("must start with https:// (found {shown})"));
    let finding = if is_local(text) {
        finding.help("only packs with `allow_local = true` (or `--allow-local`) may have such a root")
    } else {
        finding.help("write the address out: 'https://api.example.com'")
    };
    report_unusable(subject, findings, finding);
}

/// VAL009.
pub(crate) fn local(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let Some(text) = root(subject).filter(|text| is_local(text) && subject.options.allow_local) else {
        return;
    };
    let scheme = text.split_inclusive("//").next().unwrap_or_default();
    findings.report(
        &subject.root.field("root"),
        format!("starts with {scheme}, which works only in packs that allow it"),
    );
}

/// VAL028.
pub(crate) fn trailing_slash(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let Some(text) = root(subject).filter(|text| text.ends_with('/') && !text.ends_with("://")) else {
        return;
    };
    let shown = subject.root.node.get("root").map(Node::shown).unwrap_or_default();
    let finding = findings.draft(&subject.root.field("root"), format!("must not end with / (found {shown})"));
    findings.push(finding.help(format!(
        "remove the last character; until then '{}' is used",
        crate::words::cut(text.trim_end_matches('/'))
    )));
}

/// VAL029.
pub(crate) fn callable(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let Some(text) = root(subject) else { return };
    let schemes = if subject.options.allow_local { &["https://", "http://"][..] } else { &["https://"][..] };
    if !schemes.iter().any(|scheme| text.starts_with(scheme)) {
        return;
    }
    if let Err(reason) = check_address(text) {
        let shown = subject.root.node.get("root").map(Node::shown).unwrap_or_default();
        let finding = findings.draft(&subject.root.field("root"), format!("{reason} (found {shown})"));
        report_unusable(subject, findings, finding);
    }
}

/// Whether a root with its placeholders filled in could be an address.
fn check_address(root: &str) -> Result<(), String> {
    if root.contains(|letter: char| letter.is_whitespace() || letter.is_control() || letter == '\\') {
        return Err("must not contain spaces, control characters or backslashes".to_owned());
    }
    // A placeholder may stand for a word or, as in a port, for a number.
    let word = filled(root, "x").ok_or("has a placeholder that is not closed with }}")?;
    let number = filled(root, "1").unwrap_or_default();
    let url = match (Url::parse(&word), Url::parse(&number)) {
        (Ok(url), _) | (_, Ok(url)) => url,
        (Err(error), _) => return Err(format!("is not a URL: {error}")),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user name or password".to_owned());
    }
    if url.fragment().is_some() {
        return Err("must not contain a fragment (#)".to_owned());
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err("has no host".to_owned());
    }
    Ok(())
}

/// The text with something in place of each `{{…}}`; `None` when one is not closed.
fn filled(text: &str, stand_in: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (_, behind) = after.split_once("}}")?;
        out.push_str(before);
        out.push_str(stand_in);
        rest = behind;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (root, expected) in [
            ("https://api.example.com", Ok(())),
            ("https://api.example.com:8443/v1?format=json", Ok(())),
            ("https://--chain--.example.com/v3/{{KEY}}", Ok(())),
            ("https://{{HOST}}/api", Ok(())),
            ("https://api.{{TENANT}}.example.com:{{PORT}}", Ok(())),
            ("https://me:secret@api.example.com", Err("must not contain a user name or password")),
            ("https://me@api.example.com", Err("must not contain a user name or password")),
            ("https://api.example.com#top", Err("must not contain a fragment (#)")),
            ("https://", Err("is not a URL: empty host")),
            ("https://exa mple.com", Err("must not contain spaces, control characters or backslashes")),
            ("https://api.example.com:port", Err("is not a URL: invalid port number")),
            ("https://api.example.com/{{KEY", Err("has a placeholder that is not closed with }}")),
        ] {
            assert_eq!(check_address(root), expected.map_err(str::to_owned), "{root}");
        }
    }
}
