//! Writes the `handlers` export: the functions as they were, what gives them the arguments that they know, and the hooks
//! that call them.

use std::{fmt::Write, ops::Range};

use oxc_ast::ast::Expression;
use oxc_span::GetSpan;
use oxc_syntax::identifier::is_identifier_name;

use super::{
    Draft,
    fields::quoted,
    handlers::{Moved, unit},
    names,
    tools::{Phase, Step},
};

/// What a handler of format 1 was given and gave back, in terms of format 3. A tab is one level.
const RUN: &str = "\
\t// Calls handlers of format 1: each takes and returns { struct, payload }, and ends the call by struct.status.
\tconst $run = async ( phaseType, routeName, steps, struct, payload ) => {
\t\tlet state = { struct: { ...struct, status: true, messages: [] }, payload }
\t\tfor( const step of steps ) {
\t\t\tstate = await step( { ...state, userParams: payload.userParams, routeName, phaseType } )
\t\t}
\t\tconst { status, messages } = state.struct
\t\tif( status === false || ( phaseType === 'pre' && messages.length > 0 ) ) {
\t\t\tthrow new Error( messages.join( '; ' ) || 'status is false' )
\t\t}

\t\treturn state
\t}

";
const PRE: &str = "\
\tconst $name = ( routeName, ...steps ) => async ( { struct, payload } ) => {
\t\tconst request = { ...payload, requestMethod: payload.method, body: payload.body ?? {} }
\t\tconst state = await $run( 'pre', routeName, steps, { ...struct, data: null }, request )
\t\tconst { url, requestMethod: method, headers, body } = state.payload
\t\tconst hasBody = method === 'POST' || method === 'PUT'

\t\treturn { struct: { ...state.struct, url, method, headers, body: hasBody ? body : null }, payload: state.payload }
\t}

";
const EXECUTE: &str = "\
\tconst $name = ( routeName, ...steps ) => async ( { struct, payload } ) => {
\t\tconst request = { ...payload, requestMethod: payload.method, body: payload.body ?? {} }
\t\tconst state = await $run( 'execute', routeName, steps, { ...struct, data: null }, request )

\t\treturn { struct: { ...state.struct, data: state.struct.data ?? null }, payload: state.payload }
\t}

";
const POST: &str = "\
\tconst $name = ( routeName, ...steps ) => async ( { response, struct, payload } ) => {
\t\tconst state = await $run( 'post', routeName, steps, { ...struct, data: response }, payload )

\t\treturn { response: state.struct.data ?? null }
\t}

";

/// The text of the export, with `\n` as line break. `libraries` are declarations, one a line.
pub(super) fn text(moves: &[Moved<'_>], steps: &[Step], libraries: &str, draft: &Draft<'_>) -> String {
    let module = &draft.module;
    let unit = moves.first().map_or("    ", |moved| unit(module, &moved.member));
    let mut out = format!("export const handlers = {} => {{\n", names::parameters(module));
    for line in libraries.lines() {
        let _ = writeln!(out, "{unit}{line}");
    }
    if !libraries.is_empty() {
        out.push('\n');
    }
    for moved in moves {
        let declaration = declaration(moved, unit, draft);
        if !declaration.trim().is_empty() {
            out.push_str(&declaration);
            out.push_str("\n\n");
        }
    }
    let name = |wanted: &str| names::free(wanted, &format!("{wanted}Handlers"), moves, module);
    let (run, pre, execute, post) = (name("run"), name("before"), name("instead"), name("after"));
    if !steps.is_empty() {
        out.push_str(&RUN.replace("$run", &run).replace('\t', unit));
    }
    for (phase, name, adapter) in
        [(Phase::Pre, &pre, PRE), (Phase::Execute, &execute, EXECUTE), (Phase::Post, &post, POST)]
    {
        if steps.iter().any(|step| step.phase == phase) {
            out.push_str(&adapter.replace("$run", &run).replace("$name", name).replace('\t', unit));
        }
    }
    let adapter = |phase| match phase {
        Phase::Pre => ("preRequest", &pre),
        Phase::Execute => ("executeRequest", &execute),
        Phase::Post => ("postRequest", &post),
    };
    let mut tools: Vec<String> = Vec::new();
    for tool in in_order(steps) {
        let mut hooks: Vec<String> = Vec::new();
        for phase in [Phase::Pre, Phase::Execute, Phase::Post] {
            let called: Vec<&str> = steps
                .iter()
                .filter(|step| &*step.tool == tool && step.phase == phase)
                .filter_map(|step| moves.iter().find(|moved| moved.key == step.handler))
                .map(|moved| moved.name.as_str())
                .collect();
            if !called.is_empty() {
                let (hook, adapter) = adapter(phase);
                let tool = quoted(tool, "'");
                hooks.push(format!("{unit}{unit}{unit}{hook}: {adapter}( {tool}, {} )", called.join(", ")));
            }
        }
        let key = if is_identifier_name(tool) { tool.to_owned() } else { quoted(tool, "'") };
        tools.push(format!("{unit}{unit}{key}: {{\n{}\n{unit}{unit}}}", hooks.join(",\n")));
    }
    match tools.is_empty() {
        true => {
            let _ = writeln!(out, "{unit}return {{}}");
        }
        false => {
            let _ = writeln!(out, "{unit}return {{\n{}\n{unit}}}", tools.join(",\n"));
        }
    }
    out.push_str("}\n");
    out
}

/// The tools that have steps, each once.
fn in_order(steps: &[Step]) -> Vec<&str> {
    let mut tools: Vec<&str> = Vec::new();
    for step in steps {
        if !tools.contains(&&*step.tool) {
            tools.push(&step.tool);
        }
    }
    tools
}

/// A handler as a declaration of the factory, with its comments.
fn declaration(moved: &Moved<'_>, unit: &str, draft: &Draft<'_>) -> String {
    let module = &draft.module;
    let property = moved.member.property;
    let edited = |range: Range<u32>| draft.edits.apply(module.text, range).replace("\r\n", "\n");
    let mut out = String::new();
    let head = edited(moved.head.clone());
    if !head.trim().is_empty() {
        let _ = writeln!(out, "{unit}{}", head.trim());
    }
    let value = property.value.span();
    match &property.value {
        // A function of the module, which stays where it is.
        Expression::Identifier(_) => {}
        Expression::FunctionExpression(function) if property.method => {
            let is_async = if function.r#async { "async " } else { "" };
            let star = if function.generator { "*" } else { "" };
            let text = edited(value.start..value.end);
            let _ = write!(out, "{unit}{is_async}function{star} {}{text}", moved.name);
        }
        _ => {
            let colon = module.after_trivia(property.key.span().end);
            let text = edited(colon + 1..value.end);
            let _ = write!(out, "{unit}const {} = {}", moved.name, text.trim_start());
        }
    }
    out.push_str(edited(moved.tail.clone()).trim_end());
    out
}
