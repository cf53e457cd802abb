//! Workers that break the protocol are ended, with an error that says so, and never disturb the host.

use flowmcp_plugin::*;
use flowmcp_worker::*;

use crate::support::{Services, broken_pool, call, call_with, example, post_request, program_of};

#[track_caller]
fn check(mode: &str, wanted: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let pool = broken_pool(mode);
        let limits = SandboxLimits {
            cpu: std::time::Duration::from_millis(300),
            output_bytes: 1 << 20,
            ..SandboxLimits::default()
        };
        let settings = SandboxSettings { limits, ..SandboxSettings::default() };
        let program = program_of("a", &post_request("return 1"), settings);
        for _ in 0..2 {
            let error = call(&pool, &program).await.map_err(|error| error.to_string());
            assert!(matches!(&error, Err(text) if text.contains(wanted)), "{mode}: {error:?}");
        }
    });
}

#[test]
fn violations_end_the_worker() {
    for (mode, wanted) in [
        ("garbage", "broke the protocol: it sent a frame that is no message"),
        ("huge-length", "broke the protocol: it sent a frame that is too long"),
        ("zero-length", "broke the protocol: it sent a frame that is too long"),
        ("log-flood", "broke the protocol: it sent a message out of turn"),
        ("long-line", "broke the protocol: it sent a message out of turn"),
        ("fetch-without-grant", "broke the protocol: it sent a message out of turn"),
        ("wait-without-grant", "broke the protocol: it sent a message out of turn"),
        ("another-answer", "broke the protocol: it sent a message out of turn"),
        ("ready-again", "broke the protocol: it sent a message out of turn"),
        ("two-answers", "broke the protocol: it sent more than its answer"),
        ("trailing", "broke the protocol: it sent more than its answer"),
        ("half-answer", "reached the time limit of 300ms"),
        ("silent", "reached the time limit of 300ms"),
        ("exit", "exit code 3"),
        ("log-and-exit", "exit code 3"),
        ("log-and-abort", "crashed with signal 6"),
        ("wrong-ready", "began with a wrong message"),
    ] {
        check(mode, wanted);
    }
}

#[tokio::test]
async fn a_worker_killed_in_mid_call_is_an_error_and_the_next_call_works() {
    let pool = crate::support::pool(PoolSettings { workers: 1, ..PoolSettings::default() });
    // The handler says that it runs, then loops; the test kills it then.
    let granted = SandboxSettings { network: NetworkGrant::Granted, ..SandboxSettings::default() };
    let program = program_of(
        "a",
        &post_request("if( response.n === 1 ) { return 1 } await fetch( 'https://a.test/0' ); for( ;; ) {}"),
        granted,
    );
    assert!(call(&pool, &program).await.is_ok());

    struct Killer;
    impl HostServices for Killer {
        fn fetch(
            &self,
            _: FetchRequest,
            _: std::time::Instant,
        ) -> BoxFuture<'_, Result<FetchResult, String>> {
            Box::pin(async {
                for child in children() {
                    let pid = rustix::process::Pid::from_raw(child).unwrap();
                    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
                }
                Ok(FetchResult { status: 200, headers: Vec::new(), body: bytes::Bytes::new() })
            })
        }

        fn log(&self, _: LogLevel, _: &str) {}
    }
    /// Workers of this process that hold a job of this test: those of the starting threads of this process.
    fn children() -> Vec<i32> {
        let own = std::process::id();
        std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| {
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                let parent =
                    stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse::<u32>().ok());
                let name = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                parent == Some(own) && name.contains("worker-to-kill")
            })
            .collect()
    }
    // A pool of its own name, so that no other test's worker is hit.
    let command = WorkerCommand::Process { program: example("worker"), args: vec!["worker-to-kill".into()] };
    let pool = Pool::new(command, PoolSettings { workers: 1, ..PoolSettings::default() }).unwrap();
    let job = Job {
        program: &program,
        tool: "tool",
        hook: Hook::PostRequest,
        input: r#"{"response":{"n":2}}"#,
        tokens: &[],
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let error = pool.call(job, deadline, &Killer).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Crashed { reason } if reason.contains("killed") || reason.contains("pipe")),
        "{error:?}"
    );
    let input = r#"{"response":{"n":1}}"#;
    assert!(call_with(&pool, &program, input, &Services::default()).await.is_ok());
}

#[tokio::test]
async fn a_program_that_is_no_worker_is_an_error() {
    for program in ["/bin/true", "/nonexistent/flowmcp"] {
        let command = WorkerCommand::Process { program: program.into(), args: Vec::new() };
        let pool = Pool::new(command, PoolSettings::default()).unwrap();
        let error = call(&pool, &program_of("a", &post_request("return 1"), SandboxSettings::default()))
            .await
            .unwrap_err();
        assert!(error.to_string().contains("no worker could be started"), "{error}");
    }
}

/// Confinement must not keep a crash from ending the process: `abort` and the handler of faults make system calls.
#[tokio::test]
async fn an_engine_that_crashes_is_an_error_at_once_and_the_next_call_works() {
    let pool = crate::support::pool(PoolSettings::default());
    // Far more than the test waits for: a process that spins after its crash would use it up.
    let limits = SandboxLimits { cpu: std::time::Duration::from_secs(600), ..SandboxLimits::default() };
    let settings = SandboxSettings { limits, ..SandboxSettings::default() };
    let crash = Program::new("a".into(), "x.crash".into(), "".into(), Vec::new(), String::new(), settings);
    for (tool, expected) in [
        ("abort", "the worker process crashed with signal 6"),
        ("overflow", "the worker process crashed with signal 6"),
        ("panic", "the worker process ended with exit code 101"),
    ] {
        let job = Job { program: &crash, tool, hook: Hook::PostRequest, input: "{}", tokens: &[] };
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let error = pool.call(job, deadline, &Services::default()).await.unwrap_err();
        assert_eq!(error, SandboxError::Crashed { reason: expected.to_owned() }, "{tool}");
        let program = program_of("a", &post_request("return 1"), SandboxSettings::default());
        assert_eq!(call(&pool, &program).await, crate::support::json("1"));
    }
}
