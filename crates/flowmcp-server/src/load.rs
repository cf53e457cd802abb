//! From packs on disk to a catalogue: read, check, activate, in parallel; then names and keys, in order.

mod outline;

use std::{
    collections::{BTreeMap, HashSet},
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use flowmcp_engine::{
    ActiveTool, Entry, Factory, Hidden, Lists, PackPolicy, Snapshot, activate_with, names,
    params::ServerParams, program,
};
use flowmcp_plugin::{NetworkAccess, SandboxSettings};
use flowmcp_spec::{
    Blocks, Diagnostic, Document, DocumentKind, Read, Severity, SourceFile, lower_list, read_all,
    schema::Test,
};
use flowmcp_validate::{Options, Rules, check, validate_read};

use crate::{
    across,
    config::Integrity,
    lock::Guard,
    packs::{PackFiles, discover},
};
use outline::Outline;

/// One pack to load.
#[derive(Debug, Clone)]
pub struct PackSource {
    /// File or folder.
    pub path: PathBuf,
    /// What it may do.
    pub policy: PackPolicy,
    /// What its handlers may do and use.
    pub sandbox: SandboxSettings,
    /// Versions accepted besides 3.
    pub accept_versions: Vec<String>,
    /// Bytes of a schema or list file.
    pub file_bytes: usize,
    /// What a difference from its lock file does.
    pub integrity: Integrity,
}

/// Everything that loading gave.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Tools in catalogue order, hidden ones included.
    pub tools: Vec<ActiveTool>,
    /// Tools that cannot be served.
    pub refused: Vec<RefusedTool>,
    /// Files with findings, and the findings.
    pub files: Vec<FileReport>,
    /// What is wrong outside files: packs that cannot be read, names that had to be changed.
    pub warnings: Vec<String>,
    /// Embedded tests by tool, only where they were asked for.
    pub tests: Vec<ToolTests>,
    /// Factories of handlers, each with the index of its file in [`Catalogue::files`]; only where they were asked for.
    pub factories: Vec<(usize, Factory)>,
    /// How many there are of what.
    pub counts: Counts,
}

/// How many files there are of each kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Packs.
    pub packs: usize,
    /// Schema files.
    pub schemas: usize,
    /// Shared lists.
    pub lists: usize,
    /// Skill, prompt and agent files, which this version does not serve.
    pub others: usize,
    /// Files that are not served at all.
    pub broken: usize,
}

/// A tool that cannot be served.
#[derive(Debug, Clone)]
pub struct RefusedTool {
    /// Provider, as far as it is known.
    pub namespace: String,
    /// Name of the schema.
    pub schema: String,
    /// Key in the schema.
    pub key: String,
    /// Description, as far as it is known.
    pub description: String,
    /// Path inside the pack.
    pub file: Arc<str>,
    /// The finding that keeps it from being served.
    pub reason: String,
}

/// Findings about one file.
#[derive(Debug, Clone)]
pub struct FileReport {
    /// Path inside the pack.
    pub path: Arc<str>,
    /// Its text, where it could be read.
    pub source: Option<SourceFile>,
    /// Why it could not be read.
    pub unreadable: Option<String>,
    /// Findings in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// The embedded tests of one tool.
#[derive(Debug, Clone)]
pub struct ToolTests {
    /// Index in [`Catalogue::tools`], or why there is no such tool.
    pub tool: Result<usize, String>,
    /// Name for people: `namespace__tool`.
    pub name: String,
    /// Path inside the pack.
    pub file: Arc<str>,
    /// The tests.
    pub tests: Vec<Test>,
}

/// What a command needs besides the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Nothing, and only rules that decide what is served are checked.
    #[default]
    ToolsOnly,
    /// All findings.
    Findings,
    /// The embedded tests.
    Tests,
    /// All findings, and the text of every file for showing them.
    Texts,
    /// The same, and the factories of handlers for running them.
    Factories,
}

impl Keep {
    /// Whether the text of every file is kept.
    fn texts(self) -> bool {
        matches!(self, Keep::Texts | Keep::Factories)
    }
}

