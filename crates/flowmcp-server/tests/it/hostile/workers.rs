//! Workers that end in the middle of a call, log without end, or still run when the server ends.
//!
//! Frames that break the protocol need a worker that was taken over: `flowmcp-worker/tests/it/protocol.rs` has one.

use std::process::Command;

use super::{LIMITS, SOON, Server, parent, text};

/// Tells the upstream that it runs, then loops for longer than any test waits.
const RUNS: &str = "await fetch( 'https://api.example.test/runs' ); for( ;; ) {}";

const PATIENT: &str = "[limits]\nhandler_cpu = \"120s\"\ncall_deadline = \"120s\"\n";

fn signal(name: &str, id: u32) {
    assert!(Command::new("kill").args([name, &id.to_string()]).status().unwrap().success());
}

/// A worker of a call is killed, or crashes as an engine does that aborts: the call fails, and nothing else.
#[test]
fn a_worker_that_dies_in_mid_call_takes_its_call_with_it_and_nothing_else() {
    let mut server = Server::start(&[("runs".to_owned(), RUNS)], PATIENT);
    for (name, how) in
        [("-KILL", "the worker process was killed"), ("-ABRT", "the worker process crashed with signal 6")]
    {
        let id = server.id();
        server.process.send(&[&super::call(id, "hostile__runs")]);
        server.upstream.expect("GET /runs");
        // The quick tool is answered while the other one runs.
        assert_eq!(server.quick(), super::QUICK);
        for worker in server.workers() {
            signal(name, worker);
        }
        let answer = server.process.answer();
        assert_eq!(answer["id"], id);
        let expected =
            format!("! hostile__runs: the handler postRequest failed: the sandbox ended unexpectedly: {how}");
        assert_eq!(text(&answer), expected);
        assert_eq!(server.quick(), super::QUICK);
    }
}

/// Case mcp-01: `console` goes to stderr with the tool's name, and no more of it than allowed.
#[test]
fn a_flood_of_log_lines_is_cut_and_stays_away_from_stdout() {
    let flood = "for( let i = 0; i < 20000; i++ ) { console.log( 'line ' + i + ' ' + 'x'.repeat( 1000 ) ) } return { response: 'done' }";
    let limits = format!("{LIMITS}handler_log_lines = 50\n");
    let mut server = Server::start(&[("flood".to_owned(), flood)], &limits);
    let (answer, _) = server.attack("hostile__flood");
    // All the lines take longer than the limit on a busy machine, which is as good an end.
    assert!(
        ["done", "! hostile__flood: the handler postRequest failed: reached the time limit of 600ms"]
            .contains(&text(&answer).as_str())
    );
    let mut log = server.process.log();
    let (code, output, rest) = server.process.end(SOON);
    log.extend(rest);
    assert_eq!((code, output.len()), (Some(0), 0));
    let lines: Vec<&String> = log.iter().filter(|line| line.contains("hostile__flood")).collect();
    assert_eq!(lines.len(), 51, "{lines:#?}");
    assert!(lines[0].contains("line 0 x") && lines[49].contains("line 49 x"), "{lines:#?}");
    assert!(lines[50].contains("further lines are dropped after 50 in one call"), "{lines:#?}");
}

/// Case mcp-03: a handler that loops keeps no server alive, and no worker outlives it.
#[test]
fn a_server_ends_while_a_handler_loops() {
    let mut server = Server::start(&[("runs".to_owned(), RUNS)], PATIENT);
    let id = server.id();
    server.process.send(&[&super::call(id, "hostile__runs")]);
    server.upstream.expect("GET /runs");
    let (workers, own) = (server.workers(), server.process.id());
    assert!(!workers.is_empty());
    // What is in flight is given a moment, then dropped.
    let (code, ..) = server.process.end(SOON);
    assert_eq!(code, Some(0));
    assert!(workers.iter().all(|worker| parent(*worker) != Some(own)));
    assert!(workers.iter().all(|worker| super::resident(*worker) == 0), "a worker is left");
}
