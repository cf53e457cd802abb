//! A folder of files and the binary run in it.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

/// Longest that a test waits for something that has to happen.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// A folder, and the environment in which the binary runs there: nothing but what a test sets.
pub(crate) struct Project {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

/// What a finished run left.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    pub(crate) fn new() -> Self {
        Project { folder: tempfile::tempdir().unwrap(), environment: Vec::new() }
    }

    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowmcp-server"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with_input(arguments, "")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self.command(arguments).spawn().unwrap();
        // A run that ends without reading its input closes the pipe, which is its right.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = finish(child, &format!("{arguments:?}"));
        Ran {
            code: output.status.code(),
            stdout: self.plain(&String::from_utf8(output.stdout).unwrap()),
            stderr: self.plain(&String::from_utf8_lossy(&output.stderr)),
        }
    }

    /// Text without what differs from run to run: the folder's name, times, ports.
    fn plain(&self, text: &str) -> String {
        let folder = self.folder.path().to_str().unwrap();
        let text = text.replace(folder, "[DIR]");
        let lines = text.split_inclusive('\n').map(|line| without_time(&without_port(line)));
        lines.collect()
    }
}

/// Waits for the end of a process, and ends it if it does not.
fn finish(child: Child, what: &str) -> std::process::Output {
    let id = child.id().to_string();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(SOON) {
        Ok(output) => output.unwrap(),
        Err(_) => {
            let _ = Command::new("kill").args(["-9", &id]).status();
            panic!("{what} did not end")
        }
    }
}

/// A log line begins with its time; the summary ends with how long it took.
fn without_time(line: &str) -> String {
    let line = match line.split_once(' ') {
        Some((time, rest)) if time.len() > 19 && time.ends_with('Z') && time.contains('T') => {
            rest.trim_start()
        }
        _ => line,
    };
    match line.rsplit_once("; ") {
        Some((before, after)) if after.trim_end().ends_with(" ms") => format!("{before}; [N] ms\n"),
        _ => line.to_owned(),
    }
}

fn without_port(line: &str) -> String {
    let mut parts = line.split("127.0.0.1:");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str("127.0.0.1:[PORT]");
        plain.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    plain
}

impl Ran {
    /// The whole run as one text for a snapshot.
    pub(crate) fn whole(&self) -> String {
        let code = self.code.map_or("none".to_owned(), |code| code.to_string());
        format!("exit code {code}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr)
    }

    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, Some(expected), "{}", self.whole());
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.whole()))
    }
}

/// A schema with the given entries in `tools`, and further fields of `main` before them.
pub(crate) fn schema(namespace: &str, name: &str, fields: &str, tools: &str) -> String {
    format!(
        "export const main = {{\n    namespace: '{namespace}',\n    name: '{name}',\n    description: 'Made up',\n    \
         version: '3.0.0',\n    root: 'https://api.example.test',\n    tags: ['test'],\n    {fields}\n    \
         tools: {{\n{tools}\n    }}\n}}\n"
    )
}

/// A tool without parameters.
pub(crate) fn tool(name: &str) -> String {
    with_parameters(name, "GET", &format!("/{name}"), "")
}

/// A tool with a server parameter in its query.
pub(crate) fn keyed(name: &str, key: &str) -> String {
    with_parameters(
        name,
        "GET",
        &format!("/{name}"),
        &format!(
            "{{ position: {{ key: 'apikey', value: '{{{{SERVER_PARAM:{key}}}}}', location: 'query' }}, \
             z: {{ primitive: 'string()', options: [] }} }}"
        ),
    )
}

pub(crate) fn with_parameters(name: &str, method: &str, path: &str, parameters: &str) -> String {
    format!(
        "        {name}: {{ method: '{method}', path: '{path}', description: 'Does {name}', \
         parameters: [{parameters}] }},\n"
    )
}

/// The top of this repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
