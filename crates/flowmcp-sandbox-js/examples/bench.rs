//! Measures hook calls in this process, without a worker around them: `cargo run --release -p flowmcp-sandbox-js
//! --example bench [CALLS]`. Prints microseconds of wall time a call, of which so many before the answer is there.

use std::{
    io::Write,
    rc::Rc,
    time::{Duration, Instant},
};

use flowmcp_plugin::*;
use flowmcp_sandbox_js::JsSandbox;

struct Silent;

impl SandboxHost for Silent {
    fn start(&self, _: FetchRequest) -> Result<Ticket, String> {
        Err("not granted".to_owned())
    }

    fn wait(&self, _: Option<Instant>) -> Option<(Ticket, Result<FetchResult, String>)> {
        None
    }

    fn log(&self, _: LogLevel, _: &str) {}
}

const TEXT: &str = "export const main = {}
export const handlers = ( { sharedLists } ) => ( { tool: { postRequest: async ( { response, struct, payload } ) => {
    const items = response.items.map( ( { id, name } ) => ( { id, name } ) )
    return { response: { items: items.slice( 0, 20 ), count: items.length } }
} }, all: { postRequest: async ( { response } ) => ( { response } ) } } )";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let calls: u32 = std::env::args().nth(1).map_or(Ok(2000), |calls| calls.parse())?;
    let sandbox = JsSandbox::default();
    sandbox.warm_up();
    let source = SandboxSource { path: "tool.mjs", text: TEXT, libraries: &[] };
    let code = sandbox.compile(&source, SandboxLimits::default())?;
    let program = SandboxProgram { path: "tool.mjs", code: &code, shared_lists: "{}" };
    let mut handlers = sandbox.load(&program, SandboxSettings::default(), Rc::new(Silent))?;
    for (name, items, tool) in
        [("1 KiB", 13, "tool"), ("100 KiB", 1330, "tool"), ("100 KiB passed on", 1330, "all")]
    {
        let item = |n: usize| {
            format!(r#"{{"id":{n},"name":"name of item {n}","note":"some text, {n} times","price":12.5}}"#)
        };
        let items: Vec<String> = (0..items).map(item).collect();
        let input = format!(
            r#"{{"response":{{"items":[{}]}},"struct":{{"url":"https://api.example.test/v1","status":true}},"payload":{{"userParams":{{}}}}}}"#,
            items.join(",")
        );
        let calls = if input.len() > 10_000 { calls / 10 } else { calls };
        let mut answering = Duration::ZERO;
        let begun = Instant::now();
        for _ in 0..calls {
            let start = Instant::now();
            let call = HookCall {
                tool,
                hook: Hook::PostRequest,
                input: &input,
                tokens: &[],
                deadline: start + Duration::from_secs(30),
            };
            handlers.call(&call)?;
            answering += start.elapsed();
            handlers.prepare();
        }
        let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(calls);
        writeln!(
            std::io::stderr(),
            "{name} ({} bytes): {:.1} µs a call, {:.1} µs until the answer",
            input.len(),
            each(begun.elapsed()),
            each(answering)
        )?;
    }
    Ok(())
}
