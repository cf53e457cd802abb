//! Files before and after, and what is refused.

use proptest::prelude::*;

use crate::{Migration, MigrationOutcome, SourceFile, migrate, read};

const FIXTURES: [(&str, &str); 4] = [
    ("harbour", include_str!("fixtures/harbour.mjs")),
    ("inline", include_str!("fixtures/inline.mjs")),
    ("libraries", include_str!("fixtures/libraries.mjs")),
    ("second", include_str!("fixtures/second.mjs")),
];

fn migrated(text: &str) -> Migration {
    migrate(&SourceFile::new("old.mjs", text))
}

/// The new text of a file that can be converted.
#[track_caller]
fn converted(text: &str) -> String {
    let migration = migrated(text);
    match migration.outcome {
        MigrationOutcome::Converted { text, .. } => text,
        other => panic!("{other:?}: {:?}", migration.findings),
    }
}

/// Findings with the lines that they are at.
fn findings(text: &str) -> Vec<String> {
    let file = SourceFile::new("old.mjs", text);
    let place = |finding: &crate::Diagnostic| finding.span.map_or(0, |span| file.line_column(span.start).0);
    let found = migrate(&file).findings;
    found
        .iter()
        .map(|finding| format!("{} {} {finding}", place(finding), finding.severity.as_str()))
        .collect()
}

#[test]
fn files_before_and_after() {
    for (name, text) in FIXTURES {
        let after = format!("{}\n---\n{}", converted(text), findings(text).join("\n"));
        insta::assert_snapshot!(name, after);
    }
}

#[test]
fn migrating_again_changes_nothing() {
    for (name, text) in FIXTURES {
        assert_eq!(migrated(&converted(text)).outcome, MigrationOutcome::Unchanged, "{name}");
    }
}

#[test]
fn line_breaks_stay_as_they_are() {
    for (name, text) in FIXTURES {
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(converted(&crlf), converted(text).replace('\n', "\r\n"), "{name}");
    }
}

#[test]
fn tests_and_comments_are_kept() {
    for (name, text) in FIXTURES {
        let after = converted(text);
        for line in text.lines() {
            let comment = line.find("// ").map(|at| &line[at..]);
            let test = line.find("_description").map(|at| line[at..].trim_end_matches([' ', ']', '}', ',']));
            for kept in comment.into_iter().chain(test.filter(|test| !test.contains("modifiers"))) {
                assert!(after.contains(kept.trim()), "{name}: {kept}");
            }
        }
    }
}

#[test]
fn what_is_no_older_schema_is_left_alone() {
    for text in [
        "export const main = { namespace: 'a', version: '3.0.0', routes: {} }",
        "export const main = { namespace: 'a', version: '4.0.0', tools: {} }",
        "export const main = { namespace: 'a', tools: {} }",
        "export const main = { name: 'an-agent', version: '2.0.0', systemPrompt: 'You are.' }",
        "export const main = 2",
        "export const list = { meta: { name: 'a', version: '1.0.0' }, entries: [] }",
        "export const content = 'text'",
        "export default { flowMCP: '1.2.0' }",
        "const a = 1\nexport { a }",
        "",
    ] {
        let migration = migrated(text);
        assert_eq!((migration.outcome, migration.findings), (MigrationOutcome::Unchanged, vec![]), "{text}");
    }
}

/// A schema of format 1.2 with one tool `t`: further properties of it, of the schema, and code around it.
fn schema(tool: &str, more: &str, code: &str) -> String {
    format!(
        "{code}export const schema = {{ namespace: 'a', name: 'A', flowMCP: '1.2.0', root: 'https://a.example',\n\
         routes: {{ t: {{ requestMethod: 'GET', route: '/', description: 'D', parameters: [], tests: [],\n\
         {tool} }} }},\n{more} }}"
    )
}

