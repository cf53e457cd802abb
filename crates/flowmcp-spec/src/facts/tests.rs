//! Each snapshot shows sources and, under each, what was found: name, the text at its place, and who reaches it.

use std::fmt::Write;

use super::{CodeUse, HandlerFacts, Reach};
use crate::{SourceFile, read};

/// The source stands in the snapshot already.
macro_rules! snapshot {
    ($($arguments:expr),* $(,)?) => {
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!($($arguments),*) })
    };
}

fn facts(source: &str) -> (SourceFile, HandlerFacts) {
    let file = SourceFile::new("test.mjs", &format!("export const main = {{}}\n{source}"));
    let read = read(&file);
    assert!(read.diagnostics.is_empty(), "{:.80}: {:?}", source, read.diagnostics);
    (file, read.document.unwrap().code)
}

fn shown(source: &str) -> String {
    let (file, facts) = facts(source);
    let mut out = format!("{source}\n");
    if let Some(handlers) = &facts.handlers {
        let at = &file.text[handlers.span.range()];
        let kind = if handlers.is_factory { "function" } else { "no function" };
        let tools = handlers.tools.as_ref().map_or("unknown".to_owned(), |tools| {
            let tools = tools.iter().map(|tool| {
                assert!(file.text[tool.span.range()].contains(&*tool.name));
                let hooks = tool.hooks.as_ref().map_or("?".to_owned(), |hooks| {
                    hooks.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(" ")
                });
                format!("{}({hooks})", tool.name)
            });
            tools.collect::<Vec<_>>().join(" ")
        });
        writeln!(out, "    {at}: {kind}, tools {tools}").unwrap();
    }
    let mut uses = |kind: &str, uses: &[CodeUse]| {
        for found in uses {
            let reach = match &found.reach {
                Reach::File => "file".to_owned(),
                Reach::Tools(tools) if tools.is_empty() => "nobody".to_owned(),
                Reach::Tools(tools) => tools.join(" "),
            };
            let at = &file.text[found.span.range()];
            writeln!(out, "    {kind} {} at `{at}`: {reach}", found.name).unwrap();
        }
    };
    uses("import", &facts.imports);
    uses("global", &facts.globals);
    uses("library", &facts.libraries);
    out
}

fn table(sources: &[&str]) -> String {
    sources.iter().map(|source| shown(source)).collect::<Vec<_>>().join("\n")
}

/// A factory with two tools; `a` does what is given, `b` nothing.
fn hook(code: &str) -> String {
    format!(
        "export const handlers = ({{ libraries }}) => ({{ a: {{ preRequest: async (input) => {{ {code} }} }}, b: {{ postRequest() {{}} }} }})"
    )
}

fn hooks(codes: &[&str]) -> String {
    let part = |code: &&str| {
        let shown = shown(&hook(code));
        let found: Vec<&str> = shown.lines().skip(2).collect();
        format!("{code}\n{}\n", found.join("\n"))
    };
    codes.iter().map(part).collect::<Vec<_>>().join("\n")
}

#[test]
fn forms_of_the_export() {
    snapshot!(table(&[
        "const nothing = 1",
        "export const handlers = ({ libraries }) => ({ a: { preRequest: x => x }, 'b-c': { async postRequest() {} } })",
        "export const handlers = async () => { const x = 1; return { a: { postRequest: x => x } } }",
        "export const handlers = function () { return { a: {} } }",
        "export function handlers() { return ({ a: { 'executeRequest': () => {} } }) }",
        "export async function handlers() { return { a: {} } }",
        "const handlers = () => ({ a: {} })\nexport { handlers }",
        "function make() { return { a: {} } }\nexport { make as handlers }",
        "const make = () => ({ a: {} })\nexport const handlers = make",
        "export const handlers = { a: { preRequest: x => x } }",
        "const table = { a: { preRequest: x => x } }\nexport const handlers = table",
        "export { handlers } from './other.mjs'",
        "export const handlers = build()",
        "export const handlers = [1]",
        "export class handlers {}",
        "export const { handlers } = { handlers: () => ({}) }",
        "export function* handlers() { return { a: {} } }",
    ]));
}

