//! What a pool does when nobody attacks it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use flowmcp_plugin::*;
use flowmcp_worker::*;

use crate::support::{Services, call, call_with, json, pool, post_request, program_of};

#[tokio::test]
async fn hooks_run_and_workers_are_kept() {
    let pool = pool(PoolSettings::default());
    let program =
        program_of("a", &post_request("return { response, n: response.n + 1 }"), SandboxSettings::default());
    for _ in 0..20 {
        assert_eq!(call(&pool, &program).await, json(r#"{"response":{"n":1},"n":2}"#));
    }
    let (workers, idle) = pool.workers();
    assert!(workers <= 2 && idle <= workers, "one that runs and perhaps a spare: {workers} {idle}");
    let deadline = Instant::now() + Duration::from_secs(60);
    let outline = pool.outline(&program, deadline, &Services::default()).await;
    let hooks = Outline::Object(vec![("postRequest".to_owned(), Outline::Function)]);
    assert_eq!(outline, Ok(Outline::Object(vec![("tool".to_owned(), hooks)])));
}

#[tokio::test]
async fn large_inputs_and_outputs_pass() {
    let pool = pool(PoolSettings::default());
    let program = program_of("a", &post_request("return { response }"), SandboxSettings::default());
    let input = format!(r#"{{"response":"{}"}}"#, "é".repeat(2 << 20));
    assert_eq!(call_with(&pool, &program, &input, &Services::default()).await, json(&input));
}

#[tokio::test]
async fn compile_errors_name_the_place() {
    let pool = pool(PoolSettings::default());
    let program =
        program_of("a", "export const main = {}\nexport const handlers = (", SandboxSettings::default());
    for _ in 0..2 {
        let error = call(&pool, &program).await.unwrap_err();
        assert!(
            matches!(&error, SandboxError::Compile { path, line: 2, .. } if path == "demo/tool.mjs"),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn log_lines_arrive_up_to_the_cap() {
    let pool = pool(PoolSettings { log_lines: 3, ..PoolSettings::default() });
    let program = program_of(
        "a",
        &post_request("for( let i = 0; i < 200; i++ ) { console.log( 'é'.repeat( 5000 ), i ) } return 1"),
        SandboxSettings::default(),
    );
    let services = Services::default();
    assert_eq!(call_with(&pool, &program, "{}", &services).await, json("1"));
    let lines = services.lines.lock().unwrap();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], "é".repeat(2048));
    assert_eq!(lines[3], "further lines are dropped after 3 in one call");
}

#[tokio::test]
async fn requests_need_the_grant() {
    let pool = pool(PoolSettings::default());
    let text = post_request(
        "const all = await Promise.all( [ 'https://a.test/30', 'https://a.test/0' ].map( async ( url ) => ( await fetch( url ) ).text() ) ); return all",
    );
    let granted = SandboxSettings { network: NetworkGrant::Granted, ..SandboxSettings::default() };
    assert_eq!(
        call(&pool, &program_of("a", &text, granted)).await,
        json(r#"["https://a.test/30","https://a.test/0"]"#)
    );
    let error = call(&pool, &program_of("b", &text, SandboxSettings::default())).await.unwrap_err();
    assert!(error.to_string().contains("fetch is not defined"), "{error}");
}

#[tokio::test]
async fn requests_are_counted() {
    let pool = pool(PoolSettings { fetches: 2, ..PoolSettings::default() });
    let text = post_request(
        "await fetch( 'https://a.test/0' ); await fetch( 'https://a.test/0' ); try { await fetch( 'https://a.test/0' ) } catch( e ) { return e.message }",
    );
    let granted = SandboxSettings { network: NetworkGrant::Granted, ..SandboxSettings::default() };
    assert_eq!(
        call(&pool, &program_of("a", &text, granted)).await,
        json(r#""fetch: more than 2 requests in one call""#)
    );
}

#[tokio::test]
async fn a_handler_that_waits_blocks_nobody() {
    let pool = Arc::new(pool(PoolSettings { running: 1, ..PoolSettings::default() }));
    let granted = SandboxSettings { network: NetworkGrant::Granted, ..SandboxSettings::default() };
    let slow =
        program_of("a", &post_request("return ( await fetch( 'https://a.test/600000' ) ).status"), granted);
    let quick = program_of("b", &post_request("return 1"), SandboxSettings::default());
    let waiting = tokio::spawn({
        let pool = Arc::clone(&pool);
        async move { call(&pool, &slow).await }
    });
    // The only slot is free as soon as the slow one waits.
    for _ in 0..5 {
        assert_eq!(call(&pool, &quick).await, json("1"));
    }
    assert!(!waiting.is_finished());
    waiting.abort();
}

#[tokio::test]
async fn a_dropped_call_ends_its_worker() {
    let pool = pool(PoolSettings { running: 1, workers: 1, ..PoolSettings::default() });
    let endless = program_of("a", &post_request("for( ;; ) {}"), SandboxSettings::default());
    let quick = program_of("a", &post_request("return 1"), SandboxSettings::default());
    assert_eq!(call(&pool, &quick).await, json("1"));
    assert!(tokio::time::timeout(Duration::from_millis(200), call(&pool, &endless)).await.is_err());
    let start = Instant::now();
    assert_eq!(call(&pool, &quick).await, json("1"));
    assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
}

#[tokio::test]
async fn packs_take_turns() {
    let pool = Arc::new(pool(PoolSettings { running: 1, workers: 2, ..PoolSettings::default() }));
    let busy = Arc::new(program_of(
        "busy",
        &post_request("const end = Date.now() + 30; while( Date.now() < end ) {} return 1"),
        SandboxSettings::default(),
    ));
    let quick = program_of("quick", &post_request("return 1"), SandboxSettings::default());
    assert_eq!(call(&pool, &quick).await, json("1"));
    assert_eq!(call(&pool, &busy).await, json("1"));
    let many: Vec<_> = (0..60)
        .map(|_| {
            let (pool, busy) = (Arc::clone(&pool), Arc::clone(&busy));
            tokio::spawn(async move { call(&pool, &busy).await })
        })
        .collect();
    tokio::task::yield_now().await;
    let start = Instant::now();
    assert_eq!(call(&pool, &quick).await, json("1"));
    assert!(start.elapsed() < Duration::from_millis(900), "not behind all sixty: {:?}", start.elapsed());
    for one in many {
        assert_eq!(one.await.unwrap(), json("1"));
    }
}

#[tokio::test]
async fn too_many_waiting_are_refused() {
    let pool = Arc::new(pool(PoolSettings { running: 1, waiting: 2, ..PoolSettings::default() }));
    let busy = Arc::new(program_of(
        "a",
        &post_request("const end = Date.now() + 100; while( Date.now() < end ) {} return 1"),
        SandboxSettings::default(),
    ));
    assert_eq!(call(&pool, &busy).await, json("1"));
    let many: Vec<_> = (0..5)
        .map(|_| {
            let (pool, busy) = (Arc::clone(&pool), Arc::clone(&busy));
            tokio::spawn(async move { call(&pool, &busy).await })
        })
        .collect();
    let mut refused = 0;
    for one in many {
        refused += usize::from(matches!(one.await.unwrap(), Err(SandboxError::Busy { .. })));
    }
    assert_eq!(refused, 2);
}

#[tokio::test]
async fn nothing_leaks_between_calls_and_schemas() {
    let pool = pool(PoolSettings { workers: 1, ..PoolSettings::default() });
    let bad = program_of(
        "a",
        &post_request(
            "Object.prototype.admin = true; Array.prototype.map = null; globalThis.seen = ( globalThis.seen ?? 0 ) + 1; return globalThis.seen",
        ),
        SandboxSettings::default(),
    );
    let good = program_of(
        "a",
        &post_request("return [ ( {} ).admin, globalThis.seen, typeof [].map, sharedLists.chains ]"),
        SandboxSettings::default(),
    );
    for _ in 0..2 {
        assert_eq!(call(&pool, &bad).await, json("1"));
        assert_eq!(call(&pool, &good).await, json(r#"[null,null,"function",[{"id":1}]]"#));
    }
}

#[tokio::test]
async fn reused_contexts_keep_state_per_schema() {
    let pool = pool(PoolSettings { workers: 1, ..PoolSettings::default() });
    let settings = SandboxSettings { context: ContextLife::Schema, ..SandboxSettings::default() };
    let text = "let n = 0\nexport const handlers = () => ( { tool: { postRequest: () => ++n } } )";
    let (first, second) = (program_of("a", text, settings), program_of("a", text, settings));
    for n in 1..4 {
        assert_eq!(call(&pool, &first).await, json(&n.to_string()));
        assert_eq!(call(&pool, &second).await, json(&n.to_string()));
    }
}

#[tokio::test]
async fn threads_serve_trusted_packs() {
    let command =
        WorkerCommand::Thread { sandboxes: || vec![Box::new(flowmcp_sandbox_js::JsSandbox::default())] };
    let pool =
        Pool::new(command, PoolSettings { isolation: Isolation::Thread, ..PoolSettings::default() }).unwrap();
    let program = program_of("a", &post_request("return { response }"), SandboxSettings::default());
    assert_eq!(call(&pool, &program).await, json(r#"{"response":{"n":1}}"#));
}
