//! Measures the pool: `cargo run --release -p flowmcp-worker --example bench`, after building the example `worker`.
//! With an argument, only the cases whose name contains it, and nothing else.

use std::{
    io::Write,
    sync::Arc,
    time::{Duration, Instant},
};

use flowmcp_plugin::*;
use flowmcp_worker::*;

struct Services;

impl HostServices for Services {
    fn fetch(&self, _: FetchRequest, _: Instant) -> BoxFuture<'_, Result<FetchResult, String>> {
        Box::pin(async { Err("not granted".to_owned()) })
    }

    fn log(&self, _: LogLevel, _: &str) {}
}

/// Runs calls on several tasks and gives calls a second and the median round trip.
async fn measure(
    pool: &Arc<Pool>,
    programs: &[Arc<Program>],
    input: &Arc<str>,
    tasks: usize,
) -> Result<(f64, Duration), Box<dyn std::error::Error>> {
    let begun = Instant::now();
    let end = begun + Duration::from_secs(2);
    let mut running = Vec::new();
    for program in programs.iter().cycle().take(tasks) {
        let (pool, input, program) = (Arc::clone(pool), Arc::clone(input), Arc::clone(program));
        running.push(tokio::spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < end {
                let start = Instant::now();
                let job = Job {
                    program: &program,
                    tool: "tool",
                    hook: Hook::PostRequest,
                    input: &input,
                    tokens: &[],
                };
                pool.call(job, start + Duration::from_secs(30), &Services).await?;
                times.push(start.elapsed());
            }
            Ok::<_, SandboxError>(times)
        }));
    }
    let mut times = Vec::new();
    for one in running {
        times.extend(one.await??);
    }
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    Ok((times.len() as f64 / begun.elapsed().as_secs_f64(), median))
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let only = std::env::args().nth(1);
    let program = std::env::current_exe()?.with_file_name("worker");
    let command = WorkerCommand::Process { program, args: Vec::new() };
    let pool = Arc::new(Pool::new(command, PoolSettings::default())?);
    let text = "export const main = {}\nexport const handlers = ( { sharedLists } ) => ( { tool: { postRequest: async ( { response, struct, payload } ) => { const items = response.items.map( ( { id, name } ) => ( { id, name } ) ); return { response: { items, count: items.length } } } } } )";
    let make = |n: usize| {
        let text = format!("// {n}\n{text}");
        Arc::new(Program::new(
            Arc::from("pack"),
            "a/tool.mjs".into(),
            text.into(),
            Vec::new(),
            "{}".into(),
            SandboxSettings::default(),
        ))
    };
    let one = [make(0)];
    let many: Vec<_> = (1..40).map(make).collect();
    let mut out = std::io::stderr();
    for (name, items) in [("1 KiB", 13), ("100 KiB", 1330)] {
        let item = |n: usize| {
            format!(r#"{{"id":{n},"name":"name of item {n}","note":"some text, {n} times","price":12.5}}"#)
        };
        let items: Vec<String> = (0..items).map(item).collect();
        let input: Arc<str> = format!(r#"{{"response":{{"items":[{}]}},"struct":{{"url":"https://api.example.test/v1","status":true}},"payload":{{"userParams":{{}}}}}}"#, items.join(",")).into();
        for (what, programs, tasks) in [
            ("one at a time", &one[..], 1),
            ("8 at once", &one[..], 8),
            ("39 at once, 39 schemas", &many[..], 39),
        ] {
            let case = format!("{name} ({} bytes), {what}", input.len());
            if only.as_ref().is_some_and(|only| !case.contains(only.as_str())) {
                continue;
            }
            let (rate, median) = measure(&pool, programs, &input, tasks).await?;
            writeln!(out, "{case}: {rate:.0} calls/s, median {median:?}")?;
        }
    }
    if only.is_some() {
        return Ok(());
    }
    let start = Instant::now();
    pool.layers().await?;
    writeln!(out, "start and end of a worker: {:?}", start.elapsed())?;
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let path = entry.path();
        let command = std::fs::read_to_string(path.join("cmdline")).unwrap_or_default();
        if command.contains("examples/worker") {
            let rollup = std::fs::read_to_string(path.join("smaps_rollup")).unwrap_or_default();
            let lines: Vec<&str> = rollup
                .lines()
                .filter(|line| line.starts_with("Pss:") || line.starts_with("Private_Dirty"))
                .collect();
            writeln!(out, "worker {}: {}", path.display(), lines.join(" "))?;
        }
    }
    writeln!(out, "{}", pool.confinement_report().await?)?;
    Ok(())
}