#[test]
fn tools_and_hooks_that_are_written_out() {
    snapshot!(table(&[
        // Names, shorthands, spreads, frozen objects.
        "const a = { preRequest: x => x }\nexport const handlers = () => ({ a, ['b']: { preRequest, [`postRequest`]: a } })\nfunction preRequest() {}",
        "const shared = { a: { preRequest() { fetch() } }, b: {} }\nexport const handlers = () => ({ ...shared, b: { postRequest() {} } })",
        "const base = { preRequest() {} }\nexport const handlers = () => ({ a: { ...base, postRequest() {} } })",
        "export const handlers = () => { const tools = { a: {} }; return Object.freeze(tools) }",
        // What cannot be told.
        "export const handlers = () => { const tools = { a: {} }; tools.b = {}; return tools }",
        "export const handlers = () => { const tools = { a: {} }; fill(tools); return tools }\nconst fill = x => { x.b = {} }",
        "export const handlers = () => ({ ...build() })\nconst build = () => ({ a: { preRequest() { fetch() } } })",
        "export const handlers = () => { if (Math.random() > 1) { return {} } return { a: {} } }",
        "export const handlers = () => ({ [Math.random()]: {} })",
        "export const handlers = () => ({ a: make(), b: { ...make(), preRequest() {} }, get c() { return {} } })\nconst make = () => ({})",
        "const hooks = { preRequest() {} }\nhooks.postRequest = () => {}\nexport const handlers = () => ({ a: hooks })",
        "const make = (name) => { const handler = { preRequest: () => name }; return handler }\nexport const handlers = () => ({ a: make('a'), b: make('b') })",
        "const empty = {}, a = { ...empty, ...empty }, b = { ...a, ...a }\nexport const handlers = () => ({ ...b })",
        "const a = { x: {} }, b = { ...a, ...a }, c = { ...b, ...b }\nexport const handlers = () => ({ ...c })",
    ]));
}

#[test]
fn imports_in_every_form() {
    snapshot!(table(&[
        "import 'side'\nimport fs from 'node:fs'\nimport * as all from \"path\"\nexport { x } from 'y'\nexport * from 'z'",
        "import { join } from 'path'\nexport const handlers = () => ({ a: { preRequest() { join('a') } } })",
        "const meta = import.meta\nexport const handlers = () => ({})",
        "const fs = await import('fs')\nexport const handlers = () => ({})",
        "const require = x => x\nconst x = () => require('fs')",
        "// import fs from 'fs'\nconst text = \"import('fs') require('x')\"\nconst o = { import: 1, require: 2 }; const y = o.import + o.require",
    ]));
    snapshot!(
        "imports_in_hooks",
        hooks(&[
            "const { createHash } = await import( 'crypto' )",
            "return import('cry' + `pto`)",
            "return import(input.name)",
            "require('fs'); require(input); require.resolve",
            "import.meta.url",
            "module.require('fs'); process.getBuiltinModule('fs')",
        ])
    );
}

#[test]
fn globals_and_names_nobody_declares() {
    snapshot!(hooks(&[
        "await fetch(input.struct.url); typeof fetch; const f = fetch",
        "process.env.HOME; setTimeout(() => {}, 1); queueMicrotask; new XMLHttpRequest(); new WebSocket('')",
        "eval('1'); new Function('1'); (0, eval)('1'); \\u0065val('1'); s\\u0065tTimeout('x')",
        "missing.call; x = 1",
        "Buffer.from(''); __dirname; Deno; Bun; WebAssembly; new Worker(''); SharedArrayBuffer; Atomics; Intl; performance.now()",
        "globalThis['ev'+'al']('1'); globalThis.process; window.self.fetch('x'); const { fetch, JSON } = globalThis; globalThis.Function('1')",
        "globalThis[input.name]",
        // Nothing of this is a finding.
        "const process = input.process; process.env; input.response.process; input.fetch(); ({ eval: 1, fetch() {} }).fetch",
        "const fetch = x => x; fetch(1); function setTimeout() {} setTimeout(); { let Buffer = 1; Buffer }",
        "'fetch(process)'; `eval ${ 1 }`; /fetch/.test('x'); /* fetch */",
        "new URL('x', 'y'); new URLSearchParams(); structuredClone({}); console.log(btoa('')); AbortSignal.timeout(1); arguments; undefined; NaN",
        "label: for (const fetch of [1]) { break label } try {} catch (process) { process }",
    ]));
}

