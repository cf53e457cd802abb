//! What rules look at: a document with its tools, parameters and other objects laid out, each with its place.

use std::fmt;

use flowmcp_spec::{Document, DocumentKind, Entry, HandlerFacts, Node, SourceFile, Span};

use crate::{Options, findings::Place, words::cut};

/// A document on the bench.
pub(crate) struct Subject<'d> {
    pub(crate) kind: DocumentKind,
    pub(crate) text: &'d str,
    pub(crate) code: &'d HandlerFacts,
    pub(crate) options: &'d Options,
    /// The data, as an object.
    pub(crate) root: Object<'d>,
    /// The `content` export of a skill or prompt that keeps its text apart.
    pub(crate) content: Option<&'d Node>,
    /// The members of `main.tools` (or of its old name `main.routes`) that are objects.
    pub(crate) tools: Vec<Object<'d>>,
    objects: Vec<(Kind, Object<'d>)>,
}

/// Kinds of object that have fields of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `main`.
    Main,
    /// A member of `main.sharedLists` that is an object.
    Reference,
    /// A member of `main.tools`.
    Tool,
    /// A member of a tool's `parameters`.
    Parameter,
    /// A parameter's `position`.
    Position,
    /// A parameter's `z`.
    Z,
    /// A tool's `output`.
    Output,
    /// A tool's `preload`.
    Preload,
    /// A member of `main.resources`.
    Resource,
    /// A member of a resource's `queries`.
    Query,
    /// A parameter's `position` in a query.
    QueryPosition,
    /// A parameter's `z` in a query.
    QueryZ,
    /// What `main.skills` says of one skill.
    SkillEntry,
    /// `prompt`, or a member of `main.prompts`.
    Prompt,
    /// `list`.
    List,
    /// `list.meta`.
    ListMeta,
    /// `skill`.
    Skill,
    /// `skill.requires`.
    Requires,
    /// A member of `skill.input`.
    SkillInput,
    /// `agent`, or the `main` of an older manifest.
    Agent,
    /// A member of an agent's `tests`.
    AgentTest,
}

/// Where an object is in the data, written out only for a finding: a file has hundreds of objects and few findings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Path<'d> {
    steps: [Step<'d>; MAX_STEPS],
    count: usize,
}

#[derive(Debug, Clone, Copy)]
enum Step<'d> {
    Key(&'d str),
    Index(usize),
}

/// The longest path is `main.resources.R.queries.Q.parameters[0].position`.
const MAX_STEPS: usize = 8;

impl<'d> Path<'d> {
    fn of(export: &'static str) -> Self {
        Path { steps: [Step::Key(export); MAX_STEPS], count: 1 }
    }

    fn key(self, key: &'d str) -> Self {
        self.then(Step::Key(key))
    }

    fn index(self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    fn then(mut self, step: Step<'d>) -> Self {
        if let Some(next) = self.steps.get_mut(self.count) {
            *next = step;
            self.count += 1;
        }
        self
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().take(self.count).enumerate() {
            match step {
                Step::Key(key) if at == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{}", cut(key))?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// An object in the data.
#[derive(Debug, Clone)]
pub(crate) struct Object<'d> {
    pub(crate) node: &'d Node,
    pub(crate) path: Path<'d>,
    /// Where to point when something is missing: the object's key, or its opening bracket.
    pub(crate) head: Span,
    /// The tool that it is or belongs to.
    pub(crate) tool: Option<&'d str>,
}

impl<'d> Object<'d> {
    fn new(node: &'d Node, path: Path<'d>, tool: Option<&'d str>) -> Self {
        let start = node.span.start;
        let head = if node.span == Span::default() { node.span } else { Span { start, end: start + 1 } };
        Object { node, path, head, tool }
    }

    /// The object itself.
    pub(crate) fn place(&self) -> Place<'d> {
        Place { path: self.path.to_string(), span: self.head, tool: self.tool }
    }

    /// The place of a field's value, or where it is missing.
    pub(crate) fn field(&self, key: &str) -> Place<'d> {
        let span = self.node.get(key).map_or(self.head, |node| node.span);
        Place { path: format!("{}.{}", self.path, cut(key)), span, tool: self.tool }
    }

    /// The place of a member of an array field.
    pub(crate) fn member(&self, key: &str, index: usize, node: &Node) -> Place<'d> {
        Place { path: format!("{}.{}[{index}]", self.path, cut(key)), span: node.span, tool: self.tool }
    }

    /// The place of a field's key.
    pub(crate) fn key(&self, key: &str) -> Place<'d> {
        let mut place = self.field(key);
        if let Some(entry) = self.node.entries().iter().find(|entry| &*entry.key == key) {
            place.span = entry.key_span;
        }
        place
    }

