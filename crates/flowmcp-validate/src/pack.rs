//! A pack as a whole: what the files of it say of each other.

use std::collections::{HashMap, HashSet};

use flowmcp_spec::{Diagnostic, Document, DocumentKind, Node, SourceFile, read_json};

use crate::{
    Options, RULES, Rules,
    check::in_order,
    findings::Findings,
    rule::Check,
    rules::catalogue,
    subject::{Kind, Subject},
};

/// A pack's files, as whoever reads folders found them. Paths are inside the pack, with `/`.
#[derive(Debug, Default)]
pub struct Pack<'p> {
    /// Name of the folder, if the pack is one.
    pub name: Option<&'p str>,
    /// The files that were read.
    pub members: Vec<Member<'p>>,
    /// Its `registry.json`, which makes it a whole catalogue: what is not in it does not exist.
    pub registry: Option<&'p SourceFile>,
    /// Paths of all files, those of the members and of `registry.json` included.
    pub paths: Vec<&'p str>,
    /// Paths that links lead out of the pack.
    pub outside: Vec<&'p str>,
}

/// One file of a pack.
#[derive(Debug, Clone, Copy)]
pub struct Member<'p> {
    /// Path inside the pack.
    pub path: &'p str,
    /// Its text.
    pub file: &'p SourceFile,
    /// What reading it gave.
    pub document: &'p Document,
}

/// What the rules about a whole pack found.
#[derive(Debug, Default)]
pub struct PackFindings {
    /// Findings in each member, in the order of [`Pack::members`]; each list in the order of its file.
    pub members: Vec<Vec<Diagnostic>>,
    /// Findings in `registry.json`, or about its absence.
    pub registry: Vec<Diagnostic>,
}

/// Checks what only several files together can tell: names that one file takes from another, and `registry.json`.
pub fn check_pack(pack: &Pack<'_>, options: &Options) -> PackFindings {
    let mut found = PackFindings { members: vec![Vec::new(); pack.members.len()], registry: Vec::new() };
    if options.rules != Rules::All {
        return found;
    }
    let surroundings = Surroundings::of(pack, options);
    for rule in RULES {
        let (Check::Pack(run) | Check::AndPack(_, run)) = &rule.check else { continue };
        for (index, diagnostics) in found.members.iter_mut().enumerate() {
            let mut findings = Findings::of(rule);
            run(&surroundings, index, &mut findings);
            diagnostics.extend(findings.into_diagnostics());
        }
    }
    found.members.iter_mut().for_each(|diagnostics| in_order(diagnostics));
    let registry = pack.registry.map(read_json);
    for rule in RULES {
        let Check::Registry(run) = &rule.check else { continue };
        let mut findings = Findings::of(rule);
        match &registry {
            Some(Ok(node)) if node.is_object() => run(&surroundings, Some(node), &mut findings),
            Some(Ok(node)) => catalogue::not_an_object(node, &mut findings),
            Some(Err(_)) => continue,
            None => run(&surroundings, None, &mut findings),
        }
        found.registry.extend(findings.into_diagnostics());
    }
    if let Some(Err(fault)) = registry {
        found.registry.push(*fault);
    }
    in_order(&mut found.registry);
    found
}

/// A pack with what rules look up in it.
pub(crate) struct Surroundings<'p> {
    pub(crate) pack: &'p Pack<'p>,
    /// Of the members that refer to other files, or that others refer to by more than their names.
    subjects: Vec<Option<Subject<'p>>>,
    members: HashMap<&'p str, usize>,
    paths: HashSet<&'p str>,
    /// Schemas by namespace.
    namespaces: HashMap<&'p str, Vec<usize>>,
    /// Lists by name, the first of each.
    lists: HashMap<&'p str, usize>,
    /// Schemas and agents that name a skill's file, by the skill.
    owners: HashMap<usize, Vec<usize>>,
}

/// What a path in a file leads to.
pub(crate) enum Target {
    /// A member, by its index.
    Member(usize),
    /// A file that could not be read or is no module.
    Other,
    /// Nothing.
    Missing,
    /// A place outside the pack.
    Outside,
}

