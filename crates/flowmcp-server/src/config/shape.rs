//! What a value must be, and how TOML becomes a value of that shape.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use figment::value::{Dict, Tag, Value};
use toml_edit::{Item, TableLike, Value as Toml};

use super::{
    error::{Found, Place, Problem},
    format::Format,
    keys::Key,
    suggest,
    units::{self, LARGEST_SIZE, LONGEST_TIME},
};

/// The shape of a value.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Text of a form; a number or boolean is taken as its text.
    Text(&'static Format),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// A whole number in this range.
    Whole {
        /// Smallest.
        least: u64,
        /// Largest.
        most: u64,
    },
    /// A time above zero, kept in milliseconds.
    Time,
    /// A size above zero, kept in bytes.
    Size,
    /// A file or folder.
    Path,
    /// A list.
    List(&'static Shape),
    /// A table with free names of a form.
    Map(&'static Format, &'static Shape),
    /// A table with these keys only.
    Table(&'static [Key]),
    /// A table with these keys, and free names for everything else.
    Open(&'static [Key], &'static Shape),
    /// Anything: a plugin knows what it means.
    Free,
}

impl Shape {
    /// The keys known inside, if it is a table with known keys.
    pub(super) fn keys(self) -> &'static [Key] {
        match self {
            Shape::Table(keys) | Shape::Open(keys, _) => keys,
            _ => &[],
        }
    }

    /// The shape of what stands under a name of this table.
    pub(super) fn inner(self, name: &str) -> Shape {
        match (self.keys().iter().find(|key| key.name == name), self) {
            (Some(key), _) => key.shape,
            (None, Shape::Map(_, inner) | Shape::Open(_, inner)) => *inner,
            (None, _) => Shape::Free,
        }
    }

    /// What a message says a value must be.
    pub(super) fn expected(self) -> String {
        match self {
            Shape::Text(format) => format.expected.to_owned(),
            Shape::OneOf(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                format!("one of {}", words.join(", "))
            }
            Shape::Bool => "true or false".to_owned(),
            Shape::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Shape::Time => {
                format!(
                    r#"a time above zero, at most {}, such as "30s" or "500ms""#,
                    units::show_time(LONGEST_TIME)
                )
            }
            Shape::Size => {
                format!(
                    r#"a size above zero, at most {}, such as "10 MiB" or 4096"#,
                    units::show_size(LARGEST_SIZE)
                )
            }
            Shape::Path => "the path of a file or folder".to_owned(),
            Shape::List(Shape::Table(_)) => "a list of tables, each under its own [[…]]".to_owned(),
            Shape::List(inner) => format!("a list, each item {}", inner.expected()),
            Shape::Map(_, inner) => format!("a table, each value {}", inner.expected()),
            Shape::Table(_) | Shape::Open(..) => "a table".to_owned(),
            Shape::Free => "a value".to_owned(),
        }
    }

    /// Whether a value of this shape may be printed in a message.
    fn may_be_shown(self) -> bool {
        match self {
            Shape::Text(format) => !format.private,
            Shape::Free => false,
            _ => true,
        }
    }

    /// A scalar of this shape, or nothing where it is not one.
    fn scalar(self, value: &Toml) -> Option<Value> {
        match self {
            Shape::Text(format) => text_of(value).filter(|text| (format.holds)(text)).map(Value::from),
            Shape::OneOf(words) => {
                text_of(value).filter(|text| words.contains(&text.as_str())).map(Value::from)
            }
            Shape::Path => value.as_str().filter(|text| is_path(text)).map(Value::from),
            Shape::Bool => value.as_bool().map(Value::from),
            Shape::Whole { least, most } => value
                .as_integer()
                .and_then(|number| u64::try_from(number).ok())
                .filter(|number| (least..=most).contains(number))
                .map(Value::from),
            Shape::Time => {
                let time = match value {
                    Toml::String(text) => units::parse_time(text.value())?,
                    Toml::Integer(number) => Duration::from_secs(u64::try_from(*number.value()).ok()?),
                    Toml::Float(number) => Duration::try_from_secs_f64(*number.value()).ok()?,
                    _ => return None,
                };
                units::checked_time(time)
                    .and_then(|time| u64::try_from(time.as_millis()).ok())
                    .map(Value::from)
            }
            Shape::Size => {
                let bytes = match value {
                    Toml::String(text) => units::parse_size(text.value())?,
                    Toml::Integer(number) => u64::try_from(*number.value()).ok()?,
                    _ => return None,
                };
                units::checked_size(bytes).map(Value::from)
            }
            Shape::Free => free_scalar(value),
            Shape::List(_) | Shape::Map(..) | Shape::Table(_) | Shape::Open(..) => None,
        }
    }

    /// Whether a bare word in the environment or after `--set` is this value as it stands.
    pub(super) fn takes_bare_text(self) -> bool {
        matches!(self, Shape::Text(_) | Shape::OneOf(_) | Shape::Path)
    }
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains('\0')
}

/// Text, or the text of a plain value: `name = 7` means `"7"`.
fn text_of(value: &Toml) -> Option<String> {
    match value {
        Toml::String(text) => Some(text.value().clone()),
        Toml::Integer(number) => Some(number.display_repr().into_owned()),
        Toml::Float(number) => Some(number.display_repr().into_owned()),
        Toml::Boolean(flag) => Some(flag.value().to_string()),
        Toml::Datetime(time) => Some(time.value().to_string()),
        Toml::Array(_) | Toml::InlineTable(_) => None,
    }
}

fn free_scalar(value: &Toml) -> Option<Value> {
    match value {
        Toml::Integer(number) => Some(Value::from(*number.value())),
        // JSON, in which a plugin gets its config, has no infinity.
        Toml::Float(number) => number.value().is_finite().then(|| Value::from(*number.value())),
        Toml::Boolean(flag) => Some(Value::from(*flag.value())),
        other => text_of(other).map(Value::from),
    }
}

/// One TOML value, in whichever of its spellings.
enum Node<'a> {
    Table(&'a dyn TableLike),
    List(Vec<(Node<'a>, Option<Range<usize>>)>),
    Scalar(&'a Toml),
}

fn of_item(item: &Item) -> Option<Node<'_>> {
    match item {
        Item::None => None,
        Item::Value(value) => Some(of_value(value)),
        Item::Table(table) => Some(Node::Table(table)),
        Item::ArrayOfTables(tables) => Some(Node::List(
            tables.iter().map(|table| (Node::Table(table as &dyn TableLike), table.span())).collect(),
        )),
    }
}

fn of_value(value: &Toml) -> Node<'_> {
    match value {
        Toml::Array(items) => Node::List(items.iter().map(|item| (of_value(item), item.span())).collect()),
        Toml::InlineTable(table) => Node::Table(table),
        scalar => Node::Scalar(scalar),
    }
}

/// One pass over a source of settings: collects where each key stands and everything that is wrong.
pub(super) struct Reading<'a> {
    /// The place of a byte range of the source.
    pub(super) place: &'a dyn Fn(Option<Range<usize>>) -> Place,
    /// Whether messages may show values: those of a file its reader can see, those of the environment may be secret.
    pub(super) reveal: bool,
    /// Place of each setting by its full key.
    pub(super) places: BTreeMap<String, Place>,
    /// All that is wrong.
    pub(super) problems: Vec<Problem>,
}

impl<'a> Reading<'a> {
    /// A reading that has seen nothing yet.
    pub(super) fn new(place: &'a dyn Fn(Option<Range<usize>>) -> Place, reveal: bool) -> Self {
        Reading { place, reveal, places: BTreeMap::new(), problems: Vec::new() }
    }

    /// Reads a table that stands for the whole of `shape`.
    pub(super) fn table(&mut self, shape: Shape, key: &str, table: &dyn TableLike) -> Dict {
        let mut read = Dict::new();
        for (name, item) in table.iter() {
            let full = join(key, name);
            let place = (self.place)(
                table.get_key_value(name).and_then(|(key, _)| key.span()).or_else(|| item.span()),
            );
            let known = shape.keys().iter().find(|known| known.name == name);
            let inner = match (known, shape) {
                (Some(known), _) => known.shape,
                (None, Shape::Map(_, inner) | Shape::Open(_, inner)) => *inner,
                (None, Shape::Free) => Shape::Free,
                (None, _) => {
                    let hint = suggest::key(key, shape, name);
                    self.problems.push(Problem::UnknownKey { place, key: full, hint });
                    continue;
                }
            };
            if let Shape::Map(form, _) = shape
                && !(form.holds)(name)
            {
                self.problems.push(Problem::Name { place, key: full, expected: form.expected });
                continue;
            }
            if let (Shape::Open(keys, _), None, false) = (shape, known, item.is_table_like()) {
                // `plugins.dir = […]` is a misspelt key, not the table of a plugin called "dir".
                let hint = suggest::name(name, keys.iter().map(|key| key.name)).map(|near| join(key, near));
                self.problems.push(Problem::NotAPlugin { place, key: full, near: hint });
                continue;
            }
            if let Some(value) = of_item(item).and_then(|node| self.node(inner, &full, node, place)) {
                read.insert(name.to_owned(), value);
            }
        }
        read
    }

    /// Reads one value; nothing where it is wrong, with the reason among the problems.
    pub(super) fn value(&mut self, shape: Shape, key: &str, value: &Toml, place: Place) -> Option<Value> {
        self.node(shape, key, of_value(value), place)
    }

    fn node(&mut self, shape: Shape, key: &str, node: Node<'_>, place: Place) -> Option<Value> {
        let read = match (shape, &node) {
            (Shape::Table(_) | Shape::Open(..) | Shape::Map(..) | Shape::Free, Node::Table(table)) => {
                return Some(Value::Dict(Tag::Default, self.table(shape, key, *table)));
            }
            (Shape::List(_) | Shape::Free, Node::List(_)) => {
                let Node::List(items) = node else { return None };
                self.places.insert(key.to_owned(), place);
                let inner = if let Shape::List(inner) = shape { *inner } else { Shape::Free };
                return Some(Value::Array(Tag::Default, self.list(inner, key, items)));
            }
            (_, Node::Scalar(value)) => shape.scalar(value),
            _ => None,
        };
        match read {
            Some(value) => {
                self.places.insert(key.to_owned(), place);
                Some(value)
            }
            None => {
                let found = self.found(shape, &node);
                self.problems.push(Problem::Value {
                    place,
                    key: key.to_owned(),
                    expected: shape.expected(),
                    found,
                });
                None
            }
        }
    }

    fn list(&mut self, shape: Shape, key: &str, items: Vec<(Node<'_>, Option<Range<usize>>)>) -> Vec<Value> {
        let mut read = Vec::with_capacity(items.len());
        for (index, (node, span)) in items.into_iter().enumerate() {
            let place = (self.place)(span);
            let key = format!("{key}[{index}]");
            let Some(mut value) = self.node(shape, &key, node, place.clone()) else { continue };
            if let (Shape::Table(keys), Value::Dict(_, entry)) = (shape, &mut value) {
                self.complete(keys, &key, entry, &place);
            }
            read.push(value);
        }
        read
    }

    /// Lists are replaced as a whole, so an entry gets its defaults here and not from the layer of defaults.
    fn complete(&mut self, keys: &'static [Key], above: &str, entry: &mut Dict, place: &Place) {
        for key in keys.iter().filter(|key| !entry.contains_key(key.name)).collect::<Vec<_>>() {
            let full = join(above, key.name);
            if key.required {
                // A wrong value is a problem already; only an absent one is missing.
                if !self.problems.iter().any(|problem| problem.key() == Some(&full)) {
                    self.problems.push(Problem::Missing { place: place.clone(), key: full });
                }
            } else if let Some(value) = default_of(key) {
                entry.insert(key.name.to_owned(), value);
            }
        }
    }

    fn found(&self, shape: Shape, node: &Node<'_>) -> Found {
        let kind = match node {
            Node::Table(_) => "a table",
            Node::List(_) => "a list",
            Node::Scalar(Toml::String(text)) if text.value().is_empty() => "an empty text",
            Node::Scalar(_) if !self.reveal => return Found::Hidden,
            Node::Scalar(_) if !shape.may_be_shown() => return Found::Hidden,
            Node::Scalar(Toml::String(text)) => return Found::Shown(format!("{:?}", cut(text.value()))),
            Node::Scalar(value) => match text_of(value) {
                Some(text) => return Found::Shown(cut(&text)),
                None => "another value",
            },
        };
        Found::Shown(kind.to_owned())
    }
}

fn cut(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// The default of a key as a value.
pub(super) fn default_of(key: &Key) -> Option<Value> {
    let value: Toml = key.default?.parse().ok()?;
    Reading::new(&|_| Place::Default, false).value(key.shape, key.name, &value, Place::Default)
}

/// The full name of a key inside another, quoted as TOML needs it.
pub(super) fn join(above: &str, name: &str) -> String {
    let bare = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let name = if bare { name.to_owned() } else { Toml::from(name).to_string() };
    if above.is_empty() { name } else { format!("{above}.{name}") }
}
