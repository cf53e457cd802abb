//! `tool.parameters`: which values a caller gives, which are fixed, and which the server adds.

use std::fmt;

use super::{
    EMPTY_ENUM, Names, OPTION_WITHOUT_EFFECT, OPTIONS, OWN_VALUE, PATTERN, PRIMITIVE, Placeholder, SAME_NAME,
    UNMATCHED_PLACEHOLDER, pieces,
};
use crate::{
    Blocks, Diagnostic, Node, Primitive, Span, ZType,
    schema::{Field, FieldValue, Input, Part},
    ztype::{OptionFault, ZFault},
};

/// The parameters of one tool, and the inputs that they come to.
pub(super) struct Parameters {
    pub(super) inputs: Vec<Input>,
    list: Vec<Parameter>,
    server_params: Vec<Box<str>>,
}

struct Parameter {
    key: Box<str>,
    text: Box<str>,
    location: Location,
    z: ZType,
    description: Option<Box<str>>,
    span: Span,
    /// Set by the second step of lowering.
    value: Option<FieldValue>,
    placed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Location {
    Insert,
    Query,
    Body,
    /// Not sent by itself: other parameters refer to it.
    Template,
    /// A `?` of a resource's statement.
    Bound,
}

impl Location {
    fn named(name: &str) -> Option<Self> {
        match name {
            "insert" => Some(Location::Insert),
            "query" => Some(Location::Query),
            "body" => Some(Location::Body),
            "template" => Some(Location::Template),
            _ => None,
        }
    }
}

/// How deep a value may refer to other parameters.
const MAX_REFERENCES: usize = 8;

impl Parameters {
    /// `None` when a parameter's shape is wrong, which the rules report, or its `z` is, which is reported here.
    pub(super) fn lower(
        tool: &str,
        node: &Node,
        server_params: &[Box<str>],
        handled: bool,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        Self::build(tool, node, server_params, handled, None, faults)
    }

    /// The parameters of a resource's query, whose places are the `?` of its statement. As [`Parameters::lower`].
    pub(super) fn bound(query: &str, node: &Node, faults: &mut Vec<Diagnostic>) -> Option<Self> {
        Self::build(query, node, &[], false, Some(Location::Bound), faults)
    }

    fn build(
        tool: &str,
        node: &Node,
        server_params: &[Box<str>],
        handled: bool,
        everywhere: Option<Location>,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        if !node.is_array() {
            return None;
        }
        let before = faults.len();
        let parsed: Vec<Option<Parameter>> = node
            .items()
            .iter()
            .enumerate()
            .map(|(index, node)| parameter(Place { tool, index }, node, everywhere, faults))
            .collect();
        let blocked =
            faults.get(before..).unwrap_or_default().iter().any(|fault| fault.blocks != Blocks::Nothing);
        let list: Option<Vec<Parameter>> = parsed.into_iter().collect();
        let list = list.filter(|_| !blocked)?;
        let mut parameters = Parameters { inputs: Vec::new(), list, server_params: server_params.to_vec() };
        for index in 0..parameters.list.len() {
            if parameters.value(index, 0).is_none() {
                let path = Place { tool, index };
                let span = parameters.list.get(index).map_or_else(Span::default, |parameter| parameter.span);
                let message = "value refers to parameters that refer back to it";
                faults.push(
                    Diagnostic::error(UNMATCHED_PLACEHOLDER, format!("{path}.position"), message).at(span),
                );
                return None;
            }
        }
        parameters.check_fixed(tool, handled, faults);
        parameters.name_inputs(tool, faults);
        Some(parameters)
    }

