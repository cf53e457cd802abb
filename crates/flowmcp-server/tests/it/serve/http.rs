//! Sessions over streamable HTTP.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use serde_json::{Value, json};

use super::process::{INITIALIZE, Process, call, project, request};
use crate::cli::{project::SOON, upstream::Upstream};

const PROMPT: Duration = Duration::from_secs(5);

/// The address that the server says it listens on.
fn address(process: &Process) -> String {
    let line = process.logged("serving MCP over HTTP");
    line.rsplit_once('=').unwrap().1.to_owned()
}

fn open(address: &str, body: &str, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// Status, head and JSON body of an answer.
fn answer(mut stream: TcpStream) -> (u16, String, Value) {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_ascii_lowercase(), serde_json::from_str(body).unwrap_or(Value::Null))
}

fn session(address: &str) -> String {
    let (status, head, body) = answer(open(address, INITIALIZE, ""));
    assert_eq!((status, &body["result"]["serverInfo"]["name"]), (200, &json!("flowmcp-server")), "{head}");
    let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-06-18\r\n")
}

#[test]
fn a_session_from_start_to_end() {
    let upstream = Upstream::start();
    let project = project(&upstream, "");
    let mut process = Process::start(&project, &["serve", "--http", "127.0.0.1:0"]);
    // The end of input is no end here; SIGTERM is.
    drop(process.input.take());
    let address = address(&process);
    let headers = session(&address);
    let (status, _, list) = answer(open(&address, &request(1, "tools/list"), &headers));
    assert_eq!((status, list["result"]["tools"].as_array().map(Vec::len)), (200, Some(4)), "{list}");
    let (_, _, called) = answer(open(&address, &call(2, "made__exact"), &headers));
    let text = r#"{"id":12345678901234567890,"price":0.10,"big":1e400}"#;
    assert_eq!(called["result"]["content"][0]["text"], text);
    let (status, ..) = answer(open(&address, &request(3, "ping"), "Origin: https://evil.test\r\n"));
    assert_eq!(status, 403);
    process.terminate();
    let (code, output, log) = process.end(PROMPT);
    assert_eq!((code, output.len()), (Some(0), 0), "{log:#?}");
}

#[test]
fn a_client_that_goes_away_ends_its_upstream_request() {
    let upstream = Upstream::start();
    let project = project(&upstream, "");
    let process = Process::start(&project, &["serve", "--http", "127.0.0.1:0"]);
    let address = address(&process);
    let headers = session(&address);
    let stream = open(&address, &call(1, "made__slow"), &headers);
    upstream.expect("GET /slow");
    drop(stream);
    upstream.expect("closed");
}

#[test]
fn sigterm_lets_a_call_finish() {
    let upstream = Upstream::start();
    let project = project(&upstream, "");
    let process = Process::start(&project, &["serve", "--http", "127.0.0.1:0"]);
    let address = address(&process);
    let headers = session(&address);
    let stream = open(&address, &call(1, "made__gate"), &headers);
    upstream.expect("GET /gate");
    process.terminate();
    process.logged("shutting down");
    upstream.open_gate();
    let (status, _, body) = answer(stream);
    assert_eq!((status, &body["result"]["content"][0]["text"]), (200, &json!(r#"{"opened":true}"#)));
    let (code, _, log) = process.end(PROMPT);
    assert_eq!(code, Some(0), "{log:#?}");
}

#[test]
fn an_address_that_is_taken_is_exit_code_2() {
    let upstream = Upstream::start();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = project(&upstream, "").run(&["serve", "--http", &address]).code(2);
    let last = ran.stderr.lines().last().unwrap();
    assert!(last.starts_with("error: cannot listen on 127.0.0.1:[PORT]: "), "{}", ran.whole());
}

/// Both listeners at once; the client that started the process ends it.
#[test]
fn stdio_and_http_together() {
    let upstream = Upstream::start();
    let project = project(&upstream, "[serve]\nstdio = true\nhttp = \"127.0.0.1:0\"\n");
    let mut process = Process::start(&project, &[]);
    let address = address(&process);
    let headers = session(&address);
    process.send(&[INITIALIZE, &call(1, "made__ok")]);
    let mut ids = [process.answer()["id"].as_u64(), process.answer()["id"].as_u64()];
    ids.sort_unstable();
    assert_eq!(ids, [Some(0), Some(1)]);
    let (status, ..) = answer(open(&address, &call(2, "made__ok"), &headers));
    assert_eq!(status, 200);
    let (code, output, log) = process.end(PROMPT);
    assert_eq!((code, output.len()), (Some(0), 0), "{log:#?}");
}
