use std::{io, time::Duration};

use flowmcp_engine::DEFAULT_VIEW;
use flowmcp_server::mcp::{LineSettings, serve_streams};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::world::{SOON, World, snapshot, summary, tool};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

struct Session {
    input: DuplexStream,
    output: tokio::io::Lines<BufReader<DuplexStream>>,
    server: JoinHandle<io::Result<()>>,
    shutdown: CancellationToken,
}

impl Session {
    fn start(world: &World, settings: LineSettings) -> Self {
        let (input, reader) = tokio::io::duplex(1 << 16);
        let (writer, output) = tokio::io::duplex(1 << 16);
        let shutdown = CancellationToken::new();
        let (engine, token) = (world.engine.clone(), shutdown.clone());
        let server = tokio::spawn(async move {
            serve_streams(engine, DEFAULT_VIEW, reader, writer, settings, token).await
        });
        Session { input, output: BufReader::new(output).lines(), server, shutdown }
    }

    async fn send(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn answer(&mut self) -> Value {
        let line = timeout(SOON, self.output.next_line())
            .await
            .expect("an answer")
            .unwrap()
            .expect("an open session");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    async fn expect(&mut self, expected: &str) {
        assert_eq!(summary(&self.answer().await), expected);
    }

    /// Closes the input and waits for the end; what was still answered, in any order.
    async fn end(self) -> Vec<String> {
        let Session { input, mut output, server, .. } = self;
        drop(input);
        let mut answers = Vec::new();
        while let Some(line) = timeout(SOON, output.next_line()).await.expect("the end").unwrap() {
            answers.push(summary(&serde_json::from_str(&line).unwrap()));
        }
        timeout(SOON, server).await.expect("the end").unwrap().unwrap();
        answers.sort();
        answers
    }
}

fn call(id: i64, tool: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": {} } })
        .to_string()
}

fn cancel(id: i64) -> String {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
        .to_string()
}

/// Sends all bytes at once and closes; all answers, sorted.
async fn check(input: &[u8], expected: &[&str]) {
    let world = World::new();
    let mut session = Session::start(&world, LineSettings::default());
    session.input.write_all(input).await.unwrap();
    assert_eq!(session.end().await, expected, "{}", String::from_utf8_lossy(input));
}

#[tokio::test]
async fn lines_that_are_no_requests_leave_the_session_up() {
    let list = r#"{"jsonrpc":"2.0","id":9,"method":"tools/list"}"#;
    check(b"", &[]).await;
    check(b"\n\r\n  \n", &[]).await;
    check(
        format!("{INITIALIZE}\r\nnot json\r\n\r\n{list}\r\n").as_bytes(),
        &["0 initialized 2025-06-18", "9 5 tools"],
    )
    .await;
    check(format!("{INITIALIZE}\n\u{feff}{list}").as_bytes(), &["0 initialized 2025-06-18", "9 5 tools"])
        .await;
    check(
        format!(
            "{INITIALIZE}\n{}\n{}\n{}\n{list}\n",
            r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#,
            r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":null}"#,
            "[ ]"
        )
        .as_bytes(),
        &["- error -32600", "0 initialized 2025-06-18", "7 error -32601", "8 error -32602", "9 5 tools"],
    )
    .await;
}

#[tokio::test]
async fn any_first_message_leaves_the_session_up() {
    for first in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        "not json",
    ] {
        check(format!("{first}\n{INITIALIZE}\n").as_bytes(), &["0 initialized 2025-06-18"]).await;
    }
}

#[tokio::test]
async fn initialize_agrees_on_a_version_that_has_it() {
    for (asked, agreed) in [
        (r#""protocolVersion":"2024-11-05""#, "2024-11-05"),
        (r#""protocolVersion":"2025-03-26""#, "2025-03-26"),
        (r#""protocolVersion":"2025-06-18""#, "2025-06-18"),
        (r#""protocolVersion":"2025-11-25""#, "2025-11-25"),
        (r#""protocolVersion":"2026-07-28""#, "2025-11-25"),
        (r#""protocolVersion":"1999-01-01""#, "2025-11-25"),
        (r#""ignored":1"#, "2025-11-25"),
    ] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{{asked},"capabilities":{{}},"clientInfo":{{"name":"t","version":"0"}}}}}}"#
        );
        check(line.as_bytes(), &[&format!("0 initialized {agreed}")]).await;
    }
}

#[tokio::test]
async fn the_revision_without_initialize_is_served_too() {
    let world = World::new();
    let mut session = Session::start(&world, LineSettings::default());
    session
        .send(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{{MODERN}}}}}"#))
        .await;
    let discovered = session.answer().await;
    assert_eq!(discovered["result"]["capabilities"], json!({ "tools": {} }));
    assert_eq!(discovered["result"]["supportedVersions"].as_array().unwrap().len(), 5);
    session
        .send(&format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"made__fast",{MODERN}}}}}"#
        ))
        .await;
    let called = session.answer().await;
    assert_eq!(called["result"]["resultType"], "complete");
    assert_eq!(called["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "flowmcp-server");
    // A version that nobody speaks.
    let unknown = MODERN.replace("2026-07-28", "2099-01-01");
    session
        .send(&format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{{{unknown}}}}}"#))
        .await;
    session.expect("3 error -32022").await;
    assert!(session.end().await.is_empty());
}

