//! `config show`: the effective settings as TOML, each with where it comes from.

use std::{fmt::Write as _, path::Path, time::Duration};

use figment::value::{Dict, Num, Value};
use toml_edit::{Array, InlineTable, Value as Toml};

use super::{
    Config, Loaded, Place,
    format::{hide_user_info, names_a_secret},
    keys::{Key, ROOT},
    shape::{Shape, join},
    units,
};

/// What stands for a value that is not shown.
const HIDDEN: &str = "<hidden>";

/// The effective settings as TOML that can be used as a `config.toml`, with their origins as comments. Passwords in
/// URLs are left out, and so are values of plugins whose names say that they are secret.
pub fn show(loaded: &Loaded) -> String {
    let mut page = Page { loaded, text: String::new() };
    page.table(ROOT, "", &loaded.origins.values);
    page.text
}

struct Page<'a> {
    loaded: &'a Loaded,
    text: String,
}

impl Page<'_> {
    /// A table: its plain values first, since after a sub-table's header they would belong to that.
    fn table(&mut self, shape: Shape, key: &str, values: &Dict) {
        let free = values.keys().filter(|name| !shape.keys().iter().any(|key| key.name == *name));
        let names: Vec<&str> =
            shape.keys().iter().map(|key| key.name).chain(free.map(String::as_str)).collect();
        let (tables, plain): (Vec<&str>, Vec<&str>) =
            names.into_iter().partition(|name| is_table(shape.inner(name), values.get(*name)));
        if !plain.is_empty() && !key.is_empty() {
            self.header(&format!("[{key}]"));
        }
        for name in plain {
            self.setting(shape, key, key, name, values.get(name));
        }
        for name in tables {
            let full = join(key, name);
            match (shape.inner(name), values.get(name)) {
                (Shape::List(Shape::Table(keys)), Some(Value::Array(_, entries))) => {
                    self.entries(keys, &full, entries);
                }
                (inner, Some(Value::Dict(_, values))) => self.table(inner, &full, values),
                (inner, _) => self.table(inner, &full, &Dict::new()),
            }
        }
    }

    fn entries(&mut self, keys: &'static [Key], key: &str, entries: &[Value]) {
        for (index, entry) in entries.iter().enumerate() {
            let Value::Dict(_, values) = entry else { continue };
            self.header(&format!("[[{key}]]"));
            for known in keys {
                self.setting(
                    Shape::Table(keys),
                    key,
                    &format!("{key}[{index}]"),
                    known.name,
                    values.get(known.name),
                );
            }
        }
    }

    fn header(&mut self, header: &str) {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        let _ = writeln!(self.text, "{gap}{header}");
    }

    fn setting(&mut self, table: Shape, table_key: &str, above: &str, name: &str, value: Option<&Value>) {
        let full = join(above, name);
        let short = join("", name);
        let place = self.loaded.origins.of(&full);
        let shown = match table.inner(name) {
            // The paths of the typed settings are the ones that are used.
            Shape::Path | Shape::List(Shape::Path) => paths(&self.loaded.config, &full),
            // `--allow-local` is put in after merging.
            Shape::Bool if place == Place::Flag("--allow-local") => Some(Toml::from(true)),
            shape => value.map(|value| toml(shape, value, names_a_secret(name) && in_plugin(table_key))),
        };
        let _ = match shown {
            Some(value) => writeln!(self.text, "{short} = {value}  # {place}"),
            None => writeln!(self.text, "# {short} is not set"),
        };
    }
}

/// Whether this is shown under a header of its own.
fn is_table(shape: Shape, value: Option<&Value>) -> bool {
    match shape {
        Shape::Table(_) | Shape::Open(..) => true,
        Shape::Map(..) => value.and_then(Value::as_dict).is_some_and(|values| !values.is_empty()),
        Shape::List(Shape::Table(_)) => value.and_then(Value::as_array).is_some_and(|list| !list.is_empty()),
        _ => false,
    }
}

fn in_plugin(key: &str) -> bool {
    key.starts_with("plugins.")
}

fn paths(config: &Config, key: &str) -> Option<Toml> {
    let text = |path: &Path| Toml::from(path.to_string_lossy().into_owned());
    match key {
        "params.env_file" => config.params.env_file.as_deref().map(text),
        "http.ca_file" => config.http.ca_file.as_deref().map(text),
        "plugins.dirs" => Some(Toml::Array(config.plugins.dirs.iter().map(|path| text(path)).collect())),
        _ => {
            let index: usize = key.strip_prefix("packs[")?.strip_suffix("].path")?.parse().ok()?;
            config.packs.get(index).map(|pack| text(&pack.path))
        }
    }
}

fn toml(shape: Shape, value: &Value, secret: bool) -> Toml {
    match (shape, value) {
        (_, _) if secret => Toml::from(HIDDEN),
        (Shape::Time, Value::Num(_, number)) => {
            Toml::from(units::show_time(Duration::from_millis(whole(number).unwrap_or(0))))
        }
        (Shape::Size, Value::Num(_, number)) => Toml::from(units::show_size(whole(number).unwrap_or(0))),
        (_, Value::Num(_, number)) => {
            let signed = number.to_i128().and_then(|number| i64::try_from(number).ok());
            let unsigned = || whole(number).and_then(|number| i64::try_from(number).ok());
            match signed.or_else(unsigned) {
                Some(number) => Toml::from(number),
                None => Toml::from(number.to_f64().unwrap_or(f64::NAN)),
            }
        }
        (_, Value::Bool(_, flag)) => Toml::from(*flag),
        (_, Value::Char(_, letter)) => Toml::from(letter.to_string()),
        (_, Value::String(_, text)) => Toml::from(hide_user_info(text)),
        (_, Value::Empty(..)) => Toml::from(""),
        (shape, Value::Array(_, items)) => {
            let inner = if let Shape::List(inner) = shape { *inner } else { Shape::Free };
            Toml::Array(items.iter().map(|item| toml(inner, item, false)).collect::<Array>())
        }
        (shape, Value::Dict(_, values)) => {
            let entries = values.iter().map(|(name, value)| {
                let secret = matches!(shape, Shape::Free) && names_a_secret(name);
                (name.clone(), toml(shape.inner(name), value, secret))
            });
            Toml::InlineTable(entries.collect::<InlineTable>())
        }
    }
}

fn whole(number: &Num) -> Option<u64> {
    number.to_u128().and_then(|number| u64::try_from(number).ok())
}
