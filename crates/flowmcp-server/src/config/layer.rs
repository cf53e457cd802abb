//! One source of settings each: the defaults, the file, the environment, `--set`, and dedicated flags.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    ops::Range,
    path::{Path, PathBuf},
};

use figment::{
    Metadata, Profile, Provider,
    value::{Dict, Map, Tag, Value},
};
use toml_edit::{Document, Value as Toml};

use super::{
    Flag,
    error::{ConfigError, Found, Place, Problem},
    keys::{self, NoSetting, PACK, ROOT},
    shape::{Reading, Shape, default_of, join},
    suggest,
};

/// What the names of environment variables that are settings begin with.
pub(super) const PREFIX: &str = "FLOWMCP_";

/// Settings of one source, and where each stands in it.
#[derive(Default)]
pub(super) struct Layer {
    /// Name that tells layers apart.
    pub(super) name: &'static str,
    /// The values, all of their right shape.
    pub(super) values: Dict,
    /// Place of each by its full key.
    pub(super) places: BTreeMap<String, Place>,
    /// All that is wrong in this source.
    pub(super) problems: Vec<Problem>,
    /// Environment variables that look like settings and are none.
    pub(super) unknown_variables: Vec<String>,
}

/// By reference, so that its places stay at hand after merging.
impl Provider for &Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name)
    }

    fn data(&self) -> figment::Result<Map<Profile, Dict>> {
        Ok(Map::from([(Profile::Default, self.values.clone())]))
    }
}

/// The defaults of all keys, and the env file beside the configuration where there is one.
pub(super) fn defaults(env_file: Option<&str>) -> Layer {
    fn fill(shape: Shape) -> Dict {
        let mut values = Dict::new();
        for key in shape.keys() {
            let value = match key.default {
                Some(_) => default_of(key),
                None => Some(fill(key.shape)).filter(|inner| !inner.is_empty()).map(Value::from),
            };
            if let Some(value) = value {
                values.insert(key.name.to_owned(), value);
            }
        }
        values
    }
    let mut layer = Layer { name: "default", values: fill(ROOT), ..Layer::default() };
    if let Some(file) = env_file {
        layer.put(&["params".to_owned(), "env_file".to_owned()], Value::from(file));
    }
    layer
}

/// The text of `config.toml`.
///
/// # Errors
/// [`ConfigError::Syntax`]; wrong keys and values are problems of the layer.
pub(super) fn of_file(path: &Path, text: &str) -> Result<Layer, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = Document::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or(text);
        ConfigError::Syntax {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().unwrap_or("").chars().count() + 1,
            // Only the first line: the rest may repeat the text.
            reason: error.message().lines().next().unwrap_or("").to_owned(),
        }
    })?;
    let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let place = |span: Option<Range<usize>>| {
        let start = span.map_or(0, |span| span.start);
        Place::File { path: path.to_owned(), line: lines.partition_point(|at| *at < start) + 1 }
    };
    let mut reading = Reading::new(&place, true);
    let values = reading.table(ROOT, "", document.as_table());
    let Reading { places, problems, .. } = reading;
    Ok(Layer { name: "file", values, places, problems, ..Layer::default() })
}

/// The variables `FLOWMCP_…` of an environment: `__` goes one table deeper, `_` is part of a name.
pub(super) fn of_environment(environment: &BTreeMap<String, String>) -> Layer {
    let mut layer = Layer { name: "environment", ..Layer::default() };
    for (variable, text) in environment {
        let Some(rest) = variable.strip_prefix(PREFIX) else { continue };
        let names = names_of(rest);
        match keys::find(&names) {
            Ok((shape, names)) => layer.set(shape, &names, text, Place::Variable(variable.clone())),
            Err(NoSetting::Unknown(_)) => layer.unknown_variables.push(variable.clone()),
            Err(refusal) => {
                layer.problems.push(no_setting(&names, refusal, Place::Variable(variable.clone())));
            }
        }
    }
    layer
}