#[tokio::test]
async fn tools_are_described() {
    let world = World::new();
    let mut session = Session::start(&world, LineSettings::default());
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#).await;
    let answer = session.answer().await;
    insta::assert_snapshot!("tools_list", serde_json::to_string_pretty(&answer["result"]).unwrap());
}

#[tokio::test]
async fn calls_are_answered() {
    let world = World::new();
    let mut session = Session::start(&world, LineSettings::default());
    session.send(&call(1, "made__fast")).await;
    let answer = session.answer().await;
    assert_eq!(
        answer["result"].to_string(),
        r#"{"content":[{"type":"text","text":"{\"ok\":1.10}"}],"isError":false,"_meta":{"flowmcp":{"status":true,"messages":[],"notes":[]}}}"#
    );
    session.send(&call(2, "made__fats")).await;
    let answer = session.answer().await;
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["data"], json!({ "nearest": "made__fast" }), "{answer}");
    session.send(&call(3, "made__counted")).await;
    let answer = session.answer().await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(answer["result"]["_meta"]["flowmcp"]["status"], false, "{answer}");
}

#[tokio::test]
async fn pages_follow_one_another_within_one_catalogue() {
    let tools: String = (0..2500).map(|number| tool("GET", &format!("t{number}"))).collect();
    let world = World::with(&tools);
    let mut session = Session::start(&world, LineSettings::default());
    let mut cursor = Value::Null;
    let mut names = Vec::new();
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        session
            .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params }).to_string())
            .await;
        let answer = session.answer().await;
        let page = answer["result"]["tools"].as_array().unwrap();
        names.extend(page.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        match answer["result"].get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    let expected: Vec<_> = (0..2500).map(|number| format!("made__t{number}")).collect();
    assert_eq!(names, expected);

    world.engine.replace(snapshot(&tool("GET", "other")));
    for cursor in [cursor.as_str().unwrap(), "x", "0.0", "0.x"] {
        let params = json!({ "cursor": cursor });
        session
            .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params }).to_string())
            .await;
        session.expect("1 error -32602").await;
    }
}

/// A list that this server writes as text, and one that rmcp writes because of its `_meta`.
#[tokio::test]
async fn a_list_is_the_same_text_whoever_writes_it() {
    let tools: String = (0..1200).map(|number| tool("GET", &format!("t{number}"))).collect();
    let world = World::with(&tools);
    let mut session = Session::start(&world, LineSettings::default());
    session.send(INITIALIZE).await;
    session.expect("0 initialized 2025-06-18").await;
    let mut cursor = json!({});
    for _ in 0..2 {
        let mut answers = Vec::new();
        for meta in [None, Some(json!({ "progressToken": 1 }))] {
            let mut params = cursor.clone();
            if let Some(meta) = meta {
                params["_meta"] = meta;
            }
            let list = json!({ "jsonrpc": "2.0", "id": "l", "method": "tools/list", "params": params });
            session.send(&list.to_string()).await;
            answers.push(session.answer().await);
        }
        assert!(!answers[0]["result"]["tools"].as_array().unwrap().is_empty());
        assert_eq!(answers[0].to_string(), answers[1].to_string());
        cursor = json!({ "cursor": answers[0]["result"]["nextCursor"] });
    }
}

