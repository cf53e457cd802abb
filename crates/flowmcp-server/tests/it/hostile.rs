//! Handlers that attack, through the real binary: each fails within its limit with an error that names tool and hook, while a
//! call beside it is answered; the server lives on, and its memory comes back.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail like tests")]

mod attacks;
mod escapes;
mod workers;

/// The bodies that attack, which the tests of the workers use as well.
#[path = "../../../flowmcp-worker/tests/it/snippets.rs"]
mod snippets;

use std::{fs, time::Instant};

use serde_json::Value;

use crate::{
    cli::{
        project::{Project, SOON, schema, tool, with_parameters},
        upstream::Upstream,
    },
    serve::process::{INITIALIZE, INITIALIZED, Process, call, request},
};

/// Limits that make an attack short, and yet leave a quick call all the time it needs on a busy machine.
const LIMITS: &str = "[limits]\nhandler_cpu = \"600ms\"\nhandler_memory = \"48 MiB\"\nresponse = \"1 MiB\"\n";

/// The upstream's answer, as every quick call returns it.
const QUICK: &str = r#"{"answer":{"ok":true},"admin":"undefined","seen":"undefined","map":"function"}"#;

/// How much more memory the server and its workers may have after all attacks, in KiB: allocators keep some.
const KEPT: u64 = 32 << 10;

/// A server with hostile tools and one quick tool, each in a pack of its own.
struct Server {
    process: Process,
    upstream: Upstream,
    /// Kept, since it is removed when it is dropped.
    project: Project,
    next: u64,
}

/// A schema of the namespace `hostile` whose one tool has this body in its `postRequest`.
fn hostile(key: &str, body: &str) -> String {
    schema(
        "hostile",
        "Hostile",
        "sharedLists: [ { ref: 'chains', version: '1.0.0' } ],",
        &with_parameters(key, "GET", "/ok", ""),
    ) + &format!(
        "export const handlers = ( {{ sharedLists }} ) => ( {{ {key}: {{ postRequest: async ( {{ response, payload }} ) => {{ {body} }} }} }} )\n"
    )
}

/// `loop in catch` as `loopInCatch`.
fn key(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut key: String = words
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default()
                + letters.as_str()
        })
        .collect();
    key.replace_range(..1, &key[..1].to_lowercase());
    if key.starts_with(|c: char| c.is_ascii_digit()) { format!("of{key}") } else { key }
}

impl Server {
    /// Starts a server of the tools given by key and body, and calls the quick tool once, so that its worker is there.
    fn start(tools: &[(String, &str)], limits: &str) -> Self {
        let upstream = Upstream::start();
        let quick = "export const handlers = () => ( { ok: { postRequest: ( { response } ) => ( { response: { answer: response, \
                     admin: typeof ( {} ).admin, seen: typeof seen, map: typeof [].map } } ) } } )";
        let list =
            "export const list = { meta: { name: 'chains', version: '1.0.0' }, entries: [ { id: 1 } ] }";
        let mut project = upstream
            .project(&format!("grants = [\"fetch\"]\n[[packs]]\npath = \"quick\"\n{limits}"))
            .file("quick/Quick.mjs", schema("quick", "Quick", "", &tool("ok")) + quick)
            .file("pack/_lists/chains.mjs", list);
        for (key, body) in tools {
            project = project.file(&format!("pack/{key}.mjs"), hostile(key, body));
        }
        let mut process = Process::start(&project, &[]);
        process.send(&[INITIALIZE, INITIALIZED]);
        process.answer();
        let mut server = Server { process, upstream, project, next: 1 };
        assert_eq!(server.quick(), QUICK);
        server
    }

    fn id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn quick(&mut self) -> String {
        let id = self.id();
        self.process.send(&[&call(id, "quick__ok")]);
        text(&self.process.answer())
    }

    /// Calls a tool, and the quick one beside it: the answer of the tool, and whether it came last.
    #[track_caller]
    fn attack(&mut self, name: &str) -> (Value, bool) {
        let (id, quick) = (self.id(), self.id());
        self.process.send(&[&call(id, name), &call(quick, "quick__ok")]);
        let answers = [self.process.answer(), self.process.answer()];
        let of = |id: u64| answers.iter().find(|answer| answer["id"] == id).cloned().unwrap_or_default();
        assert_eq!(text(&of(quick)), QUICK, "beside {name}");
        (of(id), answers[1]["id"] == id)
    }

    /// Process ids of the workers.
    fn workers(&self) -> Vec<u32> {
        let server = self.process.id();
        let ids =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        ids.filter(|id| parent(*id) == Some(server)).collect()
    }

    /// Memory of the server and its workers, in KiB.
    fn memory(&self) -> u64 {
        self.workers().into_iter().chain([self.process.id()]).map(resident).sum()
    }

    /// Waits until no more than this much memory is in use, in KiB, asking the server for a sign of life meanwhile.
    #[track_caller]
    fn expect_memory(&mut self, most: u64) {
        let start = Instant::now();
        while self.memory() > most {
            assert!(start.elapsed() < SOON, "{} KiB, and at most {most} were expected", self.memory());
            let id = self.id();
            self.process.send(&[&request(id, "ping")]);
            assert_eq!(self.process.answer()["id"], id);
        }
    }
}

/// Text of a result; one of a failed call after `! `.
fn text(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    if answer["result"]["isError"] == true { format!("! {text}") } else { text.to_owned() }
}

fn parent(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()
}

/// Memory of a process that is resident, in KiB; none of one that has ended.
fn resident(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
