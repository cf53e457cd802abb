//! What calls of handlers do to each other: nothing.

use std::time::{Duration, Instant};

use flowmcp_plugin::SandboxSettings;

use super::world::{Answer, Setting, TOOL, block_on};

#[test]
fn the_same_call_gives_the_same_request_and_no_worker_starts_before_it() {
    let handlers = "{ tool: { preRequest: ( { struct, payload } ) => { struct.headers = { A: payload.serverParams.DEMO_KEY }; struct.url += '&n=' + [ globalThis.n = ( globalThis.n ?? 0 ) + 1 ]; return { struct } } } }";
    let world = Setting { handlers, ..Setting::default() }.world();
    assert_eq!(world.pool.workers(), (0, 0));
    block_on(async {
        for _ in 0..3 {
            assert_eq!(world.call("demo__tool", r#"{"q":"é"}"#).await, r#"{"ok":true}"#);
        }
    });
    let sent = world.sent();
    assert_eq!(sent[0], "GET https://api.example.test/v1/x?q=%C3%A9&n=1\nA: s3 cr/t\"+key");
    assert!(sent.iter().all(|request| *request == sent[0]), "{sent:?}");
}

/// Case js-05.
#[test]
fn nothing_leaks_from_one_tool_to_another() {
    let schema = |name: &str, body: &str| {
        format!(
            "export const main = {{ namespace: '{name}', name: 'Demo', description: 'd', version: '3.0.0', \
             root: 'https://api.example.test', sharedLists: [ 'chains' ], tools: {{ {TOOL} }} }}\n\
             export const handlers = ( {{ sharedLists }} ) => ( {{ tool: {{ postRequest: ( {{ response }} ) => {{ {body} }} }} }} )"
        )
    };
    let bad = schema(
        "bad",
        "Object.prototype.admin = true; Array.prototype.map = null; globalThis.seen = 1; \
         let frozen = 'no'; try { sharedLists.chains.push( 1 ) } catch { frozen = 'yes' } return { response: frozen }",
    );
    let good = schema(
        "good",
        "return { response: [ typeof ( {} ).admin, typeof globalThis.seen, typeof [].map, response ] }",
    );
    let answer: Answer = |_| (200, r#"{"__proto__":{"x":1},"constructor":1}"#);
    let world = Setting { answer, keys: &[], ..Setting::default() }.serve(&[bad, good]);
    block_on(async {
        assert_eq!(world.call("bad__tool", "{}").await, "yes");
        assert_eq!(
            world.call("good__tool", "{}").await,
            r#"["undefined","undefined","function",{"__proto__":{"x":1},"constructor":1}]"#
        );
    });
}

/// Case js-01: the loop ends at its limit, and a call beside it is answered meanwhile.
#[test]
fn an_endless_loop_stops_nobody_else() {
    let tools = format!("{TOOL}, {}", TOOL.replacen("tool", "loop", 1));
    let handlers = "{ loop: { postRequest: () => { for( ;; ) { try { for( ;; ) {} } catch {} } } }, \
                    tool: { postRequest: ( { response } ) => ( { response } ) } }";
    let mut sandbox = SandboxSettings::default();
    sandbox.limits.cpu = Duration::from_secs(2);
    let world = Setting { tools: &tools, handlers, sandbox, ..Setting::default() }.world();
    block_on(async {
        let quick = async {
            let text = world.call("demo__tool", "{}").await;
            (text, Instant::now())
        };
        let slow = async {
            let text = world.call("demo__loop", "{}").await;
            (text, Instant::now())
        };
        let ((quick, quick_end), (slow, slow_end)) = tokio::join!(quick, slow);
        assert_eq!(quick, r#"{"ok":true}"#);
        assert_eq!(slow, "! demo__loop: the handler postRequest failed: reached the time limit of 2s");
        assert!(quick_end < slow_end);
        assert_eq!(world.call("demo__tool", "{}").await, r#"{"ok":true}"#);
    });
}
