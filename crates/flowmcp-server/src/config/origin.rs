//! Where each effective setting comes from.

use std::{collections::BTreeMap, fmt};

use figment::{
    Figment,
    value::{Dict, Tag, Value},
};

use super::{Place, keys::ROOT, layer::Layer, shape::Shape, shape::join};

/// Where each setting comes from, by its full key (`limits.calls`, `packs[0].path`).
#[derive(Clone)]
pub struct Origins {
    pub(super) places: BTreeMap<String, Place>,
    /// The merged values, for showing them.
    pub(super) values: Dict,
}

impl Origins {
    /// Where a setting comes from; an unset one is a default.
    pub fn of(&self, key: &str) -> Place {
        self.places.get(key).cloned().unwrap_or(Place::Default)
    }

    /// All settings that somebody made, by full key.
    pub fn made(&self) -> impl Iterator<Item = (&str, &Place)> {
        self.places
            .iter()
            .filter(|(_, place)| **place != Place::Default)
            .map(|(key, place)| (key.as_str(), place))
    }
}

/// `Debug` shows no values: they may hold secrets.
impl fmt::Debug for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.places).finish()
    }
}

/// Follows every merged value back to the layer it was taken from.
pub(super) fn trace(figment: &Figment, layers: &[Layer], values: Dict) -> Origins {
    let mut trace = Trace { figment, layers, places: BTreeMap::new() };
    trace.table(ROOT, "", &values);
    Origins { places: trace.places, values }
}

struct Trace<'a> {
    figment: &'a Figment,
    layers: &'a [Layer],
    places: BTreeMap<String, Place>,
}

impl Trace<'_> {
    fn table(&mut self, shape: Shape, above: &str, values: &Dict) {
        for (name, value) in values {
            let key = join(above, name);
            match (shape.inner(name), value) {
                // What is inside a plugin's value is the plugin's business.
                (inner, Value::Dict(_, values)) if !matches!(inner, Shape::Free) => {
                    self.table(inner, &key, values);
                }
                (Shape::List(inner @ Shape::Table(_)), Value::Array(_, entries)) if !entries.is_empty() => {
                    self.entries(*inner, &key, entries);
                }
                (_, value) => {
                    let place = self.place(value.tag(), &key);
                    self.places.insert(key, place);
                }
            }
        }
    }

    /// Entries of a list may come from two layers (`--pack`), each of which counts from zero.
    fn entries(&mut self, shape: Shape, above: &str, entries: &[Value]) {
        let mut before: BTreeMap<Tag, usize> = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let Value::Dict(tag, values) = entry else { continue };
            let own = before.entry(*tag).or_default();
            for name in values.keys() {
                debug_assert!(shape.keys().iter().any(|key| key.name == name));
                let place = self.place(*tag, &format!("{above}[{own}].{name}"));
                self.places.insert(format!("{above}[{index}].{name}"), place);
            }
            *own += 1;
        }
    }

    fn place(&self, tag: Tag, key: &str) -> Place {
        let layer = self
            .figment
            .get_metadata(tag)
            .and_then(|metadata| self.layers.iter().find(|layer| layer.name == metadata.name));
        // A free table has no place of its own: it stands where the first of its values does.
        let inside = format!("{key}.");
        layer
            .and_then(|layer| {
                let first = || {
                    layer.places.range(inside.clone()..).next().filter(|(key, _)| key.starts_with(&inside))
                };
                layer.places.get(key).or_else(|| first().map(|(_, place)| place))
            })
            .cloned()
            .unwrap_or(Place::Default)
    }
}
