//! What the host and the pack's configuration decide about a schema, as far as rules depend on it.

/// Settings that rules depend on. The default is the strictest: version 3 only, https only, no grants, no libraries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Major versions accepted beside 3 (`["4"]`).
    pub accept_versions: Vec<String>,
    /// Whether `http://` and `local://` roots are allowed.
    pub allow_local: bool,
    /// What the pack's handlers may do beyond transforming data (`["fetch"]`).
    pub grants: Vec<String>,
    /// Names of the libraries that the host provides to handlers.
    pub libraries: Vec<String>,
    /// Which rules are checked.
    pub rules: Rules,
}

/// Which rules are checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rules {
    /// All of them, for authors.
    #[default]
    All,
    /// Those that keep something from being served, for a server that starts.
    Blocking,
}

/// Libraries that the catalogue's handlers take under a shorter name than the one they declare.
const LIBRARY_ALIASES: [(&str, &str); 1] = [("indicators", "indicatorts")];

impl Options {
    pub(crate) fn grants(&self, grant: &str) -> bool {
        self.grants.iter().any(|granted| granted == grant)
    }

    pub(crate) fn provides(&self, library: &str) -> bool {
        self.libraries.iter().any(|known| same_library(known, library))
    }

    /// Major versions that may be served, in the order for messages.
    pub(crate) fn majors(&self) -> impl Iterator<Item = &str> {
        std::iter::once("3")
            .chain(self.accept_versions.iter().map(String::as_str).filter(|major| *major != "3"))
    }
}

/// Whether two names mean one library.
pub(crate) fn same_library(one: &str, other: &str) -> bool {
    fn full(name: &str) -> &str {
        LIBRARY_ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, full)| full)
    }
    full(one) == full(other)
}

/// Whether a name that the file does not declare is the short name of a library that it does declare.
pub(crate) fn is_short_for(name: &str, library: &str) -> bool {
    name != library && same_library(name, library) && LIBRARY_ALIASES.iter().any(|(alias, _)| *alias == name)
}