    /// The value of a parameter, resolved once; `None` when it refers to itself.
    fn value(&mut self, index: usize, depth: usize) -> Option<FieldValue> {
        let parameter = self.list.get(index)?;
        if let Some(value) = &parameter.value {
            return Some(value.clone());
        }
        if depth > MAX_REFERENCES {
            return None;
        }
        let (text, key, z) = (parameter.text.clone(), parameter.key.clone(), parameter.z.clone());
        let typed = matches!(parameter.location, Location::Body | Location::Bound);
        let found: Vec<Placeholder<'_>> = pieces(&text).collect();
        let names = found.iter().filter(|piece| matches!(piece, Placeholder::Name(_))).count();
        let whole = names == 1
            && found.iter().all(|piece| match piece {
                Placeholder::Text(text) => text.trim().is_empty(),
                Placeholder::Name(_) => true,
            });
        let value = if names == 0 {
            if typed { FieldValue::Fixed(fixed(&z, &text)) } else { FieldValue::Parts(text_part(&text)) }
        } else {
            let mut parts = Vec::with_capacity(found.len());
            let mut single = None;
            for piece in &found {
                match piece {
                    Placeholder::Text(_) if whole => {}
                    Placeholder::Text(text) => parts.push(Part::Text((*text).into())),
                    Placeholder::Name(name) => {
                        let is_own = |other: &str| other == &*key;
                        let value = match Names::of(name) {
                            Names::User => FieldValue::Input(self.input(index, &key, None, z.clone())),
                            Names::Server(key) => FieldValue::Parts(vec![Part::Server(key.into())]),
                            Names::Other(name) if self.is_server_param(name) => {
                                FieldValue::Parts(vec![Part::Server(name.into())])
                            }
                            Names::Other(name) => match self.position(name).filter(|_| !is_own(name)) {
                                Some(other) => self.value(other, depth + 1)?,
                                None if whole => {
                                    FieldValue::Input(self.input(index, &key, Some(name), z.clone()))
                                }
                                None => {
                                    // Constraints of a text with one value in it are meant for that value.
                                    let own = if names == 1 { z.clone() } else { implicit(&z) };
                                    FieldValue::Input(self.input(index, name, None, own))
                                }
                            },
                        };
                        match &value {
                            FieldValue::Input(input) => parts.push(Part::Input(*input)),
                            FieldValue::Parts(inner) => parts.extend(inner.iter().cloned()),
                            FieldValue::Fixed(fixed) => parts.push(Part::Text(plain(fixed).into())),
                        }
                        single = Some(value);
                    }
                }
            }
            match single {
                Some(value) if whole => value,
                _ => FieldValue::Parts(parts),
            }
        };
        if let Some(parameter) = self.list.get_mut(index) {
            parameter.value = Some(value.clone());
        }
        Some(value)
    }

    fn is_server_param(&self, name: &str) -> bool {
        self.server_params.iter().any(|known| &**known == name)
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.list.iter().position(|parameter| &*parameter.key == key)
    }

    /// The input of this key and parameter, made if it is new. Implicit inputs of one name are one input.
    fn input(&mut self, parameter: usize, key: &str, alias: Option<&str>, z: ZType) -> usize {
        let same = |input: &Input| {
            &*input.key == key && (input.parameter == parameter || self.position(key).is_none())
        };
        if let Some(known) = self.inputs.iter().position(same) {
            return known;
        }
        self.inputs.push(Input {
            name: key.into(),
            key: key.into(),
            alias: alias.filter(|alias| *alias != key).map(Into::into),
            z,
            description: self.list.get(parameter).and_then(|parameter| parameter.description.clone()),
            parameter,
            placeless: false,
        });
        self.inputs.len() - 1
    }

    /// Gives every input a name that clients accept, unique in the tool. A key that is such a name keeps it, wherever it
    /// stands: the schema's own tests and everyone who read the schema mean that parameter by it.
    fn name_inputs(&mut self, tool: &str, faults: &mut Vec<Diagnostic>) {
        let mut taken: Vec<Box<str>> = Vec::with_capacity(self.inputs.len());
        let (kept, changed): (Vec<&mut Input>, Vec<_>) =
            self.inputs.iter_mut().partition(|input| public_name(&input.key) == input.key);
        for input in kept.into_iter().chain(changed) {
            let base = public_name(&input.key);
            let mut name = base.clone();
            let mut count = 2;
            while taken.contains(&name) {
                name = format!("{}_{count}", base.get(..base.len().min(60)).unwrap_or(&base)).into();
                count += 1;
            }
            if name != base {
                let span =
                    self.list.get(input.parameter).map_or_else(Span::default, |parameter| parameter.span);
                let message =
                    format!("{:?} is the name of two parameters: this one is offered as {name:?}", input.key);
                let path = format!("{tool}.parameters[{}].position.key", input.parameter);
                faults.push(Diagnostic::warning(SAME_NAME, path, message).at(span));
            }
            taken.push(name.clone());
            input.name = name;
        }
    }

