//! Sessions on stdin and stdout.

use std::time::Duration;

use serde_json::{Value, json};

use super::process::{INITIALIZE, INITIALIZED, Process, call, project, request};
use crate::cli::{
    project::{Project, SOON, keyed, schema, tool},
    upstream::Upstream,
};

/// mcp-03: the promise is an end within 2 s; a busy machine gets some more.
const PROMPT: Duration = Duration::from_secs(5);

fn started(project: &Project, arguments: &[&str]) -> Process {
    let mut process = Process::start(project, arguments);
    process.send(&[INITIALIZE, INITIALIZED]);
    assert_eq!(process.answer()["result"]["serverInfo"]["name"], "flowmcp-server");
    process
}

#[test]
fn a_session_from_start_to_end() {
    let upstream = Upstream::start();
    for arguments in [&[][..], &["serve"], &["serve", "--stdio"]] {
        let project = project(&upstream, "");
        let mut process = started(&project, arguments);
        process.send(&[&request(1, "tools/list")]);
        let list = process.answer();
        let names: Vec<&str> = list["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["made__ok", "made__slow", "made__gate", "made__exact"]);
        process.send(&[&call(2, "made__exact")]);
        let answer = process.answer();
        assert_eq!(answer["result"]["isError"], false);
        let text = r#"{"id":12345678901234567890,"price":0.10,"big":1e400}"#;
        assert_eq!(answer["result"]["content"], json!([{ "type": "text", "text": text }]));
        process.send(&[&request(3, "ping")]);
        assert_eq!(process.answer(), json!({ "jsonrpc": "2.0", "id": 3, "result": {} }));
        process.send(&[&call(4, "made__none")]);
        assert_eq!(process.answer()["error"]["code"], -32602);
        let (code, output, _) = process.end(PROMPT);
        assert_eq!((code, output.len()), (Some(0), 0));
    }
}

#[test]
fn a_cancelled_call_ends_the_upstream_request() {
    let upstream = Upstream::start();
    let mut process = started(&project(&upstream, ""), &[]);
    process.send(&[&call(1, "made__slow")]);
    upstream.expect("GET /slow");
    process.send(&[
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}"#,
    ]);
    upstream.expect("closed");
    process.send(&[&request(2, "ping")]);
    assert_eq!(process.answer()["id"], 2, "a cancelled call has no answer");
    assert_eq!(process.end(PROMPT).0, Some(0));
}

#[test]
fn the_end_of_input_ends_the_process() {
    let upstream = Upstream::start();
    let project = project(&upstream, "");
    // Without any message, as with `< /dev/null`.
    let (code, output, log) = Process::start(&project, &["serve", "--stdio"]).end(PROMPT);
    assert_eq!((code, output.len()), (Some(0), 0), "{log:#?}");
    // While a call waits.
    let mut process = started(&project, &[]);
    process.send(&[&call(1, "made__slow")]);
    upstream.expect("GET /slow");
    let (code, _, log) = process.end(PROMPT);
    assert_eq!(code, Some(0), "{log:#?}");
    upstream.expect("closed");
    // What came right before the end is still answered.
    let mut process = started(&project, &[]);
    process.send(&[&call(1, "made__ok")]);
    let (code, output, _) = process.end(PROMPT);
    assert_eq!(code, Some(0));
    assert_eq!(output.len(), 1, "{output:?}");
}

#[test]
fn a_closed_stdout_ends_the_process_quietly() {
    let upstream = Upstream::start();
    let project = project(&upstream, "");
    let mut process = Process::start_unheard(&project, &[]);
    process.send(&[INITIALIZE]);
    // Its input stays open: the write error alone ends it.
    let input = process.input.take();
    let (code, _, log) = process.end(SOON);
    drop(input);
    assert_eq!(code, Some(0), "{log:#?}");
    assert!(log.iter().all(|line| !line.contains("panic") && !line.contains("ERROR")), "{log:#?}");
}

