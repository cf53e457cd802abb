//! Pools on this crate's example workers, and one way to call them.

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use flowmcp_plugin::*;
use flowmcp_worker::*;

/// An example of this crate; `cargo test` builds them beside the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    test.ancestors().nth(2).expect("tests are in target/…/deps").join("examples").join(name)
}

pub(crate) fn pool(settings: PoolSettings) -> Pool {
    Pool::new(WorkerCommand::Process { program: example("worker"), args: Vec::new() }, settings)
        .expect("a thread can be started")
}

pub(crate) fn broken_pool(mode: &str) -> Pool {
    let args = vec![OsString::from(mode)];
    Pool::new(WorkerCommand::Process { program: example("broken_worker"), args }, PoolSettings::default())
        .expect("a thread can be started")
}

/// Logs into a list; answers each request with its URL after as many milliseconds as its last path segment says.
#[derive(Default)]
pub(crate) struct Services {
    pub(crate) lines: Mutex<Vec<String>>,
}

impl HostServices for Services {
    fn fetch(&self, request: FetchRequest, _deadline: Instant) -> BoxFuture<'_, Result<FetchResult, String>> {
        Box::pin(async move {
            let wait = request.url.rsplit('/').next().and_then(|last| last.parse().ok()).unwrap_or(0);
            tokio::time::sleep(Duration::from_millis(wait)).await;
            Ok(FetchResult { status: 200, headers: Vec::new(), body: request.url.into() })
        })
    }

    fn log(&self, _level: LogLevel, line: &str) {
        self.lines.lock().expect("no test panics while it logs").push(line.to_owned());
    }
}

pub(crate) fn program_of(pack: &str, text: &str, settings: SandboxSettings) -> Program {
    Program::new(
        Arc::from(pack),
        "demo/tool.mjs".into(),
        text.into(),
        Vec::new(),
        r#"{"chains":[{"id":1}]}"#.into(),
        settings,
    )
}

/// A schema whose tool has one `postRequest` with this body.
pub(crate) fn post_request(body: &str) -> String {
    format!(
        "export const handlers = ( {{ sharedLists }} ) => ( {{ tool: {{ postRequest: async ( {{ response }} ) => {{ {body} }} }} }} )"
    )
}

pub(crate) async fn call(pool: &Pool, program: &Program) -> Result<HookValue, SandboxError> {
    call_with(pool, program, r#"{"response":{"n":1},"struct":{},"payload":{}}"#, &Services::default()).await
}

pub(crate) async fn call_with(
    pool: &Pool,
    program: &Program,
    input: &str,
    services: &Services,
) -> Result<HookValue, SandboxError> {
    let job = Job { program, tool: "tool", hook: Hook::PostRequest, input, tokens: &[] };
    pool.call(job, Instant::now() + Duration::from_secs(60), services).await.map(|output| output.value)
}

pub(crate) fn json(text: &str) -> Result<HookValue, SandboxError> {
    Ok(HookValue::Json(text.to_owned()))
}
