//! Text that must never be shown.

use std::{fmt, sync::Arc};

/// A server value (API key, token). `Debug` and `Display` never show it; [`Secret::expose`] does.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a value read from the environment or an env file.
    pub fn new(value: impl Into<Arc<str>>) -> Self {
        Secret(value.into())
    }

    /// The value itself: only for building a request and for redaction.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the value has no characters, which counts as missing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_debug_nor_display_shows_the_value() {
        let secret = Secret::new("s3cr3t");
        assert_eq!(format!("{secret} {secret:?} {:?}", Some(&secret)), "<secret> <secret> Some(<secret>)");
    }
}