#[test]
fn what_cannot_be_carried_over_is_refused_with_its_place() {
    let handler = "handlers: { h: async ( { struct, payload } ) => ( { struct, payload } ) }";
    let call = "modifiers: [ { phase: 'post', handlerName: 'h' } ]";
    let cases = [
        (
            schema("modifiers: [ { phase: 'between', handlerName: 'h' } ]", handler, ""),
            r#"3 error schema.routes.t.modifiers[0].phase: must be pre, execute or post (found "between")"#,
        ),
        (
            schema("modifiers: [ { phase: 'pre' } ]", handler, ""),
            "3 error schema.routes.t.modifiers[0].handlerName: must name a handler",
        ),
        (
            schema("modifiers: 'none'", handler, ""),
            r#"3 error schema.routes.t.modifiers: must be an array (found "none")"#,
        ),
        (
            schema(call, "handlers: {}", ""),
            "3 error schema.handlers.h: is not there, and the tool t calls it",
        ),
        (schema(call, "", ""), "3 error schema.handlers.h: is not there, and the tool t calls it"),
        (
            schema(call, "handlers: { ...more, h: () => {} }", "const more = make()\n"),
            "5 error schema.handlers: has properties that are calculated",
        ),
        (
            schema(call, "handlers: { get h() { return 1 } }", ""),
            "4 error schema.handlers.h: is a getter or setter",
        ),
        (
            schema(call, "handlers: make()", ""),
            "4 error schema.handlers: is not an object that is written out",
        ),
        (
            schema(
                call,
                handler,
                "import { chains } from '../_shared/chains.mjs'\nconst names = chains.map( String )\n",
            ),
            r#"1 error file: imports the helper module "../_shared/chains.mjs""#,
        ),
        (
            schema(call, handler, "import { Wallet } from 'wallets'\nconst wallet = new Wallet()\n"),
            r#"1 error file: imports the package "wallets" for code outside the handlers"#,
        ),
        (
            schema(call, handler, "import 'polyfill'\n"),
            r#"1 error file: imports the package "polyfill" for code outside the handlers"#,
        ),
        (
            schema(call, "handlers: { h: async () => import( 'feeds' ) }", ""),
            "4 error file: imports a module while it runs",
        ),
        (
            schema(call, handler, "export * from './other.mjs'\n"),
            "1 error file: exports what another module has",
        ),
        (
            schema("output: { mimeType: choose() }", handler, ""),
            "3 error schema.routes.t.output.mimeType: calls a function",
        ),
        (schema("", "tags: [ 'a', new Date() ]", ""), "4 error schema.tags[1]: is not a literal value"),
        (schema("", "tools: {}", ""), "2 error schema.routes: stands beside schema.tools"),
        (
            schema("", "", "").replace("1.2.0", "7.0"),
            r#"1 error schema.flowMCP: is not a version that can be converted (found "7.0")"#,
        ),
        (
            schema("", "", "").replace("route: '/'", "route: 'x'"),
            r#"2 error schema.routes: does not begin with a slash (found "x"), and in format 3 it must"#,
        ),
        (
            schema(call, "handlers: { h: async () => schema.routes }", ""),
            "4 error file: reads the schema from code",
        ),
        (
            schema("path: '/a', method: 'GET'", "", ""),
            "2 error schema.routes.t.requestMethod: stands beside method, which is its name in format 3",
        ),
        (
            schema(
                call,
                "handlers: { h: ( { struct, payload } ) => ( { struct: sign( struct ), payload } ) }",
                "import sign from 'signing'\nconst libraries = 1\n",
            ),
            "2 error file: is a name of format 3, and this file has it for something else",
        ),
        (
            "const tools = { t: { requestMethod: 'GET', route: '/' } }\n\
             export const schema = { flowMCP: '1.2.0', tools }\nconst paths = tools.t.route"
                .into(),
            "3 error file: uses `tools`, whose fields have other names in format 3",
        ),
        (
            schema("", "", "const main = 1\n"),
            "1 error file: has another `main`, and the schema is to be called so",
        ),
        (
            schema(call, handler, "export const handlers = 1\n"),
            "1 error file: has another `handlers`, and the export of format 3 is called so",
        ),
        ("export const schema = make()".into(), "1 error schema: is not an object that is written out"),
        ("export const schema = {}".into(), "1 error schema: has neither routes nor tools"),
        (
            "export const main = { version: '2.0.0', tools: {}, routes: {} }".into(),
            "1 error main.routes: stands beside main.tools, and a schema has one of them",
        ),
        ("export const schema = {".into(), "1 error file: is not valid JavaScript: Expected `}`"),
        (format!("export const schema = {}", "[".repeat(100_000)), "1 error file: nests brackets too deeply"),
    ];
    for (text, expected) in cases {
        let migration = migrated(&text);
        assert_eq!(migration.outcome, MigrationOutcome::Refused, "{text}");
        let found = findings(&text);
        assert!(found.iter().any(|found| found.starts_with(expected)), "{found:#?}\n{expected}");
    }
}