    /// A fixed value is sent as it is; one that its own type refuses is a mistake of the schema.
    fn check_fixed(&self, tool: &str, handled: bool, faults: &mut Vec<Diagnostic>) {
        for (index, parameter) in self.list.iter().enumerate() {
            let is_fixed = pieces(&parameter.text).all(|piece| matches!(piece, Placeholder::Text(_)));
            if !is_fixed || parameter.text.is_empty() {
                continue;
            }
            let value = serde_json::Value::String(parameter.text.to_string());
            if let Err(mismatch) = parameter.z.coerce(&value) {
                let path = format!("{tool}.parameters[{index}].position.value");
                let fault = Diagnostic::error(OWN_VALUE, path, format!("the fixed value {mismatch}"))
                    .at(parameter.span)
                    .help("change the value or its z.primitive and z.options");
                faults.push(if handled { fault.blocking(Blocks::Nothing) } else { fault });
            }
        }
    }

    /// What stands in a path for a placeholder of this name; marks the parameter as placed.
    pub(super) fn insert(&mut self, name: &str) -> Option<Vec<Part>> {
        let inserts =
            || self.list.iter().enumerate().filter(|(_, parameter)| parameter.location == Location::Insert);
        let by_placeholder = |parameter: &Parameter| {
            let mut found = pieces(&parameter.text);
            found.next() == Some(Placeholder::Name(name)) && found.next().is_none()
        };
        let found = inserts()
            .find(|(_, parameter)| &*parameter.key == name)
            .or_else(|| inserts().find(|(_, parameter)| by_placeholder(parameter)))
            .or_else(|| inserts().find(|(_, parameter)| parameter.key.eq_ignore_ascii_case(name)))
            .map(|(index, _)| index);
        let template = || {
            let is_template = |parameter: &Parameter| parameter.location == Location::Template;
            self.list.iter().position(|parameter| is_template(parameter) && &*parameter.key == name)
        };
        let Some(index) = found.or_else(template) else {
            return self.is_server_param(name).then(|| vec![Part::Server(name.into())]);
        };
        let parameter = self.list.get_mut(index)?;
        parameter.placed = true;
        Some(match parameter.value.clone()? {
            FieldValue::Input(input) => vec![Part::Input(input)],
            FieldValue::Parts(parts) => parts,
            FieldValue::Fixed(value) => text_part(&plain(&value)),
        })
    }

    /// Key, place and index of insert parameters that the path has not asked for.
    pub(super) fn unused_inserts(&self) -> impl Iterator<Item = (&str, Span, usize)> {
        let unused = |parameter: &Parameter| parameter.location == Location::Insert && !parameter.placed;
        let list = self.list.iter().enumerate().filter(move |(_, parameter)| unused(parameter));
        list.map(|(index, parameter)| (&*parameter.key, parameter.span, index))
    }

    /// Marks the inputs of insert parameters that neither the path nor another parameter asked for.
    pub(super) fn mark_placeless(&mut self) {
        for (index, input) in self.inputs.iter_mut().enumerate() {
            let sends = |parameter: &Parameter| {
                matches!(parameter.location, Location::Query | Location::Body)
                    && match &parameter.value {
                        Some(FieldValue::Input(sent)) => *sent == index,
                        Some(FieldValue::Parts(parts)) => parts.contains(&Part::Input(index)),
                        Some(FieldValue::Fixed(_)) | None => false,
                    }
            };
            let parameter = self.list.get(input.parameter);
            input.placeless = parameter.is_some_and(|it| it.location == Location::Insert && !it.placed)
                && !self.list.iter().any(sends);
        }
    }

    /// What a header's placeholder stands for: an input of that key, else a server parameter.
    pub(super) fn header_part(&self, name: &str) -> Part {
        let Names::Other(name) = Names::of(name) else {
            let key = name.strip_prefix("SERVER_PARAM:").unwrap_or(name);
            return Part::Server(key.trim().into());
        };
        let is_called = |input: &Input| &*input.key == name || input.alias.as_deref() == Some(name);
        match self.inputs.iter().position(is_called) {
            Some(input) if !self.is_server_param(name) => Part::Input(input),
            _ => Part::Server(name.into()),
        }
    }

    /// The fields of a location, in order.
    pub(super) fn fields(&self, location: &str) -> Vec<Field> {
        let wanted = Location::named(location);
        let list = self.list.iter().filter(|parameter| Some(parameter.location) == wanted);
        list.filter_map(|parameter| {
            Some(Field { key: parameter.key.clone(), value: parameter.value.clone()? })
        })
        .collect()
    }

    /// The values of all parameters, in order.
    pub(super) fn bindings(&self) -> Vec<FieldValue> {
        self.list.iter().filter_map(|parameter| parameter.value.clone()).collect()
    }