impl<'p> Surroundings<'p> {
    fn of(pack: &'p Pack<'p>, options: &'p Options) -> Self {
        let mut found = Surroundings {
            pack,
            subjects: Vec::with_capacity(pack.members.len()),
            members: HashMap::new(),
            paths: pack.paths.iter().copied().collect(),
            namespaces: HashMap::new(),
            lists: HashMap::new(),
            owners: HashMap::new(),
        };
        for (index, member) in pack.members.iter().enumerate() {
            let root = &member.document.root;
            found.members.insert(member.path, index);
            found.paths.insert(member.path);
            match member.document.kind {
                DocumentKind::Schema => {
                    let namespace = root.get("namespace").and_then(Node::as_str).unwrap_or_default();
                    found.namespaces.entry(namespace).or_default().push(index);
                }
                DocumentKind::List => {
                    let name = root.get("meta").and_then(|meta| meta.get("name")).and_then(Node::as_str);
                    found.lists.entry(name.unwrap_or_default()).or_insert(index);
                }
                _ => {}
            }
            // Most schemas name nothing outside themselves.
            let refers =
                ["skills", "prompts", "resources", "sharedLists"].iter().any(|key| root.get(key).is_some());
            let wanted = refers || member.document.kind != DocumentKind::Schema;
            found.subjects.push(wanted.then(|| Subject::new(member.file, member.document, options)));
        }
        for index in 0..pack.members.len() {
            for (path, _) in found.named_skills(index) {
                if let Target::Member(skill) = found.target(index, path) {
                    found.owners.entry(skill).or_default().push(index);
                }
            }
        }
        found
    }

