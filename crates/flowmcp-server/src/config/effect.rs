//! Settings that this build takes and does not act on, so that nobody trusts one that does nothing.

use super::{Config, Origins};

/// Keys without effect; `*` stands for the rest of the key, `[]` for an index. An issue that makes one work deletes its
/// row here, and nothing else.
const WITHOUT_EFFECT: &[&str] = &[
    "http.timeout",
    "packs[].cache",
    "packs[].sandbox",
    "plugins.*",
    "sandboxes.*",
    "serve.discovery",
    "serve.endpoints.*",
];

/// The one key of its table that has an effect.
const ISOLATION: &str = "sandboxes.isolation";

/// The only transport of this build.
const BUILT_IN_TRANSPORT: &str = "http";

/// Settings that somebody made and this build does not act on, with their places.
pub(super) fn without_effect(origins: &Origins, config: &Config) -> Vec<String> {
    origins
        .made()
        .filter(|(key, _)| {
            (WITHOUT_EFFECT.iter().any(|row| covers(row, key)) && *key != ISOLATION)
                || (*key == "transport.use" && config.transport.name != BUILT_IN_TRANSPORT)
        })
        .map(|(key, place)| format!("{place}: {key}"))
        .collect()
}

fn covers(row: &str, key: &str) -> bool {
    match row.strip_suffix('*') {
        Some(start) => key.starts_with(start),
        None => without_index(key) == row,
    }
}

/// `packs[3].cache` as `packs[].cache`.
fn without_index(key: &str) -> String {
    match key.split_once('[').zip(key.split_once(']')) {
        Some(((before, _), (_, after))) => format!("{before}[]{after}"),
        None => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::keys, *};

    #[test]
    fn a_row_covers_its_keys_only() {
        let cases = [
            ("plugins.*", "plugins.replay.file", true),
            ("plugins.*", "plugins", false),
            ("packs[].cache", "packs[12].cache", true),
            ("packs[].cache", "packs[12].reuse", false),
            ("serve.discovery", "serve.discovery", true),
            ("serve.discovery", "serve.stdio", false),
        ];
        for (row, key, expected) in cases {
            assert_eq!(covers(row, key), expected, "{row} {key}");
        }
    }

    #[test]
    fn every_row_is_about_a_known_key() {
        for row in WITHOUT_EFFECT {
            let key = row.trim_end_matches(".*").to_owned();
            let known = match key.split_once("[].") {
                Some((_, field)) => keys::PACK.keys().iter().any(|key| key.name == field),
                None => keys::find(&key.split('.').map(str::to_owned).collect::<Vec<_>>()).is_ok(),
            };
            assert!(known, "{row}");
        }
    }
}