#[test]
fn names_in_the_factory_mean_nothing_else() {
    let code = "const run = ( x ) => x\nconst sharedLists = 1\n";
    let text = schema(
        "modifiers: [ { phase: 'pre', handlerName: 'fetch' }, { phase: 'pre', handlerName: 'delete' }, { phase: 'pre', handlerName: 'a-b' } ]",
        "handlers: { fetch: async ( { struct, payload } ) => { await fetch( run( sharedLists ) ); return { struct, payload } }, \
         delete: async () => ( {} ), 'a-b': ( x ) => x }",
        code,
    );
    let after = converted(&text);
    assert!(after.contains("export const handlers = () => {"), "{after}");
    assert!(after.contains("preRequest: before( 't', fetchHandler, deleteHandler, a_b )"), "{after}");
    assert!(after.contains("const runHandlers = async"), "{after}");
}

#[test]
fn fixed_values_that_a_handler_will_miss_are_named() {
    let tool = "modifiers: [ { phase: 'execute', handlerName: 'h' } ]";
    let text = schema(tool, "handlers: { h: async ( { userParams } ) => userParams._allParams.pages }", "")
        .replace(
            "parameters: []",
            "parameters: [ { position: { key: 'pages', value: '5', location: 'query' } } ]",
        );
    let expected = "4 warning schema.handlers.h: reads `_allParams`, which has the caller's arguments alone in format 3: \
                    it lacks pages";
    assert_eq!(findings(&text), [expected]);
}

#[test]
fn a_version_of_its_own_goes_with_a_word() {
    let text = "export const schema = { name: 'A', version: '0.3.0', flowMCP: '1.0.0', tools: {} }";
    assert_eq!(converted(text), "export const main = { name: 'A', version: '3.0.0', tools: {} }");
    let expected = [
        "1 warning schema: has no namespace, which format 3 asks for: add one",
        "1 warning schema.version: was '0.3.0' and is gone: format 3 has one version, that of the format",
    ];
    assert_eq!(findings(text), expected);
}

#[test]
fn a_file_cut_off_anywhere_is_handled() {
    for (_, text) in FIXTURES {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)).step_by(31) {
            let migration = migrated(&text[..end]);
            if migration.outcome == MigrationOutcome::Refused {
                assert!(!migration.findings.is_empty(), "{end}");
            }
        }
    }
}

