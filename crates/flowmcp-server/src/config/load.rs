//! Reads all sources and merges them.

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use figment::Figment;

use super::{
    Config, ConfigError, Origins, Place, Problem, effect,
    layer::{self, Layer},
    origin, suggest,
};

/// Largest configuration file.
const LARGEST_FILE: u64 = 1 << 20;

/// Everything that settings are read from.
#[derive(Clone, Default)]
pub struct Sources {
    /// `config.toml`; named means it must exist.
    pub file: Option<PathBuf>,
    /// The process environment; only `FLOWMCP_…` variables count here.
    pub environment: BTreeMap<String, String>,
    /// `KEY=VALUE` of each `--set`, in order.
    pub set: Vec<String>,
    /// Dedicated flags, in order.
    pub flags: Vec<Flag>,
    /// Packs of `--pack`, relative to the working directory.
    pub packs: Vec<PathBuf>,
    /// `--allow-local`: every pack may use `http://` roots, loopback and private addresses.
    pub allow_local: bool,
}

/// `Debug` shows neither the environment nor assignments: both may hold secrets.
impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources")
            .field("file", &self.file)
            .field("packs", &self.packs)
            .field("allow_local", &self.allow_local)
            .finish_non_exhaustive()
    }
}

/// A command-line flag that stands for one setting, such as `--http ADDR` for `serve.http`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// The flag as it is written, for messages.
    pub name: &'static str,
    /// Full name of its setting.
    pub key: &'static str,
    /// Its value.
    pub value: String,
}

/// A configuration, what is odd about it, and where it comes from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// One line each: what was ignored, and what this build does not act on.
    pub warnings: Vec<String>,
    /// Where each setting comes from.
    pub origins: Origins,
}

impl Loaded {
    /// Settings that somebody made and this build does not act on, with their places.
    pub fn without_effect(&self) -> Vec<String> {
        effect::without_effect(&self.origins, &self.config)
    }
}

impl Config {
    /// Reads the settings from all `sources`: the defaults, then the file, the environment, `--set`, and flags, of
    /// which the later win. Tables are merged key by key, lists are replaced, `--pack` adds to `packs`.
    ///
    /// # Errors
    /// [`ConfigError`], with everything that is wrong in all sources at once.
    pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
        let base = sources.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        // Not `exists`: a link that leads nowhere is a mistake to report, not an absent file.
        let env_file = base.join(ENV_FILE).symlink_metadata().is_ok().then_some(ENV_FILE);
        let file = match &sources.file {
            Some(path) => layer::of_file(path, &read(path)?)?,
            None => Layer::default(),
        };
        let layers = [
            layer::defaults(env_file),
            file,
            layer::of_environment(&sources.environment),
            layer::of_assignments(&sources.set),
            layer::of_flags(&sources.flags),
            layer::of_packs(&sources.packs),
        ];
        let problems: Vec<Problem> = layers.iter().flat_map(|layer| layer.problems.clone()).collect();
        if !problems.is_empty() {
            return Err(ConfigError::Invalid(problems));
        }

        let [defaults, file, environment, set, flags, packs] = &layers;
        let figment = [file, environment, set, flags]
            .into_iter()
            .fold(Figment::from(defaults), Figment::merge)
            .admerge(packs);
        let merged = figment.find_value("").ok().and_then(|value| value.into_dict()).unwrap_or_default();
        let mut origins = origin::trace(&figment, &layers, merged);
        let mut config: Config = figment.extract().map_err(|error| unusable(error, &origins))?;
        config.settle(base, sources, &mut origins);
        if let Some(problem) = config.open_to_network(&origins) {
            return Err(ConfigError::Invalid(vec![problem]));
        }

        let mut warnings = unknown_variables(environment, &config);
        warnings.extend(
            effect::without_effect(&origins, &config)
                .into_iter()
                .map(|key| format!("{key}: has no effect in this build")),
        );
        Ok(Loaded { config, warnings, origins })
    }

    /// What merging cannot do: paths relative to the file, exact paths of `--pack`, and `--allow-local` for all packs.
    fn settle(&mut self, base: &Path, sources: &Sources, origins: &mut Origins) {
        let configured = self.packs.len().saturating_sub(sources.packs.len());
        for (index, pack) in self.packs.iter_mut().enumerate() {
            match index.checked_sub(configured).and_then(|added| sources.packs.get(added)) {
                Some(path) => pack.path.clone_from(path),
                None => pack.path = base.join(&pack.path),
            }
            if sources.allow_local && !pack.allow_local {
                pack.allow_local = true;
                origins.places.insert(format!("packs[{index}].allow_local"), Place::Flag("--allow-local"));
            }
        }
        for path in
            self.plugins.dirs.iter_mut().chain(&mut self.http.ca_file).chain(&mut self.params.env_file)
        {
            *path = base.join(&path);
        }
    }

    fn open_to_network(&self, origins: &Origins) -> Option<Problem> {
        let open = self.serve.http.is_some_and(|address| !address.ip().to_canonical().is_loopback());
        (open && self.serve.allowed_hosts.is_empty())
            .then(|| Problem::OpenToNetwork { place: origins.of("serve.http") })
    }
}

