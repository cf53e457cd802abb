//! Handlers that attack: each fails within its limit, with an error that says why, while a quick call beside it answers.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use flowmcp_plugin::*;
use flowmcp_worker::*;

use crate::{
    snippets::{ESCAPES, MEMORY, SHAPES, TIME},
    support::{call, json, pool, post_request, program_of},
};

const CPU: Duration = Duration::from_millis(300);
/// What a loaded machine may add to a limit.
const SLACK: Duration = Duration::from_secs(5);

fn settings() -> SandboxSettings {
    let limits =
        SandboxLimits { cpu: CPU, memory_bytes: 48 << 20, output_bytes: 1 << 20, ..SandboxLimits::default() };
    SandboxSettings { limits, ..SandboxSettings::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_fails_within_its_limit_while_a_quick_call_answers() {
    let pool = Arc::new(pool(PoolSettings { running: 2, ..PoolSettings::default() }));
    let quick = program_of("quick", &post_request("return { response }"), SandboxSettings::default());
    assert_eq!(call(&pool, &quick).await, json(r#"{"response":{"n":1}}"#));
    let mut wrong = Vec::new();
    for (name, body, wanted) in [TIME, MEMORY, SHAPES, ESCAPES].concat() {
        let program = program_of("hostile", &post_request(body), settings());
        let start = Instant::now();
        let attack = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { call(&pool, &program).await }
        });
        let beside = call(&pool, &quick).await;
        let quick_time = start.elapsed();
        let result = attack.await.unwrap();
        let time = start.elapsed();
        let text = match &result {
            Ok(value) => format!("{value:?}"),
            Err(error) => format!("{error:?}"),
        };
        if beside != json(r#"{"response":{"n":1}}"#) {
            wrong.push(format!("{name}: the quick call beside it got {beside:?}"));
        }
        if result.is_ok() || !wanted.iter().any(|wanted| text.starts_with(wanted)) {
            wrong.push(format!("{name}: {text}"));
        }
        if time > CPU + SLACK || quick_time > SLACK {
            wrong.push(format!("{name}: took {time:?}, the quick call {quick_time:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(call(&pool, &quick).await, json(r#"{"response":{"n":1}}"#));
}

#[tokio::test]
async fn loops_at_load_and_in_the_factory_end() {
    let pool = pool(PoolSettings::default());
    for text in [
        "for( ;; ) {}\nexport const handlers = () => ( {} )",
        "export const handlers = () => { for( ;; ) {} }",
    ] {
        let error = call(&pool, &program_of("a", text, settings())).await.unwrap_err();
        assert_eq!(error, SandboxError::Time { limit: CPU }, "{text}");
    }
}

#[tokio::test]
async fn sources_that_attack_the_compiler_end() {
    let pool = pool(PoolSettings::default());
    for text in [
        format!("export const main = {}1", "[".repeat(200_000)),
        format!("export const main = {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("export const main = {}1", "-".repeat(500_000)),
        format!("export const main = /{}/", "(?:".repeat(100_000)),
        "export const main = `${`".repeat(10_000),
    ] {
        let start = Instant::now();
        let result = call(&pool, &program_of("a", &text, settings())).await;
        assert!(result.is_err(), "{:.40}: {result:?}", text);
        assert!(start.elapsed() < SLACK, "{:.40}: {:?}", text, start.elapsed());
    }
    let quick = program_of("a", &post_request("return 1"), settings());
    assert_eq!(call(&pool, &quick).await, json("1"));
}

#[tokio::test]
async fn memory_comes_back() {
    let pool = pool(PoolSettings { workers: 1, ..PoolSettings::default() });
    let bomb = program_of(
        "a",
        &post_request("const a = []; for( ;; ) { a.push( new Uint8Array( 1e6 ).fill( 1 ) ) }"),
        settings(),
    );
    let quick = program_of("a", &post_request("return 1"), settings());
    for _ in 0..3 {
        assert!(call(&pool, &bomb).await.is_err());
        assert_eq!(call(&pool, &quick).await, json("1"));
    }
    let (workers, _) = pool.workers();
    assert_eq!(workers, 1);
}