    /// The text of a field, if it has one.
    pub(crate) fn text(&self, key: &str) -> Option<&'d str> {
        self.node.get(key).and_then(Node::as_str)
    }

    /// The members of an array field.
    pub(crate) fn items(&self, key: &str) -> &'d [Node] {
        self.node.get(key).map(Node::items).unwrap_or_default()
    }

    /// The properties of an object field.
    pub(crate) fn entries(&self, key: &str) -> &'d [Entry] {
        self.node.get(key).map(Node::entries).unwrap_or_default()
    }

    /// The place of a property of an object field: its key.
    pub(crate) fn entry(&self, key: &str, entry: &Entry) -> Place<'d> {
        let path = format!("{}.{}.{}", self.path, cut(key), cut(&entry.key));
        Place { path, span: entry.key_span, tool: self.tool }
    }

    /// The properties of an object field that are objects themselves.
    fn children(&self, key: &'static str) -> impl Iterator<Item = Object<'d>> {
        let path = self.path.key(key);
        self.entries(key).iter().filter(|entry| entry.node.is_object()).map(move |entry| Object {
            head: entry.key_span,
            ..Object::new(&entry.node, path.key(&entry.key), None)
        })
    }

    fn child(&self, key: &'static str) -> Option<Object<'d>> {
        let node = self.node.get(key).filter(|node| node.is_object())?;
        Some(Object::new(node, self.path.key(key), self.tool))
    }
}

impl<'d> Subject<'d> {
    pub(crate) fn new(file: &'d SourceFile, document: &'d Document, options: &'d Options) -> Self {
        let root = Object::new(&document.root, Path::of(document.kind.export()), None);
        let mut subject = Subject {
            kind: document.kind,
            text: &file.text,
            code: &document.code,
            options,
            tools: Vec::new(),
            objects: Vec::new(),
            content: document.content.as_ref(),
            root,
        };
        match document.kind {
            DocumentKind::Schema => subject.lay_out_schema(),
            DocumentKind::List => {
                let list = subject.root.clone();
                subject.add_child(Kind::ListMeta, &list, "meta");
                subject.objects.push((Kind::List, list));
            }
            DocumentKind::Skill => {
                let skill = subject.root.clone();
                subject.add_child(Kind::Requires, &skill, "requires");
                subject.add_items(Kind::SkillInput, &skill, "input");
                subject.objects.push((Kind::Skill, skill));
            }
            DocumentKind::Agent => {
                let agent = subject.root.clone();
                subject.add_items(Kind::AgentTest, &agent, "tests");
                subject.objects.push((Kind::Agent, agent));
            }
            DocumentKind::Prompt if subject.root.node.is_object() => {
                let prompt = subject.root.clone();
                subject.objects.push((Kind::Prompt, prompt));
            }
            DocumentKind::Prompt | DocumentKind::Legacy => {}
        }
        subject
    }

    /// All objects of a kind, in the order of the file.
    pub(crate) fn objects(&self, kind: Kind) -> impl Iterator<Item = &Object<'d>> {
        self.objects.iter().filter(move |(found, _)| *found == kind).map(|(_, object)| object)
    }

    /// All objects with their kinds.
    pub(crate) fn all_objects(&self) -> impl Iterator<Item = &(Kind, Object<'d>)> {
        self.objects.iter()
    }

    /// The key that holds the tools.
    pub(crate) fn tools_key(&self) -> &'static str {
        let main = self.root.node;
        if main.get("tools").is_none() && main.get("routes").is_some() { "routes" } else { "tools" }
    }

    /// Whether a tool has its own way of sending requests; `None` when that cannot be told.
    pub(crate) fn executes(&self, tool: &str) -> Option<bool> {
        let Some(handlers) = &self.code.handlers else { return Some(false) };
        let tools = handlers.tools.as_ref()?;
        let Some(handled) = tools.iter().find(|handled| &*handled.name == tool) else { return Some(false) };
        let hooks = handled.hooks.as_ref()?;
        Some(hooks.iter().any(|(hook, _)| &**hook == "executeRequest"))
    }

    fn add_child(&mut self, kind: Kind, parent: &Object<'d>, key: &'static str) {
        if let Some(child) = parent.child(key) {
            self.objects.push((kind, child));
        }
    }

    /// The members of an array that are objects.
    fn add_items(&mut self, kind: Kind, parent: &Object<'d>, key: &'static str) {
        for (index, node) in parent.items(key).iter().enumerate().filter(|(_, node)| node.is_object()) {
            let path = parent.path.key(key).index(index);
            self.objects.push((kind, Object::new(node, path, parent.tool)));
        }
    }

    fn lay_out_schema(&mut self) {
        let main = self.root.clone();
        self.objects.push((Kind::Main, main.clone()));
        for (index, node) in
            main.node.get("sharedLists").map(Node::items).unwrap_or_default().iter().enumerate()
        {
            if node.is_object() {
                self.objects.push((
                    Kind::Reference,
                    Object::new(node, main.path.key("sharedLists").index(index), None),
                ));
            }
        }
        for resource in main.children("resources") {
            self.lay_out_resource(&resource);
            self.objects.push((Kind::Resource, resource));
        }
        for skill in main.children("skills") {
            self.objects.push((Kind::SkillEntry, skill));
        }
        self.add_items(Kind::SkillEntry, &main, "skills");
        for prompt in main.children("prompts") {
            self.objects.push((Kind::Prompt, prompt));
        }
        let key = self.tools_key();
        for entry in main.node.get(key).map(Node::entries).unwrap_or_default() {
            if !entry.node.is_object() {
                continue;
            }
            let path = main.path.key(key).key(&entry.key);
            let tool = Object { head: entry.key_span, ..Object::new(&entry.node, path, Some(&entry.key)) };
            self.lay_out_tool(&tool);
            self.tools.push(tool);
        }
    }

    fn lay_out_resource(&mut self, resource: &Object<'d>) {
        for query in resource.children("queries") {
            self.add_child(Kind::Output, &query, "output");
            for (index, node) in query.items("parameters").iter().enumerate() {
                let path = query.path.key("parameters").index(index);
                let parameter = Object::new(node, path, None);
                self.add_child(Kind::QueryPosition, &parameter, "position");
                self.add_child(Kind::QueryZ, &parameter, "z");
            }
            self.objects.push((Kind::Query, query));
        }
    }

    fn lay_out_tool(&mut self, tool: &Object<'d>) {
        self.objects.push((Kind::Tool, tool.clone()));
        self.add_child(Kind::Output, tool, "output");
        self.add_child(Kind::Preload, tool, "preload");
        for (index, node) in
            tool.node.get("parameters").map(Node::items).unwrap_or_default().iter().enumerate()
        {
            if !node.is_object() {
                continue;
            }
            let parameter = Object::new(node, tool.path.key("parameters").index(index), tool.tool);
            self.add_child(Kind::Position, &parameter, "position");
            self.add_child(Kind::Z, &parameter, "z");
            self.objects.push((Kind::Parameter, parameter));
        }
    }
}