#[test]
fn ways_around_names() {
    snapshot!(hooks(&[
        "({}).constructor.constructor('return 1')()",
        "input.constructor.constructor`return 1`",
        "(() => {}).constructor('return 1')",
        "const AsyncFunction = (async () => {}).constructor; (function* () {}).constructor",
        "Object.getPrototypeOf(async function () {}).constructor('x')",
        "input['constructor']; input['const' + 'ructor']; input?.[`constructor`]",
        "const { constructor } = input; const { constructor: C } = input; ({ constructor: input.x } = input)",
        "input.filter.constructor('x'); input.filter.constructor.call(null, 'x'); input.__proto__.constructor; new input.x.constructor('x')",
        "`${ globalThis['ev'+'al']('1') }`",
        "const key = 'eval'; input['eval']; input[KEY]",
        // Nothing of this is a finding.
        "input.constructor === Object; input.constructor.name; class A { constructor() { new this.constructor() } }; Object.getPrototypeOf(input).constructor.name; ({ constructor: 1 })",
    ]));
    snapshot!(
        "ways_through_constants",
        table(&[
            "const KEY = 'con' + 'structor'\nconst again = KEY\nexport const handlers = () => ({ a: { preRequest(input) { input[again] } } })",
            "const a = 'x', b = a + a + a + a, c = b + b + b + b, d = c + c + c + c, e = d + d + d + d\nconst f = () => ({})[e]",
        ])
    );
}

#[test]
fn libraries_in_every_form() {
    snapshot!(table(&[
        "export const handlers = ({ libraries }) => { const ethers = libraries['ethers']; return { a: { preRequest() { ethers.x } }, b: { preRequest() {} } } }",
        "export const handlers = ({ libraries }) => { const { ethers, talib: t, ...more } = libraries; return { a: { preRequest() { ethers.x } }, b: { preRequest() { t(); more.moment } } } }",
        "export const handlers = ({ libraries: { ethers, talib: { RSI } } }) => ({ a: { preRequest() { ethers } }, b: {} })",
        "export const handlers = ({ libraries: libs = {} } = {}) => ({ a: { preRequest() { libs.ethers } }, b: {} })",
        "export const handlers = (deps) => ({ a: { preRequest() { deps.libraries.ethers } }, b: { preRequest() { const { libraries } = deps; libraries?.talib?.x; deps.sharedLists.y } } })",
        "export const handlers = ({ sharedLists, ...rest }) => ({ a: { preRequest() { rest.libraries.ethers } }, b: {} })",
        "export function handlers({ libraries }) { const libs = libraries || {}; const NAME = 'eth' + 'ers'; return { a: { preRequest() { libs[NAME] } }, b: {} } }",
        "export const handlers = ({ libraries }) => ({ a: { preRequest() { const { ethers } = libraries; if (libraries && !libraries.moment) {} } }, b: { preRequest() { const libraries = {}; libraries.fs } } })",
        // Followed into functions of the file, lost elsewhere.
        "const load = ({ ethers }, x) => ethers\nexport const handlers = ({ libraries }) => ({ a: { preRequest() { load(libraries) } }, b: {} })",
        "export const handlers = ({ libraries }) => ({ a: { preRequest(x) { x.y(libraries) } }, b: {} })",
        "export const handlers = ({ libraries }) => ({ a: { preRequest({ name }) { libraries[name] } }, b: {} })",
        "export const handlers = ({ libraries }) => { const all = { ...libraries }; return { a: {}, b: {} } }",
    ]));
}