/// Names are written in capitals. Free ones mean their lower case, except those of parameters below `params.bind`,
/// which are names of environment variables themselves.
fn names_of(rest: &str) -> Vec<String> {
    let lower: Vec<String> = rest.split("__").map(str::to_ascii_lowercase).collect();
    match lower.as_slice() {
        [params, bind, _, ..] if params == "params" && bind == "bind" => {
            let written = rest.split("__").skip(2).map(str::to_owned);
            [params.clone(), bind.clone()].into_iter().chain(written).collect()
        }
        _ => lower,
    }
}

/// `--set KEY=VALUE` arguments; of two for one key the later counts.
pub(super) fn of_assignments(assignments: &[String]) -> Layer {
    let mut layer = Layer { name: "set", ..Layer::default() };
    for (index, assignment) in assignments.iter().enumerate() {
        let parts = assignment
            .split_once('=')
            .and_then(|(key, text)| Some((toml_edit::Key::parse(key.trim()).ok()?, text.trim())));
        let Some((key, text)) = parts else {
            layer.problems.push(Problem::NotAnAssignment { index: index + 1 });
            continue;
        };
        let names: Vec<String> = key.iter().map(|name| name.get().to_owned()).collect();
        layer.assign(&names, text, Place::Set);
    }
    layer
}

/// Dedicated flags, each of which stands for one key.
pub(super) fn of_flags(flags: &[Flag]) -> Layer {
    let mut layer = Layer { name: "flags", ..Layer::default() };
    for flag in flags {
        let names: Vec<String> = flag.key.split('.').map(str::to_owned).collect();
        layer.assign(&names, &flag.value, Place::Flag(flag.name));
    }
    layer
}

/// Packs named by `--pack`, which are added to the configured ones.
pub(super) fn of_packs(packs: &[PathBuf]) -> Layer {
    let mut layer = Layer { name: "packs", ..Layer::default() };
    let mut entries = Vec::with_capacity(packs.len());
    for (index, path) in packs.iter().enumerate() {
        let mut entry: Dict =
            PACK.keys().iter().filter_map(|key| Some((key.name.to_owned(), default_of(key)?))).collect();
        // The exact path, which need not be text, is put in after the layers are merged.
        entry.insert("path".to_owned(), Value::from(path.to_string_lossy().into_owned()));
        layer.places.insert(format!("packs[{index}].path"), Place::Flag("--pack"));
        entries.push(Value::from(entry));
    }
    if !entries.is_empty() {
        layer.values.insert("packs".to_owned(), Value::Array(Tag::Default, entries));
    }
    layer
}

impl Layer {
    fn assign(&mut self, names: &[String], text: &str, place: Place) {
        match keys::find(names) {
            Ok((shape, names)) => self.set(shape, &names, text, place),
            Err(refusal) => self.problems.push(no_setting(names, refusal, place)),
        }
    }

    fn set(&mut self, shape: &'static Shape, names: &[String], text: &str, place: Place) {
        let key = full(names);
        let refuse =
            |place, found| Problem::Value { place, key: key.clone(), expected: shape.expected(), found };
        if text.is_empty() {
            self.problems.push(refuse(place, Found::Empty));
            return;
        }
        let Some(value) = toml_of(*shape, text) else {
            self.problems.push(refuse(place, Found::Hidden));
            return;
        };
        let here = place.clone();
        let at = |_| here.clone();
        let mut reading = Reading::new(&at, false);
        let read = reading.value(*shape, &key, &value, place);
        let Reading { places, problems, .. } = reading;
        self.places.extend(places);
        self.problems.extend(problems);
        if let Some(value) = read {
            self.put(names, value);
        }
    }