    /// A schema whose own tests put a `/` into an insert says that its values span segments.
    pub(super) fn allow_segments(&mut self, tests: &[Node]) {
        for input in &mut self.inputs {
            let is_insert = |parameter: &Parameter| parameter.location == Location::Insert;
            if !self.list.get(input.parameter).is_some_and(is_insert) {
                continue;
            }
            let names = [Some(&input.name), Some(&input.key), input.alias.as_ref()];
            let has_slash = |test: &Node| {
                let values = names.iter().flatten().filter_map(|name| test.get(name));
                values.filter_map(Node::as_str).any(|text| text.contains('/'))
            };
            input.z.segments |= tests.iter().any(has_slash);
        }
    }
}

/// Where a parameter stands, written out only for a finding.
#[derive(Clone, Copy)]
struct Place<'t> {
    tool: &'t str,
    index: usize,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.parameters[{}]", self.tool, self.index)
    }
}

fn parameter(
    path: Place<'_>,
    node: &Node,
    everywhere: Option<Location>,
    faults: &mut Vec<Diagnostic>,
) -> Option<Parameter> {
    let position = node.get("position")?;
    let z_node = node.get("z")?;
    let own = || position.get("location").and_then(Node::as_str).and_then(Location::named);
    let location = everywhere.or_else(own);
    let primitive = z_node.get("primitive")?;
    let description = node.get("description").or_else(|| z_node.get("description"));
    let options: Vec<&str> =
        z_node.get("options").map(Node::items).unwrap_or_default().iter().filter_map(Node::as_str).collect();
    let z = match ZType::parse(primitive.as_str()?, &options) {
        Ok((z, without_effect)) => {
            for option in without_effect {
                let message = format!("{}() has no effect on {}()", option.0, z.primitive.name());
                faults.push(
                    Diagnostic::warning(OPTION_WITHOUT_EFFECT, format!("{path}.z.options"), message)
                        .at(z_node.span),
                );
            }
            Some(z)
        }
        Err(found) => {
            faults.extend(found.into_iter().map(|fault| z_fault(path, z_node, primitive, fault)));
            None
        }
    };
    Some(Parameter {
        key: position.get("key").and_then(Node::as_str)?.into(),
        text: position.get("value").and_then(Node::as_str)?.into(),
        location: location?,
        z: z?,
        description: description.and_then(Node::as_str).map(Into::into),
        span: position.span,
        value: None,
        placed: false,
    })
}

fn z_fault(path: Place<'_>, z: &Node, primitive: &Node, fault: ZFault) -> Diagnostic {
    let options = z.get("options").map_or(z.span, |options| options.span);
    let (code, place, span) = match &fault {
        ZFault::Option(OptionFault::Pattern(_)) => (PATTERN, "options", options),
        ZFault::Option(OptionFault::Default { .. }) => (OWN_VALUE, "options", options),
        ZFault::Option(_) => (OPTIONS, "options", options),
        ZFault::EmptyEnum => (EMPTY_ENUM, "primitive", primitive.span),
        ZFault::NotACall { .. } | ZFault::UnknownPrimitive { .. } | ZFault::UnexpectedArguments { .. } => {
            (PRIMITIVE, "primitive", primitive.span)
        }
    };
    Diagnostic::error(code, format!("{path}.z.{place}"), fault.to_string()).at(span)
}

/// The type of one of several values inside a text: only whether it may be left out carries over.
fn implicit(z: &ZType) -> ZType {
    ZType { optional: z.optional, ..ZType::string() }
}

/// A fixed body value in its declared type; what the type refuses stays the text it is.
fn fixed(z: &ZType, text: &str) -> serde_json::Value {
    let text = serde_json::Value::String(text.to_owned());
    match &z.primitive {
        Primitive::String | Primitive::Enum(_) => text,
        Primitive::Number | Primitive::Boolean | Primitive::Array | Primitive::Object => {
            z.coerce(&text).map_or(text, |coerced| coerced.value)
        }
    }
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text_part(text: &str) -> Vec<Part> {
    if text.is_empty() { Vec::new() } else { vec![Part::Text(text.into())] }
}

/// A name that large model APIs accept for a property: `page[size]` becomes `page_size`.
fn public_name(key: &str) -> Box<str> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if !key.is_empty() && key.len() <= 64 && key.chars().all(is_allowed) {
        return key.into();
    }
    let mut name = String::with_capacity(key.len());
    for character in key.chars() {
        if is_allowed(character) {
            name.push(character);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    let name: String = name.trim_matches('_').chars().take(64).collect();
    if name.is_empty() { "value".into() } else { name.into() }
}
