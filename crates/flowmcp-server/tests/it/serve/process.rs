//! A running server: lines in, lines out, and its end.

use std::{
    io::{BufRead as _, BufReader, Read, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::mpsc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::cli::{
    project::{Project, SOON, schema, tool},
    upstream::Upstream,
};

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

pub(crate) struct Process {
    child: Child,
    pub(crate) input: Option<ChildStdin>,
    output: mpsc::Receiver<String>,
    log: mpsc::Receiver<String>,
}

/// A server of four tools, and a file that cannot be read among its schemas.
pub(crate) fn project(upstream: &Upstream, more: &str) -> Project {
    let tools = ["ok", "slow", "gate", "exact"].map(tool).concat();
    upstream
        .project(more)
        .file("pack/Broken.mjs", "export const main = {")
        .file("pack/Made.mjs", schema("made", "Made", "", &tools))
}

pub(crate) fn call(id: u64, tool: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": {} } })
        .to_string()
}

pub(crate) fn request(id: u64, method: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method }).to_string()
}

impl Process {
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut child = project.command(arguments).spawn().unwrap();
        let output = lines(child.stdout.take().unwrap());
        let log = lines(child.stderr.take().unwrap());
        Process { input: child.stdin.take(), child, output, log }
    }

    /// The same, with nobody to read its stdout.
    pub(crate) fn start_unheard(project: &Project, arguments: &[&str]) -> Self {
        let mut child = project.command(arguments).spawn().unwrap();
        drop(child.stdout.take());
        let log = lines(child.stderr.take().unwrap());
        Process { input: child.stdin.take(), child, output: mpsc::channel().1, log }
    }

    /// The same, with a stdout that stays open and that nobody reads.
    pub(crate) fn start_unread(project: &Project, arguments: &[&str]) -> (Self, ChildStdout) {
        let mut child = project.command(arguments).spawn().unwrap();
        let unread = child.stdout.take().unwrap();
        let log = lines(child.stderr.take().unwrap());
        (Process { input: child.stdin.take(), child, output: mpsc::channel().1, log }, unread)
    }

    #[track_caller]
    pub(crate) fn send(&mut self, lines: &[&str]) {
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        self.input.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// The next line of stdout, which is a JSON-RPC message or the test fails.
    #[track_caller]
    pub(crate) fn answer(&self) -> Value {
        let line = self.output.recv_timeout(SOON).expect("an answer");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// The log lines that came since the last time.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.try_iter().collect()
    }

    /// The first log line that holds a text.
    #[track_caller]
    pub(crate) fn logged(&self, text: &str) -> String {
        let mut seen = Vec::new();
        loop {
            match self.log.recv_timeout(SOON) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => seen.push(line),
                Err(_) => panic!("{text:?} was not logged: {seen:#?}"),
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn terminate(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    }

    /// Closes stdin, and waits for the end: its exit code and the rest of stdout and stderr.
    #[track_caller]
    pub(crate) fn end(mut self, within: Duration) -> (Option<i32>, Vec<String>, Vec<String>) {
        let start = Instant::now();
        drop(self.input.take());
        // Both pipes close when the process ends, which needs no watching of the process itself.
        let log = rest(&self.log);
        let output = rest(&self.output);
        let code = self.child.wait().unwrap().code();
        assert!(start.elapsed() < within, "took {:?}: {log:#?}", start.elapsed());
        (code, output, log)
    }
}

impl Drop for Process {
    /// A test that failed leaves no server behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(stream: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

#[track_caller]
fn rest(lines: &mpsc::Receiver<String>) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        match lines.recv_timeout(SOON) {
            Ok(line) => seen.push(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => return seen,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("did not end: {seen:#?}"),
        }
    }
}