    fn put(&mut self, names: &[String], value: Value) {
        fn put(values: &mut Dict, names: &[String], value: Value) {
            let Some((first, rest)) = names.split_first() else { return };
            let entry = values.entry(first.clone());
            if rest.is_empty() {
                match (entry, value) {
                    // A table given as a whole joins what its single keys gave before.
                    (Entry::Occupied(mut old), Value::Dict(tag, new)) => match old.get_mut() {
                        Value::Dict(_, old) => old.extend(new),
                        old => *old = Value::Dict(tag, new),
                    },
                    (Entry::Occupied(mut old), new) => *old.get_mut() = new,
                    (Entry::Vacant(free), new) => {
                        free.insert(new);
                    }
                }
                return;
            }
            let inner = entry.or_insert_with(|| Value::from(Dict::new()));
            if inner.as_dict().is_none() {
                *inner = Value::from(Dict::new());
            }
            if let Value::Dict(_, inner) = inner {
                put(inner, rest, value);
            }
        }
        put(&mut self.values, names, value);
    }
}

/// The text of a variable or argument as TOML: words stand as they are where a text is expected, unless quoted.
fn toml_of(shape: Shape, text: &str) -> Option<Toml> {
    let parsed = text.parse::<Toml>().ok();
    if shape.takes_bare_text() {
        return Some(parsed.filter(Toml::is_str).unwrap_or_else(|| Toml::from(text)));
    }
    match shape {
        Shape::List(_) | Shape::Map(..) | Shape::Table(_) | Shape::Open(..) => parsed,
        _ => Some(parsed.unwrap_or_else(|| Toml::from(text))),
    }
}

fn no_setting(names: &[String], refusal: NoSetting, place: Place) -> Problem {
    let up_to = |at: usize| full(names.get(..at).unwrap_or(names));
    match refusal {
        NoSetting::Unknown(at) => {
            let above = names.get(..at).unwrap_or(names);
            let name = names.get(at).map_or("", String::as_str);
            let shape = keys::find(above).map_or(&ROOT, |(shape, _)| shape);
            let above = full(above);
            let hint = suggest::key(&above, *shape, name);
            Problem::UnknownKey { place, key: join(&above, name), hint }
        }
        NoSetting::Form(at, expected) => Problem::Name { place, key: up_to(at + 1), expected },
        NoSetting::Whole(at) => Problem::OnlyWhole { place, key: full(names), whole: up_to(at) },
    }
}

fn full(names: &[String]) -> String {
    names.iter().fold(String::new(), |above, name| join(&above, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_of_its_key() {
        fn walk(shape: Shape, above: &str) {
            for key in shape.keys() {
                let full = join(above, key.name);
                assert_eq!(default_of(key).is_some(), key.default.is_some(), "{full}");
                walk(key.shape, &full);
                if let Shape::List(inner) | Shape::Map(_, inner) = key.shape {
                    walk(*inner, &full);
                }
            }
        }
        walk(ROOT, "");
    }

    #[test]
    fn names_in_capitals_mean_lower_case_except_parameters() {
        let cases = [
            ("LIMITS__CALLS_PER_HOST", "limits.calls_per_host"),
            ("PLUGINS__REPLAY__DIR", "plugins.replay.dir"),
            ("PARAMS__BIND__MY_KEY", "params.bind.MY_KEY"),
            ("PARAMS__FROM_ENV", "params.from_env"),
        ];
        for (rest, expected) in cases {
            assert_eq!(names_of(rest).join("."), expected);
        }
    }

    #[test]
    fn text_in_the_environment_is_what_it_looks_like() {
        let word = Shape::OneOf(&["debug"]);
        let cases = [
            (word, "debug", r#""debug""#),
            (word, r#""debug""#, r#""debug""#),
            (word, "12", r#""12""#),
            (Shape::Bool, "true", "true"),
            (Shape::Bool, "yes", r#""yes""#),
            (Shape::Time, "500ms", r#""500ms""#),
            (Shape::Time, "30", "30"),
            (Shape::Free, "a b", r#""a b""#),
            (Shape::Free, "[1]", "[1]"),
        ];
        for (shape, text, expected) in cases {
            assert_eq!(
                toml_of(shape, text).map(|value| value.to_string()).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        assert!(toml_of(Shape::List(&Shape::Bool), "a,b").is_none());
    }
}
