//! What can be wrong with a configuration, and where.

use std::{fmt, path::PathBuf};

/// Where a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Nobody set it.
    Default,
    /// A line of the configuration file.
    File {
        /// The file, as it was named.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
    },
    /// An environment variable.
    Variable(String),
    /// `--set KEY=VALUE`.
    Set,
    /// A flag of its own, such as `--http`.
    Flag(&'static str),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Default => f.write_str("default"),
            Place::File { path, line } => write!(f, "{}:{line}", path.display()),
            Place::Variable(name) => write!(f, "environment variable {name}"),
            Place::Set => f.write_str("--set"),
            Place::Flag(name) => f.write_str(name),
        }
    }
}

/// What a wrong value was, as far as it may be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The value or its kind.
    Shown(String),
    /// Nothing: an empty variable or argument.
    Empty,
    /// Not said: it may be secret.
    Hidden,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::Shown(text) => write!(f, "found {text}"),
            Found::Empty => f.write_str("found nothing"),
            Found::Hidden => f.write_str("the value is not shown, it may be secret"),
        }
    }
}

/// What an unknown key may have been meant to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// The nearest known key.
    Near(String),
    /// Nothing is near; these are known in its table.
    Known(Vec<&'static str>),
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hint::Near(key) => write!(f, "did you mean {key}?"),
            Hint::Known(names) => write!(f, "known here: {}", names.join(", ")),
        }
    }
}

/// One thing that is wrong with the settings. No text shows a value that came from the environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A key that nothing knows.
    #[error("{place}: unknown key {key}; {hint}")]
    UnknownKey {
        /// Where it stands.
        place: Place,
        /// The key by its full name.
        key: String,
        /// What may have been meant.
        hint: Hint,
    },
    /// A value directly under `[plugins]` that is neither a known key nor the table of a plugin.
    #[error(
        "{place}: unknown key {key}; {}",
        .near.as_ref().map_or_else(
            || "the settings of a plugin are a table under its name".to_owned(),
            |near| format!("did you mean {near}?")
        )
    )]
    NotAPlugin {
        /// Where it stands.
        place: Place,
        /// The key by its full name.
        key: String,
        /// The nearest known key.
        near: Option<String>,
    },
    /// A value of the wrong type, form or range.
    #[error("{place}: {key}: must be {expected} ({found})")]
    Value {
        /// Where it stands.
        place: Place,
        /// The key by its full name.
        key: String,
        /// What it must be.
        expected: String,
        /// What it was.
        found: Found,
    },
    /// A free name of the wrong form.
    #[error("{place}: {key}: the name must be {expected}")]
    Name {
        /// Where it stands.
        place: Place,
        /// The key by its full name.
        key: String,
        /// What its last name must be.
        expected: &'static str,
    },
    /// An entry without a key that it needs.
    #[error("{place}: {key}: is missing")]
    Missing {
        /// Where the entry stands.
        place: Place,
        /// The key by its full name.
        key: String,
    },
    /// A key below one that is only set as a whole.
    #[error("{place}: {key}: cannot be set by itself; set {whole} as a whole")]
    OnlyWhole {
        /// Where it stands.
        place: Place,
        /// The key that was given.
        key: String,
        /// The key above it that has the value.
        whole: String,
    },
    /// `--set` with something else than `KEY=VALUE`. The text is not repeated: it may hold a secret.
    #[error("--set: argument {index} must be KEY=VALUE, such as --set http.retries=1")]
    NotAnAssignment {
        /// Which of the `--set` arguments, from 1.
        index: usize,
    },
    /// A value that passed its own check and still does not fit: a defect of this program, so it says only the key.
    #[error("{place}: {key}: cannot be used")]
    Unusable {
        /// Where it stands.
        place: Place,
        /// The key by its full name.
        key: String,
    },
    /// Anyone in the network could reach the server, under any host name.
    #[error(
        "{place}: serve.http: the address is reachable from other machines, so serve.allowed_hosts must name the hosts \
         that clients use, such as allowed_hosts = [\"mcp.example.org\"]; or listen on 127.0.0.1"
    )]
    OpenToNetwork {
        /// Where the address stands.
        place: Place,
    },
}

impl Problem {
    /// The key that it is about, if it is about one.
    pub(super) fn key(&self) -> Option<&String> {
        match self {
            Problem::UnknownKey { key, .. }
            | Problem::NotAPlugin { key, .. }
            | Problem::Value { key, .. }
            | Problem::Name { key, .. }
            | Problem::Missing { key, .. }
            | Problem::Unusable { key, .. }
            | Problem::OnlyWhole { key, .. } => Some(key),
            Problem::NotAnAssignment { .. } | Problem::OpenToNetwork { .. } => None,
        }
    }
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: cannot read the configuration: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        reason: String,
    },
    /// The file is not TOML.
    #[error("{}:{line}:{column}: not valid TOML: {reason}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// Cause.
        reason: String,
    },
    /// A file that a setting names cannot be used.
    #[error("{key}: {}: {reason}", path.display())]
    File {
        /// The setting.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Cause.
        reason: String,
    },
    /// Settings that cannot be used, a line each.
    #[error("{}", .0.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid(Vec<Problem>),
}