impl FileReport {
    /// Whether the file has errors.
    pub fn has_errors(&self) -> bool {
        self.unreadable.is_some()
            || self.diagnostics.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// The first finding that keeps something from being served.
    pub fn first_blocking(&self) -> Option<&Diagnostic> {
        self.diagnostics.iter().find(|finding| finding.blocks != Blocks::Nothing)
    }
}

/// Loads packs. Keys are bound to domains and names are given in the order of packs and paths.
pub fn load(packs: &[PackSource], params: &mut ServerParams, keep: Keep) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let mut seen = HashSet::new();
    for pack in packs {
        let start = Instant::now();
        // Twice the same tools under longer names would only confuse.
        if let Ok(path) = pack.path.canonicalize()
            && !seen.insert(path)
        {
            catalogue.warnings.push(format!("pack {}: is named twice and counts once", pack.path.display()));
            continue;
        }
        match discover(&pack.path) {
            Ok(files) => {
                catalogue.counts.packs += 1;
                let discovered = start.elapsed();
                // A fault begins with its path inside the pack.
                catalogue.warnings.extend(files.faults.iter().map(|fault| {
                    if keep.texts() { files.base.join(fault).display().to_string() } else { fault.clone() }
                }));
                load_pack(pack, &files, keep, &mut catalogue);
                let name = &pack.policy.name;
                tracing::debug!(
                    "pack {name}: found its files in {discovered:?}, loaded after {:?}",
                    start.elapsed()
                );
            }
            Err(error) => {
                catalogue.warnings.push(format!("pack {}: cannot be read: {error}", pack.path.display()));
            }
        }
    }
    let loaded = Instant::now();
    catalogue.warnings.extend(names::assign(&mut catalogue.tools));
    for tool in &mut catalogue.tools {
        tool.hide_without_params(params);
    }
    tracing::debug!("named and bound {} tools in {:?}", catalogue.tools.len(), loaded.elapsed());
    catalogue
}

impl Catalogue {
    /// Takes the tools into a snapshot.
    pub fn snapshot(&mut self) -> Snapshot {
        Snapshot::new(
            std::mem::take(&mut self.tools).into_iter().map(|tool| Entry::Tool(Arc::new(tool))).collect(),
        )
    }

    /// Errors and warnings over all files.
    pub fn findings(&self) -> (usize, usize) {
        let all = || self.files.iter().flat_map(|file| &file.diagnostics);
        let unreadable = self.files.iter().filter(|file| file.unreadable.is_some()).count();
        let count = |severity| all().filter(|finding| finding.severity == severity).count();
        (count(Severity::Error) + unreadable, count(Severity::Warning))
    }

    /// How many tools are hidden, by the kind of reason, refused ones included.
    pub fn hidden(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for tool in &self.tools {
            if let Some(hidden) = &tool.hidden {
                *counts.entry(kind(hidden)).or_default() += 1;
            }
        }
        if !self.refused.is_empty() {
            counts.insert("refused", self.refused.len());
        }
        counts
    }
}

fn kind(hidden: &Hidden) -> &'static str {
    match hidden {
        Hidden::NeedsSandbox => "need the handler sandbox",
        Hidden::QueryHandlers => "need handlers of resources",
        Hidden::MissingParams { .. } => "lack a server parameter",
        Hidden::Bound(_) => "have a key of another domain",
        Hidden::NoRoot => "have no web address",
    }
}

/// How many threads read files.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}