#[tokio::test]
async fn slow_calls_hold_up_nothing() {
    let mut world = World::new();
    let mut session = Session::start(&world, LineSettings::default());
    session.send(&call(1, "made__slow")).await;
    world.expect_slow("started").await;
    for id in 2..20 {
        session.send(&call(id, "made__fast")).await;
    }
    session.send(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#).await;
    let mut answers = Vec::new();
    for _ in 2..=20 {
        answers.push(summary(&session.answer().await));
    }
    answers.sort();
    assert!(answers.contains(&r#""p" {}"#.to_owned()), "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.contains("isError=false")).count(), 18, "{answers:?}");
}

#[tokio::test]
async fn a_repeated_id_is_refused_while_its_request_is_in_flight() {
    let mut world = World::new();
    let mut session = Session::start(&world, LineSettings::default());
    session.send(&call(1, "made__slow")).await;
    world.expect_slow("started").await;
    session.send(&call(1, "made__fast")).await;
    session.expect("1 error -32600").await;
    session.send(&cancel(1)).await;
    world.expect_slow("dropped").await;
    session.send(&call(2, "made__fast")).await;
    session.expect(r#"2 isError=false {"ok":1.10}"#).await;
}

#[tokio::test]
async fn a_cancelled_call_gets_no_answer_and_its_upstream_request_ends() {
    let mut world = World::new();
    let mut session = Session::start(&world, LineSettings::default());
    session.send(&call(1, "made__slow")).await;
    world.expect_slow("started").await;
    session.send(&cancel(1)).await;
    world.expect_slow("dropped").await;
    assert!(session.end().await.is_empty());
}

#[tokio::test]
async fn end_of_input_gives_calls_a_moment_and_then_cancels_them() {
    let mut world = World::new();
    let settings = LineSettings { grace: Duration::from_millis(50), ..LineSettings::default() };
    let mut session = Session::start(&world, settings);
    session.send(&call(1, "made__slow")).await;
    world.expect_slow("started").await;
    session.send(&call(2, "made__fast")).await;
    let answers = session.end().await;
    world.expect_slow("dropped").await;
    assert!(answers.contains(&r#"2 isError=false {"ok":1.10}"#.to_owned()), "{answers:?}");
}

#[tokio::test]
async fn shutdown_drains_and_then_cancels() {
    let mut world = World::new();
    let settings = LineSettings { drain: Duration::from_millis(50), ..LineSettings::default() };
    let mut session = Session::start(&world, settings);
    session.send(&call(1, "made__slow")).await;
    world.expect_slow("started").await;
    session.shutdown.cancel();
    world.expect_slow("dropped").await;
    timeout(SOON, session.server).await.expect("the end although the input is open").unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_is_gone_ends_the_session_quietly() {
    let mut world = World::new();
    let mut session = Session::start(&world, LineSettings::default());
    session.send(&call(1, "made__slow")).await;
    world.expect_slow("started").await;
    let Session { mut input, output, server, .. } = session;
    drop(output);
    input.write_all(format!("{}\n", call(2, "made__fast")).as_bytes()).await.unwrap();
    world.expect_slow("dropped").await;
    timeout(SOON, server).await.expect("the end although the input is open").unwrap().unwrap();
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused() {
    let world = World::new();
    let mut session = Session::start(&world, LineSettings { line_bytes: 200, ..LineSettings::default() });
    session.send(&call(1, &"x".repeat(100_000))).await;
    session.expect("- error -32600").await;
    session.send(&call(2, "made__fast")).await;
    session.expect(r#"2 isError=false {"ok":1.10}"#).await;
}