/// Schemas in many ways of writing, with what must not be lost.
fn written() -> impl Strategy<Value = (String, Vec<String>)> {
    let style = (any::<[bool; 8]>(), 1..4_usize, prop::sample::select(vec!["", "\t", "  ", "    "]));
    (style, prop::collection::vec(prop::sample::select(vec!["pre", "execute", "post"]), 0..4)).prop_map(
        |(([quotes, trailing, comments, apart, crlf, methods, key_quotes, last], tools, unit), phases)| {
            let quote = if quotes { '"' } else { '\'' };
            let text = |text: &str| format!("{quote}{text}{quote}");
            let key = |key: &str| if key_quotes { format!("'{key}'") } else { key.to_owned() };
            let line = if unit.is_empty() { " " } else { "\n" };
            let end = if trailing { "," } else { "" };
            let mut kept = Vec::new();
            let mut remark = |what: String| {
                let comment = if comments { format!("/* {what} */ ") } else { String::new() };
                kept.extend(comments.then(|| comment.trim().to_owned()));
                comment
            };
            let mut routes = String::new();
            for tool in 0..tools {
                let modifiers: Vec<String> = phases
                    .iter()
                    .enumerate()
                    .map(|(index, phase)| {
                        format!(
                            "{}{{ phase: {}, handlerName: 'h{index}' }}",
                            remark(format!("step {tool} {index}")),
                            text(phase)
                        )
                    })
                    .collect();
                let modifiers = format!("{}: [ {} ]", key("modifiers"), modifiers.join(", "));
                let fields = [
                    format!("{}: {}", key("requestMethod"), text("GET")),
                    format!("{}: {}", key("route"), text(&format!("/{tool}"))),
                    format!("description: {}", text("D")),
                    "parameters: []".to_owned(),
                    format!("tests: [ {{ _description: 'test {tool}' }} ]"),
                ];
                let mut fields: Vec<String> = fields
                    .iter()
                    .map(|field| {
                        format!(
                            "{}{field}",
                            remark(format!("{tool} {}", &field[..5].replace(['\'', '"'], "")))
                        )
                    })
                    .collect();
                fields.insert(if last { fields.len() } else { 1 }, modifiers);
                let inner = fields.join(&format!(",{line}{unit}{unit}{unit}"));
                let comma = if tool + 1 < tools { "," } else { end };
                routes.push_str(&format!(
                    "{line}{unit}{unit}t{tool}: {{{line}{unit}{unit}{unit}{inner}{end} }}{comma}"
                ));
            }
            let mut handlers = String::new();
            for index in 0..phases.len() {
                let body = format!(
                    "( {{ struct, payload }} ) {} {{ {}return {{ struct, payload }} }}",
                    if methods { "" } else { "=>" },
                    remark(format!("body {index}"))
                );
                let start = if methods { format!("h{index}") } else { format!("h{index}: async ") };
                let comma = if index + 1 < phases.len() { "," } else { end };
                handlers.push_str(&format!(
                    "{line}{unit}{unit}{}{start}{body}{comma}",
                    remark(format!("handler {index}"))
                ));
            }
            let fields = [
                format!("namespace: {}", text("a")),
                "name: 'A'".to_owned(),
                format!("{}: {}", key("flowMCP"), text("1.2.0")),
                format!("root: {}", text("https://a.example")),
                format!("{}: {{{routes}{line}{unit}}}", key("routes")),
                format!("handlers: {{{handlers}{line}{unit}}}"),
            ];
            let body = fields.join(&format!(",{line}{unit}"));
            let (export, after) = if apart { ("", "\nexport { schema }\n") } else { ("export ", "\n") };
            let file = format!("{export}const schema = {{{line}{unit}{body}{end}{line}}}{after}");
            (if crlf { file.replace('\n', "\r\n") } else { file }, kept)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn every_way_of_writing_is_converted_once_and_loses_nothing((text, kept) in written()) {
        let after = converted(&text);
        prop_assert_eq!(migrated(&after).outcome, MigrationOutcome::Unchanged);
        for kept in kept {
            prop_assert!(after.contains(&kept), "{}\n{}\n{}", kept, text, after);
        }
        let document = read(&SourceFile::new("new.mjs", &after)).document.unwrap();
        for (index, tool) in document.root.get("tools").unwrap().entries().iter().enumerate() {
            let keys: Vec<&str> = tool.node.entries().iter().map(|entry| &*entry.key).collect();
            prop_assert_eq!(keys, ["method", "path", "description", "parameters", "tests"]);
            let path = format!("/{index}");
            prop_assert_eq!(tool.node.get("path").and_then(|node| node.as_str()), Some(&*path));
        }
        let is_crlf = text.contains("\r\n");
        prop_assert!(after.lines().count() < 2 || after.contains("\r\n") == is_crlf);
        prop_assert_eq!(after.replace("\r\n", "").contains('\n'), !is_crlf);
    }
}
