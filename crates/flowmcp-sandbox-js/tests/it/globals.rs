//! The globals that handlers use, and those that must not be there.

use std::rc::Rc;

use flowmcp_plugin::*;

use crate::support::{Case, EchoHost, post_request, run, run_with, value_of};

#[track_caller]
fn check(expression: &str, json: &str) {
    assert_eq!(value_of(expression), json, "{expression}");
}

#[test]
fn query_strings_are_encoded_as_javascript_does() {
    check(
        "new URLSearchParams( { q: 'a b&c=d/é~*-._!()\\'' } ).toString()",
        r#""q=a+b%26c%3Dd%2F%C3%A9%7E*-._%21%28%29%27""#,
    );
    check("new URLSearchParams( '?a=1&b=2&a=3' ).getAll( 'a' )", r#"["1","3"]"#);
    check("`${new URLSearchParams( [ [ 'x', 1 ], [ 'x', undefined ?? 'y' ] ] )}`", r#""x=1&x=y""#);
    check("[ ...new URLSearchParams( 'b=2&a=1' ) ]", r#"[["b","2"],["a","1"]]"#);
    check(
        "( () => { const p = new URLSearchParams( 'a=1&b=2&a=3' ); p.set( 'a', 9 ); p.append( 'c', '' ); p.delete( 'b' ); p.sort(); return [ p.toString(), p.size, p.has( 'c' ), p.get( 'zz' ) ] } )()",
        r#"["a=9&c=",2,true,null]"#,
    );
    check("new URLSearchParams( { lone: '\\ud800' } ).toString()", r#""lone=%EF%BF%BD""#);
}

#[test]
fn urls_are_parsed_and_edited() {
    check(
        "( () => { const u = new URL( '/v1/x?chain=ETH#f', 'https://api.example.test:8443/root' ); return [ u.href, u.origin, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.protocol ] } )()",
        r##"["https://api.example.test:8443/v1/x?chain=ETH#f","https://api.example.test:8443","api.example.test:8443","api.example.test","8443","/v1/x","?chain=ETH","#f","https:"]"##,
    );
    check(
        "( () => { const u = new URL( 'https://a.test/p?x=1' ); u.searchParams.set( 'y', 'a b' ); u.pathname = '/ü'; u.searchParams.delete( 'x' ); return String( u ) } )()",
        r#""https://a.test/%C3%BC?y=a+b""#,
    );
    check(
        "( () => { const u = new URL( 'https://a.test/?x=1' ); const p = u.searchParams; u.search = '?z=2'; return [ p.get( 'z' ), JSON.stringify( { u } ) ] } )()",
        r#"["2","{\"u\":\"https://a.test/?z=2\"}"]"#,
    );
    check("URL.canParse( 'nope' )", "false");
    check(
        "( () => { try { new URL( 'nope' ) } catch( e ) { return [ e.name, e.message ] } } )()",
        r#"["TypeError","Invalid URL: nope"]"#,
    );
}

#[test]
fn text_and_base64() {
    check("btoa( 'Aladdin:open sesame' )", r#""QWxhZGRpbjpvcGVuIHNlc2FtZQ==""#);
    check("atob( ' QQ = = ' ) + atob( 'YWI' )", r#""Aab""#);
    check("( () => { try { btoa( '€' ) } catch( e ) { return e.name } } )()", r#""InvalidCharacterError""#);
    check("( () => { try { atob( 'a' ) } catch( e ) { return e.name } } )()", r#""InvalidCharacterError""#);
    check("Array.from( new TextEncoder().encode( 'é€' ) )", "[195,169,226,130,172]");
    check("new TextDecoder().decode( new Uint8Array( [ 239, 187, 191, 195, 169, 255 ] ) )", "\"é\u{fffd}\"");
    check("new TextDecoder( 'latin1' ).decode( new Uint8Array( [ 228 ] ) )", r#""ä""#);
    check(
        "( () => { try { new TextDecoder( 'utf-8', { fatal: true } ).decode( new Uint8Array( [ 255 ] ) ) } catch( e ) { return e.name } } )()",
        r#""TypeError""#,
    );
}

#[test]
fn buffers() {
    check("Buffer.from( 'héllo' ).toString( 'hex' )", r#""68c3a96c6c6f""#);
    check("Buffer.from( '68c3a9zz', 'hex' ).toString()", r#""hé""#);
    check("Buffer.from( 'user:pass' ).toString( 'base64' )", r#""dXNlcjpwYXNz""#);
    check(
        "Buffer.from( '-_8', 'base64url' ).toString( 'base64' ) + Buffer.from( '+/8=', 'base64' ).toString( 'base64url' )",
        r#""+/8=-_8""#,
    );
    check("Buffer.concat( [ Buffer.from( 'ab' ), new Uint8Array( [ 99 ] ) ] ).toString()", r#""abc""#);
    check("Buffer.byteLength( '€' ) + Buffer.from( 'abcdef' ).slice( 1, 3 ).toString()", r#""3bc""#);
    check(
        "( () => { const b = Buffer.alloc( 8 ); b.writeUInt32BE( 0xdeadbeef, 0 ); b.writeInt16LE( -2, 4 ); return [ b.readUInt32BE( 0 ), b.readUInt8( 0 ), b.readUint16LE( 0 ), b.readInt16LE( 4 ), b.readUIntBE( 0, 3 ), b.length ] } )()",
        "[3735928559,222,44510,-2,14593470,8]",
    );
    check("Buffer.isBuffer( Buffer.from( [ 1, 2 ] ).subarray( 1 ) )", "true");
    check("Buffer.from( 'ab' )", r#"{"type":"Buffer","data":[97,98]}"#);
    check(
        "[ Buffer.from( 'abc' ).equals( Buffer.from( 'abc' ) ), Buffer.from( 'hello' ).indexOf( 'l' ), Buffer.from( 'hello' ).includes( 'ell' ) ]",
        "[true,2,true]",
    );
    check("Buffer.from( 'ÿ', 'latin1' ).toString( 'hex' )", r#""ff""#);
}

#[test]
fn clones_signals_and_dates() {
    check(
        "( () => { const a = { d: new Date( 0 ), m: new Map( [ [ 1, { x: [ 1, 2 ] } ] ] ), u: undefined }; a.self = a; const b = structuredClone( a ); return [ b !== a, b.self === b, b.d.toISOString(), b.m.get( 1 ) ] } )()",
        r#"[true,true,"1970-01-01T00:00:00.000Z",{"x":[1,2]}]"#,
    );
    check(
        "( () => { const a = Buffer.from( 'ab' ); const b = structuredClone( a ); a[ 0 ] = 0; return [ b.toString(), structuredClone( new Float64Array( [ 1.5 ] ) )[ 0 ] ] } )()",
        r#"["ab",1.5]"#,
    );
    check(
        "( () => { try { structuredClone( { f() {} } ) } catch( e ) { return e.name } } )()",
        r#""DataCloneError""#,
    );
    check("[ AbortSignal.timeout( 60000 ).aborted, AbortSignal.timeout( -1 ).aborted ]", "[false,true]");
    check(
        "( () => { const c = new AbortController(); let seen = 0; c.signal.addEventListener( 'abort', () => seen++ ); c.abort(); return [ c.signal.aborted, seen, c.signal.reason.name ] } )()",
        r#"[true,1,"AbortError"]"#,
    );
    check("typeof Date.now()", r#""number""#);
}

#[test]
fn modern_language() {
    check("[ 3, 1, 2 ].toSorted().with( 0, 9 ).at( -1 )", "3");
    check("Object.groupBy( [ 1, 2, 3 ], ( n ) => n % 2 ? 'odd' : 'even' )", r#"{"odd":[1,3],"even":[2]}"#);
    check("( 'a-b-c' ).replaceAll( '-', '' ) + [ 1, 2, 3 ].findLast( ( n ) => n < 3 )", r#""abc2""#);
    check("'2024-05-06'.match( /(?<year>\\d{4})-(?<rest>.*)/u ).groups.year", r#""2024""#);
}

#[test]
fn what_must_not_be_there() {
    for name in [
        "process",
        "require",
        "module",
        "global",
        "fs",
        "fetch",
        "setTimeout",
        "setInterval",
        "XMLHttpRequest",
        "Deno",
        "Bun",
        "os",
        "std",
        "print",
        "scriptArgs",
        "performance",
        "navigator",
        "WebAssembly",
        "gc",
    ] {
        check(&format!("typeof {name}"), r#""undefined""#);
    }
    for code in [
        "eval( '1' )",
        "globalThis[ 'ev' + 'al' ]( '1' )",
        "( 0, eval )( '1' )",
        "Function( 'return 1' )()",
        "new Function( 'return 1' )()",
        "( {} ).constructor.constructor( 'return 1' )()",
        "( async () => {} ).constructor( 'return 1' )()",
        "( function* () {} ).constructor( 'yield 1' )()",
        "( async function* () {} ).constructor( 'yield 1' )()",
        "Reflect.construct( Function, [ 'return 1' ] )()",
        "\\u0073etTimeout( () => {}, 1 )",
    ] {
        let seen = value_of(code);
        assert!(seen.contains("Thrown") && seen.contains("tool.mjs:1:"), "{code}: {seen}");
    }
    for module in ["fs", "node:fs", "os", "std", "crypto", "./other.mjs", "https://example.test/x.js"] {
        let seen = value_of(&format!("await import( '{module}' )"));
        assert!(seen.contains("Thrown"), "{module}: {seen}");
    }
}

#[test]
fn static_imports_are_refused() {
    let text = "import fs from 'fs'\nexport const handlers = () => ( {} )";
    let error = run(&Case { text, ..Case::default() }).unwrap_err();
    assert!(error.to_string().contains("fs"), "{error}");
}

#[test]
fn the_log_gets_lines() {
    let text = post_request(
        "console.log( 'a', 1, { b: 2 } ); console.warn( new TypeError( 'bad' ) ); console.error( null, undefined ); console.debug( '\\ud800' ); return { response }",
    );
    let host = Rc::new(EchoHost::default());
    run_with(&Case { text: &text, ..Case::default() }, Rc::clone(&host)).unwrap();
    let lines = host.lines.borrow();
    let lines: Vec<(LogLevel, &str)> = lines.iter().map(|(level, line)| (*level, line.as_str())).collect();
    assert_eq!(
        lines,
        [
            (LogLevel::Info, r#"a 1 {"b":2}"#),
            (LogLevel::Warn, "TypeError: bad"),
            (LogLevel::Error, "null undefined"),
            (LogLevel::Debug, "\u{fffd}")
        ]
    );
}

#[test]
fn base64_of_a_token_becomes_a_derived_token() {
    let tokens = ["t0k3n4f7a1b2c3d4".to_owned()];
    let text = post_request(
        "return { a: btoa( `user:${payload.serverParams.KEY}` ), b: Buffer.from( payload.serverParams.KEY ).toString( 'base64url' ), c: btoa( 'plain' ) }",
    );
    let input = r#"{"response":null,"struct":{},"payload":{"serverParams":{"KEY":"t0k3n4f7a1b2c3d4"}}}"#;
    let output = run(&Case { text: &text, input, tokens: &tokens, ..Case::default() }).unwrap();
    let HookValue::Json(json) = output.value else { panic!() };
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["c"], "cGxhaW4=");
    let derived: Vec<_> = output
        .derived
        .iter()
        .map(|token| (token.token.as_str(), token.encoding, token.text.as_ref()))
        .collect();
    assert_eq!(
        derived,
        [
            (json["a"].as_str().unwrap(), DerivedEncoding::Base64, b"user:t0k3n4f7a1b2c3d4".as_slice()),
            (json["b"].as_str().unwrap(), DerivedEncoding::Base64Url, b"t0k3n4f7a1b2c3d4".as_slice()),
        ]
    );
    assert!(json["a"].as_str().unwrap().bytes().all(|byte| byte.is_ascii_alphanumeric()));
}

#[test]
fn libraries_load_when_they_are_first_named() {
    let libraries = [
        ("double".to_owned(), "console.log( 'loaded' ); export default ( n ) => n * 2".to_owned()),
        ("named".to_owned(), "export const one = 1".to_owned()),
        ("unused".to_owned(), "throw new Error( 'never' )".to_owned()),
    ];
    let text = "export const handlers = ( { libraries } ) => ( { tool: { postRequest: () => [ libraries.double( 4 ), libraries.double( 5 ), libraries.named.one, libraries.other, Object.keys( libraries ) ] } } )";
    let sandbox = flowmcp_sandbox_js::JsSandbox::default();
    let settings = SandboxSettings::default();
    let source = SandboxSource { path: "a.mjs", text, libraries: &libraries };
    let code = sandbox.compile(&source, settings.limits).unwrap();
    let program = SandboxProgram { path: "a.mjs", code: &code, shared_lists: "" };
    let host = Rc::new(EchoHost::default());
    let mut handlers = sandbox.load(&program, settings, Rc::clone(&host) as Rc<dyn SandboxHost>).unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let call = HookCall { tool: "tool", hook: Hook::PostRequest, input: "{}", tokens: &[], deadline };
    let value = handlers.call(&call).unwrap().value;
    assert_eq!(value, HookValue::Json(r#"[8,10,1,null,["double","named","unused"]]"#.to_owned()));
    assert_eq!(host.lines.borrow().len(), 1, "loaded once");
}
