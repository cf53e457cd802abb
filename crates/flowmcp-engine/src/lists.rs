//! Shared lists: puts their values into the enums that refer to them.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use flowmcp_spec::{
    Blocks, Code, Diagnostic, List, ListFault, Member, Primitive, Schema, Span,
    schema::{Input, ListReference, ResourceSource, Tool},
};
use flowmcp_validate::nearest;

/// The lists of one pack by name.
#[derive(Debug, Clone, Default)]
pub struct Lists(HashMap<Box<str>, Arc<List>>);

/// A list that does not exist.
const UNKNOWN: Code = Code("VAL072");
/// A field that a list does not have, or that has to be named.
const FIELD: Code = Code("VAL049");
/// Another version of a list than asked for.
const VERSION: Code = Code("VAL073");
/// A default that the list's values do not hold.
const OWN_VALUE: Code = flowmcp_spec::codes::OWN_VALUE;

/// How deep lists may build on others (semantics.md, section 5).
const MAX_DEPENDENCIES: usize = 3;

/// Why an enum's members cannot be given, and what was meant, if that can be guessed.
struct MemberFault {
    code: Code,
    message: String,
    meant: Option<String>,
}

/// Whose inputs are resolved.
struct Place {
    path: String,
    span: Span,
    blocks: Blocks,
}

impl Lists {
    /// Adds a list; a second one of a name is handed back, since the first stays.
    ///
    /// # Errors
    /// The list that was already there.
    pub fn add(&mut self, list: List) -> Result<(), Arc<List>> {
        match self.0.get(&list.name) {
            Some(known) => Err(Arc::clone(known)),
            None => {
                self.0.insert(list.name.clone(), Arc::new(list));
                Ok(())
            }
        }
    }

