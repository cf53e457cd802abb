//! `validate --handlers`: factories are run, in workers, and what is wrong with them are findings with their places.

use flowmcp_validate::{RULES, Stage};
use serde_json::Value;

use super::project::{Project, Ran, repository, schema, tool};

/// A schema of the tools `ok` and `other`, with its code after it.
fn handled(code: &str) -> String {
    schema("made", "Made", "", &(tool("ok") + &tool("other"))) + code
}

fn validate(files: &[(&str, &str)]) -> Ran {
    let project = files.iter().fold(Project::new(), |project, (name, code)| {
        project.file(&format!("pack/{name}.mjs"), handled(code))
    });
    project.run(&["validate", "pack", "--handlers", "--format", "json"])
}

/// Code, severity, place and text of the findings that are not about the rest of the schema.
fn findings(ran: &Ran) -> Vec<String> {
    let report = ran.json();
    let files = report["files"].as_array().unwrap();
    let all = files.iter().flat_map(|file| file["findings"].as_array().unwrap());
    let shown = all.filter(|finding| finding["path"].as_str().unwrap().starts_with("handlers"));
    let text = |finding: &Value| {
        let [code, severity, path, message] =
            ["code", "severity", "path", "message"].map(|key| finding[key].as_str().unwrap());
        format!("{}:{} {severity} {code} {path}: {message}", finding["line"], finding["column"])
    };
    shown.map(text).collect()
}

#[track_caller]
fn check(code: &str, expected: &[&str]) {
    let ran = validate(&[("a", code)]);
    assert_eq!(findings(&ran), expected, "{code}");
    let fails = expected.iter().any(|finding| finding.contains(" error "));
    let ran = ran.code(i32::from(fails));
    assert!(ran.stderr.ends_with("; 1 factories of handlers run\n"), "{}", ran.whole());
}

// The code begins on line 15 of the file.
#[test]
fn what_is_wrong_with_a_factory_is_found_with_its_place() {
    for (code, expected) in [
        (
            "export const handlers = ( { sharedLists } ) => ( { ok: { postRequest: ( { response } ) => ( { response } ) } } )",
            &[][..],
        ),
        (
            "const region = undefined\nexport const handlers = () => {\n    const size = region.length\n    return {}\n}",
            &[
                "17:18 error SEC104 handlers: must give the handlers, and the factory failed (TypeError: cannot read property 'length' of undefined)",
            ],
        ),
        (
            "export const handlers = () => { throw null }",
            &["15:14 error SEC104 handlers: must give the handlers, and the factory failed (threw null)"],
        ),
        (
            "export const handlers = async () => { for( ;; ) {} }",
            &[
                "15:14 error SEC104 handlers: must give the handlers, and the factory failed (it reached the time limit of 2s)",
            ],
        ),
        (
            "export const handlers = async () => { await new Promise( () => {} ) }",
            &[
                "15:14 error SEC104 handlers: must give the handlers, and the factory failed (it never settles: a promise is pending and nothing is left to run)",
            ],
        ),
        (
            "export const handlers = () => 7",
            &[
                "15:14 error SEC104 handlers: must give an object with the handlers of each tool (found a number)",
            ],
        ),
        (
            "export const handlers = () => ( {} )",
            &["15:14 warning VAL005 handlers: gives no handlers, so nothing of it is called"],
        ),
        (
            "const names = [ 'ok', 'ko' ]\nexport const handlers = () => Object.fromEntries( names.map( ( name ) => [ name, { postRequest: () => 1 } ] ) )",
            &["16:14 warning VAL005 handlers.ko: is a handler of no tool or resource of this schema"],
        ),
        (
            "const post = 'x'\nexport const handlers = () => ( {\n    ok: { postRequest: post },\n    other: {}\n} )",
            &[
                "17:11 warning VAL006 handlers.ok.postRequest: must be a function (found a string), so it is not called",
                "18:5 warning VAL006 handlers.other: has no hook, so nothing of it is called",
            ],
        ),
        (
            "const hook = [ 'on', 'Response' ].join( '' )\nexport const handlers = () => ( { ok: { [ hook ]: () => 1 } } )",
            &["16:35 warning VAL006 handlers.ok.onResponse: is no hook that is ever called"],
        ),
        (
            "export const handlers = () => ( { ok: { afterRequest: () => 1 } } )",
            &["15:41 warning VAL006 handlers.ok.afterRequest: is no hook that is ever called"],
        ),
    ] {
        check(code, expected);
    }
}

#[test]
fn a_factory_gets_its_shared_lists() {
    let list = "export const list = { meta: { name: 'chains', version: '1.0.0', description: 'd', fields: [ { key: 'id', \
                type: 'number', description: 'd' } ] }, entries: [ { id: 1 } ] }";
    let text = |code: &str| {
        handled(code).replace("tags:", "sharedLists: [ { ref: 'chains', version: '1.0.0' } ],\n    tags:")
    };
    let project = Project::new()
        .file("catalogue/_lists/chains.mjs", list)
        .file(
            "catalogue/good/A.mjs",
            text("export const handlers = ( { sharedLists } ) => { const first = sharedLists.chains[ 0 ].id\nreturn { ok: { postRequest: () => ( { response: first } ) } } }"),
        )
        .file(
            "catalogue/bad/A.mjs",
            text("export const handlers = ( { sharedLists } ) => { sharedLists.chains.push( 2 )\nreturn { ok: { postRequest: () => 1 } } }"),
        );
    let ran = project.run(&["validate", "catalogue", "--handlers", "--format", "json"]).code(1);
    let found = findings(&ran);
    let [only] = found.as_slice() else { panic!("{found:#?}") };
    assert!(
        only.contains("error SEC104 handlers: must give the handlers, and the factory failed (TypeError"),
        "{only}"
    );
}