#[test]
fn a_client_that_reads_no_more_keeps_no_process() {
    let upstream = Upstream::start();
    // More than a pipe holds.
    let long = schema("long", "Long", "", &tool("get").replace("Does get", &"x".repeat(200_000)));
    let config = "[limits]\ndrain = \"1s\"\n";
    let project = project(&upstream, config).file("pack/Long.mjs", long);
    for by_signal in [false, true] {
        let (mut process, unread) = Process::start_unread(&project, &[]);
        process.send(&[INITIALIZE, INITIALIZED, &request(1, "tools/list"), &request(2, "ping")]);
        process.logged("tools visible");
        let input = if by_signal {
            process.terminate();
            process.input.take()
        } else {
            None
        };
        let (code, _, log) = process.end(PROMPT);
        assert_eq!(code, Some(0), "{log:#?}");
        drop((unread, input));
    }
}

#[test]
fn stdout_is_json_rpc_even_when_everything_is_logged() {
    let upstream = Upstream::start();
    let project = project(&upstream, "[log]\nlevel = \"trace\"\n");
    let mut process = started(&project, &[]);
    process.send(&["not json", &call(1, "made__ok"), &call(2, "made__none"), &request(3, "no/such")]);
    let mut ids: Vec<Value> = (0..3).map(|_| process.answer()["id"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [1, 2, 3]);
    let (code, output, log) = process.end(PROMPT);
    assert_eq!((code, output), (Some(0), Vec::new()));
    assert!(log.iter().any(|line| line.contains("DEBUG")), "{log:#?}");
}

/// mcp-10
#[test]
fn slow_calls_hold_up_nothing() {
    let upstream = Upstream::start();
    let mut process = started(&project(&upstream, ""), &[]);
    let mut lines = vec![call(1, "made__gate")];
    lines.extend((2..=20).map(|id| call(id, "made__ok")));
    lines.push(request(21, "ping"));
    process.send(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let mut ids: Vec<u64> = (0..20).map(|_| process.answer()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (2..=21).collect::<Vec<_>>());
    upstream.open_gate();
    let last = process.answer();
    assert_eq!(
        (&last["id"], &last["result"]["content"][0]["text"]),
        (&json!(1), &json!(r#"{"opened":true}"#))
    );
    assert_eq!(process.end(PROMPT).0, Some(0));
}

#[test]
fn sigterm_lets_a_call_finish() {
    let upstream = Upstream::start();
    let mut process = started(&project(&upstream, ""), &[]);
    process.send(&[&call(1, "made__gate")]);
    upstream.expect("GET /gate");
    process.terminate();
    process.logged("shutting down");
    upstream.open_gate();
    assert_eq!(process.answer()["result"]["content"][0]["text"], r#"{"opened":true}"#);
    // Its input stays open: the signal alone ends it.
    let input = process.input.take();
    let (code, _, log) = process.end(PROMPT);
    drop(input);
    assert_eq!(code, Some(0), "{log:#?}");
}

#[test]
fn sigterm_waits_no_longer_than_it_may() {
    let upstream = Upstream::start();
    let project = project(&upstream, "[limits]\ndrain = \"200ms\"\n");
    let mut process = started(&project, &[]);
    process.send(&[&call(1, "made__slow")]);
    upstream.expect("GET /slow");
    process.terminate();
    let input = process.input.take();
    let (code, _, log) = process.end(PROMPT);
    drop(input);
    assert_eq!(code, Some(0), "{log:#?}");
    upstream.expect("closed");
}

#[test]
fn a_second_signal_ends_at_once() {
    let upstream = Upstream::start();
    let mut process = started(&project(&upstream, ""), &[]);
    process.send(&[&call(1, "made__slow")]);
    upstream.expect("GET /slow");
    process.terminate();
    process.logged("shutting down");
    process.terminate();
    let input = process.input.take();
    let (code, ..) = process.end(PROMPT);
    drop(input);
    assert_eq!(code, Some(130));
}

/// sec-01 over MCP: neither an answer nor the log shows the key of a call that failed or that was answered with it.
#[test]
fn keys_stay_out_of_answers_and_logs() {
    let upstream = Upstream::start();
    let tools = ["slow", "missing", "echo", "loop"].map(|name| keyed(name, "DEMO_KEY")).concat();
    let project = project(&upstream, "[log]\nlevel = \"trace\"\n[limits]\ncall_deadline = \"2s\"\n")
        .file("pack/Keyed.mjs", schema("keyed", "Keyed", "requiredServerParams: ['DEMO_KEY'],", &tools))
        .file(".env", "DEMO_KEY=SECRET12-3456\n");
    let mut process = started(&project, &[]);
    for (id, name) in [(1, "slow"), (2, "missing"), (3, "echo"), (4, "loop")] {
        process.send(&[&call(id, &format!("keyed__{name}"))]);
        let answer = process.answer();
        assert_eq!(answer["result"]["isError"], name != "echo", "{answer}");
        assert!(!answer.to_string().contains("SECRET12"), "{answer}");
        upstream.expect(&format!("GET /{name}?apikey=SECRET12-3456"));
    }
    let (_, _, log) = process.end(PROMPT);
    assert!(log.iter().all(|line| !line.contains("SECRET12")), "{log:#?}");
}

#[test]
fn the_start_says_what_is_served_and_what_is_not() {
    let upstream = Upstream::start();
    let handlers =
        "export const handlers = () => ({ prepared: { preRequest: async ({ struct }) => ({ struct }) } })\n";
    let refused = tool("good") + &tool("bad").replace("GET", "FETCH");
    let project = project(&upstream, "[[packs]]\npath = \"gone\"\n")
        .file("pack/Handled.mjs", schema("handled", "Handled", "", &tool("prepared")) + handlers)
        .file(
            "pack/Lacking.mjs",
            schema("lacking", "Lacking", "requiredServerParams: ['NOWHERE'],", &keyed("get", "NOWHERE")),
        )
        .file("pack/Refused.mjs", schema("refused", "Refused", "", &refused));
    let ran = project.run(&["serve", "--stdio"]).code(0);
    insta::assert_snapshot!(ran.whole());
}

#[test]
fn a_log_in_json_is_an_object_a_line() {
    let upstream = Upstream::start();
    let project = project(&upstream, "[log]\nformat = \"json\"\nlevel = \"trace\"\n");
    let mut process = started(&project, &[]);
    process.send(&["not json", &call(1, "made__ok")]);
    assert_eq!(process.answer()["id"], 1);
    let (code, _, log) = process.end(PROMPT);
    assert_eq!(code, Some(0));
    for line in &log {
        let object: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(object["level"].is_string() && object["message"].is_string(), "{line}");
    }
    let broken = log.iter().filter(|line| line.contains("Broken.mjs")).count();
    assert_eq!(broken, 1, "{log:#?}");
}

/// What confines handlers is asked while clients are served, and only where there are handlers.
#[test]
fn handlers_without_confinement_are_a_warning() {
    let handled =
        "export const handlers = () => ( { ok: { postRequest: ( { response } ) => ( { response } ) } } )";
    for (handlers, isolation, warned) in
        [(handled, "thread", true), ("", "thread", false), ("", "process", false)]
    {
        let project =
            Project::new().file("pack/Made.mjs", schema("made", "Made", "", &tool("ok")) + handlers);
        let set = format!("sandboxes.isolation={isolation}");
        let mut process = started(&project, &["--pack", "pack", "--set", &set]);
        if warned {
            process.logged("handlers run in this process, and nothing confines them");
        }
        process.send(&[&request(1, "ping")]);
        process.answer();
        let (code, _, log) = process.end(PROMPT);
        assert_eq!(code, Some(0));
        assert!(!log.iter().any(|line| line.contains("confines")), "{log:#?}");
    }
}
