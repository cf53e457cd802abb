//! Every rule has its page, and the page's examples do what they say.

use std::{collections::BTreeSet, path::Path};

use flowmcp_spec::{Diagnostic, Severity, SourceFile, read};
use flowmcp_validate::reference::{self, EXCEPTIONS};
use flowmcp_validate::{Member, Options, Pack, RULES, Rule, Stage, check_pack, explain, validate};

/// Words for what is around a block.
const FRAMES: [&str; 10] =
    ["main", "tool", "parameter", "resource", "query", "code", "skill", "prompt", "agent", "pack"];

/// One fenced block of a page.
struct Example<'p> {
    wrong: bool,
    words: Vec<&'p str>,
    body: String,
}

/// A complete schema around a fragment; the fragment comes last, and of a field given twice the last counts. The
/// fragment's first line is the second of the file.
fn framed(frame: Option<&str>, body: &str) -> String {
    const MAIN: &str = "namespace: 'demo', name: 'Demo', description: 'An example', version: '3.0.0', root: 'https://api.example.com',";
    const TOOL: &str = "method: 'GET', path: '/ping', description: 'Ping'";
    const RESOURCE: &str = "source: 'sqlite', mode: 'in-memory', origin: 'global', name: 'demo-places.db', description: 'Places',";
    const GET_SCHEMA: &str = "getSchema: { sql: 'SELECT name, sql FROM sqlite_master', description: 'The tables', parameters: [], \
        output: { mimeType: 'application/json', schema: { type: 'array' } }, tests: [ { _description: 'All' } ] }";
    const QUERY: &str = "sql: 'SELECT * FROM places WHERE id = ?', description: 'One place', \
        parameters: [ { position: { key: 'id', value: '{{USER_PARAM}}' }, z: { primitive: 'number()', options: [] } } ],";
    const SKILL: &str = "name: 'report', version: 'flowmcp-skill/1.0.0', description: 'A report', output: 'A report', content: 'Report.',";
    const PROMPT: &str = "name: 'about', version: 'flowmcp-prompt/1.0.0', namespace: 'demo', description: 'Overview', \
        dependsOn: [], references: [], content: 'Use the tools.',";
    const AGENT: &str = "name: 'traveller', description: 'Plans trips', version: 'flowmcp/3.0.0', model: 'acme/large-1', \
        systemPrompt: 'You plan trips.', tools: { 'demo/tool/ping': null }, tests: [ \
        { _description: 'Bus', input: 'A bus?', expectedTools: [ 'demo/tool/ping' ], expectedContent: [ 'bus' ] }, \
        { _description: 'Train', input: 'A train?', expectedTools: [ 'demo/tool/pong' ], expectedContent: [ 'train' ] }, \
        { _description: 'Tram', input: 'A tram?', expectedTools: [ 'demo/tool/ping' ], expectedContent: [ 'tram' ] } ],";
    let ping = format!("tools: {{ ping: {{ {TOOL}, parameters: [] }} }},");
    match frame {
        Some("main") => format!("export const main = {{ {MAIN} {ping}\n{body}\n}}"),
        Some("tool") => format!(
            "export const main = {{ {MAIN} tools: {{ ping: {{ {TOOL}, parameters: [],\n{body}\n}} }} }}"
        ),
        Some("parameter") => {
            format!(
                "export const main = {{ {MAIN} tools: {{ ping: {{ {TOOL}, parameters: [\n{body}\n] }} }} }}"
            )
        }
        Some("resource") => format!(
            "export const main = {{ {MAIN} {ping} resources: {{ places: {{ {RESOURCE} queries: {{ {GET_SCHEMA} }},\n{body}\n}} }} }}"
        ),
        Some("query") => format!(
            "export const main = {{ {MAIN} {ping} resources: {{ places: {{ {RESOURCE} queries: {{ {GET_SCHEMA}, find: {{ {QUERY}\n{body}\n}} }} }} }} }}"
        ),
        Some("skill") => format!("export const skill = {{ {SKILL}\n{body}\n}}"),
        Some("prompt") => format!("export const prompt = {{ {PROMPT}\n{body}\n}}"),
        Some("agent") => format!("export const agent = {{ {AGENT}\n{body}\n}}"),
        Some("code") => format!("export const main = {{ {MAIN} {ping} }}\n{body}"),
        _ => format!("\n{body}"),
    }
}