#[test]
fn who_reaches_what() {
    snapshot!(table(&[
        // Through functions of the module and the factory, in any order, also each other.
        "const one = () => two()\nfunction two() { one(); return fetch('x') }\nexport const handlers = () => { const three = () => one(); return { a: { preRequest: () => three() }, b: { preRequest() {} } } }",
        "const unused = () => fetch('x')\nexport const handlers = () => ({ a: {}, b: {} })",
        "const table = { load: () => fetch('x') }\nexport const handlers = () => ({ a: { preRequest() { table.load() } }, b: {} })",
        "class Client { get() { return fetch('x') } }\nexport const handlers = () => ({ a: { preRequest() { new Client().get() } }, b: {} })",
        "const preRequest = () => fetch('x')\nexport const handlers = () => ({ a: { preRequest }, b: { postRequest: () => 1 } })",
        // At load.
        "const home = process.env.HOME\nexport const handlers = () => ({ a: {} })",
        "const load = () => fetch('x')\nconst now = load()\nexport const handlers = () => ({ a: {} })",
        "export const handlers = ({ libraries }) => { const E = libraries.ethers; const provider = new E.Provider(); return { a: { preRequest() { provider } }, b: {} } }",
        "export const handlers = ({ libraries }) => { if (libraries.moment) {} return { a: {}, b: {} } }",
        // A missing library fails where it is taken apart.
        "export const handlers = ({ libraries }) => { const { Contract } = libraries.ethers; return { a: { preRequest() { Contract } }, b: {} } }",
        "export const handlers = ({ libraries }) => { const E = libraries.ethers; const C = E.Contract; return { a: { preRequest() { C } }, b: {} } }",
        "export const handlers = ({ libraries }) => { const C = libraries.ethers?.Contract; const M = libraries.moment; const again = M; return { a: { preRequest() { C } }, b: { preRequest() { again() } } } }",
        // One hook is calculated, the other belongs to its tool.
        "const make = (x) => () => x\nexport const handlers = () => ({ a: { preRequest: make(1), postRequest() { fetch('x') } }, b: {} })",
        "const table = { load: () => fetch('x') }\nfunction make(x) { const hooks = { preRequest: () => table.load() }; return hooks }\nexport const handlers = () => ({ a: make(1), b: {}, c: { ...make(2) } })",
        "const make = (x) => { x(); return { preRequest: () => fetch('x') } }\nexport const handlers = () => ({ a: make(1), b: {} })",
        // A variable that one tool sets and another uses.
        "let run = null\nexport const handlers = () => ({ a: { preRequest() { run = () => fetch('x') } }, b: { preRequest() { run() } }, c: {} })",
        // One tool uses the object that holds the other.
        "export const handlers = () => { const tools = { a: { preRequest() { fetch('x') } }, b: { preRequest() { return tools.a.preRequest() } }, c: {} }; return tools }",
        // `eval` sees all names.
        "export const handlers = () => ({ a: { preRequest() { eval('x') } }, b: {} })",
        "export default () => fetch('x')",
        "export const handlers = () => ({ a: { preRequest() { fetch('x') } }, a: { preRequest() {} }, b: {} })",
    ]));
}

#[test]
fn large_files_take_linear_time() {
    let functions: String =
        (0..3_000).map(|n| format!("const f{n} = () => f{}(fetch);\n", (n + 1) % 3_000)).collect();
    let tools: String = (0..1_500).map(|n| format!("t{n}: {{ preRequest: () => f{n}() }},")).collect();
    let (_, facts) = facts(&format!("{functions}export const handlers = () => ({{ {tools} }})"));
    assert_eq!(facts.globals.len(), 3_000);
    assert_eq!(facts.globals[0].reach, Reach::File);
    let chain = ".a".repeat(9_000);
    let (_, facts) = self::facts(&format!("const x = () => globalThis{chain};\n"));
    assert_eq!(facts.globals.len(), 2);
    let doubling: String =
        (0..8).map(|n| format!("const e{} = {{ {} }};\n", n + 1, format!("...e{n}, ").repeat(30))).collect();
    let (_, facts) = self::facts(&format!("const e0 = {{}};\n{doubling}export const handlers = () => e8"));
    assert_eq!(facts.handlers.unwrap().tools, None);
}