fn load_pack(pack: &PackSource, files: &PackFiles, keep: Keep, catalogue: &mut Catalogue) {
    let options = Options {
        accept_versions: pack.accept_versions.clone(),
        allow_local: pack.policy.network == NetworkAccess::Local,
        grants: pack.policy.grants.clone(),
        libraries: Vec::new(),
        rules: match keep {
            Keep::ToolsOnly | Keep::Tests => Rules::Blocking,
            Keep::Findings | Keep::Texts | Keep::Factories => Rules::All,
        },
    };
    // Kept only where the pack is looked at as a whole.
    let mut kept: Vec<(SourceFile, Document)> = Vec::new();
    let lists = load_lists(pack, files, &options, (keep, &mut kept), catalogue);
    let guard = Guard::of(&pack.path, pack.integrity, &lists);
    catalogue.warnings.extend(guard.iter().flat_map(|guard| guard.notes(&files.files)));
    let policy = Arc::new(pack.policy.clone());
    let sources = readable(files, &files.files, pack, keep, catalogue);
    let loaded = read_all(&sources, threads(), |index, read| {
        let file = sources.get(index)?;
        let objection = guard.as_ref().and_then(|guard| guard.objection(file, &read));
        let mut loaded = load_file(file, read, &options, &lists, (&policy, pack.sandbox), keep);
        if let Some(objection) = &objection
            && guard.as_ref().is_some_and(Guard::hides)
        {
            loaded.refuse_all(objection);
        }
        Some((loaded, objection))
    });
    for (source, file) in sources.into_iter().zip(loaded) {
        let Some((file, objection)) = file else { continue };
        // Without any lock the one note about that is enough.
        if let Some(objection) = objection.filter(|_| guard.as_ref().is_some_and(Guard::is_locked)) {
            catalogue.warnings.push(format!("{}: {objection}", source.path));
        }
        match file.kind {
            Some(DocumentKind::Schema | DocumentKind::Legacy) | None => catalogue.counts.schemas += 1,
            Some(DocumentKind::List) => catalogue.counts.lists += 1,
            Some(DocumentKind::Skill | DocumentKind::Prompt | DocumentKind::Agent) => {
                catalogue.counts.others += 1
            }
        }
        if file.diagnostics.iter().any(|finding| finding.blocks == Blocks::File) {
            catalogue.counts.broken += 1;
        }
        let first = catalogue.tools.len();
        catalogue.tests.extend(file.tests.into_iter().map(|(key, tests)| {
            ToolTests {
                tool: match file.tools.iter().position(|tool| *tool.key == *key) {
                    Some(index) => Ok(first + index),
                    None => Err(file
                        .refused
                        .iter()
                        .find(|tool| *tool.key == *key)
                        .map_or_else(String::new, |tool| tool.reason.clone())),
                },
                name: format!("{}__{key}", file.namespace),
                file: source.path.clone(),
                tests,
            }
        }));
        catalogue.tools.extend(file.tools);
        catalogue.refused.extend(file.refused);
        catalogue.factories.extend(file.factory.map(|factory| (catalogue.files.len(), factory)));
        kept.extend(file.document.map(|document| (source.clone(), document)));
        report(source, file.diagnostics, keep, catalogue);
    }
    if keep.texts() {
        across::check(pack, files, &kept, &options, catalogue);
    }
}

fn report(source: SourceFile, diagnostics: Vec<Diagnostic>, keep: Keep, catalogue: &mut Catalogue) {
    if diagnostics.is_empty() && !keep.texts() {
        return;
    }
    let blocks = diagnostics.iter().any(|finding| finding.blocks != Blocks::Nothing);
    let path = source.path.clone();
    let source = (keep.texts() || blocks).then_some(source);
    catalogue.files.push(FileReport { path, source, unreadable: None, diagnostics });
}

/// The files that could be opened; the others are reported.
fn readable(
    files: &PackFiles,
    paths: &[String],
    pack: &PackSource,
    keep: Keep,
    catalogue: &mut Catalogue,
) -> Vec<SourceFile> {
    // Who asked about files by their paths finds them again by these paths.
    let shown = |path: &str| {
        if keep.texts() { files.base.join(path).display().to_string() } else { path.to_owned() }
    };
    let mut sources = Vec::with_capacity(paths.len());
    for (result, path) in files.open(paths, shown, pack.file_bytes).into_iter().zip(paths) {
        match result {
            Ok(source) => sources.push(source),
            Err(error) => {
                catalogue.counts.broken += 1;
                catalogue.files.push(FileReport {
                    path: shown(path).into(),
                    source: None,
                    unreadable: Some(error.to_string()),
                    diagnostics: Vec::new(),
                });
            }
        }
    }
    sources
}