/// One hostile file keeps no other from being tried, and a report is a report in all its forms.
#[test]
fn hostile_factories_are_findings_in_every_format() {
    let project = Project::new()
        .file("pack/a.mjs", handled("export const handlers = () => { const all = []; for( ;; ) { all.push( new Uint8Array( 1e6 ) ) } }"))
        .file("pack/b.mjs", handled("for( ;; ) {}\nexport const handlers = () => ( {} )"))
        .file("pack/c.mjs", handled("export const handlers = () => new Proxy( {}, { ownKeys() { for( ;; ) {} } } )"))
        .file("pack/d.mjs", handled("export const handlers = () => ( { ok: { postRequest: 5 } } )"));
    let text = project.run(&["validate", "pack", "--handlers"]).code(1);
    for shown in [
        "error[SEC104]: handlers: must give the handlers, and the factory failed (it reached the",
        "--> pack/a.mjs:15:14",
        "--> pack/b.mjs:16:14",
        "--> pack/c.mjs:15:14",
        "warning[VAL006]: handlers.ok.postRequest: must be a function (found a number), so it is not called",
        "help: write `postRequest: async ( … ) => …`, or remove it",
    ] {
        assert!(text.stdout.contains(shown), "{shown}: {}", text.whole());
    }
    assert!(text.stderr.ends_with("; 4 factories of handlers run\n"), "{}", text.whole());
    let log = project.run(&["validate", "pack", "--handlers", "--format", "sarif"]).code(1).json();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.iter().filter(|result| result["ruleId"] == "SEC104").count(), 3, "{log}");
    // Without the flag nothing is run.
    assert!(!project.run(&["validate", "pack"]).stdout.contains("SEC104"));
}

#[test]
fn the_schemas_of_this_repository_are_in_order() {
    let schemas = repository().join("schemas");
    let ran = Project::new()
        .run(&["validate", schemas.to_str().unwrap(), "--handlers", "--grant", "fetch", "--format", "json"])
        .code(0);
    assert_eq!(findings(&ran), [""; 0]);
    assert!(ran.stderr.ends_with("; 7 factories of handlers run\n"), "{}", ran.whole());
}

/// The pages of the rules that running reports, as `flowmcp-validate` tries the others.
#[test]
fn the_examples_of_the_pages_do_what_they_say() {
    let mut tried = 0;
    for rule in RULES.iter().filter(|rule| rule.emitted_by() == Stage::Running) {
        let mut lines = rule.page.lines();
        while let Some(line) = lines.next() {
            let Some(info) = line.strip_prefix("```js ") else { continue };
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let wrong = info.starts_with("wrong");
            let marked = body.iter().position(|line| line.ends_with(&format!("// ^ {}", rule.code)));
            assert_eq!(marked.is_some(), wrong, "{}: {body:?}", rule.code);
            let text = schema("made", "Made", "", &tool("ping")) + &body.join("\n");
            let project = Project::new().file("pack/a.mjs", &text);
            let ran =
                project.run(&["validate", "pack", "--handlers", "--format", "json"]).code(i32::from(wrong));
            let first = text.lines().count() - body.len() + 1;
            let expected: Vec<usize> = marked.iter().map(|line| first + line).collect();
            let found: Vec<usize> = ran.json()["files"][0]["findings"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|finding| finding["code"] == rule.code.0)
                .map(|finding| finding["line"].as_u64().unwrap() as usize)
                .collect();
            assert_eq!(found, expected, "{}: {}", rule.code, ran.whole());
            tried += 1;
        }
    }
    assert!(tried > 2);
}

/// What calls accept although the seeds do not allow it, authors see in a dry run.
#[test]
fn a_dry_run_says_what_shapes_a_hook_should_have_returned() {
    let code = "export const handlers = () => ( { ok: { preRequest: ( { struct, payload } ) => { \
                const made = { both: { struct, payload }, struct: { struct }, payload: { payload }, none: undefined, other: 5 }; \
                return made[ payload.how ] } } } )";
    let how = "{ position: { key: 'how', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [] } }";
    let tests = ["both", "struct", "payload", "none", "other"]
        .map(|how| format!("{{ _description: 'd', how: '{how}' }}"));
    let tool = format!(
        "        ok: {{ method: 'GET', path: '/ok', description: 'd', parameters: [ {how} ], tests: [ {} ] }}\n",
        tests.join(", ")
    );
    let project = Project::new().file("pack/a.mjs", schema("made", "Made", "", &tool) + code);
    let ran = project.run(&["test", "pack", "--dry-run"]).code(0);
    insta::assert_snapshot!(ran.whole());
    let ran = project.run(&["test", "pack", "--dry-run", "--json"]).code(0);
    let notes: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["notes"][0].clone())
        .collect();
    assert_eq!(notes[0], Value::Null);
    assert_eq!(notes[3], "ok: preRequest returned nothing; what it changed in place was taken");
}
