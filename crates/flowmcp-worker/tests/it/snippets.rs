//! Bodies of a `postRequest` that attack, for the tests of this crate and, through the real binary, of the server.

/// Name, body, and the beginnings that the Debug text of the `SandboxError` may have.
pub(crate) type Snippet = (&'static str, &'static str, &'static [&'static str]);

/// Code that does not come back.
pub(crate) const TIME: &[Snippet] = &[
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
    ("slow regular expression", "/^(a+)+$/.test( 'a'.repeat( 40 ) + '!' )", &["Time"]),
    (
        "sixty nested groups",
        "new RegExp( '(?:a|b'.repeat( 60 ) + ')+'.repeat( 60 ) ).test( 'ab'.repeat( 5000 ) + '!' ); for( ;; ) {}",
        &["Time", "Thrown", "Stack", "Memory"],
    ),
    (
        "Atomics.wait",
        "Atomics.wait( new Int32Array( new SharedArrayBuffer( 4 ) ), 0, 0 )",
        &["Thrown", "Time"],
    ),
];

/// Code that takes memory or stack, or returns too much.
pub(crate) const MEMORY: &[Snippet] = &[
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
    ("nested groups", "new RegExp( '(?:'.repeat( 1e5 ) )", &["Thrown", "Stack", "Time", "Memory"]),
    ("large result", "return 'x'.repeat( 2e6 )", &["Output", "Time"]),
    ("big BigInt", "let n = 3n; for( ;; ) { n = n * n }", &["Time", "Memory", "Thrown"]),
    ("50 MB", "return 'x'.repeat( 4e7 )", &["Output", "Memory", "Time"]),
];

/// Values that bite whoever looks at them.
pub(crate) const SHAPES: &[Snippet] = &[
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
    ("cycle", "const a = []; a.push( a ); return a", &["NotJson"]),
    ("function", "return () => 1", &["NotJson"]),
];

/// Ways to what a handler may not have, and to what it may not change.
pub(crate) const ESCAPES: &[Snippet] = &[
    ("eval", "eval( '1' )", &["Thrown"]),
    ("hidden eval", "globalThis[ 'ev' + 'al' ]( '1' )", &["Thrown"]),
    ("constructor", "( {} ).constructor.constructor( 'return 1' )()", &["Thrown"]),
    ("escaped timer", "\\u0073etTimeout( () => {}, 1 )", &["Thrown"]),
    ("import", "await import( 'fs' )", &["Thrown"]),
    ("process", "process.exit( 1 )", &["Thrown"]),
    ("shared lists", "sharedLists.chains.push( 1 )", &["Thrown"]),
    (
        "computed constructor",
        "const name = [ 'constr', 'uctor' ].join( '' ); ( () => {} )[ name ]( 'return 1' )()",
        &["Thrown"],
    ),
    (
        "constructor of async functions",
        "const name = [ 'constr', 'uctor' ].join( '' ); await Object.getPrototypeOf( async () => {} )[ name ]( 'return 1' )()",
        &["Thrown"],
    ),
    (
        "constructor of generators",
        "const name = [ 'constr', 'uctor' ].join( '' ); Object.getPrototypeOf( function* () {} )[ name ]( 'yield 1' )().next()",
        &["Thrown"],
    ),
    (
        "reflected constructor",
        "const name = [ 'constr', 'uctor' ].join( '' ); Reflect.construct( Reflect.get( () => {}, name ), [ 'return 1' ] )()",
        &["Thrown"],
    ),
];
