//! Words in messages: nearest known names, long names cut, patterns of names.

use std::borrow::Cow;

/// Most characters of a name in a path or message.
const LONGEST: usize = 60;

/// A name cut to a length that fits a message.
pub(crate) fn cut(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", name.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(name),
    }
}

/// The known name that someone most likely meant by a word, if one is much like it.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    const LIKELY: f64 = 0.7;
    if word.len() > LONGEST {
        return None;
    }
    let folded = word.to_lowercase();
    known
        .into_iter()
        .map(|name| (name, strsim::normalized_damerau_levenshtein(&folded, &name.to_lowercase())))
        .filter(|(_, likeness)| *likeness >= LIKELY)
        .max_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(name, _)| name)
}

/// "did you mean" in words, or what there is to choose from.
pub(crate) fn advice(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("known are {}", known.join(", ")),
    }
}

/// `^[a-z]+$`
pub(crate) fn is_lowercase(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// `^[a-z][a-z0-9-]*$`
pub(crate) fn is_kebab_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// `^[a-z][a-zA-Z0-9]*$`
pub(crate) fn is_camel_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// `^[A-Z][a-zA-Z0-9]*$`
pub(crate) fn is_pascal_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The major number of `major.minor.patch`, if a text has that form.
pub(crate) fn major(version: &str) -> Option<&str> {
    let numeric = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = version.split('.');
    let (major, minor, patch) = (parts.next()?, parts.next()?, parts.next()?);
    ([major, minor, patch].iter().all(numeric) && parts.next().is_none()).then_some(major)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names() {
        let known = ["method", "path", "description", "parameters"];
        for (word, expected) in [
            ("methods", Some("method")),
            ("Path", Some("path")),
            ("paramters", Some("parameters")),
            ("query", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }

    #[test]
    fn versions() {
        for (version, expected) in [
            ("3.0.0", Some("3")),
            ("10.2.33", Some("10")),
            ("3.0", None),
            ("3.0.0.1", None),
            ("3.x.0", None),
            ("", None),
        ] {
            assert_eq!(major(version), expected, "{version}");
        }
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(cut("ping"), "ping");
        assert_eq!(cut(&"ü".repeat(70)).chars().count(), LONGEST + 1);
    }
}
