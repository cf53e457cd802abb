//! `migrate`: what is shown, what is written, what is left alone, and that converted handlers do what they did.

use std::fs;

use super::{project::Project, upstream::Upstream};

/// A schema of format 1.2 whose tools have handlers in every phase.
const OLD: &str = "// Made up.
export const schema = {
    namespace: 'made',
    name: 'Old',
    description: 'A schema of format 1.2',
    docs: [],
    tags: [ 'test' ],
    flowMCP: '1.2.0',
    root: 'https://api.example.test',
    requiredServerParams: [ 'KEY_OF_FILE' ],
    headers: { 'X-Key': '{{KEY_OF_FILE}}' },
    routes: {
        echo: {
            requestMethod: 'POST',
            description: 'Sends a query',
            route: '/echo',
            parameters: [
                { position: { key: 'chain', value: '{{USER_PARAM}}', location: 'body' }, z: { primitive: 'string()', options: [ 'default(one)' ] } }
            ],
            tests: [
                { _description: 'As it is' },
                { _description: 'Another', chain: 'two' },
                { _description: 'A third', chain: 'three' }
            ],
            modifiers: [ { phase: 'pre', handlerName: 'prepare' }, { phase: 'post', handlerName: 'lines' } ]
        },
        exact: {
            requestMethod: 'GET',
            description: 'Refuses what it got',
            route: '/exact',
            parameters: [],
            tests: [],
            modifiers: [ { phase: 'post', handlerName: 'refuse' } ] // never content
        },
        made: {
            requestMethod: 'GET',
            description: 'Made without a request',
            route: '/made',
            parameters: [],
            tests: [],
            modifiers: [ { phase: 'execute', handlerName: 'make' }, { phase: 'post', handlerName: 'twice' } ]
        }
    },
    handlers: {
        prepare: async ( { struct, payload, userParams, routeName, phaseType } ) => {
            payload.url = `${payload.url}?from=${routeName}`
            payload.body = { query: `{ ${userParams.chain} }`, phaseType }
            payload.headers[ 'X-More' ] = payload.requestMethod

            return { struct, payload }
        },
        lines: async ( { struct, payload } ) => {
            struct.data = struct.data.split( '\\r\\n' ).filter( ( line ) => /^(POST|x-|\\{)/i.test( line ) )

            return { struct, payload }
        },
        refuse: async ( { struct, payload } ) => {
            struct.status = false
            struct.messages.push( 'not what was wanted' )

            return { struct, payload }
        },
        make: async ( { struct, payload } ) => {
            struct.data = [ payload.url.slice( -5 ) ]

            return { struct, payload }
        },
        twice: async ( { struct, payload } ) => {
            struct.data = [ ...struct.data, ...struct.data ]

            return { struct, payload }
        }
    }
}
";

const HELPER: &str = "import { chains } from '../_shared/chains.mjs'

export const schema = {
    namespace: 'made',
    name: 'Helped',
    flowMCP: '1.2.0',
    root: 'https://api.example.test',
    tools: { ok: { requestMethod: 'GET', route: '/ok', parameters: chains.map( String ), modifiers: [] } }
}
";

const SECOND: &str =
    "export const main = { namespace: 'made', name: 'Second', version: '2.0.0', routes: {} }\r\n";
const THIRD: &str = "export const main = { namespace: 'made', name: 'Third', version: '3.0.0', tools: {} }\n";

fn pack(project: Project) -> Project {
    project
        .file("pack/old.mjs", OLD)
        .file("pack/more/helper.mjs", HELPER)
        .file("pack/more/second.mjs", SECOND)
        .file("pack/third.mjs", THIRD)
}

#[test]
fn changes_are_shown_and_nothing_is_written() {
    let project = pack(Project::new());
    let ran = project.run(&["migrate", "pack"]).code(1);
    insta::assert_snapshot!(ran.whole());
    let again = project.run(&["migrate", "pack", "--dry-run"]).code(1);
    assert_eq!(again.whole(), ran.whole());
    assert_eq!(fs::read_to_string(project.path("pack/old.mjs")).unwrap(), OLD);
    assert!(!project.path("pack/old.mjs.bak").exists());
}

#[test]
fn files_are_replaced_once_and_the_old_ones_are_kept() {
    let project = pack(Project::new());
    let first = project.run(&["migrate", "--write", "pack"]).code(1);
    insta::assert_snapshot!(first.whole());
    assert_eq!(fs::read_to_string(project.path("pack/old.mjs.bak")).unwrap(), OLD);
    assert_eq!(fs::read_to_string(project.path("pack/more/helper.mjs")).unwrap(), HELPER);
    let second = "export const main = { namespace: 'made', name: 'Second', version: '3.0.0', tools: {} }\r\n";
    assert_eq!(fs::read_to_string(project.path("pack/more/second.mjs")).unwrap(), second);
    let converted = fs::read_to_string(project.path("pack/old.mjs")).unwrap();
    let again = project.run(&["migrate", "--write", "pack/old.mjs", "pack/third.mjs"]).code(0);
    assert_eq!(
        again.whole(),
        "exit code 0\n--- stdout\n--- stderr\n2 files: 0 converted, 2 unchanged, 0 not convertible\n"
    );
    assert_eq!(fs::read_to_string(project.path("pack/old.mjs")).unwrap(), converted);
}

#[test]
fn a_converted_schema_validates_and_its_handlers_do_what_they_did() {
    let upstream = Upstream::start();
    let project =
        upstream.project("").file("pack/old.mjs", OLD).file(".env", "KEY_OF_FILE=k3y-of-the-file\n");
    project.run(&["migrate", "--write", "pack"]).code(0);
    project.run(&["validate", "pack"]).code(0);
    let call =
        |tool: &str, code| project.run(&["call", tool, "{\"chain\":\"two\"}", "--json"]).code(code).json();
    assert_eq!(
        call("made__echo", 0)["data"],
        serde_json::json!([
            "POST /echo?from=echo HTTP/1.1",
            "x-key: <KEY_OF_FILE>",
            "x-more: POST",
            r#"{"query":"{ two }","phaseType":"pre"}"#
        ])
    );
    let refused = call("made__exact", 1);
    assert!(refused["messages"][0].as_str().unwrap().contains("not what was wanted"), "{refused}");
    assert_eq!(call("made__made", 0)["data"], serde_json::json!(["/made", "/made"]));
    assert_eq!(upstream.seen(), ["POST /echo?from=echo", "GET /exact"]);
}

#[test]
fn what_cannot_be_read_or_written_is_named_and_the_rest_is_converted() {
    let project = Project::new()
        .file("pack/a.mjs", b"\xff\xfe")
        .file("pack/b.mjs", SECOND)
        .file("pack/b.mjs.bak", "older")
        .file("pack/c.mjs", "export const schema = {")
        .file("pack/d.mjs", " ".repeat((5 << 20) + 1))
        .file("pack/e.mjs", format!("\u{feff}{SECOND}"));
    let ran = project.run(&["migrate", "--write", "pack"]).code(1);
    insta::assert_snapshot!(ran.whole());
    assert_eq!(fs::read_to_string(project.path("pack/b.mjs")).unwrap(), SECOND);
    assert_eq!(fs::read_to_string(project.path("pack/b.mjs.bak")).unwrap(), "older");
    assert!(fs::read_to_string(project.path("pack/e.mjs")).unwrap().starts_with("\u{feff}export const main"));
    project.run(&["migrate", "pack", "--write", "--dry-run"]).code(2);
    project.run(&["migrate", "nowhere"]).code(2);
}

#[test]
fn json_says_it_all() {
    let project = Project::new()
        .file("pack/helper.mjs", HELPER)
        .file("pack/second.mjs", SECOND)
        .file("third.mjs", THIRD);
    let json = project.run(&["migrate", "pack", "third.mjs", "--json"]).code(1).json();
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap());
}
