//! Limits that hold inside the process. What needs a kill is tested with worker processes.

use std::time::{Duration, Instant};

use flowmcp_plugin::*;

use crate::support::{Case, post_request, run};

const CPU: Duration = Duration::from_millis(200);

fn settings() -> SandboxSettings {
    let limits = SandboxLimits { cpu: CPU, memory_bytes: 32 << 20, ..SandboxLimits::default() };
    SandboxSettings { limits, ..SandboxSettings::default() }
}

#[track_caller]
fn check(body: &str, wanted: &str) {
    check_within(CPU, body, wanted);
}

#[track_caller]
fn check_within(cpu: Duration, body: &str, wanted: &str) {
    let text = post_request(body);
    let mut settings = settings();
    settings.limits.cpu = cpu;
    let start = Instant::now();
    let error = run(&Case { text: &text, settings, ..Case::default() }).expect_err(body);
    let kind = format!("{error:?}");
    assert!(kind.starts_with(wanted), "{body}: {kind}");
    assert!(start.elapsed() < cpu * 10, "{body}: took {:?}", start.elapsed());
}

#[test]
fn endless_loops_end_and_cannot_be_caught() {
    for body in [
        "while( true ) {}",
        "while( true ) { try { while( true ) {} } catch( e ) {} finally {} }",
        "while( true ) { await Promise.resolve() }",
        "const f = async () => { throw 1 }; for( ;; ) { await f().catch( () => {} ) }",
        "( async () => { for( ;; ) { await 0 } } )(); await new Promise( () => {} )",
        "try { while( true ) {} } finally { while( true ) {} }",
        "return { toJSON() { for( ;; ) {} } }",
        "return { get x() { for( ;; ) {} } }",
        "throw { get message() { for( ;; ) {} }, toString() { for( ;; ) {} }, toJSON() { for( ;; ) {} } }",
        "const e = new Error( 'x' ); Object.defineProperty( e, 'stack', { get() { for( ;; ) {} } } ); throw e",
        "/^(a+)+$/.test( 'a'.repeat( 40 ) + '!' )",
        "new Proxy( {}, { get() { for( ;; ) {} } } ).x",
        "[ 1 ].sort.call( { length: 2 ** 32, get 0() { for( ;; ) {} } } )",
    ] {
        check(body, "Time");
    }
}

#[test]
fn a_loop_at_load_or_in_the_factory_ends_too() {
    for text in [
        "for( ;; ) {}\nexport const handlers = () => ( {} )",
        "export const handlers = () => { for( ;; ) {} }",
    ] {
        let error = run(&Case { text, settings: settings(), ..Case::default() }).unwrap_err();
        assert!(matches!(error, SandboxError::Time { limit } if limit == CPU), "{error:?}");
    }
}

#[test]
fn memory_is_limited() {
    for body in [
        "const a = []; for( ;; ) { a.push( { x: 1, y: 2 } ) }",
        "new Uint8Array( 64 * 1024 * 1024 )",
        "Buffer.alloc( 1e9 )",
        "const a = []; for( ;; ) { a.push( 'x'.repeat( 1e6 ) + a.length ) }",
        "'x'.repeat( 2 ** 29 )",
        "'x'.padEnd( 2 ** 29 ).split( '' )",
    ] {
        check_within(Duration::from_secs(10), body, "Memory");
    }
}

#[test]
fn memory_errors_that_are_caught_leave_a_spent_sandbox() {
    let text = post_request("try { new Uint8Array( 64 * 1024 * 1024 ) } catch {} return { response: 1 }");
    let host = std::rc::Rc::new(crate::support::EchoHost::default());
    let mut handlers = crate::support::load(&text, "", settings(), host).unwrap();
    let output = handlers.call(&HookCall {
        tool: "tool",
        hook: Hook::PostRequest,
        input: "{}",
        tokens: &[],
        deadline: Instant::now() + Duration::from_secs(5),
    });
    assert!(output.is_ok(), "{output:?}");
    assert!(handlers.is_spent());
}

#[test]
fn the_stack_is_limited() {
    for body in [
        "const f = () => f(); f()",
        "const f = () => [ 1 ].map( f ); f()",
        "JSON.parse( '['.repeat( 1e6 ) )",
        "let a = []; for( let i = 0; i < 2e4; i++ ) { a = [ a ] } return a",
        "const o = { toJSON() { return JSON.stringify( o ) } }; return o",
    ] {
        check_within(Duration::from_secs(10), body, "Stack");
    }
    check_within(Duration::from_secs(10), "new RegExp( '(?:a|'.repeat( 1e5 ) )", "");
}

#[test]
fn promises_that_nothing_settles_are_noticed_at_once() {
    let start = Instant::now();
    for body in ["await new Promise( () => {} )", "return new Promise( () => {} )", "await { then() {} }"] {
        check(body, "NeverSettles");
    }
    assert!(start.elapsed() < CPU, "{:?}", start.elapsed());
}

#[test]
fn results_are_limited() {
    let limits = SandboxLimits { output_bytes: 1000, ..SandboxLimits::default() };
    let settings = SandboxSettings { limits, ..SandboxSettings::default() };
    let text = post_request("return 'x'.repeat( 1000 )");
    let error = run(&Case { text: &text, settings, ..Case::default() }).unwrap_err();
    assert_eq!(error, SandboxError::Output { limit: 1000 });
}
