//! `fetch` and timers, with the grant.

use std::{
    rc::Rc,
    time::{Duration, Instant},
};

use flowmcp_plugin::*;

use crate::support::{Case, EchoHost, post_request, run, run_with};

fn granted() -> SandboxSettings {
    SandboxSettings { network: NetworkGrant::Granted, ..SandboxSettings::default() }
}

#[track_caller]
fn check(body: &str, json: &str) {
    let text = post_request(body);
    let output = run(&Case { text: &text, settings: granted(), ..Case::default() });
    assert_eq!(output.map(|output| output.value), Ok(HookValue::Json(json.to_owned())), "{body}");
}

#[test]
fn responses_have_what_handlers_read() {
    check(
        "const r = await fetch( 'https://a.test/x' ); return [ r.status, r.ok, r.statusText, r.headers.get( 'Content-Type' ), [ ...r.headers.entries() ], r.headers.getSetCookie(), await r.json() ]",
        r#"[200,true,"OK","application/json",[["content-type","application/json"],["set-cookie","a=1"],["set-cookie","b=2"]],["a=1","b=2"],{"url":"https://a.test/x"}]"#,
    );
    check(
        "const r = await fetch( new URL( 'https://a.test/missing' ) ); return [ r.ok, r.status, r.statusText, ( await r.text() ).length ]",
        r#"[false,404,"Not Found",32]"#,
    );
    check("const r = await fetch( 'https://a.test/' ); return ( await r.arrayBuffer() ).byteLength", "25");
    check(
        "const r = await fetch( 'https://a.test/' ); await r.text(); try { await r.text() } catch( e ) { return e.name }",
        r#""TypeError""#,
    );
}

#[test]
fn several_are_in_flight() {
    check(
        "const all = await Promise.all( [ 1, 2, 3 ].map( ( n ) => fetch( `https://a.test/${n}` ).then( ( r ) => r.json() ) ) ); return all.map( ( { url } ) => url.at( -1 ) )",
        r#"["1","2","3"]"#,
    );
    check(
        "return ( await Promise.race( [ fetch( 'https://a.test/1' ), fetch( 'https://a.test/2' ) ] ) ).url",
        r#""https://a.test/2""#,
    );
}

#[test]
fn requests_arrive_whole() {
    let host = Rc::new(EchoHost { granted: true, ..EchoHost::default() });
    let text = post_request(
        "await fetch( 'https://a.test/', { method: 'post', headers: { 'X-A': 1 }, body: JSON.stringify( { a: 'é' } ) } ); await fetch( 'https://a.test/', { method: 'POST', body: new URLSearchParams( { q: 'a b' } ) } ); return 1",
    );
    run_with(&Case { text: &text, settings: granted(), ..Case::default() }, Rc::clone(&host)).unwrap();
    let requests = host.requests.borrow();
    assert_eq!(requests[0].method, Method::Post);
    assert_eq!(
        requests[0].headers,
        [("x-a".into(), "1".into()), ("content-type".into(), "text/plain;charset=UTF-8".to_owned())]
    );
    assert_eq!(requests[0].body, r#"{"a":"é"}"#.as_bytes());
    assert_eq!(requests[1].headers[0].1, "application/x-www-form-urlencoded;charset=UTF-8");
    assert_eq!(requests[1].body, b"q=a+b".as_slice());
}

#[test]
fn refusals_are_errors_that_can_be_caught() {
    check(
        "try { await fetch( 'https://a.test/refused' ) } catch( e ) { return [ e.name, e.message ] }",
        r#"["TypeError","fetch failed: address refused"]"#,
    );
    check(
        "try { await fetch( 'https://a.test/', { method: 'TRACE' } ) } catch( e ) { return e.name }",
        r#""TypeError""#,
    );
}

#[test]
fn timeouts_and_aborts() {
    let start = Instant::now();
    check(
        "try { await fetch( 'https://a.test/never', { signal: AbortSignal.timeout( 50 ) } ) } catch( e ) { return e.name }",
        r#""TimeoutError""#,
    );
    check(
        "const c = new AbortController(); const p = fetch( 'https://a.test/never', { signal: c.signal } ); setTimeout( () => c.abort(), 20 ); try { await p } catch( e ) { return e.name }",
        r#""AbortError""#,
    );
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn timers_run_in_order() {
    check(
        "const seen = []; setTimeout( () => seen.push( 'b' ), 20 ); setTimeout( ( x ) => seen.push( x ), 5, 'a' ); clearTimeout( setTimeout( () => seen.push( 'no' ), 1 ) ); await new Promise( ( done ) => setTimeout( done, 40 ) ); return seen",
        r#"["a","b"]"#,
    );
    check(
        "let n = 0; await new Promise( ( done ) => { const id = setInterval( () => { if( ++n === 3 ) { clearInterval( id ); done() } }, 1 ) } ); return n",
        "3",
    );
}

#[test]
fn waiting_is_not_counted_as_work_but_the_deadline_holds() {
    let limits = SandboxLimits { cpu: Duration::from_millis(100), ..SandboxLimits::default() };
    let settings = SandboxSettings { limits, ..granted() };
    let text = post_request("await new Promise( ( done ) => setTimeout( done, 300 ) ); return 1");
    assert!(run(&Case { text: &text, settings, ..Case::default() }).is_ok());

    let text = post_request("await new Promise( ( done ) => setTimeout( done, 60000 ) ); return 1");
    let host = Rc::new(EchoHost { granted: true, ..EchoHost::default() });
    let mut handlers = crate::support::load(&text, "", settings, host).unwrap();
    let start = Instant::now();
    let error = handlers.call(&HookCall {
        tool: "tool",
        hook: Hook::PostRequest,
        input: "{}",
        tokens: &[],
        deadline: start + Duration::from_millis(200),
    });
    assert!(matches!(error, Err(SandboxError::Time { .. })), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn without_open_requests_a_promise_never_settles() {
    let text = post_request(
        "const r = await fetch( 'https://a.test/' ); await r.text(); await new Promise( () => {} )",
    );
    let error = run(&Case { text: &text, settings: granted(), ..Case::default() }).unwrap_err();
    assert_eq!(error, SandboxError::NeverSettles);
}