fn options(example: &Example<'_>) -> Options {
    let mut options = Options::default();
    for word in &example.words {
        match word.split_once('=') {
            Some(("accept", major)) => options.accept_versions.push(major.to_owned()),
            Some(("grants", grant)) => options.grants.push(grant.to_owned()),
            Some(("libraries", name)) => options.libraries.push(name.to_owned()),
            Some(("folder", _)) => {}
            Some(_) => panic!("unknown setting {word}"),
            None if *word == "allow-local" => options.allow_local = true,
            None => assert!(FRAMES.contains(word), "unknown word {word}"),
        }
    }
    options
}

/// What all steps up to the rules find in an example, with the lines of its body.
fn findings(example: &Example<'_>) -> Vec<(u32, Diagnostic)> {
    if example.words.first() == Some(&"pack") {
        return pack_findings(example);
    }
    let file = SourceFile::new("example.mjs", &framed(example.words.first().copied(), &example.body));
    let found = validate(&file, read(&file), &options(example)).diagnostics;
    found.into_iter().map(|finding| (line_in(&file, &finding), finding)).collect()
}

/// Line 1 is the frame's, so the body's first line is 1 from here.
fn line_in(file: &SourceFile, finding: &Diagnostic) -> u32 {
    finding.span.map_or(1, |span| file.line_column(span.start).0.max(2) - 1)
}

/// A file of a pack, as a part of an example.
struct Part {
    path: String,
    /// Line of the body that names it.
    line: u32,
    file: SourceFile,
}

/// The parts after lines `// file: PATH FRAME`, and the paths after lines `// link: PATH`.
fn parts(body: &str) -> (Vec<Part>, Vec<&str>) {
    let (mut parts, mut links) = (Vec::new(), Vec::new());
    let lines: Vec<&str> = body.lines().collect();
    let name = |line: &str| line.split(" // ^ ").next().unwrap_or_default().to_owned();
    for (index, line) in lines.iter().enumerate() {
        links.extend(line.strip_prefix("// link: "));
        let Some(named) = line.strip_prefix("// file: ").map(name) else { continue };
        let rest = lines.iter().skip(index + 1).take_while(|line| !line.starts_with("// "));
        let mut words = named.split_whitespace();
        let path = words.next().unwrap_or_default().to_owned();
        let text = match path.ends_with(".json") {
            true => rest.fold("\n".to_owned(), |text, line| text + &name(line) + "\n"),
            false => framed(words.next(), &rest.copied().collect::<Vec<_>>().join("\n")),
        };
        parts.push(Part { file: SourceFile::new(&*path, &text), path, line: index as u32 + 1 });
    }
    (parts, links)
}

fn pack_findings(example: &Example<'_>) -> Vec<(u32, Diagnostic)> {
    let (parts, links) = parts(&example.body);
    let options = options(example);
    let mut found = Vec::new();
    let mut documents = Vec::new();
    for part in parts.iter().filter(|part| part.path.ends_with(".mjs")) {
        let read = read(&part.file);
        documents.extend(read.document.clone().map(|document| (part, document)));
        let here = validate(&part.file, read, &options).diagnostics;
        found.extend(here.into_iter().map(|finding| (part.line + line_in(&part.file, &finding), finding)));
    }
    let member = |(part, document)| {
        let part: &Part = part;
        Member { path: &part.path, file: &part.file, document }
    };
    let registry = parts.iter().find(|part| part.path == "registry.json");
    let pack = Pack {
        name: example.words.iter().find_map(|word| word.strip_prefix("folder=")),
        members: documents.iter().map(|(part, document)| member((*part, document))).collect(),
        registry: registry.map(|part| &part.file),
        paths: parts.iter().map(|part| &*part.path).collect(),
        outside: links,
    };
    let across = check_pack(&pack, &options);
    for ((part, _), diagnostics) in documents.iter().zip(across.members) {
        found.extend(
            diagnostics.into_iter().map(|finding| (part.line + line_in(&part.file, &finding), finding)),
        );
    }
    for finding in across.registry {
        let line = registry.map_or(1, |part| part.line + line_in(&part.file, &finding));
        found.push((line, finding));
    }
    found
}

