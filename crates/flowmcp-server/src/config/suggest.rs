//! The nearest known name to one that is not known.

use super::{error::Hint, keys, shape::Shape};

/// What to say about the unknown `name` inside the table `above`: the nearest key there, else the same or a near name
/// in another table, else what the table does know.
pub(super) fn key(above: &str, shape: Shape, name: &str) -> Hint {
    let here: Vec<&'static str> = shape.keys().iter().map(|key| key.name).collect();
    if let Some(near) = self::name(name, here.iter().copied()) {
        return Hint::Near(super::shape::join(above, near));
    }
    let elsewhere = keys::all().into_iter().filter(|path| path.last() == Some(&name)).min_by_key(Vec::len);
    match elsewhere {
        Some(path) => Hint::Near(path.join(".")),
        None => Hint::Known(here),
    }
}

/// The nearest of `names`, if it is near enough to be what was meant.
pub(super) fn name<'a>(unknown: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let unknown = unknown.to_ascii_lowercase().replace('-', "_");
    names
        .map(|name| (strsim::damerau_levenshtein(&unknown, &name.to_ascii_lowercase()), name))
        // One edit in three letters: "timeot" is "timeout", "port" is not "http".
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4 && *distance < name.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The nearest environment variable that is a setting.
pub(super) fn variable(unknown: &str) -> Option<String> {
    let known: Vec<String> = keys::all()
        .iter()
        .map(|path| format!("{}{}", super::layer::PREFIX, path.join("__").to_ascii_uppercase()))
        .collect();
    name(unknown, known.iter().map(String::as_str)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_suggested() {
        let names = ["timeout", "retries", "proxy", "http"];
        let cases = [
            ("timeot", Some("timeout")),
            ("TIMEOUT", Some("timeout")),
            ("proxi", Some("proxy")),
            ("port", None),
            ("colour", None),
            ("", None),
        ];
        for (unknown, expected) in cases {
            assert_eq!(name(unknown, names.iter().copied()), expected, "{unknown:?}");
        }
    }

    #[test]
    fn a_single_underscore_that_should_nest_is_recognised() {
        assert_eq!(variable("FLOWMCP_LOG_LEVEL").as_deref(), Some("FLOWMCP_LOG__LEVEL"));
        assert_eq!(variable("FLOWMCP_HTTP__TIMEOT").as_deref(), Some("FLOWMCP_HTTP__TIMEOUT"));
        assert_eq!(variable("FLOWMCP_SOMETHING_ELSE_ENTIRELY"), None);
    }
}
