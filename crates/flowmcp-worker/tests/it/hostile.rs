//! Handlers that attack: each fails within its limit, with an error that says why, while a quick call beside it answers.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use flowmcp_plugin::*;
use flowmcp_worker::*;

use crate::support::{call, json, pool, post_request, program_of};

const CPU: Duration = Duration::from_millis(300);
/// What a loaded machine may add to a limit.
const SLACK: Duration = Duration::from_secs(5);

fn settings() -> SandboxSettings {
    let limits =
        SandboxLimits { cpu: CPU, memory_bytes: 48 << 20, output_bytes: 1 << 20, ..SandboxLimits::default() };
    SandboxSettings { limits, ..SandboxSettings::default() }
}

/// Name, body of the hook, and the beginnings that the error's Debug text may have.
const SNIPPETS: &[(&str, &str, &[&str])] = &[
    ("loop", "while( true ) {}", &["Time"]),
    ("loop in catch", "while( true ) { try { while( true ) {} } catch( e ) {} }", &["Time"]),
    ("loop in finally", "try { while( true ) {} } finally { while( true ) {} }", &["Time"]),
    ("loop over await", "while( true ) { await Promise.resolve() }", &["Time"]),
    (
        "loop over caught rejections",
        "const f = async () => { throw 1 }; for( ;; ) { await f().catch( () => {} ) }",
        &["Time"],
    ),
    (
        "loop in a detached job",
        "( async () => { for( ;; ) { await 0 } } )(); await new Promise( () => {} )",
        &["Time"],
    ),
    ("promise that never settles", "await new Promise( () => {} )", &["NeverSettles"]),
    ("returned promise that never settles", "return new Promise( () => {} )", &["NeverSettles"]),
    ("reverse of nothing", "Array.prototype.reverse.call( { length: 2 ** 53 - 1 } )", &["Time"]),
    ("copyWithin of nothing", "Array.prototype.copyWithin.call( { length: 2 ** 53 - 1 }, 0, 1 )", &["Time"]),
    (
        "join of nothing",
        "Array.prototype.join.call( { length: 2 ** 53 - 1 } )",
        &["Time", "Memory", "Thrown"],
    ),
    ("sort of a sparse array", "const a = []; a.length = 2 ** 32 - 1; a.sort()", &["Time", "Memory"]),
    ("indexOf in nothing", "Array.prototype.indexOf.call( { length: 2 ** 53 - 1 }, 1 )", &["Time"]),
    (
        "stringify in a loop",
        "const big = Array( 1000 ).fill( 'x' ); for( ;; ) { JSON.stringify( big ) }",
        &["Time"],
    ),
    (
        "stringify in a caught loop",
        "const big = Array( 1000 ).fill( 'x' ); for( ;; ) { try { JSON.stringify( big ) } catch {} }",
        &["Time"],
    ),
    ("memory in objects", "const a = []; for( ;; ) { a.push( { x: 1, y: 2 } ) }", &["Time", "Memory"]),
    (
        "memory in caught loops",
        "const a = []; for( ;; ) { try { a.push( new Uint8Array( 1e6 ) ) } catch {} }",
        &["Time", "Memory"],
    ),
    ("memory in a string", "'x'.repeat( 2 ** 29 )", &["Memory", "Thrown", "Time"]),
    ("memory in a rope", "let s = 'x'; for( ;; ) { s += s }", &["Memory", "Thrown", "Time"]),
    ("memory in an array", "new Array( 1e8 ).fill( 1 )", &["Memory", "Time"]),
    ("deep recursion", "const f = () => f(); f()", &["Stack"]),
    (
        "deep recursion, caught",
        "const f = () => { try { return f() } catch { return f() } }; return f()",
        &["Stack", "Time"],
    ),
    ("deep JSON", "JSON.parse( '['.repeat( 1e6 ) )", &["Stack", "Time", "Thrown"]),
    ("deep result", "let a = []; for( let i = 0; i < 2e4; i++ ) { a = [ a ] } return a", &["Stack", "Time"]),
    ("slow regular expression", "/^(a+)+$/.test( 'a'.repeat( 40 ) + '!' )", &["Time"]),
    ("nested groups", "new RegExp( '(?:'.repeat( 1e5 ) )", &["Thrown", "Stack", "Time", "Memory"]),
    (
        "sixty nested groups",
        "new RegExp( '(?:a|b'.repeat( 60 ) + ')+'.repeat( 60 ) ).test( 'ab'.repeat( 5000 ) + '!' ); for( ;; ) {}",
        &["Time", "Thrown", "Stack", "Memory"],
    ),
    ("throw null", "throw null", &["Thrown { message: \"threw null\""]),
    ("getter that loops", "return { get x() { for( ;; ) {} } }", &["Time"]),
    ("toJSON that loops", "return { toJSON() { for( ;; ) {} } }", &["Time"]),
    (
        "error whose message loops",
        "const e = new Error(); Object.defineProperty( e, 'message', { get() { for( ;; ) {} } } ); throw e",
        &["Time"],
    ),
    ("thenable that loops", "return { get then() { for( ;; ) {} } }", &["Time"]),
    ("proxy that loops", "return new Proxy( {}, { ownKeys() { for( ;; ) {} } } )", &["Time"]),
    ("large result", "return 'x'.repeat( 2e6 )", &["Output", "Time"]),
    ("cycle", "const a = []; a.push( a ); return a", &["NotJson"]),
    ("function", "return () => 1", &["NotJson"]),
    ("eval", "eval( '1' )", &["Thrown"]),
    ("hidden eval", "globalThis[ 'ev' + 'al' ]( '1' )", &["Thrown"]),
    ("constructor", "( {} ).constructor.constructor( 'return 1' )()", &["Thrown"]),
    ("escaped timer", "\\u0073etTimeout( () => {}, 1 )", &["Thrown"]),
    ("import", "await import( 'fs' )", &["Thrown"]),
    ("process", "process.exit( 1 )", &["Thrown"]),
    ("shared lists", "sharedLists.chains.push( 1 )", &["Thrown"]),
    ("big BigInt", "let n = 3n; for( ;; ) { n = n * n }", &["Time", "Memory", "Thrown"]),
    (
        "Atomics.wait",
        "Atomics.wait( new Int32Array( new SharedArrayBuffer( 4 ) ), 0, 0 )",
        &["Thrown", "Time"],
    ),
    ("50 MB", "return 'x'.repeat( 4e7 )", &["Output", "Memory", "Time"]),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_fails_within_its_limit_while_a_quick_call_answers() {
    let pool = Arc::new(pool(PoolSettings { running: 2, ..PoolSettings::default() }));
    let quick = program_of("quick", &post_request("return { response }"), SandboxSettings::default());
    assert_eq!(call(&pool, &quick).await, json(r#"{"response":{"n":1}}"#));
    let mut wrong = Vec::new();
    for (name, body, wanted) in SNIPPETS {
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