/// Name of the env file that is read without being configured.
const ENV_FILE: &str = ".env";

fn read(path: &Path) -> Result<String, ConfigError> {
    let refuse = |reason: String| ConfigError::Read { path: path.to_owned(), reason };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(error.to_string()))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(refuse(format!("it is larger than {LARGEST_FILE} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        refuse(format!("it is not UTF-8 (byte {}); save it as UTF-8", error.utf8_error().valid_up_to()))
    })
}

fn unusable(error: figment::Error, origins: &Origins) -> ConfigError {
    // The text of a figment error shows values, so only the key is taken from it.
    let key = error.path.join(".");
    ConfigError::Invalid(vec![Problem::Unusable { place: origins.of(&key), key }])
}

/// Names that look like settings and are none; those of server parameters are none on purpose.
fn unknown_variables(environment: &Layer, config: &Config) -> Vec<String> {
    environment
        .unknown_variables
        .iter()
        .filter(|name| !config.params.from_env.contains(name))
        .map(|name| {
            let near =
                suggest::variable(name).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            format!("environment variable {name}: is not a setting and is ignored{near}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{super::keys, *};

    /// `config.toml` at the root, with every setting that it shows as a comment switched on.
    fn shipped_in_full() -> String {
        include_str!("../../../../config.toml")
            .lines()
            .map(|line| {
                line.strip_prefix('#')
                    .filter(|rest| !rest.starts_with(' ') && !rest.is_empty())
                    .unwrap_or(line)
            })
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn load(text: &str) -> Loaded {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        Config::load(&Sources { file: Some(file), ..Sources::default() }).unwrap()
    }

    #[test]
    fn the_shipped_file_names_every_key() {
        let made = load(&shipped_in_full()).origins;
        let made: Vec<&str> = made.made().map(|(key, _)| key).collect();
        let shown = |key: &str| {
            made.iter().any(|made| {
                *made == key || made.starts_with(&format!("{key}.")) || made.starts_with(&format!("{key}["))
            })
        };
        let fields = keys::PACK.keys().iter().map(|key| format!("packs[0].{}", key.name));
        let missing: Vec<String> =
            keys::all().iter().map(|path| path.join(".")).chain(fields).filter(|key| !shown(key)).collect();
        assert_eq!(missing, Vec::<String>::new());
    }

    #[test]
    fn the_shipped_file_shows_the_defaults() {
        let (shown, plain) = (load(&shipped_in_full()), load(""));
        let differing: Vec<&str> = keys::all()
            .iter()
            .filter_map(|path| {
                Some((
                    path,
                    keys::find(&path.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).ok()?,
                ))
            })
            .filter(|(_, (shape, _))| shape.keys().is_empty())
            .filter_map(|(path, _)| {
                let value = |loaded: &Loaded| {
                    figment::value::Value::from(loaded.origins.values.clone()).find(&path.join("."))
                };
                // Keys without a default are examples.
                let default = value(&plain)?;
                (value(&shown) != Some(default)).then(|| path.last().copied()).flatten()
            })
            .collect();
        // Names are free in these, so the file shows an example.
        assert_eq!(differing, ["endpoints", "resolve", "bind", "packs"]);
        assert_eq!(shown.config.engine_settings().limits, plain.config.engine_settings().limits);
    }

    #[test]
    fn defaults_are_those_of_the_crates_that_use_them() {
        let config = load("").config;
        let (engine, http) = (config.engine_settings(), config.http_settings().unwrap());
        assert_eq!(format!("{engine:?}"), format!("{:?}", flowmcp_engine::Settings::default()));
        assert_eq!(format!("{http:?}"), format!("{:?}", flowmcp_http::HttpSettings::default()));
    }

    #[test]
    fn debug_of_sources_and_settings_shows_no_secret() {
        let sources = Sources {
            environment: BTreeMap::from([("FLOWMCP_HTTP__PROXY".into(), "http://u:s3cr3t@h:1".into())]),
            set: vec!["plugins.a.token=s3cr3t".into()],
            ..Sources::default()
        };
        let loaded = Config::load(&sources).unwrap();
        assert_eq!(loaded.config.http.proxy.as_ref().map(|url| url.expose()), Some("http://u:s3cr3t@h:1"));
        let text = format!("{sources:?} {loaded:?}");
        assert!(!text.contains("s3cr3t"), "{text}");
    }
}
