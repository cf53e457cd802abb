//! Finds placeholders in a schema's texts.

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholder<'t> {
    /// Text between placeholders.
    Text(&'t str),
    /// The name inside `{{ }}`, trimmed.
    Name(&'t str),
}

/// What a placeholder's name says by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names<'t> {
    /// `USER_PARAM`
    User,
    /// `SERVER_PARAM:K`
    Server(&'t str),
    /// Any other name.
    Other(&'t str),
}

impl<'t> Names<'t> {
    pub(super) fn of(name: &'t str) -> Self {
        match name.strip_prefix("SERVER_PARAM:") {
            Some(key) => Names::Server(key.trim()),
            None if name == "USER_PARAM" => Names::User,
            None => Names::Other(name),
        }
    }
}

/// The pieces of a text in order. What is not closed, or holds braces or line breaks, is text: GraphQL and JSON bodies
/// have `{{` in them.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut from = 0;
        loop {
            let Some(open) = rest.get(from..).and_then(|tail| tail.find("{{")).map(|at| from + at) else {
                return Some(Placeholder::Text(std::mem::take(&mut rest)));
            };
            let name = rest.get(open + 2..).and_then(|tail| tail.find("}}").and_then(|end| tail.get(..end)));
            match name.filter(|name| is_name(name)) {
                None => from = open + 1,
                Some(name) if open == 0 => {
                    rest = rest.get(name.len() + 4..).unwrap_or_default();
                    return Some(Placeholder::Name(name.trim()));
                }
                Some(_) => {
                    let (text, tail) = rest.split_at(open);
                    rest = tail;
                    return Some(Placeholder::Text(text));
                }
            }
        }
    })
}

fn is_name(name: &str) -> bool {
    let name = name.trim();
    !name.is_empty() && name.len() <= 128 && !name.contains(['{', '}', '\n', '\r', '"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_and_other_braces_are_text() {
        let shown = |text: &str| {
            pieces(text)
                .map(|piece| match piece {
                    Placeholder::Text(text) => text.to_owned(),
                    Placeholder::Name(name) => format!("<{name}>"),
                })
                .collect::<Vec<_>>()
                .join("|")
        };
        for (text, expected) in [
            ("Bearer {{ API_KEY }}", "Bearer |<API_KEY>"),
            ("{{A}}{{B}}x", "<A>|<B>|x"),
            ("{{{A}}}", "{|<A>|}"),
            ("query {{ a(x: \"1\") { b }} {{OK}}", "query {{ a(x: \"1\") { b }} |<OK>"),
            ("{{}} {{open", "{{}} {{open"),
            ("", ""),
        ] {
            assert_eq!(shown(text), expected);
        }
    }
}