fn load_lists(
    pack: &PackSource,
    files: &PackFiles,
    options: &Options,
    (keep, kept): (Keep, &mut Vec<(SourceFile, Document)>),
    catalogue: &mut Catalogue,
) -> Lists {
    let mut lists = Lists::default();
    let sources = readable(files, &files.lists, pack, keep, catalogue);
    let read = read_all(&sources, threads(), |_, read| read);
    for (source, read) in sources.into_iter().zip(read) {
        let mut diagnostics = read.diagnostics;
        if let Some(document) = read.document {
            diagnostics.extend(check(&source, &document, options));
            match lower_list(&document) {
                Ok(list) => {
                    catalogue.counts.lists += 1;
                    let name = list.name.clone();
                    if let Err(first) = lists.add(list)
                        && !keep.texts()
                    {
                        let message = format!(
                            "{}: the list {:?} exists already (version {})",
                            source.path,
                            name,
                            first.version.as_deref().unwrap_or("none")
                        );
                        catalogue.warnings.push(message);
                    }
                }
                Err(finding) => {
                    if !diagnostics.iter().any(|known| known.code == finding.code) {
                        diagnostics.push(*finding);
                    }
                }
            }
            if keep.texts() {
                kept.push((source.clone(), document));
            }
        }
        // Each pack of a catalogue reads the catalogue's lists, and one report of what is wrong with them is enough.
        let known = || catalogue.files.iter().any(|file| file.path == source.path);
        if files.has_lists_of_catalogue() && (diagnostics.is_empty() || known()) {
            continue;
        }
        report(source, diagnostics, keep, catalogue);
    }
    // `validate` reports them in the lists themselves.
    if !keep.texts() || files.folder.is_none() {
        catalogue.warnings.extend(lists.faults());
    }
    lists
}

/// What one file came to.
struct LoadedFile {
    kind: Option<DocumentKind>,
    namespace: String,
    tools: Vec<ActiveTool>,
    refused: Vec<RefusedTool>,
    diagnostics: Vec<Diagnostic>,
    tests: Vec<(Box<str>, Vec<Test>)>,
    factory: Option<Factory>,
    /// Where the pack is looked at as a whole.
    document: Option<Document>,
}

impl LoadedFile {
    fn refuse_all(&mut self, reason: &str) {
        self.refused.extend(self.tools.drain(..).map(|tool| RefusedTool {
            namespace: tool.namespace.to_string(),
            schema: tool.schema.to_string(),
            key: tool.key.to_string(),
            description: tool.description.to_string(),
            file: tool.file.clone(),
            reason: reason.to_owned(),
        }));
    }
}

fn load_file(
    file: &SourceFile,
    read: Read,
    options: &Options,
    lists: &Lists,
    (policy, sandbox): (&Arc<PackPolicy>, SandboxSettings),
    keep: Keep,
) -> LoadedFile {
    let kind = read.document.as_ref().map(|document| document.kind);
    let outline = Outline::of(read.document.as_ref());
    let tests = if keep == Keep::Tests { outline.tests(read.document.as_ref()) } else { Vec::new() };
    let descriptions = outline.descriptions(read.document.as_ref());
    let mut validated = validate_read(file, &read, options);
    let mut refused: Vec<RefusedTool> = Vec::new();
    let mut refuse = |key: &str, finding: Option<&Diagnostic>| {
        let reason =
            finding.map_or_else(|| "is refused".to_owned(), |finding| format!("{}: {finding}", finding.code));
        let described = descriptions.iter().find(|(known, _)| **known == *key);
        refused.push(RefusedTool {
            namespace: outline.namespace.clone(),
            schema: outline.schema.clone(),
            key: key.to_owned(),
            description: described.map(|(_, text)| text.to_string()).unwrap_or_default(),
            file: file.path.clone(),
            reason,
        });
    };
    for key in &validated.refused {
        refuse(key, validated.tool_blocked(key));
    }
    let mut tools = Vec::new();
    let mut factory = None;
    if let Some(mut schema) = validated.value.take() {
        let before: Vec<Box<str>> = schema.tools.iter().map(|tool| tool.name.clone()).collect();
        let faults = lists.resolve(&mut schema);
        for key in before.iter().filter(|key| !schema.tools.iter().any(|tool| tool.name == **key)) {
            let blocks = |finding: &&Diagnostic| matches!(&finding.blocks, Blocks::Tool(tool) if tool == key);
            refuse(key, faults.iter().find(blocks));
        }
        validated.diagnostics.extend(faults);
        factory =
            read.document.as_ref().filter(|_| keep == Keep::Factories).and_then(|document| {
                Factory::of(document, &schema, &file.text, lists, &policy.name, sandbox)
            });
        let program = program(&schema, &file.text, lists, &policy.name, sandbox);
        tools = activate_with(schema, policy, program);
    }
    LoadedFile {
        kind,
        namespace: outline.namespace,
        tools,
        refused,
        diagnostics: validated.diagnostics,
        tests,
        factory,
        document: read.document.filter(|_| keep.texts()),
    }
}