fn marks(example: &Example<'_>) -> BTreeSet<(u32, String)> {
    let mut marks = BTreeSet::new();
    for (index, line) in example.body.lines().enumerate() {
        for code in line.split_once("// ^ ").map(|(_, codes)| codes.split_whitespace()).into_iter().flatten()
        {
            marks.insert((index as u32 + 1, code.to_owned()));
        }
    }
    marks
}

fn examples(page: &str) -> Vec<Example<'_>> {
    let mut examples = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let mut words = info.split_whitespace();
        assert_eq!(words.next(), Some("js"), "{line}");
        let wrong = match words.next() {
            Some("wrong") => true,
            Some("right") => false,
            other => panic!("{line}: {other:?} is neither wrong nor right"),
        };
        examples.push(Example { wrong, words: words.collect(), body: body.join("\n") });
    }
    examples
}

fn problems(rule: &Rule) -> Vec<String> {
    let code = rule.code.0;
    let mut problems = Vec::new();
    let examples = examples(rule.page);
    for kind in [true, false] {
        if !examples.iter().any(|example| example.wrong == kind) {
            problems.push(format!("{code}: has no {} example", if kind { "wrong" } else { "right" }));
        }
    }
    for example in &examples {
        let findings = findings(example);
        let matter = |finding: &Diagnostic| finding.code.0 == code || finding.severity == Severity::Error;
        let found: BTreeSet<(u32, String)> = findings
            .iter()
            .filter(|(_, finding)| matter(finding))
            .map(|(line, finding)| (*line, finding.code.0.to_owned()))
            .collect();
        let marks = marks(example);
        if example.wrong && !marks.iter().any(|(_, marked)| marked == code) {
            problems.push(format!("{code}: a wrong example does not mark its code:\n{}", example.body));
        }
        if found != marks {
            let all: Vec<String> = findings
                .iter()
                .map(|(line, finding)| format!("{line}: {} {finding}", finding.code))
                .collect();
            problems.push(format!(
                "{code}: marked {marks:?}, found {found:?}\n{}\n  {}",
                example.body,
                all.join("\n  ")
            ));
        }
    }
    problems
}

#[test]
fn examples_trigger_exactly_what_they_mark() {
    // What the engine reports is tried in its own tests, with the list that the pages speak of, and in the server's.
    let here = RULES.iter().filter(|rule| ![Stage::Activation, Stage::Running].contains(&rule.emitted_by()));
    let problems: Vec<String> = here.flat_map(problems).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn every_rule_has_a_page_and_every_page_a_rule() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let files: BTreeSet<String> = std::fs::read_dir(pages)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().replace(".md", ""))
        .collect();
    let codes: BTreeSet<String> = RULES.iter().map(|rule| rule.code.0.to_owned()).collect();
    assert_eq!(codes, files);
    assert_eq!(codes.len(), RULES.len(), "a code is used twice");
    for rule in RULES {
        let code = rule.code.0;
        assert!(rule.page.starts_with(&format!("# {code}: {}\n", rule.title())), "{code}: heading");
        assert!(!rule.title().is_empty() && !rule.title().ends_with('.'), "{code}: title");
        assert!(rule.page.ends_with("```\n"), "{code}: ends with an example");
        assert_eq!(explain(&code.to_lowercase()), Some(rule.page));
    }
}

#[test]
fn every_code_of_the_specification_is_covered_or_explained() {
    let exception = |code: &str| EXCEPTIONS.iter().find(|exception| exception.code == code);
    for code in reference::codes() {
        let is_rule = RULES.iter().any(|rule| rule.code.0 == code);
        assert!(
            is_rule != exception(&code).is_some(),
            "{code}: must be a rule or an exception, and not both"
        );
    }
    for exception in EXCEPTIONS {
        assert!(reference::codes().any(|code| code == exception.code), "{}: no code", exception.code);
        assert!(!exception.note.is_empty());
        if let Some(code) = exception.rule {
            let page = explain(exception.code).expect("it leads to a page");
            assert!(page.starts_with(&format!("# {code}: ")), "{}: {page}", exception.code);
        }
    }
}
