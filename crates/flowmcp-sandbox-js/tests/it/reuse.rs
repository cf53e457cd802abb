//! Contexts that outlive a call.

use std::{
    rc::Rc,
    time::{Duration, Instant},
};

use flowmcp_plugin::*;

use crate::support::{EchoHost, load, post_request};

fn reused(text: &str) -> Box<dyn Handlers> {
    let settings = SandboxSettings { context: ContextLife::Schema, ..SandboxSettings::default() };
    load(text, r#"{"l":[1]}"#, settings, Rc::new(EchoHost::default())).expect("the source compiles")
}

fn call(handlers: &mut dyn Handlers) -> Result<HookValue, SandboxError> {
    let input = r#"{"response":{"id":725653563933458432},"struct":{},"payload":{}}"#;
    let deadline = Instant::now() + Duration::from_secs(20);
    handlers.prepare();
    handlers
        .call(&HookCall { tool: "tool", hook: Hook::PostRequest, input, tokens: &[], deadline })
        .map(|output| output.value)
}

#[test]
fn closures_keep_their_state() {
    let mut handlers = reused(
        "let n = 0\nexport const handlers = () => ( { tool: { postRequest: ( { response } ) => ( { n: ++n, response } ) } } )",
    );
    for n in 1..4 {
        let json = format!(r#"{{"n":{n},"response":{{"id":725653563933458432}}}}"#);
        assert_eq!(call(handlers.as_mut()), Ok(HookValue::Json(json)));
    }
}

#[test]
fn intrinsics_cannot_be_changed() {
    for write in [
        "Object.prototype.admin = true",
        "Array.prototype.map = null",
        "JSON.parse = null",
        "globalThis.seen = 1",
        "Promise.prototype.then = null",
        "Object.prototype.toString = null",
        "Object.getPrototypeOf( async () => {} ).x = 1",
        "console.log = null",
        "URL.prototype.toString = null",
        "Buffer.from = null",
    ] {
        let mut handlers = reused(&post_request(&format!("{write}; return 1")));
        let error = call(handlers.as_mut()).unwrap_err().to_string();
        assert!(error.starts_with("TypeError: "), "{write}: {error}");
    }
}

#[test]
fn own_properties_named_like_intrinsics_still_work() {
    let mut handlers = reused(&post_request(
        "const o = {}; o.toString = () => 'own'; o.constructor = 1; const e = new Error( 'x' ); e.name = 'Mine'; e.message = 'y'; class A {} A.prototype.toString = () => 'a'; return [ `${o}`, o.constructor, String( e ), `${new A()}`, new URL( 'https://a.test' ).href, btoa( 'a' ), `${[ 1, 2 ]}` ]",
    ));
    let json = r#"["own",1,"Mine: y","a","https://a.test/","YQ==","1,2"]"#;
    assert_eq!(call(handlers.as_mut()), Ok(HookValue::Json(json.to_owned())));
}

#[test]
fn a_limit_ends_the_context() {
    let limits = SandboxLimits { cpu: Duration::from_millis(100), ..SandboxLimits::default() };
    let settings = SandboxSettings { context: ContextLife::Schema, limits, ..SandboxSettings::default() };
    let mut handlers =
        load(&post_request("for( ;; ) {}"), "", settings, Rc::new(EchoHost::default())).unwrap();
    assert!(matches!(call(handlers.as_mut()), Err(SandboxError::Time { .. })));
    assert!(handlers.is_spent());
    assert!(matches!(call(handlers.as_mut()), Err(SandboxError::Crashed { .. })));
}

/// Two schemas share the memory of one sandbox, and every call begins with a context as it was built.
#[test]
fn calls_start_fresh_whoever_ran_before() {
    let sandbox = flowmcp_sandbox_js::JsSandbox::default();
    let load = |name: &str| {
        let text = post_request(&format!(
            "globalThis.seen = ( globalThis.seen ?? 0 ) + 1; delete globalThis.btoa; Array.prototype.map = null; Object.prototype.left = response; return [ '{name}', globalThis.seen, typeof btoa, new URL( 'https://a.test/x' ).pathname, 'y'.repeat( 3e6 ).length ]"
        ));
        let source = SandboxSource { path: "a.mjs", text: &text, libraries: &[] };
        let code = sandbox.compile(&source, SandboxLimits::default()).unwrap();
        let program = SandboxProgram { path: "a.mjs", code: &code, shared_lists: "" };
        sandbox.load(&program, SandboxSettings::default(), Rc::new(EchoHost::default())).unwrap()
    };
    let mut both = [load("one"), load("two")];
    let json = |name: &str| HookValue::Json(format!(r#"["{name}",1,"undefined","/x",3000000]"#));
    for _ in 0..3 {
        assert_eq!(call(both[0].as_mut()), Ok(json("one")));
        assert_eq!(call(both[1].as_mut()), Ok(json("two")));
    }
    let [one, mut two] = both;
    drop(one);
    assert_eq!(call(two.as_mut()), Ok(json("two")));
}

#[test]
fn random_numbers_differ_from_call_to_call() {
    let text = post_request("return [ Math.random(), Math.random.name, Math.random.length ]");
    let mut handlers = load(&text, "", SandboxSettings::default(), Rc::new(EchoHost::default())).unwrap();
    let seen: Vec<String> = (0..3).map(|_| format!("{:?}", call(handlers.as_mut()))).collect();
    assert!(seen.iter().all(|seen| seen.contains(r#",\"random\",0]"#)), "{seen:?}");
    assert!(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2], "{seen:?}");
}