    /// A list by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<List>> {
        self.0.get(name)
    }

    /// All lists, by name.
    pub fn all(&self) -> Vec<&Arc<List>> {
        let mut lists: Vec<&Arc<List>> = self.0.values().collect();
        lists.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        lists
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is wrong with the lists' references to each other: unknown names, cycles, too deep ones.
    pub fn faults(&self) -> Vec<String> {
        let mut names: Vec<&str> = self.0.keys().map(|name| &**name).collect();
        names.sort_unstable();
        names.into_iter().filter_map(|name| self.fault(name, &mut vec![name])).collect()
    }

    fn fault<'l>(&'l self, name: &'l str, path: &mut Vec<&'l str>) -> Option<String> {
        for dependency in self.0.get(name).map(|list| list.depends_on.as_slice()).unwrap_or_default() {
            if !self.0.contains_key(dependency) {
                return Some(format!("shared list {name:?} depends on {dependency:?}, which does not exist"));
            }
            let cycle = path.contains(&&**dependency);
            path.push(dependency);
            if cycle || path.len() > MAX_DEPENDENCIES + 1 {
                let what = if cycle { "depend on each other" } else { "depend on each other too deeply" };
                return Some(format!("shared lists {what}: {}", path.join(" → ")));
            }
            if let Some(fault) = self.fault(dependency, path) {
                return Some(fault);
            }
            path.pop();
        }
        None
    }

    /// Replaces every list reference of a schema's enums by values. Tools whose lists cannot be resolved are taken out
    /// of the schema; the findings say why.
    pub fn resolve(&self, schema: &mut Schema) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let references = std::mem::take(&mut schema.lists);
        for reference in &references {
            diagnostics.extend(self.check_reference(reference));
        }
        schema.tools.retain_mut(|tool| {
            let faults = self.resolve_tool(tool, &references);
            let served = faults.iter().all(|fault| fault.blocks == Blocks::Nothing);
            diagnostics.extend(faults);
            served
        });
        for resource in &mut schema.resources {
            let ResourceSource::Sqlite { queries, .. } = &mut resource.source else { continue };
            queries.retain_mut(|query| {
                let place = Place {
                    path: format!("main.resources.{}.queries.{}", resource.name, query.name),
                    span: query.span,
                    // The schema's tools work without it.
                    blocks: Blocks::Nothing,
                };
                let faults = self.resolve_inputs(&mut query.inputs, &place, &references);
                let served = faults.is_empty();
                diagnostics.extend(faults);
                served
            });
        }
        schema.lists = references;
        diagnostics
    }

    /// The names of all lists, for messages.
    fn known(&self) -> String {
        let mut names: Vec<&str> = self.0.keys().map(|name| &**name).collect();
        names.sort_unstable();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    fn check_reference(&self, reference: &ListReference) -> Option<Diagnostic> {
        let Some(list) = self.0.get(&reference.name) else {
            let message = format!(
                "names the list {:?}, which does not exist (known: {})",
                reference.name,
                self.known()
            );
            let mut finding = Diagnostic::error(UNKNOWN, "main.sharedLists", message).at(reference.span);
            if let Some(name) = nearest(&reference.name, self.0.keys().map(|name| &**name)) {
                finding = finding.help(format!("did you mean `{name}`?"));
            }
            // Tools whose enums need it are blocked by findings of their own.
            return Some(finding.blocking(Blocks::Nothing));
        };
        let (wanted, found) = (reference.version.as_deref()?, list.version.as_deref()?);
        if wanted == found {
            return None;
        }
        let message =
            format!("asks for version {wanted} of the list {:?}, which has {found}", reference.name);
        let same_major = wanted.split('.').next() == found.split('.').next();
        let finding = Diagnostic::warning(VERSION, "main.sharedLists", message).at(reference.span);
        Some(if same_major {
            finding
        } else {
            Diagnostic { severity: flowmcp_spec::Severity::Error, ..finding }
        })
    }

    fn resolve_tool(&self, tool: &mut Tool, references: &[ListReference]) -> Vec<Diagnostic> {
        let place = Place {
            path: format!("main.tools.{}", tool.name),
            span: tool.span,
            blocks: Blocks::Tool(tool.name.clone()),
        };
        self.resolve_inputs(&mut tool.inputs, &place, references)
    }

    fn resolve_inputs(
        &self,
        inputs: &mut [Input],
        place: &Place,
        references: &[ListReference],
    ) -> Vec<Diagnostic> {
        let mut faults = Vec::new();
        for input in inputs {
            let Primitive::Enum(members) = &mut input.z.primitive else { continue };
            if members.iter().all(|member| matches!(member, Member::Value(_))) {
                continue;
            }
            let path = format!("{}.parameters[{}].z", place.path, input.parameter);
            let blocked = |code, message: String| {
                Diagnostic::error(code, path.clone(), message).at(place.span).blocking(place.blocks.clone())
            };
            match self.members(members, references) {
                Ok(resolved) => *members = resolved,
                Err(fault) => {
                    let finding = blocked(fault.code, fault.message);
                    faults.push(Diagnostic {
                        help: fault.meant.map(|name| format!("did you mean `{name}`?")),
                        ..finding
                    });
                    continue;
                }
            }
            if let Some(default) = &input.z.default
                && let Err(mismatch) = input.z.coerce(default)
            {
                faults.push(blocked(OWN_VALUE, format!("the default {mismatch}")));
            }
        }
        faults
    }

    fn members(&self, members: &[Member], references: &[ListReference]) -> Result<Vec<Member>, MemberFault> {
        let mut resolved: Vec<Member> = Vec::new();
        let mut seen: HashSet<Box<str>> = HashSet::new();
        let mut add = |value: Box<str>, resolved: &mut Vec<Member>| {
            if seen.insert(value.clone()) {
                resolved.push(Member::Value(value));
            }
        };
        for member in members {
            let (list, field) = match member {
                Member::Value(value) => {
                    add(value.clone(), &mut resolved);
                    continue;
                }
                Member::List { list, field } => (list, field),
            };
            let Some(known) = self.0.get(list) else {
                let message = format!("the shared list {list:?} does not exist (known: {})", self.known());
                let meant = nearest(list, self.0.keys().map(|name| &**name)).map(str::to_owned);
                return Err(MemberFault { code: UNKNOWN, message, meant });
            };
            let filter = references.iter().find(|reference| reference.name == *list);
            let filter = filter.and_then(|reference| reference.filter.as_ref());
            let values = known.values(field.as_deref(), filter).map_err(|fault| {
                let (code, meant) = match &fault {
                    ListFault::NeedsField { .. } => (FIELD, None),
                    ListFault::UnknownField { field, fields } => {
                        (FIELD, nearest(field, fields.iter().map(String::as_str)).map(str::to_owned))
                    }
                    ListFault::Empty => (UNKNOWN, None),
                };
                MemberFault {
                    code,
                    message: format!("the shared list {list:?} gives no values: {fault}"),
                    meant,
                }
            })?;
            values.into_iter().for_each(|value| add(value, &mut resolved));
        }
        Ok(resolved)
    }
}