    pub(crate) fn member(&self, index: usize) -> Option<&Member<'p>> {
        self.pack.members.get(index)
    }

    pub(crate) fn subject(&self, index: usize) -> Option<&Subject<'p>> {
        self.subjects.get(index)?.as_ref()
    }

    /// The subject of a member of one kind.
    pub(crate) fn of_kind(&self, index: usize, kind: DocumentKind) -> Option<&Subject<'p>> {
        self.subject(index).filter(|subject| subject.kind == kind)
    }

    pub(crate) fn kind(&self, index: usize) -> Option<DocumentKind> {
        self.member(index).map(|member| member.document.kind)
    }

    /// Whether what is not here does not exist.
    pub(crate) fn is_whole(&self) -> bool {
        self.pack.registry.is_some()
    }

    /// Paths of skill files that a schema or agent names, with the skills' names.
    fn named_skills(&self, index: usize) -> Vec<(&'p str, &'p str)> {
        let Some(subject) = self.subject(index) else { return Vec::new() };
        let root = &subject.root;
        let by_key = root.entries("skills").iter().map(|entry| (&entry.node, &*entry.key));
        let in_array =
            root.items("skills").iter().filter_map(|node| Some((node, node.get("name")?.as_str()?)));
        let with_file = |(node, name): (&'p Node, &'p str)| Some((node.get("file")?.as_str()?, name));
        by_key.chain(in_array).filter_map(with_file).collect()
    }

    /// Names of the skills of a schema or agent with their files.
    pub(crate) fn skills_of(&self, owner: usize) -> Vec<(&'p str, Target)> {
        self.named_skills(owner).into_iter().map(|(path, name)| (name, self.target(owner, path))).collect()
    }

    /// The schemas and agents that name a skill.
    pub(crate) fn owners(&self, skill: usize) -> &[usize] {
        self.owners.get(&skill).map(Vec::as_slice).unwrap_or_default()
    }

    /// What a relative path in a member leads to.
    pub(crate) fn target(&self, from: usize, path: &str) -> Target {
        let folder = self
            .member(from)
            .and_then(|member| member.path.rsplit_once('/'))
            .map_or("", |(folder, _)| folder);
        self.target_in(folder, path)
    }

    /// What a path leads to from a folder of the pack.
    pub(crate) fn target_in(&self, folder: &str, path: &str) -> Target {
        let Some(path) = joined(folder, path) else { return Target::Outside };
        if self
            .pack
            .outside
            .iter()
            .any(|link| path.strip_prefix(link).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        {
            return Target::Outside;
        }
        match self.members.get(&*path) {
            Some(index) => Target::Member(*index),
            None if self.paths.contains(&*path) => Target::Other,
            None => Target::Missing,
        }
    }

    /// A list by its name.
    pub(crate) fn list(&self, name: &str) -> Option<(usize, &'p Node)> {
        let index = *self.lists.get(name)?;
        Some((index, &self.pack.members.get(index)?.document.root))
    }

    pub(crate) fn list_names(&self) -> impl Iterator<Item = &'p str> {
        self.lists.keys().copied()
    }

    pub(crate) fn namespace_names(&self) -> impl Iterator<Item = &'p str> {
        self.namespaces.keys().copied()
    }

    /// Names of one type (`tool`) in a namespace; `None` when the pack has no such namespace.
    pub(crate) fn names(&self, namespace: &str, kind: &str) -> Option<Vec<&'p str>> {
        let mut names = Vec::new();
        let schemas = self.namespaces.get(namespace);
        for index in schemas.into_iter().flatten() {
            names.extend(self.names_of(*index, kind));
        }
        let mut known = schemas.is_some();
        for (index, member) in self.pack.members.iter().enumerate() {
            let owner =
                || member.document.root.get("namespace").or_else(|| member.document.root.get("agent"));
            match member.document.kind {
                // A prompt in a file of its own says whose it is.
                DocumentKind::Prompt
                    if kind == "prompt" && owner().and_then(Node::as_str) == Some(namespace) =>
                {
                    names.extend(member.document.root.get("name").and_then(Node::as_str));
                }
                DocumentKind::Agent
                    if member.document.root.get("name").and_then(Node::as_str) == Some(namespace) =>
                {
                    known = true;
                    names.extend(self.names_of(index, kind));
                }
                _ => {}
            }
        }
        known.then_some(names)
    }

    /// Names of one type (`tool`) that a schema or agent has itself.
    pub(crate) fn names_of(&self, index: usize, kind: &str) -> Vec<&'p str> {
        let Some(member) = self.pack.members.get(index) else { return Vec::new() };
        let root = &member.document.root;
        let keys = |key| root.get(key).map(Node::entries).unwrap_or_default().iter().map(|entry| &*entry.key);
        let mut names: Vec<&str> = match kind {
            "tool" => keys("tools").chain(keys("routes")).collect(),
            "resource" => keys("resources").collect(),
            "skill" => self.named_skills(index).into_iter().map(|(_, name)| name).collect(),
            "prompt" => keys("prompts").collect(),
            _ => Vec::new(),
        };
        if kind == "prompt" {
            // Skills are served as prompts, and an ID names them as such.
            names.extend(self.named_skills(index).into_iter().map(|(_, name)| name));
            let prompts = root.get("prompts").map(Node::entries).unwrap_or_default();
            names.extend(prompts.iter().filter_map(|entry| entry.node.get("name")?.as_str()));
        }
        names
    }

    /// The prompt objects of all members, with their members.
    pub(crate) fn prompts(&self) -> impl Iterator<Item = (usize, &crate::subject::Object<'p>)> {
        let subjects = self.subjects.iter().enumerate();
        subjects.flat_map(|(index, subject)| {
            subject
                .iter()
                .flat_map(move |subject| subject.objects(Kind::Prompt).map(move |prompt| (index, prompt)))
        })
    }
}

/// A path inside a pack; `None` when it leads out of it.
fn joined(folder: &str, path: &str) -> Option<String> {
    if path.starts_with(['/', '\\', '~']) || path.contains(':') {
        return None;
    }
    let mut steps: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
    for step in path.split(['/', '\\']) {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()?),
            step => steps.push(step),
        }
    }
    Some(steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_and_stay_inside() {
        for (folder, path, expected) in [
            ("providers/a", "./skills/x.mjs", Some("providers/a/skills/x.mjs")),
            ("providers/a", "../b/x.mjs", Some("providers/b/x.mjs")),
            ("", "x.mjs", Some("x.mjs")),
            ("a", "../../x.mjs", None),
            ("a", "/etc/passwd", None),
            ("a", "file:x.mjs", None),
        ] {
            assert_eq!(joined(folder, path).as_deref(), expected, "{folder} + {path}");
        }
    }
}
